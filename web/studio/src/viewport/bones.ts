import { BufferAttribute, BufferGeometry, Group, Mesh, MeshStandardMaterial } from "three/webgpu";
import { useStudio } from "../store.js";
import type { FrameAnswer, SceneAnswer, ViewLayer } from "./layer.js";

/** Meshes of bones, each fixed to a joint. */
export class BoneLayer implements ViewLayer {
  readonly object = new Group();
  #mesh: Mesh<BufferGeometry, MeshStandardMaterial> | null = null;
  /** Of each vertex in its joint's own frame. */
  #own = new Float32Array(0);
  #joint = new Uint32Array(0);

  constructor() {
    this.object.name = "bones";
  }

  sceneChanged(scene: SceneAnswer): void {
    this.dispose();
    const { bone_points: points, bone_joints: joints, bone_triangles: triangles, bind } = scene.arrays;
    if (points === undefined || points.length === 0) return;
    this.#joint = Uint32Array.from(joints!);
    this.#own = new Float32Array(points.length);
    const inverse = new Map<number, number[]>();
    for (let vertex = 0; vertex < joints!.length; vertex++) {
      const joint = joints![vertex]!;
      if (!inverse.has(joint)) inverse.set(joint, inverseOf(bind!, 16 * joint));
      apply(inverse.get(joint)!, 0, points, 3 * vertex, this.#own);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points), 3));
    geometry.setIndex(new BufferAttribute(Uint32Array.from(triangles!), 1));
    geometry.computeVertexNormals();
    this.#mesh = new Mesh(geometry, new MeshStandardMaterial({ color: 0xe4dcc8, roughness: 0.7 }));
    this.#mesh.frustumCulled = false;
    this.object.add(this.#mesh);
    this.looksChanged();
  }

  frameChanged(frame: FrameAnswer): void {
    const joints = frame.arrays.joints;
    if (this.#mesh === null || joints === undefined || !this.object.visible) return;
    const position = this.#mesh.geometry.getAttribute("position") as BufferAttribute;
    const out = position.array as Float32Array;
    for (let vertex = 0; vertex < this.#joint.length; vertex++) {
      apply(joints, 16 * this.#joint[vertex]!, this.#own, 3 * vertex, out);
    }
    position.needsUpdate = true;
    this.#mesh.geometry.computeVertexNormals();
  }

  looksChanged(): void {
    const { shown, opacity } = useStudio.getState().layers.bones;
    this.object.visible = shown;
    if (this.#mesh === null) return;
    const { material } = this.#mesh;
    const through = opacity < 1;
    if (material.transparent !== through) {
      material.transparent = through;
      material.needsUpdate = true;
    }
    material.opacity = opacity;
  }

  dispose(): void {
    this.#mesh?.geometry.dispose();
    this.#mesh?.material.dispose();
    this.object.clear();
    this.#mesh = null;
  }
}

/** Point `at` of `from` by the matrix (rows) at `of`, into the same place of `out`. */
function apply(matrix: ArrayLike<number>, of: number, from: Float32Array, at: number, out: Float32Array): void {
  const [x, y, z] = [from[at]!, from[at + 1]!, from[at + 2]!];
  for (let row = 0; row < 3; row++) {
    const first = of + 4 * row;
    out[at + row] = matrix[first]! * x + matrix[first + 1]! * y + matrix[first + 2]! * z + matrix[first + 3]!;
  }
}

/** Inverse of an affine matrix (rows). */
function inverseOf(matrix: Float32Array, of: number): number[] {
  const m = (row: number, column: number): number => matrix[of + 4 * row + column]!;
  const cofactor = (row: number, column: number): number => {
    const [r1, r2] = [(row + 1) % 3, (row + 2) % 3];
    const [c1, c2] = [(column + 1) % 3, (column + 2) % 3];
    return m(r1, c1) * m(r2, c2) - m(r1, c2) * m(r2, c1);
  };
  const volume = m(0, 0) * cofactor(0, 0) + m(0, 1) * cofactor(0, 1) + m(0, 2) * cofactor(0, 2);
  const out = new Array<number>(16).fill(0);
  for (let row = 0; row < 3; row++) {
    for (let column = 0; column < 3; column++) out[4 * row + column] = cofactor(column, row) / volume;
    out[4 * row + 3] = -(
      out[4 * row]! * m(0, 3) +
      out[4 * row + 1]! * m(1, 3) +
      out[4 * row + 2]! * m(2, 3)
    );
  }
  out[15] = 1;
  return out;
}
