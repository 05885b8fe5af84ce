"""Recognise a humanoid by its shape alone: where the joints stand at bind, and how they hang together.

Own method. Legs are the pair of chains that go down to the ground; arms the pair that leaves the
trunk above them on either side; the head stands where neither goes. The feet say where the
figure faces, hence which side is left. What does not stand upright on two legs is refused: a horse
has all the joints, and none of their names fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from math import log

import numpy as np

from ecorche.base.rotations import normalise
from ecorche.skeleton.naming.digits import Digits, fingers, toes
from ecorche.skeleton.naming.figure import UP, Figure, Floats
from ecorche.skeleton.naming.limbs import Limb, fit_arm, fit_leg
from ecorche.skeleton.naming.roles import Role
from ecorche.skeleton.naming.spine import neck_vertebrae, trunk_vertebrae
from ecorche.skeleton.skeleton import Skeleton

FEWEST_JOINTS = 12
LARGEST_COST = 30.0


@dataclass
class ShapeMatch:
    """What the shape says: names and roles by joint number, remarks, or why it is no humanoid."""

    canonical: dict[int, str] = field(default_factory=dict)
    told: dict[int, Role] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refusal: str | None = None


@dataclass(frozen=True)
class _Body:
    """The frame of a figure on two legs."""

    legs: tuple[Limb, Limb]
    fork: int  # the joint both legs hang on
    middle: Floats  # between the hips
    across: Floats  # unit, level, from the first leg's hip to the second's
    leg: float  # mean leg length


def match_shape(skeleton: Skeleton) -> ShapeMatch:
    """The canonical names of an upright humanoid's joints, or the reason why it is none."""
    figure = Figure(skeleton)
    if skeleton.joint_count < FEWEST_JOINTS or figure.height <= 0.0:
        return ShapeMatch(refusal=f"{skeleton.joint_count} joints are too few for a humanoid")
    body = _find_legs(figure)
    if body is None:
        return ShapeMatch(refusal="no pair of legs goes down to the ground")
    arms, chest = _find_arms(figure, body)
    if arms is None:
        return ShapeMatch(refusal="no pair of arms leaves the trunk above the legs")
    refusal = _not_upright(figure, body, arms)
    if refusal is not None:
        return ShapeMatch(refusal=refusal)
    return _named(figure, body, arms, chest)


def _find_legs(figure: Figure) -> _Body | None:
    """The best pair of equal chains, under one joint, that go down to the ground."""
    ground = float(figure.points[:, 1].min())
    best: tuple[float, _Body] | None = None
    for fork, below in enumerate(figure.children):
        fitted = []
        for child in below:
            tip = figure.lowest(figure.ends(child))
            leg = fit_leg(figure, figure.path(fork, tip))
            if leg is None:
                continue
            drop = figure.points[leg.upper, 1] - figure.points[leg.lower, 1]
            on_ground = figure.points[leg.lower, 1] < ground + 0.2 * figure.height
            if drop > 0.25 * figure.height and on_ground and leg.cost < LARGEST_COST:
                fitted.append(leg)
        for a, b in combinations(fitted, 2):
            body = _as_body(figure, fork, a, b)
            if body is not None and (best is None or a.cost + b.cost < best[0] - 1e-9):
                best = a.cost + b.cost, body
    return best[1] if best is not None else None


def _length(figure: Figure, limb: Limb) -> float:
    return figure.distance(limb.upper, limb.middle) + figure.distance(limb.middle, limb.lower)


def _as_body(figure: Figure, fork: int, a: Limb, b: Limb) -> _Body | None:
    lengths = _length(figure, a), _length(figure, b)
    apart = figure.points[b.upper] - figure.points[a.upper]
    apart = apart - (apart @ UP) * UP
    if abs(log(lengths[0] / lengths[1])) > 0.3 or np.linalg.norm(apart) < 0.02 * lengths[0]:
        return None
    middle = 0.5 * (figure.points[a.upper] + figure.points[b.upper])
    return _Body((a, b), fork, middle, normalise(apart), 0.5 * sum(lengths))


