import type { Answer, Asked, Given } from "../../connection.js";
import { connection, tellRefusal, theViewport } from "../../studio.js";

let gestures = 0;

/** A new name for what is one step to undo, however many edits it takes. */
export function newGesture(): string {
  return `${Date.now().toString(36)}-${++gestures}`;
}

/** Work that is done one after another, of which the newest replaces what still waits: for drags. */
export class Latest {
  #next: (() => Promise<void>) | null = null;
  #running = false;

  push(task: () => Promise<void>): void {
    this.#next = task;
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#next !== null) {
      const task = this.#next;
      this.#next = null;
      await task();
    }
    this.#running = false;
  }
}

/** A drag: edits of one gesture, the newest of them sent, and a refusal told once, when it ends. */
export class Drag {
  #gesture: string | null = null;
  readonly #latest = new Latest();

  /** Ask for an edit, and wait until it is drawn. */
  edit<K extends Asked>(phase: "move" | "end", type: K, fields: Given<K>[0]): void {
    this.#gesture ??= newGesture();
    const gesture = this.#gesture;
    if (phase === "end") this.#gesture = null;
    this.#latest.push(async () => {
      try {
        await (connection.request as (type: K, fields: object) => Promise<Answer<K>>)(type, { ...fields, gesture });
        await theViewport()?.refresh();
      } catch (error) {
        if (phase === "end") tellRefusal(error);
      }
    });
  }
}
