"""One muscle, or one head of a muscle, of the anatomical template: typed plain data.

The right side is written down; `mirrored` gives the left. Coordinates are explained in `segments`,
directions of movement in `directions`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ecorche.muscles.muscle import Neighbourhood, Weighting
from ecorche.skeleton.naming.vocabulary import mirrored as mirrored_joint

Vector = tuple[float, float, float]

PELVIS, LUMBAR, WAIST, THORAX, NECK, SKULL = "sacroiliac", "vl5", "vl1", "vt1", "vc4", "skullbase"
CLAVICLE, SCAPULA = "r_sternoclavicular", "r_acromioclavicular"
ARM, FOREARM, HAND = "r_shoulder", "r_elbow", "r_radiocarpal"
THUMB, INDEX, MIDDLE, LITTLE = (f"r_metacarpophalangeal_{n}" for n in (1, 2, 3, 5))
THIGH, SHANK, FOOT, TOES = "r_hip", "r_knee", "r_talocrural", "r_metatarsophalangeal_2"
DIGITS = ("carpometacarpal_1", "metacarpophalangeal", "metatarsophalangeal")

HOLZBAUR = "Holzbaur, Murray, Delp 2005"
RAJAGOPAL = "Rajagopal et al. 2016"
DELP = "Delp et al. 1990"
ESTIMATE = "our estimate, bulk compared with a neighbour whose force is published"


@dataclass(frozen=True)
class Attachment:
    """A point of a muscle's path: on which segment, and where in that segment's frame."""

    segment: str
    at: Vector


@dataclass(frozen=True)
class Action:
    """A direction in which a muscle moves a joint, and how much of its work that is, 0 to 1."""

    joint: str
    direction: str
    weight: float


@dataclass(frozen=True)
class TemplateMuscle:
    """A spindle of the template; several of one flat or many-headed muscle share ``muscle``.

    Attributes:
        muscle: Anatomical name, such as ``"deltoid"``.
        head: Which part of it, such as ``"middle"``; empty where the muscle is one spindle.
        side: ``"right"`` or ``"left"``.
        group: What it is one of, such as ``"elbow flexors"``.
        path: Origin, via points, insertion.
        limb: The segment whose surface the belly bulges, and whose frame says where outward is.
        skin: Further segments whose skin the muscle may move; the limb's own it may always.
        outward: Direction hint for S_d, towards the skin, in the axes of ``limb``.
        belly: Position t_c of the belly's centre along the path, in (0, 1).
        thickness: Half-width b_C at the belly, across S_d, as a share of the limb's y unit.
        flatness: Scale s_f: half-thickness along S_d over half-width; below 1 is flat.
        influence: Which vertices it may move.
        weighting: How its influence falls off.
        max_force: F_max [N].
        force_source: Where F_max is from.
        actions: What it does, strongest first.
        resists: Directions in which it works against a load without moving the joint that way: it yields,
            as a quadriceps in a squat, or holds the bone that others pull on, as a trapezius when the
            arm rises. They drive activation like actions, but say nothing of its pull.
        deep: Whether other muscles lie between it and the skin, so that it moves none.
    """

    muscle: str
    head: str
    side: Literal["right", "left"]
    group: str
    path: tuple[Attachment, ...]
    limb: str
    outward: Vector
    belly: float
    thickness: float
    flatness: float
    influence: Neighbourhood
    weighting: Weighting
    max_force: float
    force_source: str
    actions: tuple[Action, ...]
    skin: tuple[str, ...] = ()
    resists: tuple[Action, ...] = ()
    deep: bool = False

    @property
    def name(self) -> str:
        """Its unique name, such as ``"deltoid, middle, right"``."""
        return ", ".join(part for part in (self.muscle, self.head, self.side) if part)

    @property
    def origin(self) -> Attachment:
        """Where it springs from."""
        return self.path[0]

    @property
    def insertion(self) -> Attachment:
        """Where it pulls."""
        return self.path[-1]

    @property
    def via(self) -> tuple[Attachment, ...]:
        """The points it passes in between."""
        return self.path[1:-1]

    def mirrored(self) -> TemplateMuscle:
        """The same muscle of the other side."""
        return replace(
            self,
            side="left" if self.side == "right" else "right",
            path=tuple(Attachment(mirrored_joint(p.segment), _flipped(p.at)) for p in self.path),
            limb=mirrored_joint(self.limb),
            skin=tuple(mirrored_joint(segment) for segment in self.skin),
            outward=_flipped(self.outward),
            actions=tuple(replace(a, joint=mirrored_joint(a.joint)) for a in self.actions),
            resists=tuple(replace(a, joint=mirrored_joint(a.joint)) for a in self.resists),
        )


def _flipped(v: Vector) -> Vector:
    return (-v[0], v[1], v[2])


def at(segment: str, x: float, y: float, z: float) -> Attachment:
    """A point in segment coordinates."""
    return Attachment(segment, (x, y, z))


def right(
    name: str,
    group: str,
    path: tuple[Attachment, ...],
    actions: tuple[tuple[str, str, float], ...],
    *,
    limb: str,
    outward: Vector,
    thickness: float,
    force: float,
    source: str,
    belly: float = 0.5,
    flatness: float = 0.7,
    influence: Neighbourhood = "fitted",
    weighting: Weighting = "spline",
    skin: tuple[str, ...] = (),
    resists: tuple[tuple[str, str, float], ...] = (),
    deep: bool = False,
) -> TemplateMuscle:
    """A muscle of the right side; ``name`` is ``"muscle"`` or ``"muscle: head"``."""
    muscle, _, head = name.partition(": ")
    acts, yields = (tuple(Action(*action) for action in table) for table in (actions, resists))
    return TemplateMuscle(
        muscle, head, "right", group, path, limb, outward, belly, thickness, flatness,
        influence, weighting, force, source, acts, skin, yields, deep,
    )  # fmt: skip
