/** Plays glTF files that carry Ecorche's muscles, by WebGPU with three.js. */
export { ActivationCurves } from "./activation.js";
export { Actor, type ActorMesh } from "./actor.js";
export { type Carried, KNOWN_PAYLOAD, KNOWN_VERSION } from "./carried.js";
export { Crowd, type Skin } from "./crowd.js";
export { requireWebGPU } from "./device.js";
export { EcorcheError, type Trouble } from "./errors.js";
export { type Clip, type Figure, type FigureMesh, loadFigure, type Primitive } from "./figure.js";
