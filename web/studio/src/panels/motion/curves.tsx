import { ActionIcon, Button, Group, NumberInput, Select, Text, TextInput, Tooltip } from "@mantine/core";
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconDeviceFloppy,
  IconFolderOpen,
  IconTrash,
} from "@tabler/icons-react";
import { type PointerEvent, useCallback, useEffect, useRef, useState } from "react";
import type { Answer } from "../../connection.js";
import { useStudio } from "../../store.js";
import { ask, tell } from "../../studio.js";
import { change, seek, stop, useMotion } from "./motion.js";

type Curve = Answer<"motion.curve">;
const HIGH = 132;
const TOP = 8;
const BOTTOM = 8;

/** Activation of one muscle or group through the motion, with keys to draw. */
export function CurveEditor() {
  const told = useMotion((s) => s.told);
  const version = useMotion((s) => s.version);
  const own = useMotion((s) => s.curve);
  const selected = useStudio((s) => s.selected);
  const document = useStudio((s) => s.document);
  const revision = useStudio((s) => s.revision);
  const chosen = own ?? (selected?.kind === "muscle" ? selected.name : null);
  const [curve, setCurve] = useState<Curve | null>(null);
  const [key, setKey] = useState<number | null>(null);
  const keyed = Object.keys(told?.curves ?? {});

  const refresh = useCallback(async () => {
    if (chosen === null) return setCurve(null);
    const answer = await ask("motion.curve", { name: chosen, samples: 600 });
    if (answer !== null) setCurve(answer);
  }, [chosen]);
  useEffect(() => void refresh(), [refresh, version, revision]);
  // another muscle is chosen: its curve is meant
  useEffect(() => {
    useMotion.setState({ curve: null });
    setKey(null);
  }, [selected]);

  const muscles = document?.muscles ?? [];
  const groups = [...new Set(muscles.map(({ group }) => group).filter((group) => group !== ""))].sort();
  const known = new Set([...groups, ...muscles.map(({ name }) => name)]);
  const data = [
    { group: "Curves", items: keyed },
    { group: "Groups", items: groups.filter((name) => !keyed.includes(name)) },
    { group: "Muscles", items: [...new Set(muscles.map(({ name }) => name))].filter((n) => !keyed.includes(n) && !groups.includes(n)) },
  ].filter(({ items }) => items.length > 0);

  return (
    <div
      className="curves"
      data-testid="curves"
      tabIndex={-1}
      onKeyDown={(event) => {
        const typing = (event.target as HTMLElement).closest("input");
        if (typing) return;
        const pressed = event.key.toLowerCase();
        if ((event.ctrlKey || event.metaKey) && (pressed === "z" || pressed === "y")) {
          event.preventDefault();
          event.nativeEvent.stopImmediatePropagation();
          void step(pressed === "y" || event.shiftKey);
        } else if ((pressed === "delete" || pressed === "backspace") && chosen !== null && key !== null) {
          event.preventDefault();
          void change("motion.delete_key", { name: chosen, key }).then(() => setKey(null));
        }
      }}
    >
      <Group gap={6} wrap="nowrap" px={10} pt={6}>
        <Tooltip label="Whose activation: a muscle, or a group of them">
          <Select
            aria-label="Curve of"
            w={260}
            searchable
            placeholder="Choose a muscle or a group"
            data={data}
            value={chosen !== null && (known.has(chosen) || keyed.includes(chosen)) ? chosen : null}
            onChange={(value) => {
              setKey(null);
              useMotion.setState({ curve: value });
            }}
            limit={400}
          />
        </Tooltip>
        {curve !== null && chosen !== null && (
          <>
            <State curve={curve} />
            {curve.keyed ? (
              <Tooltip label="Take the curve away: it is active as the rig says again">
                <Button onClick={() => void change("motion.free", { name: chosen })}>Give back</Button>
              </Tooltip>
            ) : (
              <Tooltip label="Give it a curve of its own, with as few keys as follow what it does now">
                <Button onClick={() => void change("motion.key", { name: chosen })}>Key it</Button>
              </Tooltip>
            )}
            <KeyFields curve={curve} name={chosen} chosen={key} />
            <Tooltip label="Delete the key (Delete)">
              <ActionIcon
                aria-label="Delete key"
                disabled={key === null || curve.times.length < 2}
                onClick={() => void change("motion.delete_key", { name: chosen, key: key! }).then(() => setKey(null))}
              >
                <IconTrash size={15} />
              </ActionIcon>
            </Tooltip>
            <Tooltip label="Fully tense around the moment that is shown: eased in and out over 0.15 s, held for 0.2 s">
              <Button
                onClick={() => {
                  const { time } = useMotion.getState();
                  void change("motion.tense", { name: chosen, begin: time - 0.1, end: time + 0.1, level: 1 });
                }}
              >
                Tense here
              </Button>
            </Tooltip>
          </>
        )}
        <span style={{ flex: 1 }} />
        <Tooltip label={told?.undo ? `Undo ${told.undo} (Ctrl+Z over the curves)` : "No change of curves to undo"}>
          <ActionIcon aria-label="Undo curves" disabled={!told?.undo} onClick={() => void step(false)}>
            <IconArrowBackUp size={15} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={told?.redo ? `Redo ${told.redo}` : "No change of curves to redo"}>
          <ActionIcon aria-label="Redo curves" disabled={!told?.redo} onClick={() => void step(true)}>
            <IconArrowForwardUp size={15} />
          </ActionIcon>
        </Tooltip>
        <Files some={keyed.length > 0} />
      </Group>
      {curve === null ? (
        <Text fz="xs" c="dimmed" px={10} py={8}>
          {muscles.length === 0 ? "The rig has no muscles." : "Choose a muscle in the list or the view to see how active it is."}
        </Text>
      ) : (
        <Plot curve={curve} name={chosen!} chosen={key} choose={setKey} onEdited={refresh} />
      )}
    </div>
  );
}

