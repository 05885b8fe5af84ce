// Written by `python -m ecorche.studio.typescript`: edit src/ecorche/studio/messages instead.

/**
 * What a muscle does to a joint: from the first to the second of ``degrees`` it works up to
 * ``weight``.
 */
export interface ActionTold {
  joint: string;
  degrees: [number, number];
  weight: number;
}

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

/** Add a spindle between two points. */
export interface AddBetween {
  gesture?: string | null;
  type: "muscle.add_between";
  name: string;
  origin: EndGiven;
  insertion: EndGiven;
}

/** Add muscles of the anatomical template, fitted to this character. */
export interface AddFromTemplate {
  gesture?: string | null;
  type: "muscle.add_template";
  names: string[];
}

/**
 * Add a muscle from a surface, as a mesh on action lines.
 *
 * Attributes:
 *     file: Its name, which says its format: .stl, .obj or .ply; the muscle is called after it.
 *     data: What it holds, base64.
 */
export interface AddMesh {
  gesture?: string | null;
  type: "muscle.add_mesh";
  file: string;
  data: string;
}

/** Put a via point half-way after a point. */
export interface AddVia {
  gesture?: string | null;
  type: "muscle.add_via";
  name: string;
  after: number;
}

/** How much of its joint's swing and twist a bound node follows. */
export interface AdherenceSet {
  gesture?: string | null;
  type: "lines.adherence";
  muscle: string;
  line: number;
  node: number;
  swing: number;
  twist: number;
  axis?: [number, number, number] | null;
  relative_to?: string | null;
}

/**
 * How far what swings is computed.
 *
 * Attributes:
 *     computed: Frames that there are, from the first on.
 *     possible: Frames that there will be.
 *     share: How much of the work is done, 0 to 1.
 *     lines: What is unusual, a sentence each.
 */
export interface AheadTold {
  computed: number;
  possible: number;
  share: number;
  lines: string[];
}

/**
 * One of a joint's own angles [degrees].
 *
 * Attributes:
 *     name: As its model calls it.
 *     degrees: What it is now.
 *     low, high: Its range at the joint's other angles.
 */
export interface AngleTold {
  name: string;
  degrees: number;
  low: number;
  high: number;
}

/**
 * The range of an angle as an arc in the world [m].
 *
 * Attributes:
 *     angle: Its name.
 *     low, high, now: In degrees.
 *     centre: Of the arc.
 *     points: From the lowest to the highest angle.
 *     zero, needle: Where the angle is zero, and where it is now.
 *     beyond: Whether it is beyond its range.
 */
export interface ArcTold {
  angle: string;
  low: number;
  high: number;
  now: number;
  centre: [number, number, number];
  points: [number, number, number][];
  zero: [number, number, number];
  needle: [number, number, number];
  beyond: boolean;
}

/** A muscle at one length: share of that at bind, volume [m³], half-axes of the thickest section [m]. */
export interface AtLengthTold {
  share: number;
  volume: number;
  half_axes: [number, number];
  held: boolean;
}

/** A limb that points in a direction and twists about itself. */
export interface BallAndSocketSpec {
  model: "ball_and_socket";
  anatomical_frame: [number, number, number, number];
  canonical_offset: [number, number, number, number];
  limits: BallLimits;
}

/** The directions a limb may point in, and how far it may twist in each. */
export interface BallLimits {
  polygon: [number, number, number][];
  twist_keys: [number, number, number, number][];
}

/** How the skin follows what lies beneath; None keeps what it says. */
export interface BodyCouple {
  gesture?: string | null;
  type: "body.couple";
  everywhere?: "plain" | "muscles" | "height_field" | "fascia" | null;
  intensity?: number | null;
  stiffness?: number | null;
  slide?: number | null;
  contact?: boolean | null;
}

/** What the rig says about the whole body. */
export interface BodyGet {
  type: "body.get";
}

/** How muscles and skin jiggle as springs; None keeps what it says. */
export interface BodySprings {
  gesture?: string | null;
  type: "body.springs";
  realtime?: boolean | null;
  muscularity?: number | null;
  intensity?: number | null;
}

/**
 * What the rig says about the whole body.
 *
 * Attributes:
 *     bulk: How thick muscles are, as modelled 1.
 *     fat: How fat it is, as modelled 0.
 *     coupling: How the skin follows what lies beneath.
 *     regions: The same by region or joint, where it is another.
 *     intensity: How much of a height field or fascia is shown; None where it is painted.
 *     stiffness: How strongly it is smoothed; None where it is painted.
 *     slide: How freely skin slides along itself; None where it is painted.
 *     contact: Whether skin gives way to skin.
 *     realtime: Whether springs are made for real time.
 *     muscularity: Of springs: how thick muscles are.
 *     swing: Of springs: how much of their motion is shown.
 *     has_lines: Whether there are muscles that are meshes, which may oscillate.
 *     skinning: The skinning method the rig names; None for the file's own.
 */
export interface BodyTold {
  bulk: number;
  fat: number;
  coupling: "plain" | "muscles" | "height_field" | "fascia";
  regions: ([string, "plain" | "muscles" | "height_field" | "fascia"])[];
  intensity: number | null;
  stiffness: number | null;
  slide: number | null;
  contact: boolean;
  realtime: boolean;
  muscularity: number;
  swing: number;
  has_lines: boolean;
  skinning: string | null;
}

/** More or less muscular, leaner or heavier; None keeps what it says. */
export interface BodyType {
  gesture?: string | null;
  type: "body.type";
  bulk?: number | null;
  fat?: number | null;
}

/**
 * A joint that a motion takes beyond its limits.
 *
 * Attributes:
 *     joint: Its name.
 *     spans: First and last time of each stretch [s].
 *     worst: By how far at worst [degrees].
 *     at: When [s].
 */
export interface BrokenTold {
  joint: string;
  spans: [number, number][];
  worst: number;
  at: number;
}

/** Names to choose from. */
export interface ChoicesTold {
  names: string[];
}

/** Take its curve from a muscle or group. */
export interface CurveFree {
  gesture?: string | null;
  name: string;
  type: "motion.free";
}

/**
 * How active a muscle or a group is.
 *
 * Attributes:
 *     name: Of the muscle or group.
 *     samples: How many moments to tell, evenly over the motion.
 */
export interface CurveGet {
  type: "motion.curve";
  name: string;
  samples?: number;
}

/** Give a muscle or group a curve: as few keys as follow its activation. */
export interface CurveKey {
  gesture?: string | null;
  name: string;
  type: "motion.key";
}

/**
 * More or less of the same.
 *
 * Attributes:
 *     gain: So many times.
 *     seconds: And so much later [s]; earlier below 0.
 */
export interface CurveScale {
  gesture?: string | null;
  name: string;
  type: "motion.scale";
  gain?: number;
  seconds?: number;
}

/**
 * At least so active for a while, eased in and out.
 *
 * Attributes:
 *     begin: From when [s].
 *     end: To when [s].
 *     level: Activation, 0 to 1.
 *     ease: Over how long [s].
 */
