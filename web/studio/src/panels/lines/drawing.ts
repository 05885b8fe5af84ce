import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  Group,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  type Object3D,
  SphereGeometry,
  TubeGeometry,
  CatmullRomCurve3,
  Vector3,
} from "three/webgpu";
import type { ViewLayer } from "../../viewport/layer.js";
import { colourOf, type Shown } from "./state.js";

const BELLY = new Color(0xb8463c);
const TENDON = new Color(0xe9dfc8);
const RESTLESS = new Color(0xff2fd0);
const FIELD = 0x2468d8;
const CHOSEN_FIELD = 0xffb03a;

export interface Choice {
  readonly muscle: string | null;
  readonly line: number;
  readonly field: string | null;
  readonly ellipsoid: number;
  readonly regions: boolean;
  readonly others: boolean;
  readonly fields: boolean;
  readonly opacity: number;
  /** Of the muscle's mesh. */
  readonly flesh: number;
}

/** Action lines: thin ones of all muscles, thick ones of the chosen muscle, what bends them, and its mesh. */
export class LinesLayer implements ViewLayer {
  readonly object = new Group();
  readonly #ball = new SphereGeometry(1, 28, 18);
  readonly #wires = new SphereGeometry(1, 16, 10);
  readonly #nodes = new SphereGeometry(1, 10, 8);

  constructor() {
    this.object.name = "lines";
  }

  show(shown: Shown | null, choice: Choice): void {
    this.#clear();
    if (shown === null) return;
    this.#lines(shown, choice);
    if (choice.fields) this.#fields(shown, choice);
    if (choice.regions) this.#mesh(shown, choice);
  }

  dispose(): void {
    this.#clear();
    this.#ball.dispose();
    this.#wires.dispose();
    this.#nodes.dispose();
  }