async function step(redo: boolean): Promise<void> {
  const told = await change("motion.undo", { redo });
  if (told !== null) tell(told.lines);
}

function State({ curve }: { curve: Curve }) {
  const text = curve.keyed
    ? `${curve.times.length} keys`
    : curve.by !== null
      ? `follows the curve of ${curve.by}`
      : "as the rig says";
  return (
    <Text fz="xs" c="dimmed" data-testid="curve-state" style={{ whiteSpace: "nowrap" }}>
      {text}
    </Text>
  );
}

function KeyFields({ curve, name, chosen }: { curve: Curve; name: string; chosen: number | null }) {
  if (chosen === null || chosen >= curve.times.length) return null;
  const set = (time: number, value: number): void => {
    void change("motion.move_key", { name, key: chosen, time, value });
  };
  const [time, value] = [curve.times[chosen]!, curve.values[chosen]!];
  return (
    <>
      <Tooltip label="Time of the key [s]">
        <NumberInput
          aria-label="Key time"
          w={72}
          hideControls
          decimalScale={3}
          value={time}
          onChange={(next) => typeof next === "number" && next !== time && set(next, value)}
        />
      </Tooltip>
      <Tooltip label="Activation of the key, 0 to 1">
        <NumberInput
          aria-label="Key activation"
          w={64}
          hideControls
          min={0}
          max={1}
          step={0.05}
          decimalScale={3}
          value={value}
          onChange={(next) => typeof next === "number" && next !== value && set(time, next)}
        />
      </Tooltip>
    </>
  );
}

