"""Messages of the muscle builder: one muscle in numbers and in the pose, and every edit of it."""

from __future__ import annotations

from typing import ClassVar, Literal

from ecorche.studio.messages.base import Edit, Message, Replied, Reply, Request

Vector = tuple[float, float, float]
HalfCurve = tuple[float, float, float, float]
Offset = tuple[float, float]
HalfSweep = tuple[Offset, Offset, Offset, Offset]
Neighbourhood = Literal["automatic", "fitted", "half_space", "radial"]
Weighting = Literal["binary", "spline"]
WrapShape = Literal["none", "sphere", "cylinder", "ball"]


class SpindleTold(Message):
    """What a spindle alone has.

    Attributes:
        belly: Where its halves meet, 0 at the origin to 1.
        scale: Half-axis towards the skin over the one across.
        thickness: Control values of the half-axis across [m], both halves.
        sweep: Control offsets of the section's centre, outwards and sideways [m].
        neighbourhood: Which vertices it may move.
        weighting: How much.
        radius: How far a radial neighbourhood reaches [m]; None is as the muscle is thick.
        outward: In which it bulges, in world axes at bind.
    """

    belly: float
    scale: float
    thickness: tuple[HalfCurve, HalfCurve]
    sweep: tuple[HalfSweep, HalfSweep]
    neighbourhood: Neighbourhood
    weighting: Weighting
    radius: float | None
    outward: Vector


class WrapTold(Message):
    """What a muscle found in the skin bends round: kind, joint and radius [m]."""

    shape: WrapShape
    joint: str | None
    radius: float | None


class ActionTold(Message):
    """What a muscle does to a joint: from the first to the second of ``degrees`` it works up to
    ``weight``."""

    joint: str
    degrees: tuple[float, float]
    weight: float


class MuscleDetail(Reply):
    """One muscle.

    Attributes:
        name: Its own.
        kind: Of the template or drawn like one, or found in the skin.
        muscle, group: What it is a part of, and one of.
        joints: Of each point of its path, origin first.
        max_force: [N].
        force_source: Where that is from.
        largest_bulge: At full activation.
        influence: The joints whose skin it may move.
        painted: Whether its weights are painted.
        actions: Strongest first.
        spindle: None of one found in the skin.
        wrap: None of a spindle.
        rings: How many sections one found in the skin has.
        gain: How much of its group's effect on the skin is shown.
        carriers: All joints a point may be put on, virtual scapulae last.
    """

    name: str
    kind: Literal["named", "lofted"]
    muscle: str
    group: str
    joints: tuple[str, ...]
    max_force: float
    force_source: str
    largest_bulge: float
    influence: tuple[str, ...]
    painted: bool
    actions: tuple[ActionTold, ...]
    spindle: SpindleTold | None
    wrap: WrapTold | None
    rings: int
    gain: float
    carriers: tuple[str, ...]


class MuscleGet(Request):
    """One muscle in numbers."""

    reply: ClassVar[Replied] = MuscleDetail
    type: Literal["muscle.get"] = "muscle.get"
    name: str


class MusclePlaces(Reply):
    """One muscle in the pose that this page shows.

    Attributes:
        name: The muscle.
        points: Origin, via points, insertion [m].
        belly: Where its belly is [m].
        outward: Unit, in which it bulges there.
        depth: Half-axis of the section there [m].
        length: Of its path [m].
        wrap: Centre of what it bends round [m].
    """

    arrays: ClassVar[dict[str, str]] = {"line": "float32 (K, 3) [m]: from origin to insertion"}

    name: str
    points: tuple[Vector, ...]
    belly: Vector
    outward: Vector
    depth: float
    length: float
    wrap: Vector | None


class MusclePlacesGet(Request):
    """One muscle in the pose that this page shows."""

    reply: ClassVar[Replied] = MusclePlaces
    type: Literal["muscle.places"] = "muscle.places"
    name: str


class AtLengthTold(Message):
    """A muscle at one length: share of that at bind, volume [m³], half-axes of the thickest section [m]."""

    share: float
    volume: float
    half_axes: tuple[float, float]
    held: bool


class VolumeTold(Reply):
    """A muscle over its length; ``length`` is that at bind [m]."""

    length: float
    rows: tuple[AtLengthTold, ...]


class VolumeGet(Request):
    """Volume and thickness of a muscle at shares of its length at bind, working so much, 0 to 1."""

    reply: ClassVar[Replied] = VolumeTold
    type: Literal["muscle.volume"] = "muscle.volume"
    name: str
    shares: tuple[float, ...]
    activation: float = 0.0


class MovePoint(Edit):
    """Put a point of a muscle's path elsewhere.

    Attributes:
        number: 0 is the origin.
        to: In the world as this page has it posed [m].
        joint: What it shall move with; None leaves it on its own.
    """

    type: Literal["muscle.move_point"] = "muscle.move_point"
    name: str
    number: int
    to: Vector
    joint: str | None = None


class SetJoint(Edit):
    """Let a point of a muscle's path move with another joint; it stays where it is at bind."""

    type: Literal["muscle.set_joint"] = "muscle.set_joint"
    name: str
    number: int
    joint: str


class AddVia(Edit):
    """Put a via point half-way after a point."""

    type: Literal["muscle.add_via"] = "muscle.add_via"
    name: str
    after: int


class RemoveVia(Edit):
    """Take a via point out."""

    type: Literal["muscle.remove_via"] = "muscle.remove_via"
    name: str
    number: int


