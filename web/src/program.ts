import type { ModuleDescription } from "./carried.js";
import { EcorcheError } from "./errors.js";
import type { Figure } from "./figure.js";
import { Payload } from "./payload.js";

/** Bytes of the smallest buffer: none may be empty. */
const LEAST = 16;
const KINDS = { uniform: "uniform", read: "read-only-storage", write: "storage" } as const;

interface Module {
  readonly description: ModuleDescription;
  readonly group: GPUBindGroup;
  readonly steps: readonly { readonly pipeline: GPUComputePipeline; readonly workgroups: number }[];
}

/** The vertex program of a figure on a device, with room for some instances: the shaders the file carries. */
export class VertexProgram {
  readonly payload: Payload;
  /** Settled once the device has taken everything; refused with what it says against it. */
  readonly taken: Promise<void>;
  readonly #buffers = new Map<string, GPUBuffer>();
  readonly #modules: readonly Module[];

  constructor(
    readonly device: GPUDevice,
    readonly figure: Figure,
    readonly count: number,
  ) {
    const { program } = figure.carried;
    const storage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST;
    requireRoom(device, figure, count);
    device.pushErrorScope("out-of-memory");
    device.pushErrorScope("validation");
    for (const [name, bytes] of figure.constants) {
      const usage = name === "plan" ? GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST : storage;
      const buffer = this.#create(name, bytes.byteLength, usage);
      device.queue.writeBuffer(buffer, 0, bytes);
    }
    for (const [name, bytes] of Object.entries(program.learnt)) this.#create(name, bytes, storage);
    for (const [name, bytes] of Object.entries(program.instance)) {
      this.#create(name, bytes * count, storage | GPUBufferUsage.COPY_SRC);
    }
    this.#create("run", LEAST, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    this.#modules = program.modules.map((description) => this.#compile(description, program.workgroup));
    this.payload = new Payload(figure, count);
    this.#learn();
    this.taken = Promise.all([device.popErrorScope(), device.popErrorScope()]).then((errors) => {
      const error = errors.find((one) => one !== null);
      if (!error) return;
      const memory = error instanceof GPUOutOfMemoryError;
      throw new EcorcheError(
        memory ? "too-large" : "refused",
        memory ? `The GPU has no memory for ${count} figures` : `The GPU refused the muscles (${error.message})`,
        memory ? "Show fewer figures, or close other programs" : "Update the browser or the graphics driver",
      );
    });
  }

  /** A buffer on the device: `points` float32 (instances, points, 3), `normals` alike, and others. */
  buffer(name: string): GPUBuffer {
    const found = this.#buffers.get(name);
    if (found === undefined) {
      throw new EcorcheError("damaged", `The muscles in this glTF lack the buffer ${name}`, "Export it anew");
    }
    return found;
  }

  /** Send the payload, and put the steps that play it into a command list. */
  encode(encoder: GPUCommandEncoder): void {
    this.device.queue.writeBuffer(this.buffer("payload"), 0, this.payload.numbers);
    for (const module of this.#modules) run(encoder, module, this.count);
  }

  dispose(): void {
    for (const buffer of this.#buffers.values()) buffer.destroy();
  }

  #create(name: string, bytes: number, usage: number): GPUBuffer {
    const size = Math.max(bytes, LEAST);
    const buffer = this.device.createBuffer({ label: `ecorche ${name}`, size, usage });
    this.#buffers.set(name, buffer);
    return buffer;
  }

  #compile(description: ModuleDescription, workgroup: number): Module {
    const { name, code, buffers, steps } = description;
    const layout = this.device.createBindGroupLayout({
      label: name,
      entries: buffers.map(({ use }, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: KINDS[use] },
      })),
    });
    const shaders = this.device.createShaderModule({ label: name, code });
    const pipelineLayout = this.device.createPipelineLayout({ bindGroupLayouts: [layout] });
    return {
      description,
      group: this.device.createBindGroup({
        label: name,
        layout,
        entries: buffers.map(({ name: of }, binding) => ({ binding, resource: { buffer: this.buffer(of) } })),
      }),
      steps: steps.map(({ entry, threads }) => ({
        pipeline: this.device.createComputePipeline({
          label: entry,
          layout: pipelineLayout,
          compute: { module: shaders, entryPoint: entry },
        }),
        workgroups: Math.ceil(threads / workgroup),
      })),
    };
  }

  /**
   * Keep of the bind what frames are measured against. The steps that play a frame measure it, on this device,
   * so at bind nothing is left, bit for bit.
   */
  #learn(): void {
    const say = (learn: number): void =>
      this.device.queue.writeBuffer(this.buffer("run"), 0, new Uint32Array([learn, 0, 0, 0]));
    this.device.queue.writeBuffer(this.buffer("payload"), 0, this.payload.numbers);
    say(1);
    const encoder = this.device.createCommandEncoder({ label: "ecorche at bind" });
    for (const module of this.#modules) {
      run(encoder, module, 1);
      const kept = module.description.kept_at_bind;
      if (kept !== undefined) {
        encoder.copyBufferToBuffer(this.buffer(kept.from), kept.offset, this.buffer(kept.to), 0, kept.bytes);
        run(encoder, module, 1);
      }
    }
    this.device.queue.submit([encoder.finish()]);
    say(0);
  }
}

/** All steps of a module one after another, a thread for each thing, the instances along y. */
function run(encoder: GPUCommandEncoder, module: Module, instances: number): void {
  const pass = encoder.beginComputePass({ label: module.description.name });
  pass.setBindGroup(0, module.group);
  for (const { pipeline, workgroups } of module.steps) {
    pass.setPipeline(pipeline);
    pass.dispatchWorkgroups(workgroups, instances);
  }
  pass.end();
}

/** Refuse a buffer that is larger than those of this device. */
export function requireFits(device: GPUDevice, name: string, bytes: number, count: number): void {
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  const largest = Math.min(maxStorageBufferBindingSize, maxBufferSize);
  if (bytes <= largest) return;
  throw new EcorcheError(
    "too-large",
    `The ${name.replace("_", " ")} of ${count} figures take ${bytes} bytes, and a buffer of this GPU holds ${largest}`,
    "Show fewer figures, or choose a coarser mesh",
  );
}

/** Refuse what this device has no room for. */
function requireRoom(device: GPUDevice, figure: Figure, count: number): void {
  if (!Number.isInteger(count) || count < 1) {
    throw new EcorcheError("too-large", `${count} figures were asked for`, "Give a whole number from 1");
  }
  const { program } = figure.carried;
  for (const [name, data] of figure.constants) requireFits(device, name, data.byteLength, count);
  for (const [name, bytes] of Object.entries(program.instance)) requireFits(device, name, bytes * count, count);
  const threads = Math.max(0, ...program.modules.flatMap((m) => m.steps.map((step) => step.threads)));
  const most = device.limits.maxComputeWorkgroupsPerDimension;
  if (Math.ceil(threads / program.workgroup) > most || count > most) {
    throw new EcorcheError(
      "too-large",
      `${count} figures of ${threads} vertices are more than this GPU starts threads for`,
      "Show fewer figures, or choose a coarser mesh",
    );
  }
}
