import { Button, Group, ScrollArea, SegmentedControl, Select, Stack, Table, Text, Tooltip } from "@mantine/core";
import { Caption, Numeric, Triple } from "./inputs.js";
import { edit, type Extreme, placeText, useLines } from "./state.js";
import type { LedTold, LinesTold, LineTold, NodeTold, Vector } from "./told.js";

const KINDS = [
  { value: "bound", label: "Bound" },
  { value: "free", label: "Free" },
  { value: "mobile", label: "Mobile" },
];
const PARENT = "its parent";

interface Given {
  readonly told: LinesTold;
  readonly line: LineTold;
  readonly number: number;
}

/** The nodes of a line in a table, and the chosen one. */
export function NodesPart({ told, line, number }: Given) {
  const { node, set } = useLines();
  const chosen = node === null ? undefined : line.nodes[node];
  const where = { muscle: told.muscle, line: number };
  return (
    <Stack gap={6}>
      <ScrollArea.Autosize mah={236} type="auto">
        <Table fz="xs" verticalSpacing={1} horizontalSpacing={4} highlightOnHover stickyHeader aria-label="Nodes">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>#</Table.Th>
              <Table.Th>Kind</Table.Th>
              <Table.Th>On</Table.Th>
              <Tip hint="Swing and twist of its joint that a bound node follows; of a free one the share of the way">
                Share
              </Tip>
              <Tip hint="Place at bind, x y z [mm]">Place [mm]</Tip>
              <Tip hint="How much broader the muscle is along x and y there at full activation">σ</Tip>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {line.nodes.map((one, row) => (
              <Table.Tr
                key={row}
                data-node={row}
                {...(row === node ? { bg: "var(--mantine-primary-color-light)" } : {})}
                style={{ cursor: "default" }}
                onClick={() => set({ node: row })}
              >
                <Table.Td>{row}</Table.Td>
                <Table.Td>{one.kind}</Table.Td>
                <Table.Td style={{ maxWidth: 74, overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap" }} title={one.joint ?? one.shared ?? ""}>
                  {one.joint ?? one.shared ?? ""}
                </Table.Td>
                <Table.Td>{shareText(one)}</Table.Td>
                <Table.Td style={{ whiteSpace: "nowrap" }}>{placeText(one.place)}</Table.Td>
                <Table.Td style={{ whiteSpace: "nowrap" }}>
                  {one.isometric[0].toFixed(2)} {one.isometric[1].toFixed(2)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
      {chosen === undefined || node === null ? (
        <Text fz="xs" c="dimmed">
          Click a row, or a node in the view; drag nodes there. White nodes are bound, blue ones in part, orange ones free,
          violet ones mobile.
        </Text>
      ) : (
        <>
          <Group gap={6} wrap="nowrap">
            <Caption hint="What the node is; it keeps its place. The ends of a line are bound or mobile">{`Node ${node}`}</Caption>
            <SegmentedControl
              flex={1}
              aria-label="Kind of node"
              data={KINDS}
              value={chosen.kind}
              onChange={(kind) => void edit("lines.node_kind", { ...where, node, kind: kind as NodeTold["kind"] })}
            />
          </Group>
          <Group gap={6} wrap="nowrap">
            <Caption hint="Where it is in the world at bind [mm]">Place [mm]</Caption>
            <Triple
              label="Place"
              hint="Where it is in the world at bind [mm]"
              value={chosen.place}
              onChange={(to) => void edit("lines.move_node", { ...where, node, to })}
            />
          </Group>
          {chosen.joint !== null && (
            <Group gap={6} wrap="nowrap">
              <Caption hint="The joint that carries it; it keeps its place">On</Caption>
              <Select
                flex={1}
                searchable
                aria-label="Joint of the node"
                data={told.joints}
                value={chosen.joint}
                onChange={(joint) => joint !== null && void edit("lines.node_kind", { ...where, node, kind: chosen.kind, joint })}
              />
            </Group>
          )}
          {chosen.kind === "bound" && <Adherence told={told} where={where} node={node} chosen={chosen} />}
          {chosen.led !== null && <Led told={told} where={where} node={node} led={chosen.led} />}
          <Scales line={line} where={where} node={node} />
        </>
      )}
    </Stack>
  );
}

function Tip({ children, hint }: { children: string; hint: string }) {
  return (
    <Tooltip label={hint}>
      <Table.Th>{children}</Table.Th>
    </Tooltip>
  );
}

function shareText({ kind, swing, twist, ratio }: NodeTold): string {
  if (kind === "free") return (ratio ?? 0).toFixed(2);
  if (kind === "mobile" || (swing === 1 && twist === 1)) return "1";
  return `${swing.toFixed(2)} ${twist.toFixed(2)}`;
}

interface Where {
  readonly muscle: string;
  readonly line: number;
}

function Adherence({ told, where, node, chosen }: { told: LinesTold; where: Where; node: number; chosen: NodeTold }) {
  const change = (next: Partial<Pick<NodeTold, "swing" | "twist" | "relative_to" | "axis">>): void => {
    const { swing, twist, relative_to, axis } = { ...chosen, ...next };
    void edit("lines.adherence", { ...where, node, swing, twist, relative_to, axis });
  };
  return (
    <>
      <Group gap={6} wrap="nowrap">
        <Caption hint="Adherence: how much of the joint's swing and twist it follows, 0 to 1; less than 1 on admissible lines only">
          Follows
        </Caption>
        {(["swing", "twist"] as const).map((name) => (
          <Numeric
            key={name}
            label={`Share of ${name}`}
            hint={`Share of the joint's ${name} that the node follows, 0 to 1`}
            value={chosen[name]}
            suffix={` of ${name}`}
            least={0}
            most={1}
            width={102}
            onChange={(value) => value !== null && change({ [name]: value })}
          />
        ))}
      </Group>
      <Group gap={6} wrap="nowrap">
        <Caption hint="The joint that swing and twist are seen from">Seen from</Caption>
        <Select
          flex={1}
          searchable
          aria-label="Joint that swing and twist are seen from"
          data={[PARENT, ...told.joints]}
          value={chosen.relative_to ?? PARENT}
          onChange={(joint) => change({ relative_to: joint === PARENT ? null : joint })}
        />
      </Group>
    </>
  );
}

function Led({ told, where, node, led }: { told: LinesTold; where: Where; node: number; led: LedTold }) {
  const { extreme, set } = useLines();
  const place = { low: 0, rest: 1, high: 2 }[extreme];
  return (
    <>
      <Group gap={6} wrap="nowrap">
        <Caption hint="The degree of freedom that leads the node from place to place">Led by</Caption>
        <Select
          flex={1}
          searchable
          aria-label="Joint that leads the node"
          data={told.joints}
          value={led.joint}
          onChange={(led_by) => led_by !== null && void edit("lines.freedom", { ...where, node, led_by })}
        />
        <Select
          w={92}
          aria-label="Degree of freedom"
          data={["angle", "twist", "swing_x", "swing_y"].map((value) => ({ value, label: value.replace("_", " ") }))}
          value={led.kind}
          onChange={(kind) => void edit("lines.freedom", { ...where, node, kind: kind as LedTold["kind"] })}
        />
      </Group>
      <Group gap={6} wrap="nowrap">
        <Caption hint="What that joint turns about, in world axes at bind">Axis</Caption>
        <Triple
          label="Axis"
          hint="What that joint turns about, in world axes at bind"
          value={led.axis}
          scale={1}
          digits={3}
          onChange={(axis) => void edit("lines.freedom", { ...where, node, axis })}
        />
      </Group>
      <Group gap={6} wrap="nowrap">
        <Caption hint="The lowest, the resting and the highest angle from bind [degrees]">Angles [°]</Caption>
        {led.degrees.map((value, end) => (
          <Numeric
            key={end}
            label={`${["Lowest", "Resting", "Highest"][end]} angle`}
            hint={`The ${["lowest", "resting", "highest"][end]} angle from bind [degrees]`}
            value={value}
            digits={1}
            suffix="°"
            width={64}
            onChange={(next) => {
              if (next === null) return;
              const degrees = [...led.degrees] as Vector;
              degrees[end] = next;
              void edit("lines.freedom", { ...where, node, degrees });
            }}
          />
        ))}
      </Group>
      <SegmentedControl
        fullWidth
        aria-label="Extreme"
        data={[
          { value: "low", label: "Place at lowest" },
          { value: "rest", label: "at rest" },
          { value: "high", label: "at highest" },
        ]}
        value={extreme}
        onChange={(value) => set({ extreme: value as Extreme })}
      />
      <Group gap={6} wrap="nowrap">
        <Caption hint="Where the node is at that angle, in the world at bind [mm]; drag the blue and the pink ball in the view">
          Place [mm]
        </Caption>
        <Triple
          label={`Place at ${extreme}`}
          hint="In the world at bind [mm]"
          value={led.places[place]!}
          onChange={(to) => void edit("lines.move_node", { ...where, node, to, extreme })}
        />
      </Group>
      <Group gap={6} wrap="nowrap">
        <Caption hint="How it goes from place to place; parabolic passes through rest smoothly">Goes</Caption>
        <SegmentedControl
          flex={1}
          aria-label="Shape of the way"
          data={["parabolic", "linear"]}
          value={led.shape}
          onChange={(shape) => void edit("lines.freedom", { ...where, node, shape: shape as LedTold["shape"] })}
        />
      </Group>
    </>
  );
}

function Scales({ line, where, node }: { line: LineTold; where: Where; node: number }) {
  return (
    <Group gap={6} wrap="nowrap">
      <Caption hint="Isometric scales: how much broader the muscle is along x and y there at full activation and the same length">
        Isometric σ
      </Caption>
      {[0, 1].map((axis) => (
        <Numeric
          key={axis}
          label={`Isometric scale ${"xy"[axis]}`}
          hint={`How much broader it is along ${"xy"[axis]} at full activation`}
          value={line.nodes[node]!.isometric[axis]!}
          digits={3}
          width={72}
          onChange={(next) => {
            if (next === null) return;
            const isometric = line.nodes.map(({ isometric: [x, y] }): [number, number] => [x, y]);
            isometric[node]![axis] = next;
            void edit("lines.change", { ...where, isometric });
          }}
        />
      ))}
      {line.own_isometric && (
        <Tooltip label="Follow the muscle's largest bulge again, at all nodes">
          <Button onClick={() => void edit("lines.change", { ...where, isometric: [] })}>by bulge</Button>
        </Tooltip>
      )}
    </Group>
  );
}