class SetThickness(Edit):
    """Change one control value of the thickness [m]."""

    type: Literal["muscle.thickness"] = "muscle.thickness"
    name: str
    half: Literal[0, 1]
    number: int
    value: float


class SetSweep(Edit):
    """Change one control offset of the sweep [m]."""

    type: Literal["muscle.sweep"] = "muscle.sweep"
    name: str
    half: Literal[0, 1]
    number: int
    outwards: float
    sideways: float


class SetNumbers(Edit):
    """Change some numbers and words of a muscle; None leaves them.

    Attributes:
        belly: Share of the length, of a spindle.
        scale: Depth over width, of a spindle.
        largest_bulge: At full activation, 1 to 3.
        max_force: [N].
        muscle, group: What it is a part of, and one of.
        resize: So many times as thick.
    """

    type: Literal["muscle.set"] = "muscle.set"
    name: str
    belly: float | None = None
    scale: float | None = None
    largest_bulge: float | None = None
    max_force: float | None = None
    muscle: str | None = None
    group: str | None = None
    resize: float | None = None


class SetOutward(Edit):
    """Turn the direction in which a spindle bulges; None is towards the nearest skin.

    Attributes:
        towards: In the world as this page has it posed, of any length.
    """

    type: Literal["muscle.outward"] = "muscle.outward"
    name: str
    towards: Vector | None = None


class SetInfluence(Edit):
    """Change whose skin a muscle moves; None leaves a field, a radius of 0 is as the muscle is thick."""

    type: Literal["muscle.influence"] = "muscle.influence"
    name: str
    joints: tuple[str, ...] | None = None
    neighbourhood: Neighbourhood | None = None
    weighting: Weighting | None = None
    radius: float | None = None


class SetWrap(Edit):
    """Change what a muscle found in the skin bends round; None leaves a field.

    Attributes:
        centre: In the world as this page has it posed [m].
    """

    type: Literal["muscle.wrap"] = "muscle.wrap"
    name: str
    shape: WrapShape | None = None
    radius: float | None = None
    centre: Vector | None = None
    other_side: bool = False


class Rename(Edit):
    """Call a muscle otherwise."""

    type: Literal["muscle.rename"] = "muscle.rename"
    name: str
    to: str


class MadeMuscles(Reply):
    """What was done, a sentence each, and the muscles that are new or renamed."""

    lines: tuple[str, ...]
    names: tuple[str, ...]


class Duplicate(Edit):
    """A muscle a second time."""

    reply: ClassVar[Replied] = MadeMuscles
    type: Literal["muscle.duplicate"] = "muscle.duplicate"
    name: str


class Remove(Edit):
    """Take muscles out."""

    type: Literal["muscle.remove"] = "muscle.remove"
    names: tuple[str, ...]


class Mirror(Edit):
    """Put muscles on the other side as they are on theirs: some by name, or all of a side."""

    reply: ClassVar[Replied] = MadeMuscles
    type: Literal["muscle.mirror"] = "muscle.mirror"
    names: tuple[str, ...] = ()
    side: Literal["left", "right"] | None = None


class ChoicesTold(Reply):
    """Names to choose from."""

    names: tuple[str, ...]


class TemplateGet(Request):
    """The template's muscles that this character can have and does not."""

    reply: ClassVar[Replied] = ChoicesTold
    type: Literal["muscle.template"] = "muscle.template"


class RegionsGet(Request):
    """The regions of the skin in which muscles can be looked for."""

    reply: ClassVar[Replied] = ChoicesTold
    type: Literal["muscle.regions"] = "muscle.regions"


class AddFromTemplate(Edit):
    """Add muscles of the anatomical template, fitted to this character."""

    reply: ClassVar[Replied] = MadeMuscles
    type: Literal["muscle.add_template"] = "muscle.add_template"
    names: tuple[str, ...]


class EndGiven(Message):
    """A clicked point: at bind [m], and the joint it moves with; None is the one that carries the skin."""

    place: Vector
    joint: str | None = None


class AddBetween(Edit):
    """Add a spindle between two points."""

    reply: ClassVar[Replied] = MadeMuscles
    type: Literal["muscle.add_between"] = "muscle.add_between"
    name: str
    origin: EndGiven
    insertion: EndGiven


class FindMuscles(Edit):
    """Find the muscles that show in the skin, in some regions or (None) everywhere, beside those there
    are."""

    reply: ClassVar[Replied] = MadeMuscles
    type: Literal["muscle.find"] = "muscle.find"
    regions: tuple[str, ...] | None = None


class AddMesh(Edit):
    """Add a muscle from a surface, as a mesh on action lines.

    Attributes:
        file: Its name, which says its format: .stl, .obj or .ply; the muscle is called after it.
        data: What it holds, base64.
    """

    reply: ClassVar[Replied] = MadeMuscles
    type: Literal["muscle.add_mesh"] = "muscle.add_mesh"
    file: str
    data: str


REQUESTS = (
    MuscleGet,
    MusclePlacesGet,
    VolumeGet,
    MovePoint,
    SetJoint,
    AddVia,
    RemoveVia,
    SetThickness,
    SetSweep,
    SetNumbers,
    SetOutward,
    SetInfluence,
    SetWrap,
    Rename,
    Duplicate,
    Remove,
    Mirror,
    TemplateGet,
    RegionsGet,
    AddFromTemplate,
    AddBetween,
    FindMuscles,
    AddMesh,
)
EVENTS = ()
