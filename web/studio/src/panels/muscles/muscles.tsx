import "./muscles.css";
import { ActionIcon, Button, Group, Stack, Text, Tooltip } from "@mantine/core";
import { IconCopy, IconEye, IconEyeOff, IconFlipVertical, IconFocusCentered, IconTrash, IconX } from "@tabler/icons-react";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { useStudio } from "../../store.js";
import { act, tell, theViewport } from "../../studio.js";
import { AddSection, choose } from "./add.js";
import { useHandles } from "./drawing.js";
import { LiveSlider, Word } from "./fields.js";
import { InfluenceSection } from "./influence.js";
import { Drag, Latest } from "./latest.js";
import { GroupList } from "./list.js";
import { type Detail, useDetail, usePlaces } from "./muscle.js";
import { PathSection } from "./path.js";
import { ShapeSection } from "./shape.js";
import { VolumeSection } from "./volume.js";
import { WrapSection } from "./wrap.js";

/** The muscle builder: spindles, and muscles found in the skin. */
export function MusclesPanel() {
  const selected = useStudio((s) => s.selected);
  const kind = useStudio((s) => s.document?.muscles.find((one) => one.name === selected?.name)?.kind);
  const set = useStudio((s) => s.set);
  const name = selected?.kind === "muscle" && kind !== "lines" ? selected.name : null;
  const detail = useDetail(name);
  const places = usePlaces(detail === null ? null : name);
  const [point, setPoint] = useState<number | null>(null);
  const choosePoint = useCallback((number: number) => setPoint(number), []);
  useEffect(() => setPoint(null), [name]);
  useHandles(detail, places, point, choosePoint);
  useTranslucentSkin();
  return (
    <Stack gap="xs" data-testid="muscles-panel">
      {detail === null ? (
        kind === "lines" ? (
          <Group justify="space-between">
            <Text fz="xs">This muscle is a mesh on action lines.</Text>
            <Button onClick={() => set({ panel: "lines" })}>Edit its lines</Button>
          </Group>
        ) : (
          <>
            <Section title="Add muscles" open>
              <AddSection />
            </Section>
            <Section title="Muscles by group" open>
              <GroupList />
            </Section>
          </>
        )
      ) : (
        <>
          <Head detail={detail} />
          <Section title="Path" open>
            <PathSection detail={detail} places={places} chosen={point} choose={choosePoint} />
          </Section>
          {detail.spindle !== null && (
            <Section title="Shape" open>
              <ShapeSection detail={detail} spindle={detail.spindle} />
            </Section>
          )}
          {detail.wrap !== null && (
            <Section title="Wrap and size" open>
              <WrapSection detail={detail} />
            </Section>
          )}
          <Section title="Activation and force" open>
            <WorkSection detail={detail} />
          </Section>
          <Section title="Influence on the skin">
            <InfluenceSection detail={detail} />
          </Section>
          <Section title="Volume over length">
            <VolumeOf name={detail.name} />
          </Section>
          <Section title="Add muscles">
            <AddSection />
          </Section>
        </>
      )}
    </Stack>
  );
}

function Head({ detail }: { detail: Detail }) {
  const set = useStudio((s) => s.set);
  const alone = useStudio((s) => s.alone);
  const { name } = detail;
  const rename = async (to: string): Promise<void> => {
    const done = await act("muscle.rename", { name, to });
    if (done !== null) set({ selected: { kind: "muscle", name: to } });
  };
  return (
    <Stack gap={4}>
      <Group gap={2} wrap="nowrap" align="end">
        <Word label="Name" hint="Activations are given by name" testId="muscle-name" value={name} onValue={(to) => void rename(to)} />
        <Act label="Frame it in the view" onClick={() => theViewport()?.frameSelected()}>
          <IconFocusCentered size={15} />
        </Act>
        <Act label={alone ? "Show all muscles" : "Show this muscle alone"} onClick={() => set({ alone: !alone })}>
          {alone ? <IconEyeOff size={15} /> : <IconEye size={15} />}
        </Act>
        <Act label="Put it on the other side as it is here; a partner that is there is replaced" onClick={() => void act("muscle.mirror", { names: [name] }).then((made) => tell(made?.lines ?? []))}>
          <IconFlipVertical size={15} />
        </Act>
        <Act label="Duplicate" onClick={() => void act("muscle.duplicate", { name }).then(choose)}>
          <IconCopy size={15} />
        </Act>
        <Act
          label="Remove this muscle"
          onClick={() => {
            set({ selected: null });
            void act("muscle.remove", { names: [name] }).then((done) => tell(done?.lines ?? []));
          }}
        >
          <IconTrash size={15} />
        </Act>
        <Act label="Back to all muscles" onClick={() => set({ selected: null })}>
          <IconX size={15} />
        </Act>
      </Group>
      <Group gap="xs" wrap="nowrap">
        <Word
          label="Part of"
          hint="What it is a part of, such as a head of the biceps"
          testId="muscle-part"
          value={detail.muscle}
          onValue={(muscle) => void act("muscle.set", { name, muscle })}
        />
        <Word
          label="Group"
          hint="What it is one of: gains and curves may be given by group"
          testId="muscle-group"
          value={detail.group}
          onValue={(group) => void act("muscle.set", { name, group })}
        />
      </Group>
    </Stack>
  );
}

