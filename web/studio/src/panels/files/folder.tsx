import { Badge, Button, Group, Modal, ScrollArea, SegmentedControl, Text, TextInput, Tooltip } from "@mantine/core";
import { useState } from "react";
import type { EntryTold } from "../../messages.js";
import { useStudio } from "../../store.js";
import { openFigure, openFile, sizeTold, timeTold } from "./files.js";

const KINDS: Readonly<Record<EntryTold["kind"], string>> = {
  rig: "Rig",
  character: "Character",
  motion: "Motion",
  pose: "Poses",
  curves: "Curves",
  mesh: "Mesh",
  mask: "Mask",
};

/** The opened folder: rigs and characters open in this page, other files show what there is. */
export function Folder({ opened, close }: { opened: boolean; close: () => void }) {
  const files = useStudio((s) => s.files);
  const [order, setOrder] = useState("recent");
  const [part, setPart] = useState("");
  if (files === null) return null;
  const shown = files.entries.filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()));
  shown.sort((a, b) => (order === "recent" ? b.changed - a.changed : a.name.localeCompare(b.name)));
  return (
    <Modal opened={opened} onClose={close} title={`Folder ${files.folder}`} size="lg">
      <Group gap="sm" mb="sm">
        <TextInput
          flex={1}
          placeholder="Part of a name"
          aria-label="Part of a name"
          value={part}
          onChange={(event) => setPart(event.currentTarget.value)}
        />
        <SegmentedControl
          value={order}
          onChange={setOrder}
          data={[
            { value: "recent", label: "Recent" },
            { value: "name", label: "Name" },
          ]}
        />
        <Tooltip label="Ecorche's own figure, which needs no file">
          <Button
            onClick={() => {
              close();
              void openFigure();
            }}
          >
            Built-in figure
          </Button>
        </Tooltip>
      </Group>
      <ScrollArea.Autosize mah={420} type="auto">
        {shown.map((entry) => (
          <Entry
            key={entry.name}
            entry={entry}
            current={entry.name === files.open}
            edited={files.unsaved.includes(entry.name)}
            close={close}
          />
        ))}
        {shown.length === 0 && (
          <Text fz="sm" c="dimmed" p="sm">
            {files.entries.length === 0
              ? "There is nothing here that the studio opens. Drop a rigged character on the page."
              : "No name holds that."}
          </Text>
        )}
      </ScrollArea.Autosize>
      <Text fz="xs" c="dimmed" mt="sm">
        {files.cut_short && "The folder holds more than is listed. "}
        Files that are dropped anywhere on the page are put into this folder.
      </Text>
    </Modal>
  );
}

function Entry(props: { entry: EntryTold; current: boolean; edited: boolean; close: () => void }) {
  const { entry, current, edited, close } = props;
  const opens = entry.kind === "rig" || entry.kind === "character";
  const open = (): void => {
    if (!opens) return;
    close();
    if (!current) void openFile(entry.name);
  };
  return (
    <div
      className="studio-row"
      role={opens ? "button" : undefined}
      tabIndex={opens ? 0 : undefined}
      data-selected={current}
      data-file={entry.name}
      style={{ cursor: opens ? "pointer" : "default" }}
      onClick={open}
      onKeyDown={(event) => event.key === "Enter" && open()}
    >
      <Badge size="xs" variant={opens ? "light" : "outline"} color={opens ? "orange" : "gray"} w={76}>
        {KINDS[entry.kind]}
      </Badge>
      <span style={{ flex: 1 }} title={entry.name}>
        {entry.name}
      </span>
      {edited && (
        <Badge size="xs" variant="dot">
          edited
        </Badge>
      )}
      <Text fz="xs" c="dimmed" w={60} ta="right">
        {sizeTold(entry.size)}
      </Text>
      <Text fz="xs" c="dimmed" w={120} ta="right">
        {timeTold(entry.changed)}
      </Text>
    </div>
  );
}
