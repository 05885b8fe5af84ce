import { Button, Divider, Group, Stack, Switch, Text, Tooltip } from "@mantine/core";
import type { JointNow } from "../../messages.js";
import { ask, tell } from "../../studio.js";
import { Angle } from "./angle.js";
import { PoseFiles } from "./files.js";
import { look, now as tellNow, overMotion, posing, useJoints } from "./state.js";

const HINTS: Readonly<Record<string, string>> = {
  angle: "About the hinge, z of the frame",
  flexion: "Bending about x of the frame",
  twist: "About the limb itself",
  swing_x: "The limb's direction, turned about x of the frame",
  swing_y: "The limb's direction, turned about y of the frame",
};
const TURNS = [
  ["left", "About the body's left axis: bows, swings a leg back, bends a knee", 180],
  ["up", "About the vertical", 180],
  ["forward", "About the body's forward axis", 90],
] as const;

/** Posing the joint: its own angles, turns about the body's axes, rings in the view. */
export function PosePart({ joint }: { joint: JointNow }) {
  const { stops, gizmo, held, set } = useJoints();
  return (
    <Stack gap={6}>
      <Group justify="space-between" wrap="nowrap">
        <Tooltip label="A limb that is asked for more stops at the nearest pose within its limits">
          <Switch label="Stop at limits" checked={stops} onChange={(e) => set({ stops: e.currentTarget.checked })} />
        </Tooltip>
        <Tooltip label="Rings in the view that turn the joint about axes of the world">
          <Switch label="Rings in the view" checked={gizmo} onChange={(e) => set({ gizmo: e.currentTarget.checked })} />
        </Tooltip>
      </Group>
      <Text fz="xs" h={17} c={held > 0.05 ? "orange" : "dimmed"} data-testid="held" aria-live="polite">
        {held > 0.05 ? `Stopped at its limit, ${held.toFixed(1)}° short` : ""}
      </Text>
      {joint.angles.length > 0 && <Divider label="Its own angles" labelPosition="left" />}
      {joint.angles.map(({ name, degrees, low, high }) => (
        <Angle
          key={name}
          label={name.replace("_", " ")}
          hint={HINTS[name] ?? name}
          degrees={degrees}
          range={[low, high]}
          least={-180}
          most={180}
          onChange={(value, gesture) => posing({ joint: joint.joint, angles: { [name]: value }, gesture })}
        />
      ))}
      <Divider label="About the body's axes, from standing" labelPosition="left" />
      {TURNS.map(([name, hint, most], axis) => (
        <Angle
          key={name}
          label={name}
          hint={hint}
          degrees={joint.turns[axis]!}
          range={null}
          least={-most}
          most={most}
          onChange={(value, gesture) => {
            const turns: [number, number, number] = [...joint.turns];
            turns[axis] = value;
            posing({ joint: joint.joint, turns, gesture });
          }}
        />
      ))}
      <Group gap={6}>
        <Tooltip label="This joint as at bind">
          <Button onClick={() => void back(joint.joint, false)}>Joint to bind</Button>
        </Tooltip>
        <Tooltip label="This joint and all below it as at bind">
          <Button onClick={() => void back(joint.joint, true)}>And below</Button>
        </Tooltip>
        <Tooltip label="Upright, arms hanging: where all turns are zero">
          <Button onClick={() => void whole("pose.stand", joint.joint)}>Standing</Button>
        </Tooltip>
        <Tooltip label="Turn back every joint that is beyond its limits">
          <Button onClick={() => void whole("pose.within", joint.joint)}>Within limits</Button>
        </Tooltip>
      </Group>
      <PoseFiles />
    </Stack>
  );
}

async function back(joint: string, below: boolean): Promise<void> {
  await overMotion(() => tellNow("joint.rest", { joint, below }));
}

async function whole(type: "pose.stand" | "pose.within", joint: string): Promise<void> {
  tell((await overMotion(() => ask(type)))?.lines ?? []);
  useJoints.getState().set({ held: 0 });
  look(joint);
}
