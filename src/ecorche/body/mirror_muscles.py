"""Muscles of a rig mirrored to the other side of the body: places, shapes, actions, influence and painted
weights.

Joints are paired by their canonical names, and the plane is the skeleton's own (`skeleton.symmetry`). Where
the
bind pose is not quite the same on both sides, a point keeps its place by the joint it moves with. A muscle
takes the place of its partner, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.base.names import other_side
from ecorche.body.character import Character
from ecorche.body.edit_spindles import with_spindle
from ecorche.body.edited_rig import Edited, require_known, with_found
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.painting import with_weights
from ecorche.body.transfer import plan_transfer
from ecorche.document.bind import BindMesh
from ecorche.document.files import Rig
from ecorche.errors import DocumentError, EcorcheError
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.scapula import VirtualScapula, with_scapulae
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.symmetry import Symmetry, symmetry_of

Floats = npt.NDArray[np.float64]

MIDLINE = 0.002
"""A path that leaves the plane by less than this share of the skeleton's extent lies in it."""
UNEVEN = 0.02
"""Sides that differ by more than this share of the skeleton's extent at bind are told."""
TOLD = 6
"""So many names in one line."""


def mirrored(rig: Rig, character: Character, names: Sequence[str]) -> Edited:
    """The rig with muscles on the other side as they are on theirs; one that cannot be is refused.

    Args:
        rig: The rig.
        character: Its character.
        names: Of spindles and of muscles found in the skin. No two of them may be each other's partners.
    """
    names = tuple(dict.fromkeys(names))
    for name in names:
        require_known(rig, name)
        if (other := other_side(name)) in names:
            raise DocumentError(
                f"{name!r} and {other!r} are each other's partners: each would take the other's place",
                where=rig.source,
                remedy="Name the one that is right",
            )
    sides = _Sides(rig, character)
    made, lines, moved = rig, [], []
    for name in names:
        muscle = sides.muscle(name)
        image = sides.image(muscle)
        there = image.name in {*made.spec.muscles.named, *made.spec.muscles.lofted}
        if there and (image.name in made.spec.muscles.named) != isinstance(image, Muscle):
            raise DocumentError(
                f"{image.name!r}, the partner of {name!r}, is a muscle of another kind",
                where=rig.source,
                remedy="Remove or rename it first",
            )
        if isinstance(image, LoftedMuscle):
            made = with_found(made, character, image)
        else:
            made = with_spindle(made, character, image)
        if painted := (muscle.painted if isinstance(muscle, LoftedMuscle) else muscle.reach.painted):
            weights = sides.carried(np.asarray(rig.maps[painted], np.float64))
            made = with_weights(made, image.name, weights, f"mirrored from {name!r}")
        lines.append(f"{name!r} mirrored: {image.name!r}" + (" replaced" if there else ""))
        moved += sides.joints_of(muscle)
    return Edited(made, (*_short(lines), *sides.told(moved)))


def mirrored_side(rig: Rig, character: Character, side: str) -> Edited:
    """The rig with all muscles of one side on the other too; what lies on the midline stays, and is told.

    Args:
        rig: The rig.
        character: Its character.
        side: ``"left"`` or ``"right"``: the side that is right as it is.
    """
    if side not in ("left", "right"):
        raise EcorcheError(f"{side!r} is no side", remedy="Choose left or right")
    sides = _Sides(rig, character)
    chosen, stays = [], []
    for name in (*rig.spec.muscles.named, *rig.spec.muscles.lofted):
        muscle = sides.muscle(name)
        if sides.side(muscle) != side:
            continue
        try:
            sides.image(muscle)
        except EcorcheError as error:
            stays.append(f"{name!r} stays alone: {error.what}")
        else:
            chosen.append(name)
    if not chosen:
        raise EcorcheError(
            f"no muscle lies on the {side} that could be mirrored",
            where=rig.source,
            remedy="Choose the other",
        )
    edited = mirrored(rig, character, chosen)
    return Edited(edited.rig, (f"{len(chosen)} muscles of the {side} mirrored", *stays, *edited.lines[-1:]))


