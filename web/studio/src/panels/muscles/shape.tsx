import { Button, Group, SegmentedControl, Stack, Tooltip } from "@mantine/core";
import { useRef, useState } from "react";
import { act } from "../../studio.js";
import { CurveEditor } from "./curve.js";
import { LiveSlider } from "./fields.js";
import { Drag } from "./latest.js";
import type { Detail, Spindle } from "./muscle.js";

/** Thickness, sweep, belly, scale and direction of a spindle. */
export function ShapeSection({ detail, spindle }: { detail: Detail; spindle: Spindle }) {
  const { name } = detail;
  const [axis, setAxis] = useState<0 | 1>(0);
  const drag = useRef(new Drag()).current;
  const belly = (share: number, phase: "move" | "end"): void => drag.edit(phase, "muscle.set", { name, belly: share });
  return (
    <Stack gap="xs">
      <CurveEditor
        title="Half its width along the way [mm]"
        hint="Drag the values. The two beside the belly move against each other, so that the halves meet without a crease; the belly's own takes both along. Arrow keys: 0.5 mm."
        testId="thickness"
        values={spindle.thickness}
        belly={spindle.belly}
        onValue={(half, number, value, phase) => drag.edit(phase, "muscle.thickness", { name, half, number, value })}
        onBelly={belly}
      />
      <CurveEditor
        title="Sweep: its middle off the path [mm]"
        hint="Bends the muscle away from its path, outwards or sideways; zero at both ends."
        testId="sweep"
        signed
        endsFixed
        values={spindle.sweep.map((half) => half.map((offset) => offset[axis]))}
        belly={spindle.belly}
        onValue={(half, number, value, phase) => {
          const held = spindle.sweep[half][number]!;
          const [outwards, sideways] = axis === 0 ? [value, held[1]] : [held[0], value];
          drag.edit(phase, "muscle.sweep", { name, half, number, outwards, sideways });
        }}
      />
      <Group gap="xs" justify="space-between">
        <SegmentedControl
          value={String(axis)}
          onChange={(next) => setAxis(next === "0" ? 0 : 1)}
          data={[
            { value: "0", label: "Outwards" },
            { value: "1", label: "Sideways" },
          ]}
        />
        <Tooltip label="Bulge towards the skin nearest to the belly; or drag the blue handle in the view">
          <Button onClick={() => void act("muscle.outward", { name })}>Bulge to skin</Button>
        </Tooltip>
      </Group>
      <LiveSlider
        label="Belly"
        hint="Where it is thickest, of its length from the origin [%]"
        testId="belly"
        value={100 * spindle.belly}
        min={2}
        max={98}
        step={1}
        unit="%"
        onLive={(value, phase) => belly(value / 100, phase)}
      />
      <LiveSlider
        label="Depth"
        hint="Half-axis towards the skin over the one across: 0.5 is a strap, 1 is round"
        testId="scale"
        value={spindle.scale}
        min={0.1}
        max={2}
        step={0.01}
        unit="×"
        onLive={(scale, phase) => drag.edit(phase, "muscle.set", { name, scale })}
      />
    </Stack>
  );
}