def _find_arms(figure: Figure, body: _Body) -> tuple[tuple[Limb, Limb] | None, int]:
    """The best pair of arms, in the order of the legs' sides, and the joint both hang on."""
    in_legs = {j for leg in body.legs for j in figure.below[leg.chain[0]]}
    best: tuple[float, tuple[Limb, Limb], int] | None = None
    for chest, below in enumerate(figure.children):
        if chest in in_legs or len(below) < 2:
            continue
        fitted: tuple[list[Limb], list[Limb]] = [], []
        for child in below:
            if child in in_legs:
                continue
            tip = figure.farthest(chest, figure.ends(child))
            for sign, found in zip((-1.0, 1.0), fitted, strict=True):
                arm = fit_arm(figure, figure.path(chest, tip), body.middle, sign * body.across, body.leg)
                if arm is not None and arm.cost < LARGEST_COST:
                    found.append(arm)
        for a in fitted[0]:
            for b in fitted[1]:
                unequal = abs(log(_length(figure, a) / _length(figure, b)))
                cost = a.cost + b.cost + 20.0 * unequal
                if a.chain[0] != b.chain[0] and unequal < 0.3 and (best is None or cost < best[0] - 1e-9):
                    best = cost, (a, b), chest
    return (None, -1) if best is None else (best[1], best[2])


def _not_upright(figure: Figure, body: _Body, arms: tuple[Limb, Limb]) -> str | None:
    """Why the figure is no upright humanoid, None when it is one."""
    shoulders = 0.5 * (figure.points[arms[0].upper] + figure.points[arms[1].upper])
    trunk = shoulders - body.middle
    if trunk @ UP < 0.7 * np.linalg.norm(trunk):
        return "the trunk does not stand upright on the legs, as a four-legged animal's"
    ankle = max(float(figure.points[leg.lower, 1]) for leg in body.legs)
    hand = min(float(figure.points[arm.lower, 1]) for arm in arms)
    if hand < ankle + 0.15 * body.leg:
        return "both pairs of limbs stand on the ground, as a four-legged animal's"
    return None


def _named(figure: Figure, body: _Body, arms: tuple[Limb, Limb], chest: int) -> ShapeMatch:
    match = ShapeMatch()
    forward = _facing(figure, body, match.notes)
    left = np.cross(UP, forward)
    letters = ("l", "r") if (figure.points[body.legs[0].upper] - body.middle) @ left > 0.0 else ("r", "l")
    leaves = 0
    for letter, leg, arm in zip(letters, body.legs, arms, strict=True):
        outward = left if letter == "l" else -left
        _name_leg(match, letter, leg)
        _name_arm(match, letter, arm)
        feet = toes(figure, leg.lower, forward, outward, body.leg)
        for digits in (feet, fingers(figure, arm.lower)):
            _name_digits(match, letter, digits)
            leaves += len(digits.leaves)
    _name_trunk(figure, match, body, chest)
    _name_head(figure, match, body, arms, chest, left, leaves > 0)
    return match


def _facing(figure: Figure, body: _Body, notes: list[str]) -> Floats:
    """The level unit vector the figure faces along: where its feet, else its knees, point.

    It is square to the line through the hips.
    """
    ahead = normalise(np.cross(body.across, UP))
    feet = knees = 0.0
    for leg in body.legs:
        ankle = figure.points[leg.lower]
        ends = [figure.points[j] for j in figure.ends(leg.lower)]
        ends += [t for t in figure.tips[figure.below[leg.lower]] if np.isfinite(t).all()]
        feet += max(((p - ankle) @ ahead for p in ends), key=abs)
        hip, knee = figure.points[leg.upper], figure.points[leg.middle]
        line = normalise(ankle - hip)
        bend = (knee - hip) - ((knee - hip) @ line) * line
        knees += float(bend @ ahead)
    for lean in (feet, knees):
        if abs(lean) > 0.01 * body.leg:
            return ahead if lean > 0.0 else -ahead
    notes.append(
        "neither feet nor knees say which way the figure faces: it is taken to face +Z, or else +X;"
        " give a mapping if left and right are exchanged"
    )
    return ahead if (ahead[2], ahead[0]) > (0.0, 0.0) else -ahead


def _name_leg(match: ShapeMatch, letter: str, leg: Limb) -> None:
    parts = ("hip", leg.upper), ("knee", leg.middle), ("talocrural", leg.lower)
    match.canonical.update((joint, f"{letter}_{name}") for name, joint in parts)
    match.told.update((joint, "twist") for joint in leg.between())
    match.told.update((joint, "helper") for joint in leg.before())


