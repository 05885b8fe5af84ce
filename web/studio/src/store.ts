import { create } from "zustand";
import type { Refusal, State } from "./connection.js";
import type { DocumentTold, FilesTold, FrameTold, PickTold, ViewFrame } from "./messages.js";

export type LayerName = "skin" | "muscles" | "bones" | "skeleton" | "lines" | "fields" | "fat";
export type Theme = "light" | "dark";
export type Selected = { readonly kind: "muscle" | "joint"; readonly name: string };
export interface LayerLook {
  readonly shown: boolean;
  /** 0 to 1. */
  readonly opacity: number;
}

/** What the page knows and shows. Panels read it; what the server computes comes by requests. */
export interface Studio {
  readonly connection: State;
  /** Whether a file is open. */
  readonly open: boolean;
  /** The folder, and how the open file stands in it. */
  readonly files: FilesTold | null;
  readonly document: DocumentTold | null;
  readonly selected: Selected | null;
  readonly layers: Readonly<Record<LayerName, LayerLook>>;
  readonly colour: NonNullable<ViewFrame["colour"]>;
  /** Of the muscles, the one that is chosen alone is drawn. */
  readonly alone: boolean;
  /** Plain skin beside the skin over muscles. */
  readonly beside: boolean;
  readonly theme: Theme;
  /** The panel that is open on the right. */
  readonly panel: string;
  /** The last frame that was drawn, without its arrays. */
  readonly frame: FrameTold | null;
  /** Of the joints in the last frame, world_from_joint, row by row. */
  readonly joints: Float32Array | null;
  /** Of each muscle in the last frame. */
  readonly activation: Float32Array | null;
  /** What the pointer was clicked on last. */
  readonly picked: PickTold | null;
  readonly refusal: Refusal | null;
  /** Counts up with every change of the rig that was heard of. */
  readonly revision: number;
  set(change: Partial<Studio>): void;
  setLayer(name: LayerName, change: Partial<LayerLook>): void;
}

const dark = matchMedia("(prefers-color-scheme: dark)").matches;

export const useStudio = create<Studio>((set) => ({
  connection: "connecting",
  open: true,
  files: null,
  document: null,
  selected: null,
  layers: {
    skin: { shown: true, opacity: 1 },
    muscles: { shown: false, opacity: 1 },
    bones: { shown: false, opacity: 1 },
    skeleton: { shown: false, opacity: 1 },
    lines: { shown: false, opacity: 1 },
    fields: { shown: false, opacity: 0.5 },
    fat: { shown: false, opacity: 0.5 },
  },
  colour: "material",
  alone: false,
  beside: false,
  theme: dark ? "dark" : "light",
  panel: "view",
  frame: null,
  joints: null,
  activation: null,
  picked: null,
  refusal: null,
  revision: 0,
  set: (change) => set(change),
  setLayer: (name, change) =>
    set((now) => ({ layers: { ...now.layers, [name]: { ...now.layers[name], ...change } } })),
}));
