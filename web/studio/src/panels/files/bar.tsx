import { ActionIcon, Badge, Button, Group, Modal, Text, TextInput, Tooltip } from "@mantine/core";
import { IconDeviceFloppy, IconFolderOpen, IconUsers } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useStudio } from "../../store.js";
import { type Conflict, followFiles, reload, save, tellKept, timeTold } from "./files.js";
import { Folder } from "./folder.js";

/** Open and save, in the bar; who else is here. */
export function FilesBar() {
  const files = useStudio((s) => s.files);
  const open = useStudio((s) => s.open);
  const [browsing, setBrowsing] = useState(false);
  const [naming, setNaming] = useState(false);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  useEffect(() => {
    tellKept();
    return followFiles();
  }, []);
  useEffect(() => {
    if (!open) setBrowsing(true);
  }, [open]);
  const saveNow = async (): Promise<void> => {
    const now = useStudio.getState().files;
    if (now === null || now.open === null) return;
    if (now.saved) setConflict(await save());
    else setNaming(true);
  };
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      void saveNow();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
  useEffect(() => {
    // unsaved work is kept by the server; a page need not hold anybody up, but a rig that cannot be kept must
    const leaving = (event: BeforeUnloadEvent): void => {
      const now = useStudio.getState().files;
      if (now?.dirty && now.trouble !== null) event.preventDefault();
    };
    window.addEventListener("beforeunload", leaving);
    return () => window.removeEventListener("beforeunload", leaving);
  }, []);
  if (files === null) return null;
  const others = files.people.filter(({ you }) => !you);
  return (
    <>
      <Tooltip label={`Open a file of the folder ${files.folder}`}>
        <ActionIcon aria-label="Open a file" onClick={() => setBrowsing(true)}>
          <IconFolderOpen size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip
        label={
          files.kept === null || !files.dirty
            ? "Save (Ctrl+S)"
            : `Save (Ctrl+S). What is not saved was kept at ${timeTold(files.kept)}`
        }
      >
        <ActionIcon aria-label="Save the rig" disabled={files.open === null} onClick={() => void saveNow()}>
          <IconDeviceFloppy size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Save under another name">
        <Button variant="subtle" color="gray" disabled={files.open === null} onClick={() => setNaming(true)}>
          Save as
        </Button>
      </Tooltip>
      {others.length > 0 && (
        <Tooltip
          label={others.map(({ number, did }) => `Page ${number}${did === null ? "" : `: ${did}`}`).join("; ")}
        >
          <Badge size="sm" variant="light" color="blue" leftSection={<IconUsers size={11} />} data-testid="others">
            {others.length === 1 ? "1 other page" : `${others.length} other pages`}
          </Badge>
        </Tooltip>
      )}
      <Folder opened={browsing} close={() => setBrowsing(false)} />
      {naming && (
        <SaveAs
          name={files.open ?? ""}
          close={() => setNaming(false)}
          onConflict={(found) => {
            setNaming(false);
            setConflict(found);
          }}
        />
      )}
      <ConflictAsked conflict={conflict} own={files.open} set={setConflict} rename={() => setNaming(true)} />
    </>
  );
}

function SaveAs(props: { name: string; close: () => void; onConflict: (conflict: Conflict) => void }) {
  const [name, setName] = useState(props.name);
  const go = async (): Promise<void> => {
    const whole = name.toLowerCase().endsWith(".ecorche") ? name : `${name}.ecorche`;
    const conflict = await save(whole);
    if (conflict !== null) props.onConflict(conflict);
    else props.close();
  };
  return (
    <Modal opened onClose={props.close} title="Save as" size="sm">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void go();
        }}
      >
        <TextInput
          label="File name"
          description="In the opened folder; folders in it with a slash, such as rigs/man.ecorche"
          data-autofocus
          maxLength={900}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group justify="flex-end" mt="md">
          <Button onClick={props.close}>Cancel</Button>
          <Button type="submit" variant="filled" disabled={name.trim() === ""}>
            Save
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

/** Another version is on disk: nothing is written before a person has chosen. */
function ConflictAsked(props: {
  conflict: Conflict | null;
  own: string | null;
  set: (conflict: Conflict | null) => void;
  rename: () => void;
}) {
  const { conflict, own, set, rename } = props;
  if (conflict === null) return null;
  return (
    <Modal opened onClose={() => set(null)} title={`${conflict.name} ${conflict.what}`} size="md">
      <Text fz="sm">Nothing was written. Your work stays here until you choose.</Text>
      <Group justify="flex-end" mt="md">
        {conflict.name === own && (
          <Tooltip label="Take the file as it is on disk; undo brings your work back">
            <Button
              onClick={() => {
                set(null);
                void reload();
              }}
            >
              Reload
            </Button>
          </Tooltip>
        )}
        <Button
          onClick={() => {
            set(null);
            rename();
          }}
        >
          Another name
        </Button>
        <Tooltip label="The version on disk is lost">
          <Button color="red" variant="filled" onClick={async () => set(await save(conflict.name, conflict.found))}>
            Overwrite
          </Button>
        </Tooltip>
      </Group>
    </Modal>
  );
}
