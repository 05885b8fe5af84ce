"""What a rig file says, field by field. Plain values only; angles in degrees.

The models here are the format: the JSON Schema in ``docs/schema`` is generated from them. A
field that is added, renamed or removed needs a new version and a migration (`migrate`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from ecorche.base.names import suggestion

VERSION: Final = 2
"""The version of the rig format this Ecorche writes; it reads this one and all before."""


class Spec(BaseModel):
    """Values of one part of the rig file: read-only, of exactly the stated types and names."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, values: object) -> object:
        # before pydantic's own refusal, which does not know the names that would have been right
        if isinstance(values, Mapping):
            for name in values:
                if name not in cls.model_fields:
                    raise PydanticCustomError(
                        "unknown_field",
                        "unknown field '{name}'",
                        {"name": name, "remedy": suggestion(str(name), cls.model_fields)},
                    )
        return values


def _refusal(what: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError("refused", "{what}", {"what": what, "remedy": remedy})


def _require_unit(q: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    length = math.hypot(*q)
    if abs(length - 1.0) > 1e-3:
        raise _refusal(
            f"the quaternion has length {length:.4g}, not 1", "Divide its four numbers by that length"
        )
    return q


def _require_direction(v: tuple[float, float, float]) -> tuple[float, float, float]:
    if math.hypot(*v) < 1e-6:
        raise _refusal("the direction has no length", "Give a vector other than zero")
    return v


def _require_relative(path: str) -> str:
    if path.startswith("/") or "\\" in path or path[1:2] == ":" or "\0" in path:
        raise _refusal(
            f"{path!r} is not a relative path with forward slashes",
            "Write it relative to the rig file, such as '../characters/man.glb'",
        )
    return path


def _require_order(limits: tuple[float, float]) -> tuple[float, float]:
    if limits[0] > limits[1]:
        raise _refusal(
            f"the least angle {limits[0]:g} exceeds the greatest {limits[1]:g}", "Exchange the two"
        )
    return limits


def _require_key_order(key: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    _require_order((key[2], key[3]))
    return key


UnitQuaternion = Annotated[tuple[float, float, float, float], AfterValidator(_require_unit)]
"""A rotation as x, y, z, w."""
Direction = Annotated[tuple[float, float, float], AfterValidator(_require_direction)]
Polygon = Annotated[tuple[Direction, ...], Field(min_length=3)]
"""A loop of limb directions in the anatomical frame, z along the limb; the limb stays inside."""
Degrees = Annotated[float, Field(ge=-360.0, le=360.0)]
Range = Annotated[tuple[Degrees, Degrees], AfterValidator(_require_order)]
"""The least and the greatest angle."""
Play = Annotated[float, Field(ge=0.0, le=180.0)]
TwistKey = Annotated[tuple[Degrees, Degrees, Degrees, Degrees], AfterValidator(_require_key_order)]
"""Swing x, swing y, least twist, greatest twist."""
Vector = tuple[float, float, float]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
HalfAxis = Annotated[float, Field(ge=0.0)]
HalfCurve = tuple[HalfAxis, HalfAxis, HalfAxis, HalfAxis]
"""Four control values of one half of a muscle, from its origin's side to its insertion's."""
Offset = tuple[float, float]
HalfSweep = tuple[Offset, Offset, Offset, Offset]
Hash = Annotated[str, Field(pattern=r"^ecorche1:[0-9a-f]{64}$")]
MapName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_ .-]{0,63}$")]


class HingeLimits(Spec):
    """How far a hinge bends [degrees]."""

    range: Range
    play: Play = 0.0
    """How far the hinge's axis may tilt."""


class KneeLimits(Spec):
    """How far a knee bends, and how far it twists when bent [degrees]."""

    flexion: Range
    twist: Range
    narrowing: Annotated[float, Field(ge=0.0, le=180.0)] = 20.0
    """The twist range narrows to nothing over this last part of the extension."""
    play: Play = 0.0
    """How far it may tilt sideways, and twist beyond its range."""


class SwingLimits(Spec):
    """The directions a limb may point in."""

    polygon: Polygon
    play: Play = 0.0
    """How far it may twist nevertheless [degrees]."""


class BallLimits(Spec):
    """The directions a limb may point in, and how far it may twist in each."""

    polygon: Polygon
    twist_keys: Annotated[tuple[TwistKey, ...], Field(min_length=1)]
    """At swing (x, y) the twist may go from a least to a greatest angle, all in degrees."""


class _Joint(Spec):
    model: str
    anatomical_frame: UnitQuaternion = (0.0, 0.0, 0.0, 1.0)
    """Turns z into the limb's direction in the canonical pose, xyzw; a hinge turns about that z."""
    canonical_offset: UnitQuaternion = (0.0, 0.0, 0.0, 1.0)
    """What takes the default pose, standing with arms down, to the canonical pose, xyzw."""


class RevoluteSpec(_Joint):
    """A hinge: one angle about z."""

    model: Literal["revolute"]
    limits: HingeLimits


class KneeSpec(_Joint):
    """A hinge that also twists when bent."""

    model: Literal["knee"]
    limits: KneeLimits


class SwingSpec(_Joint):
    """A limb that points in a direction and does not twist."""

    model: Literal["swing"]
    limits: SwingLimits


class BallAndSocketSpec(_Joint):
    """A limb that points in a direction and twists about itself."""

    model: Literal["ball_and_socket"]
    limits: BallLimits


JointSpec = Annotated[RevoluteSpec | KneeSpec | SwingSpec | BallAndSocketSpec, Field(discriminator="model")]


class SetAside(Spec):
    """Edits of joints that a former character had: nothing reads them until such a joint is back."""

    mapping: Mapping[str, str] = Field(default_factory=dict)
    joints: Mapping[str, JointSpec] = Field(default_factory=dict)


class VirtualScapulaSpec(Spec):
    """A shoulder blade the rig lacks: it rides on the girdle and turns up as the arm rises."""

    girdle: str
    """The joint that carries it: a collar bone where there is one, else the chest."""
    thorax: str
    """The joint of the chest, on which the arm's elevation is measured."""
    arm: str
    """The joint of the upper arm, whose place it turns about."""
    axis: Direction
    """Axis of upward rotation at bind, right-handed."""
    hanging: Direction
    """Where a hanging arm points, at bind."""
    arm_direction: Direction
    """Where the upper arm points at bind."""


class SkeletonSpec(Spec):
    """What the joints are called in anatomy, and how they may move."""

    mapping: Mapping[str, str] = Field(default_factory=dict)
    """The character's joint name to its H-Anim name; joints left out are recognised by themselves."""
    joints: Mapping[str, JointSpec] = Field(default_factory=dict)
    """Joint models by the character's joint name; joints left out take the human defaults."""
    limits: Literal["off", "enforce"] = "off"
    """Whether motion is kept within the joints' limits."""
    virtual_scapulae: Mapping[str, VirtualScapulaSpec] = Field(default_factory=dict)
    """Joints that are not in the character; muscles may be attached to them by name."""
    set_aside: SetAside | None = None
    """Put there by a rebind."""


class SkinningSpec(Spec):
    """How the skin follows the joints."""

    method: Literal["linear", "dual_quaternion", "contour"] | None = None
    """None keeps what the character file asks for."""


class PathPointSpec(Spec):
    """A point of a muscle's path."""

    joint: str
    """The joint, or virtual scapula, it moves with."""
    at: Vector
    """Where it is at bind, in that joint's own frame [m]."""


class ActionSpec(Spec):
    """A direction in which a muscle moves a joint: turning it that way makes the muscle work."""

    joint: str
    """The character's joint."""
    axis: Direction
    """What it turns about, in world axes at bind, right-handed."""
    degrees: tuple[Degrees, Degrees]
    """From bind: where the muscle begins to work, and where it works fully."""
    weight: Share = 1.0
    """How active it is then."""


class InfluenceSpec(Spec):
    """Which part of the skin a muscle moves, and how much."""

    neighbourhood: Literal["fitted", "half_space", "radial"] = "fitted"
    """The vertices over the muscle, on its outer side, or round it."""
    weighting: Literal["binary", "spline"] = "spline"
    """All alike, or as much as the muscle is thick there."""
    radius: Positive | None = None
    """How far a radial neighbourhood reaches [m]; None is half as much again as the muscle."""
    joints: tuple[str, ...] = ()
    """The joints whose skin it may move."""
    painted: MapName | None = None
    """A map of weights, 0 to 1, that takes the place of those found; see `maps`."""


class MuscleSpec(Spec):
    """A muscle: a spindle on a path. Several of one flat or many-headed muscle share `muscle`."""

    muscle: str = ""
    """What it is a part of, such as "deltoid"."""
    group: str = ""
    """What it is one of, such as "elbow flexors"; gains are given by group."""
    path: Annotated[tuple[PathPointSpec, ...], Field(min_length=2)]
    """Origin, via points, insertion."""
    outward: Direction
    """Towards the skin at bind, in world axes: the direction in which it bulges, before it is made
    perpendicular to the path."""
    belly: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.5
    """Where the two halves meet, as a share of the length from the origin."""
    scale: Positive = 1.0
    """Half-axis of the section towards the skin, over the one across; below 1 is flat."""
    thickness: tuple[HalfCurve, HalfCurve]
    """Control values of the half-axis across [m], from the origin to the belly and on to the insertion."""
    sweep: tuple[HalfSweep, HalfSweep] | None = None
    """Control offsets of the section's centre from the path, outwards and sideways [m]; None is none."""
    largest_bulge: Annotated[float, Field(ge=1.0, le=3.0)] = 1.3
    """The bulge at full activation."""
    max_force: Annotated[float, Field(ge=0.0)] = 0.0
    """The force at full activation [N]."""
    force_source: str = ""
    influence: InfluenceSpec = InfluenceSpec()
    actions: tuple[ActionSpec, ...] = ()


class ActivationSpec(Spec):
    """How active the muscles are when a bake is not told otherwise."""

    source: Literal["joints", "anticipating", "constant"] = "joints"
    """By the joints' angles; before the motion, released as the bones move; or always the same."""
    value: Share = 0.0
    """The activation where it is constant."""


class MusclesSpec(Spec):
    """The muscles of the character."""

    named: Mapping[str, MuscleSpec] = Field(default_factory=dict)
    """Each muscle by its own name."""
    volume: Literal["exact", "two_cone"] = "exact"
    """What keeps their volume as they change length."""
    activation: ActivationSpec = ActivationSpec()
    gains: Mapping[str, Annotated[float, Field(ge=0.0, le=10.0)]] = Field(default_factory=dict)
    """By group: how much of the muscles' effect on the skin is shown; 1 where a group is not named."""


class MapRef(Spec):
    """A named value a vertex, such as a painted mask. The numbers are in the arrays file."""

    mesh: str
    """The mesh it is painted on."""
    values: Literal["continuous", "labels"] = "continuous"
    """Labels are never averaged when the map moves to another mesh."""
    about: str = ""


class BindHash(Spec):
    """Which shape the rig was made for: one hash for each thing that can change by itself."""

    points: Hash
    topology: Hash
    joints: Hash


class CharacterRef(Spec):
    """The character this rig belongs to."""

    path: Annotated[str, Field(min_length=1), AfterValidator(_require_relative)]
    """Relative to the rig file, with forward slashes."""
    hash: BindHash


class ArraysRef(Spec):
    """The file of numbers that belongs to this rig file, and to no other version of it."""

    file: Annotated[str, Field(pattern=r"^[^/\\:\x00-\x1f]+\.npz$")]
    """A file name; it lies beside the rig file."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class RigSpec(Spec):
    """A rig file."""

    version: Literal[2]
    name: str
    character: CharacterRef
    body: str | None = None
    """The mesh that is the body; None takes the one that covers most joints."""
    skeleton: SkeletonSpec = SkeletonSpec()
    skinning: SkinningSpec = SkinningSpec()
    muscles: MusclesSpec = MusclesSpec()
    maps: Mapping[MapName, MapRef] = Field(default_factory=dict)
    arrays: ArraysRef | None = None
    """Written with the file; None only until then."""
    notes: tuple[str, ...] = ()
    """Whatever people want to remember."""
