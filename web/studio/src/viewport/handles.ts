import {
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Object3D,
  type PerspectiveCamera,
  Plane,
  Raycaster,
  SphereGeometry,
  Vector2,
  Vector3,
} from "three/webgpu";
import { TransformControls } from "three/addons/controls/TransformControls.js";
import type { OrbitControls } from "three/addons/controls/OrbitControls.js";

export type Phase = "move" | "end";

/** A ball that may be clicked and dragged across the view. */
export interface Handle {
  readonly id: string;
  readonly position: readonly [number, number, number];
  readonly colour?: number;
  /** Times the usual size. */
  readonly size?: number;
  /** Where it was dragged to, in the plane through it that faces the camera; `end` once, at the end. */
  readonly onDrag?: (to: [number, number, number], phase: Phase) => void;
  readonly onClick?: () => void;
}

/** What a gizmo moves. */
export interface Gizmo {
  readonly mode: "translate" | "rotate" | "scale";
  readonly space?: "world" | "local";
  /** world_from_thing, row by row. */
  readonly matrix: ArrayLike<number>;
  /** Size in the view, 1 is usual. */
  readonly size?: number;
  readonly onChange: (matrix: Float32Array, phase: Phase) => void;
}

/** Balls and a gizmo that panels put into the view; each panel is an owner of its own. */
export class Handles {
  readonly object = new Group();
  /** Drawn anew when this is called. */
  onChange: () => void = () => undefined;
  readonly #balls = new Map<string, { owner: string; handle: Handle; mesh: Mesh<SphereGeometry, MeshBasicMaterial> }>();
  readonly #geometry = new SphereGeometry(1, 16, 12);
  readonly #ray = new Raycaster();
  readonly #gizmo: TransformControls;
  readonly #moved = new Object3D();
  #owner: string | null = null;
  #told: Gizmo | null = null;
  #dragged: { id: string; plane: Plane; offset: Vector3; moved: boolean } | null = null;

  constructor(
    readonly camera: PerspectiveCamera,
    readonly canvas: HTMLCanvasElement,
    readonly controls: OrbitControls,
  ) {
    this.#gizmo = new TransformControls(camera, canvas);
    this.object.add(this.#gizmo.getHelper(), this.#moved);
    this.#gizmo.addEventListener("dragging-changed", ({ value }) => {
      controls.enabled = value !== true;
      if (value !== true) this.#tell("end");
    });
    this.#gizmo.addEventListener("objectChange", () => this.#tell("move"));
    this.#gizmo.addEventListener("change", () => this.onChange());
  }

  /** Whether the pointer is busy with a handle or the gizmo. */
  get busy(): boolean {
    return this.#dragged !== null || this.#gizmo.dragging || this.#gizmo.axis !== null;
  }

  /** Put an owner's balls in place of those it had; a ball that is being dragged stays in hand. */
  set(owner: string, handles: readonly Handle[]): void {
    const kept = new Set(handles.map(({ id }) => id));
    for (const [id, ball] of this.#balls) {
      if (ball.owner === owner && !kept.has(id)) {
        ball.mesh.material.dispose();
        this.object.remove(ball.mesh);
        this.#balls.delete(id);
      }
    }
    for (const handle of handles) {
      const found = this.#balls.get(handle.id);
      const mesh = found?.mesh ?? new Mesh(this.#geometry, new MeshBasicMaterial({ depthTest: false, transparent: true }));
      mesh.material.color.set(handle.colour ?? 0xffb03a);
      mesh.renderOrder = 30;
      if (this.#dragged?.id !== handle.id) mesh.position.set(...handle.position);
      if (found === undefined) this.object.add(mesh);
      this.#balls.set(handle.id, { owner, handle, mesh });
    }
    this.onChange();
  }

  /** Put a gizmo in place of whatever gizmo there is; null takes the owner's away. */
  setGizmo(owner: string, gizmo: Gizmo | null): void {
    if (gizmo === null) {
      if (this.#owner === owner) {
        this.#gizmo.detach();
        this.#owner = this.#told = null;
      }
      this.onChange();
      return;
    }
    this.#owner = owner;
    this.#told = gizmo;
    if (!this.#gizmo.dragging) {
      const matrix = new Matrix4().fromArray(gizmo.matrix).transpose();
      matrix.decompose(this.#moved.position, this.#moved.quaternion, this.#moved.scale);
      this.#gizmo.setMode(gizmo.mode);
      this.#gizmo.setSpace(gizmo.space ?? "local");
      this.#gizmo.setSize(gizmo.size ?? 0.7);
      this.#gizmo.attach(this.#moved);
    }
    this.onChange();
  }

  /** Take everything of an owner away. */
  clear(owner: string): void {
    this.set(owner, []);
    this.setGizmo(owner, null);
  }

  /** As large in the view from near as from far. */
  beforeDraw(): void {
    for (const { handle, mesh } of this.#balls.values()) {
      const away = mesh.position.distanceTo(this.camera.position);
      mesh.scale.setScalar(0.0065 * away * (handle.size ?? 1));
    }
  }

  /** Where a handle is in the page [CSS pixels of the canvas], for tests and the curious. */
  place(id: string): [number, number] | null {
    const ball = this.#balls.get(id);
    if (ball === undefined) return null;
    const at = ball.mesh.position.clone().project(this.camera);
    return [0.5 * (at.x + 1) * this.canvas.clientWidth, 0.5 * (1 - at.y) * this.canvas.clientHeight];
  }

  get ids(): string[] {
    return [...this.#balls.keys()];
  }

  /** Take hold of a ball under the pointer; whether there is one. */
  down(pointer: Vector2): boolean {
    this.beforeDraw();
    this.object.updateMatrixWorld(true);
    this.#ray.setFromCamera(pointer, this.camera);
    const [hit] = this.#ray.intersectObjects([...this.#balls.values()].map(({ mesh }) => mesh), false);
    if (hit === undefined) return false;
    const [id, ball] = [...this.#balls].find(([, { mesh }]) => mesh === hit.object)!;
    const facing = this.camera.getWorldDirection(new Vector3());
    const plane = new Plane().setFromNormalAndCoplanarPoint(facing, ball.mesh.position);
    const at = this.#ray.ray.intersectPlane(plane, new Vector3()) ?? hit.point;
    this.#dragged = { id, plane, offset: ball.mesh.position.clone().sub(at), moved: false };
    this.controls.enabled = false;
    return true;
  }

  move(pointer: Vector2): void {
    const dragged = this.#dragged;
    const ball = dragged === null ? undefined : this.#balls.get(dragged.id);
    if (dragged === null || ball === undefined || ball.handle.onDrag === undefined) return;
    this.#ray.setFromCamera(pointer, this.camera);
    const at = this.#ray.ray.intersectPlane(dragged.plane, new Vector3());
    if (at === null) return;
    ball.mesh.position.copy(at.add(dragged.offset));
    dragged.moved = true;
    ball.handle.onDrag(ball.mesh.position.toArray(), "move");
    this.onChange();
  }

  up(): void {
    const dragged = this.#dragged;
    if (dragged === null) return;
    this.#dragged = null;
    this.controls.enabled = true;
    const ball = this.#balls.get(dragged.id);
    if (ball === undefined) return;
    if (dragged.moved) ball.handle.onDrag?.(ball.mesh.position.toArray(), "end");
    else ball.handle.onClick?.();
  }

  #tell(phase: Phase): void {
    if (this.#told === null) return;
    this.#moved.updateMatrix();
    this.#told.onChange(new Float32Array(this.#moved.matrix.clone().transpose().elements), phase);
  }
}
