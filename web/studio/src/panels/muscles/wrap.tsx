import { Button, Group, Select, Stack, Text, Tooltip } from "@mantine/core";
import { useRef } from "react";
import { act, tell } from "../../studio.js";
import { LiveSlider } from "./fields.js";
import { Drag } from "./latest.js";
import type { Detail } from "./muscle.js";

const SHAPES = [
  { value: "none", label: "Nothing" },
  { value: "sphere", label: "A sphere at a hinge" },
  { value: "cylinder", label: "A cylinder along a bone" },
  { value: "ball", label: "A ball in its socket" },
];

/** What a muscle found in the skin bends round, and how thick it is. */
export function WrapSection({ detail }: { detail: Detail }) {
  const { name, wrap } = detail;
  const drag = useRef(new Drag()).current;
  if (wrap === null) return null;
  return (
    <Stack gap="xs">
      <Text fz="xs" c="dimmed">{`Found in the skin: ${detail.rings} sections`}</Text>
      <Tooltip label="What its line bends round; its sections stay where they are at bind">
        <Select
          label="Bends round"
          data={SHAPES}
          value={wrap.shape}
          onChange={(shape) =>
            void act("muscle.wrap", { name, shape: shape as typeof wrap.shape }).then((done) => tell(done?.lines ?? []))
          }
        />
      </Tooltip>
      {wrap.radius !== null && (
        <>
          <LiveSlider
            label="Radius"
            hint="Of what it bends round [mm]; drag its centre, violet, in the view"
            testId="wrap-radius"
            value={1000 * wrap.radius}
            min={1}
            max={Math.max(80, 1000 * wrap.radius)}
            step={0.5}
            unit="mm"
            onLive={(value, phase) => drag.edit(phase, "muscle.wrap", { name, radius: value / 1000 })}
          />
          <Group gap="xs" justify="space-between">
            <Text fz="xs" c="dimmed">{`moves with ${wrap.joint}`}</Text>
            <Tooltip label="Let the muscle pass it on the other side">
              <Button onClick={() => void act("muscle.wrap", { name, other_side: true })}>Other side</Button>
            </Tooltip>
          </Group>
        </>
      )}
      <Group gap="xs">
        <Tooltip label="Its outer face stays under the skin">
          <Button onClick={() => void act("muscle.set", { name, resize: 1.1 })}>Thicker</Button>
        </Tooltip>
        <Tooltip label="Its outer face stays under the skin">
          <Button onClick={() => void act("muscle.set", { name, resize: 1 / 1.1 })}>Thinner</Button>
        </Tooltip>
      </Group>
    </Stack>
  );
}
