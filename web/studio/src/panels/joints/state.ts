import { create } from "zustand";
import type { Answer, Asked, Given } from "../../connection.js";
import type { JointNow, Requests } from "../../messages.js";
import { connection, tell, tellRefusal, theViewport } from "../../studio.js";
import { getMotion, stop, useMotion } from "../motion/motion.js";
import { Latest } from "./latest.js";

export type Part = "pose" | "model" | "limits" | "checks";

/** What the joint panel shows of the joint that is chosen. */
interface Joints {
  readonly now: JointNow | null;
  /** By how far the limb was held back last [degrees]. */
  readonly held: number;
  readonly part: Part;
  readonly gizmo: boolean;
  /** Whether a limb stops at its limits while it is posed. */
  readonly stops: boolean;
  readonly corner: number | null;
  readonly copied: { readonly joint: string; readonly model: NonNullable<JointNow["values"]> } | null;
  set(change: Partial<Joints>): void;
}

export const useJoints = create<Joints>((set) => ({
  now: null,
  held: 0,
  part: "pose",
  gizmo: true,
  stops: true,
  corner: null,
  copied: null,
  set: (change) => set(change),
}));

/** Requests whose answer tells how the joint stands. */
export type Telling = {
  [K in Asked]: Requests[K]["reply"] extends { now: JointNow } ? K : never;
}[Asked];

const latest = new Latest();
/** While something is dragged, what it would be is shown, and not what is. */
let dragging = false;

/** Ask, and show how the joint stands then. */
export async function now<K extends Telling>(type: K, ...fields: Given<K>): Promise<Answer<K> | null> {
  try {
    const answer = await connection.request(type, ...fields);
    const { now, held } = answer as { now: JointNow; held: number };
    useJoints.getState().set(type === "joint.get" ? { now } : { now, held });
    return answer;
  } catch (error) {
    // what is dragged through somewhere impossible is refused where it is dropped
    if (!(fields[0] as { preview?: boolean } | undefined)?.preview) tellRefusal(error);
    return null;
  }
}

/** How the joint stands, unless something is being dragged. */
export function look(joint: string): void {
  if (!dragging) latest.run("look", async () => dragging || now("joint.get", { joint }));
}

/** Pose the joint and draw it. */
export function posing(fields: Omit<Requests["joint.pose"]["request"], "type" | "limits">): void {
  latest.run("pose", () => overMotion(() => now("joint.pose", { ...fields, limits: useJoints.getState().stops })));
}

/** Change the pose and draw it; a motion that was shown is left for it. */
export async function overMotion<T>(change: () => Promise<T>): Promise<T> {
  const shown = useMotion.getState().told?.shown ?? false;
  if (shown) stop();
  const answer = await change();
  if (shown) await getMotion();
  void theViewport()?.refresh();
  return answer;
}

/** Show what an edit would be while it is dragged, and make it at the end. */
export function edited<K extends Telling>(type: K, fields: Given<K>[0], phase: "move" | "end"): void {
  dragging = phase === "move";
  const asked = [{ ...fields, preview: phase === "move" }] as unknown as Given<K>;
  if (phase === "move") {
    latest.run("drag", () => now(type, ...asked));
    return;
  }
  latest.run(null, async () => {
    const answer = await now(type, ...asked);
    const joint = useJoints.getState().now?.joint;
    if (answer !== null) tell((answer as { lines: string[] }).lines);
    else if (joint !== undefined) await now("joint.get", { joint });
    void theViewport()?.refresh();
  });
}

let count = 0;

/** A name for all that is done in one drag. */
export function newGesture(): string {
  return `joints-${Date.now()}-${count++}`;
}
