import { EcorcheError } from "./errors.js";

/** Version of `extras.ecorche` that this player reads. */
export const KNOWN_VERSION = 1;
/** Version of the payload that it packs. */
export const KNOWN_PAYLOAD = 1;

/** A number of a glTF buffer view. */
export type View = number;

/** A buffer a module is given, and what it does with it. */
export interface Bound {
  readonly name: string;
  readonly use: "uniform" | "read" | "write";
}

/** What is kept of the bind after a module has run; the module then runs again. */
export interface KeptAtBind {
  readonly from: string;
  readonly offset: number;
  readonly to: string;
  readonly bytes: number;
}

/** Shaders that share their buffers. */
export interface ModuleDescription {
  readonly name: string;
  readonly code: string;
  readonly buffers: readonly Bound[];
  readonly steps: readonly { readonly entry: string; readonly threads: number }[];
  readonly kept_at_bind?: KeptAtBind;
}

/** The vertex program: constants, buffers with their bytes, and the steps of a frame. */
export interface ProgramDescription {
  readonly workgroup: number;
  readonly constants: Readonly<Record<string, View>>;
  readonly learnt: Readonly<Record<string, number>>;
  readonly instance: Readonly<Record<string, number>>;
  readonly modules: readonly ModuleDescription[];
}

/** What a glTF carries of its muscles, as `extras.ecorche`. */
export interface Carried {
  readonly version: number;
  readonly payload: { readonly version: number; readonly joints: number; readonly muscles: number };
  readonly joints: {
    readonly nodes: readonly number[];
    readonly bind_inverse: View;
    readonly turning: readonly number[];
    readonly flat: number;
  };
  readonly muscles: { readonly names: readonly string[]; readonly largest_bulge: readonly number[] };
  readonly clips: readonly {
    readonly name: string;
    readonly frames: number;
    readonly times: View;
    readonly activation: View;
  }[];
  readonly meshes: readonly { readonly mesh: number; readonly points: View; readonly normals?: View }[];
  readonly program: ProgramDescription;
}

/** The muscles in a glTF's extras; an error says why there are none, or that this player is too old. */
export function carriedBy(extras: unknown): Carried {
  const found = (extras as { ecorche?: Partial<Carried> } | undefined)?.ecorche;
  if (found === undefined || typeof found.version !== "number") {
    throw new EcorcheError(
      "not-a-figure",
      "This glTF carries no muscles",
      "Write it with: ecorche export RIG --web FOLDER",
    );
  }
  const payload = found.payload?.version;
  if (found.version > KNOWN_VERSION || (payload !== undefined && payload > KNOWN_PAYLOAD)) {
    throw new EcorcheError(
      "newer-version",
      `The muscles in this glTF are of version ${found.version} (payload ${payload}), and this player` +
        ` knows version ${KNOWN_VERSION} (payload ${KNOWN_PAYLOAD})`,
      "Take the player of the Ecorche that wrote the file",
    );
  }
  const needed = ["payload", "joints", "muscles", "clips", "meshes", "program"] as const;
  for (const part of needed) {
    if (typeof found[part] !== "object" || found[part] === null) {
      throw new EcorcheError("damaged", `The muscles in this glTF lack their ${part}`, "Export it anew");
    }
  }
  return found as Carried;
}
