import { Group, NumberInput, Slider, Text, Tooltip } from "@mantine/core";
import { useRef, useState } from "react";
import { newGesture } from "./state.js";

/** So far beyond a range a slider goes, so that a limb can be seen to stop [degrees]. */
const BEYOND = 30;

/** An angle by slider or number. What it is comes back from the server: at its limit it stays. */
export function Angle(props: {
  label: string;
  hint: string;
  degrees: number;
  /** Where the range ends; null for one that is not limited. */
  range: readonly [number, number] | null;
  least: number;
  most: number;
  onChange: (degrees: number, gesture: string) => void;
}) {
  const { label, hint, degrees, range, onChange } = props;
  const gesture = useRef<string | null>(null);
  const least = range === null ? props.least : Math.max(range[0] - BEYOND, props.least);
  const most = range === null ? props.most : Math.min(range[1] + BEYOND, props.most);
  const beyond = range !== null && (degrees < range[0] - 1e-6 || degrees > range[1] + 1e-6);
  return (
    <Group gap={8} wrap="nowrap" align="center">
      <Tooltip label={`${hint} [degrees]${range === null ? "" : `: ${told(range[0])} to ${told(range[1])}`}`}>
        <Text fz="xs" w={62} {...(beyond ? { c: "red" } : {})} truncate>
          {label}
        </Text>
      </Tooltip>
      <Slider
        flex={1}
        min={least}
        max={most}
        step={0.5}
        label={null}
        startPointValue={Math.min(Math.max(0, least), most)}
        {...(beyond ? { color: "red" } : {})}
        thumbLabel={`${label} [degrees]`}
        marks={range === null ? [{ value: 0 }] : [{ value: range[0] }, { value: range[1] }]}
        value={Math.min(Math.max(degrees, least), most)}
        onChange={(value) => onChange(value, (gesture.current ??= newGesture()))}
        onChangeEnd={() => (gesture.current = null)}
      />
      <Degrees label={`${label} [degrees]`} value={degrees} onChange={(value) => onChange(value, newGesture())} />
    </Group>
  );
}

/** A number of degrees; it is taken when it is left or entered. */
export function Degrees(props: {
  label: string;
  value: number;
  onChange: (value: number) => void;
  width?: number;
  hint?: string;
}) {
  const { label, value, onChange, width = 74, hint } = props;
  const shown = rounded(value);
  // counts what was typed: a number that is refused must not stay
  const [typed, setTyped] = useState(0);
  const input = (
    <NumberInput
      // a key, so that what comes from the server is shown, and what is typed stays until it is left
      key={`${shown} ${typed}`}
      aria-label={label}
      w={width}
      defaultValue={shown}
      decimalScale={2}
      step={1}
      suffix="°"
      hideControls
      onBlur={(event) => {
        take(event.currentTarget.value);
        setTyped(typed + 1);
      }}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
  return hint === undefined ? input : <Tooltip label={hint}>{input}</Tooltip>;

  function take(text: string): void {
    const next = parseFloat(text);
    if (isFinite(next) && next !== shown) onChange(next);
  }
}

function rounded(value: number): number {
  return Math.round(100 * value) / 100;
}

export function told(degrees: number): string {
  return `${degrees.toFixed(0).replace("-", "−")}°`;
}
