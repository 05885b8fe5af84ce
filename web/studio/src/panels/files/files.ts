import type { OpenedTold } from "../../messages.js";
import { useStudio } from "../../store.js";
import { act, ask, connection, eventListeners, reloadDocument, sentence, tell, tellRefusal } from "../../studio.js";
import { Refusal } from "../../connection.js";
import { notifications } from "@mantine/notifications";

/** Largest file that is sent to the server; it counts again as it arrives. */
const LARGEST_UPLOAD = 2 ** 30;

/** Ask anew for the folder and how the open file stands in it. */
export async function reloadFiles(): Promise<void> {
  try {
    const files = await connection.request("files.get");
    const { document, set } = useStudio.getState();
    set({ files });
    const name = files.saved && files.open !== null ? files.open.split("/").at(-1) : null;
    if (document !== null && document.file !== name) await reloadDocument(); // saved, here or by another page
  } catch (error) {
    // a studio of one document has no folder; a loss is told by the bar
    if (!(error instanceof Refusal)) tellRefusal(error);
  }
}

/** Show a file that the server has open: everything of the page begins anew with it. */
function show(name: string): void {
  const address = new URL(location.href);
  address.searchParams.set("file", name);
  location.assign(address);
}

/** What came of opening: shown, or told what a person has to decide. */
async function opened(told: OpenedTold | null): Promise<void> {
  if (told === null) return;
  if (told.lines.length > 0) sessionStorage.setItem("ecorche told", JSON.stringify(told.lines));
  if (told.name !== null) show(told.name);
  else await reloadFiles();
}

/** What was said before the page began anew. */
export function tellKept(): void {
  const kept = sessionStorage.getItem("ecorche told");
  sessionStorage.removeItem("ecorche told");
  if (kept === null) return;
  const lines = JSON.parse(kept) as string[];
  notifications.show({ title: sentence(lines[0]!), message: lines.slice(1).map(sentence).join("\n"), autoClose: 12000 });
}

export async function openFile(name: string): Promise<void> {
  await opened(await ask("files.open", { name }));
}

export async function openFigure(): Promise<void> {
  const told = await ask("files.figure");
  if (told?.name) await opened(told);
}

export async function makeRig(character: string, muscles: "none" | "template" | "extract" | "template+extract"): Promise<void> {
  await opened(await ask("files.make", { character, muscles }));
}

export async function rebind(name: string, character: string | null): Promise<void> {
  await opened(await ask("files.rebind", { name, character }));
}

export interface Conflict {
  readonly name: string;
  readonly what: string;
  readonly found: string | null;
}

/** Save; what stands against it, where somebody else wrote the file. */
export async function save(name: string | null = null, over: string | null = null): Promise<Conflict | null> {
  const before = useStudio.getState().files?.open;
  const told = await act("files.save", { name, over });
  if (told === null) return null;
  if (told.conflict !== null) return { name: told.name, what: told.conflict.what, found: told.found };
  tell(told.lines);
  if (told.name !== before) {
    connection.file = told.name;
    const address = new URL(location.href);
    address.searchParams.set("file", told.name);
    history.replaceState(null, "", address);
  }
  await reloadFiles();
  return null;
}

export async function reload(): Promise<void> {
  tell((await act("files.reload"))?.lines ?? []);
  await reloadFiles();
}

export async function recover(recovery: string): Promise<void> {
  const wasOpen = useStudio.getState().open;
  const told = await act("files.recover", { recovery });
  if (told === null) return;
  if (!wasOpen && told.name !== null) await opened(told);
  else tell(told.lines);
  await reloadFiles();
}

export async function discard(recovery: string): Promise<void> {
  tell((await ask("files.discard", { recovery }))?.lines ?? []);
  await reloadFiles();
}

/** Put dropped files into the folder, and open the rig or character among them. */
export async function drop(files: readonly File[]): Promise<void> {
  const taken: string[] = [];
  for (const file of files) {
    const name = await send(file);
    if (name !== null) taken.push(name);
  }
  await reloadFiles();
  const kinds = new Map(useStudio.getState().files?.entries.map((entry) => [entry.name, entry.kind]));
  const first =
    taken.find((name) => kinds.get(name) === "rig") ?? taken.find((name) => kinds.get(name) === "character");
  if (taken.length > 0) tell([`in the folder now: ${taken.join(", ")}`]);
  if (first !== undefined) await openFile(first);
}

async function send(file: File): Promise<string | null> {
  try {
    if (file.size > LARGEST_UPLOAD) {
      throw new Refusal(`is larger than ${LARGEST_UPLOAD / 2 ** 20} MB`, file.name, "Copy it into the folder by hand");
    }
    const address = new URL("upload", location.href);
    address.search = `?${new URLSearchParams({ name: file.name })}`;
    const answer = await fetch(address, { method: "POST", body: file, headers: { "x-ecorche-upload": "1" } });
    const text = await answer.text();
    if (answer.status !== 200 && answer.status !== 422) throw new Refusal(text || "it could not be sent", file.name, null);
    const told = JSON.parse(text) as { name?: string; error?: { what: string; where: string | null; remedy: string | null } };
    if (told.error) throw new Refusal(told.error.what, told.error.where, told.error.remedy);
    return told.name ?? null;
  } catch (error) {
    tellRefusal(error instanceof Refusal ? error : new Refusal("could not be sent", file.name, "Drop it again"));
    return null;
  }
}

/** Keep the store's account of files up to date, and draw again what changed under this page. */
export function followFiles(): () => void {
  const heard = (event: { readonly event: string }): void => {
    if (event.event === "files.hello" || event.event === "files.changed") queueMicrotask(() => void reloadFiles());
    if (event.event === "document.changed") soon();
    if (event.event === "files.edited") {
      const { number, did } = event as unknown as { number: number; did: string };
      notifications.show({ id: `page ${number}`, message: `Page ${number}: ${did}`, autoClose: 3000 });
    }
  };
  let timer = 0;
  const soon = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void reloadFiles(), 1500); // once the autosave has kept it
  };
  eventListeners.add(heard);
  if (connection.open) void reloadFiles();
  return () => {
    clearTimeout(timer);
    eventListeners.delete(heard);
  };
}


/** "12 MB". */
export function sizeTold(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${size >= 10 || unit === 0 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** "21:03", or with its day where that is not today. */
export function timeTold(seconds: number): string {
  const then = new Date(1000 * seconds);
  const today = then.toDateString() === new Date().toDateString();
  const time = then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return today ? time : `${then.toLocaleDateString()} ${time}`;
}
