import { Box3, BufferAttribute, type Material, Mesh, MeshStandardMaterial, WebGPURenderer } from "three/webgpu";
import type { Actor } from "./actor.js";
import { Crowd } from "./crowd.js";
import { requireWebGPU } from "./device.js";
import { EcorcheError } from "./errors.js";
import { type Clip, type Figure, loadFigure } from "./figure.js";
import { Stage } from "./stage.js";

/** What the page shows, for tests and the curious. */
interface Shown {
  readonly figure: Figure;
  crowd: Crowd;
  readonly stage: Stage;
  /** Stands still until told otherwise. */
  paused: boolean;
  /** Shows so many figures. */
  show(count: number): void;
  /** Goes on by some seconds and draws. */
  step(seconds: number): void;
}

declare global {
  interface Window {
    ecorche?: Shown;
  }
}

function element<Kind extends HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

const CLAY = new MeshStandardMaterial({ color: 0xc79b80, roughness: 0.6, metalness: 0 });
const CLOTH = new MeshStandardMaterial({ color: 0x6f7f94, roughness: 0.85, metalness: 0 });
/** Blend of clips takes so long where the first is chosen anew [s]. */
const FADE = 0.4;

async function begin(): Promise<void> {
  const settings: { crowd: number; title: string } = JSON.parse(element("settings").textContent ?? "");
  await requireWebGPU();
  const figure = await loadFigure(bytesOf(element("figure").textContent ?? ""));
  const renderer = new WebGPURenderer({ canvas: element<HTMLCanvasElement>("stage"), antialias: true });
  await renderer.init();
  const stage = new Stage(renderer, boxOf(figure));
  new Page(figure, stage, settings);
}

class Page implements Shown {
  crowd: Crowd;
  /** From the start with `#paused` in the address. */
  paused = location.hash === "#paused";
  #frames = 0;
  #since = performance.now();
  #before = performance.now();

  constructor(
    readonly figure: Figure,
    readonly stage: Stage,
    settings: { crowd: number; title: string },
  ) {
    this.#fill(settings);
    this.crowd = this.#gather(1);
    for (const id of ["first", "second", "blend", "muscles", "tension", "look"]) {
      element(id).addEventListener("input", () => this.#set(id));
    }
    element("count").addEventListener("input", () => this.show(Number(element<HTMLSelectElement>("count").value)));
    element("theme").addEventListener("input", () => this.#dress());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#dress());
    window.addEventListener("resize", () => stage.resize());
    element("panel").hidden = false;
    this.#dress();
    window.ecorche = this;
    stage.renderer.setAnimationLoop(() => {
      const now = performance.now();
      const seconds = Math.min((now - this.#before) / 1000, 0.1);
      this.#before = now;
      if (!this.paused) {
        this.step(seconds * number("speed"));
        this.#measure(now);
      }
    });
  }

  show(count: number): void {
    this.crowd.dispose();
    try {
      this.crowd = this.#gather(count);
    } catch (error) {
      this.#end(error);
    }
  }

  step(seconds: number): void {
    try {
      this.crowd.update(seconds);
      this.#stay();
      this.stage.draw();
    } catch (error) {
      this.#end(error);
    }
  }

  #end(error: unknown): void {
    this.stage.renderer.setAnimationLoop(null);
    say(error);
  }

  /** Figures in a square, each at another moment of a clip, at its own pace. */
  #gather(count: number): Crowd {
    const crowd = new Crowd(this.stage.renderer, this.figure, count);
    crowd.onLost = (error) => this.#end(error);
    const side = Math.ceil(Math.sqrt(count));
    const size = this.stage.box.getSize(this.stage.camera.position.clone());
    const apart = 0.72 * Math.max(size.x, size.y, size.z);
    for (const [n, actor] of crowd.actors.entries()) {
      // rows are shifted, so that nobody hides behind another
      const row = Math.floor(n / side);
      const shifted = count > 1 ? 0.25 - 0.5 * (row % 2) : 0;
      actor.userData["cell"] = [(n % side) - 0.5 * (side - 1) + shifted, row - 0.5 * (side - 1)].map((k) => k * apart);
      if (n > 0) {
        // the golden ratio spreads moments and paces evenly
        const share = (0.618034 * n) % 1;
        actor.mixer.timeScale = 0.85 + 0.3 * ((0.7548777 * n) % 1);
        this.#start(crowd, n, share);
      } else this.#start(crowd, 0, 0);
      actor.traverse((object) => {
        if (object instanceof Mesh) object.castShadow = object.receiveShadow = true;
      });
    }
    this.stage.scene.add(crowd);
    this.crowd = crowd;
    for (const id of ["muscles", "tension", "look"]) this.#set(id);
    if (number("blend") > 0) this.#set("blend");
    this.stage.follow(0, 0);
    this.stage.frame(count > 1 ? 0.55 * (side - 1) * apart : 0);
    return crowd;
  }

  #start(crowd: Crowd, n: number, share: number): void {
    const clips = this.figure.clips;
    const first = clips.indexOf(this.#chosen("first"));
    const clip = clips[(first + n) % clips.length]!;
    crowd.actors[n]!.play(clip).time = share * clip.duration;
  }

  /** One figure walks and the camera goes with it; in a crowd each stays where it is. */
  #stay(): void {
    const many = this.crowd.actors.length > 1;
    for (const actor of this.crowd.actors) {
      const [x, z] = middleOf(actor);
      const [cellX, cellZ] = actor.userData["cell"] as [number, number];
      actor.position.set(many ? cellX - x : 0, 0, many ? cellZ - z : 0);
      if (!many) this.stage.follow(x, z);
    }
  }

  #set(id: string): void {
    const actors = this.crowd.actors;
    if (id === "muscles") for (const actor of actors) actor.gain = number("muscles");
    if (id === "tension") for (const actor of actors) actor.tension = number("tension");
    if (id === "look") this.#look();
    const [first, second] = [this.#chosen("first"), this.#chosen("second")];
    const share = number("blend");
    if (id === "first" && share === 0) for (const actor of actors) actor.play(first, FADE);
    else if (["first", "second", "blend"].includes(id)) for (const actor of actors) actor.blend(first, second, share);
  }

  #look(): void {
    const clay = element<HTMLSelectElement>("look").value === "clay";
    const largest = Math.max(...this.figure.meshes.map((mesh) => mesh.points.length));
    const body = this.figure.meshes.find((mesh) => mesh.points.length === largest)!.name;
    for (const actor of this.crowd.actors) {
      actor.traverse((object) => {
        if (!(object instanceof Mesh)) return;
        const own = (object.userData["own"] ??= object.material) as Material;
        object.material = !clay ? own : object.name === body ? CLAY : CLOTH;
      });
    }
  }

