import { useEffect, useRef } from "react";
import { Matrix4, Quaternion, Vector3 } from "three/webgpu";
import type { JointNow } from "../../messages.js";
import { useStudio } from "../../store.js";
import { theViewport } from "../../studio.js";
import { LimitLayer } from "./drawing.js";
import { edited, newGesture, posing, useJoints } from "./state.js";

const OWNER = "joints";

/** Draw the limits of the chosen joint, its corners to drag and its rings, while the panel is open. */
export function useLimitsInView(): void {
  const { now, part, gizmo, corner } = useJoints();
  const joints = useStudio((s) => s.joints);
  const ready = useStudio((s) => s.frame !== null);
  const layer = useRef<LimitLayer | null>(null);
  useEffect(() => {
    const viewport = theViewport();
    if (!ready || viewport === null) return;
    const made = new LimitLayer();
    layer.current = made;
    viewport.add(made);
    const { layers, setLayer } = useStudio.getState();
    const shown = layers.skeleton.shown;
    if (!shown) setLayer("skeleton", { shown: true });
    return () => {
      layer.current = null;
      viewport.remove(made);
      viewport.handles.clear(OWNER);
      if (!shown) setLayer("skeleton", { shown: false });
    };
  }, [ready]);
  useEffect(() => {
    const viewport = theViewport();
    if (viewport === null || layer.current === null) return;
    layer.current.show(now);
    viewport.handles.set(OWNER, part === "limits" && now !== null ? cornersOf(now, corner) : []);
    const turned = now === null || !gizmo || joints === null ? null : part;
    if (turned === "pose") viewport.handles.setGizmo(OWNER, ringsOfPose(now!, joints!));
    else if (turned === "model" && now!.limits !== null) viewport.handles.setGizmo(OWNER, ringsOfFrame(now!));
    else viewport.handles.setGizmo(OWNER, null);
    viewport.redraw();
  }, [now, part, gizmo, corner, joints, ready]);
}

type Viewport = NonNullable<ReturnType<typeof theViewport>>;
type Handles = Parameters<Viewport["handles"]["set"]>[1];
type Gizmo = NonNullable<Parameters<Viewport["handles"]["setGizmo"]>[1]>;

function cornersOf({ joint, limits }: JointNow, chosen: number | null): Handles {
  return (limits?.corners ?? []).map((position, corner) => ({
    id: `corner-${corner}`,
    position,
    colour: corner === chosen ? 0xffffff : 0xffa03a,
    size: corner === chosen ? 0.95 : 0.7,
    onClick: () => useJoints.getState().set({ corner }),
    onDrag: (to, phase) => {
      useJoints.getState().set({ corner });
      edited("joint.corner", { joint, corner, to }, phase);
    },
  }));
}

let gesture: string | null = null;

/** About axes of the world, from where the joint is when they are taken hold of. */
function ringsOfPose({ joint, limits }: JointNow, joints: Float32Array): Gizmo {
  const number = useStudio.getState().document?.joints.findIndex(({ name }) => name === joint) ?? -1;
  const at: readonly number[] = limits?.centre ?? [joints[16 * number + 3]!, joints[16 * number + 7]!, joints[16 * number + 11]!];
  return {
    mode: "rotate",
    space: "world",
    matrix: [1, 0, 0, at[0]!, 0, 1, 0, at[1]!, 0, 0, 1, at[2]!, 0, 0, 0, 1],
    onChange: (matrix, phase) => {
      gesture ??= newGesture();
      posing({ joint, turn: rotationOf(matrix), gesture });
      if (phase === "end") gesture = null;
    },
  };
}

/** About the frame's own axes. */
function ringsOfFrame({ joint, limits }: JointNow): Gizmo {
  const place = new Matrix4().compose(new Vector3(...limits!.centre), new Quaternion(...limits!.frame), new Vector3(1, 1, 1));
  return {
    mode: "rotate",
    space: "local",
    matrix: place.transpose().elements,
    onChange: (matrix, phase) => edited("joint.frame", { joint, frame: rotationOf(matrix) }, phase),
  };
}

function rotationOf(matrix: Float32Array): [number, number, number, number] {
  const turned = new Quaternion().setFromRotationMatrix(new Matrix4().fromArray(matrix).transpose());
  return [turned.x, turned.y, turned.z, turned.w];
}
