import { Button, Divider, FileButton, Group, Select, TextInput, Tooltip } from "@mantine/core";
import { useCallback, useEffect, useState } from "react";
import { ask, tell } from "../../studio.js";
import { overMotion } from "./state.js";

/** Poses saved beside the rig and loaded again, or kept elsewhere. */
export function PoseFiles() {
  const [names, setNames] = useState<readonly string[] | null>(null);
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const list = useCallback(async () => {
    const told = await ask("pose.list");
    if (told !== null) setNames(told.names);
  }, []);
  useEffect(() => void list(), [list]);
  const there = names?.includes(name.trim()) ?? false;
  return (
    <>
      <Divider label="Poses" labelPosition="left" />
      {names !== null && (
        <>
          <Group gap={6} wrap="nowrap">
            <TextInput
              flex={1}
              placeholder="Name of the pose"
              aria-label="Name of the pose"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Tooltip label="Write what is shown to a .pose file beside the rig">
              <Button w={74} disabled={name.trim() === ""} onClick={() => void save()}>
                {there ? "Replace" : "Save"}
              </Button>
            </Tooltip>
          </Group>
          <Group gap={6} wrap="nowrap">
            <Select
              flex={1}
              aria-label="Saved poses"
              placeholder={names.length === 0 ? "None beside the rig yet" : "Saved poses"}
              data={[...names]}
              value={chosen}
              onChange={setChosen}
            />
            <Tooltip label="Take the pose of the file">
              <Button w={74} disabled={chosen === null} onClick={() => void load()}>
                Load
              </Button>
            </Tooltip>
          </Group>
        </>
      )}
      <Group gap={6}>
        <Tooltip label="Keep what is shown as a .pose file elsewhere">
          <Button onClick={() => void download(name.trim() || "pose")}>Download</Button>
        </Tooltip>
        <FileButton accept=".pose" onChange={(file) => void upload(file)}>
          {(given) => (
            <Tooltip label="Take the pose of a .pose file from elsewhere">
              <Button {...given}>Open a file…</Button>
            </Tooltip>
          )}
        </FileButton>
      </Group>
    </>
  );

  async function save(): Promise<void> {
    const done = await ask("pose.save", { name: name.trim(), replace: there });
    tell(done?.lines ?? []);
    if (done !== null) setChosen(name.trim());
    await list();
  }

  async function load(): Promise<void> {
    if (chosen !== null) tell((await overMotion(() => ask("pose.load", { name: chosen })))?.lines ?? []);
  }
}

async function download(name: string): Promise<void> {
  const pose = await ask("pose.write");
  if (pose === null) return;
  tell(pose.lines);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([pose.text], { type: "text/plain" }));
  link.download = `${name}.pose`;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function upload(file: File | null): Promise<void> {
  if (file === null) return;
  const text = await file.slice(0, 4_000_001).text();
  tell((await overMotion(() => ask("pose.read", { name: file.name, text })))?.lines ?? []);
}