@dataclass(frozen=True, eq=False)
class _Places:
    """Points of a muscle at bind [m] (points, 3), and the joints they move with."""

    joints: tuple[int, ...]
    points: Floats


class _Sides:
    """The two sides of one rig's character, virtual shoulder blades included."""

    def __init__(self, rig: Rig, character: Character) -> None:
        self.rig, self.character = rig, character
        spindles, self.scapulae = muscles_of(rig, character.skeleton)
        self._muscles: dict[str, Muscle | LoftedMuscle] = {m.name: m for m in spindles}
        self._muscles |= {m.name: m for m in lofted_muscles_of(rig, character.skeleton)}
        naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
        self.symmetry = symmetry_of(character.skeleton, naming)
        self.skeleton = with_scapulae(character.skeleton, self.scapulae)
        self.partner = _with_blades(self.symmetry, self.scapulae)
        heads = self.skeleton.bind_world[:, :3, 3]
        self.extent = float(np.linalg.norm(np.ptp(heads, axis=0)))
        self.shift = heads[self.partner] - self.symmetry.image(heads)
        own = self.partner == np.arange(len(self.partner))
        self.shift[own | (self.partner < 0)] = 0.0

    def muscle(self, name: str) -> Muscle | LoftedMuscle:
        return self._muscles[name]

    def joints_of(self, muscle: Muscle | LoftedMuscle) -> list[int]:
        return [*muscle.joints]

    def side(self, muscle: Muscle | LoftedMuscle) -> str:
        """The side that most of a muscle's path is on, ``""`` on the midline."""
        beside = self.symmetry.side(_places(muscle).points)
        if np.abs(beside).max() < MIDLINE * self.extent:
            return ""
        return "left" if beside[np.abs(beside).argmax()] > 0.0 else "right"

    def image(self, muscle: Muscle | LoftedMuscle) -> Muscle | LoftedMuscle:
        """The muscle on the other side; one on the midline, or on joints without a partner, is refused."""
        self._require_side(muscle)
        side = "right" if self.side(muscle) == "left" else "left"
        name = other_side(muscle.name) or f"{muscle.name}, {side}"
        joints = tuple(self._other(joint, muscle.name) for joint in muscle.joints)
        outward = self.symmetry.image_of_direction(muscle.outward)
        actions = tuple(
            replace(
                action,
                joint=self.skeleton.names[self._other(self.skeleton.index(action.joint), muscle.name)],
                axis=_vector(self.symmetry.image_of_axis(action.axis)),
            )
            for action in muscle.actions
        )
        if isinstance(muscle, Muscle):
            sweep = muscle.sweep.copy()
            sweep[..., 1] *= -1.0  # along × outward turns round in a mirror
            reach = tuple(self._other(joint, muscle.name) for joint in muscle.reach.joints)
            return replace(
                muscle,
                name=name,
                joints=joints,
                positions=self._points(muscle.joints, muscle.positions),
                outward=outward,
                sweep=sweep + 0.0,
                reach=replace(muscle.reach, joints=tuple(sorted(reach)), painted=""),
                actions=actions,
            )
        wrap = muscle.wrap
        if wrap is not None:
            wrap = replace(
                wrap,
                joint=self._other(wrap.joint, muscle.name),
                centre=self._points((wrap.joint,), wrap.centre[None])[0],
                axis=self.symmetry.image_of_axis(wrap.axis),
            )
        rings = muscle.rings
        trunk = other_side(muscle.joins) if muscle.joins else None
        return replace(
            muscle,
            name=name,
            muscle=other_side(muscle.muscle) or muscle.muscle,
            joints=(joints[0], joints[1]),
            ends=self._points(muscle.joints, muscle.ends),
            outward=outward,
            rings=replace(rings, centre=rings.centre * np.array([1.0, -1.0]) + 0.0, angle=-rings.angle + 0.0),
            wrap=wrap,
            joins=trunk if trunk is not None and trunk in self.rig.spec.muscles.lofted else "",
            painted="",
            reach=tuple(self._other(joint, muscle.name) for joint in muscle.reach),
            actions=actions,
        )

    def carried(self, values: Floats) -> Floats:
        """Weights a vertex of the body, as the other side's skin has them, (vertices,)."""
        body = self.rig.bind.mesh(self.rig.spec.body or self.character.body(None).name, self.rig.source)
        points = self.symmetry.image(body.points)
        first = np.cumsum([0, *body.face_counts[:-1]])
        turned = np.concatenate(  # a mirror image faces inwards unless its faces are turned round
            [body.face_indices[a : a + n][::-1] for a, n in zip(first, body.face_counts, strict=True)]
        )
        image = BindMesh(body.name, points.astype(np.float32), body.face_counts, turned.astype(np.int32))
        plan = plan_transfer(image, body, body.points.astype(np.float64))
        return np.clip(np.asarray(plan.carry(values), np.float64), 0.0, 1.0)

    def told(self, joints: Sequence[int]) -> list[str]:
        """A sentence where the sides differ at bind by more than a little."""
        worst = max(joints, key=lambda j: float(np.linalg.norm(self.shift[j])))
        far = float(np.linalg.norm(self.shift[worst]))
        if far <= UNEVEN * self.extent:
            return []
        return [
            f"the sides differ at bind: {self.skeleton.names[worst]!r} by {1e3 * far:.0f} mm;"
            " each point keeps its place by its joint"
        ]

    def _points(self, joints: Sequence[int], points: Floats) -> Floats:
        return np.asarray(self.symmetry.image(points) + self.shift[list(joints)])

    def _other(self, joint: int, name: str) -> int:
        other = int(self.partner[joint])
        if other < 0:
            raise EcorcheError(
                f"the joint {self.skeleton.names[joint]!r} has no partner on the other side",
                where=f"muscle {name!r}",
                remedy="Name the joints (a mapping to canonical names) so that both sides are known",
            )
        return other

    def _require_side(self, muscle: Muscle | LoftedMuscle) -> None:
        places = _places(muscle)
        beside = self.symmetry.side(places.points)
        middle = [int(self.partner[j]) == j for j in places.joints]
        where = f"muscle {muscle.name!r}"
        if np.abs(beside).max() < MIDLINE * self.extent:
            raise EcorcheError(
                "it lies on the midline: it would be its own partner",
                where=where,
                remedy="Mirror what lies on a side",
            )
        if all(middle) and beside[0] * beside[-1] < 0.0:
            raise EcorcheError(
                "it crosses the midline: its other side is already there",
                where=where,
                remedy="Duplicate it and move its points, if there is to be a second",
            )


def _with_blades(symmetry: Symmetry, scapulae: Sequence[VirtualScapula]) -> npt.NDArray[np.int64]:
    """The partner of every joint and, after them, of every virtual scapula."""
    count = len(symmetry.partner)
    blades = {scapula.name: count + number for number, scapula in enumerate(scapulae)}
    others = [blades.get(other_side(name) or "", -1) for name in blades]
    return np.concatenate([symmetry.partner, np.array(others, np.int64)])


def _places(muscle: Muscle | LoftedMuscle) -> _Places:
    points = muscle.positions if isinstance(muscle, Muscle) else muscle.ends
    return _Places(tuple(muscle.joints), points)


def _vector(values: Floats) -> tuple[float, float, float]:
    x, y, z = (values + 0.0).tolist()
    return x, y, z


def _short(lines: list[str]) -> list[str]:
    return lines if len(lines) <= TOLD else [*lines[:TOLD], f"and {len(lines) - TOLD} more"]
