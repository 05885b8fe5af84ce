import { Group, SegmentedControl, Select, Stack, Text, Tooltip } from "@mantine/core";
import { Caption, Numeric } from "./inputs.js";
import { edit } from "./state.js";
import type { LinesTold, LineTold } from "./told.js";

const ENDS = "its ends'";

/** What a line says beside its nodes: its segments, how it runs, and what turns it. */
export function LinePart({ told, line, number }: { told: LinesTold; line: LineTold; number: number }) {
  const { muscle } = told;
  const where = { muscle, line: number };
  const [origin, belly, insertion] = line.segments;
  const count = (name: "origin" | "belly" | "insertion", value: number, hint: string) => (
    <Numeric
      label={`Segments, ${name}`}
      hint={hint}
      value={value}
      digits={0}
      width={60}
      onChange={(next) => next !== null && void edit("lines.segments", { ...where, [name]: Math.round(next) })}
    />
  );
  return (
    <Stack gap={6}>
      <Group gap={6} wrap="nowrap">
        <Caption hint="How many segments the origin's tendon, the belly and the insertion's tendon have: nodes are laid anew along the line as it lies at bind">
          Segments
        </Caption>
        {count("origin", origin, "Segments of the origin's tendon; 0 for none")}
        {count("belly", belly, "Segments between the tendons, 1 or more")}
        {count("insertion", insertion, "Segments of the insertion's tendon; 0 for none")}
      </Group>
      <Segments tendon={line.tendon} onToggle={(tendon) => void edit("lines.change", { ...where, tendon })} />
      <Group gap={6} wrap="nowrap">
        <Caption hint="A smooth curve through its nodes, or straight from node to node">Runs as</Caption>
        <SegmentedControl
          flex={1}
          aria-label="Cubic or polyline"
          data={[
            { value: "cubic", label: "Cubic" },
            { value: "polyline", label: "Polyline" },
          ]}
          value={line.curved ? "cubic" : "polyline"}
          onChange={(value) => void edit("lines.change", { ...where, curved: value === "cubic" })}
        />
      </Group>
      <Group gap={6} wrap="nowrap">
        <Caption hint="Joints that carry the directions across the line at its two ends: so a forearm that twists need not twist the biceps' tendon">
          References
        </Caption>
        {[0, 1].map((end) => (
          <Select
            key={end}
            flex={1}
            searchable
            aria-label={`Reference joint of the ${end ? "insertion" : "origin"}`}
            data={[ENDS, ...told.joints]}
            value={line.references?.[end] ?? ENDS}
            onChange={(joint) => refer(end, joint ?? ENDS)}
          />
        ))}
      </Group>
      <Group gap={6} wrap="nowrap">
        <Caption hint="The insertion's share in the directions between, 0 to 1; empty is the share of the way there">
          Blend
        </Caption>
        <Numeric
          label="Blend"
          hint="The insertion's share in the directions between, 0 to 1; empty is the share of the way there"
          value={line.blend}
          least={0}
          most={1}
          placeholder="by the way"
          onChange={(blend) => void edit("lines.change", { ...where, blend })}
        />
        <Caption hint="How thick the muscle is between the line and bones it passes by [mm]: fields between its ends count as so much larger for an admissible line" width={44}>
          Flesh
        </Caption>
        <Numeric
          label="Flesh"
          hint="How thick the muscle is between the line and bones it passes by [mm]"
          value={line.flesh}
          scale={1000}
          digits={1}
          suffix=" mm"
          least={0}
          onChange={(flesh) => flesh !== null && void edit("lines.change", { ...where, flesh })}
        />
      </Group>
    </Stack>
  );

  function refer(end: number, joint: string): void {
    const ends = [line.nodes[0]!.joint!, line.nodes.at(-1)!.joint!];
    const now = line.references ?? (ends as [string, string]);
    const next = [...now] as [string, string];
    next[end] = joint === ENDS ? ends[end]! : joint;
    void edit("lines.change", { ...where, references: next[0] === ends[0] && next[1] === ends[1] ? null : next });
  }
}

/** Belly and tendon, a box a segment: a click exchanges the two. */
function Segments({ tendon, onToggle }: { tendon: readonly boolean[]; onToggle: (tendon: boolean[]) => void }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Caption hint="Each segment from origin to insertion: tendon is pale. Click to exchange belly and tendon">
        Tendon
      </Caption>
      <div style={{ display: "flex", gap: 2, flex: 1 }} role="group" aria-label="Segments">
        {tendon.map((pale, row) => (
          <Tooltip key={row} label={`Segment ${row + 1} is ${pale ? "tendon" : "belly"}; click to make it ${pale ? "belly" : "tendon"}`}>
            <button
              type="button"
              aria-label={`Segment ${row + 1}`}
              aria-pressed={pale}
              onClick={() => onToggle(tendon.map((flag, n) => (n === row ? !flag : flag)))}
              style={{
                flex: 1,
                height: 14,
                padding: 0,
                border: "1px solid var(--mantine-color-default-border)",
                borderRadius: 2,
                cursor: "pointer",
                background: pale ? "#e9dfc8" : "#b8463c",
              }}
            />
          </Tooltip>
        ))}
      </div>
      <Text fz="xs" c="dimmed">
        {tendon.length}
      </Text>
    </Group>
  );
}
