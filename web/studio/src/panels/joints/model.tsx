import { Badge, Button, Checkbox, Divider, Group, Select, Stack, Switch, Text, Tooltip } from "@mantine/core";
import { useState } from "react";
import type { JointAlign, JointNow, JointType } from "../../messages.js";
import { Degrees } from "./angle.js";
import { edited, useJoints } from "./state.js";

const TYPES = [
  { value: "revolute", label: "Revolute: one angle" },
  { value: "knee", label: "Knee: bends and twists" },
  { value: "swing", label: "Swing: points, no twist" },
  { value: "ball_and_socket", label: "Ball and socket: points and twists" },
];
const AXES: readonly JointAlign["axis"][] = ["x", "y", "z", "-x", "-y", "-z"];

/** What kind of joint it is, how its frame lies, copies and mirror images. */
export function ModelPart({ joint }: { joint: JointNow }) {
  const name = joint.joint;
  const { gizmo, copied, set } = useJoints();
  const [axis, setAxis] = useState<JointAlign["axis"]>("z");
  const [carry, setCarry] = useState(true);
  const [limitsOnly, setLimitsOnly] = useState(false);
  const { values, offset } = joint;
  return (
    <Stack gap={6}>
      <Group justify="space-between" wrap="nowrap" align="end">
        <Tooltip label="How the joint turns; frame and limits are kept as far as the type can hold them">
          <Select
            flex={1}
            label="Type"
            placeholder="None: it turns freely"
            data={TYPES}
            value={values?.model ?? null}
            onChange={(model) => edited("joint.type", { joint: name, model: model as JointType["model"] }, "end")}
          />
        </Tooltip>
        <Tooltip label={joint.origin === "rig" ? "Its model is in the rig file" : "As known of human joints of this name"}>
          <Badge variant="light" color={joint.origin === "rig" ? "orange" : "gray"} mb={5} data-testid="origin">
            {joint.origin === null ? "none" : joint.origin === "rig" ? "own" : "human"}
          </Badge>
        </Tooltip>
      </Group>
      <Group gap={6}>
        <Tooltip label="Remember this model, to paste it to another joint">
          <Button disabled={values === null} onClick={() => set({ copied: { joint: name, model: values! } })}>
            Copy
          </Button>
        </Tooltip>
        <Tooltip label={copied === null ? "Copy a joint's model first" : `The model of ${copied.joint}`}>
          <Button disabled={copied === null} onClick={() => paste(false)}>
            Paste
          </Button>
        </Tooltip>
        <Tooltip label="The mirror image of the copy">
          <Button disabled={copied === null} onClick={() => paste(true)}>
            Paste mirrored
          </Button>
        </Tooltip>
        <Tooltip label="Keep this joint's own frame and canonical pose when pasting">
          <Checkbox label="Limits only" checked={limitsOnly} onChange={(e) => setLimitsOnly(e.currentTarget.checked)} />
        </Tooltip>
      </Group>
      <Group gap={6}>
        <Tooltip label={joint.partner === null ? "It has no partner on the other side" : `The mirror image to ${joint.partner}`}>
          <Button
            disabled={joint.partner === null || values === null}
            onClick={() => edited("joint.mirror", { joint: name }, "end")}
          >
            Mirror to the other side
          </Button>
        </Tooltip>
        <Tooltip label="Take its own model out of the rig: a human's is back, where one is known by name">
          <Button disabled={joint.origin !== "rig"} onClick={() => edited("joint.reset", { joint: name }, "end")}>
            {joint.canonical === null ? "Delete" : "Human default"}
          </Button>
        </Tooltip>
      </Group>
      {values !== null && offset !== null && (
        <>
          <Divider label="Anatomical frame" labelPosition="left" />
          <Text fz="xs" c="dimmed">
            {values.model === "revolute" ? "z is the hinge." : "z is along the limb."} x red, y green, z blue.
          </Text>
          <Tooltip label="Rings in the view that turn the frame; polygon and ranges turn along">
            <Switch
              label="Turn the frame in the view"
              checked={gizmo}
              onChange={(event) => set({ gizmo: event.currentTarget.checked })}
            />
          </Tooltip>
          <Group gap={6} wrap="nowrap">
            <Text fz="xs">Align</Text>
            <Select
              w={64}
              aria-label="Axis"
              data={AXES.map((value) => ({ value, label: value.replace("-", "−") }))}
              value={axis}
              onChange={(value) => setAxis(value as JointAlign["axis"])}
            />
            <Text fz="xs">with</Text>
            {(["parent", "child"] as const).map((segment) => (
              <Tooltip key={segment} label={`Along the ${segment}'s segment, by the smallest turn`}>
                <Button onClick={() => edited("joint.align", { joint: name, axis, segment }, "end")}>{segment}</Button>
              </Tooltip>
            ))}
          </Group>
          <Divider label="Canonical pose" labelPosition="left" />
          <Text fz="xs" c="dimmed">
            Where its own angles are zero: turns from standing about left, up and forward.
          </Text>
          <Group gap={6} wrap="nowrap">
            {(["left", "up", "forward"] as const).map((way, column) => (
              <Degrees
                key={way}
                label={`Canonical pose, ${way} [degrees]`}
                hint={`About ${way} [degrees]`}
                value={offset[column]!}
                onChange={(value) => {
                  const turns: [number, number, number] = [...offset];
                  turns[column] = value;
                  edited("joint.offset", { joint: name, turns, carry }, "end");
                }}
              />
            ))}
          </Group>
          <Group gap={6}>
            <Tooltip label="What is shown becomes the canonical pose">
              <Button onClick={() => edited("joint.offset", { joint: name, turns: null, carry }, "end")}>From what is shown</Button>
            </Tooltip>
            <Tooltip label="The frame turns along and keeps to the limb">
              <Checkbox label="Carry the frame" checked={carry} onChange={(e) => setCarry(e.currentTarget.checked)} />
            </Tooltip>
          </Group>
        </>
      )}
    </Stack>
  );

  function paste(mirror: boolean): void {
    if (copied !== null) {
      edited("joint.paste", { joint: name, model: copied.model, limits_only: limitsOnly, mirror }, "end");
    }
  }
}
