import type { Object3D } from "three/webgpu";
import type { Answer } from "../connection.js";

export type SceneAnswer = Answer<"view.scene">;
export type FrameAnswer = Answer<"view.frame">;

/** Something the view draws: it is told of every new scene and frame, and keeps its own objects. */
export interface ViewLayer {
  readonly object: Object3D;
  /** What stays the same until an edit has changed. */
  sceneChanged?(scene: SceneAnswer): void;
  /** A new moment. */
  frameChanged?(frame: FrameAnswer, scene: SceneAnswer): void;
  /** What the page shows has changed: layers, selection, colours, theme. */
  looksChanged?(): void;
  dispose?(): void;
}
