import { Button, FileButton, Group, MultiSelect, Select, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Answer } from "../../connection.js";
import type { PickTold } from "../../messages.js";
import { useStudio } from "../../store.js";
import { act, ask, tell, tellRefusal, theViewport } from "../../studio.js";

const OWNER = "muscle ends";
const LARGEST_FILE = 2_900_000;
const EVERYWHERE = "everywhere";

type Made = Answer<"muscle.duplicate"> | null;

/** Say what was made, and choose it. */
export function choose(made: Made): void {
  if (made === null) return;
  tell(made.lines);
  const [name] = made.names;
  if (name !== undefined) useStudio.getState().set({ selected: { kind: "muscle", name } });
}

/** More muscles: of the template, between two clicked points, found in the skin, or from a mesh. */
export function AddSection() {
  return (
    <Stack gap="sm">
      <Between />
      <FromTemplate />
      <InSkin />
      <FromMesh />
    </Stack>
  );
}

function Between() {
  const [name, setName] = useState("");
  const [armed, setArmed] = useState(false);
  const first = useRef<PickTold | null>(null);
  const [clicked, setClicked] = useState(0);
  const taken = useStudio((s) => s.document?.muscles);
  const stop = useCallback((): void => {
    first.current = null;
    setArmed(false);
    setClicked(0);
    theViewport()?.handles.clear(OWNER);
  }, []);
  useEffect(() => {
    const viewport = theViewport();
    if (!armed || viewport === null) return;
    const take = (picked: PickTold): boolean => {
      if (picked.bind === null || picked.point === null) return true; // a click beside the body
      if (first.current === null) {
        first.current = picked;
        setClicked(1);
        viewport.handles.set(OWNER, [{ id: "new-origin", position: picked.point, colour: 0x3fae5a, size: 1.3 }]);
        return true;
      }
      const called = name.trim() || free("new muscle", new Set(taken?.map((one) => one.name)));
      const ends = [first.current, picked].map(({ bind, joint }) => ({ place: bind!, joint }));
      void act("muscle.add_between", { name: called, origin: ends[0]!, insertion: ends[1]! }).then(choose);
      stop();
      return true;
    };
    const leave = (event: KeyboardEvent): void => {
      if (event.key === "Escape") stop();
    };
    viewport.clicks.push(take);
    window.addEventListener("keydown", leave);
    return () => {
      viewport.clicks.splice(viewport.clicks.indexOf(take), 1);
      window.removeEventListener("keydown", leave);
    };
  }, [armed, name, stop, taken]);
  useEffect(() => stop, [stop]);
  return (
    <div>
      <Group gap="xs" align="end">
        <TextInput
          flex={1}
          label="Between two points"
          placeholder="name"
          value={name}
          data-testid="new-name"
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Tooltip label="Click where it springs from, then where it pulls, on two sides of a joint: it gets the thickness that the skin leaves room for">
          <Button data-testid="add-between" variant={armed ? "filled" : "default"} onClick={() => (armed ? stop() : setArmed(true))}>
            {armed ? "Cancel" : "Click two points"}
          </Button>
        </Tooltip>
      </Group>
      {armed && (
        <Text fz="xs" c="orange" role="status">
          {clicked === 0 ? "Click its origin in the view. Esc cancels." : "Click its insertion, beyond a joint."}
        </Text>
      )}
    </div>
  );
}

function FromTemplate() {
  const revision = useStudio((s) => s.revision);
  const [names, setNames] = useState<readonly string[]>([]);
  const [chosen, setChosen] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let stale = false;
    void ask("muscle.template").then((told) => {
      if (stale || told === null) return;
      setNames(told.names);
      setChosen((now) => now.filter((name) => told.names.includes(name)));
    });
    return () => void (stale = true);
  }, [revision]);
  return (
    <Group gap="xs" align="end" wrap="nowrap">
      <Tooltip label="Muscles of the anatomical template that this character can have and does not">
        <MultiSelect
          flex={1}
          size="xs"
          searchable
          label="From the template"
          placeholder={names.length === 0 ? "it has them all, or is no humanoid" : `${names.length} more`}
          data={[...names]}
          limit={60}
          value={chosen}
          onChange={setChosen}
        />
      </Tooltip>
      <Button
        disabled={chosen.length === 0}
        loading={busy}
        onClick={() => {
          setBusy(true);
          void act("muscle.add_template", { names: chosen })
            .then(choose)
            .finally(() => setBusy(false));
        }}
      >
        Add
      </Button>
    </Group>
  );
}

function InSkin() {
  const [regions, setRegions] = useState<readonly string[]>([]);
  const [region, setRegion] = useState(EVERYWHERE);
  const [busy, setBusy] = useState(false);
  return (
    <Group gap="xs" align="end" wrap="nowrap">
      <Tooltip label="Muscles that show in the skin, of any creature; those that are there stay, one found before is found anew">
        <Select
          flex={1}
          label="Found in the skin"
          data={[EVERYWHERE, ...regions]}
          value={region}
          onDropdownOpen={() => {
            if (regions.length === 0) void ask("muscle.regions").then((told) => setRegions(told?.names ?? []));
          }}
          onChange={(next) => setRegion(next ?? EVERYWHERE)}
        />
      </Tooltip>
      <Tooltip label="It takes some seconds">
        <Button
          loading={busy}
          onClick={() => {
            setBusy(true);
            void act("muscle.find", { regions: region === EVERYWHERE ? null : [region] })
              .then(choose)
              .finally(() => setBusy(false));
          }}
        >
          Find
        </Button>
      </Tooltip>
    </Group>
  );
}

function FromMesh() {
  const [busy, setBusy] = useState(false);
  const take = async (file: File | null): Promise<void> => {
    if (file === null) return;
    if (file.size > LARGEST_FILE) {
      tellRefusal(new Error(`${file.name} is larger than 2.9 MB: build it with ecorche rig --anatomy FOLDER`));
      return;
    }
    setBusy(true);
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let text = "";
      for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
      const made = await act("muscle.add_mesh", { file: file.name, data: btoa(text) });
      choose(made);
      if (made !== null) useStudio.getState().set({ panel: "lines" });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Tooltip label="A surface of one muscle (.stl, .obj, .ply) in the character's frame and unit; it is attached to the rig's bones">
      <div>
        <FileButton accept=".stl,.obj,.ply" onChange={(file) => void take(file)}>
          {(props) => (
            <Button {...props} loading={busy}>
              From a mesh file…
            </Button>
          )}
        </FileButton>
      </div>
    </Tooltip>
  );
}

function free(name: string, taken: ReadonlySet<string>): string {
  let called = name;
  for (let number = 2; taken.has(called); number++) called = `${name} ${number}`;
  return called;
}
