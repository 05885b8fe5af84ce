"""What a rig file says about muscles that are meshes on action lines. Metres, degrees and newtons.

Surfaces and the vertices that sit on bones are in the arrays file; everything a person edits is here. Places
are in the frame of the joint that carries them, directions in world axes at bind.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from ecorche.document.fields import Degrees, Direction, MapName, Positive, Share, Spec, Vector, refusal
from ecorche.document.muscle_spec import ActionSpec, Name

NotNegative = Annotated[float, Field(ge=0.0)]


def _require_turn(xyzw: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    if abs(sum(v * v for v in xyzw) - 1.0) > 1e-3:
        raise refusal("the quaternion is no rotation", "Give x, y, z, w of length 1")
    return xyzw


Turn = Annotated[tuple[float, float, float, float], AfterValidator(_require_turn)]
"""A rotation as a quaternion, x, y, z, w."""


class BoundNodeSpec(Spec):
    """A node on a joint; the ends of a line are such."""

    kind: Literal["bound"]
    joint: str
    """The joint that carries it."""
    at: Vector
    """Where it is at bind, in that joint's own frame [m]."""
    swing: Share = 1.0
    """How much of the joint's swing it follows; less than 1 on an admissible line only."""
    twist: Share = 1.0
    """How much of the joint's twist it follows; less than 1 on an admissible line only."""
    axis: Direction | None = None
    """Along the limb, in world axes at bind: swing and twist are told by it; None is the joint's bone."""
    relative_to: str | None = None
    """The joint that swing and twist are seen from; None is the parent."""


class FreeNodeSpec(Spec):
    """A node between two others: pushed out of fields or, on an elastic line, drawn by springs."""

    kind: Literal["free"]
    ratio: Share
    """Share of the way from the bound or mobile node before it to the one after it, rising along the line."""
    offset: Vector | None = None
    """From there to the node at bind, in world axes [m]; None is none, and fields push it at bind too."""
    side: Direction | None = None
    """The side of its nearest field on which it is held, in world axes at bind; None does not hold it."""
    shared: str | None = None
    """Of elastic lines: free nodes of one such name are one node of several lines."""


class FreedomSpec(Spec):
    """One degree of freedom of a joint: an angle that is zero at bind."""

    joint: str
    kind: Literal["angle", "twist", "swing_x", "swing_y"]
    """About z of the frame, a hinge's or a limb's; or a component of the swing across it."""
    frame: Turn
    """Its axes in world axes at bind."""


class MobileNodeSpec(Spec):
    """A node that one degree of freedom leads between three places; of an admissible line only."""

    kind: Literal["mobile"]
    joint: str
    """The joint that carries it."""
    freedom: FreedomSpec
    """What leads it."""
    low: Degrees
    rest: Degrees
    high: Degrees
    at_low: Vector
    at_rest: Vector
    at_high: Vector
    """Where it is at those angles, in the joint's own frame at bind [m]."""
    shape: Literal["linear", "parabolic"] = "parabolic"

    @model_validator(mode="after")
    def _require_rising(self) -> MobileNodeSpec:
        if not self.low <= self.rest <= self.high or not self.low < self.high:
            raise refusal(
                f"the angles {self.low:g}, {self.rest:g} and {self.high:g} do not rise",
                "Give the lowest, the resting and the highest angle",
            )
        return self


NodeSpec = Annotated[BoundNodeSpec | FreeNodeSpec | MobileNodeSpec, Field(discriminator="kind")]


class LineSpec(Spec):
    """An action line, from the origin to the insertion."""

    nodes: Annotated[tuple[NodeSpec, ...], Field(min_length=2)]
    tendon: tuple[bool, ...] = ()
    """Whether each segment is tendon; none given is all belly."""
    fields: tuple[Name, ...] = ()
    """Names of the fields that act on its free nodes; see `muscles.fields`."""
    references: tuple[str, str] | None = None
    """Joints that carry the directions of both ends; None is those its ends are on."""
    blend: Share | None = None
    """The insertion's share in the directions between; None is the share of the way there."""
    outward: Direction | None = None
    """Where x points at its origin, in world axes at bind: the muscle bulges along it; None is any across."""
    curved: bool = True
    """A smooth curve through its nodes, else a polyline."""
    isometric: tuple[tuple[Positive, Positive], ...] = ()
    """How much broader the muscle is along x and y at each node at full activation; none given rises from 1
    at the ends to `largest_bulge` along x in the middle, and to its inverse along y."""
    exclusive: tuple[bool, ...] = ()
    """Segments of branching tendons, whose flesh follows this line alone; none given is none."""
    flesh: NotNegative = 0.0
    """How thick the muscle is between the line and bones it passes by [m]: fields on joints between those of
    its ends count as so much larger for an admissible line, but no larger than lets it lie as at bind."""

    @model_validator(mode="after")
    def _require_counts(self) -> LineSpec:
        count = len(self.nodes)
        for field, given, wanted in (
            ("tendon", self.tendon, count - 1),
            ("isometric", self.isometric, count),
            ("exclusive", self.exclusive, count - 1),
        ):
            if given and len(given) != wanted:
                raise refusal(
                    f"{len(given)} values for {count} nodes",
                    f"Give {wanted}, or none",
                    place=(field,),
                )
        for row in (0, count - 1):
            if self.nodes[row].kind == "free":
                raise refusal(
                    "a free node stands at the end of the line",
                    "Begin and end with nodes on joints",
                    place=("nodes", row),
                )
        if self.tendon and all(self.tendon):
            raise refusal(
                "nothing of the line is belly", "Mark a segment as belly: tendons do not stretch",
                place=("tendon",),
            )  # fmt: skip
        return self


