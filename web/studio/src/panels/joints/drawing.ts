import {
  BufferGeometry,
  CatmullRomCurve3,
  Color,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  LineCurve3,
  Mesh,
  MeshBasicMaterial,
  Quaternion,
  TubeGeometry,
  Vector3,
} from "three/webgpu";
import type { ArcTold, JointNow } from "../../messages.js";
import type { ViewLayer } from "../../viewport/layer.js";

const WITHIN = 0x38b26a;
const BEYOND = 0xe5484d;
const LIMIT = 0xffa03a;
const TWIST = 0x9a6bff;
const QUIET = 0x8a8f98;
const AXES = [0xe5484d, 0x4caf50, 0x3d7fff] as const;

/** A joint's limits: where its limb may point, how far it may bend and twist, and where it is. */
export class LimitLayer implements ViewLayer {
  readonly object = new Group();

  constructor() {
    this.object.name = "limits";
  }

  show(joint: JointNow | null): void {
    this.dispose();
    const limits = joint?.limits ?? null;
    if (limits === null) return;
    const centre = new Vector3(...limits.centre);
    const thick = 0.02 * limits.radius;
    const towards = (direction: readonly [number, number, number], far: number): Vector3 =>
      new Vector3(...direction).multiplyScalar(far * limits.radius).add(centre);
    if (limits.border.length > 0) {
      const border = limits.border.map((at) => new Vector3(...at));
      this.#fan(centre, border, limits.inside ? LIMIT : BEYOND, 0.2);
      this.#tube(border, thick, limits.inside ? LIMIT : BEYOND);
    }
    if (limits.bend !== null) this.#arc(limits.bend, thick, LIMIT, true);
    if (limits.twist !== null) this.#arc(limits.twist, 0.7 * thick, TWIST, true);
    this.#line(centre, towards(limits.canonical, 1), 0.5 * thick, QUIET);
    this.#line(centre, towards(limits.limb, 1), 1.4 * thick, limits.inside && !(limits.bend?.beyond ?? false) ? WITHIN : BEYOND);
    const frame = new Quaternion(...limits.frame);
    for (const [axis, colour] of AXES.entries()) {
      const end = new Vector3().setComponent(axis, 0.42 * limits.radius).applyQuaternion(frame).add(centre);
      this.#line(centre, end, 0.8 * thick, colour);
    }
  }

  dispose(): void {
    for (const child of this.object.children as Mesh<BufferGeometry, MeshBasicMaterial>[]) {
      child.geometry.dispose();
      child.material.dispose();
    }
    this.object.clear();
  }

  #arc(arc: ArcTold, thick: number, colour: number, filled: boolean): void {
    const centre = new Vector3(...arc.centre);
    const points = arc.points.map((at) => new Vector3(...at));
    const shown = arc.beyond ? BEYOND : colour;
    if (points.length > 1) {
      if (filled) this.#fan(centre, points, shown, 0.28);
      this.#tube(points, thick, shown);
    }
    this.#line(centre, new Vector3(...arc.zero), 0.5 * thick, QUIET);
    this.#line(centre, new Vector3(...arc.needle), 1.2 * thick, arc.beyond ? BEYOND : WITHIN);
  }

  #tube(points: readonly Vector3[], thick: number, colour: number): void {
    if (points[0]!.distanceTo(points.at(-1)!) < 1e-9 && points.length < 3) return;
    const curve = new CatmullRomCurve3([...points], false, "centripetal");
    this.#add(new TubeGeometry(curve, Math.max(2 * points.length, 2), thick, 6), colour, 1, 26);
  }

  #line(from: Vector3, to: Vector3, thick: number, colour: number): void {
    this.#add(new TubeGeometry(new LineCurve3(from, to), 1, thick, 6), colour, 1, 27);
  }

  #fan(centre: Vector3, points: readonly Vector3[], colour: number, opacity: number): void {
    const places: number[] = [];
    for (let n = 1; n < points.length; n++) {
      places.push(...centre.toArray(), ...points[n - 1]!.toArray(), ...points[n]!.toArray());
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute(places, 3));
    this.#add(geometry, colour, opacity, 25);
  }

  #add(geometry: BufferGeometry, colour: number, opacity: number, order: number): void {
    const material = new MeshBasicMaterial({
      color: new Color(colour),
      opacity,
      transparent: true,
      side: DoubleSide,
      depthTest: false,
      depthWrite: false,
    });
    const mesh = new Mesh(geometry, material);
    mesh.renderOrder = order;
    mesh.frustumCulled = false;
    this.object.add(mesh);
  }
}
