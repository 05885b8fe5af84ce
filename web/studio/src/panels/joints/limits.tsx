import { ActionIcon, Button, Divider, Group, Stack, Text, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { JointNow } from "../../messages.js";
import { Degrees } from "./angle.js";
import { edited, useJoints } from "./state.js";

const HINTS: Readonly<Record<string, string>> = {
  range: "Least and greatest angle of the hinge",
  flexion: "Least and greatest bending; full extension is the least",
  twist: "Least and greatest twist of the bent joint",
  play: "How far it may stray from what its type allows",
  narrowing: "The twist's range narrows to nothing over this last part of the extension",
};

/** The limits in numbers; corners of the polygon are dragged in the view. */
export function LimitsPart({ joint }: { joint: JointNow }) {
  const { values } = joint;
  if (values === null) {
    return (
      <Text fz="sm" c="dimmed">
        It has no limits: choose its type under Model.
      </Text>
    );
  }
  const numbers = Object.entries(values.limits).filter(([name]) => name in HINTS);
  return (
    <Stack gap={6}>
      {numbers.map(([name, value]) => (
        <Group key={name} gap={6} wrap="nowrap">
          <Tooltip label={`${HINTS[name]} [degrees]`}>
            <Text fz="xs" w={74}>
              {name}
            </Text>
          </Tooltip>
          {(Array.isArray(value) ? (value as [number, number]) : [value as number]).map((degrees, end) => (
            <Degrees
              key={end}
              label={`${name}${Array.isArray(value) ? (end ? ", greatest" : ", least") : ""} [degrees]`}
              value={degrees}
              onChange={(next) => {
                const pair: number | [number, number] = Array.isArray(value)
                  ? end
                    ? [value[0] as number, next]
                    : [next, value[1] as number]
                  : next;
                edited("joint.ranges", { joint: joint.joint, values: { [name]: pair } }, "end");
              }}
            />
          ))}
        </Group>
      ))}
      {joint.swings.length > 0 && <Corners joint={joint} />}
      {values.model === "ball_and_socket" && <Keys joint={joint.joint} keys={values.limits.twist_keys} />}
    </Stack>
  );
}

function Corners({ joint }: { joint: JointNow }) {
  const { corner, set } = useJoints();
  const chosen = corner !== null && corner < joint.swings.length ? corner : null;
  return (
    <>
      <Divider label={`Where the limb may point: ${joint.swings.length} corners`} labelPosition="left" />
      <Text fz="xs" c="dimmed">
        Drag a corner in the view, or choose it and give its swing about x and y.
      </Text>
      <Group gap={6} wrap="nowrap">
        <Text fz="xs" w={74} data-testid="corner">
          {chosen === null ? "No corner" : `Corner ${chosen}`}
        </Text>
        {([0, 1] as const).map((way) => (
          <Degrees
            key={`${way} ${chosen}`}
            label={`Corner, swing ${"xy"[way]} [degrees]`}
            hint={`Swing about ${"xy"[way]} [degrees]`}
            value={chosen === null ? 0 : joint.swings[chosen]![way]}
            onChange={(value) => {
              if (chosen === null) return;
              const swing: [number, number] = [...joint.swings[chosen]!];
              swing[way] = value;
              edited("joint.corner", { joint: joint.joint, corner: chosen, swing }, "end");
            }}
          />
        ))}
        <Tooltip label="One more corner after this one">
          <ActionIcon
            aria-label="Add a corner"
            disabled={chosen === null}
            onClick={() => {
              edited("joint.add_corner", { joint: joint.joint, side: chosen! }, "end");
              set({ corner: chosen! + 1 });
            }}
          >
            <IconPlus size={14} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Remove this corner">
          <ActionIcon
            aria-label="Remove the corner"
            disabled={chosen === null || joint.swings.length <= 3}
            onClick={() => {
              edited("joint.remove_corner", { joint: joint.joint, corner: chosen! }, "end");
              set({ corner: null });
            }}
          >
            <IconTrash size={14} />
          </ActionIcon>
        </Tooltip>
      </Group>
    </>
  );
}

function Keys({ joint, keys }: { joint: string; keys: readonly [number, number, number, number][] }) {
  return (
    <>
      <Divider label="How far it may twist" labelPosition="left" />
      <Text fz="xs" c="dimmed">
        At a swing about x and y: the least and the greatest twist. Between keys it is interpolated.
      </Text>
      <Group gap={4} wrap="nowrap">
        {["swing x", "swing y", "least", "greatest"].map((title) => (
          <Text key={title} fz="xs" c="dimmed" w={66}>
            {title}
          </Text>
        ))}
      </Group>
      {keys.map((key, number) => (
        // rows are told apart by what they hold: keys have no names
        <Group key={`${number} ${key.join()}`} gap={4} wrap="nowrap">
          {key.map((value, column) => (
            <Degrees
              key={column}
              label={`Key ${number}, ${["swing x", "swing y", "least twist", "greatest twist"][column]} [degrees]`}
              width={66}
              value={value}
              onChange={(next) => {
                const values: [number, number, number, number] = [...key];
                values[column] = next;
                edited("joint.twist_key", { joint, key: number, values }, "end");
              }}
            />
          ))}
          <Tooltip label="Remove this key">
            <ActionIcon
              aria-label={`Remove key ${number}`}
              disabled={keys.length === 1}
              onClick={() => edited("joint.twist_key", { joint, key: number, values: null }, "end")}
            >
              <IconTrash size={14} />
            </ActionIcon>
          </Tooltip>
        </Group>
      ))}
      <Group>
        <Tooltip label="One more key where the limb points now, with the range it has there">
          <Button leftSection={<IconPlus size={12} />} onClick={() => addKey(joint)}>
            Key at this pose
          </Button>
        </Tooltip>
      </Group>
    </>
  );
}

function addKey(joint: string): void {
  const now = useJoints.getState().now;
  const at = Object.fromEntries((now?.angles ?? []).map((angle) => [angle.name, angle]));
  const { swing_x: x, swing_y: y, twist } = at;
  if (x === undefined || y === undefined || twist === undefined) return;
  const values: [number, number, number, number] = [x.degrees, y.degrees, twist.low, twist.high];
  edited("joint.twist_key", { joint, key: null, values }, "end");
}
