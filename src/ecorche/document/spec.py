"""What a rig file says, field by field. Plain values only; angles in degrees, lengths in metres.

The models here, in `joint_spec`, `muscle_spec`, `lofted_spec` and `line_spec` are the format: the JSON Schema
in ``docs/schema`` is generated from them. A field that is added, renamed or removed needs a new version and a
migration (`migrate`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from ecorche.base.names import suggestion
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.fat_spec import FatSpec
from ecorche.document.fields import MapName, Share, Spec, refusal
from ecorche.document.joint_spec import JointSpec, VirtualScapulaSpec
from ecorche.document.line_spec import BodyTypeSpec, FieldSpec, LineMuscleSpec
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.muscle_spec import MuscleSpec, Name
from ecorche.document.springs_spec import SpringsSpec
from ecorche.document.wrinkle_spec import WrinklesSpec

VERSION: Final = 5
"""The version of the rig format this Ecorche writes; it reads this one and all before."""


def _require_relative(path: str) -> str:
    if path.startswith("/") or "\\" in path or path[1:2] == ":" or "\0" in path:
        raise refusal(
            f"{path!r} is not a relative path with forward slashes",
            "Write it relative to the rig file, such as '../characters/man.glb'",
        )
    return path


Hash = Annotated[str, Field(pattern=r"^ecorche1:[0-9a-f]{64}$")]


class SetAside(Spec):
    """Edits of joints that a former character had: nothing reads them until such a joint is back."""

    mapping: Mapping[str, str] = Field(default_factory=dict)
    joints: Mapping[str, JointSpec] = Field(default_factory=dict)
    virtual_scapulae: Mapping[str, VirtualScapulaSpec] = Field(default_factory=dict)
    muscles: Mapping[str, MuscleSpec] = Field(default_factory=dict)
    lofted: Mapping[str, LoftedMuscleSpec] = Field(default_factory=dict)


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


class ActivationSpec(Spec):
    """How active the muscles are when a bake is not told otherwise."""

    source: Literal["joints", "motion", "anticipating", "constant"] = "joints"
    """By the joints' angles; by how they move; before they move, released as they do; or always the same."""
    value: Share = 0.0
    """The activation where it is constant."""


class MusclesSpec(Spec):
    """The muscles of the character."""

    named: Mapping[Name, MuscleSpec] = Field(default_factory=dict)
    """Each muscle of the template, or drawn like one, by its own name."""
    lofted: Mapping[Name, LoftedMuscleSpec] = Field(default_factory=dict)
    """Each muscle found in the skin, by its own name."""
    lines: Mapping[Name, LineMuscleSpec] = Field(default_factory=dict)
    """Each muscle that is a mesh on action lines, by its own name. They move the skin by `coupling`."""
    fields: Mapping[Name, FieldSpec] = Field(default_factory=dict)
    """What bends action lines, such as bones, by name."""
    volume: Literal["exact", "two_cone"] = "exact"
    """What keeps the volume of `named` ones as they change length."""
    activation: ActivationSpec = ActivationSpec()
    """How active they are when a bake is not told otherwise."""
    gains: Mapping[str, Annotated[float, Field(ge=0.0, le=10.0)]] = Field(default_factory=dict)
    """By group: how much of the muscles' effect on the skin is shown; 1 where a group is not named."""

    def each(self) -> Iterator[tuple[tuple[str, str, str], MuscleSpec | LoftedMuscleSpec]]:
        """Every muscle that moves the skin, with its place in the file, which ends in its name."""
        for kind, of_kind in (("named", self.named), ("lofted", self.lofted)):
            for name, muscle in of_kind.items():
                yield ("muscles", kind, name), muscle

    @property
    def count(self) -> int:
        """How many muscles there are of all kinds."""
        return len(self.named) + len(self.lofted) + len(self.lines)

    def with_muscle(self, name: str, muscle: MuscleSpec | LoftedMuscleSpec) -> MusclesSpec:
        """The same with one muscle changed."""
        kind = "lofted" if isinstance(muscle, LoftedMuscleSpec) else "named"
        return self.model_copy(update={kind: {**getattr(self, kind), name: muscle}})


def _require_trunk(name: str, lofted: Mapping[str, LoftedMuscleSpec]) -> None:
    """A branch leads to a muscle that is none: muscles do not branch from each other in a ring."""
    trunk, passed = lofted[name].joins, {name}
    while trunk is not None and trunk in lofted and trunk not in passed:
        passed.add(trunk)
        trunk = lofted[trunk].joins
    if trunk == name:
        raise refusal(
            f"{name!r} branches, in the end, from itself",
            "Write null for the one that is the trunk",
            place=("muscles", "lofted", name, "joins"),
        )


