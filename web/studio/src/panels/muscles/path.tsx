import { ActionIcon, Group, Select, Stack, Text, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { act, tell } from "../../studio.js";
import type { Detail, Places } from "./muscle.js";

/** The points of a path: which joint each moves with; via points come and go. They are dragged in the view. */
export function PathSection(props: {
  readonly detail: Detail;
  readonly places: Places | null;
  readonly chosen: number | null;
  readonly choose: (point: number) => void;
}) {
  const { detail, places, chosen, choose } = props;
  const { name, joints } = detail;
  const spindle = detail.spindle !== null;
  return (
    <Stack gap={3}>
      <Text fz="xs" c="dimmed">
        {`Drag the points in the view${places === null ? "" : `; ${(1000 * places.length).toFixed(0)} mm long in this pose`}`}
      </Text>
      {joints.map((joint, number) => {
        const last = number === joints.length - 1;
        const word = number === 0 ? "Origin" : last ? "Insertion" : `Via ${number}`;
        return (
          <Group
            key={number}
            gap={4}
            wrap="nowrap"
            className="muscle-point"
            data-chosen={number === chosen}
            onClick={() => choose(number)}
          >
            <span className={`muscle-dot muscle-dot-${number === 0 ? "origin" : last ? "insertion" : "via"}`} />
            <Text fz="xs" w={56}>
              {word}
            </Text>
            <Tooltip label="The joint it moves with; it stays where it is in the bind pose">
              <Select
                flex={1}
                aria-label={`Joint of ${word}`}
                data={[...detail.carriers]}
                value={joint}
                searchable
                onChange={(next) => {
                  if (next !== null && next !== joint) {
                    void act("muscle.set_joint", { name, number, joint: next }).then((done) => tell(done?.lines ?? []));
                  }
                }}
              />
            </Tooltip>
            {spindle && !last && (
              <Tooltip label="Put a via point half-way to the next">
                <ActionIcon aria-label={`Add a via point after ${word}`} onClick={() => void act("muscle.add_via", { name, after: number })}>
                  <IconPlus size={13} />
                </ActionIcon>
              </Tooltip>
            )}
            {spindle && number > 0 && !last && (
              <Tooltip label="Take this via point out">
                <ActionIcon aria-label={`Remove ${word}`} onClick={() => void act("muscle.remove_via", { name, number })}>
                  <IconTrash size={13} />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
        );
      })}
    </Stack>
  );
}
