import { notifications } from "@mantine/notifications";
import { type Answer, type Asked, Connection, type Given, Refusal } from "./connection.js";
import type { ServerEvent } from "./messages.js";
import { useStudio } from "./store.js";
import type { Viewport } from "./viewport/viewport.js";

const address = new URL("socket", location.href);
address.protocol = location.protocol === "https:" ? "wss:" : "ws:";

/** The connection of this page. */
export const connection = new Connection(address.href);
/** Told of every event, beside the page itself. */
export const eventListeners = new Set<(event: ServerEvent) => void>();

let viewport: Viewport | null = null;

/** The view, once it is there. */
export function theViewport(): Viewport | null {
  return viewport;
}

export function haveViewport(made: Viewport | null): void {
  viewport = made;
}

/** Show what was refused: what, where, and how to mend it; as text, whatever a name holds. */
export function tellRefusal(error: unknown): void {
  const refusal =
    error instanceof Refusal ? error : new Refusal(String(error instanceof Error ? error.message : error), null, null);
  if (!useStudio.getState().open && refusal.what === "nothing is open") return; // the folder is shown
  useStudio.getState().set({ refusal });
  notifications.show({
    ...(refusal.lost ? { id: "lost" } : {}), // many at once are one loss
    color: "red",
    title: refusal.where === null ? sentence(refusal.what) : `${refusal.where}: ${refusal.what}`,
    message: refusal.remedy === null ? "" : `${sentence(refusal.remedy)}.`,
    autoClose: 12000,
  });
}

export function tell(lines: readonly string[]): void {
  if (lines.length > 0) notifications.show({ message: lines.map(sentence).join(". "), autoClose: 4000 });
}

/** Ask; a refusal is shown, and the answer is then null. */
export async function ask<K extends Asked>(type: K, ...fields: Given<K>): Promise<Answer<K> | null> {
  try {
    return await connection.request(type, ...fields);
  } catch (error) {
    tellRefusal(error);
    return null;
  }
}

/** Ask for a change, say what was done, and draw it. */
export async function act<K extends Asked>(type: K, ...fields: Given<K>): Promise<Answer<K> | null> {
  const answer = await ask(type, ...fields);
  viewport?.refresh();
  return answer;
}

/** Ask for the open file anew. */
export async function reloadDocument(): Promise<void> {
  const document = await ask("document.get");
  if (document !== null) useStudio.getState().set({ document, revision: document.revision });
}

export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

connection.onState = (state) => {
  useStudio.getState().set({ connection: state });
  if (state === "open") {
    if (!useStudio.getState().open) return;
    void reloadDocument();
    viewport?.reload();
  }
};
connection.onRefusal = tellRefusal;
connection.onEvent = (event) => {
  if (event.event === "files.hello") useStudio.getState().set({ open: event.open });
  if (event.event === "document.changed") {
    const { document, set } = useStudio.getState();
    const { revision, undo, redo, dirty } = event;
    if (document !== null) set({ document: { ...document, revision, undo, redo, dirty }, revision });
    if (event.areas.length > 0 || event.names.length > 0) void reloadDocument();
    viewport?.refresh();
  }
  for (const listener of eventListeners) listener(event);
};