function Files({ some }: { some: boolean }) {
  const [file, setFile] = useState("curves.csv");
  return (
    <>
      <Tooltip label="File of curves beside the rig, .csv or .sto: what bake --activation reads">
        <TextInput aria-label="File of curves" w={110} value={file} onChange={(event) => setFile(event.currentTarget.value)} />
      </Tooltip>
      <Tooltip label="Take the curves of that file">
        <ActionIcon
          aria-label="Open curves"
          onClick={() => void change("motion.open_curves", { file }).then((told) => told !== null && tell(told.lines))}
        >
          <IconFolderOpen size={15} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Write the curves to that file">
        <ActionIcon
          aria-label="Save curves"
          disabled={!some}
          onClick={() => void change("motion.save_curves", { file }).then((told) => told !== null && tell(told.lines))}
        >
          <IconDeviceFloppy size={15} />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

interface Plotted {
  readonly curve: Curve;
  readonly name: string;
  readonly chosen: number | null;
  readonly choose: (key: number | null) => void;
  readonly onEdited: () => Promise<void>;
}

/** The plot: double click adds a key, keys are drawn about, and a click elsewhere shows that moment. */
function Plot({ curve, name, chosen, choose, onEdited }: Plotted) {
  const time = useMotion((s) => s.time);
  const motion = useMotion((s) => s.told?.motion);
  const area = useRef<SVGSVGElement>(null);
  const drag = useRef<{ key: number; gesture: string } | null>(null);
  const scrubs = useRef(false);
  const wish = useRef<{ time: number; value: number } | null>(null);
  const busy = useRef(false);
  const wide = useWidth(area);
  if (motion == null) return null;
  const length = Math.max(motion.ends - motion.begins, 1e-9);
  const x = (at: number): number => (wide * (at - motion.begins)) / length;
  const y = (value: number): number => TOP + (1 - value) * (HIGH - TOP - BOTTOM);
  const place = (event: { clientX: number; clientY: number }): { time: number; value: number } => {
    const box = area.current!.getBoundingClientRect();
    const value = 1 - (event.clientY - box.top - TOP) / (HIGH - TOP - BOTTOM);
    return { time: motion.begins + (length * (event.clientX - box.left)) / box.width, value: Math.min(Math.max(value, 0), 1) };
  };
  const line = (values: Float32Array): string => {
    const at = curve.arrays.times!;
    let path = "";
    for (let n = 0; n < at.length; n++) path += `${n === 0 ? "M" : "L"}${x(at[n]!).toFixed(1)} ${y(values[n]!).toFixed(1)}`;
    return path;
  };
  /** The newest place of the key that is drawn replaces those that wait. */
  const send = async (): Promise<void> => {
    if (busy.current) return;
    busy.current = true;
    try {
      while (wish.current !== null && drag.current !== null) {
        const to = wish.current;
        const { key, gesture } = drag.current;
        wish.current = null;
        await change("motion.move_key", { name, key, ...to, gesture });
        await onEdited();
      }
    } finally {
      busy.current = false;
    }
  };
  const moved = (event: PointerEvent): void => {
    if (drag.current !== null) {
      wish.current = place(event);
      void send();
    } else if (scrubs.current) void seek(place(event).time);
  };
  return (
    <svg
      ref={area}
      className="curves-plot"
      data-testid="plot"
      height={HIGH}
      onPointerDown={(event) => {
        (event.currentTarget.closest(".curves") as HTMLElement).focus({ preventScroll: true });
        stop();
        event.currentTarget.setPointerCapture(event.pointerId);
        const key = (event.target as Element).getAttribute("data-key");
        if (key !== null) {
          drag.current = { key: Number(key), gesture: `key ${name} ${event.timeStamp}` };
          choose(Number(key));
        } else {
          scrubs.current = true;
          choose(null);
          void seek(place(event).time);
        }
      }}
      onPointerMove={moved}
      onPointerUp={(event) => {
        scrubs.current = false;
        if (wish.current === null && !busy.current) drag.current = null;
        else {
          moved(event);
          const wait = (): void => {
            if (busy.current) setTimeout(wait, 20);
            else drag.current = null;
          };
          wait();
        }
      }}
      onDoubleClick={(event) => {
        if ((event.target as Element).hasAttribute("data-key")) return;
        const { time: at, value } = place(event);
        void change("motion.add_key", { name, time: at, value }).then(onEdited);
      }}
    >
      {[0, 0.5, 1].map((value) => (
        <g key={value}>
          <line className="curves-grid" x1={0} x2={wide} y1={y(value)} y2={y(value)} />
          <text className="curves-label" x={2} y={y(value) + (value === 1 ? 10 : -2)}>
            {value}
          </text>
        </g>
      ))}
      <path className="curves-source" d={line(curve.arrays.source!)} />
      <path className="curves-line" data-keyed={curve.keyed} d={line(curve.arrays.activation!)} />
      <line className="curves-now" x1={x(time)} x2={x(time)} y1={0} y2={HIGH} />
      {curve.times.map((at, key) => (
        <circle
          key={key}
          className="curves-key"
          data-key={key}
          data-keyed={curve.keyed}
          data-chosen={key === chosen}
          cx={x(at)}
          cy={y(curve.values[key]!)}
          r={key === chosen ? 5.5 : 4}
        >
          <title>{`${at.toFixed(3)} s, ${curve.values[key]!.toFixed(3)}`}</title>
        </circle>
      ))}
    </svg>
  );
}

function useWidth(of: React.RefObject<SVGSVGElement | null>): number {
  const [wide, setWide] = useState(1000);
  useEffect(() => {
    if (of.current === null) return;
    const observer = new ResizeObserver(([entry]) => entry && setWide(entry.contentRect.width));
    observer.observe(of.current);
    return () => observer.disconnect();
  }, [of]);
  return wide;
}
