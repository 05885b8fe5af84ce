import { Alert, Button, CloseButton, Group, Menu, Select, Text } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import type { MovedTold, RecoveryTold, WithoutRigTold } from "../../messages.js";
import { useStudio } from "../../store.js";
import { sentence } from "../../studio.js";
import { discard, drop, makeRig, openFile, rebind, recover, reload, timeTold } from "./files.js";

/** What a person has to know or decide about files, over the view. */
export function Notices() {
  const files = useStudio((s) => s.files);
  if (files === null) return <Dropping />;
  return (
    <div className="studio-notices">
      {files.failed !== null && (
        <Notice colour="red" title={`${files.failed.where === null ? "" : `${files.failed.where}: `}${files.failed.what}`}>
          {files.failed.remedy !== null && <Text fz="sm">{sentence(files.failed.remedy)}.</Text>}
        </Notice>
      )}
      {files.moved !== null && <Moved moved={files.moved} />}
      {files.recoveries.map((recovery) => (
        <Recovery key={recovery.id} recovery={recovery} />
      ))}
      {files.without_rig !== null && <WithoutRig found={files.without_rig} />}
      {files.trouble !== null && (
        <Notice colour="red" title="What is not saved cannot be kept">
          <Text fz="sm">
            {sentence(files.trouble.what)}. {files.trouble.remedy !== null && `${sentence(files.trouble.remedy)}. `}
            It is tried again; save elsewhere before you close the studio.
          </Text>
        </Notice>
      )}
      {files.elsewhere && (
        <Notice colour="yellow" title={`Another studio is working on ${files.open}`}>
          <Text fz="sm">It does not see what is edited here. Whoever saves second is asked which version counts.</Text>
        </Notice>
      )}
      {files.changed_on_disk && (
        <Notice colour="yellow" title={`${files.open} was changed on disk since it was opened`}>
          <Group gap="sm">
            <Text fz="sm">{files.dirty ? "Saving will ask which version counts." : "Nothing of yours is unsaved."}</Text>
            <Button onClick={() => void reload()}>Reload</Button>
          </Group>
        </Notice>
      )}
      <Dropping />
    </div>
  );
}

function Notice(props: { colour: string; title: string; children?: ReactNode; close?: () => void }) {
  return (
    <Alert
      color={props.colour}
      variant="outline"
      p="xs"
      className="studio-notice"
      role="status"
      title={props.title}
      withCloseButton={props.close !== undefined}
      onClose={() => props.close?.()}
    >
      {props.children}
    </Alert>
  );
}

function Recovery({ recovery }: { recovery: RecoveryTold }) {
  return (
    <Notice colour="orange" title={`Work on ${recovery.name} from ${timeTold(recovery.saved)} was not saved`}>
      <Group gap="sm">
        {!recovery.fits && <Text fz="sm">The file was changed since; saving will ask which counts.</Text>}
        <Button variant="filled" onClick={() => void recover(recovery.id)}>
          Recover
        </Button>
        <Button onClick={() => void discard(recovery.id)}>Discard</Button>
      </Group>
    </Notice>
  );
}

function WithoutRig({ found }: { found: WithoutRigTold }) {
  const [closed, setClosed] = useState(false);
  if (closed) return null;
  return (
    <Notice colour="blue" title={`${found.name} has no muscles yet`} close={() => setClosed(true)}>
      <Group gap="sm">
        <Button variant="filled" onClick={() => void makeRig(found.name, "template")}>
          Anatomical muscles
        </Button>
        <Button onClick={() => void makeRig(found.name, "extract")}>Those that show in its skin</Button>
        <Button onClick={() => void makeRig(found.name, "template+extract")}>Both</Button>
        {found.rigs.length > 0 && (
          <Menu withinPortal>
            <Menu.Target>
              <Button>Open its rig</Button>
            </Menu.Target>
            <Menu.Dropdown>
              {found.rigs.map((name) => (
                <Menu.Item key={name} onClick={() => void openFile(name)}>
                  {name}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
    </Notice>
  );
}

function Moved({ moved }: { moved: MovedTold }) {
  const [chosen, setChosen] = useState(moved.character ?? moved.candidates[0] ?? null);
  return (
    <Notice colour="yellow" title={`${moved.name} does not fit its character any more`}>
      {moved.problems.map((problem) => (
        <Text key={problem} fz="sm">
          {problem}
        </Text>
      ))}
      <Group gap="sm" mt={6}>
        <Select
          aria-label="Character"
          data={[...moved.candidates]}
          value={chosen}
          onChange={setChosen}
          searchable
          w={220}
          placeholder="No character in the folder"
        />
        <Button variant="filled" disabled={chosen === null} onClick={() => void rebind(moved.name, chosen)}>
          Rebind
        </Button>
        <Text fz="xs" c="dimmed">
          Fits the rig to it and keeps what was edited; nothing is written before you save.
        </Text>
      </Group>
    </Notice>
  );
}

/** Files dropped anywhere on the page go into the folder. */
function Dropping() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const holds = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
    const dragged = (event: DragEvent): void => {
      if (!holds(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const left = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const dropped = (event: DragEvent): void => {
      if (!holds(event)) return;
      event.preventDefault();
      setOver(false);
      void drop(Array.from(event.dataTransfer?.files ?? []));
    };
    window.addEventListener("dragover", dragged);
    window.addEventListener("dragleave", left);
    window.addEventListener("drop", dropped);
    return () => {
      window.removeEventListener("dragover", dragged);
      window.removeEventListener("dragleave", left);
      window.removeEventListener("drop", dropped);
    };
  }, []);
  return over ? (
    <div className="studio-drop">
      Put into the folder
      <CloseButton onClick={() => setOver(false)} />
    </div>
  ) : null;
}
