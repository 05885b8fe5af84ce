import { ActionIcon, FileButton, Group, Loader, NumberInput, Select, Switch, Text, Tooltip } from "@mantine/core";
import {
  IconChartLine,
  IconFileImport,
  IconFocusCentered,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconPlayerSkipBackFilled,
  IconPlayerSkipForwardFilled,
  IconRepeat,
  IconStretching,
  IconX,
} from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import type { MotionTold } from "../../messages.js";
import { useStudio } from "../../store.js";
import { CurveEditor } from "./curves.js";
import "./motion.css";
import { change, drop, getMotion, give, load, seek, stop, toggle, useMotion } from "./motion.js";

const SPEEDS = ["0.1", "0.25", "0.5", "1", "2"];
const SWINGING = [
  { value: "off", label: "No dynamics" },
  { value: "fat", label: "Fat swings" },
  { value: "springs", label: "Springs" },
  { value: "oscillation", label: "Oscillation" },
];
const ACCEPTED = ".bvh,.glb,.gltf,.usd,.usda,.usdc,.usdz,.x3d,.wrl,.fbx,.pose";

/** Along the bottom: what is played, how, and which moment of it is shown. */
export function Timeline() {
  const told = useMotion((s) => s.told);
  const editing = useMotion((s) => s.editing);
  const connection = useStudio((s) => s.connection);
  useEffect(() => {
    if (connection === "open" && useMotion.getState().told === null) void getMotion();
  }, [connection]);
  useKeys();
  return (
    <div className="timeline" data-testid="timeline">
      {editing && told?.motion != null && <CurveEditor />}
      <Group gap={6} wrap="nowrap" px={10} py={4}>
        <Source told={told} />
        {told?.motion != null && <Controls told={told} />}
      </Group>
      {told?.motion != null && <Track />}
    </div>
  );
}

function Source({ told }: { told: MotionTold | null }) {
  const rate = useRef<string>("own");
  if (told === null) return <Text fz="xs">…</Text>;
  const data = [
    ...(told.clips.length > 0
      ? [{ group: "Clips of the character", items: told.clips.map((name) => ({ value: `clip ${name}`, label: name })) }]
      : []),
    ...(told.files.length > 0
      ? [{ group: "Files beside the rig", items: told.files.map((name) => ({ value: `file ${name}`, label: name })) }]
      : []),
  ];
  const { motion } = told;
  const own = motion === null ? null : motion.source === null ? `clip ${motion.name}` : `file ${motion.source}`;
  const choose = (value: string | null): void => {
    if (value === null) return;
    const name = value.slice(5);
    const per = rate.current === "own" ? {} : { rate: Number(rate.current) };
    void load(value.startsWith("clip ") ? { clip: name, ...per } : { file: name, ...per });
  };
  return (
    <>
      <Tooltip label="The motion: a clip of the character, or a file in the rig's folder. It is retargeted where it is another skeleton's">
        <Select
          aria-label="Motion"
          w={190}
          placeholder={data.length > 0 ? "Choose a motion" : "No motion beside the rig"}
          data={data}
          value={own}
          allowDeselect={false}
          onChange={choose}
        />
      </Tooltip>
      <FileButton onChange={(file) => file && void give(file)} accept={ACCEPTED}>
        {(props) => (
          <Tooltip label="Load a motion from a file of yours: BVH, glTF, USD, X3D, FBX or .pose">
            <ActionIcon {...props} aria-label="Load a motion">
              <IconFileImport size={16} />
            </ActionIcon>
          </Tooltip>
        )}
      </FileButton>
      {motion !== null && (
        <>
          <Tooltip label="Frames a second; the motion's own, or resampled as bake --rate does">
            <Select
              aria-label="Frame rate"
              w={84}
              data={[
                { value: "now", label: `${round(motion.rate)} fps` },
                { value: "own", label: "its own" },
                ...["24", "30", "60"].map((value) => ({ value, label: `at ${value}` })),
              ]}
              value="now"
              allowDeselect={false}
              onChange={(value) => {
                if (value === null || value === "now") return;
                rate.current = value;
                choose(own);
              }}
              disabled={motion.source !== null && !told.files.includes(motion.source)}
            />
          </Tooltip>
          <Tooltip label="Forget the motion, and show the pose again">
            <ActionIcon aria-label="Forget the motion" onClick={() => void drop()}>
              <IconX size={14} />
            </ActionIcon>
          </Tooltip>
        </>
      )}
    </>
  );
}