export interface CurveTense {
  gesture?: string | null;
  name: string;
  type: "motion.tense";
  begin: number;
  end: number;
  level: number;
  ease?: number;
}

/**
 * How active a muscle is through the motion.
 *
 * Attributes:
 *     name: Of the muscle or group.
 *     keyed: Whether it has a curve; else its keys are what they would be.
 *     times: Of the keys [s].
 *     values: Of the keys, 0 to 1.
 *     by: The group or muscle whose curve it follows, where it has none of its own.
 */
export interface CurveTold {
  name: string;
  keyed: boolean;
  times: number[];
  values: number[];
  by: string | null;
}

/**
 * Take curves from a file in the rig's folder, in place of those there are.
 *
 * Attributes:
 *     file: Its name: .csv, or .sto of OpenSim.
 */
export interface CurvesOpen {
  type: "motion.open_curves";
  file: string;
}

/**
 * Write the curves to a file in the rig's folder, as `ecorche activation` does.
 *
 * Attributes:
 *     file: Its name: .csv, or .sto for OpenSim.
 */
export interface CurvesSave {
  type: "motion.save_curves";
  file: string;
}

/**
 * Put curves in place of those there are: a page that was cut off has kept its own.
 *
 * Attributes:
 *     curves: Times [s] and activations of keys, by muscle or group.
 */
export interface CurvesSet {
  type: "motion.set_curves";
  curves: Record<string, [number, number][]>;
}

/**
 * Take back the last change of curves, or do it again.
 *
 * Attributes:
 *     redo: Whether to do it again.
 */