class AdmissibleSpec(Spec):
    """Lines drawn tight over what is in their way; a function of the pose alone."""

    model: Literal["admissible"] = "admissible"
    subdivisions: Annotated[int, Field(ge=1, le=16)] = 1
    """Pieces of path to each segment: more hug small fields closer."""
    tightening: Annotated[int, Field(ge=0, le=64)] = 8
    """How often lines are drawn tight."""


class ElasticSpec(Spec):
    """Springs that fields bend; where they rest depends on the frames before."""

    model: Literal["elastic"]
    stiffness: Positive = 300.0
    """Of a belly segment [N/m]."""
    tendon_ratio: Positive = 10.0
    """How many times stiffer a tendon's segment is."""
    tension: NotNegative | None = None
    """At bind [N]; None is nine tenths of what the first slack segment would need."""
    damping: NotNegative = 1.0
    """Of every segment [N s/m]."""
    drag: NotNegative = 8.0
    """Of every node [N s/m]."""


PathSpec = Annotated[AdmissibleSpec | ElasticSpec, Field(discriminator="model")]


class OnLineSpec(Spec):
    """A place on another muscle's line."""

    muscle: Name
    line: Annotated[int, Field(ge=0)] = 0
    """Which of its lines, from 0."""
    place: NotNegative = 0.0
    """Node number and share of the way to the next: 2.5 is midway between the nodes 2 and 3."""


class EllipsoidSpec(Spec):
    """An ellipsoid carried by a joint, or by an elastic line."""

    joint: str | None = None
    on_line: OnLineSpec | None = None
    centre: Vector
    """At bind [m]: in the joint's own frame, or in the world where a line carries it."""
    turn: Turn = (0.0, 0.0, 0.0, 1.0)
    """Its axes, in the same frame."""
    radii: tuple[Positive, Positive, Positive]
    """Along its axes [m]."""

    @model_validator(mode="after")
    def _require_one_carrier(self) -> EllipsoidSpec:
        if (self.joint is None) == (self.on_line is None):
            raise refusal(
                "it is carried by neither or both of a joint and a line", "Name the one that carries it"
            )
        return self


class FieldSpec(Spec):
    """Ellipsoids that bend lines: all are in the way of admissible ones; to elastic ones the nearest acts."""

    ellipsoids: Annotated[tuple[EllipsoidSpec, ...], Field(min_length=1)]
    kind: Literal["attract", "repel"] = "repel"
    mode: Literal["orthogonal", "radial"] = "orthogonal"
    strength: Positive = 3000.0
    """Of its spring [N/m]."""
    reach: Positive | None = None
    """Beyond it nothing is attracted [m]; None is twice the largest radius."""
    rounding: Positive = 0.001
    """Over which pushing sets in, to either side of the surface [m]."""
    blend: Positive = 0.002
    """Over which the choice of the nearest is blended [m]."""


class AttachmentSpec(Spec):
    """Where a bone holds the muscle; which vertices sit on it is in the arrays file."""

    joint: str
    """The joint the bone moves with."""
    bone: str = ""
    end: Literal["origin", "insertion", "between"]
    reach: NotNegative = 0.0
    """How far over the surface vertices follow the bone partly [m]."""
    source: str = ""
    """What told of it: a site, a touch, the nearest bone, or a bone ahead."""


class LineMuscleSpec(Spec):
    """A muscle that is a mesh, driven by action lines."""

    muscle: str = ""
    """What it is a part of."""
    group: str = ""
    """What it is one of."""
    side: Literal["left", "right", "middle"] | None = None
    surface: MapName
    """Its mesh in the arrays file."""
    lines: Annotated[tuple[LineSpec, ...], Field(min_length=1)]
    path: PathSpec = AdmissibleSpec()
    """How its lines find their way."""
    attachments: tuple[AttachmentSpec, ...] = ()
    """None given: what lies past the ends of its lines goes with their joints."""
    volume: Literal["exact", "thesis"] = "exact"
    """Keep the volume of closed meshes, or swell by the published rule alone."""
    largest_bulge: Annotated[float, Field(ge=1.0, le=3.0)] = 1.3
    """The bulge at full activation; 1 does not bulge."""
    max_force: NotNegative = 0.0
    """The force at full activation [N]."""
    actions: tuple[ActionSpec, ...] = ()
    """What it does to joints, strongest first."""
    doubts: tuple[str, ...] = ()
    """What was not certain when it was built."""

    @model_validator(mode="after")
    def _require_lines_fit_path(self) -> LineMuscleSpec:
        if self.path.model != "elastic":
            return self
        for number, line in enumerate(self.lines):
            for row, node in enumerate(line.nodes):
                partly = node.kind == "bound" and (node.swing < 1.0 or node.twist < 1.0)
                if node.kind == "mobile" or partly:
                    raise refusal(
                        "an elastic line cannot have a mobile node or one that follows its joint in part",
                        'Bind it wholly, or write "admissible" as the path\'s model',
                        place=("lines", number, "nodes", row),
                    )
        return self


class BodyTypeSpec(Spec):
    """The two numbers of a body, for the whole package: the skin follows both."""

    bulk: Annotated[float, Field(ge=0.3, le=3.0)] = 1.0
    """Width and thickness of every muscle's sections; 1 is as modelled."""
    fat: Annotated[float, Field(ge=-1.0, le=3.0)] = 0.0
    """0 is as modelled, −1 lean; of 1 an adult of 1.75 m gains some 15 litres, where people do."""
