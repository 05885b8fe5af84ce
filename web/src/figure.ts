import {
  type AnimationClip,
  type BufferAttribute,
  type BufferGeometry,
  type Material,
  type Mesh,
  type MeshStandardMaterial,
  type Object3D,
} from "three/webgpu";
import { type GLTF, GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { ActivationCurves } from "./activation.js";
import { type Carried, carriedBy } from "./carried.js";
import { EcorcheError } from "./errors.js";

/** A motion, and how active the muscles are in it. */
export interface Clip {
  readonly name: string;
  readonly duration: number;
  readonly animation: AnimationClip;
  readonly activation: ActivationCurves;
}

/** A part of a mesh that has one material. */
export interface Primitive {
  readonly geometry: BufferGeometry;
  readonly material: Material;
}

/** A mesh as the file has it: which point and which normal of the program each of its vertices shows. */
export interface FigureMesh {
  readonly name: string;
  readonly points: Uint32Array;
  readonly normals: Uint32Array | null;
  readonly primitives: readonly Primitive[];
}

/** A character with muscles, read from a glTF; any number of crowds may play it. */
export interface Figure {
  readonly carried: Carried;
  readonly clips: readonly Clip[];
  readonly muscleNames: readonly string[];
  readonly jointNames: readonly string[];
  readonly meshes: readonly FigureMesh[];
  /** Whether the file says how any of it looks. */
  readonly hasMaterials: boolean;
  /** The joints' nodes under one root; crowds play copies. */
  readonly skeleton: Object3D;
  /** Of each joint, row by row. */
  readonly bindInverse: Float64Array;
  /** The bytes of what is the same in every frame, by name. */
  readonly constants: ReadonlyMap<string, ArrayBuffer>;
}

/** Name under which a joint's number is kept on its node. */
export const JOINT = "ecorcheJoint";

/** Read a .glb, or the text of a .gltf that holds its buffers within. */
export async function loadFigure(data: ArrayBuffer | string): Promise<Figure> {
  // what is of a newer version may look different in any part: it is looked at before all else
  carriedBy(contentOf(data).extras);
  const gltf = await new GLTFLoader().parseAsync(data, "");
  const carried = carriedBy(gltf.parser.json.extras);
  const view = async (number: number): Promise<ArrayBuffer> => gltf.parser.getDependency("bufferView", number);
  const muscles = carried.payload.muscles;
  if (gltf.animations.length !== carried.clips.length) {
    throw new EcorcheError(
      "damaged",
      `This glTF has ${gltf.animations.length} clips, and activations of ${carried.clips.length}`,
      "Export it anew",
    );
  }
  const clips = await Promise.all(
    carried.clips.map(async (clip, number): Promise<Clip> => {
      const animation = gltf.animations[number]!;
      const times = new Float32Array(await view(clip.times), 0, clip.frames);
      const values = new Float32Array(await view(clip.activation), 0, clip.frames * muscles);
      const activation = new ActivationCurves(times, values, muscles);
      return { name: clip.name, duration: animation.duration, animation, activation };
    }),
  );
  const constants = new Map<string, ArrayBuffer>();
  for (const [name, number] of Object.entries(carried.program.constants)) {
    constants.set(name, await view(number));
  }
  // before the joints are parted from them
  const meshes = await meshesOf(gltf, carried, view);
  const { root, names } = await skeletonOf(gltf, carried);
  return {
    carried,
    clips,
    muscleNames: carried.muscles.names,
    jointNames: names,
    meshes,
    hasMaterials: (gltf.parser.json.materials ?? []).length > 0,
    skeleton: root,
    bindInverse: new Float64Array(await view(carried.joints.bind_inverse), 0, 16 * carried.payload.joints),
    constants,
  };
}

/** The JSON of a .glb or .gltf. */
function contentOf(data: ArrayBuffer | string): { extras?: unknown } {
  const refused = (): EcorcheError =>
    new EcorcheError("not-a-figure", "This is no glTF file", "Give a .glb that ecorche export --web has written");
  try {
    if (typeof data === "string") return JSON.parse(data);
    const head = new DataView(data);
    if (head.getUint32(0, true) !== 0x46546c67 || head.getUint32(16, true) !== 0x4e4f534a) throw refused();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(data, 20, head.getUint32(12, true))));
  } catch (error) {
    throw error instanceof EcorcheError ? error : refused();
  }
}

/** The nodes of the joints alone, each with its number. */
async function skeletonOf(gltf: GLTF, carried: Carried): Promise<{ root: Object3D; names: string[] }> {
  const names: string[] = [];
  const nodes = new Set<Object3D>();
  for (const [joint, number] of carried.joints.nodes.entries()) {
    const node: Object3D = await gltf.parser.getDependency("node", number);
    node.userData[JOINT] = joint;
    names.push(gltf.parser.json.nodes[number].name ?? node.name);
    for (let above: Object3D | null = node; above !== null; above = above.parent) nodes.add(above);
  }
  const others: Object3D[] = [];
  gltf.scene.traverse((object) => {
    if (!nodes.has(object)) others.push(object);
  });
  for (const object of others) object.removeFromParent();
  return { root: gltf.scene, names };
}

async function meshesOf(
  gltf: GLTF,
  carried: Carried,
  view: (number: number) => Promise<ArrayBuffer>,
): Promise<FigureMesh[]> {
  return Promise.all(
    carried.meshes.map(async ({ mesh: number, points, normals }): Promise<FigureMesh> => {
      const loaded: Object3D = await gltf.parser.getDependency("mesh", number);
      const primitives: Primitive[] = [];
      loaded.traverse((object) => {
        const { isMesh, geometry, material } = object as Mesh<BufferGeometry, Material>;
        if (isMesh) primitives.push({ geometry, material: shaded(material, normals !== undefined) });
      });
      const count = (primitives[0]!.geometry.getAttribute("position") as BufferAttribute).count;
      return {
        name: gltf.parser.json.meshes[number].name ?? loaded.name,
        points: new Uint32Array(await view(points), 0, count),
        normals: normals === undefined ? null : new Uint32Array(await view(normals), 0, count),
        primitives,
      };
    }),
  );
}

/** three.js shades meshes flat that came without normals; ours have some. */
function shaded(material: Material, smoothly: boolean): Material {
  const standard = material as MeshStandardMaterial;
  if (!smoothly || !standard.flatShading) return material;
  const copy = standard.clone();
  copy.flatShading = false;
  return copy;
}
