import { Button, Group, NumberInput, Select, Slider, Stack, Switch, Text, Tooltip } from "@mantine/core";
import { useCallback, useEffect, useState } from "react";
import type { Answer, Asked, Given } from "../../connection.js";
import { useStudio } from "../../store.js";
import { act, ask, tell } from "../../studio.js";

type Body = Answer<"body.get">;

const COUPLINGS = [
  { value: "muscles", label: "Moved by each muscle" },
  { value: "plain", label: "Skinning alone" },
  { value: "height_field", label: "Height field over muscles" },
  { value: "fascia", label: "Fascia over muscles" },
];

/** The body as a whole: type, coupling of the skin, and how springs are made. */
export function BodyPanel() {
  const revision = useStudio((s) => s.revision);
  const [body, setBody] = useState<Body | null>(null);
  const [working, setWorking] = useState(false);
  const refresh = useCallback(async () => setBody(await ask("body.get")), []);
  useEffect(() => void refresh(), [refresh, revision]);
  if (body === null) return <Text fz="xs">…</Text>;

  const edit = async <K extends Asked>(type: K, ...fields: Given<K>): Promise<void> => {
    setWorking(true);
    try {
      const done = await act(type, ...fields);
      if (done !== null && "lines" in done) tell(done.lines as readonly string[]);
      await refresh(); // what was refused goes back to what is
    } finally {
      setWorking(false);
    }
  };
  const coupled = body.coupling === "height_field" || body.coupling === "fascia";
  return (
    <Stack gap="sm" data-testid="body">
      <Text fw={600} fz="sm">
        Body type
      </Text>
      <Amount
        label="Bulk"
        hint="Width and thickness of every muscle, times what it was modelled with; the skin rises with them. Takes a second or two"
        min={0.5}
        max={2}
        step={0.05}
        value={body.bulk}
        disabled={working}
        onEnd={(bulk) => void edit("body.type", { bulk })}
      />
      <Amount
        label="Fat"
        hint="0 as modelled, −1 lean; 1 gives an adult of 1.75 m some 15 litres, where people carry them"
        min={-1}
        max={2}
        step={0.05}
        value={body.fat}
        disabled={working}
        onEnd={(fat) => void edit("body.type", { fat })}
      />
      <Group>
        <Button
          disabled={working || (body.bulk === 1 && body.fat === 0)}
          onClick={() => void edit("body.type", { bulk: 1, fat: 0 })}
        >
          As modelled
        </Button>
      </Group>
      <Text fw={600} fz="sm" mt={6}>
        Skin over muscles
      </Text>
      <Tooltip label="How the skin follows what lies beneath. Over a height field or fascia every moment takes longer; while you work it is not filtered in time, as a bake is">
        <Select
          label="Coupling"
          data={COUPLINGS}
          value={body.coupling}
          allowDeselect={false}
          disabled={working}
          onChange={(value) => value !== null && void edit("body.couple", { everywhere: value as Body["coupling"] })}
        />
      </Tooltip>
      {body.regions.length > 0 && (
        <Text fz="xs" c="dimmed">
          {body.regions.map(([region, kind]) => `${region}: ${kind.replace("_", " ")}`).join(", ")}
        </Text>
      )}
      {coupled && (
        <>
          <Painted label="Intensity" hint="How much of it is shown, 0 to 1" value={body.intensity} disabled={working} onEnd={(intensity) => void edit("body.couple", { intensity })} />
          <Painted label="Stiffness" hint="How strongly it is smoothed over the skin, 0 to 1" value={body.stiffness} disabled={working} onEnd={(stiffness) => void edit("body.couple", { stiffness })} />
          <Painted label="Slide" hint="How freely the skin slides along itself, 0 to 1" value={body.slide} disabled={working} onEnd={(slide) => void edit("body.couple", { slide })} />
          <Tooltip label="Skin gives way where it would pass through skin">
            <Switch
              label="Skin meets skin"
              checked={body.contact}
              disabled={working}
              onChange={(event) => void edit("body.couple", { contact: event.currentTarget.checked })}
            />
          </Tooltip>
        </>
      )}
      <Text fw={600} fz="sm" mt={6}>
        Dynamics
      </Text>
      <Text fz="xs" c="dimmed">
        What swings is chosen beside the timeline, for a motion. These say how springs are made.
      </Text>
      <Tooltip label="Patches of skin move as one, in longer steps: a look while one works, several times as fast. Not for a film">
        <Switch
          label="Springs in real time"
          checked={body.realtime}
          disabled={working}
          onChange={(event) => void edit("body.springs", { realtime: event.currentTarget.checked })}
        />
      </Tooltip>
      <Amount
        label="Muscularity"
        hint="How thick muscles are, share of what they are: the rest is softer tissue"
        min={0.2}
        max={1}
        step={0.05}
        value={body.muscularity}
        disabled={working}
        onEnd={(muscularity) => void edit("body.springs", { muscularity })}
      />
      <Amount
        label="Shown"
        hint="How much of the springs' motion is shown, 0 to 1"
        min={0}
        max={1}
        step={0.05}
        value={body.swing}
        disabled={working}
        onEnd={(intensity) => void edit("body.springs", { intensity })}
      />
    </Stack>
  );
}

interface AmountProps {
  readonly label: string;
  readonly hint: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly value: number;
  readonly disabled: boolean;
  readonly onEnd: (value: number) => void;
}

/** A number as a slider and a field; it counts when it is let go. */
function Amount({ label, hint, min, max, step, value, disabled, onEnd }: AmountProps) {
  const [now, setNow] = useState(value);
  useEffect(() => setNow(value), [value]);
  const end = (next: number): void => {
    if (next !== value) onEnd(next);
  };
  return (
    <Tooltip label={hint} multiline maw={320}>
      <Group gap="sm" wrap="nowrap">
        <Text fz="sm" w={76}>
          {label}
        </Text>
        <Slider
          flex={1}
          min={min}
          max={max}
          step={step}
          thumbLabel={label}
          label={null}
          value={now}
          disabled={disabled}
          onChange={setNow}
          onChangeEnd={end}
        />
        <NumberInput
          aria-label={label}
          w={64}
          min={min}
          max={max}
          step={step}
          decimalScale={3}
          hideControls
          value={now}
          disabled={disabled}
          onChange={(next) => typeof next === "number" && setNow(next)}
          onBlur={() => end(now)}
          onKeyDown={(event) => event.key === "Enter" && end(now)}
        />
      </Group>
    </Tooltip>
  );
}

/** The same from 0 to 1; what is painted is changed on its map. */
function Painted({ value, ...rest }: Omit<AmountProps, "value" | "min" | "max" | "step"> & { readonly value: number | null }) {
  if (value === null) {
    return (
      <Text fz="xs" c="dimmed">
        {rest.label}: painted on a map of the rig
      </Text>
    );
  }
  return <Amount {...rest} min={0} max={1} step={0.05} value={value} />;
}
