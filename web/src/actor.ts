import {
  type AnimationAction,
  AnimationMixer,
  BufferAttribute,
  BufferGeometry,
  Group,
  type Matrix4,
  Mesh,
  type Object3D,
} from "three/webgpu";
import type { Backend } from "./device.js";
import { EcorcheError } from "./errors.js";
import { type Clip, type Figure, JOINT } from "./figure.js";

/** The vertex buffers of one mesh of an actor, and where its vertices begin among those of all meshes. */
export interface ActorMesh {
  readonly name: string;
  readonly position: BufferAttribute;
  readonly normal: BufferAttribute | null;
  readonly firstPoint: number;
  readonly firstNormal: number;
}

/** One figure of a crowd: where it stands, what it does, and how its muscles work. */
export class Actor extends Group {
  /** Moves the joints; its actions may be blended in any way, and the muscles follow their weights. */
  readonly mixer: AnimationMixer;
  /** The joints in the figure's space, in the order of the file. */
  readonly joints: readonly Object3D[];
  readonly parts: readonly ActorMesh[];
  #gain = 1;
  #tension = 0;
  readonly #actions = new Map<Clip, AnimationAction>();
  readonly #fades = new Map<AnimationAction, Fade>();
  readonly #skeleton: Object3D;
  readonly #activation: Float64Array;

