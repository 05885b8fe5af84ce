"""Messages of the action-line editor: one muscle's lines in numbers and in the pose, and every edit of them.

Places are in the world at bind [m] unless ``posed`` says that they are in the pose that the page shows.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ecorche.studio.messages.base import Edit, Message, Replied, Reply, Request

Vector = tuple[float, float, float]
Turn = tuple[float, float, float, float]
NodeKind = Literal["bound", "free", "mobile"]
Extreme = Literal["low", "rest", "high"]
Freedom = Literal["angle", "twist", "swing_x", "swing_y"]
FieldKind = Literal["attract", "repel"]
FieldMode = Literal["orthogonal", "radial"]
Model = Literal["admissible", "elastic"]


class LedTold(Message):
    """What leads a mobile node.

    Attributes:
        joint, kind: A degree of freedom of a joint.
        axis: What the joint turns about, in world axes at bind.
        degrees: The lowest, resting and highest angle, from bind.
        places: The node's at those [m].
        shape: How it goes from place to place.
    """

    joint: str
    kind: Freedom
    axis: Vector
    degrees: Vector
    places: tuple[Vector, Vector, Vector]
    shape: Literal["linear", "parabolic"]


class NodeTold(Message):
    """A node of a line.

    Attributes:
        kind: What it is.
        place: As designed [m].
        joint: That carries it; None of a free one.
        swing, twist: Share of its joint's that it follows.
        axis: By which swing and twist are told; None is the bone.
        relative_to: The joint that they are seen from; None is the parent.
        ratio: Of a free one: share of the way between the nodes on joints around it.
        shared: Of a free one: its name among lines that share it.
        led: Of a mobile one.
        isometric: How much broader the muscle is along x and y there at full activation.
    """

    kind: NodeKind
    place: Vector
    joint: str | None
    swing: float
    twist: float
    axis: Vector | None
    relative_to: str | None
    ratio: float | None
    shared: str | None
    led: LedTold | None
    isometric: tuple[float, float]


class LineTold(Message):
    """A line of a muscle.

    Attributes:
        nodes: From origin to insertion.
        segments: How many of the origin's tendon, of the belly, of the insertion's tendon.
        tendon: Whether each segment is tendon.
        fields: What acts on it.
        references: Joints that carry the directions of both ends; None is those the ends are on.
        blend: The insertion's share in the directions between; None is the share of the way.
        outward: Where the muscle bulges, in world axes at bind; None is any direction.
        curved: A smooth curve, else a polyline.
        flesh: How thick the muscle is between the line and bones [m].
        own_isometric: Whether its isometric scales are its own, not those of the largest bulge.
        region: Share of the mesh that it moves.
    """

    nodes: tuple[NodeTold, ...]
    segments: tuple[int, int, int]
    tendon: tuple[bool, ...]
    fields: tuple[str, ...]
    references: tuple[str, str] | None
    blend: float | None
    outward: Vector | None
    curved: bool
    flesh: float
    own_isometric: bool
    region: float | None


class EllipsoidTold(Message):
    """An ellipsoid of a field at bind: carried by a joint, or by a place on an elastic muscle's line."""

    joint: str | None
    on_line: tuple[str, int, float] | None
    centre: Vector
    turn: Turn
    radii: Vector


class FieldTold(Message):
    """A field: how it acts, its ellipsoids, and on how many lines it acts."""

    name: str
    kind: FieldKind
    mode: FieldMode
    strength: float
    reach: float | None
    rounding: float
    blend: float
    ellipsoids: tuple[EllipsoidTold, ...]
    acts_on: int


class PathTold(Message):
    """How lines find their way, with the numbers of that model; None is found by itself."""

    model: Model
    numbers: dict[str, float | None]


