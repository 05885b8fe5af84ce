import { create } from "zustand";
import type { Answer, Asked, Given } from "../../connection.js";
import type { MotionTold } from "../../messages.js";
import { useStudio } from "../../store.js";
import { ask, connection, eventListeners, tell, tellRefusal, theViewport } from "../../studio.js";

/** The motion of this page. */
export interface MotionState {
  readonly told: MotionTold | null;
  /** Which moment is shown [s]. */
  readonly time: number;
  readonly playing: boolean;
  readonly loop: boolean;
  /** Of the clock: 1 is real time. */
  readonly speed: number;
  /** Whether the view goes along with the body. */
  readonly follow: boolean;
  /** Whether what swings is not computed as far as what is shown. */
  readonly waits: boolean;
  /** Frames of what swings that there are, and how much of the work is done. */
  readonly ahead: { readonly computed: number; readonly possible: number; readonly share: number };
  /** Whether the curve editor is open. */
  readonly editing: boolean;
  /** The curve that is edited, where it is not that of the muscle that is chosen. */
  readonly curve: string | null;
  /** Frames a second as they were shown while playing. */
  readonly rate: number;
  /** Counts up with every change of curves. */
  readonly version: number;
}

export const useMotion = create<MotionState>(() => ({
  told: null,
  time: 0,
  playing: false,
  loop: true,
  speed: 1,
  follow: true,
  waits: false,
  ahead: { computed: 0, possible: 0, share: 1 },
  editing: false,
  curve: null,
  rate: 0,
  version: 0,
}));

let stood: readonly [number, number, number] | null = null;

/** Where the body stands: the middle of its joints, over the ground. */
function standing(): readonly [number, number, number] | null {
  const { joints } = useStudio.getState();
  if (joints === null || joints.length === 0) return null;
  const count = joints.length / 16;
  let [x, z] = [0, 0];
  for (let at = 0; at < joints.length; at += 16) {
    x += joints[at + 3]! / count;
    z += joints[at + 11]! / count;
  }
  return [x, 0, z];
}

// the view goes along with whoever travels; a body that was posed or edited stays where it is looked at
useStudio.subscribe((now, before) => {
  if (now.joints === before.joints) return;
  const { follow, told } = useMotion.getState();
  const at = standing();
  const viewport = theViewport();
  if (follow && told?.motion != null && at !== null && stood !== null) viewport?.moveAlong(at[0] - stood[0], 0, at[2] - stood[2]);
  stood = at;
});

type Load = NonNullable<Given<"motion.load">[0]>;
let loaded: (() => Promise<MotionTold | null>) | null = null;
let seeking = false;
let sought: number | null = null;
let computing = false;
let play = 0;

/** Take what the server told of the motion. */
function take(told: MotionTold | null): MotionTold | null {
  if (told === null) return null;
  const { computed, possible, share } = told;
  useMotion.setState((now) => ({
    told,
    time: told.time,
    ahead: { computed, possible, share },
    version: now.version + 1,
    waits: now.waits && told.dynamics !== "off",
  }));
  void computeAhead();
  return told;
}

export async function getMotion(): Promise<MotionTold | null> {
  return take(await ask("motion.get"));
}

/** Ask for a change of motion or curves, and draw it. */
export async function change<K extends Asked>(type: K, ...fields: Given<K>): Promise<Answer<K> | null> {
  const answer = await ask(type, ...fields);
  if (answer !== null && "curves" in answer) take(answer as unknown as MotionTold);
  void theViewport()?.refresh();
  return answer;
}

export async function load(fields: Load): Promise<void> {
  stop();
  loaded = () => ask("motion.load", fields);
  const told = await change("motion.load", fields);
  if (told !== null) tell(told.lines.slice(0, 2));
}

