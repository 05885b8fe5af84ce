import { requireFits, type VertexProgram } from "./program.js";

/** Threads that run together. */
const TOGETHER = 64;

/** glTF repeats a vertex where texture coordinates or normals part: each written one takes its vector. */
const SHADER = `
struct Sizes { from_count: u32, to_count: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read> from_vectors: array<f32>;
@group(0) @binding(3) var<storage, read_write> to_vectors: array<f32>;

@compute @workgroup_size(${TOGETHER})
fn spread(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= sizes.to_count {
        return;
    }
    let at = 3u * (id.y * sizes.to_count + id.x);
    let from_at = 3u * (id.y * sizes.from_count + source[id.x]);
    to_vectors[at] = from_vectors[from_at];
    to_vectors[at + 1u] = from_vectors[from_at + 1u];
    to_vectors[at + 2u] = from_vectors[from_at + 2u];
}
`;

/** Vectors of a program, for each vertex of the file, instance after instance. */
export class Spread {
  /** float32 (instances, written vertices, 3). */
  readonly buffer: GPUBuffer;
  readonly #owned: GPUBuffer[];
  readonly #pipeline: GPUComputePipeline;
  readonly #group: GPUBindGroup;

  /**
   * @param name Of the program's buffer.
   * @param source Number in it of each written vertex.
   */
  constructor(
    readonly program: VertexProgram,
    name: "points" | "normals",
    readonly source: Uint32Array<ArrayBuffer>,
  ) {
    const { device, count } = program;
    requireFits(device, `written ${name}`, 12 * source.length * count, count);
    const from = program.buffer(name);
    const fromCount = program.figure.carried.program.instance[name]! / 12;
    const make = (size: number, usage: number): GPUBuffer =>
      device.createBuffer({ label: `ecorche written ${name}`, size: Math.max(size, 16), usage });
    const sizes = make(16, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    const numbers = make(source.byteLength, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST);
    device.queue.writeBuffer(sizes, 0, new Uint32Array([fromCount, source.length, 0, 0]));
    device.queue.writeBuffer(numbers, 0, source);
    this.buffer = make(12 * source.length * count, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
    this.#owned = [sizes, numbers, this.buffer];
    const module = device.createShaderModule({ label: "spread", code: SHADER });
    this.#pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "spread" } });
    this.#group = device.createBindGroup({
      layout: this.#pipeline.getBindGroupLayout(0),
      entries: [sizes, numbers, from, this.buffer].map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
  }

  encode(encoder: GPUCommandEncoder): void {
    if (this.source.length === 0) return;
    const pass = encoder.beginComputePass({ label: "spread" });
    pass.setBindGroup(0, this.#group);
    pass.setPipeline(this.#pipeline);
    pass.dispatchWorkgroups(Math.ceil(this.source.length / TOGETHER), this.program.count);
    pass.end();
  }

  dispose(): void {
    for (const buffer of this.#owned) buffer.destroy();
  }
}
