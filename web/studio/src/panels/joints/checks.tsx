import { Button, Group, Stack, Switch, Text, Tooltip } from "@mantine/core";
import { useCallback, useEffect, useState } from "react";
import type { LimitsBroken } from "../../messages.js";
import { useStudio } from "../../store.js";
import { act, ask, tell } from "../../studio.js";
import { seek, stop, useMotion } from "../motion/motion.js";

/** Where the motion, or the pose, breaks limits. */
export function ChecksPart() {
  const [told, setTold] = useState<LimitsBroken | null>(null);
  const revision = useStudio((s) => s.revision);
  const kept = useStudio((s) => s.document?.limits ?? false);
  const set = useStudio((s) => s.set);
  const check = useCallback(async () => setTold(await ask("limits.check")), []);
  const motion = useMotion((s) => s.told?.motion ?? null);
  useEffect(() => void check(), [check, revision, motion]);
  return (
    <Stack gap={6}>
      <Tooltip label="In the rig file: motion is kept within the joints' limits wherever this rig is baked">
        <Switch
          label="Keep motion within limits"
          checked={kept}
          onChange={(event) => void keep(event.currentTarget.checked)}
        />
      </Tooltip>
      <Group justify="space-between" wrap="nowrap">
        <Text fz="xs" c="dimmed" data-testid="judged">
          {told === null ? "…" : summary(told)}
        </Text>
        <Tooltip label="Look at every frame of the motion that is loaded, else at the pose">
          <Button onClick={() => void check()}>Check again</Button>
        </Tooltip>
      </Group>
      <div role="listbox" aria-label="Broken limits">
        {told?.rows.map(({ joint, spans, worst, at }) => (
          <Tooltip key={joint} label={times(told, spans)}>
            <div
              className="studio-row"
              role="option"
              aria-selected={false}
              onClick={() => {
                set({ selected: { kind: "joint", name: joint } });
                if (told.motion !== null) {
                  stop();
                  void seek(at);
                }
              }}
            >
              <span style={{ flex: 1 }}>{joint}</span>
              <Text fz="xs" c="red">
                {worst.toFixed(1)}°
              </Text>
              <Text fz="xs" c="dimmed" w={52} ta="right">
                {told.motion === null ? "" : `${at.toFixed(2)} s`}
              </Text>
            </div>
          </Tooltip>
        ))}
      </div>
    </Stack>
  );
}

function summary({ motion, judged, rows }: LimitsBroken): string {
  const what = motion === null ? "This pose" : `The motion ${motion}`;
  return rows.length === 0
    ? `${what} is within all limits of ${judged} joints`
    : `${what} is beyond the limits of ${rows.length} of ${judged} joints`;
}

function times({ motion }: LimitsBroken, spans: readonly [number, number][]): string {
  if (motion === null) return "Choose the joint";
  const first = spans.slice(0, 6).map(([from, to]) => (from === to ? from.toFixed(2) : `${from.toFixed(2)} to ${to.toFixed(2)}`));
  return `Beyond at ${first.join(", ")}${spans.length > 6 ? " …" : ""} s. Click: there, at its worst`;
}

async function keep(kept: boolean): Promise<void> {
  tell((await act("limits.keep", { kept }))?.lines ?? []);
}
