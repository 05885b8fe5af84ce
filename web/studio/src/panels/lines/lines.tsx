import { ActionIcon, Badge, Button, Group, SegmentedControl, Select, Stack, Switch, Text, Tooltip } from "@mantine/core";
import { IconFlipVertical, IconPlus, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useStudio } from "../../store.js";
import { act, tell, theViewport } from "../../studio.js";
import { FieldsPart } from "./fields.js";
import { LinePart } from "./line.js";
import { NodesPart } from "./nodes.js";
import { PathPart } from "./path.js";
import { colourOf, edit, type Part, useLines } from "./state.js";
import { useLinesInView } from "./view.js";

const PARTS = [
  { value: "line", label: "Line" },
  { value: "nodes", label: "Nodes" },
  { value: "fields", label: "Fields" },
];

async function remove(name: string): Promise<void> {
  useStudio.getState().set({ selected: null });
  tell((await act("muscle.remove", { names: [name] }))?.lines ?? []);
}

/** The editor of action lines: those of the chosen muscle, what they say, and what bends them. */
export function LinesPanel() {
  const { told, shown, part, line: wanted, regions, others, set } = useLines();
  // a line that was just added is there with the next answer
  const line = Math.min(wanted, (told?.lines.length ?? 1) - 1);
  const document = useStudio((s) => s.document);
  useLinesInView();
  const meshes = document?.muscles.filter(({ kind }) => kind === "lines") ?? [];
  const restless = shown?.lines.filter(({ muscle, settled }) => muscle === told?.muscle && !settled).length ?? 0;
  const choose = (name: string | null): void => {
    if (name !== null) useStudio.getState().set({ selected: { kind: "muscle", name } });
  };
  if (meshes.length === 0) {
    return (
      <Text fz="sm" c="dimmed">
        No muscle of this rig is a mesh on action lines. Make some: ecorche rig CHARACTER --as-lines admissible, or
        --anatomy FOLDER.
      </Text>
    );
  }
  return (
    <Stack gap="sm">
      <Group gap={6} wrap="nowrap">
        <Tooltip label="Muscles that are meshes on action lines">
          <Select
            flex={1}
            aria-label="Muscle on action lines"
            searchable
            placeholder="Choose a muscle"
            data={meshes.map(({ name }) => name)}
            value={told?.muscle ?? null}
            onChange={choose}
          />
        </Tooltip>
        <Tooltip label="Look at it">
          <Button disabled={told === null} onClick={frame}>
            Frame
          </Button>
        </Tooltip>
        <Tooltip label="Remove this muscle">
          <ActionIcon aria-label="Remove this muscle" disabled={told === null} onClick={() => void remove(told!.muscle)}>
            <IconTrash size={15} />
          </ActionIcon>
        </Tooltip>
      </Group>
      {told !== null && (
        <>
          {told.left_out !== null && (
            <Text fz="xs" c="red" role="alert">
              It is left out: {told.left_out}.
            </Text>
          )}
          <PathPart told={told} />
          <Group gap={6} wrap="nowrap">
            <Tooltip label="Lines of this muscle; the colour of each is that of its region on the mesh">
              <Select
                flex={1}
                aria-label="Line"
                data={told.lines.map(({ nodes, region }, number) => ({
                  value: String(number),
                  label: `Line ${number + 1}, ${nodes.length} nodes${region === null || told.lines.length === 1 ? "" : `, ${Math.round(100 * region)} % of the mesh`}`,
                }))}
                value={String(line)}
                onChange={(value) => set({ line: Number(value), node: null })}
                leftSection={
                  <span style={{ width: 10, height: 10, borderRadius: 5, background: `#${colourOf(line).toString(16).padStart(6, "0")}` }} />
                }
              />
            </Tooltip>
            <Tooltip label="One more line beside this one, with the same nodes, tendons and fields">
              <ActionIcon aria-label="Add a line" onClick={() => void addLine()}>
                <IconPlus size={15} />
              </ActionIcon>
            </Tooltip>
            <Tooltip label="Remove this line; the mesh follows the others">
              <ActionIcon
                aria-label="Remove this line"
                disabled={told.lines.length === 1}
                onClick={() => void edit("lines.remove", { muscle: told.muscle, line })}
              >
                <IconTrash size={15} />
              </ActionIcon>
            </Tooltip>
            <Tooltip
              label={
                told.image === null
                  ? "Its name tells no side"
                  : `Mirror it with its surface, lines and fields to ${told.image}, in place of what is there`
              }
            >
              <ActionIcon
                aria-label="Mirror to the other side"
                disabled={told.image === null}
                onClick={() => void edit("lines.mirror", { muscle: told.muscle, instead: true })}
              >
                <IconFlipVertical size={15} />
              </ActionIcon>
            </Tooltip>
          </Group>
          <Group gap="md">
            <Tooltip label="Draw the muscle's mesh, coloured by the line that moves each part">
              <Switch label="Mesh and regions" checked={regions} onChange={(e) => set({ regions: e.currentTarget.checked })} />
            </Tooltip>
            <Tooltip label="Draw the lines of all other muscles too">
              <Switch label="All lines" checked={others} onChange={(e) => set({ others: e.currentTarget.checked })} />
            </Tooltip>
            {told.path.model === "elastic" && (
              <Tooltip label="Elastic lines rest where the poses and edits before left them. Let them come to rest anew, from bind">
                <ActionIcon aria-label="Relax anew" onClick={() => void edit("lines.anew")}>
                  <IconRefresh size={15} />
                </ActionIcon>
              </Tooltip>
            )}
            {restless > 0 && (
              <Badge color="red" variant="light" size="sm">
                not at rest
              </Badge>
            )}
          </Group>
          <SegmentedControl
            fullWidth
            aria-label="Part of the line editor"
            data={PARTS}
            value={part}
            onChange={(next) => set({ part: next as Part })}
          />
          {part === "line" && <LinePart told={told} line={told.lines[line]!} number={line} />}
          {part === "nodes" && <NodesPart told={told} line={told.lines[line]!} number={line} />}
          {part === "fields" && <FieldsPart told={told} line={told.lines[line]!} number={line} />}
          {told.notes.slice(0, 3).map((note) => (
            <Text key={note} fz="xs" c="dimmed">
              {note}
            </Text>
          ))}
        </>
      )}
    </Stack>
  );

  async function addLine(): Promise<void> {
    if (await edit("lines.add", { muscle: told!.muscle, like: line })) set({ line: told!.lines.length });
  }
}

/** The muscles' surfaces have to be there to be looked at. */
function frame(): void {
  const { layers, setLayer } = useStudio.getState();
  if (!layers.muscles.shown) {
    setLayer("muscles", { shown: true });
    void theViewport()
      ?.refresh()
      .then(() => {
        theViewport()?.frameSelected();
        setLayer("muscles", { shown: false });
      });
  } else theViewport()?.frameSelected();
}
