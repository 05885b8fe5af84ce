import { Text, Tooltip } from "@mantine/core";
import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { useHeld } from "./fields.js";

const WIDTH = 322;
const HEIGHT = 124;
const EDGE = 12;

type Values = readonly (readonly number[])[];
export type Phase = "move" | "end";

/** Two cubic Béziers that meet at the belly, with a handle on each control value. Values in metres, shown in mm. */
export function CurveEditor(props: {
  readonly title: string;
  readonly hint: string;
  readonly values: Values;
  readonly belly: number;
  /** Whether values may be negative. */
  readonly signed?: boolean;
  /** The ends cannot be moved. */
  readonly endsFixed?: boolean;
  readonly testId: string;
  readonly onValue: (half: 0 | 1, number: number, value: number, phase: Phase) => void;
  readonly onBelly?: (share: number, phase: Phase) => void;
}) {
  const { values, belly, signed = false } = props;
  const svg = useRef<SVGSVGElement>(null);
  const [held, setHeld] = useHeld<{ half: 0 | 1; number: number; value: number; reach: number }>(JSON.stringify(values));
  const [heldBelly, setHeldBelly] = useHeld<number>(belly);
  const dragging = useRef<"no" | "down" | "moved">("no");
  const shown = values.map((half, h) => half.map((value, n) => (held && isSame(held, h, n) ? held.value : value)));
  const middle = heldBelly ?? belly;
  const largest = Math.max(...values.flat().map(Math.abs), signed ? 0.005 : 0.002);
  const reach = held?.reach ?? 1.3 * largest;
  const low = signed ? -reach : 0;
  const x = (t: number): number => EDGE + t * (WIDTH - 2 * EDGE);
  const y = (value: number): number => HEIGHT - EDGE - ((value - low) / (reach - low)) * (HEIGHT - 2 * EDGE);
  const at = (half: number, number: number): number =>
    half === 0 ? (middle * number) / 3 : middle + ((1 - middle) * number) / 3;
  const path = shown
    .map((half, h) => {
      const [a, b, c, d] = half.map((value, n) => `${x(at(h, n)).toFixed(1)} ${y(value).toFixed(1)}`);
      return `${h === 0 ? `M ${a}` : ""} C ${b}, ${c}, ${d}`;
    })
    .join(" ");
  const pointer = (event: PointerEvent): [number, number] => {
    const box = svg.current!.getBoundingClientRect();
    const across = ((event.clientX - box.left) * WIDTH) / box.width;
    const down = ((event.clientY - box.top) * HEIGHT) / box.height;
    const t = (across - EDGE) / (WIDTH - 2 * EDGE);
    const value = low + ((HEIGHT - EDGE - down) / (HEIGHT - 2 * EDGE)) * (reach - low);
    return [Math.min(Math.max(t, 0.02), 0.98), Math.min(Math.max(value, low), reach)];
  };
  const typed = (event: KeyboardEvent, half: 0 | 1, number: number, value: number): void => {
    const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = value + step * (event.shiftKey ? 0.002 : 0.0005);
    props.onValue(half, number, signed ? next : Math.max(next, 0), "end");
  };
  return (
    <div>
      <Tooltip label={props.hint}>
        <Text fz="xs" c="dimmed">
          {props.title}
        </Text>
      </Tooltip>
      <svg ref={svg} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="muscle-curve" data-testid={props.testId}>
        <line className="muscle-axis" x1={x(0)} x2={x(1)} y1={y(0)} y2={y(0)} />
        <line className="muscle-belly" x1={x(middle)} x2={x(middle)} y1={EDGE} y2={HEIGHT - EDGE} />
        {!signed && <path className="muscle-filled" d={`${path} L ${x(1)} ${y(0)} L ${x(0)} ${y(0)} Z`} />}
        <path className="muscle-line" d={path} />
        {shown.map((half, h) => (
          <polyline
            key={h}
            className="muscle-hull"
            points={half.map((value, n) => `${x(at(h, n))},${y(value)}`).join(" ")}
          />
        ))}
        {props.onBelly && (
          <rect
            className="muscle-belly-grip"
            data-testid={`${props.testId}-belly`}
            x={x(middle) - 5}
            y={HEIGHT - EDGE - 4}
            width={10}
            height={9}
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId);
              dragging.current = "down";
              setHeldBelly(middle);
            }}
            onPointerMove={(event) => {
              if (dragging.current === "no") return;
              dragging.current = "moved";
              const [t] = pointer(event);
              setHeldBelly(t);
              props.onBelly!(t, "move");
            }}
            onPointerUp={() => {
              const moved = dragging.current === "moved";
              dragging.current = "no";
              if (heldBelly === null || !moved) return setHeldBelly(null);
              props.onBelly!(heldBelly, "end");
              setHeldBelly(heldBelly, true);
            }}
          >
            <title>{`Belly at ${Math.round(100 * middle)} % of the length; drag along`}</title>
          </rect>
        )}
        {shown.map((half, h) =>
          half.map((value, n) => {
            const doubled = h === 1 && n === 0;
            const fixed = props.endsFixed === true && ((h === 0 && n === 0) || (h === 1 && n === 3));
            if (doubled) return null;
            const half_ = h as 0 | 1;
            return (
              <circle
                key={`${h}${n}`}
                className={fixed ? "muscle-control muscle-fixed" : "muscle-control"}
                data-testid={`${props.testId}-${h}-${n}`}
                cx={x(at(h, n))}
                cy={y(value)}
                r={fixed ? 3 : 5}
                tabIndex={fixed ? -1 : 0}
                role="slider"
                aria-label={`${props.title}, ${h === 0 ? "origin" : "insertion"} half, value ${n}`}
                aria-valuenow={1000 * value}
                onKeyDown={(event) => fixed || typed(event, half_, n, value)}
                onPointerDown={(event) => {
                  if (fixed) return;
                  event.currentTarget.setPointerCapture(event.pointerId);
                  dragging.current = "down";
                  setHeld({ half: half_, number: n, value, reach });
                }}
                onPointerMove={(event) => {
                  if (dragging.current === "no" || held === null || !isSame(held, h, n)) return;
                  dragging.current = "moved";
                  const [, next] = pointer(event);
                  setHeld({ ...held, value: next });
                  props.onValue(half_, n, next, "move");
                }}
                onPointerUp={() => {
                  const moved = dragging.current === "moved";
                  dragging.current = "no";
                  if (held === null || !moved) return setHeld(null);
                  props.onValue(held.half, held.number, held.value, "end");
                  setHeld(held, true);
                }}
              >
                <title>{fixed ? "Zero at the ends: move the attachment instead" : `${(1000 * value).toFixed(1)} mm`}</title>
              </circle>
            );
          }),
        )}
        <text className="muscle-label" x={x(0)} y={EDGE + 4}>
          {`${(1000 * reach).toFixed(0)} mm`}
        </text>
        <text className="muscle-label" x={x(0)} y={HEIGHT - 2.5}>
          origin
        </text>
        <text className="muscle-label" x={x(1)} y={HEIGHT - 2.5} textAnchor="end">
          insertion
        </text>
      </svg>
    </div>
  );
}

function isSame(held: { half: number; number: number }, half: number, number: number): boolean {
  // the belly's value is the last of one half and the first of the other
  const belly = (h: number, n: number): boolean => (h === 0 && n === 3) || (h === 1 && n === 0);
  return (held.half === half && held.number === number) || (belly(held.half, held.number) && belly(half, number));
}
