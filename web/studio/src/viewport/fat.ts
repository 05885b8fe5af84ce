import { BufferAttribute, BufferGeometry, Group, Mesh, MeshStandardMaterial } from "three/webgpu";
import { useStudio } from "../store.js";
import { ask, tell, theViewport } from "../studio.js";
import type { FrameAnswer, ViewLayer } from "./layer.js";

/** The outside of the fat that can move; it is asked for when it is first shown. */
export class FatLayer implements ViewLayer {
  readonly object = new Group();
  readonly #material = new MeshStandardMaterial({ color: 0xe8cf86, roughness: 0.8, transparent: true });
  #mesh: Mesh<BufferGeometry, MeshStandardMaterial> | null = null;
  #asked = false;

  constructor() {
    this.object.name = "fat";
  }

  get wanted(): boolean {
    return this.#mesh !== null && useStudio.getState().layers.fat.shown;
  }

  sceneChanged(): void {
    this.dispose();
    this.looksChanged();
  }

  frameChanged(frame: FrameAnswer): void {
    const points = frame.arrays.fat;
    if (points === undefined || this.#mesh === null) return;
    const { geometry } = this.#mesh;
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points), 3));
    geometry.computeVertexNormals();
    this.object.visible = useStudio.getState().layers.fat.shown;
  }

  looksChanged(): void {
    const { shown, opacity } = useStudio.getState().layers.fat;
    this.#material.opacity = opacity;
    this.object.visible = shown && this.#mesh?.geometry.hasAttribute("position") === true;
    if (shown && this.#mesh === null && !this.#asked) void this.#fetch();
  }

  dispose(): void {
    this.#mesh?.geometry.dispose();
    this.object.clear();
    this.#mesh = null;
    this.#asked = false;
  }

  async #fetch(): Promise<void> {
    this.#asked = true;
    const told = await ask("view.fat");
    if (told === null || !this.#asked) return;
    if (told.regions.length === 0) tell(["this body has no fat that could move", ...told.notes]);
    const geometry = new BufferGeometry();
    geometry.setIndex(new BufferAttribute(Uint32Array.from(told.arrays.triangles!), 1));
    this.#mesh = new Mesh(geometry, this.#material);
    this.#mesh.frustumCulled = false;
    this.#mesh.renderOrder = 5;
    this.object.add(this.#mesh);
    this.object.visible = false;
    void theViewport()?.refresh();
  }
}