class LinesTold(Reply):
    """A muscle on action lines.

    Attributes:
        revision: Of the rig.
        muscle: Its name.
        path: How its lines find their way.
        lines: Its lines.
        fields: Those that act on them.
        other_fields: Names of all others.
        joints: Names of joints that may carry nodes, shoulder blades of the rig included.
        left_out: Why it cannot be compiled; None where it can.
        notes: What a person should know about it.
        image: What its mirror image is called; None where its name tells no side.
    """

    revision: int
    muscle: str
    path: PathTold
    lines: tuple[LineTold, ...]
    fields: tuple[FieldTold, ...]
    other_fields: tuple[str, ...]
    joints: tuple[str, ...]
    left_out: str | None
    notes: tuple[str, ...]
    image: str | None


class LinesGet(Request):
    """The lines of a muscle in numbers."""

    reply: ClassVar[Replied] = LinesTold
    type: Literal["lines.get"] = "lines.get"
    muscle: str


class MoveNode(Edit):
    """A node elsewhere; of a mobile one at one of its extremes."""

    type: Literal["lines.move_node"] = "lines.move_node"
    muscle: str
    line: int
    node: int
    to: Vector
    posed: bool = False
    extreme: Extreme = "rest"


class PlaceEllipsoid(Edit):
    """An ellipsoid moved, turned, sized, or carried by a joint or by ``on_line``; None keeps what it is."""

    type: Literal["fields.place"] = "fields.place"
    field: str
    number: int
    centre: Vector | None = None
    turn: Turn | None = None
    radii: Vector | None = None
    joint: str | None = None
    on_line: tuple[str, int, float] | None = None
    posed: bool = False


class ShownLineTold(Message):
    """A line in the arrays: nodes and places along it, first and count; whether an elastic one is at rest."""

    muscle: str
    number: int
    nodes: tuple[int, int]
    curve: tuple[int, int]
    settled: bool


class ShownEllipsoidTold(Message):
    """An ellipsoid in the pose: ``matrix`` takes the unit ball there, row by row, radii included."""

    field: str
    number: int
    matrix: tuple[float, ...]


class LinesShown(Reply):
    """Lines in the pose that the page shows.

    Attributes:
        lines: Those of all muscles, or of what a trial changes.
        ellipsoids: Of the fields of the chosen muscle's lines, or of all.
        mesh_lines: How many lines the chosen muscle's mesh follows.
        trial: Whether it shows an edit that is only tried.
        seconds: What the server took [s].
    """

    arrays: ClassVar[dict[str, str]] = {
        "nodes": "float32 (nodes, 3) [m]",
        "kinds": "uint8 (nodes,): 0 bound, 1 bound in part, 2 free, 3 mobile",
        "curves": "float32 (places, 3) [m]",
        "tendon": "uint8 (places,): whether the piece from there on is tendon",
        "mesh": "float32 (vertices, 3) [m]: of the chosen muscle",
        "triangles": "uint32 (triangles, 3): of it",
        "weights": "float32 (vertices, lines): how much each vertex follows each of its lines",
    }

    lines: tuple[ShownLineTold, ...]
    ellipsoids: tuple[ShownEllipsoidTold, ...]
    mesh_lines: int
    trial: bool
    seconds: float


class LinesShow(Request):
    """Lines in the pose that the page shows.

    Attributes:
        muscle: The one that is chosen; None for none.
        trial: An edit that is tried on it, such as while a node is dragged: nothing but the picture changes.
    """

    reply: ClassVar[Replied] = LinesShown
    type: Literal["lines.show"] = "lines.show"
    muscle: str | None = None
    trial: Annotated[MoveNode | PlaceEllipsoid, Field(discriminator="type")] | None = None


class ForgetRest(Request):
    """Let elastic lines come to rest anew, from bind."""

    type: Literal["lines.anew"] = "lines.anew"


class NodeKindSet(Edit):
    """A node of another kind or on another joint, in its place."""

    type: Literal["lines.node_kind"] = "lines.node_kind"
    muscle: str
    line: int
    node: int
    kind: NodeKind
    joint: str | None = None


