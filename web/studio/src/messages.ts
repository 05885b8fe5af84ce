// Written by `python -m ecorche.studio.typescript`: edit src/ecorche/studio/messages instead.

/**
 * Work some muscles by hand while posing; None gives one back to the rig's own source.
 *
 * Attributes:
 *     values: By the muscle's name, 0 to 1.
 */
export interface ActivationSet {
  type: "view.activate";
  values: Record<string, number | null>;
}

/**
 * The rig is another now: by an edit, undo, redo, or a save.
 *
 * Attributes:
 *     revision: Of the rig.
 *     areas: Which parts changed; none for a save.
 *     names: Which muscles or joints, where it is about some.
 *     undo, redo: What these would do now.
 *     dirty: Whether there is anything to save.
 */
export interface DocumentChanged {
  event: "document.changed";
  revision: number;
  areas: string[];
  names: string[];
  undo: string | null;
  redo: string | null;
  dirty: boolean;
}

/** The open file. */
export interface DocumentGet {
  type: "document.get";
}

/** Do it again. */
export interface DocumentRedo {
  type: "document.redo";
}

/** Write the rig to its file. */
export interface DocumentSave {
  type: "document.save";
}

/**
 * The open file.
 *
 * Attributes:
 *     file: The rig's file name within the folder; None for one that was never saved.
 *     character: The character's name.
 *     revision: Goes up with every change.
 *     undo, redo: What these would take back or do again; None for nothing.
 *     dirty: Whether there is anything to save.
 *     height: Of the character [m].
 *     floor: Its lowest point [m].
 *     joints: All joints.
 *     muscles: All muscles, in the order of activations.
 *     clips: Names of the motions that the character brings.
 *     limits: Whether limits of joints are kept.
 *     notes: What was found while reading, a sentence each.
 */
export interface DocumentTold {
  file: string | null;
  character: string;
  revision: number;
  undo: string | null;
  redo: string | null;
  dirty: boolean;
  height: number;
  floor: number;
  joints: JointTold[];
  muscles: MuscleTold[];
  clips: string[];
  limits: boolean;
  notes: string[];
}

/** Take the last step back. */
export interface DocumentUndo {
  type: "document.undo";
}

/**
 * It was done.
 *
 * Attributes:
 *     lines: What was done, a sentence each.
 */
export interface Done {
  lines: string[];
}

/**
 * One moment.
 *
 * Attributes:
 *     revision: Of the rig it shows; another than the scene's asks for a new scene.
 *     time: On the motion's clock [s]; 0 of a pose.
 *     range: Of the coloured values: least and greatest, and their unit.
 *     seconds: What the server took to make it [s].
 */
export interface FrameTold {
  revision: number;
  time: number;
  range: [number, number, string] | null;
  seconds: number;
}

/**
 * A joint of the character.
 *
 * Attributes:
 *     name: The character's own.
 *     canonical: Its H-Anim name; None where it has none.
 *     parent: Number of the joint above; −1 for a root.
 */
export interface JointTold {
  name: string;
  canonical: string | null;
  parent: number;
}

/**
 * A mesh of the character, in the arrays of its scene.
 *
 * Attributes:
 *     name: The mesh's.
 *     body: Whether it is the one over the muscles.
 *     colour: sRGB of its material, 0 to 1.
 *     points: Its part of a frame's points: first and count.
 *     normals: Its part of a frame's normals; none where these follow from the points.
 *     written: Its part of ``source`` and ``places``.
 *     triangles: Its part of ``triangles``, which count its own written vertices.
 */
export interface MeshTold {
  name: string;
  body: boolean;
  colour: [number, number, number];
  points: [number, number];
  normals: [number, number];
  written: [number, number];
  triangles: [number, number];
}

/** A muscle's part of the muscles' vertices: first and count. */
export interface MuscleSurfaceTold {
  name: string;
  points: [number, number];
}

/**
 * A muscle, as lists show it.
 *
 * Attributes:
 *     name: Its own.
 *     kind: Of the template or drawn like one, found in the skin, or a mesh on action lines.
 *     muscle: What it is a part of.
 *     group: What it is one of.
 *     joints: The joints its ends are on.
 */
export interface MuscleTold {
  name: string;
  kind: "named" | "lofted" | "lines";
  muscle: string;
  group: string;
  joints: string[];
}

