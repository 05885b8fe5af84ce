import { ActionIcon, Button, Checkbox, Group, SegmentedControl, Select, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { Caption, Numeric, Triple } from "./inputs.js";
import { edit, type GizmoMode, useLines } from "./state.js";
import type { FieldTold, LinesTold, LineTold } from "./told.js";

interface Given {
  readonly told: LinesTold;
  readonly line: LineTold;
  readonly number: number;
}

/** What bends a line: which fields act on it, how they act, and their ellipsoids. */
export function FieldsPart({ told, line, number }: Given) {
  const { field, set } = useLines();
  const where = { muscle: told.muscle, line: number };
  const chosen = told.fields.find(({ name }) => name === field);
  const acting = (names: string[]): void => void edit("lines.fields", { ...where, fields: names });
  return (
    <Stack gap={6}>
      {told.fields.map(({ name, kind, acts_on }) => (
        <div key={name} className="studio-row" data-selected={name === field} onClick={() => set({ field: name, ellipsoid: 0 })}>
          <Tooltip label={`Whether it acts on line ${number + 1}`}>
            <Checkbox
              aria-label={`${name} acts on this line`}
              checked={line.fields.includes(name)}
              onClick={(event) => event.stopPropagation()}
              onChange={(event) =>
                acting(event.currentTarget.checked ? [...line.fields, name] : line.fields.filter((one) => one !== name))
              }
            />
          </Tooltip>
          <span style={{ flex: 1 }}>{name}</span>
          <Text fz="xs" c="dimmed">
            {kind === "repel" ? "pushes" : "draws"} {acts_on} {acts_on === 1 ? "line" : "lines"}
          </Text>
        </div>
      ))}
      {told.fields.length === 0 && (
        <Text fz="xs" c="dimmed">
          Nothing bends this muscle's lines.
        </Text>
      )}
      <Select
        searchable
        aria-label="Let another field act on this line"
        placeholder="Let another field act on this line"
        data={told.other_fields}
        value={null}
        onChange={(name) => name !== null && acting([...line.fields, name])}
      />
      <NewField told={told} where={where} />
      {chosen !== undefined && <OneField told={told} field={chosen} />}
    </Stack>
  );
}

function NewField({ told, where }: { told: LinesTold; where: { muscle: string; line: number } }) {
  const [typed, setTyped] = useState("");
  const { set } = useLines();
  const add = async (): Promise<void> => {
    const name = typed.trim();
    if (await edit("fields.add", { ...where, name })) {
      setTyped("");
      set({ field: name, ellipsoid: 0 });
    }
  };
  return (
    <Group gap={6} wrap="nowrap">
      <Tooltip label="Name of a new field: a ball beside the middle of the line, carried by the joint of its origin">
        <TextInput
          flex={1}
          aria-label="Name of a new field"
          placeholder="New field"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && typed.trim() !== "" && void add()}
        />
      </Tooltip>
      <Button disabled={typed.trim() === "" || told.lines.length === 0} onClick={() => void add()}>
        Add field
      </Button>
    </Group>
  );
}

