import { Group, Text } from "@mantine/core";
import { useStudio } from "../../store.js";
import { cssGradient, shownRange } from "../../viewport/colours.js";

/** What the colours on the skin mean. */
export function Legend() {
  const colour = useStudio((s) => s.colour);
  const range = useStudio((s) => s.frame?.range ?? null);
  if (colour === "material" || range === null) return null;
  const [low, high] = shownRange(colour, range);
  const unit = range[2];
  const text = (value: number): string => `${value.toPrecision(2).replace("-", "−")}${unit ? ` ${unit}` : ""}`;
  return (
    <div>
      <div style={{ height: 10, borderRadius: 3, background: cssGradient(colour) }} />
      <Group justify="space-between">
        <Text fz="xs">{text(low)}</Text>
        <Text fz="xs">{text(high)}</Text>
      </Group>
    </div>
  );
}