def _require_line_parts(muscles: MusclesSpec) -> None:
    """Fields that lines speak of, and lines that fields speak of, are there."""
    for name, muscle in muscles.lines.items():
        if name in muscles.named or name in muscles.lofted:
            raise refusal(
                f"two muscles are called {name!r}",
                "Rename one of them: activations are given by name",
                place=("muscles", "lines", name),
            )
        for number, line in enumerate(muscle.lines):
            for row, field in enumerate(line.fields):
                if field not in muscles.fields:
                    raise refusal(
                        f"there is no field {field!r}",
                        f"Name one of muscles.fields. {suggestion(field, muscles.fields)}",
                        place=("muscles", "lines", name, "lines", number, "fields", row),
                    )
    for name, field_spec in muscles.fields.items():
        for row, ellipsoid in enumerate(field_spec.ellipsoids):
            carrier = ellipsoid.on_line
            if carrier is None:
                continue
            place = ("muscles", "fields", name, "ellipsoids", row, "on_line")
            carrying = muscles.lines.get(carrier.muscle)
            if carrying is None or carrying.path.model != "elastic":
                elastic = [n for n, m in muscles.lines.items() if m.path.model == "elastic"]
                raise refusal(
                    f"there is no muscle {carrier.muscle!r} with elastic lines",
                    suggestion(carrier.muscle, elastic),
                    place=(*place, "muscle"),
                )
            if carrier.line >= len(carrying.lines):
                raise refusal(
                    f"{carrier.muscle!r} has no line {carrier.line}",
                    f"Count from 0 to {len(carrying.lines) - 1}",
                    place=(*place, "line"),
                )


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

    version: Literal[5]
    name: str
    character: CharacterRef
    body: str | None = None
    """The mesh that is the body; None takes the one that covers most joints."""
    body_type: BodyTypeSpec = BodyTypeSpec()
    """How muscular and how fat it is."""
    skeleton: SkeletonSpec = SkeletonSpec()
    skinning: SkinningSpec = SkinningSpec()
    muscles: MusclesSpec = MusclesSpec()
    coupling: CouplingSpec = CouplingSpec()
    """How the skin is bound to what lies beneath."""
    fat: FatSpec = FatSpec()
    """Fat that moves where a bake asks for it."""
    springs: SpringsSpec = SpringsSpec()
    """Muscles and skin that jiggle where a bake asks for it."""
    wrinkles: Mapping[str, WrinklesSpec] = Field(default_factory=dict)
    """Folds at joints that bend: at elbow, knee, wrist, waist or neck, or at a joint by its name."""
    maps: Mapping[MapName, MapRef] = Field(default_factory=dict)
    arrays: ArraysRef | None = None
    """Written with the file; None only until then."""
    notes: tuple[str, ...] = ()
    """Whatever people want to remember."""

    @model_validator(mode="after")
    def _require_named_parts(self) -> RigSpec:
        """Maps, groups and muscles that the muscles speak of are there."""
        muscles = self.muscles
        for place, muscle in muscles.each():
            painted = muscle.influence.painted
            if painted is not None and painted not in self.maps:
                raise refusal(
                    f"there is no map {painted!r}",
                    f"Name it in maps, or write null. {suggestion(painted, self.maps)}",
                    place=(*place, "influence", "painted"),
                )
        for field, painted in self.coupling.maps():
            if painted not in self.maps:
                raise refusal(
                    f"there is no map {painted!r}",
                    f"Name it in maps, or write a number. {suggestion(painted, self.maps)}",
                    place=("coupling", field),
                )
        for where, painted in self.fat.maps():
            if painted not in self.maps:
                raise refusal(
                    f"there is no map {painted!r}",
                    f"Name it in maps, or write a number. {suggestion(painted, self.maps)}",
                    place=("fat", *where),
                )
        for name, loft in muscles.lofted.items():
            if name in muscles.named:
                raise refusal(
                    f"two muscles are called {name!r}",
                    "Rename one of them: activations are given by name",
                    place=("muscles", "lofted", name),
                )
            if loft.joins is not None and (loft.joins == name or loft.joins not in muscles.lofted):
                others = [other for other in muscles.lofted if other != name]
                raise refusal(
                    f"there is no other muscle {loft.joins!r} to branch from",
                    f"Name one of muscles.lofted, or write null. {suggestion(loft.joins, others)}",
                    place=("muscles", "lofted", name, "joins"),
                )
            _require_trunk(name, muscles.lofted)
        _require_line_parts(muscles)
        aside = self.skeleton.set_aside or SetAside()
        groups = {muscle.group for _, muscle in muscles.each()} - {""}
        groups |= {muscle.group for muscle in muscles.lines.values()} - {""}
        groups |= {m.group for m in aside.muscles.values()} | {m.group for m in aside.lofted.values()}
        for group in muscles.gains:
            if group not in groups:
                raise refusal(
                    f"no muscle is one of the {group!r}",
                    suggestion(group, sorted(groups)),
                    place=("muscles", "gains", group),
                )
        return self
