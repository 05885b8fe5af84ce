/** Does one thing after another; of those of one kind that wait in a row only the newest is done. */
export class Latest {
  #running = false;
  readonly #waiting: { kind: string | null; job: () => Promise<unknown> }[] = [];

  /** A job without a kind is always done. */
  run(kind: string | null, job: () => Promise<unknown>): void {
    const last = this.#waiting.at(-1);
    if (kind !== null && last?.kind === kind) last.job = job;
    else this.#waiting.push({ kind, job });
    if (!this.#running) void this.#work();
  }

  async #work(): Promise<void> {
    this.#running = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) await next.job();
    } finally {
      this.#running = false;
    }
  }
}