  constructor(
    readonly figure: Figure,
    backend: Backend,
  ) {
    super();
    this.#skeleton = figure.skeleton.clone(true);
    const joints: Object3D[] = [];
    this.#skeleton.traverse((node) => {
      const joint: unknown = node.userData[JOINT];
      if (typeof joint === "number") joints[joint] = node;
    });
    this.joints = joints;
    this.mixer = new AnimationMixer(this.#skeleton);
    this.#activation = new Float64Array(figure.carried.payload.muscles);
    this.parts = this.#makeMeshes(backend);
  }

  /** How much of the muscles is shown, 0 to 1: 0 is plain skinning. */
  get gain(): number {
    return this.#gain;
  }

  set gain(share: number) {
    this.#gain = required("gain", share);
  }

  /** Tenses all muscles beyond what the clips say: 0 not at all, 1 wholly. */
  get tension(): number {
    return this.#tension;
  }

  set tension(share: number) {
    this.#tension = required("tension", share);
  }

  /** The action of a clip; its weight counts for joints and muscles alike. It is meant to repeat or run once. */
  action(clip: Clip): AnimationAction {
    let action = this.#actions.get(clip);
    if (action === undefined) {
      action = this.mixer.clipAction(clip.animation);
      this.#actions.set(clip, action);
    }
    return action;
  }

  /**
   * Play a clip at its own pace, faded over from whatever plays, in some seconds. Fades may overlap: each begins
   * where the one before it has come to, and a clip that is still seen goes on from where it is.
   */
  play(clip: Clip, seconds = 0): AnimationAction {
    let others = false;
    for (const [other, action] of this.#actions) {
      if (other === clip) continue;
      if (seconds > 0 && weightOf(action) > 0) {
        this.#fade(action, 0, seconds);
        others = true;
      } else this.#stop(action);
    }
    const action = this.action(clip);
    if (seconds <= 0 || weightOf(action) === 0) action.reset().setEffectiveWeight(others ? 0 : 1);
    action.setEffectiveTimeScale(1).play();
    this.#fade(action, 1, others ? seconds : 0);
    return action;
  }

  /** Bring a weight to another from what it is now, in some seconds. */
  #fade(action: AnimationAction, to: number, seconds: number): void {
    this.#fades.set(action, { from: action.getEffectiveWeight(), to, seconds, passed: 0 });
    if (seconds <= 0) this.#fadeOn(0);
  }

  #fadeOn(seconds: number): void {
    for (const [action, fade] of this.#fades) {
      fade.passed += seconds;
      const share = fade.passed < fade.seconds ? fade.passed / fade.seconds : 1;
      if (share === 1) this.#fades.delete(action);
      if (share === 1 && fade.to === 0) action.stop();
      else action.setEffectiveWeight(fade.from + share * (fade.to - fade.from));
    }
  }

  #stop(action: AnimationAction): void {
    this.#fades.delete(action);
    action.stop();
  }

  /**
   * Play two clips at once, `share` of the second: 0 is the first alone. Both keep the same phase, and take as long
   * as their shares make of their durations: half a walk of 1.2 s and half a run of 0.8 s repeat every second.
   */
  blend(first: Clip, second: Clip, share: number): void {
    if (first === second || share <= 0) return this.#only(new Map([[first, 1]]));
    if (share >= 1) return this.#only(new Map([[second, 1]]));
    this.#only(
      new Map([
        [first, 1 - share],
        [second, share],
      ]),
    );
  }

  #only(weights: ReadonlyMap<Clip, number>): void {
    const phase = this.phase;
    // a clip of one frame is a pose: it has no pace, and leaves others theirs
    let [together, shares] = [0, 0];
    for (const [clip, weight] of weights) {
      together += weight * clip.duration;
      shares += clip.duration > 0 ? weight : 0;
    }
    this.#fades.clear();
    for (const [clip, action] of this.#actions) if (!weights.has(clip)) action.stop();
    for (const [clip, weight] of weights) {
      const action = this.action(clip);
      const running = action.isRunning();
      if (!running) action.reset().play();
      if (!running || weights.size > 1) action.time = phase * clip.duration;
      action.setEffectiveWeight(weight).setEffectiveTimeScale(clip.duration > 0 ? (clip.duration * shares) / together : 1);
    }
  }

  /** How far the clip that plays is, 0 to 1; of several, the one that counts most. */
  get phase(): number {
    let [phase, most] = [0, 0];
    for (const [clip, action] of this.#actions) {
      const weight = clip.duration > 0 ? weightOf(action) : 0;
      if (weight > most) [phase, most] = [action.time / clip.duration, weight];
    }
    return phase;
  }

  /** Muscles' activations now, 0 to 1: of the clips by the weights of their actions, and tension on top. */
  get activation(): Float64Array {
    const active = this.#activation.fill(0);
    let sum = 0;
    for (const action of this.#actions.values()) sum += weightOf(action);
    // as the mixer does it: weights below one leave the rest to the bind, above one they are shares
    const whole = Math.max(sum, 1);
    for (const [clip, action] of this.#actions) {
      const weight = weightOf(action);
      if (weight > 0) clip.activation.addTo(active, action.time, weight / whole);
    }
    for (let muscle = 0; muscle < active.length; muscle++) {
      active[muscle] = 1 - (1 - active[muscle]!) * (1 - this.tension);
    }
    return active;
  }

  /** Go on by some seconds; where the joints are then. */
  pose(seconds: number): readonly Matrix4[] {
    this.#fadeOn(Math.abs(seconds * this.mixer.timeScale));
    this.mixer.update(seconds);
    this.#skeleton.updateMatrixWorld(true);
    return this.joints.map((joint) => joint.matrixWorld);
  }

  /** Frees what is this actor's alone. */
  override dispose(): void {
    this.mixer.stopAllAction();
    this.traverse((object) => {
      if (object instanceof Mesh) (object.geometry as BufferGeometry).dispose();
    });
  }

  #makeMeshes(backend: Backend): ActorMesh[] {
    let firstPoint = 0;
    let firstNormal = 0;
    return this.figure.meshes.map((mesh) => {
      const bind = mesh.primitives[0]!.geometry.getAttribute("position") as BufferAttribute;
      const own = (array: Float32Array): BufferAttribute => {
        const attribute = new BufferAttribute(array, 3);
        backend.createAttribute(attribute);
        return attribute;
      };
      const position = own(Float32Array.from(bind.array));
      const normal = mesh.normals === null ? null : own(new Float32Array(bind.array.length));
      for (const { geometry, material } of mesh.primitives) {
        const shown = new BufferGeometry();
        for (const [name, attribute] of Object.entries(geometry.attributes)) {
          // tangents at bind say nothing of the posed skin; shaders find their own
          if (!/^(position|normal|tangent|skin)/.test(name)) shown.setAttribute(name, attribute);
        }
        shown.setIndex(geometry.getIndex());
        shown.setAttribute("position", position);
        if (normal !== null) shown.setAttribute("normal", normal);
        const object = new Mesh(shown, material);
        object.name = mesh.name;
        // the box of the bind says nothing of where it is
        object.frustumCulled = false;
        this.add(object);
      }
      const part = { name: mesh.name, position, normal, firstPoint, firstNormal };
      firstPoint += mesh.points.length;
      firstNormal += mesh.normals?.length ?? 0;
      return part;
    });
  }
}

/** A weight on its way. */
interface Fade {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
  passed: number;
}

/** A share from 0 to 1; others are refused, for a shader does not look what it is given. */
function required(name: string, share: number): number {
  if (share >= 0 && share <= 1) return share;
  throw new EcorcheError("bad-pose", `The ${name} of a figure is ${share}`, "Give 0 to 1");
}

function weightOf(action: AnimationAction): number {
  return action.isScheduled() && action.enabled ? action.getEffectiveWeight() : 0;
}