/** Load a file of the person's own. */
export async function give(file: File): Promise<void> {
  stop();
  if (file.size > 9_000_000) {
    tellRefusal(new Error(`${file.name} is larger than 9 MB: put it beside the rig, and choose it there`));
    return;
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  const fields = { name: file.name, content: btoa(text) };
  loaded = () => ask("motion.give", fields);
  const told = await change("motion.give", fields);
  if (told !== null) tell(told.lines.slice(0, 2));
}

export async function drop(): Promise<void> {
  stop();
  loaded = null;
  await change("motion.drop");
}

/** Show a moment [s]: the newest wish replaces those that wait. */
export async function seek(time: number): Promise<void> {
  const motion = useMotion.getState().told?.motion;
  if (motion == null) return;
  const within = Math.min(Math.max(time, motion.begins), motion.ends);
  useMotion.setState({ time: within });
  sought = within;
  if (seeking) return;
  seeking = true;
  try {
    while (sought !== null) {
      const to: number = sought;
      sought = null;
      await moment(to);
    }
  } catch (error) {
    if (connection.open) tellRefusal(error);
  } finally {
    seeking = false;
  }
}

/** Ask for a moment and its frame at once; done when it is on the screen. */
async function moment(time: number): Promise<boolean> {
  const asked = connection.request("motion.seek", { time });
  const drawn = theViewport()?.refresh();
  const { waits } = await asked;
  const { told } = useMotion.getState();
  useMotion.setState({ waits, ...(told !== null && !told.shown ? { told: { ...told, shown: true } } : {}) });
  await drawn;
  return waits;
}

export function stop(): void {
  play++;
  useMotion.setState({ playing: false });
}

export function toggle(): void {
  if (useMotion.getState().playing) stop();
  else void run();
}

/** Play from where it is: real time, as many frames as there are in it. */
async function run(): Promise<void> {
  const motion = useMotion.getState().told?.motion;
  if (motion == null) return;
  const mine = ++play;
  const length = Math.max(motion.ends - motion.begins, 1e-6);
  let at = useMotion.getState().time;
  if (at >= motion.ends - 1e-9) at = motion.begins;
  useMotion.setState({ playing: true });
  let last = performance.now();
  const shown: number[] = [];
  try {
    while (mine === play) {
      const { loop, speed, ahead, told } = useMotion.getState();
      const now = performance.now();
      let next = at + ((now - last) / 1000) * speed;
      last = now;
      if (told?.dynamics !== "off" && told?.dynamics !== undefined) {
        // playing waits for what swings
        const known = motion.begins + (ahead.computed - 1) / motion.rate;
        if (ahead.computed < ahead.possible) next = Math.min(next, Math.max(known, motion.begins));
        else if (ahead.possible < motion.frames) next = Math.min(next, known);
      }
      if (next > motion.ends) {
        if (!loop) {
          await moment(motion.ends);
          useMotion.setState({ time: motion.ends });
          break;
        }
        next = motion.begins + ((next - motion.begins) % length);
      }
      const still = next === at && useMotion.getState().waits === false && shown.length > 0;
      at = next;
      if (still) await new Promise((resolve) => setTimeout(resolve, 30));
      else {
        useMotion.setState({ time: at });
        await moment(at);
      }
      const done = performance.now();
      shown.push(done);
      while (shown[0]! < done - 1000) shown.shift();
      if (shown.length > 1) useMotion.setState({ rate: (1000 * (shown.length - 1)) / (done - shown[0]!) });
    }
  } catch (error) {
    if (connection.open) tellRefusal(error);
  } finally {
    if (mine === play) useMotion.setState({ playing: false });
  }
}

/** Have what swings computed, a little at a time, for as long as there is something to do. */
async function computeAhead(): Promise<void> {
  if (computing) return;
  computing = true;
  try {
    for (;;) {
      const { told, ahead, playing, time, waits } = useMotion.getState();
      if (told === null || told.motion === null || told.dynamics === "off") break;
      if (ahead.possible > 0 && ahead.computed >= ahead.possible) break;
      if (!connection.open) break;
      const answer = await connection.request("motion.ahead", { seconds: playing ? 0.04 : 0.12 });
      const { computed, possible, share, lines } = answer;
      if (computed >= possible && lines.length > 0) tell(lines);
      useMotion.setState({ ahead: { computed, possible, share } });
      const { motion } = told;
      const frame = Math.floor((time - motion.begins) * motion.rate + 1e-6);
      if (waits && !playing && computed > frame) void seek(time); // it is there now
      if (possible === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  } catch (error) {
    if (connection.open) {
      tellRefusal(error);
      void getMotion();
    }
  } finally {
    computing = false;
  }
}

useMotion.subscribe(({ playing }) => {
  const viewport = theViewport();
  if (viewport !== null) viewport.playing = playing;
});

let changed: ReturnType<typeof setTimeout> | undefined;
eventListeners.add((event) => {
  if (event.event !== "document.changed") return;
  clearTimeout(changed);
  changed = setTimeout(() => {
    if (useMotion.getState().told?.motion != null) void getMotion();
  }, 150);
});

/** After a lost connection the server knows this page no more: it is told its motion and curves again. */
async function restore(): Promise<void> {
  const { told: before, time } = useMotion.getState();
  const now = await getMotion();
  if (now === null || before === null || now.motion !== null || loaded === null) return;
  if ((await loaded()) === null) return;
  if (Object.keys(before.curves).length > 0) await ask("motion.set_curves", { curves: before.curves });
  if (before.dynamics !== "off") await ask("motion.swing", { dynamics: before.dynamics });
  await getMotion();
  await seek(time);
}

useStudio.subscribe((now, before) => {
  if (now.connection === "open" && before.connection !== "open") void restore();
});
