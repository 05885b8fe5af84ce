import { Group, NumberInput, Slider, Text, TextInput, Tooltip } from "@mantine/core";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Phase } from "./curve.js";

/** A slider that tells while it is dragged, and once at the end; its number may be typed as well. */
export function LiveSlider(props: {
  readonly label: string;
  readonly hint: string;
  readonly testId: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly unit: string;
  readonly onLive: (value: number, phase: Phase) => void;
}) {
  const [held, setHeld] = useHeld<number>(props.value);
  const value = held ?? props.value;
  const digits = Math.max(0, -Math.floor(Math.log10(props.step)));
  return (
    <Group gap="xs" wrap="nowrap">
      <Tooltip label={props.hint}>
        <Text fz="xs" w={62}>
          {props.label}
        </Text>
      </Tooltip>
      <Slider
        flex={1}
        min={props.min}
        max={props.max}
        step={props.step}
        value={Math.min(Math.max(value, props.min), props.max)}
        label={(shown) => `${shown.toFixed(digits)} ${props.unit}`}
        thumbLabel={props.label}
        data-testid={props.testId}
        onChange={(next) => {
          // Mantine tells a held value of its own when it clamps one: nobody moved that
          if (Math.abs(next - value) < 1e-9) return;
          setHeld(next);
          props.onLive(next, "move");
        }}
        onChangeEnd={(next) => {
          if (held !== null) props.onLive(next, "end");
          setHeld(next, true);
        }}
      />
      <Typed
        label={`${props.label}, ${props.unit}`}
        width={74}
        suffix={` ${props.unit}`}
        value={Number(value.toFixed(digits))}
        onValue={(next) => props.onLive(next, "end")}
      />
    </Group>
  );
}

/** What is in hand: it stays after it is let go until the server tells what became of it, or a moment. */
export function useHeld<T>(told: unknown): [T | null, (held: T | null, letGo?: boolean) => void] {
  const [held, setHeld] = useState<T | null>(null);
  const gone = useRef(false);
  useEffect(() => {
    if (gone.current) setHeld(null);
  }, [told]);
  const change = useCallback((next: T | null, letGo = false): void => {
    gone.current = letGo;
    setHeld(next);
    if (letGo) setTimeout(() => gone.current && setHeld(null), 1500);
  }, []);
  return [held, change];
}

/** A number that counts when it is typed in full: Enter, or leaving the field. */
export function Typed(props: {
  readonly label: string;
  readonly value: number;
  readonly width?: number;
  readonly suffix?: string;
  readonly onValue: (value: number) => void;
}) {
  const [typed, setTyped] = useState<number | string>(props.value);
  useEffect(() => setTyped(props.value), [props.value]);
  const give = (): void => {
    const value = typeof typed === "number" ? typed : Number.parseFloat(typed);
    if (Number.isFinite(value) && value !== props.value) props.onValue(value);
    else setTyped(props.value);
  };
  return (
    <NumberInput
      aria-label={props.label}
      w={props.width ?? 90}
      hideControls
      suffix={props.suffix ?? ""}
      value={typed}
      onChange={setTyped}
      onBlur={give}
      onKeyDown={(event) => {
        if (event.key === "Enter") give();
      }}
    />
  );
}

/** A word that counts when it is typed in full. */
export function Word(props: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly testId: string;
  readonly onValue: (value: string) => void;
}) {
  const [typed, setTyped] = useState(props.value);
  useEffect(() => setTyped(props.value), [props.value]);
  const give = (): void => {
    if (typed !== props.value) props.onValue(typed);
  };
  return (
    <Tooltip label={props.hint}>
      <TextInput
        label={props.label}
        flex={1}
        value={typed}
        data-testid={props.testId}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={give}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
          if (event.key === "Escape") setTyped(props.value);
        }}
      />
    </Tooltip>
  );
}