function OneField({ told, field }: { told: LinesTold; field: FieldTold }) {
  const { ellipsoid, gizmo, set } = useLines();
  const { name } = field;
  const number = Math.min(ellipsoid, field.ellipsoids.length - 1);
  const one = field.ellipsoids[number]!;
  const elastic = told.path.model === "elastic";
  return (
    <Stack gap={6} pt={6} style={{ borderTop: "1px solid var(--mantine-color-default-border)" }}>
      <Group gap={6} wrap="nowrap">
        <Text fz="sm" fw={600} truncate flex={1}>
          {name}
        </Text>
        <Tooltip label={`Remove this field; it acts on ${field.acts_on} lines`}>
          <ActionIcon aria-label="Remove this field" onClick={() => void edit("fields.remove", { field: name })}>
            <IconTrash size={15} />
          </ActionIcon>
        </Tooltip>
      </Group>
      <Group gap={6} wrap="nowrap">
        <Tooltip label="Push nodes off the ellipsoid, or draw them to it (elastic lines only)">
          <SegmentedControl
            flex={1}
            aria-label="Kind of field"
            data={[
              { value: "repel", label: "Repel" },
              { value: "attract", label: "Attract", disabled: !elastic },
            ]}
            value={field.kind}
            onChange={(kind) => void edit("fields.change", { field: name, kind: kind as FieldTold["kind"] })}
          />
        </Tooltip>
        <Tooltip label="Squarely to the surface, or along the line to the centre">
          <SegmentedControl
            flex={1}
            aria-label="Mode of field"
            data={[
              { value: "orthogonal", label: "Orthogonal" },
              { value: "radial", label: "Radial" },
            ]}
            value={field.mode}
            onChange={(mode) => void edit("fields.change", { field: name, mode: mode as FieldTold["mode"] })}
          />
        </Tooltip>
      </Group>
      <Group gap={6}>
        <Caption hint="Of its spring [N/m]; to elastic lines" width={56}>
          Strength
        </Caption>
        <Numeric
          label="Strength"
          hint="Of its spring [N/m]; to elastic lines"
          value={field.strength}
          digits={0}
          suffix=" N/m"
          onChange={(strength) => strength !== null && void edit("fields.change", { field: name, strength })}
        />
        <Caption hint="Beyond it nothing is attracted [mm]; empty is twice the largest radius" width={44}>
          Reach
        </Caption>
        <Numeric
          label="Reach"
          hint="Beyond it nothing is attracted [mm]; empty is twice the largest radius"
          value={field.reach}
          scale={1000}
          digits={1}
          suffix=" mm"
          placeholder="found"
          onChange={(reach) => void edit("fields.change", { field: name, reach })}
        />
        <Caption hint="Over which pushing sets in, to either side of the surface [mm]" width={56}>
          Rounding
        </Caption>
        <Numeric
          label="Rounding"
          hint="Over which pushing sets in, to either side of the surface [mm]"
          value={field.rounding}
          scale={1000}
          digits={2}
          suffix=" mm"
          onChange={(rounding) => rounding !== null && void edit("fields.change", { field: name, rounding })}
        />
        <Caption hint="Over which the choice of the nearest ellipsoid is blended [mm]" width={44}>
          Blend
        </Caption>
        <Numeric
          label="Blend of the nearest"
          hint="Over which the choice of the nearest ellipsoid is blended [mm]"
          value={field.blend}
          scale={1000}
          digits={2}
          suffix=" mm"
          onChange={(blend) => blend !== null && void edit("fields.change", { field: name, blend })}
        />
      </Group>
      <Group gap={6} wrap="nowrap">
        <Select
          flex={1}
          aria-label="Ellipsoid"
          data={field.ellipsoids.map((_, n) => ({ value: String(n), label: `Ellipsoid ${n + 1} of ${field.ellipsoids.length}` }))}
          value={String(number)}
          onChange={(value) => set({ ellipsoid: Number(value) })}
        />
        <Tooltip label="One more like this, beside it: of several the nearest acts on elastic lines">
          <ActionIcon aria-label="Add an ellipsoid" onClick={() => void addEllipsoid()}>
            <IconPlus size={15} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Remove this ellipsoid">
          <ActionIcon
            aria-label="Remove this ellipsoid"
            disabled={field.ellipsoids.length === 1}
            onClick={() => void edit("fields.remove_ellipsoid", { field: name, number })}
          >
            <IconTrash size={15} />
          </ActionIcon>
        </Tooltip>
      </Group>
      <Tooltip label="What the gizmo in the view does">
        <SegmentedControl
          fullWidth
          aria-label="Gizmo"
          data={[
            { value: "translate", label: "Move" },
            { value: "rotate", label: "Turn" },
            { value: "scale", label: "Size" },
          ]}
          value={gizmo}
          onChange={(mode) => set({ gizmo: mode as GizmoMode })}
        />
      </Tooltip>
      <Group gap={6} wrap="nowrap">
        <Caption hint="The joint it goes along with; it keeps its place">Carried by</Caption>
        <Select
          flex={1}
          searchable
          aria-label="Joint that carries the ellipsoid"
          data={told.joints}
          value={one.joint}
          placeholder={one.on_line === null ? "" : `${one.on_line[0]}, at node ${one.on_line[2].toFixed(1)}`}
          onChange={(joint) => joint !== null && void edit("fields.place", { field: name, number, joint })}
        />
      </Group>
      {elastic && <OnLine told={told} field={field} number={number} />}
      <Group gap={6} wrap="nowrap">
        <Caption hint="Its centre in the world at bind [mm]">Centre [mm]</Caption>
        <Triple
          label="Centre"
          hint="In the world at bind [mm]"
          value={one.centre}
          onChange={(centre) => void edit("fields.place", { field: name, number, centre })}
        />
      </Group>
      <Group gap={6} wrap="nowrap">
        <Caption hint="Along its own axes [mm]">Radii [mm]</Caption>
        <Triple
          label="Radius"
          hint="Along its own axis [mm]"
          value={one.radii}
          onChange={(radii) => void edit("fields.place", { field: name, number, radii })}
        />
      </Group>
    </Stack>
  );

  async function addEllipsoid(): Promise<void> {
    if (await edit("fields.add_ellipsoid", { field: name, like: number })) set({ ellipsoid: field.ellipsoids.length });
  }
}

/** Let a line of this elastic muscle carry an ellipsoid, at a place told by its nodes. */
function OnLine({ told, field, number }: { told: LinesTold; field: FieldTold; number: number }) {
  const { line } = useLines();
  const on = field.ellipsoids[number]!.on_line;
  const ride = (place: number): void =>
    void edit("fields.place", { field: field.name, number, on_line: on === null ? [told.muscle, line, place] : [on[0], on[1], place] });
  return (
    <Group gap={6} wrap="nowrap">
      <Caption hint="A place on this elastic line that carries it: node number and share of the way to the next. Lines cannot bend each other in a circle">
        On the line
      </Caption>
      <Numeric
        label="Place on the line"
        hint="Node number and share of the way to the next"
        value={on === null ? null : on[2]}
        placeholder="on a joint"
        onChange={(place) => place !== null && ride(place)}
      />
    </Group>
  );
}
