import {
  BufferAttribute,
  BufferGeometry,
  Color,
  Group,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  MeshBasicMaterial,
  SphereGeometry,
} from "three/webgpu";
import { useStudio } from "../store.js";
import type { FrameAnswer, SceneAnswer, ViewLayer } from "./layer.js";

const JOINT = new Color(0x3d7fc4);
const CHOSEN = new Color(0xff9e1f);

/** Joints as balls, and lines from each to the one above; they shine through all else. */
export class SkeletonLayer implements ViewLayer {
  readonly object = new Group();
  #balls: InstancedMesh<SphereGeometry, MeshBasicMaterial> | null = null;
  #lines: LineSegments<BufferGeometry, LineBasicMaterial> | null = null;
  #pairs: [number, number][] = [];

  constructor() {
    this.object.name = "skeleton";
    this.object.renderOrder = 20;
  }

  sceneChanged(scene: SceneAnswer): void {
    this.dispose();
    const document = useStudio.getState().document;
    const count = scene.arrays.bind!.length / 16;
    if (document === null || document.joints.length !== count) return;
    this.#pairs = document.joints.flatMap(({ parent }, joint): [number, number][] => (parent < 0 ? [] : [[parent, joint]]));
    const ball = new SphereGeometry(0.0045 * document.height, 12, 8);
    this.#balls = new InstancedMesh(ball, new MeshBasicMaterial({ depthTest: false, transparent: true }), count);
    this.#balls.renderOrder = 21;
    this.#balls.frustumCulled = false;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(6 * this.#pairs.length), 3));
    this.#lines = new LineSegments(geometry, new LineBasicMaterial({ color: JOINT, depthTest: false, transparent: true }));
    this.#lines.renderOrder = 20;
    this.#lines.frustumCulled = false;
    this.object.add(this.#lines, this.#balls);
    this.looksChanged();
  }

  frameChanged(frame: FrameAnswer, scene: SceneAnswer): void {
    if (this.#balls === null) this.sceneChanged(scene);
    const joints = frame.arrays.joints;
    if (this.#balls === null || this.#lines === null || joints === undefined) return;
    const place = new Matrix4();
    const at = (joint: number): [number, number, number] => [
      joints[16 * joint + 3]!,
      joints[16 * joint + 7]!,
      joints[16 * joint + 11]!,
    ];
    for (let joint = 0; joint < this.#balls.count; joint++) {
      this.#balls.setMatrixAt(joint, place.makeTranslation(...at(joint)));
    }
    this.#balls.instanceMatrix.needsUpdate = true;
    const position = this.#lines.geometry.getAttribute("position") as BufferAttribute;
    for (const [row, [from, to]] of this.#pairs.entries()) {
      position.setXYZ(2 * row, ...at(from));
      position.setXYZ(2 * row + 1, ...at(to));
    }
    position.needsUpdate = true;
  }

  looksChanged(): void {
    const { layers, selected, document } = useStudio.getState();
    this.object.visible = layers.skeleton.shown;
    if (this.#balls === null || this.#lines === null || document === null) return;
    this.#balls.material.opacity = this.#lines.material.opacity = layers.skeleton.opacity;
    for (const [joint, { name }] of document.joints.entries()) {
      const chosen = selected?.kind === "joint" && selected.name === name;
      if (joint < this.#balls.count) this.#balls.setColorAt(joint, chosen ? CHOSEN : JOINT);
    }
    if (this.#balls.instanceColor) this.#balls.instanceColor.needsUpdate = true;
  }

  dispose(): void {
    this.#balls?.geometry.dispose();
    this.#balls?.material.dispose();
    this.#lines?.geometry.dispose();
    this.#lines?.material.dispose();
    this.object.clear();
    this.#balls = this.#lines = null;
  }
}
