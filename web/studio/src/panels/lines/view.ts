import { useEffect, useRef } from "react";
import { Matrix4, Quaternion, Vector3 } from "three/webgpu";
import { useStudio } from "../../store.js";
import { theViewport } from "../../studio.js";
import { LinesLayer } from "./drawing.js";
import { dragged, look, newGesture, read, useLines } from "./state.js";
import type { Vector } from "./told.js";

const OWNER = "lines";
const EXTREMES = ["low", "rest", "high"] as const;
const KINDS = { bound: 0xf0f0f0, part: 0x9fd0ff, free: 0xffb03a, mobile: 0xd070ff } as const;

type Viewport = NonNullable<ReturnType<typeof theViewport>>;
type Handles = Parameters<Viewport["handles"]["set"]>[1];

/** Draw lines, nodes to drag and fields with a gizmo, while the panel is open. */
export function useLinesInView(): void {
  const { told, shown, part, line, node, extreme, field, ellipsoid, gizmo, regions, others } = useLines();
  const selected = useStudio((s) => s.selected);
  const frame = useStudio((s) => s.frame);
  const revision = useStudio((s) => s.revision);
  const layers = useStudio((s) => s.layers);
  const ready = frame !== null;
  const layer = useRef<LinesLayer | null>(null);
  useEffect(() => {
    const viewport = theViewport();
    if (!ready || viewport === null) return;
    const made = new LinesLayer();
    layer.current = made;
    viewport.add(made);
    const { layers: before, setLayer } = useStudio.getState();
    const { skin, lines, fields } = before;
    // lines are inside: the skin lets them through while they are edited
    if (skin.shown && skin.opacity === 1) setLayer("skin", { opacity: 0.25 });
    setLayer("lines", { shown: true });
    setLayer("fields", { shown: true });
    return () => {
      layer.current = null;
      viewport.remove(made);
      viewport.handles.clear(OWNER);
      setLayer("skin", { opacity: skin.opacity });
      setLayer("lines", { shown: lines.shown });
      setLayer("fields", { shown: fields.shown });
    };
  }, [ready]);
  useEffect(read, [selected, revision]);
  useEffect(look, [selected, frame]);
  useEffect(() => {
    const viewport = theViewport();
    if (viewport === null || layer.current === null) return;
    layer.current.object.visible = layers.lines.shown;
    layer.current.show(shown, {
      muscle: told?.muscle ?? null,
      line,
      field: part === "fields" ? field : null,
      ellipsoid,
      regions: regions && told !== null,
      others,
      fields: layers.fields.shown && told !== null,
      opacity: layers.fields.opacity,
      flesh: layers.lines.opacity,
    });
    viewport.handles.set(OWNER, layers.lines.shown ? handlesNow() : []);
    setGizmo(viewport);
    viewport.redraw();
  }, [told, shown, part, line, node, extreme, field, ellipsoid, gizmo, regions, others, layers, ready]);
}

let gesture: string | null = null;

function handlesNow(): Handles {
  const { told, shown, line, node, part } = useLines.getState();
  if (told === null || shown === null || part === "fields") return [];
  const drawn = shown.lines.find(({ muscle, number }) => muscle === told.muscle && number === line);
  const designed = told.lines[line];
  const { nodes, kinds } = shown.arrays;
  if (drawn === undefined || designed === undefined || nodes === undefined || kinds === undefined) return [];
  const [first, count] = drawn.nodes;
  const handles: Handles[number][] = [];
  for (let row = 0; row < count; row++) {
    const at = [...nodes.subarray(3 * (first + row), 3 * (first + row) + 3)] as Vector;
    const kind = (["bound", "part", "free", "mobile"] as const)[kinds[first + row]!]!;
    handles.push({
      id: `node-${row}`,
      position: at,
      colour: row === node ? 0x30d158 : KINDS[kind],
      size: (row === node ? 1.0 : 0.62) * (row === 0 || row === count - 1 ? 1.2 : 1),
      onClick: () => useLines.getState().set({ node: row, part: "nodes" }),
      onDrag: (to, phase) => {
        if (useLines.getState().node !== row) useLines.getState().set({ node: row, part: "nodes" });
        gesture ??= newGesture();
        dragged({ type: "lines.move_node", muscle: told.muscle, line, node: row, to, posed: true, gesture }, phase);
        if (phase === "end") gesture = null;
      },
    });
  }
  const led = node === null ? null : (designed.nodes[node]?.led ?? null);
  if (led !== null && node !== null) {
    led.places.forEach((position, place) => {
      if (place === 1) return; // that is the node itself, at bind
      handles.push({
        id: `extreme-${EXTREMES[place]}`,
        position,
        colour: place === 0 ? 0x4f7cff : 0xff5c8a,
        size: 0.75,
        onClick: () => useLines.getState().set({ extreme: EXTREMES[place]! }),
        onDrag: (to, phase) => {
          gesture ??= newGesture();
          useLines.getState().set({ extreme: EXTREMES[place]! });
          const fields = { muscle: told.muscle, line, node: node!, to, extreme: EXTREMES[place]!, gesture };
          dragged({ type: "lines.move_node", ...fields }, phase);
          if (phase === "end") gesture = null;
        },
      });
    });
  }
  return handles;
}

function setGizmo(viewport: Viewport): void {
  const { shown, part, field, ellipsoid, gizmo, told } = useLines.getState();
  const one = shown?.ellipsoids.find((e) => e.field === field && e.number === ellipsoid);
  if (part !== "fields" || one === undefined || field === null || told === null) {
    viewport.handles.setGizmo(OWNER, null);
    return;
  }
  viewport.handles.setGizmo(OWNER, {
    mode: gizmo,
    space: gizmo === "translate" ? "world" : "local",
    matrix: one.matrix,
    onChange: (matrix, phase) => {
      gesture ??= newGesture();
      const place = new Vector3();
      const turn = new Quaternion();
      const size = new Vector3();
      new Matrix4().fromArray(matrix).transpose().decompose(place, turn, size);
      const change =
        gizmo === "translate"
          ? { centre: place.toArray() as Vector }
          : gizmo === "rotate"
            ? { turn: [turn.x, turn.y, turn.z, turn.w] as [number, number, number, number] }
            : { radii: size.toArray().map((v) => Math.max(Math.abs(v), 0.0005)) as Vector };
      dragged({ type: "fields.place", field, number: ellipsoid, posed: true, gesture, ...change }, phase);
      if (phase === "end") gesture = null;
    },
  });
}
