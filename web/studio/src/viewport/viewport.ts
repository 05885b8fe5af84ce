import { Box3, PerspectiveCamera, Scene, Vector2, Vector3, WebGPURenderer } from "three/webgpu";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { PickTold } from "../messages.js";
import { panelOf } from "../panels/outliner/outliner.js";
import { useStudio } from "../store.js";
import { connection, tellRefusal } from "../studio.js";
import { BoneLayer } from "./bones.js";
import { FatLayer } from "./fat.js";
import { SkinOnDevice } from "./gpu.js";
import { Handles } from "./handles.js";
import type { FrameAnswer, SceneAnswer, ViewLayer } from "./layer.js";
import { drawsByProcessor, Pace } from "./pace.js";
import { MuscleLayer } from "./muscles.js";
import { SkeletonLayer } from "./skeleton.js";
import { SkinLayer } from "./skin.js";
import { placeFor, Surroundings } from "./stage.js";

/** The view: one frame is asked for at a time, and the newest wish replaces those that wait. */
export class Viewport {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly handles: Handles;
  readonly skin = new SkinLayer(false);
  readonly plain = new SkinLayer(true);
  readonly muscles = new MuscleLayer();
  readonly fat = new FatLayer();
  readonly layers: ViewLayer[] = [];
  /** A click is offered to these first, the newest before the others; one that returns true has taken it. */
  readonly clicks: ((picked: PickTold) => boolean)[] = [];
  /** Whether one moment follows another: the picture is not at rest between them. */
  playing = false;
  /** Frames drawn with new content, for measuring. */
  shown = 0;
  /** The skin as this page's own device plays it; null while the server's positions are shown. */
  onDevice: SkinOnDevice | null = null;
  readonly #surroundings = new Surroundings();
  #scene: SceneAnswer | null = null;
  #frame: FrameAnswer | null = null;
  #asking = false;
  #again = false;
  #stale = true;
  #framed = false;
  #gone = false;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #pressed: Vector2 | null = null;
  readonly #waiting: (() => void)[] = [];
  readonly #stop: (() => void)[] = [];

  static async open(canvas: HTMLCanvasElement): Promise<Viewport> {
    const byProcessor = drawsByProcessor();
    const renderer = new WebGPURenderer({ canvas, antialias: !byProcessor });
    await renderer.init();
    return new Viewport(renderer, canvas, new Pace(byProcessor, window.devicePixelRatio));
  }

