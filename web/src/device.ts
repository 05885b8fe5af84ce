import type { BufferAttribute, WebGPURenderer } from "three/webgpu";
import { EcorcheError } from "./errors.js";

/** What of three.js's WebGPU backend we use. */
export interface Backend {
  readonly device: GPUDevice;
  createAttribute(attribute: BufferAttribute): void;
  get(attribute: BufferAttribute): { buffer: GPUBuffer };
}

/** An error that says what this browser lacks, if it cannot run WebGPU. */
export async function requireWebGPU(): Promise<void> {
  if (!window.isSecureContext) {
    throw new EcorcheError(
      "no-webgpu",
      "Browsers allow WebGPU on secure pages only",
      "Open this page by https, from localhost, or as a file",
    );
  }
  // the types promise it, browsers do not
  const gpu = navigator.gpu as GPU | undefined;
  if (gpu === undefined) {
    throw new EcorcheError(
      "no-webgpu",
      "This browser has no WebGPU, which the muscles are played by",
      "Open this page in a recent Chrome, Edge, Safari or Firefox",
    );
  }
  if (!(await findsAdapter(gpu))) {
    throw new EcorcheError(
      "no-webgpu",
      "This browser knows WebGPU but found no graphics device for it",
      "Update the graphics driver, turn on hardware acceleration, or try another browser or machine",
    );
  }
}

/** Browsers start their graphics process late, and again after a crash: none until then is not none for good. */
async function findsAdapter(gpu: GPU): Promise<boolean> {
  for (const wait of [0, 250, 500, 1000, 2000]) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    if ((await gpu.requestAdapter()) !== null) return true;
  }
  return false;
}

/** The WebGPU side of a renderer that has been initialised. */
export function backendOf(renderer: WebGPURenderer): Backend {
  const backend = renderer.backend as unknown as Backend & { isWebGPUBackend?: boolean };
  if (backend.isWebGPUBackend !== true) {
    throw new EcorcheError(
      "no-webgpu",
      "three.js draws by WebGL here, and the muscles need WebGPU",
      "Open this page in a recent Chrome, Edge, Safari or Firefox",
    );
  }
  if (!backend.device) {
    throw new EcorcheError("no-webgpu", "The renderer is not ready", "Await renderer.init() first");
  }
  return backend;
}
