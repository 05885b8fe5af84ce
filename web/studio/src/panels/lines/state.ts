import { create } from "zustand";
import type { Answer, Asked, Given } from "../../connection.js";
import type { LinesTold, MoveNode, PlaceEllipsoid, Vector } from "./told.js";
import { useStudio } from "../../store.js";
import { act, connection, tell, tellRefusal, theViewport } from "../../studio.js";
import { Latest } from "../joints/latest.js";

export type Shown = Answer<"lines.show">;
export type Part = "line" | "nodes" | "fields";
export type Extreme = "low" | "rest" | "high";
export type GizmoMode = "translate" | "rotate" | "scale";
type Trial = MoveNode | PlaceEllipsoid;

/** What the action-line editor shows of the muscle that is chosen. */
interface Lines {
  readonly told: LinesTold | null;
  readonly shown: Shown | null;
  readonly part: Part;
  readonly line: number;
  readonly node: number | null;
  readonly extreme: Extreme;
  readonly field: string | null;
  readonly ellipsoid: number;
  readonly gizmo: GizmoMode;
  /** Whether the muscle's mesh is drawn, coloured by the line that moves it. */
  readonly regions: boolean;
  /** Whether lines of all muscles are drawn, and not of the chosen one alone. */
  readonly others: boolean;
  set(change: Partial<Lines>): void;
}

export const useLines = create<Lines>((set) => ({
  told: null,
  shown: null,
  part: "line",
  line: 0,
  node: null,
  extreme: "rest",
  field: null,
  ellipsoid: 0,
  gizmo: "translate",
  regions: true,
  others: false,
  set: (change) => set(change),
}));

const latest = new Latest();
/** While something is dragged, what it would be is shown, and not what is. */
let dragging = false;

/** The muscle whose lines are edited; null where another kind of muscle is chosen. */
export function chosenMuscle(): string | null {
  const { selected, document } = useStudio.getState();
  const muscle = document?.muscles.find(({ name }) => name === selected?.name);
  return selected?.kind === "muscle" && muscle?.kind === "lines" ? selected.name : null;
}

/** The chosen muscle in numbers. */
export function read(): void {
  latest.run("get", async () => {
    const muscle = chosenMuscle();
    const { set } = useLines.getState();
    if (muscle === null) return set({ told: null });
    try {
      const now = await connection.request("lines.get", { muscle });
      const { told, line, node, field } = useLines.getState(); // as they are wanted by now
      const same = told?.muscle === now.muscle;
      const kept = Math.min(line, now.lines.length - 1);
      set({
        told: now,
        line: same ? kept : 0,
        node: same && node !== null && node < now.lines[kept]!.nodes.length ? node : null,
        field: same && now.fields.some(({ name }) => name === field) ? field : (now.fields[0]?.name ?? null),
        ...(same ? {} : { ellipsoid: 0 }),
      });
    } catch (error) {
      set({ told: null });
      tellRefusal(error);
    }
  });
}

/** The lines as they lie now, unless something is being dragged. */
export function look(): void {
  latest.run("look", async () => {
    if (dragging) return;
    try {
      useLines.getState().set({ shown: await connection.request("lines.show", { muscle: chosenMuscle() }) });
    } catch (error) {
      if (connection.open) tellRefusal(error);
    }
  });
}

/** Show what an edit would be while it is dragged, and make it at the end. */
export function dragged(trial: Trial, phase: "move" | "end"): void {
  dragging = phase === "move";
  if (phase === "move") {
    const muscle = chosenMuscle();
    latest.run("drag", async () => {
      try {
        useLines.getState().set({ shown: await connection.request("lines.show", { muscle, trial }) });
      } catch {
        // what is dragged through somewhere impossible is refused where it is dropped
      }
    });
    return;
  }
  latest.run(null, async () => {
    try {
      const answer =
        trial.type === "lines.move_node"
          ? await connection.request(trial.type, trial)
          : await connection.request(trial.type, trial);
      tell(answer.lines);
    } catch (error) {
      tellRefusal(error);
    }
    void theViewport()?.refresh();
    look();
  });
}

type Doing = { [K in Asked]: Answer<K> extends { lines: string[] } ? K : never }[Asked];

/** Make an edit and say what was done. */
export async function edit<K extends Doing>(type: K, ...fields: Given<K>): Promise<boolean> {
  const answer = await act(type, ...fields);
  if (answer === null) return false;
  tell((answer as { lines: string[] }).lines);
  return true;
}

let count = 0;

/** A name for all that is done in one drag. */
export function newGesture(): string {
  return `lines-${Date.now()}-${count++}`;
}

/** Colours of a muscle's lines and their regions, sRGB. */
export const REGION_COLOURS = [0xe8803a, 0x3d8bff, 0x45b36b, 0xc45ce0, 0xe5c84a, 0x3fc1c9, 0xe0567c, 0x9a8cff] as const;

export function colourOf(line: number): number {
  return REGION_COLOURS[line % REGION_COLOURS.length]!;
}

export function placeText([x, y, z]: Vector): string {
  return [x, y, z].map((v) => (1000 * v).toFixed(0)).join(" ");
}