  private constructor(
    readonly renderer: WebGPURenderer,
    readonly canvas: HTMLCanvasElement,
    readonly pace: Pace,
  ) {
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.dampingFactor = 0.2;
    this.handles = new Handles(this.camera, canvas, this.controls);
    this.scene.add(this.#surroundings, this.handles.object);
    for (const layer of [this.skin, this.plain, this.muscles, this.fat, new BoneLayer(), new SkeletonLayer()]) this.add(layer);
    this.controls.addEventListener("change", () => this.redraw());
    this.handles.onChange = () => this.redraw();
    const observer = new ResizeObserver(() => this.#resize());
    observer.observe(canvas);
    this.#stop.push(() => observer.disconnect(), useStudio.subscribe((now, before) => this.#changed(now, before)));
    this.#listen();
    this.#resize();
    renderer.setAnimationLoop(() => this.#draw());
  }

  /** The last scene and frame, for panels. */
  get current(): { scene: SceneAnswer | null; frame: FrameAnswer | null } {
    return { scene: this.#scene, frame: this.#frame };
  }

  /** Let a layer be drawn. */
  add(layer: ViewLayer): void {
    this.layers.push(layer);
    this.scene.add(layer.object);
    if (this.#scene !== null) {
      layer.sceneChanged?.(this.#scene);
      if (this.#frame !== null) layer.frameChanged?.(this.#frame, this.#scene);
    }
    this.redraw();
  }

  /** Take a layer out. */
  remove(layer: ViewLayer): void {
    const at = this.layers.indexOf(layer);
    if (at >= 0) this.layers.splice(at, 1);
    this.scene.remove(layer.object);
    layer.dispose?.();
    this.redraw();
  }

  /** Ask for everything anew. */
  reload(): void {
    this.#scene = null;
    this.refresh();
  }

  /** Ask for a frame of what the server has now; done when one that was asked for since is on the screen. */
  refresh(): Promise<void> {
    const done = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#again = true;
    if (!this.#asking) void this.#ask();
    return done;
  }

  /** Draw what there is once more. */
  redraw(): void {
    this.#stale = true;
  }

  frameAll(direction = this.camera.position.clone().sub(this.controls.target)): void {
    const box = this.#boxOfJoints();
    if (!box.isEmpty()) this.#frameBox(box, direction);
  }

  /** Look at the muscle or joint that is chosen. */
  frameSelected(): void {
    const { selected, document, joints } = useStudio.getState();
    const box = new Box3();
    if (selected?.kind === "muscle") {
      const part = this.#scene?.muscles.find(({ name }) => name === selected.name);
      const points = this.#frame?.arrays.muscles;
      if (part !== undefined && points !== undefined) {
        const [first, count] = part.points;
        for (let n = first; n < first + count; n++) box.expandByPoint(new Vector3().fromArray(points, 3 * n));
      }
    } else if (selected?.kind === "joint" && joints !== null && document !== null) {
      const joint = document.joints.findIndex(({ name }) => name === selected.name);
      if (joint >= 0) {
        const at = new Vector3(joints[16 * joint + 3], joints[16 * joint + 7], joints[16 * joint + 11]);
        box.setFromCenterAndSize(at, new Vector3().setScalar(0.3 * document.height));
      }
    }
    if (box.isEmpty()) this.frameAll();
    else this.#frameBox(box.expandByScalar(0.25 * box.getSize(new Vector3()).length()), this.camera.position.clone().sub(this.controls.target));
  }

  /** Camera and what it looks at, moved alike [m]. */
  moveAlong(x: number, y: number, z: number): void {
    if (x === 0 && y === 0 && z === 0) return;
    const way = new Vector3(x, y, z);
    this.controls.target.add(way);
    this.camera.position.add(way);
    this.redraw();
  }

  look(from: "front" | "side" | "back"): void {
    const directions = { front: new Vector3(0, 0, 1), side: new Vector3(1, 0, 0), back: new Vector3(0, 0, -1) };
    this.frameAll(directions[from]);
  }

  /** The view as a PNG, of as many points as the screen gives it, with smooth edges. */
  async picture(): Promise<Blob> {
    this.renderer.setPixelRatio(this.pace.resting);
    await this.renderer.render(this.scene, this.camera);
    const share = this.pace.full / this.pace.resting;
    const { width, height } = this.canvas;
    const made = new OffscreenCanvas(Math.round(share * width), Math.round(share * height));
    const context = made.getContext("2d")!;
    context.imageSmoothingQuality = "high";
    context.drawImage(this.canvas, 0, 0, made.width, made.height);
    this.redraw();
    return made.convertToBlob();
  }

  dispose(): void {
    this.#gone = true;
    clearTimeout(this.#settling);
    this.#leaveDevice();
    for (const stop of this.#stop) stop();
    this.renderer.setAnimationLoop(null);
    for (const layer of this.layers) layer.dispose?.();
    this.controls.dispose();
    this.renderer.dispose();
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    try {
      while (this.#again && !this.#gone) {
        this.#again = false;
        const done = this.#waiting.splice(0);
        await this.#fetch();
        this.#stale = true;
        requestAnimationFrame(() => done.forEach((call) => call()));
      }
    } catch (error) {
      // a lost connection is told by the bar, and everything is asked anew when it is back
      if (connection.open) tellRefusal(error);
    } finally {
      this.#asking = false;
      this.#waiting.splice(0).forEach((call) => call());
    }
  }

  async #fetch(): Promise<void> {
    const { colour, selected, beside } = useStudio.getState();
    const of = selected?.name ?? null;
    const device = this.onDevice;
    const frame = await connection.request("view.frame", {
      muscles: this.muscles.wanted,
      fat: this.fat.wanted,
      plain: beside,
      payload: device !== null && device.revision === this.#scene?.revision,
      colour: colour === "displacement" || of !== null ? colour : "material",
      of,
    });
    if (this.#scene === null || this.#scene.revision !== frame.revision) {
      const scene = await connection.request("view.scene");
      if (scene.revision !== frame.revision) {
        this.#again = true;
        return;
      }
      this.#scene = scene;
      this.#leaveDevice();
      for (const layer of this.layers) layer.sceneChanged?.(scene);
      this.#settle();
    }
    this.#frame = frame;
    const { payload } = frame.arrays;
    if (payload !== undefined && this.onDevice === null) {
      this.#again = true; // the scene changed meanwhile: positions are needed
      return;
    }
    for (const layer of this.layers) layer.frameChanged?.(frame, this.#scene);
    if (payload !== undefined) this.onDevice!.play(payload);
    const { arrays, ...told } = frame;
    useStudio.getState().set({ frame: told, joints: arrays.joints ?? null, activation: arrays.activation ?? null });
    this.shown++;
    this.#place();
    if (!this.#framed) {
      this.#framed = true;
      this.#dress();
      this.frameAll(new Vector3(0.35, 0.08, 1));
    }
  }

  /** Plain skin stands a pace aside. */
  #place(): void {
    const box = this.#boxOfJoints();
    this.plain.object.position.x = box.isEmpty() ? -1 : box.min.x - box.max.x;
  }

  /** Round all joints, and the flesh about them: what is drawn may be on the device alone. */
  #boxOfJoints(): Box3 {
    const { joints, document } = useStudio.getState();
    const box = new Box3();
    for (let at = 0; joints !== null && at < joints.length; at += 16) {
      box.expandByPoint(new Vector3(joints[at + 3], joints[at + 7], joints[at + 11]));
    }
    return box.isEmpty() ? box : box.expandByScalar(0.07 * (document?.height ?? 1));
  }

  /** Once edits rest, this page plays the skin by itself, where it can. */
  #settle(): void {
    clearTimeout(this.#settling);
    if (!SkinOnDevice.possible(this.renderer)) return;
    this.#settling = setTimeout(() => void this.#toDevice().catch(tellRefusal), 700);
  }

  async #toDevice(): Promise<void> {
    const told = await connection.request("view.program");
    if (this.#gone || told.carried === null || told.revision !== this.#scene?.revision) return;
    const made = new SkinOnDevice(this.renderer, told, this.skin.drawn);
    try {
      await made.taken;
    } catch {
      made.dispose(); // too large for this device: the server's positions go on
      return;
    }
    if (told.revision !== this.#scene?.revision) return made.dispose();
    this.onDevice = made;
    void this.refresh();
  }

  #leaveDevice(): void {
    this.onDevice?.dispose();
    this.onDevice = null;
  }

  #frameBox(box: Box3, direction: Vector3): void {
    const { at, target } = placeFor(box, direction, this.camera);
    this.controls.target.copy(target);
    this.camera.position.copy(at);
    const away = at.distanceTo(target);
    this.camera.near = 0.01 * away;
    this.camera.far = 60 * away;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.redraw();
  }

  #changed(now: ReturnType<typeof useStudio.getState>, before: ReturnType<typeof useStudio.getState>): void {
    const looks = now.layers !== before.layers || now.selected !== before.selected || now.colour !== before.colour || now.alone !== before.alone;
    if (looks || now.beside !== before.beside) {
      for (const layer of this.layers) layer.looksChanged?.();
      this.redraw();
      void this.refresh();
    }
    if (now.theme !== before.theme || now.document?.height !== before.document?.height) this.#dress();
    if (before.document === null && now.document !== null) void this.refresh();
  }

  #dress(): void {
    const { document, theme } = useStudio.getState();
    this.#surroundings.stand(document?.height ?? 1, document?.floor ?? 0, theme === "dark");
    this.scene.background = this.#surroundings.background;
    this.redraw();
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.renderer.setPixelRatio(this.pace.moving);
    this.renderer.setSize(width, height, false);
    this.redraw();
  }

  #draw(): void {
    const { pace, renderer } = this;
    const now = performance.now();
    this.controls.update();
    pace.asked(now);
    const rests = !this.#stale && !this.playing && pace.atRest(now);
    const ratio = rests ? pace.resting : pace.moving;
    if (!this.#stale && (!rests || renderer.getPixelRatio() === ratio)) return;
    this.#stale = false;
    if (renderer.getPixelRatio() !== ratio) renderer.setPixelRatio(ratio);
    this.handles.beforeDraw();
    this.#surroundings.follow(this.camera, this.controls.target);
    renderer.render(this.scene, this.camera);
    if (!rests) pace.drew(now);
  }

  #listen(): void {
    const { canvas } = this;
    const on = <K extends keyof HTMLElementEventMap>(kind: K, call: (event: HTMLElementEventMap[K]) => void): void => {
      canvas.addEventListener(kind, call);
      this.#stop.push(() => canvas.removeEventListener(kind, call));
    };
    on("pointerdown", (event) => {
      if (event.button !== 0) return;
      const pointer = this.#pointer(event);
      this.#pressed = pointer;
      if (this.handles.down(pointer)) {
        this.#pressed = null;
        canvas.setPointerCapture(event.pointerId);
      }
    });
    on("pointermove", (event) => this.handles.move(this.#pointer(event)));
    on("pointerup", (event) => {
      this.handles.up();
      const pressed = this.#pressed;
      this.#pressed = null;
      if (pressed !== null && pressed.distanceTo(this.#pointer(event)) < 0.008 && !this.handles.busy) void this.#click(pressed);
    });
  }

  #pointer(event: PointerEvent): Vector2 {
    const box = this.canvas.getBoundingClientRect();
    return new Vector2(
      (2 * (event.clientX - box.left)) / box.width - 1,
      1 - (2 * (event.clientY - box.top)) / box.height,
    );
  }

  async #click(pointer: Vector2): Promise<void> {
    const origin = this.camera.position.clone();
    const direction = new Vector3(pointer.x, pointer.y, 0.5).unproject(this.camera).sub(origin).normalize();
    const { layers, set } = useStudio.getState();
    // what is behind translucent skin is meant, where anything is
    const through = layers.skin.opacity < 1 && (layers.muscles.shown || layers.bones.shown);
    const shown = (["skin", "muscles", "bones", "skeleton"] as const).filter((name) => layers[name].shown);
    const ask = (some: readonly ("skin" | "muscles" | "bones" | "skeleton")[]): Promise<PickTold> =>
      connection.request("view.pick", { origin: origin.toArray(), direction: direction.toArray(), layers: [...some] });
    try {
      let picked = await ask(through ? shown.filter((name) => name !== "skin") : shown);
      if (picked.kind === null && through) picked = await ask(["skin"]);
      set({ picked });
      for (const call of [...this.clicks].reverse()) if (call(picked)) return;
      if (picked.kind === "muscles") set({ selected: { kind: "muscle", name: picked.name! }, panel: panelOf(picked.name!) });
      else if (picked.kind === "skeleton") set({ selected: { kind: "joint", name: picked.name! }, panel: "joints" });
      else if (picked.kind === null) set({ selected: null });
    } catch (error) {
      tellRefusal(error);
    }
  }
}