  #chosen(id: "first" | "second"): Clip {
    return this.figure.clips[Number(element<HTMLSelectElement>(id).value)]!;
  }

  #fill({ crowd, title }: { crowd: number; title: string }): void {
    document.querySelector("h1")!.textContent = title;
    for (const id of ["first", "second"]) {
      for (const [n, clip] of this.figure.clips.entries()) {
        element<HTMLSelectElement>(id).add(new Option(clip.name, String(n)));
      }
    }
    element<HTMLSelectElement>("second").selectedIndex = Math.min(1, this.figure.clips.length - 1);
    for (const id of ["second", "blend"]) element(id).parentElement!.hidden = this.figure.clips.length < 2;
    // glTF's own default is bare metal, which shows nothing of a figure without materials
    element("look").parentElement!.hidden = !this.figure.hasMaterials;
    for (const count of new Set([1, crowd])) element<HTMLSelectElement>("count").add(new Option(String(count)));
  }

  #dress(): void {
    const chosen = element<HTMLSelectElement>("theme").value;
    document.documentElement.dataset["theme"] = chosen;
    const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    this.stage.dress(dark);
  }

  #measure(now: number): void {
    this.#frames++;
    if (now - this.#since < 500) return;
    const rate = (1000 * this.#frames) / (now - this.#since);
    const { muscles } = this.figure.carried.payload;
    const actors = this.crowd.actors.length;
    element("rate").textContent = `${rate.toFixed(0)} frames/s, ${actors} × ${muscles} muscles`;
    this.#frames = 0;
    this.#since = now;
  }
}

/** Where an actor is, x and z [m]: the first joint of some skeletons stays behind, so all count. */
function middleOf(actor: Actor): [number, number] {
  let [x, z] = [0, 0];
  for (const joint of actor.joints) {
    x += joint.matrixWorld.elements[12] / actor.joints.length;
    z += joint.matrixWorld.elements[14] / actor.joints.length;
  }
  return [x, z];
}

function number(id: string): number {
  return Number(element<HTMLInputElement>(id).value);
}

function bytesOf(base64: string): ArrayBuffer {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes.buffer;
}

/** Around the figure at bind. */
function boxOf(figure: Figure): Box3 {
  const box = new Box3();
  for (const { primitives } of figure.meshes) {
    const position = primitives[0]!.geometry.getAttribute("position") as BufferAttribute;
    box.union(new Box3().setFromBufferAttribute(position));
  }
  return box;
}

function say(error: unknown): void {
  const ours = error instanceof EcorcheError;
  element("what").textContent = ours ? error.what : "The page could not go on";
  element("remedy").textContent = ours ? `${error.remedy}.` : String(error);
  element("message").dataset["trouble"] = ours ? error.trouble : "unknown";
  element("message").hidden = false;
  element("panel").hidden = true;
  if (!ours) console.error(error);
}

element("again").addEventListener("click", () => location.reload());
begin().catch(say);
