import { BufferAttribute, BufferGeometry, Group, Mesh, MeshStandardMaterial } from "three/webgpu";
import { useStudio } from "../store.js";
import { linear } from "./colours.js";
import type { FrameAnswer, SceneAnswer, ViewLayer } from "./layer.js";
import { vertexNormals } from "./normals.js";

/** The muscle that is chosen is so much brighter. */
const CHOSEN: readonly [number, number, number] = [1.0, 0.62, 0.12];

/** Surfaces of all muscles as one mesh. */
export class MuscleLayer implements ViewLayer {
  readonly object = new Group();
  #mesh: Mesh<BufferGeometry, MeshStandardMaterial> | null = null;
  #tissue = new Float32Array(0);
  #parts: SceneAnswer["muscles"] = [];

  constructor() {
    this.object.name = "muscles";
  }

  /** Whether frames have to bring muscles. */
  get wanted(): boolean {
    return useStudio.getState().layers.muscles.shown;
  }

  sceneChanged(scene: SceneAnswer): void {
    this.dispose();
    const { muscle_triangles: triangles, muscle_colours: colours } = scene.arrays;
    this.#parts = scene.muscles;
    if (triangles === undefined || triangles.length === 0) return;
    this.#tissue = Float32Array.from(colours!, linear);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(this.#tissue.length), 3));
    geometry.setAttribute("normal", new BufferAttribute(new Float32Array(this.#tissue.length), 3));
    geometry.setAttribute("color", new BufferAttribute(Float32Array.from(this.#tissue), 3));
    geometry.setIndex(new BufferAttribute(Uint32Array.from(triangles), 1));
    this.#mesh = new Mesh(geometry, new MeshStandardMaterial({ vertexColors: true, roughness: 0.5 }));
    this.#mesh.frustumCulled = false;
    this.object.add(this.#mesh);
    this.looksChanged();
  }

  frameChanged(frame: FrameAnswer): void {
    const points = frame.arrays.muscles;
    if (points === undefined || this.#mesh === null) return;
    const { geometry } = this.#mesh;
    const position = geometry.getAttribute("position") as BufferAttribute;
    if (position.array.length !== points.length) return;
    (position.array as Float32Array).set(points);
    position.needsUpdate = true;
    const normal = geometry.getAttribute("normal") as BufferAttribute;
    vertexNormals(points, geometry.index!.array as Uint32Array, normal.array as Float32Array);
    normal.needsUpdate = true;
  }

  looksChanged(): void {
    const { layers, selected, alone } = useStudio.getState();
    this.object.visible = layers.muscles.shown;
    if (this.#mesh === null) return;
    const { material, geometry } = this.#mesh;
    const through = layers.muscles.opacity < 1;
    if (material.transparent !== through) {
      material.transparent = through;
      material.needsUpdate = true;
    }
    material.opacity = layers.muscles.opacity;
    material.depthWrite = !through;
    const attribute = geometry.getAttribute("color") as BufferAttribute;
    const colours = attribute.array as Float32Array;
    colours.set(this.#tissue);
    const part = selected?.kind === "muscle" ? this.#parts.find(({ name }) => name === selected.name) : undefined;
    if (part !== undefined) {
      const [first, count] = part.points;
      for (let at = 3 * first; at < 3 * (first + count); at++) colours[at] = 0.35 * colours[at]! + 0.65 * CHOSEN[at % 3]!;
    }
    attribute.needsUpdate = true;
    const [first, count] = alone && part !== undefined ? corners(geometry.index!.array, part.points) : [0, Infinity];
    geometry.setDrawRange(first, count);
  }

  dispose(): void {
    this.#mesh?.geometry.dispose();
    this.#mesh?.material.dispose();
    this.object.clear();
    this.#mesh = null;
  }
}

/** First and count of the corners of triangles on a muscle's vertices: each muscle's lie together. */
function corners(index: ArrayLike<number>, [first, count]: readonly [number, number]): [number, number] {
  let [begin, end] = [-1, -1];
  for (let at = 0; at < index.length; at += 3) {
    const inside = index[at]! >= first && index[at]! < first + count;
    if (inside && begin < 0) begin = at;
    if (inside) end = at + 3;
  }
  return begin < 0 ? [0, 0] : [begin, end - begin];
}