class AdherenceSet(Edit):
    """How much of its joint's swing and twist a bound node follows."""

    type: Literal["lines.adherence"] = "lines.adherence"
    muscle: str
    line: int
    node: int
    swing: float
    twist: float
    axis: Vector | None = None
    relative_to: str | None = None


class FreedomSet(Edit):
    """What leads a mobile node; None keeps what it is."""

    type: Literal["lines.freedom"] = "lines.freedom"
    muscle: str
    line: int
    node: int
    led_by: str | None = None
    kind: Freedom | None = None
    axis: Vector | None = None
    degrees: Vector | None = None
    shape: Literal["linear", "parabolic"] | None = None


class SegmentsSet(Edit):
    """How many segments of tendon and belly a line has; None keeps them."""

    type: Literal["lines.segments"] = "lines.segments"
    muscle: str
    line: int
    origin: int | None = None
    belly: int | None = None
    insertion: int | None = None


class LineChange(Edit):
    """What a line says beside its nodes; what is not given stays."""

    type: Literal["lines.change"] = "lines.change"
    muscle: str
    line: int
    tendon: tuple[bool, ...] = ()
    references: tuple[str, str] | None = None
    blend: float | None = None
    outward: Vector | None = None
    curved: bool = True
    flesh: float = 0.0
    isometric: tuple[tuple[float, float], ...] = ()


class LineAdd(Edit):
    """One more line beside one that the muscle has."""

    type: Literal["lines.add"] = "lines.add"
    muscle: str
    like: int = 0


class LineRemove(Edit):
    """One line fewer."""

    type: Literal["lines.remove"] = "lines.remove"
    muscle: str
    line: int


class PathModelSet(Edit):
    """How a muscle's lines find their way."""

    type: Literal["lines.path"] = "lines.path"
    muscle: str
    model: Model
    numbers: dict[str, float | None] = Field(default_factory=dict)


class LineFieldsSet(Edit):
    """What acts on a line."""

    type: Literal["lines.fields"] = "lines.fields"
    muscle: str
    line: int
    fields: tuple[str, ...]


class LinesMirror(Edit):
    """A muscle on the other side too; ``instead`` lets it take the place of one of that name."""

    type: Literal["lines.mirror"] = "lines.mirror"
    muscle: str
    name: str | None = None
    instead: bool = False


class FieldAdd(Edit):
    """A new field of one ellipsoid, which acts on a line; None places it on the line's middle."""

    type: Literal["fields.add"] = "fields.add"
    name: str
    muscle: str
    line: int
    joint: str | None = None
    centre: Vector | None = None
    radius: float | None = None
    kind: FieldKind = "repel"


class FieldRemove(Edit):
    """A field removed, from all lines it acts on."""

    type: Literal["fields.remove"] = "fields.remove"
    field: str


class FieldChange(Edit):
    """How a field acts; what is not given stays."""

    type: Literal["fields.change"] = "fields.change"
    field: str
    kind: FieldKind = "repel"
    mode: FieldMode = "orthogonal"
    strength: float = 3000.0
    reach: float | None = None
    rounding: float = 0.001
    blend: float = 0.002


class EllipsoidAdd(Edit):
    """One more ellipsoid in a field, like one that it has, beside it."""

    type: Literal["fields.add_ellipsoid"] = "fields.add_ellipsoid"
    field: str
    like: int = 0


class EllipsoidRemove(Edit):
    """One ellipsoid of a field fewer."""

    type: Literal["fields.remove_ellipsoid"] = "fields.remove_ellipsoid"
    field: str
    number: int


REQUESTS = (
    LinesGet,
    LinesShow,
    ForgetRest,
    MoveNode,
    NodeKindSet,
    AdherenceSet,
    FreedomSet,
    SegmentsSet,
    LineChange,
    LineAdd,
    LineRemove,
    PathModelSet,
    LineFieldsSet,
    LinesMirror,
    FieldAdd,
    FieldRemove,
    FieldChange,
    PlaceEllipsoid,
    EllipsoidAdd,
    EllipsoidRemove,
)
EVENTS = ()