def _name_arm(match: ShapeMatch, letter: str, arm: Limb) -> None:
    parts = ("shoulder", arm.upper), ("elbow", arm.middle), ("radiocarpal", arm.lower)
    match.canonical.update((joint, f"{letter}_{name}") for name, joint in parts)
    match.told.update((joint, "twist") for joint in arm.between())
    girdle = arm.before()
    match.told.update((joint, "helper") for joint in girdle[1:-1])
    if girdle:
        match.canonical[girdle[0]] = f"{letter}_sternoclavicular"
    if len(girdle) > 1:
        match.canonical[girdle[-1]] = f"{letter}_acromioclavicular"


def _name_digits(match: ShapeMatch, letter: str, digits: Digits) -> None:
    match.canonical.update((joint, name.replace("*", letter)) for joint, name in digits.names.items())
    match.told.update((joint, "leaf") for joint in digits.leaves)


def _name_trunk(figure: Figure, match: ShapeMatch, body: _Body, chest: int) -> None:
    """The root and the spine: from where legs and arms part, up to where the arms leave."""
    root = figure.common(body.fork, chest)
    pelvis_apart = root != body.fork
    if pelvis_apart and (root < 0 or np.linalg.norm(figure.points[root] - body.middle) > 0.4 * body.leg):
        # spine and pelvis hang side by side on a joint that is elsewhere, often on the ground
        match.canonical[body.fork] = "humanoid_root"
    else:
        match.canonical[root] = "humanoid_root"
        if pelvis_apart:
            match.canonical[body.fork] = "sacroiliac"
    _name_vertebrae(match, figure.path(root, chest), trunk_vertebrae)


def _name_vertebrae(
    match: ShapeMatch, chain: list[int], vertebrae: Callable[[int], list[str | None]]
) -> None:
    for joint, vertebra in zip(chain, vertebrae(len(chain)), strict=True):
        if vertebra is None:
            match.told[joint] = "joint"
        elif joint not in match.canonical:
            match.canonical[joint] = vertebra


def _name_head(
    figure: Figure,
    match: ShapeMatch,
    body: _Body,
    arms: tuple[Limb, Limb],
    chest: int,
    left: Floats,
    has_leaves: bool,
) -> None:
    """Neck and head: the chain that goes on upwards in the middle, from the chest or just below it."""
    shoulder = 0.5 * float(figure.points[arms[0].upper, 1] + figure.points[arms[1].upper, 1])
    trunk = shoulder - float(body.middle[1])

    def off_centre(joint: int) -> float:
        return abs(float((figure.points[joint] - body.middle) @ left))

    taken = {arm.chain[0] for arm in arms}
    base, ways = chest, list[int]()
    while base >= 0 and base != body.fork and not ways:
        ways = [
            child
            for child in figure.children[base]
            if child not in taken
            and off_centre(child) < 0.1 * body.leg
            and max(figure.points[figure.below[child], 1]) > shoulder
        ]
        taken.add(base)
        base = figure.parents[base]
    if not ways:
        match.notes.append("no head was found above the shoulders")
        return
    first = figure.highest([figure.highest(figure.below[c]) for c in ways])
    chain = [next(c for c in ways if first in figure.below[c])]
    branched = False
    while figure.children[chain[-1]]:
        below = figure.children[chain[-1]]
        branched = len(below) > 2 or any(off_centre(c) > 0.02 * body.leg for c in below)
        if branched:
            break
        top = figure.highest(j for c in below for j in figure.below[c])
        chain.append(next(c for c in below if top in figure.below[c]))
    while len(chain) > 1 and figure.distance(chain[-1], chain[-2]) < 1e-3 * body.leg:
        chain.pop()  # a second joint at the same place, such as a face's
    if not branched and len(chain) > 1:
        above = (float(figure.points[chain[-1], 1]) - shoulder) / trunk
        # a skull's base stands some 0.3 of the trunk's height above the shoulders, its top 0.6
        if above > 0.52 or (has_leaves and len(chain) > 2):
            match.told[chain.pop()] = "leaf"
    match.canonical[chain[-1]] = "skullbase"
    _name_vertebrae(match, chain[:-1], neck_vertebrae)
