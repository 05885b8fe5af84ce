import { Group, MultiSelect, Select, Stack, Switch, Text, Tooltip } from "@mantine/core";
import { useRef } from "react";
import { type LayerLook, useStudio } from "../../store.js";
import { act } from "../../studio.js";
import { Legend } from "../view/legend.js";
import { Typed } from "./fields.js";
import type { Detail } from "./muscle.js";

const NEIGHBOURHOODS = [
  { value: "automatic", label: "What suits it" },
  { value: "fitted", label: "Over it" },
  { value: "half_space", label: "On its outer side" },
  { value: "radial", label: "All round it" },
];
const WEIGHTINGS = [
  { value: "spline", label: "By thickness" },
  { value: "binary", label: "All alike" },
];

/** Whose skin a muscle moves, and how much of it, shown on the skin. */
export function InfluenceSection({ detail }: { detail: Detail }) {
  const colour = useStudio((s) => s.colour);
  const joints = useStudio((s) => s.document?.joints);
  const set = useStudio((s) => s.set);
  const setLayer = useStudio((s) => s.setLayer);
  const before = useRef<LayerLook | null>(null);
  const { name, spindle } = detail;
  return (
    <Stack gap="xs">
      <Tooltip label="Colours every vertex of the skin by how much this muscle moves it, 0 to 1">
        <Switch
          label="Show on the skin"
          data-testid="show-influence"
          checked={colour === "weights"}
          onChange={(event) => {
            const shown = event.currentTarget.checked;
            set({ colour: shown ? "weights" : "material" });
            if (shown) before.current = useStudio.getState().layers.skin;
            setLayer("skin", shown ? { shown: true, opacity: 1 } : (before.current ?? {}));
          }}
        />
      </Tooltip>
      <Legend />
      {detail.painted && (
        <Text fz="xs" c="dimmed">
          Its weights are painted; what is chosen here counts when they are found again.
        </Text>
      )}
      {spindle !== null && (
        <Group gap="xs" grow>
          <Tooltip label="Which vertices it may move">
            <Select
              label="Vertices"
              data={NEIGHBOURHOODS}
              value={spindle.neighbourhood}
              onChange={(next) =>
                void act("muscle.influence", { name, neighbourhood: next as typeof spindle.neighbourhood })
              }
            />
          </Tooltip>
          <Tooltip label="How much it moves them">
            <Select
              label="Weights"
              data={WEIGHTINGS}
              value={spindle.weighting}
              onChange={(next) => void act("muscle.influence", { name, weighting: next as typeof spindle.weighting })}
            />
          </Tooltip>
        </Group>
      )}
      {spindle?.neighbourhood === "radial" && (
        <Group gap="xs">
          <Tooltip label="How far it reaches; 0 is half as much again as the muscle is thick [mm]">
            <Text fz="xs">Reach</Text>
          </Tooltip>
          <Typed
            label="Reach, mm"
            suffix=" mm"
            value={1000 * (spindle.radius ?? 0)}
            onValue={(value) => void act("muscle.influence", { name, radius: value / 1000 })}
          />
        </Group>
      )}
      <Tooltip label="The joints whose skin it may move; none makes it a deep muscle, which moves no skin">
        <MultiSelect
          label="Skin of"
          size="xs"
          searchable
          data={joints?.map((joint) => joint.name) ?? []}
          value={[...detail.influence]}
          onChange={(next) => void act("muscle.influence", { name, joints: next })}
        />
      </Tooltip>
    </Stack>
  );
}
