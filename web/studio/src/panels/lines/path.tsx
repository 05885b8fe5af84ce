import { Group, SegmentedControl, Stack, Tooltip } from "@mantine/core";
import { Caption, Numeric } from "./inputs.js";
import { edit } from "./state.js";
import type { LinesTold } from "./told.js";

/** Name, hint, unit, digits, and what stands for a number that is found by itself. */
const NUMBERS: Readonly<Record<string, readonly [string, string, string, number, string?]>> = {
  subdivisions: ["Pieces", "Pieces of path to each segment: more hug small fields closer, 1 to 16", "", 0],
  tightening: ["Tightening", "How often lines are drawn tight, 0 to 64", "", 0],
  stiffness: ["Stiffness", "Of a belly segment's spring [N/m]", " N/m", 0],
  tendon_ratio: ["Tendon ratio", "How many times stiffer a tendon's segment is", "×", 1],
  tension: ["Tension", "At bind [N]; empty is nine tenths of what the first slack segment would need", " N", 2, "found"],
  damping: ["Damping", "Of every segment [N s/m]", " N s/m", 2],
  drag: ["Drag", "Of every node [N s/m]", " N s/m", 2],
};

/** How a muscle's lines find their way. */
export function PathPart({ told }: { told: LinesTold }) {
  const { muscle, path } = told;
  return (
    <Stack gap={6}>
      <Tooltip label="Admissible: drawn tight over bones, a function of the pose alone. Elastic: springs that fields bend; where they rest depends on what was before">
        <SegmentedControl
          fullWidth
          aria-label="Path model"
          data={[
            { value: "admissible", label: "Admissible" },
            { value: "elastic", label: "Elastic" },
          ]}
          value={path.model}
          onChange={(model) => void edit("lines.path", { muscle, model: model as typeof path.model })}
        />
      </Tooltip>
      <Group gap={6}>
        {Object.entries(path.numbers).map(([name, value]) => {
          const [title, hint, suffix, digits, none] = NUMBERS[name] ?? [name, name, "", 2];
          return (
            <Group key={name} gap={4} wrap="nowrap">
              <Caption hint={hint} width={68}>
                {title}
              </Caption>
              <Numeric
                label={title}
                hint={hint}
                value={value}
                digits={digits}
                suffix={suffix}
                width={78}
                {...(none === undefined ? {} : { placeholder: none })}
                onChange={(next) => void edit("lines.path", { muscle, model: path.model, numbers: { [name]: next } })}
              />
            </Group>
          );
        })}
      </Group>
    </Stack>
  );
}
