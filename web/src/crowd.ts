import { type BufferAttribute, Group, type WebGPURenderer } from "three/webgpu";
import { Actor } from "./actor.js";
import { type Backend, backendOf } from "./device.js";
import { EcorcheError } from "./errors.js";
import type { Figure } from "./figure.js";
import { VertexProgram } from "./program.js";
import { Spread } from "./spread.js";

/** Where the skin of a mesh is: what is drawn, fetched from the device. */
export interface Skin {
  readonly name: string;
  /** Metres in the figure's space, x y z of each vertex of the file. */
  readonly positions: Float32Array;
  /** Unit normals; none for a subdivision cage. */
  readonly normals: Float32Array | null;
}

/** Figures played together on the renderer's own device: one set of dispatches a frame, nothing read back. */
export class Crowd extends Group {
  readonly actors: readonly Actor[];
  /** Told when the device is lost or refuses the muscles; the crowd then stands still, and a new renderer is needed. */
  onLost: ((error: EcorcheError) => void) | null = null;
  readonly #backend: Backend;
  readonly #program: VertexProgram;
  readonly #points: Spread;
  readonly #normals: Spread;
  #lost: EcorcheError | null = null;
  #disposed = false;

  /**
   * @param renderer Initialised, by WebGPU.
   * @param count How many figures; the buffers are made for these.
   */
  constructor(
    renderer: WebGPURenderer,
    readonly figure: Figure,
    count = 1,
  ) {
    super();
    this.#backend = backendOf(renderer);
    const { device } = this.#backend;
    this.#program = new VertexProgram(device, figure, count);
    this.#points = new Spread(this.#program, "points", joined(figure.meshes.map((mesh) => mesh.points)));
    this.#normals = new Spread(
      this.#program,
      "normals",
      joined(figure.meshes.flatMap((mesh) => (mesh.normals === null ? [] : [mesh.normals]))),
    );
    this.actors = Array.from({ length: count }, () => new Actor(figure, this.#backend));
    this.add(...this.actors);
    void device.lost.then((info) => {
      const why = info.message || info.reason;
      this.#end(new EcorcheError("device-lost", `The graphics device was lost (${why})`, "Load the page anew"));
    });
    // a device that is lost meanwhile drops the question, and is told of above
    this.#program.taken.catch((error: unknown) => {
      if (error instanceof EcorcheError) this.#end(error);
    });
  }

  #end(error: EcorcheError): void {
    if (this.#disposed || this.#lost !== null) return;
    this.#lost = error;
    this.onLost?.(error);
  }

  /** Go on by some seconds: joints, muscles, skin and normals of all figures, straight into what is drawn. */
  update(seconds: number): void {
    if (this.#lost !== null) throw this.#lost;
    for (const [instance, actor] of this.actors.entries()) {
      this.#program.payload.set(instance, actor.pose(seconds), actor.activation, actor.gain);
    }
    const { device } = this.#backend;
    const encoder = device.createCommandEncoder({ label: "ecorche" });
    this.#program.encode(encoder);
    this.#points.encode(encoder);
    this.#normals.encode(encoder);
    for (const [instance, actor] of this.actors.entries()) {
      for (const part of actor.parts) {
        this.#copy(encoder, this.#points, instance, part.firstPoint, part.position);
        if (part.normal) this.#copy(encoder, this.#normals, instance, part.firstNormal, part.normal);
      }
    }
    device.queue.submit([encoder.finish()]);
  }

  /** The skin of one figure as it is drawn; slow, for tools and tests. */
  async read(instance: number): Promise<Skin[]> {
    const actor = this.actors[instance];
    if (actor === undefined) {
      throw new EcorcheError(
        "too-large",
        `There is no figure ${instance}`,
        `Give 0 to ${this.actors.length - 1}`,
      );
    }
    return Promise.all(
      actor.parts.map(async ({ name, position, normal }) => ({
        name,
        positions: await this.#fetch(position),
        normals: normal === null ? null : await this.#fetch(normal),
      })),
    );
  }

  /** Frees all buffers; the crowd must not be drawn any more. */
  override dispose(): void {
    this.#disposed = true;
    this.removeFromParent();
    for (const part of [this.#program, this.#points, this.#normals]) part.dispose();
    for (const actor of this.actors) actor.dispose();
  }

  #copy(encoder: GPUCommandEncoder, from: Spread, instance: number, first: number, to: BufferAttribute): void {
    const at = 12 * (instance * from.source.length + first);
    encoder.copyBufferToBuffer(from.buffer, at, this.#backend.get(to).buffer, 0, 12 * to.count);
  }

  async #fetch(attribute: BufferAttribute): Promise<Float32Array> {
    const { device } = this.#backend;
    const size = 12 * attribute.count;
    const near = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#backend.get(attribute).buffer, 0, near, 0, size);
    device.queue.submit([encoder.finish()]);
    await near.mapAsync(GPUMapMode.READ);
    const values = new Float32Array(near.getMappedRange().slice(0));
    near.destroy();
    return values;
  }
}

function joined(parts: readonly Uint32Array[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