function Controls({ told }: { told: MotionTold }) {
  // what changes with every picture has components of its own: drawing all of this again takes as long as a picture
  const playing = useMotion((s) => s.playing);
  const loop = useMotion((s) => s.loop);
  const speed = useMotion((s) => s.speed);
  const follow = useMotion((s) => s.follow);
  const waits = useMotion((s) => s.waits);
  const ahead = useMotion((s) => s.ahead);
  const editing = useMotion((s) => s.editing);
  const beside = useStudio((s) => s.beside);
  const hasLines = useStudio((s) => s.document?.muscles.some(({ kind }) => kind === "lines") ?? false);
  const motion = told.motion!;
  const swings = told.dynamics !== "off" && ahead.possible > 0 && ahead.computed < ahead.possible;
  return (
    <>
      <Tooltip label="First frame (Home)">
        <ActionIcon aria-label="First frame" onClick={() => (stop(), void seek(motion.begins))}>
          <IconPlayerSkipBackFilled size={14} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={playing ? "Pause (Space)" : "Play (Space)"}>
        <ActionIcon aria-label={playing ? "Pause" : "Play"} variant="filled" onClick={toggle}>
          {playing ? <IconPlayerPauseFilled size={15} /> : <IconPlayerPlayFilled size={15} />}
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Last frame (End)">
        <ActionIcon aria-label="Last frame" onClick={() => (stop(), void seek(motion.ends))}>
          <IconPlayerSkipForwardFilled size={14} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Begin again at the end">
        <ActionIcon
          aria-label="Loop"
          aria-pressed={loop}
          variant={loop ? "light" : "subtle"}
          onClick={() => useMotion.setState({ loop: !loop })}
        >
          <IconRepeat size={15} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="The view goes along with whoever travels">
        <ActionIcon
          aria-label="Follow"
          aria-pressed={follow}
          variant={follow ? "light" : "subtle"}
          onClick={() => useMotion.setState({ follow: !follow })}
        >
          <IconFocusCentered size={15} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Times real time">
        <Select
          aria-label="Speed"
          w={66}
          data={SPEEDS.map((value) => ({ value, label: `${value} ×` }))}
          value={String(speed)}
          allowDeselect={false}
          onChange={(value) => useMotion.setState({ speed: Number(value ?? 1) })}
        />
      </Tooltip>
      <Now motion={motion} />
      <span style={{ flex: 1 }} />
      {!told.shown && (
        <Tooltip label="The pose is shown; scrub or play to see the motion again">
          <Text fz="xs" c="dimmed">
            pose shown
          </Text>
        </Tooltip>
      )}
      {(waits || swings) && (
        <Tooltip label="What swings depends on all frames before it, and is computed from the first on">
          <Group gap={6} wrap="nowrap">
            <Loader size={12} />
            <Text fz="xs" c="dimmed" data-testid="ahead" style={{ whiteSpace: "nowrap" }}>
              {waits ? "shown without dynamics, " : ""}
              {Math.floor(100 * ahead.share)} % computed
            </Text>
          </Group>
        </Tooltip>
      )}
      <Tooltip label="What lags behind the bones. It is computed from the first frame on while you work">
        <Select
          aria-label="Dynamics"
          w={124}
          data={SWINGING.map((choice) => ({ ...choice, disabled: choice.value === "oscillation" && !hasLines }))}
          value={told.dynamics}
          allowDeselect={false}
          onChange={(value) => void change("motion.swing", { dynamics: (value ?? "off") as MotionTold["dynamics"] })}
        />
      </Tooltip>
      <Tooltip label="The same skin without muscles stands beside it">
        <Switch
          label="Side by side"
          checked={beside}
          onChange={(event) => useStudio.getState().set({ beside: event.currentTarget.checked })}
        />
      </Tooltip>
      <Tooltip label="Go on posing from the moment that is shown">
        <ActionIcon aria-label="Pose from here" onClick={() => (stop(), void change("motion.pose_from_here"))}>
          <IconStretching size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Activation curves">
        <ActionIcon
          aria-label="Activation curves"
          aria-pressed={editing}
          variant={editing ? "light" : "subtle"}
          onClick={() => useMotion.setState({ editing: !editing })}
        >
          <IconChartLine size={16} />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

type Shown = NonNullable<MotionTold["motion"]>;

/** Frame and time that are shown, and how fast it plays. */
function Now({ motion }: { motion: Shown }) {
  const frame = useMotion((s) => frameAt(motion, s.time));
  const time = useMotion((s) => s.time);
  const playing = useMotion((s) => s.playing);
  const rate = useMotion((s) => (s.playing ? `${s.rate.toFixed(0)} fps` : ""));
  return (
    <>
      {playing ? (
        <Text fz="sm" w={72} px={10} data-testid="frame">
          {frame}
        </Text>
      ) : (
        <FrameField motion={motion} frame={frame} />
      )}
      <Text fz="xs" c="dimmed" w={96} data-testid="time" style={{ whiteSpace: "nowrap" }}>
        {time.toFixed(2)} / {motion.ends.toFixed(2)} s
      </Text>
      <Text fz="xs" c="dimmed" w={52} data-testid="rate" style={{ whiteSpace: "nowrap" }}>
        {rate}
      </Text>
    </>
  );
}

function FrameField({ motion, frame }: { motion: Shown; frame: number }) {
  return (
    <Tooltip label={`Frame, of 0 to ${motion.frames - 1} (← and → step)`}>
      <NumberInput
        aria-label="Frame"
        w={72}
        min={0}
        max={motion.frames - 1}
        hideControls
        value={frame}
        onChange={(value) => {
          if (typeof value === "number" && value !== frame) {
            stop();
            void seek(timeOf(motion, value));
          }
        }}
      />
    </Tooltip>
  );
}

/** The moments of the motion as a bar to scrub on; the lower line is how far what swings is computed. */
function Track() {
  const told = useMotion((s) => s.told);
  const ahead = useMotion((s) => s.ahead);
  const bar = useRef<HTMLDivElement>(null);
  const motion = told!.motion!;
  const length = Math.max(motion.ends - motion.begins, 1e-9);
  const to = (x: number): void => {
    const box = bar.current!.getBoundingClientRect();
    void seek(motion.begins + (length * (x - box.left)) / box.width);
  };
  const computed = told!.dynamics === "off" ? 0 : ahead.computed / Math.max(motion.frames, 1);
  return (
    <div
      ref={bar}
      className="timeline-track"
      role="slider"
      tabIndex={0}
      aria-label="Time"
      aria-valuemin={motion.begins}
      aria-valuemax={motion.ends}
      aria-valuenow={useMotion.getState().time}
      onPointerDown={(event) => {
        stop();
        event.currentTarget.setPointerCapture(event.pointerId);
        to(event.clientX);
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && to(event.clientX)}
    >
      {ticks(motion.begins, motion.ends).map((at) => (
        <span key={at} className="timeline-tick" style={{ left: `${(100 * (at - motion.begins)) / length}%` }}>
          {at.toFixed(at % 1 === 0 ? 0 : 1)}
        </span>
      ))}
      <i className="timeline-computed" style={{ width: `${100 * computed}%` }} />
      <Marker motion={motion} />
    </div>
  );
}

function Marker({ motion }: { motion: Shown }) {
  const time = useMotion((s) => s.time);
  const share = (time - motion.begins) / Math.max(motion.ends - motion.begins, 1e-9);
  return <i className="timeline-now" style={{ left: `${100 * share}%` }} />;
}

/** Some even times [s] within a span. */
function ticks(begins: number, ends: number): number[] {
  const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60].find((size) => (ends - begins) / size <= 14) ?? 120;
  const found = [];
  for (let at = Math.ceil(begins / step) * step; at <= ends + 1e-9; at += step) found.push(Number(at.toFixed(3)));
  return found;
}

function frameAt(motion: Shown, time: number): number {
  return Math.min(Math.floor((time - motion.begins) * motion.rate + 1e-4), motion.frames - 1);
}

function timeOf(motion: Shown, frame: number): number {
  return motion.begins + frame / motion.rate;
}

function round(value: number): string {
  return String(Number(value.toFixed(2)));
}

/** Space plays, arrows step, Home and End go to the ends: where nobody types. */
function useKeys(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { told, time } = useMotion.getState();
      const motion = told?.motion;
      if (motion == null || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target instanceof HTMLElement ? event.target : null;
      if (target?.closest("input, textarea, button, [contenteditable], [role=slider]:not(.timeline-track), [role=listbox]")) return;
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (event.key === " ") toggle();
      else if (event.key === "Home") void seek(motion.begins);
      else if (event.key === "End") void seek(motion.ends);
      else if (step !== 0) {
        stop();
        void seek(timeOf(motion, frameAt(motion, time) + step));
      } else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