/**
 * What a ray meets first.
 *
 * Attributes:
 *     kind: What it is; None for nothing.
 *     name: Of the mesh, muscle, bone or joint.
 *     point: Where [m], in the world as posed.
 *     bind: The same point at bind [m].
 *     normal: Of the surface there, in the world.
 *     joint: The joint that it moves with most.
 *     distance: Along the ray [m].
 */
export interface PickTold {
  kind: "skin" | "muscles" | "bones" | "skeleton" | null;
  name: string | null;
  point: [number, number, number] | null;
  bind: [number, number, number] | null;
  normal: [number, number, number] | null;
  joint: string | null;
  distance: number | null;
}

/**
 * The vertex program of this revision, for a page that runs it by itself.
 *
 * Attributes:
 *     revision: Of the rig.
 *     carried: As a glTF of ours carries it, see `ecorche.web.carried`; None where it cannot be played so.
 *     why: What is in the way; None for nothing.
 */
export interface ProgramTold {
  revision: number;
  carried: string | null;
  why: string | null;
}

/**
 * What stays the same until an edit.
 *
 * Attributes:
 *     revision: Of the rig it shows.
 *     meshes: The character's.
 *     muscles: Surfaces of the muscles.
 *     bones: Names of the bones, each with its joint and its part of the bones' vertices: first and count.
 *     has_fat: Whether the rig's body has fat that can be shown.
 */
export interface SceneTold {
  revision: number;
  meshes: MeshTold[];
  muscles: MuscleSurfaceTold[];
  bones: [string, string][];
  has_fat: boolean;
}

/**
 * The pose or the moment of the motion that this page shows.
 *
 * Attributes:
 *     muscles: Whether to give the muscles' surfaces.
 *     plain: Whether to give the skin by skinning alone too.
 *     payload: Give what the vertex program plays in place of points, where it can be played.
 *     colour: What colours on the skin stand for.
 *     of: The muscle or joint whose weights are meant.
 */
export interface ViewFrame {
  type: "view.frame";
  muscles?: boolean;
  plain?: boolean;
  payload?: boolean;
  colour?: "material" | "displacement" | "weights" | "activation";
  of?: string | null;
}

/**
 * What a ray meets first.
 *
 * Attributes:
 *     origin: Of the ray [m].
 *     direction: Of the ray.
 *     layers: What it may meet.
 */
export interface ViewPick {
  type: "view.pick";
  origin: [number, number, number];
  direction: [number, number, number];
  layers: ("skin" | "muscles" | "bones" | "skeleton")[];
}

/** The vertex program. */
export interface ViewProgram {
  type: "view.program";
}

/** Back to bind: the pose, and muscles that were worked by hand. */
export interface ViewRest {
  type: "view.rest";
}

/** What stays the same until an edit. */
export interface ViewScene {
  type: "view.scene";
}

/** What may be asked, and what it is answered with. */
export interface Requests {
  "document.get": { request: DocumentGet; reply: DocumentTold };
  "document.redo": { request: DocumentRedo; reply: Done };
  "document.save": { request: DocumentSave; reply: Done };
  "document.undo": { request: DocumentUndo; reply: Done };
  "view.activate": { request: ActivationSet; reply: Done };
  "view.frame": { request: ViewFrame; reply: FrameTold & { arrays: { points?: Float32Array; normals?: Float32Array; plain?: Float32Array; plain_normals?: Float32Array; muscles?: Float32Array; activation?: Float32Array; joints?: Float32Array; values?: Float32Array; payload?: Float32Array } } };
  "view.pick": { request: ViewPick; reply: PickTold };
  "view.program": { request: ViewProgram; reply: ProgramTold & { arrays: Record<string, Uint8Array> } };
  "view.rest": { request: ViewRest; reply: Done };
  "view.scene": { request: ViewScene; reply: SceneTold & { arrays: { source?: Uint32Array; places?: Uint32Array; triangles?: Uint32Array; muscle_triangles?: Uint32Array; muscle_colours?: Uint8Array; bone_points?: Float32Array; bone_joints?: Uint32Array; bone_triangles?: Uint32Array; bind?: Float32Array; tips?: Float32Array } } };
}

/** What the server tells without being asked. */
export type ServerEvent = DocumentChanged;
