import type { ViewFrame } from "../messages.js";

type Rgb = readonly [number, number, number];
type Colouring = NonNullable<ViewFrame["colour"]>;

/** Blue where the skin sank, grey where it stayed, red where it rose. */
const SUNK_TO_RISEN: readonly Rgb[] = [
  [22, 44, 110],
  [46, 104, 178],
  [134, 178, 214],
  [230, 230, 230],
  [238, 170, 118],
  [204, 78, 52],
  [118, 14, 34],
];
/** From none, the grey of clay, to all. */
const NONE_TO_ALL: readonly Rgb[] = [
  [205, 200, 196],
  [246, 205, 120],
  [232, 120, 52],
  [150, 24, 40],
];

/** Values that the ends of the colours stand for. */
export function shownRange(colour: Colouring, [low, high]: readonly [number, number, string]): [number, number] {
  if (colour !== "displacement") return [0, 1];
  const most = Math.max(Math.abs(low), Math.abs(high), 0.1);
  return [-most, most];
}

function anchors(colour: Colouring): readonly Rgb[] {
  return colour === "displacement" ? SUNK_TO_RISEN : NONE_TO_ALL;
}

/** Put linear colours of values into `out`, three numbers each. */
export function paint(values: Float32Array, colour: Colouring, [low, high]: [number, number], out: Float32Array): void {
  const table = anchors(colour).map((rgb) => rgb.map(linear) as unknown as Rgb);
  const steps = table.length - 1;
  for (let n = 0; n < values.length; n++) {
    const place = Math.min(Math.max((values[n]! - low) / (high - low), 0), 1) * steps;
    const before = Math.min(Math.floor(place), steps - 1);
    const share = place - before;
    for (let k = 0; k < 3; k++) {
      out[3 * n + k] = table[before]![k]! * (1 - share) + table[before + 1]![k]! * share;
    }
  }
}

export function cssGradient(colour: Colouring): string {
  return `linear-gradient(to right, ${anchors(colour)
    .map((rgb) => `rgb(${rgb.join(" ")})`)
    .join(", ")})`;
}

/** sRGB 0 to 255 as linear 0 to 1. */
export function linear(value: number): number {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