  #lines({ lines, arrays }: Shown, { muscle, line: number, others }: Choice): void {
    const { curves, tendon, nodes } = arrays;
    if (curves === undefined || tendon === undefined || nodes === undefined) return;
    const thin: number[] = [];
    const colours: number[] = [];
    const beads: number[] = [];
    for (const line of lines) {
      const [first, count] = line.curve;
      if (line.muscle === muscle) {
        this.#tube(curves, tendon, first, count, line.number, line.number === number, line.settled);
        continue;
      }
      if (!others) continue;
      for (let n = first; n < first + count - 1; n++) {
        thin.push(...curves.subarray(3 * n, 3 * n + 6));
        const colour = line.settled ? (tendon[n] ? TENDON : BELLY) : RESTLESS;
        colours.push(colour.r, colour.g, colour.b, colour.r, colour.g, colour.b);
      }
      for (let n = line.nodes[0]; n < line.nodes[0] + line.nodes[1]; n++) beads.push(n);
    }
    if (thin.length > 0) {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(thin), 3));
      geometry.setAttribute("color", new BufferAttribute(new Float32Array(colours), 3));
      const drawn = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
      this.#over(drawn, 12);
      const balls = new InstancedMesh(this.#nodes, new MeshBasicMaterial({ color: 0xd9b3a8, depthTest: false, transparent: true }), beads.length);
      const at = new Matrix4();
      beads.forEach((n, k) => balls.setMatrixAt(k, at.makeScale(0.0016, 0.0016, 0.0016).setPosition(nodes[3 * n]!, nodes[3 * n + 1]!, nodes[3 * n + 2]!)));
      this.#over(balls, 12);
    }
  }

  #tube(curves: Float32Array, tendon: Uint8Array, first: number, count: number, number: number, chosen: boolean, settled: boolean): void {
    const places = Array.from({ length: count }, (_, n) => new Vector3().fromArray(curves, 3 * (first + n)));
    const length = places.reduce((sum, p, n) => (n ? sum + p.distanceTo(places[n - 1]!) : 0), 0);
    const path = new CatmullRomCurve3(places, false, "centripetal");
    const sides = 6;
    const geometry = new TubeGeometry(path, count - 1, (chosen ? 0.0034 : 0.0022) * Math.min(1, length / 0.2 + 0.3), sides);
    const belly = settled ? new Color(colourOf(number)).multiplyScalar(0.45) : RESTLESS;
    const colours = new Float32Array(3 * count * (sides + 1));
    for (let n = 0; n < count; n++) {
      const colour = tendon[first + Math.min(n, count - 2)] ? TENDON : belly;
      for (let k = 0; k <= sides; k++) colour.toArray(colours, 3 * (n * (sides + 1) + k));
    }
    geometry.setAttribute("color", new BufferAttribute(colours, 3));
    const material = new MeshBasicMaterial({ vertexColors: true, depthTest: false, transparent: true, opacity: chosen ? 1 : 0.8 });
    this.#over(new Mesh(geometry, material), chosen ? 15 : 14);
  }

  #fields({ ellipsoids }: Shown, { field, ellipsoid, opacity }: Choice): void {
    for (const { field: name, number, matrix } of ellipsoids) {
      const chosen = name === field && number === ellipsoid;
      const material = new MeshStandardMaterial({
        color: chosen ? CHOSEN_FIELD : FIELD,
        transparent: true,
        opacity: (chosen ? 0.9 : 0.6) * opacity,
        depthWrite: false,
        roughness: 0.6,
      });
      const ball = new Mesh(this.#ball, material);
      ball.matrixAutoUpdate = false;
      ball.matrix.fromArray(matrix).transpose();
      ball.renderOrder = 8;
      this.object.add(ball);
      const wire = new Mesh(this.#wires, new MeshBasicMaterial({ color: chosen ? CHOSEN_FIELD : FIELD, wireframe: true, transparent: true, opacity: chosen ? 0.45 : 0.2 }));
      wire.matrixAutoUpdate = false;
      wire.matrix.copy(ball.matrix);
      this.object.add(wire);
    }
  }

  #mesh({ arrays, mesh_lines: count }: Shown, { flesh: opacity }: Choice): void {
    const { mesh, triangles, weights } = arrays;
    if (mesh === undefined || triangles === undefined || weights === undefined || count === 0) return;
    const colours = new Float32Array(mesh.length);
    const each = Array.from({ length: count }, (_, line) => new Color(colourOf(line)));
    const mixed = new Color();
    for (let v = 0; v < mesh.length / 3; v++) {
      mixed.setRGB(0, 0, 0);
      each.forEach(({ r, g, b }, line) => {
        const share = weights[count * v + line]!;
        mixed.r += share * r;
        mixed.g += share * g;
        mixed.b += share * b;
      });
      mixed.toArray(colours, 3 * v);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from(mesh), 3));
    geometry.setAttribute("color", new BufferAttribute(colours, 3));
    geometry.setIndex(new BufferAttribute(Uint32Array.from(triangles), 1));
    geometry.computeVertexNormals();
    const material = new MeshStandardMaterial({
      vertexColors: true,
      roughness: 0.55,
      side: DoubleSide,
      transparent: opacity < 1,
      opacity,
      depthWrite: opacity >= 1,
      polygonOffset: true,
      polygonOffsetFactor: -2,
      polygonOffsetUnits: -2,
    });
    const drawn = new Mesh(geometry, material);
    drawn.name = "line-muscle";
    drawn.renderOrder = 4;
    drawn.frustumCulled = false;
    this.object.add(drawn);
  }

  #over(drawn: Mesh | LineSegments | InstancedMesh, order: number): void {
    drawn.renderOrder = order;
    drawn.frustumCulled = false;
    this.object.add(drawn);
  }

  #clear(): void {
    for (const child of [...this.object.children] as (Object3D & Partial<Mesh>)[]) {
      if (child.geometry !== undefined && child.geometry !== this.#ball && child.geometry !== this.#wires && child.geometry !== this.#nodes) child.geometry.dispose();
      if (child instanceof InstancedMesh) child.dispose();
      (child.material as MeshBasicMaterial | undefined)?.dispose();
    }
    this.object.clear();
  }
}