function WorkSection({ detail }: { detail: Detail }) {
  const { name } = detail;
  const drag = useRef(new Drag()).current;
  const latest = useRef(new Latest()).current;
  const activation = useActivation(name);
  const work = (value: number | null): void =>
    latest.push(async () => {
      await act("view.activate", { values: { [name]: value } });
      await theViewport()?.refresh();
    });
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap">
        <div style={{ flex: 1 }}>
          <LiveSlider
            label="Activation"
            hint="How much it works now [%], by hand: to try it. It is no edit; Release gives it back to what the rig says"
            testId="activation"
            value={100 * activation}
            min={0}
            max={100}
            step={1}
            unit="%"
            onLive={(value) => work(value / 100)}
          />
        </div>
        <Tooltip label="Let the rig say again how much it works">
          <Button onClick={() => work(null)}>Release</Button>
        </Tooltip>
      </Group>
      <LiveSlider
        label="Bulge"
        hint="How many times as thick its section is towards the skin at full activation, and by as much narrower across"
        testId="bulge"
        value={detail.largest_bulge}
        min={1}
        max={3}
        step={0.01}
        unit="×"
        onLive={(largest_bulge, phase) => drag.edit(phase, "muscle.set", { name, largest_bulge })}
      />
      <LiveSlider
        label="Force"
        hint={`At full activation [N]${detail.force_source === "" ? "" : `; from ${detail.force_source}`}`}
        testId="force"
        value={detail.max_force}
        min={0}
        max={Math.max(2000, detail.max_force)}
        step={1}
        unit="N"
        onLive={(max_force, phase) => drag.edit(phase, "muscle.set", { name, max_force })}
      />
      {detail.actions.map(({ joint, degrees, weight }, number) => (
        <Text key={number} fz="xs" c="dimmed">
          {`works at ${joint} from ${degrees[0].toFixed(0)}° to ${degrees[1].toFixed(0)}°, up to ${Math.round(100 * weight)} %`}
        </Text>
      ))}
    </Stack>
  );
}

function VolumeOf({ name }: { name: string }) {
  return <VolumeSection name={name} activation={Math.round(20 * useActivation(name)) / 20} />;
}

/** How much a muscle works in what is shown, 0 to 1. */
function useActivation(name: string): number {
  const at = useStudio((s) => s.document?.muscles.findIndex((one) => one.name === name) ?? -1);
  return useStudio((s) => s.activation?.[at] ?? 0);
}

function Act(props: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <Tooltip label={props.label}>
      <ActionIcon aria-label={props.label} onClick={props.onClick}>
        {props.children}
      </ActionIcon>
    </Tooltip>
  );
}

/** A part of the panel that opens and closes; what is closed asks for nothing. */
function Section(props: { title: string; open?: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(props.open ?? false);
  return (
    <details className="muscle-section" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{props.title}</summary>
      <div>{open && props.children}</div>
    </details>
  );
}

let shownOnce = false;

/** Muscles are worked on under translucent skin: once, where the person has not set the view up otherwise. */
function useTranslucentSkin(): void {
  useEffect(() => {
    const { layers, setLayer } = useStudio.getState();
    if (shownOnce || layers.muscles.shown) return;
    shownOnce = true;
    setLayer("muscles", { shown: true });
    setLayer("skin", { opacity: 0.35 });
  }, []);
}
