import type { Matrix4 } from "three/webgpu";
import { EcorcheError } from "./errors.js";
import type { Figure } from "./figure.js";

/** Bytes of an instance before its joints: the way, and zero. */
const HEAD = 4;

/**
 * What changes from frame to frame, version 1: of each instance the way w its first joint has moved and a
 * zero, then for each joint three rows of I − M with w taken off, then bulge and gain of each muscle; float32.
 * Taken off so that a figure far from the origin moves as exactly as one at it.
 */
export class Payload {
  readonly numbers: Float32Array<ArrayBuffer>;
  readonly stride: number;
  readonly #moved: Float64Array;

  constructor(
    readonly figure: Figure,
    readonly count: number,
  ) {
    const { joints, muscles } = figure.carried.payload;
    this.stride = HEAD + 12 * joints + 2 * muscles;
    this.numbers = new Float32Array(this.stride * count);
    this.#moved = new Float64Array(16 * joints);
    for (let instance = 0; instance < count; instance++) this.#still(instance);
  }

  /** All joints at bind, all muscles at rest. */
  #still(instance: number): void {
    const { joints, muscles } = this.figure.carried.payload;
    const first = instance * this.stride + HEAD + 12 * joints;
    for (let muscle = 0; muscle < muscles; muscle++) {
      this.numbers[first + 2 * muscle] = 1;
      this.numbers[first + 2 * muscle + 1] = 1;
    }
  }

  /**
   * Put in where an instance's joints are, and how its muscles work.
   *
   * @param worlds Of the joints, in the space of the figure.
   * @param activation 0 to 1, a muscle each.
   * @param gain How much of the muscles is shown, 0 to 1.
   */
  set(instance: number, worlds: readonly Matrix4[], activation: Float64Array, gain: number): void {
    const { joints, muscles } = this.figure.carried.payload;
    const moved = this.#moved;
    for (let joint = 0; joint < joints; joint++) {
      multiply(worlds[joint]!.elements, this.figure.bindInverse, 16 * joint, moved);
    }
    this.#requireRotations();
    const out = this.numbers;
    let at = instance * this.stride;
    for (let row = 0; row < 3; row++) out[at + row] = moved[4 * row + 3]!;
    at += HEAD;
    for (let joint = 0; joint < joints; joint++) {
      for (let row = 0; row < 3; row++) {
        const of = 16 * joint + 4 * row;
        for (let column = 0; column < 3; column++) {
          out[at++] = (row === column ? 1 : 0) - moved[of + column]!;
        }
        out[at++] = moved[4 * row + 3]! - moved[of + 3]!;
      }
    }
    const largest = this.figure.carried.muscles.largest_bulge;
    for (let muscle = 0; muscle < muscles; muscle++) {
      out[at++] = 1 + activation[muscle]! * (largest[muscle]! - 1);
      out[at++] = gain;
    }
  }

  /** A shader does not look what it is given: joints that muscles hang on must have a rotation. */
  #requireRotations(): void {
    const { turning, flat } = this.figure.carried.joints;
    const m = this.#moved;
    for (const joint of turning) {
      const a = 16 * joint;
      const [xx, xy, xz] = [m[a]!, m[a + 1]!, m[a + 2]!];
      const [yx, yy, yz] = [m[a + 4]!, m[a + 5]!, m[a + 6]!];
      const [zx, zy, zz] = [m[a + 8]!, m[a + 9]!, m[a + 10]!];
      const volume = xx * (yy * zz - yz * zy) - xy * (yx * zz - yz * zx) + xz * (yx * zy - yy * zx);
      const lengths = Math.hypot(xx, yx, zx) * Math.hypot(xy, yy, zy) * Math.hypot(xz, yz, zz);
      if (!(Math.abs(volume) > flat * lengths)) {
        const name = this.figure.jointNames[joint]!;
        throw new EcorcheError(
          "bad-pose",
          `Joint "${name}" is scaled to nothing, and a muscle hangs on it`,
          "Check the pose",
        );
      }
    }
  }
}

/** `out` at `at` becomes world (columns, as three.js has it) times right (rows, at the same place), in rows. */
function multiply(world: readonly number[], right: Float64Array, at: number, out: Float64Array): void {
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column < 4; column++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += world[4 * k + row]! * right[at + 4 * k + column]!;
      out[at + 4 * row + column] = sum;
    }
  }
}
