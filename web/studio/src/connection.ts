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
  ) {
    super(what);
  }
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Refusal) => void;
}

export type State = "connecting" | "open" | "lost";

const VIEWS = {
  float32: Float32Array,
  float64: Float64Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

/** The socket to the server: requests with their answers, and events. It comes back by itself after a loss. */
export class Connection {
  onState: (state: State) => void = () => undefined;
  onEvent: (event: ServerEvent) => void = () => undefined;
  /** Told of errors that belong to no request, such as a file that could not be opened. */
  onRefusal: (refusal: Refusal) => void = () => undefined;
  #socket: WebSocket | null = null;
  #next = 1;
  #wait = 250;
  readonly #waiting = new Map<number, Waiting>();

  constructor(readonly address: string) {
    this.#connect();
  }

  get open(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Ask; the answer, with its arrays where it has some. */
  request<K extends Asked>(type: K, ...[fields]: Given<K>): Promise<Answer<K>> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      if (!this.open) {
        reject(new Refusal("the studio's server does not answer", null, "Wait until it is back"));
        return;
      }
      this.#waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject });
      this.#socket!.send(JSON.stringify({ id, type, ...fields }));
    });
  }

  #connect(): void {
    this.onState("connecting");
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#wait = 250;
      this.onState("open");
    };
    socket.onmessage = ({ data }) => this.#take(data as string | ArrayBuffer);
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.onState("lost");
      for (const { reject } of this.#waiting.values()) {
        reject(new Refusal("the connection was lost before an answer came", null, "It is tried again by itself"));
      }
      this.#waiting.clear();
      setTimeout(() => this.#connect(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, 4000);
    };
    this.#socket = socket;
  }

  #take(data: string | ArrayBuffer): void {
    const told = typeof data === "string" ? JSON.parse(data) : unpacked(data);
    if ("event" in told) {
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
