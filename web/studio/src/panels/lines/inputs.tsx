import { NumberInput, Text, Tooltip } from "@mantine/core";

/** A number that is taken when it is left or entered; what comes from the server is shown. */
export function Numeric(props: {
  label: string;
  hint: string;
  value: number | null;
  /** Of the shown number: the value times this. */
  scale?: number;
  digits?: number;
  suffix?: string;
  least?: number;
  most?: number;
  width?: number;
  placeholder?: string;
  disabled?: boolean;
  onChange: (value: number | null) => void;
}) {
  const { label, hint, value, scale = 1, digits = 2, suffix = "", width = 84, onChange } = props;
  const shown = value === null ? "" : Number((value * scale).toFixed(digits));
  return (
    <Tooltip label={hint}>
      <NumberInput
        key={shown}
        aria-label={label}
        w={width}
        defaultValue={shown}
        decimalScale={digits}
        suffix={suffix}
        hideControls
        disabled={props.disabled ?? false}
        {...(props.placeholder === undefined ? {} : { placeholder: props.placeholder })}
        {...(props.least === undefined ? {} : { min: props.least * scale })}
        {...(props.most === undefined ? {} : { max: props.most * scale })}
        onBlur={(event) => take(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
      />
    </Tooltip>
  );

  function take(text: string): void {
    const typed = parseFloat(text);
    if (text.trim() === "" && props.placeholder !== undefined) {
      if (value !== null) onChange(null);
    } else if (isFinite(typed) && typed !== shown) onChange(typed / scale);
  }
}

/** Three numbers [mm], or others, in a row. */
export function Triple(props: {
  label: string;
  hint: string;
  value: readonly number[];
  scale?: number;
  digits?: number;
  onChange: (value: [number, number, number]) => void;
}) {
  const { label, hint, value, scale = 1000, digits = 1, onChange } = props;
  return (
    <>
      {value.map((one, axis) => (
        <Numeric
          key={axis}
          label={`${label} ${"xyz"[axis]}`}
          hint={`${hint}, ${"xyz"[axis]}`}
          value={one}
          scale={scale}
          digits={digits}
          width={64}
          onChange={(next) => {
            if (next === null) return;
            const changed = [...value] as [number, number, number];
            changed[axis] = next;
            onChange(changed);
          }}
        />
      ))}
    </>
  );
}

export function Caption({ children, hint, width = 92 }: { children: string; hint: string; width?: number }) {
  return (
    <Tooltip label={hint}>
      <Text fz="xs" w={width} style={{ flexShrink: 0 }}>
        {children}
      </Text>
    </Tooltip>
  );
}
