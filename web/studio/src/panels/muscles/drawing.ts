import { BufferAttribute, BufferGeometry, Group, Line, LineBasicMaterial } from "three/webgpu";
import { useEffect, useRef } from "react";
import type { ViewLayer } from "../../viewport/layer.js";
import type { Handle } from "../../viewport/handles.js";
import { theViewport } from "../../studio.js";
import { Drag } from "./latest.js";
import type { Detail, Places } from "./muscle.js";

const OWNER = "muscles";
const ORIGIN = 0x3fae5a;
const INSERTION = 0xe5533d;
const VIA = 0xffb03a;
const OUTWARD = 0x37a7ff;
const WRAP = 0xb06cff;

type Vector = readonly [number, number, number];

/** The line of the muscle that is chosen, and which way it bulges; they shine through all else. */
class MuscleLine implements ViewLayer {
  readonly object = new Group();
  readonly #path = line(0xffe0a0);
  readonly #arrow = line(OUTWARD);

  constructor() {
    this.object.name = "muscle line";
    this.object.add(this.#path, this.#arrow);
  }

  show(path: Float32Array, arrow: readonly Vector[]): void {
    place(this.#path, path);
    place(this.#arrow, Float32Array.from(arrow.flat()));
  }

  dispose(): void {
    for (const one of [this.#path, this.#arrow]) {
      one.geometry.dispose();
      one.material.dispose();
    }
    this.object.clear();
  }
}

function line(color: number): Line<BufferGeometry, LineBasicMaterial> {
  const made = new Line(new BufferGeometry(), new LineBasicMaterial({ color, depthTest: false, transparent: true }));
  made.frustumCulled = false;
  made.renderOrder = 25;
  return made;
}

function place(of: Line<BufferGeometry, LineBasicMaterial>, points: Float32Array): void {
  const held = of.geometry.getAttribute("position") as BufferAttribute | undefined;
  if (held?.array.length === points.length) {
    (held.array as Float32Array).set(points);
    held.needsUpdate = true;
  } else {
    of.geometry.dispose();
    of.geometry = new BufferGeometry();
    of.geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points), 3));
  }
}

/** Handles for every point of the muscle that is chosen, its bulge direction and its wrap, in the view. */
export function useHandles(
  detail: Detail | null,
  places: Places | null,
  chosen: number | null,
  choose: (point: number) => void,
): void {
  const layer = useRef<MuscleLine | null>(null);
  const drags = useRef(new Map<string, Drag>());
  useEffect(() => {
    const viewport = theViewport();
    if (viewport === null) return;
    if (detail === null || places === null) {
      viewport.handles.clear(OWNER);
      if (layer.current !== null) viewport.remove(layer.current);
      layer.current = null;
      return;
    }
    if (layer.current === null) viewport.add((layer.current = new MuscleLine()));
    const { name } = detail;
    const last = places.points.length - 1;
    const drag = (id: string): Drag => {
      const held = drags.current.get(id) ?? new Drag();
      drags.current.set(id, held);
      return held;
    };
    const handles: Handle[] = places.points.map((position, number) => ({
      id: `muscle-point-${number}`,
      position,
      colour: number === 0 ? ORIGIN : number === last ? INSERTION : VIA,
      size: number === chosen ? 1.2 : 0.85,
      onClick: () => choose(number),
      onDrag: (to, phase) => {
        choose(number);
        drag(`${name} ${number}`).edit(phase, "muscle.move_point", { name, number, to });
      },
    }));
    const tip = along(places.belly, places.outward, 1.5 * places.depth + 0.02);
    if (detail.spindle !== null) {
      handles.push({
        id: "muscle-outward",
        position: tip,
        colour: OUTWARD,
        size: 0.75,
        onDrag: (to, phase) => {
          const towards = to.map((value, axis) => value - places.belly[axis]!) as [number, number, number];
          drag(`${name} outward`).edit(phase, "muscle.outward", { name, towards });
        },
      });
    }
    if (places.wrap !== null) {
      handles.push({
        id: "muscle-wrap",
        position: places.wrap,
        colour: WRAP,
        size: 0.85,
        onDrag: (centre, phase) => drag(`${name} wrap`).edit(phase, "muscle.wrap", { name, centre }),
      });
    }
    layer.current.show(places.arrays.line ?? new Float32Array(0), detail.spindle === null ? [] : [places.belly, tip]);
    viewport.handles.set(OWNER, handles);
    viewport.redraw();
  }, [detail, places, chosen, choose]);
  useEffect(
    () => () => {
      const viewport = theViewport();
      viewport?.handles.clear(OWNER);
      if (layer.current !== null) viewport?.remove(layer.current);
      layer.current = null;
    },
    [],
  );
}

function along(from: Vector, way: Vector, far: number): [number, number, number] {
  return [from[0] + far * way[0], from[1] + far * way[1], from[2] + far * way[2]];
}
