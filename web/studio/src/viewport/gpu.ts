import type { BufferAttribute, WebGPURenderer } from "three/webgpu";
import type { Carried } from "../../../src/carried.js";
import { type Backend, backendOf } from "../../../src/device.js";
import type { Figure } from "../../../src/figure.js";
import { VertexProgram } from "../../../src/program.js";
import { Spread } from "../../../src/spread.js";
import type { Answer } from "../connection.js";
import type { DrawnMesh } from "./skin.js";

/**
 * The skin by the same vertex program as the player's: the server sends some thousand bytes a frame in place of
 * all positions, and this device does the rest, straight into what is drawn.
 */
export class SkinOnDevice {
  readonly revision: number;
  readonly #backend: Backend;
  readonly #program: VertexProgram;
  readonly #points: Spread;
  readonly #normals: Spread;
  readonly #copies: { from: Spread; first: number; to: BufferAttribute }[] = [];

  /** Whether a renderer draws by WebGPU at all. */
  static possible(renderer: WebGPURenderer): boolean {
    return (renderer.backend as { isWebGPUBackend?: boolean }).isWebGPUBackend === true;
  }

  constructor(renderer: WebGPURenderer, told: Answer<"view.program">, meshes: readonly DrawnMesh[]) {
    this.revision = told.revision;
    this.#backend = backendOf(renderer);
    const carried = JSON.parse(told.carried!) as Carried;
    const constants = new Map(
      Object.entries(carried.program.constants).map(([name, view]): [string, ArrayBuffer] => [
        name,
        Uint8Array.from(told.arrays[String(view)]!).buffer,
      ]),
    );
    // of a figure the program asks for these two alone
    const figure = { carried, constants } as unknown as Figure;
    this.#program = new VertexProgram(this.#backend.device, figure, 1);
    this.#points = new Spread(this.#program, "points", joined(meshes.map(({ points }) => points)));
    this.#normals = new Spread(this.#program, "normals", joined(meshes.flatMap(({ normals }) => normals ?? [])));
    for (const { position, normal } of meshes) {
      // what was never drawn has no buffer yet
      this.#backend.createAttribute(position);
      this.#backend.createAttribute(normal);
    }
    let [firstPoint, firstNormal] = [0, 0];
    for (const { position, normal, points, normals } of meshes) {
      this.#copies.push({ from: this.#points, first: firstPoint, to: position });
      firstPoint += points.length;
      if (normals !== null) this.#copies.push({ from: this.#normals, first: firstNormal, to: normal });
      firstNormal += normals?.length ?? 0;
    }
  }

  /** Whether the device took everything. */
  get taken(): Promise<void> {
    return this.#program.taken;
  }

  /** Put the skin of a payload into what is drawn. */
  play(payload: Float32Array): void {
    this.#program.payload.numbers.set(payload);
    const { device } = this.#backend;
    const encoder = device.createCommandEncoder({ label: "ecorche studio" });
    this.#program.encode(encoder);
    this.#points.encode(encoder);
    this.#normals.encode(encoder);
    for (const { from, first, to } of this.#copies) {
      encoder.copyBufferToBuffer(from.buffer, 12 * first, this.#backend.get(to).buffer, 0, 12 * to.count);
    }
    device.queue.submit([encoder.finish()]);
  }

  /** Positions of all meshes as they are drawn, fetched from the device; slow, for tools and tests. */
  async read(): Promise<Float32Array> {
    const { device } = this.#backend;
    const size = 12 * this.#points.source.length;
    const near = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.#points.buffer, 0, near, 0, size);
    device.queue.submit([encoder.finish()]);
    await near.mapAsync(GPUMapMode.READ);
    const values = new Float32Array(near.getMappedRange().slice(0));
    near.destroy();
    return values;
  }

  dispose(): void {
    for (const part of [this.#program, this.#points, this.#normals]) part.dispose();
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
