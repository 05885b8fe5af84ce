/** Names that browsers give to drawing by the processor alone. */
const BY_PROCESSOR = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Whether this browser draws by the processor alone, where every point of the picture costs time. */
export function drawsByProcessor(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (gl === null) return true;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return BY_PROCESSOR.test(name);
}

/** A picture that takes longer than this is drawn coarser while things move, one that takes less finer again [ms]. */
const SLOW = 75;
const FAST = 30;
/** No finer sooner than so long after it became coarser: sizes that go to and fro cost more than they save [ms]. */
const STAYS = 4000;
/** No coarser than this share of the page's own points. */
const COARSEST = 0.5;
/** Things are at rest when nothing has been drawn for so long [ms]. */
const REST = 220;

/** How fine pictures are drawn: as fine as the browser keeps up with while things move, and well at rest. */
export class Pace {
  /** Points of the picture to one of the page, while things move. */
  moving: number;
  /** At rest. */
  readonly resting: number;
  /** As many as the screen has. */
  readonly full: number;
  #taken: number[] = [];
  #drawn = 0;
  #fresh = false;
  #changed = 0;

  constructor(byProcessor: boolean, ratio: number) {
    this.full = Math.min(ratio, byProcessor ? 1 : 2);
    this.moving = byProcessor ? 0.75 * this.full : this.full;
    // without hardware edges are smoothed by drawing more points, which takes its time
    this.resting = byProcessor ? 2 * this.full : this.full;
  }

  /** A picture was begun; told at the browser's pace. */
  drew(now: number): void {
    this.#drawn = now;
    this.#fresh = true;
  }

  /** The browser asks for the next picture: how long it took with the last. */
  asked(now: number): void {
    if (!this.#fresh) return;
    this.#fresh = false;
    this.#taken.push(now - this.#drawn);
    if (this.#taken.length < 8) return;
    const mean = this.#taken.reduce((sum, one) => sum + one) / this.#taken.length;
    this.#taken = [];
    let next = this.moving;
    if (mean > SLOW) next = Math.max(COARSEST * this.full, 0.75 * this.moving);
    else if (mean < FAST && now - this.#changed > STAYS) next = Math.min(this.full, this.moving / 0.75);
    if (next !== this.moving) this.#changed = now;
    this.moving = next;
  }

  atRest(now: number): boolean {
    return now - this.#drawn > REST;
  }
}
