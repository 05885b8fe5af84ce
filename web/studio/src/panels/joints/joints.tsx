import { Badge, Group, SegmentedControl, Stack, Text, Tooltip } from "@mantine/core";
import { useEffect } from "react";
import { useStudio } from "../../store.js";
import { ChecksPart } from "./checks.js";
import { LimitsPart } from "./limits.js";
import { ModelPart } from "./model.js";
import { PosePart } from "./pose.js";
import { type Part, look, useJoints } from "./state.js";
import { useLimitsInView } from "./view.js";

const PARTS = [
  { value: "pose", label: "Pose" },
  { value: "model", label: "Model" },
  { value: "limits", label: "Limits" },
  { value: "checks", label: "Check" },
];

/** The joint editor: what the chosen joint is, how it stands, and how far it may go. */
export function JointsPanel() {
  const selected = useStudio((s) => s.selected);
  const name = selected?.kind === "joint" ? selected.name : null;
  const { now, part, set } = useJoints();
  const frame = useStudio((s) => s.frame);
  const revision = useStudio((s) => s.revision);
  useEffect(() => set({ held: 0, corner: null, now: null }), [name, set]);
  useEffect(() => {
    if (name !== null) look(name);
  }, [name, frame, revision]);
  useLimitsInView();
  const joint = now?.joint === name ? now : null;
  return (
    <Stack gap="sm">
      <Group gap={6} wrap="nowrap">
        <Text fw={600} fz="sm" truncate data-testid="joint">
          {name ?? "No joint is chosen"}
        </Text>
        {joint?.canonical != null && joint.canonical !== name && (
          <Tooltip label="Its H-Anim name">
            <Text fz="xs" c="dimmed" truncate>
              {joint.canonical}
            </Text>
          </Tooltip>
        )}
        <span style={{ flex: 1 }} />
        {joint !== null && joint.beyond > 0.05 && (
          <Tooltip label="So far it would have to be turned back to be within its limits">
            <Badge color="red" variant="light" data-testid="beyond" style={{ flexShrink: 0 }}>
              {joint.beyond.toFixed(1)}° beyond
            </Badge>
          </Tooltip>
        )}
      </Group>
      <SegmentedControl
        fullWidth
        aria-label="Part of the joint editor"
        data={PARTS}
        value={part}
        onChange={(next) => set({ part: next as Part })}
      />
      {part === "checks" && <ChecksPart />}
      {part !== "checks" && name === null && (
        <Text fz="sm" c="dimmed">
          Choose a joint in the list, or click its ball in the view.
        </Text>
      )}
      {joint !== null && part === "pose" && <PosePart joint={joint} />}
      {joint !== null && part === "model" && <ModelPart joint={joint} />}
      {joint !== null && part === "limits" && <LimitsPart joint={joint} />}
    </Stack>
  );
}
