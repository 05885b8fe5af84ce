import type { Requests, ServerEvent } from "./messages.js";

export type Asked = keyof Requests;
export type Answer<K extends Asked> = Requests[K]["reply"];
type Fields<K extends Asked> = Omit<Requests[K]["request"], "type">;
/** What is given with a request: nothing where nothing has to be. */
export type Given<K extends Asked> = {} extends Fields<K> ? [fields?: Fields<K>] : [fields: Fields<K>];

/** What was wrong with a request, as the server tells it. */
export class Refusal extends Error {
  constructor(
    readonly what: string,
    readonly where: string | null,
    readonly remedy: string | null,
    /** Whether it was never done, because the server that was asked is gone. */
    readonly lost = false,
  ) {
    super(what);
  }
}

interface Waiting {
  /** The message as it is sent, and sent again where its connection was lost. */
  readonly text: string;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Refusal) => void;
}

/** Requests that wait for a connection; more are refused. */
const MOST_WAITING = 200;

export type State = "connecting" | "open" | "lost";

const VIEWS = {
  float32: Float32Array,
  float64: Float64Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

/**
 * The socket to the server: requests with their answers, and events.
 *
 * It comes back by itself after a loss. What was asked meanwhile, or not answered before, is then asked again
 * under its number, which the server does not do twice; a server that was started anew knows nothing of it, and
 * what was asked is told as lost.
 */
export class Connection {
  onState: (state: State) => void = () => undefined;
  onEvent: (event: ServerEvent) => void = () => undefined;
  /** Told of errors that belong to no request, such as a file that could not be opened. */
  onRefusal: (refusal: Refusal) => void = () => undefined;
  #socket: WebSocket | null = null;
  #next = 1;
  #wait = 250;
  #greeted = false;
  #known = false;
  #timer = 0;
  /** What this page calls itself while it is loaded. */
  readonly #key = pageKey();
  /** The file that this page works on: a server that is started anew shows it again. */
  file: string | null = new URL(location.href).searchParams.get("file");
  readonly #waiting = new Map<number, Waiting>();

  constructor(readonly address: string) {
    this.#connect();
  }

  get open(): boolean {
    return this.#greeted && this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Ask; the answer, with its arrays where it has some. */
  request<K extends Asked>(type: K, ...[fields]: Given<K>): Promise<Answer<K>> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      if (!this.open && this.#waiting.size >= MOST_WAITING) {
        reject(new Refusal("the studio's server does not answer", null, "Wait until it is back"));
        return;
      }
      const text = JSON.stringify({ ...fields, id, type });
      this.#waiting.set(id, { text, resolve: resolve as (answer: unknown) => void, reject });
      if (this.open) this.#socket!.send(text);
    });
  }

  #connect(): void {
    this.onState("connecting");
    const address = new URL(this.address);
    address.searchParams.set("page", this.#key);
    if (this.file !== null) address.searchParams.set("file", this.file);
    const socket = new WebSocket(address);
    this.#greeted = false;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.#take(data as string | ArrayBuffer);
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#greeted = false;
      this.onState("lost");
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#connect(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, 2000);
    };
    this.#socket = socket;
  }

  /** The server has said who it takes this page for. */
  #greet(resumed: boolean): void {
    this.#wait = 250;
    this.#greeted = true;
    if (resumed) for (const { text } of this.#waiting.values()) this.#socket!.send(text);
    else if (this.#known) {
      const lost = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of lost) {
        reject(
          new Refusal(
            "the server was started anew before it answered, and this was lost",
            null,
            "Recover what was kept, or do it again",
            true,
          ),
        );
      }
    } else for (const { text } of this.#waiting.values()) this.#socket!.send(text); // asked while connecting
    this.#known = true;
    this.onState("open");
  }

  #take(data: string | ArrayBuffer): void {
    const told = typeof data === "string" ? JSON.parse(data) : unpacked(data);
    if ("event" in told) {
      if (told.event === "files.hello") {
        this.file = told.file ?? this.file;
        this.onEvent(told as ServerEvent);
        this.#greet(told.resumed);
        return;
      }
      this.onEvent(told as ServerEvent);
      return;
    }
    const waiting = this.#waiting.get(told.id);
    this.#waiting.delete(told.id);
    if (told.error) {
      const refusal = new Refusal(told.error.what, told.error.where, told.error.remedy);
      if (waiting) waiting.reject(refusal);
      else this.onRefusal(refusal);
    } else waiting?.resolve(told.arrays ? { ...told.ok, arrays: told.arrays } : told.ok);
  }
}

/** A name that no other page has: random, for whoever knows it is this page. */
function pageKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

interface Entry {
  readonly name: string;
  readonly dtype: keyof typeof VIEWS;
  readonly shape: readonly number[];
  readonly offset: number;
}

/** A message with arrays; these are views into it. */
function unpacked(data: ArrayBuffer): { id: number; ok: object; arrays: Record<string, ArrayBufferView> } {
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  const first = Math.ceil((4 + length) / 8) * 8;
  const arrays: Record<string, ArrayBufferView> = {};
  for (const { name, dtype, shape, offset } of header.arrays as Entry[]) {
    const count = shape.reduce((product, size) => product * size, 1);
    arrays[name] = new VIEWS[dtype](data, first + offset, count);
  }
  return { ...header, arrays };
}
