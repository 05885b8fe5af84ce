/** How active muscles are through a clip. */
export class ActivationCurves {
  /**
   * @param times Of the keys [s], rising.
   * @param values 0 to 1, muscle by muscle within key by key.
   */
  constructor(
    readonly times: Float32Array,
    readonly values: Float32Array,
    readonly muscleCount: number,
  ) {}

  /** Add `weight` times the activations at a time [s] to `out`; before and after the clip its ends hold. */
  addTo(out: Float64Array, time: number, weight: number): void {
    const { times, values, muscleCount } = this;
    const last = times.length - 1;
    let high = 1;
    if (last > 0) {
      let low = 0;
      high = last;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (times[middle]! <= time) low = middle;
        else high = middle;
      }
    }
    const before = Math.min(high - 1, last);
    const after = Math.min(high, last);
    const span = times[after]! - times[before]!;
    const share = span > 0 ? Math.min(Math.max((time - times[before]!) / span, 0), 1) : 0;
    for (let muscle = 0; muscle < muscleCount; muscle++) {
      const from = values[before * muscleCount + muscle]!;
      const to = values[after * muscleCount + muscle]!;
      out[muscle] = out[muscle]! + weight * (from + share * (to - from));
    }
  }
}
