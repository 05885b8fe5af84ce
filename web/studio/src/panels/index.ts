import type { ComponentType } from "react";
import { BodyPanel } from "./body/body.js";
import { JointsPanel } from "./joints/joints.js";
import { LinesPanel } from "./lines/lines.js";
import { Timeline } from "./motion/timeline.js";
import { MusclesPanel } from "./muscles/muscles.js";
import { FilesBar } from "./files/bar.js";
import { ViewPanel } from "./view/view.js";

/** A panel: where it stands, and what it is called. */
export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
  readonly Component: ComponentType;
}

/** Panels on the right, one at a time. */
export const PANELS: readonly Panel[] = [
  { id: "view", title: "View", hint: "Layers, colours and the camera", Component: ViewPanel },
  { id: "muscles", title: "Muscles", hint: "The muscle builder: shape, path, influence", Component: MusclesPanel },
  { id: "lines", title: "Lines", hint: "Action lines of muscles that are meshes, and what bends them", Component: LinesPanel },
  { id: "joints", title: "Joints", hint: "Pose joints, edit their types and limits", Component: JointsPanel },
  { id: "body", title: "Body", hint: "Body type, coupling of the skin, and how flesh swings", Component: BodyPanel },
];

/** Panels along the bottom, one above another. */
export const BOTTOM: readonly ComponentType[] = [Timeline];

/** What stands in the bar beside the file's name. */
export const BAR: readonly ComponentType[] = [FilesBar];