export interface CurvesUndo {
  type: "motion.undo";
  redo?: boolean;
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

/** A muscle a second time. */
export interface Duplicate {
  gesture?: string | null;
  type: "muscle.duplicate";
  name: string;
}

/** One more ellipsoid in a field, like one that it has, beside it. */
export interface EllipsoidAdd {
  gesture?: string | null;
  type: "fields.add_ellipsoid";
  field: string;
  like?: number;
}

/** One ellipsoid of a field fewer. */
export interface EllipsoidRemove {
  gesture?: string | null;
  type: "fields.remove_ellipsoid";
  field: string;
  number: number;
}

/** An ellipsoid of a field at bind: carried by a joint, or by a place on an elastic muscle's line. */
export interface EllipsoidTold {
  joint: string | null;
  on_line: [string, number, number] | null;
  centre: [number, number, number];
  turn: [number, number, number, number];
  radii: [number, number, number];
}

/** A clicked point: at bind [m], and the joint it moves with; None is the one that carries the skin. */
export interface EndGiven {
  place: [number, number, number];
  joint: string | null;
}

/**
 * A file that can be opened.
 *
 * Attributes:
 *     name: Within the folder.
 *     kind: What it is.
 *     size: Bytes.
 *     changed: When, in seconds since 1970.
 */
export interface EntryTold {
  name: string;
  kind: "rig" | "character" | "motion" | "pose" | "curves" | "mesh" | "mask";
  size: number;
  changed: number;
}

/**
 * The fat that can move, region by region.
 *
 * Attributes:
 *     revision: Of the rig.
 *     regions: Their names.
 *     notes: What was left out and why, a sentence each.
 */
export interface FatTold {
  revision: number;
  regions: string[];
  notes: string[];
}

/** A new field of one ellipsoid, which acts on a line; None places it on the line's middle. */
export interface FieldAdd {
  gesture?: string | null;
  type: "fields.add";
  name: string;
  muscle: string;
  line: number;
  joint?: string | null;
  centre?: [number, number, number] | null;
  radius?: number | null;
  kind?: "attract" | "repel";
}

/** How a field acts; what is not given stays. */
export interface FieldChange {
  gesture?: string | null;
  type: "fields.change";
  field: string;
  kind?: "attract" | "repel";
  mode?: "orthogonal" | "radial";
  strength?: number;
  reach?: number | null;
  rounding?: number;
  blend?: number;
}

/** A field removed, from all lines it acts on. */
export interface FieldRemove {
  gesture?: string | null;
  type: "fields.remove";
  field: string;
}

/** A field: how it acts, its ellipsoids, and on how many lines it acts. */
export interface FieldTold {
  name: string;
  kind: "attract" | "repel";
  mode: "orthogonal" | "radial";
  strength: number;
  reach: number | null;
  rounding: number;
  blend: number;
  ellipsoids: EllipsoidTold[];
  acts_on: number;
}

/** Something of `FilesTold` is another now. */
export interface FilesChanged {
  event: "files.changed";
}

/**
 * Remove work that was not saved.
 *
 * Attributes:
 *     recovery: Which one.
 */
export interface FilesDiscard {
  type: "files.discard";
  recovery: string;
}

/**
 * Somebody else changed the open file.
 *
 * Attributes:
 *     number: Of the page that did.
 *     did: What it did.
 */
export interface FilesEdited {
  event: "files.edited";
  number: number;
  did: string;
}

/** Open the built-in figure. */
export interface FilesFigure {
  type: "files.figure";
}

/** The folder, and how the open file stands in it. */
export interface FilesGet {
  type: "files.get";
}

/**
 * Make a rig for a character; nothing is written before it is saved.
 *
 * Attributes:
 *     character: The character's file.
 *     muscles: Where they come from.
 *     name: The rig's file; None takes the proposed one.
 */
export interface FilesMake {
  type: "files.make";
  character: string;
  muscles?: "none" | "template" | "extract" | "template+extract";
  name?: string | null;
}

/**
 * Open a rig or a character in this page.
 *
 * Attributes:
 *     name: Within the folder.
 */
export interface FilesOpen {
  type: "files.open";
  name: string;
}

/**
 * Fit a rig to its character as it is now; nothing is written before it is saved.
 *
 * Attributes:
 *     name: The rig's file.
 *     character: The character's file; None is the one that the rig names.
 */
export interface FilesRebind {
  type: "files.rebind";
  name: string;
  character?: string | null;
}

/**
 * Go on with work that was not saved.
 *
 * Attributes:
 *     recovery: Which one.
 */
export interface FilesRecover {
  type: "files.recover";
  recovery: string;
}

/** Take the rig as it is on disk; what was not saved can be had back by undo. */
export interface FilesReload {
  type: "files.reload";
}

/**
 * Write the open rig.
 *
 * Attributes:
 *     name: The file; None is its own.
 *     over: The version on disk that may be replaced, of those that somebody else wrote.
 */
export interface FilesSave {
  type: "files.save";
  name?: string | null;
  over?: string | null;
}

/**
 * The folder, and how the open file stands in it.
 *
 * Attributes:
 *     folder: Its name.
 *     entries: What can be opened.
 *     cut_short: Whether there is more.
 *     open: Name of the open rig, or the one proposed for it; None where nothing is open.
 *     saved: Whether that file was ever written.
 *     dirty: Whether there is anything to save.
 *     kept: When unsaved work was kept last, in seconds since 1970; None where there is none.
 *     changed_on_disk: Whether somebody else has written the file since.
 *     elsewhere: Whether another studio has unsaved work on the same file.
 *     without_rig: The character, where this page opened one without a rig.
 *     moved: The rig, where what this page wanted to open does not fit its character.
 *     failed: Why what this page wanted to open is not.
 *     recoveries: Of the open rig, or of all rigs of the folder where nothing is open.
 *     unsaved: Files that are open in some page and hold work that is not saved.
 *     trouble: Why unsaved work cannot be kept.
 *     people: Who has the file open.
 */
export interface FilesTold {
  folder: string;
  entries: EntryTold[];
  cut_short: boolean;
  open: string | null;
  saved: boolean;
  dirty: boolean;
  kept: number | null;
  changed_on_disk: boolean;
  elsewhere: boolean;
  without_rig: WithoutRigTold | null;
  moved: MovedTold | null;
  failed: TroubleTold | null;
  recoveries: RecoveryTold[];
  unsaved: string[];
  trouble: TroubleTold | null;
  people: PersonTold[];
}

/**
 * Find the muscles that show in the skin, in some regions or (None) everywhere, beside those there
 * are.
 */
export interface FindMuscles {
  gesture?: string | null;
  type: "muscle.find";
  regions?: string[] | null;
}

/** Let elastic lines come to rest anew, from bind. */
export interface ForgetRest {
  type: "lines.anew";
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

/** What leads a mobile node; None keeps what it is. */
export interface FreedomSet {
  gesture?: string | null;
  type: "lines.freedom";
  muscle: string;
  line: number;
  node: number;
  led_by?: string | null;
  kind?: "angle" | "twist" | "swing_x" | "swing_y" | null;
  axis?: [number, number, number] | null;
  degrees?: [number, number, number] | null;
  shape?: "linear" | "parabolic" | null;
}

/**
 * The first thing that a page is told.
 *
 * Attributes:
 *     resumed: Whether the server still knows this page, and what it asked before.
 *     open: Whether a file is open.
 *     file: Its name in the folder; None where the page cannot ask for it by a name.
 *     number: Of this page.
 */
export interface Hello {
  event: "files.hello";
  resumed: boolean;
  open: boolean;
  file: string | null;
  number: number;
}

/** How far a hinge bends [degrees]. */
export interface HingeLimits {
  range: [number, number];
  play: number;
}

/** One more corner, in the middle of the side that begins at a corner. */
export interface JointAddCorner {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.add_corner";
  side: number;
}

/** An axis of the frame along a segment. */
export interface JointAlign {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.align";
  axis: "x" | "y" | "z" | "-x" | "-y" | "-z";
  segment: "parent" | "child";
}

/**
 * A corner of the polygon elsewhere.
 *
 * Attributes:
 *     corner: Its number.
 *     to: Towards a point of the world [m]; or
 *     swing: about x and y [degrees].
 */
export interface JointCorner {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.corner";
  corner: number;
  to?: [number, number, number] | null;
  swing?: [number, number] | null;
}

/** Another anatomical frame, as it lies in the world in what is shown, xyzw. */
export interface JointFrame {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.frame";
  frame: [number, number, number, number];
}

/** How a joint stands. */
export interface JointGet {
  type: "joint.get";
  joint: string;
}

/** The joint's model to the joint on the other side. */
export interface JointMirror {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.mirror";
}

/**
 * How a joint stands in what the page shows.
 *
 * Attributes:
 *     joint: Its name.
 *     canonical: Its H-Anim name; None where it has none.
 *     partner: The joint on the other side; None in the middle.
 *     origin: Whether its model is the rig's own or a human's; None without a model.
 *     values: The model as the rig file holds it.
 *     offset: The canonical offset as turns about left, up and forward [degrees].
 *     swings: Corners of the polygon as swings about x and y [degrees].
 *     angles: Its own angles.
 *     turns: Its rotation as turns about left, up and forward, from the standing pose [degrees].
 *     beyond: How far it is beyond its limits [degrees].
 *     limits: What to draw of them; None without a model.
 */
export interface JointNow {
  joint: string;
  canonical: string | null;
  partner: string | null;
  origin: "rig" | "human" | null;
  values: RevoluteSpec | KneeSpec | SwingSpec | BallAndSocketSpec | null;
  offset: [number, number, number] | null;
  swings: [number, number][];
  angles: AngleTold[];
  turns: [number, number, number];
  beyond: number;
  limits: LimitsTold | null;
}

/**
 * Another canonical pose.
 *
 * Attributes:
 *     turns: About left, up and forward [degrees]; None takes what is shown.
 *     carry: Whether the frame turns along.
 */
export interface JointOffset {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.offset";
  turns?: [number, number, number] | null;
  carry?: boolean;
}

/**
 * A model copied from a joint.
 *
 * Attributes:
 *     model: The copy.
 *     limits_only: Keep the joint's own frame and offset.
 *     mirror: Take the mirror image.
 */
export interface JointPaste {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.paste";
  model: RevoluteSpec | KneeSpec | SwingSpec | BallAndSocketSpec;
  limits_only?: boolean;
  mirror?: boolean;
}

/**
 * Turn a joint, by one of the three; the limb stops at its limits, if they are kept.
 *
 * Attributes:
 *     joint: Its name.
 *     angles: Some of its own angles [degrees].
 *     turns: About left, up and forward, from the standing pose [degrees].
 *     turn: About axes of the world, xyzw, from where it was when the gesture began.
 *     limits: Whether they are kept.
 *     gesture: All turns of one gesture begin at the same pose.
 */
export interface JointPose {
  type: "joint.pose";
  joint: string;
  angles?: Record<string, number> | null;
  turns?: [number, number, number] | null;
  turn?: [number, number, number, number] | null;
  limits?: boolean;
  gesture?: string | null;
}

/** Other ranges and angles of the limits [degrees]: two numbers for a range, one for an angle. */
export interface JointRanges {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.ranges";
  values: Record<string, [number, number] | number>;
}

/** One corner less. */
export interface JointRemoveCorner {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.remove_corner";
  corner: number;
}

/** No model of its own any more: a human's, where it is known by name. */
export interface JointReset {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.reset";
}

/** One joint, or all below it too, back to bind. */
export interface JointRest {
  type: "joint.rest";
  joint: string;
  below?: boolean;
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
 * How the joint stands now.
 *
 * Attributes:
 *     now: The joint.
 *     held: By how far it was held back at its limits [degrees]; zero where it was not.
 *     lines: What was done, a sentence each.
 */
export interface JointTurned {
  now: JointNow;
  held: number;
  lines: string[];
}

/**
 * A key of the twist: swing x, swing y, lowest and highest twist [degrees].
 *
 * Attributes:
 *     key: Its number; None for one more.
 *     values: None takes it away.
 */
export interface JointTwistKey {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.twist_key";
  key: number | null;
  values: [number, number, number, number] | null;
}

/** Another type; frame and limits are kept as far as it can hold them. */
export interface JointType {
  gesture?: string | null;
  joint: string;
  preview?: boolean;
  type: "joint.type";
  model: "revolute" | "knee" | "swing" | "ball_and_socket";
}

/**
 * Add a key; a muscle without a curve gets one first.
 *
 * Attributes:
 *     time: When [s].
 *     value: Activation, 0 to 1.
 */
export interface KeyAdd {
  gesture?: string | null;
  name: string;
  type: "motion.add_key";
  time: number;
  value: number;
}

/**
 * Delete a key.
 *
 * Attributes:
 *     key: Which.
 */
export interface KeyDelete {
  gesture?: string | null;
  name: string;
  type: "motion.delete_key";
  key: number;
}

/**
 * Move a key; it stays between its neighbours.
 *
 * Attributes:
 *     key: Which.
 *     time: Where to [s].
 *     value: Activation, 0 to 1.
 */
export interface KeyMove {
  gesture?: string | null;
  name: string;
  type: "motion.move_key";
  key: number;
  time: number;
  value: number;
}

/** How far a knee bends, and how far it twists when bent [degrees]. */
export interface KneeLimits {
  flexion: [number, number];
  twist: [number, number];
  narrowing: number;
  play: number;
}

/** A hinge that also twists when bent. */
export interface KneeSpec {
  model: "knee";
  anatomical_frame: [number, number, number, number];
  canonical_offset: [number, number, number, number];
  limits: KneeLimits;
}

/**
 * What leads a mobile node.
 *
 * Attributes:
 *     joint, kind: A degree of freedom of a joint.
 *     axis: What the joint turns about, in world axes at bind.
 *     degrees: The lowest, resting and highest angle, from bind.
 *     places: The node's at those [m].
 *     shape: How it goes from place to place.
 */
export interface LedTold {
  joint: string;
  kind: "angle" | "twist" | "swing_x" | "swing_y";
  axis: [number, number, number];
  degrees: [number, number, number];
  places: [[number, number, number], [number, number, number], [number, number, number]];
  shape: "linear" | "parabolic";
}

/**
 * Where limits are broken, the worst joint first.
 *
 * Attributes:
 *     motion: The motion's name; None where a pose was judged.
 *     judged: How many joints have limits.
 *     rows: The joints beyond them.
 */
export interface LimitsBroken {
  motion: string | null;
  judged: number;
  rows: BrokenTold[];
}

/** Where the motion that is loaded, or the pose where none is, breaks limits. */
export interface LimitsCheck {
  type: "limits.check";
}

/** Whether motion is kept within the limits, in bakes too. */
export interface LimitsKeep {
  gesture?: string | null;
  type: "limits.keep";
  kept: boolean;
}

/**
 * What to draw of a joint's limits in the world [m].
 *
 * Attributes:
 *     centre: The joint.
 *     radius: Of the sphere of directions.
 *     frame: The anatomical frame, xyzw.
 *     canonical, limb: Where the limb points in the canonical pose and now, unit directions.
 *     inside: Whether it may point there.
 *     corners: Of the polygon on the sphere; none for hinges.
 *     border: Its sides, closed.
 *     bend, twist: Arcs of the angles that have one.
 */
export interface LimitsTold {
  centre: [number, number, number];
  radius: number;
  frame: [number, number, number, number];
  canonical: [number, number, number];
  limb: [number, number, number];
  inside: boolean;
  corners: [number, number, number][];
  border: [number, number, number][];
  bend: ArcTold | null;
  twist: ArcTold | null;
}

/** One more line beside one that the muscle has. */
export interface LineAdd {
  gesture?: string | null;
  type: "lines.add";
  muscle: string;
  like?: number;
}

/** What a line says beside its nodes; what is not given stays. */
export interface LineChange {
  gesture?: string | null;
  type: "lines.change";
  muscle: string;
  line: number;
  tendon?: boolean[];
  references?: [string, string] | null;
  blend?: number | null;
  outward?: [number, number, number] | null;
  curved?: boolean;
  flesh?: number;
  isometric?: [number, number][];
}

/** What acts on a line. */
export interface LineFieldsSet {
  gesture?: string | null;
  type: "lines.fields";
  muscle: string;
  line: number;
  fields: string[];
}

/** One line fewer. */
export interface LineRemove {
  gesture?: string | null;
  type: "lines.remove";
  muscle: string;
  line: number;
}

/**
 * A line of a muscle.
 *
 * Attributes:
 *     nodes: From origin to insertion.
 *     segments: How many of the origin's tendon, of the belly, of the insertion's tendon.
 *     tendon: Whether each segment is tendon.
 *     fields: What acts on it.
 *     references: Joints that carry the directions of both ends; None is those the ends are on.
 *     blend: The insertion's share in the directions between; None is the share of the way.
 *     outward: Where the muscle bulges, in world axes at bind; None is any direction.
 *     curved: A smooth curve, else a polyline.
 *     flesh: How thick the muscle is between the line and bones [m].
 *     own_isometric: Whether its isometric scales are its own, not those of the largest bulge.
 *     region: Share of the mesh that it moves.
 */
export interface LineTold {
  nodes: NodeTold[];
  segments: [number, number, number];
  tendon: boolean[];
  fields: string[];
  references: [string, string] | null;
  blend: number | null;
  outward: [number, number, number] | null;
  curved: boolean;
  flesh: number;
  own_isometric: boolean;
  region: number | null;
}

/** The lines of a muscle in numbers. */
export interface LinesGet {
  type: "lines.get";
  muscle: string;
}

/** A muscle on the other side too; ``instead`` lets it take the place of one of that name. */
export interface LinesMirror {
  gesture?: string | null;
  type: "lines.mirror";
  muscle: string;
  name?: string | null;
  instead?: boolean;
}

/**
 * Lines in the pose that the page shows.
 *
 * Attributes:
 *     muscle: The one that is chosen; None for none.
 *     trial: An edit that is tried on it, such as while a node is dragged: nothing but the picture changes.
 */
export interface LinesShow {
  type: "lines.show";
  muscle?: string | null;
  trial?: MoveNode | PlaceEllipsoid | null;
}

/**
 * Lines in the pose that the page shows.
 *
 * Attributes:
 *     lines: Those of all muscles, or of what a trial changes.
 *     ellipsoids: Of the fields of the chosen muscle's lines, or of all.
 *     mesh_lines: How many lines the chosen muscle's mesh follows.
 *     trial: Whether it shows an edit that is only tried.
 *     seconds: What the server took [s].
 */
export interface LinesShown {
  lines: ShownLineTold[];
  ellipsoids: ShownEllipsoidTold[];
  mesh_lines: number;
  trial: boolean;
  seconds: number;
}

/**
 * A muscle on action lines.
 *
 * Attributes:
 *     revision: Of the rig.
 *     muscle: Its name.
 *     path: How its lines find their way.
 *     lines: Its lines.
 *     fields: Those that act on them.
 *     other_fields: Names of all others.
 *     joints: Names of joints that may carry nodes, shoulder blades of the rig included.
 *     left_out: Why it cannot be compiled; None where it can.
 *     notes: What a person should know about it.
 *     image: What its mirror image is called; None where its name tells no side.
 */
export interface LinesTold {
  revision: number;
  muscle: string;
  path: PathTold;
  lines: LineTold[];
  fields: FieldTold[];
  other_fields: string[];
  joints: string[];
  left_out: string | null;
  notes: string[];
  image: string | null;
}

/** What was done, a sentence each, and the muscles that are new or renamed. */
export interface MadeMuscles {
  lines: string[];
  names: string[];
}

/**
 * A mesh of the character, in the arrays of its scene.
 *
 * Attributes:
 *     name: The mesh's.
 *     body: Whether it is the one over the muscles.
 *     solid: Whether it is fixed to joints, as bones are: it stays opaque under translucent skin.
 *     colour: sRGB of its material, 0 to 1.
 *     points: Its part of a frame's points: first and count.
 *     normals: Its part of a frame's normals; none where these follow from the points.
 *     written: Its part of ``source`` and ``places``.
 *     triangles: Its part of ``triangles``, which count its own written vertices.
 */
export interface MeshTold {
  name: string;
  body: boolean;
  solid: boolean;
  colour: [number, number, number];
  points: [number, number];
  normals: [number, number];
  written: [number, number];
  triangles: [number, number];
}

/** Put muscles on the other side as they are on theirs: some by name, or all of a side. */
export interface Mirror {
  gesture?: string | null;
  type: "muscle.mirror";
  names?: string[];
  side?: "left" | "right" | null;
}

/**
 * Compute a little of what swings.
 *
 * Attributes:
 *     seconds: About how long [s].
 */
export interface MotionAhead {
  type: "motion.ahead";
  seconds?: number;
}

/** Forget the motion; the pose is shown again. Curves stay. */
export interface MotionDrop {
  type: "motion.drop";
}

/** What this page plays. */
export interface MotionGet {
  type: "motion.get";
}

/**
 * Load a motion from a file of the person's own, which travels with the message.
 *
 * Attributes:
 *     name: Of the file; its suffix says what it is.
 *     content: Its bytes in base64.
 */
export interface MotionGive {
  type: "motion.give";
  name: string;
  content: string;
}

/**
 * Load a motion.
 *
 * Attributes:
 *     file: A file in the rig's folder; None for a clip of the character.
 *     clip: Which clip, where there are several; None is the first.
 *     feet: ``directions`` keeps limb directions, ``planted`` keeps the feet in place.
 *     rate: Frames per second to resample to; None keeps the motion's own.
 *     limits: Whether joints are kept within their limits; None is what the rig says.
 */
export interface MotionLoad {
  type: "motion.load";
  file?: string | null;
  clip?: string | null;
  feet?: "directions" | "planted";
  rate?: number | null;
  limits?: boolean | null;
}

/** Make the moment that is shown the page's pose, and show that. */
export interface MotionPoseFromHere {
  type: "motion.pose_from_here";
}

/**
 * Show a moment of the motion.
 *
 * Attributes:
 *     time: Which [s]; beyond its ends it is the first or the last.
 */
export interface MotionSeek {
  type: "motion.seek";
  time: number;
}

/**
 * A motion that is loaded.
 *
 * Attributes:
 *     name: Of the motion.
 *     source: The file it is from; None for a clip of the character.
 *     begins: Time of the first frame [s].
 *     ends: Of the last [s].
 *     frames: How many there are.
 *     rate: Frames a second.
 */
export interface MotionShown {
  name: string;
  source: string | null;
  begins: number;
  ends: number;
  frames: number;
  rate: number;
}

/** Choose what swings after the bones. */
export interface MotionSwing {
  type: "motion.swing";
  dynamics: "off" | "oscillation" | "fat" | "springs";
}

/**
 * What this page plays.
 *
 * Attributes:
 *     motion: What is loaded; None for nothing.
 *     shown: Whether it is shown, in place of the pose.
 *     time: Which moment [s].
 *     clips: Motions that the character has.
 *     files: Motions in the folder of the rig.
 *     dynamics: What swings.
 *     computed: Of what swings: frames that there are, from the first on.
 *     possible: Of what swings: frames that there will be.
 *     share: How much of that work is done, 0 to 1.
 *     curves: Times [s] and activations of keys, by muscle or group.
 *     undo: What undoing curves would take back; None for nothing.
 *     redo: What it would do again; None for nothing.
 *     lines: What was found or done, a sentence each.
 */
export interface MotionTold {
  motion: MotionShown | null;
  shown: boolean;
  time: number;
  clips: string[];
  files: string[];
  dynamics: "off" | "oscillation" | "fat" | "springs";
  computed: number;
  possible: number;
  share: number;
  curves: Record<string, [number, number][]>;
  undo: string | null;
  redo: string | null;
  lines: string[];
}

/** A node elsewhere; of a mobile one at one of its extremes. */
export interface MoveNode {
  gesture?: string | null;
  type: "lines.move_node";
  muscle: string;
  line: number;
  node: number;
  to: [number, number, number];
  posed?: boolean;
  extreme?: "low" | "rest" | "high";
}

/**
 * Put a point of a muscle's path elsewhere.
 *
 * Attributes:
 *     number: 0 is the origin.
 *     to: In the world as this page has it posed [m].
 *     joint: What it shall move with; None leaves it on its own.
 */
export interface MovePoint {
  gesture?: string | null;
  type: "muscle.move_point";
  name: string;
  number: number;
  to: [number, number, number];
  joint?: string | null;
}

/**
 * A rig that does not fit its character any more.
 *
 * Attributes:
 *     name: The rig's file.
 *     problems: What does not fit, a sentence each.
 *     character: Where the character is; None where it is gone.
 *     candidates: Characters that it may be now, the likeliest first.
 */
export interface MovedTold {
  name: string;
  problems: string[];
  character: string | null;
  candidates: string[];
}

/**
 * One muscle.
 *
 * Attributes:
 *     name: Its own.
 *     kind: Of the template or drawn like one, or found in the skin.
 *     muscle, group: What it is a part of, and one of.
 *     joints: Of each point of its path, origin first.
 *     max_force: [N].
 *     force_source: Where that is from.
 *     largest_bulge: At full activation.
 *     influence: The joints whose skin it may move.
 *     painted: Whether its weights are painted.
 *     actions: Strongest first.
 *     spindle: None of one found in the skin.
 *     wrap: None of a spindle.
 *     rings: How many sections one found in the skin has.
 *     gain: How much of its group's effect on the skin is shown.
 *     carriers: All joints a point may be put on, virtual scapulae last.
 */
export interface MuscleDetail {
  name: string;
  kind: "named" | "lofted";
  muscle: string;
  group: string;
  joints: string[];
  max_force: number;
  force_source: string;
  largest_bulge: number;
  influence: string[];
  painted: boolean;
  actions: ActionTold[];
  spindle: SpindleTold | null;
  wrap: WrapTold | null;
  rings: number;
  gain: number;
  carriers: string[];
}

/** One muscle in numbers. */
export interface MuscleGet {
  type: "muscle.get";
  name: string;
}

/**
 * One muscle in the pose that this page shows.
 *
 * Attributes:
 *     name: The muscle.
 *     points: Origin, via points, insertion [m].
 *     belly: Where its belly is [m].
 *     outward: Unit, in which it bulges there.
 *     depth: Half-axis of the section there [m].
 *     length: Of its path [m].
 *     wrap: Centre of what it bends round [m].
 */
export interface MusclePlaces {
  name: string;
  points: [number, number, number][];
  belly: [number, number, number];
  outward: [number, number, number];
  depth: number;
  length: number;
  wrap: [number, number, number] | null;
}

/** One muscle in the pose that this page shows. */
export interface MusclePlacesGet {
  type: "muscle.places";
  name: string;
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

/** A node of another kind or on another joint, in its place. */
export interface NodeKindSet {
  gesture?: string | null;
  type: "lines.node_kind";
  muscle: string;
  line: number;
  node: number;
  kind: "bound" | "free" | "mobile";
  joint?: string | null;
}

/**
 * A node of a line.
 *
 * Attributes:
 *     kind: What it is.
 *     place: As designed [m].
 *     joint: That carries it; None of a free one.
 *     swing, twist: Share of its joint's that it follows.
 *     axis: By which swing and twist are told; None is the bone.
 *     relative_to: The joint that they are seen from; None is the parent.
 *     ratio: Of a free one: share of the way between the nodes on joints around it.
 *     shared: Of a free one: its name among lines that share it.
 *     led: Of a mobile one.
 *     isometric: How much broader the muscle is along x and y there at full activation.
 */
export interface NodeTold {
  kind: "bound" | "free" | "mobile";
  place: [number, number, number];
  joint: string | null;
  swing: number;
  twist: number;
  axis: [number, number, number] | null;
  relative_to: string | null;
  ratio: number | null;
  shared: string | null;
  led: LedTold | null;
  isometric: [number, number];
}

/**
 * What came of opening.
 *
 * Attributes:
 *     name: The rig that is open now; None where a person has to decide first.
 *     lines: What a person should know, a sentence each.
 *     moved: What does not fit, where the rig's character changed.
 */
export interface OpenedTold {
  name: string | null;
  lines: string[];
  moved: MovedTold | null;
}

/** How a muscle's lines find their way. */
export interface PathModelSet {
  gesture?: string | null;
  type: "lines.path";
  muscle: string;
  model: "admissible" | "elastic";
  numbers?: Record<string, number | null>;
}

/** How lines find their way, with the numbers of that model; None is found by itself. */
export interface PathTold {
  model: "admissible" | "elastic";
  numbers: Record<string, number | null>;
}

/**
 * A page that has the same file open.
 *
 * Attributes:
 *     number: Counts the pages of this server.
 *     did: What it did last; None for nothing yet.
 *     you: Whether it is this page.
 */
export interface PersonTold {
  number: number;
  did: string | null;
  you: boolean;
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

/** An ellipsoid moved, turned, sized, or carried by a joint or by ``on_line``; None keeps what it is. */
export interface PlaceEllipsoid {
  gesture?: string | null;
  type: "fields.place";
  field: string;
  number: number;
  centre?: [number, number, number] | null;
  turn?: [number, number, number, number] | null;
  radii?: [number, number, number] | null;
  joint?: string | null;
  on_line?: [string, number, number] | null;
  posed?: boolean;
}

/** Pose files beside the rig. */
export interface PoseList {
  type: "pose.list";
}

/** Take the pose of a file beside the rig. */
export interface PoseLoad {
  type: "pose.load";
  name: string;
}

/** Take the pose in the text of a pose file from elsewhere. */
export interface PoseRead {
  type: "pose.read";
  name: string;
  text: string;
}

/**
 * Write what is shown to a pose file beside the rig.
 *
 * Attributes:
 *     name: Of the file, without its suffix.
 *     replace: Whether one of that name may be overwritten.
 */
export interface PoseSave {
  type: "pose.save";
  name: string;
  replace?: boolean;
}

/** All joints to the standing pose, from which turns are counted. */
export interface PoseStand {
  type: "pose.stand";
}

/**
 * A pose as the text of a pose file.
 *
 * Attributes:
 *     text: Of the file.
 *     lines: What it does not say, a sentence each.
 */
export interface PoseText {
  text: string;
  lines: string[];
}

/** All joints within their limits. */
export interface PoseWithin {
  type: "pose.within";
}

/** What is shown as the text of a pose file, to keep it elsewhere. */
export interface PoseWrite {
  type: "pose.write";
}

/** Pose files beside the rig, without their suffix; None where the rig has no folder yet. */
export interface PosesTold {
  names: string[] | null;
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
 * Work that was not saved when a server ended.
 *
 * Attributes:
 *     id: Which one.
 *     name: The rig's file.
 *     saved: When it was kept, in seconds since 1970.
 *     fits: Whether the rig's file is still the one that the work began from.
 */
export interface RecoveryTold {
  id: string;
  name: string;
  saved: number;
  fits: boolean;
}

/** The regions of the skin in which muscles can be looked for. */
export interface RegionsGet {
  type: "muscle.regions";
}

/** Take muscles out. */
export interface Remove {
  gesture?: string | null;
  type: "muscle.remove";
  names: string[];
}

/** Take a via point out. */
export interface RemoveVia {
  gesture?: string | null;
  type: "muscle.remove_via";
  name: string;
  number: number;
}

/** Call a muscle otherwise. */
export interface Rename {
  gesture?: string | null;
  type: "muscle.rename";
  name: string;
  to: string;
}

/** A hinge: one angle about z. */
export interface RevoluteSpec {
  model: "revolute";
  anatomical_frame: [number, number, number, number];
  canonical_offset: [number, number, number, number];
  limits: HingeLimits;
}

/**
 * What came of saving.
 *
 * Attributes:
 *     name: The file.
 *     lines: What was done.
 *     conflict: Why nothing was written, where another version is on disk.
 *     found: That version: saving over it names it.
 */
export interface SavedTold {
  name: string;
  lines: string[];
  conflict: TroubleTold | null;
  found: string | null;
}

/**
 * What stays the same until an edit.
 *
 * Attributes:
 *     revision: Of the rig it shows.
 *     meshes: The character's.
 *     muscles: Surfaces of the muscles.
 *     bones: Names of the bones, each with its joint and its part of the bones' vertices: first and count.
 */
export interface SceneTold {
  revision: number;
  meshes: MeshTold[];
  muscles: MuscleSurfaceTold[];
  bones: [string, string][];
}

/** How many segments of tendon and belly a line has; None keeps them. */
export interface SegmentsSet {
  gesture?: string | null;
  type: "lines.segments";
  muscle: string;
  line: number;
  origin?: number | null;
  belly?: number | null;
  insertion?: number | null;
}

/** Change whose skin a muscle moves; None leaves a field, a radius of 0 is as the muscle is thick. */
export interface SetInfluence {
  gesture?: string | null;
  type: "muscle.influence";
  name: string;
  joints?: string[] | null;
  neighbourhood?: "automatic" | "fitted" | "half_space" | "radial" | null;
  weighting?: "binary" | "spline" | null;
  radius?: number | null;
}

/** Let a point of a muscle's path move with another joint; it stays where it is at bind. */
export interface SetJoint {
  gesture?: string | null;
  type: "muscle.set_joint";
  name: string;
  number: number;
  joint: string;
}

/**
 * Change some numbers and words of a muscle; None leaves them.
 *
 * Attributes:
 *     belly: Share of the length, of a spindle.
 *     scale: Depth over width, of a spindle.
 *     largest_bulge: At full activation, 1 to 3.
 *     max_force: [N].
 *     muscle, group: What it is a part of, and one of.
 *     resize: So many times as thick.
 */
export interface SetNumbers {
  gesture?: string | null;
  type: "muscle.set";
  name: string;
  belly?: number | null;
  scale?: number | null;
  largest_bulge?: number | null;
  max_force?: number | null;
  muscle?: string | null;
  group?: string | null;
  resize?: number | null;
}

/**
 * Turn the direction in which a spindle bulges; None is towards the nearest skin.
 *
 * Attributes:
 *     towards: In the world as this page has it posed, of any length.
 */
export interface SetOutward {
  gesture?: string | null;
  type: "muscle.outward";
  name: string;
  towards?: [number, number, number] | null;
}

/** Change one control offset of the sweep [m]. */
export interface SetSweep {
  gesture?: string | null;
  type: "muscle.sweep";
  name: string;
  half: 0 | 1;
  number: number;
  outwards: number;
  sideways: number;
}

/** Change one control value of the thickness [m]. */
export interface SetThickness {
  gesture?: string | null;
  type: "muscle.thickness";
  name: string;
  half: 0 | 1;
  number: number;
  value: number;
}

/**
 * Change what a muscle found in the skin bends round; None leaves a field.
 *
 * Attributes:
 *     centre: In the world as this page has it posed [m].
 */
export interface SetWrap {
  gesture?: string | null;
  type: "muscle.wrap";
  name: string;
  shape?: "none" | "sphere" | "cylinder" | "ball" | null;
  radius?: number | null;
  centre?: [number, number, number] | null;
  other_side?: boolean;
}

/** An ellipsoid in the pose: ``matrix`` takes the unit ball there, row by row, radii included. */
export interface ShownEllipsoidTold {
  field: string;
  number: number;
  matrix: number[];
}

/** A line in the arrays: nodes and places along it, first and count; whether an elastic one is at rest. */
export interface ShownLineTold {
  muscle: string;
  number: number;
  nodes: [number, number];
  curve: [number, number];
  settled: boolean;
}

/**
 * A moment that was sought.
 *
 * Attributes:
 *     time: Where that is [s].
 *     waits: Whether what swings is not computed that far, and is left out.
 */
export interface SoughtTold {
  time: number;
  waits: boolean;
}

/**
 * What a spindle alone has.
 *
 * Attributes:
 *     belly: Where its halves meet, 0 at the origin to 1.
 *     scale: Half-axis towards the skin over the one across.
 *     thickness: Control values of the half-axis across [m], both halves.
 *     sweep: Control offsets of the section's centre, outwards and sideways [m].
 *     neighbourhood: Which vertices it may move.
 *     weighting: How much.
 *     radius: How far a radial neighbourhood reaches [m]; None is as the muscle is thick.
 *     outward: In which it bulges, in world axes at bind.
 */
export interface SpindleTold {
  belly: number;
  scale: number;
  thickness: [[number, number, number, number], [number, number, number, number]];
  sweep: [[[number, number], [number, number], [number, number], [number, number]], [[number, number], [number, number], [number, number], [number, number]]];
  neighbourhood: "automatic" | "fitted" | "half_space" | "radial";
  weighting: "binary" | "spline";
  radius: number | null;
  outward: [number, number, number];
}

/** The directions a limb may point in. */
export interface SwingLimits {
  polygon: [number, number, number][];
  play: number;
}

/** A limb that points in a direction and does not twist. */
export interface SwingSpec {
  model: "swing";
  anatomical_frame: [number, number, number, number];
  canonical_offset: [number, number, number, number];
  limits: SwingLimits;
}

/** The template's muscles that this character can have and does not. */
export interface TemplateGet {
  type: "muscle.template";
}

/** What is wrong, where, and how to mend it. */
export interface TroubleTold {
  what: string;
  where: string | null;
  remedy: string | null;
}

/** The fat; it is made when it is first asked for, which takes seconds. */
export interface ViewFat {
  type: "view.fat";
}

/**
 * The pose or the moment of the motion that this page shows.
 *
 * Attributes:
 *     muscles: Whether to give the muscles' surfaces.
 *     fat: Whether to give the outside of the fat.
 *     plain: Whether to give the skin by skinning alone too.
 *     payload: Give what the vertex program plays in place of points, where it can be played.
 *     colour: What colours on the skin stand for.
 *     of: The muscle or joint whose weights are meant.
 */
export interface ViewFrame {
  type: "view.frame";
  muscles?: boolean;
  fat?: boolean;
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

/** Volume and thickness of a muscle at shares of its length at bind, working so much, 0 to 1. */
export interface VolumeGet {
  type: "muscle.volume";
  name: string;
  shares: number[];
  activation?: number;
}

/** A muscle over its length; ``length`` is that at bind [m]. */
export interface VolumeTold {
  length: number;
  rows: AtLengthTold[];
}

/**
 * A character that was opened without a rig.
 *
 * Attributes:
 *     name: The character's file.
 *     proposed: A name for its rig.
 *     rigs: Rigs of the folder that were made for it.
 */
export interface WithoutRigTold {
  name: string;
  proposed: string;
  rigs: string[];
}

/** What a muscle found in the skin bends round: kind, joint and radius [m]. */
export interface WrapTold {
  shape: "none" | "sphere" | "cylinder" | "ball";
  joint: string | null;
  radius: number | null;
}

/** What may be asked, and what it is answered with. */
export interface Requests {
  "body.couple": { request: BodyCouple; reply: Done };
  "body.get": { request: BodyGet; reply: BodyTold };
  "body.springs": { request: BodySprings; reply: Done };
  "body.type": { request: BodyType; reply: Done };
  "document.get": { request: DocumentGet; reply: DocumentTold };
  "document.redo": { request: DocumentRedo; reply: Done };
  "document.save": { request: DocumentSave; reply: Done };
  "document.undo": { request: DocumentUndo; reply: Done };
  "fields.add": { request: FieldAdd; reply: Done };
  "fields.add_ellipsoid": { request: EllipsoidAdd; reply: Done };
  "fields.change": { request: FieldChange; reply: Done };
  "fields.place": { request: PlaceEllipsoid; reply: Done };
  "fields.remove": { request: FieldRemove; reply: Done };
  "fields.remove_ellipsoid": { request: EllipsoidRemove; reply: Done };
  "files.discard": { request: FilesDiscard; reply: Done };
  "files.figure": { request: FilesFigure; reply: OpenedTold };
  "files.get": { request: FilesGet; reply: FilesTold };
  "files.make": { request: FilesMake; reply: OpenedTold };
  "files.open": { request: FilesOpen; reply: OpenedTold };
  "files.rebind": { request: FilesRebind; reply: OpenedTold };
  "files.recover": { request: FilesRecover; reply: OpenedTold };
  "files.reload": { request: FilesReload; reply: OpenedTold };
  "files.save": { request: FilesSave; reply: SavedTold };
  "joint.add_corner": { request: JointAddCorner; reply: JointTurned };
  "joint.align": { request: JointAlign; reply: JointTurned };
  "joint.corner": { request: JointCorner; reply: JointTurned };
  "joint.frame": { request: JointFrame; reply: JointTurned };
  "joint.get": { request: JointGet; reply: JointTurned };
  "joint.mirror": { request: JointMirror; reply: JointTurned };
  "joint.offset": { request: JointOffset; reply: JointTurned };
  "joint.paste": { request: JointPaste; reply: JointTurned };
  "joint.pose": { request: JointPose; reply: JointTurned };
  "joint.ranges": { request: JointRanges; reply: JointTurned };
  "joint.remove_corner": { request: JointRemoveCorner; reply: JointTurned };
  "joint.reset": { request: JointReset; reply: JointTurned };
  "joint.rest": { request: JointRest; reply: JointTurned };
  "joint.twist_key": { request: JointTwistKey; reply: JointTurned };
  "joint.type": { request: JointType; reply: JointTurned };
  "limits.check": { request: LimitsCheck; reply: LimitsBroken };
  "limits.keep": { request: LimitsKeep; reply: Done };
  "lines.add": { request: LineAdd; reply: Done };
  "lines.adherence": { request: AdherenceSet; reply: Done };
  "lines.anew": { request: ForgetRest; reply: Done };
  "lines.change": { request: LineChange; reply: Done };
  "lines.fields": { request: LineFieldsSet; reply: Done };
  "lines.freedom": { request: FreedomSet; reply: Done };
  "lines.get": { request: LinesGet; reply: LinesTold };
  "lines.mirror": { request: LinesMirror; reply: Done };
  "lines.move_node": { request: MoveNode; reply: Done };
  "lines.node_kind": { request: NodeKindSet; reply: Done };
  "lines.path": { request: PathModelSet; reply: Done };
  "lines.remove": { request: LineRemove; reply: Done };
  "lines.segments": { request: SegmentsSet; reply: Done };
  "lines.show": { request: LinesShow; reply: LinesShown & { arrays: { nodes?: Float32Array; kinds?: Uint8Array; curves?: Float32Array; tendon?: Uint8Array; mesh?: Float32Array; triangles?: Uint32Array; weights?: Float32Array } } };
  "motion.add_key": { request: KeyAdd; reply: MotionTold };
  "motion.ahead": { request: MotionAhead; reply: AheadTold };
  "motion.curve": { request: CurveGet; reply: CurveTold & { arrays: { times?: Float32Array; activation?: Float32Array; source?: Float32Array } } };
  "motion.delete_key": { request: KeyDelete; reply: MotionTold };
  "motion.drop": { request: MotionDrop; reply: MotionTold };
  "motion.free": { request: CurveFree; reply: MotionTold };
  "motion.get": { request: MotionGet; reply: MotionTold };
  "motion.give": { request: MotionGive; reply: MotionTold };
  "motion.key": { request: CurveKey; reply: MotionTold };
  "motion.load": { request: MotionLoad; reply: MotionTold };
  "motion.move_key": { request: KeyMove; reply: MotionTold };
  "motion.open_curves": { request: CurvesOpen; reply: MotionTold };
  "motion.pose_from_here": { request: MotionPoseFromHere; reply: MotionTold };
  "motion.save_curves": { request: CurvesSave; reply: MotionTold };
  "motion.scale": { request: CurveScale; reply: MotionTold };
  "motion.seek": { request: MotionSeek; reply: SoughtTold };
  "motion.set_curves": { request: CurvesSet; reply: MotionTold };
  "motion.swing": { request: MotionSwing; reply: MotionTold };
  "motion.tense": { request: CurveTense; reply: MotionTold };
  "motion.undo": { request: CurvesUndo; reply: MotionTold };
  "muscle.add_between": { request: AddBetween; reply: MadeMuscles };
  "muscle.add_mesh": { request: AddMesh; reply: MadeMuscles };
  "muscle.add_template": { request: AddFromTemplate; reply: MadeMuscles };
  "muscle.add_via": { request: AddVia; reply: Done };
  "muscle.duplicate": { request: Duplicate; reply: MadeMuscles };
  "muscle.find": { request: FindMuscles; reply: MadeMuscles };
  "muscle.get": { request: MuscleGet; reply: MuscleDetail };
  "muscle.influence": { request: SetInfluence; reply: Done };
  "muscle.mirror": { request: Mirror; reply: MadeMuscles };
  "muscle.move_point": { request: MovePoint; reply: Done };
  "muscle.outward": { request: SetOutward; reply: Done };
  "muscle.places": { request: MusclePlacesGet; reply: MusclePlaces & { arrays: { line?: Float32Array } } };
  "muscle.regions": { request: RegionsGet; reply: ChoicesTold };
  "muscle.remove": { request: Remove; reply: Done };
  "muscle.remove_via": { request: RemoveVia; reply: Done };
  "muscle.rename": { request: Rename; reply: Done };
  "muscle.set": { request: SetNumbers; reply: Done };
  "muscle.set_joint": { request: SetJoint; reply: Done };
  "muscle.sweep": { request: SetSweep; reply: Done };
  "muscle.template": { request: TemplateGet; reply: ChoicesTold };
  "muscle.thickness": { request: SetThickness; reply: Done };
  "muscle.volume": { request: VolumeGet; reply: VolumeTold };
  "muscle.wrap": { request: SetWrap; reply: Done };
  "pose.list": { request: PoseList; reply: PosesTold };
  "pose.load": { request: PoseLoad; reply: Done };
  "pose.read": { request: PoseRead; reply: Done };
  "pose.save": { request: PoseSave; reply: Done };
  "pose.stand": { request: PoseStand; reply: Done };
  "pose.within": { request: PoseWithin; reply: Done };
  "pose.write": { request: PoseWrite; reply: PoseText };
  "view.activate": { request: ActivationSet; reply: Done };
  "view.fat": { request: ViewFat; reply: FatTold & { arrays: { triangles?: Uint32Array } } };
  "view.frame": { request: ViewFrame; reply: FrameTold & { arrays: { points?: Float32Array; normals?: Float32Array; plain?: Float32Array; plain_normals?: Float32Array; muscles?: Float32Array; fat?: Float32Array; activation?: Float32Array; joints?: Float32Array; values?: Float32Array; payload?: Float32Array } } };
  "view.pick": { request: ViewPick; reply: PickTold };
  "view.program": { request: ViewProgram; reply: ProgramTold & { arrays: Record<string, Uint8Array> } };
  "view.rest": { request: ViewRest; reply: Done };
  "view.scene": { request: ViewScene; reply: SceneTold & { arrays: { source?: Uint32Array; places?: Uint32Array; triangles?: Uint32Array; muscle_triangles?: Uint32Array; muscle_colours?: Uint8Array; bone_points?: Float32Array; bone_joints?: Uint32Array; bone_triangles?: Uint32Array; bind?: Float32Array; tips?: Float32Array } } };
}

/** What the server tells without being asked. */
export type ServerEvent = DocumentChanged | Hello | FilesChanged | FilesEdited;
