"""Where muscles found in the skin, or drawn under it, lie to the skin and to each other at bind."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_pieces import SignedPieces
from ecorche.body.character import Character
from ecorche.body.fit_for_muscles import times_a_person
from ecorche.body.place_muscles import bind_points
from ecorche.document.files import Rig
from ecorche.muscles.extraction.redrawn import surface_of
from ecorche.muscles.fit import TISSUE
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.skeleton.naming.recognise import recognise

FOLLOWS = 0.5
"""Skin with more than this weight follows a muscle."""


def skin_of(character: Character, rig: Rig) -> tuple[SignedPieces, float]:
    """The body's skin at bind, and how thick skin and fat over a muscle are at least [m]."""
    return _skin(character, rig.spec.body, tuple(rig.spec.skeleton.mapping.items()))


@lru_cache(maxsize=2)  # a point that is dragged asks again and again
def _skin(
    character: Character, name: str | None, mapping: tuple[tuple[str, str], ...]
) -> tuple[SignedPieces, float]:
    body = character.body(name)
    naming = recognise(character.skeleton, dict(mapping) or None)
    tissue = TISSUE * times_a_person(character.skeleton, naming)
    return SignedPieces(bind_points(character, body), body.mesh.triangles()), tissue


def outside(rig: Rig, character: Character, name: str) -> float:
    """How far a muscle found in a rig's skin, as it is drawn at bind, reaches out of it [m]; 0 where not.

    Drawn, it lies in the flesh, and tapers on to bones within it (`skin.flesh_weights`).
    """
    from ecorche.body.compile import compile_body
    from ecorche.body.ecorche_surfaces import EcorcheSurfaces, points_at_bind
    from ecorche.body.edited_rig import with_muscles

    alone = with_muscles(rig, {}, {name: rig.spec.muscles.lofted[name].model_copy(update={"joins": None})})
    body = compile_body(character, rig=alone)
    assert body.lofts is not None  # the rig has such a muscle
    points = points_at_bind(EcorcheSurfaces(None, body.lofts.lofts), body)
    depth, _ = skin_of(character, rig)[0].depth(points.astype(np.float64))
    return max(-float(depth.min()), 0.0)


def apart(one: LoftedMuscle, other: LoftedMuscle) -> float:
    """About how far the surfaces of two muscles are from each other where they are nearest [m]."""
    from scipy.spatial import cKDTree

    gaps, _ = cKDTree(_surface(one).reshape(-1, 3)).query(_surface(other).reshape(-1, 3))
    return float(np.min(gaps))


def _surface(muscle: LoftedMuscle) -> npt.NDArray[np.float64]:
    return surface_of(muscle, np.linspace(0.05, 0.95, 31), 24)


def joints_of_skin_over(muscle: LoftedMuscle, character: Character, rig: Rig) -> tuple[int, ...]:
    """The joints of the skin over a muscle, first the one it lies on, and those of its ends."""
    body = character.body(rig.spec.body)
    assert body.weights is not None  # a rig's body is skinned
    points = np.asarray(bind_points(character, body), np.float64)
    joints, shares = body.weights.padded()
    middles = surface_of(muscle, muscle.rings.u).mean(axis=1)
    near = np.unique([int(np.argmin(np.sum((points - place) ** 2, axis=1))) for place in middles])
    total = np.bincount(joints[near].ravel(), shares[near].ravel(), character.skeleton.joint_count)
    order = [int(j) for j in np.argsort(-total, kind="stable") if total[j] > 0.0]
    return tuple(dict.fromkeys((*order, *muscle.joints)))


def shares_that_follow(
    rig: Rig, character: Character, vertices: npt.NDArray[np.bool_]
) -> list[tuple[str, float]]:
    """The muscles found in a rig's skin by name, and what share of some vertices of the body follows each."""
    if not rig.spec.muscles.lofted:
        return []
    from ecorche.body.compile import compile_body

    lofts = compile_body(character, rig=rig).lofts
    assert lofts is not None  # the rig has such muscles
    shares = (lofts.over.weight[:, vertices] > FOLLOWS).mean(axis=1)
    return [(m.name, float(share)) for m, share in zip(lofts.lofts.muscles, shares, strict=True)]
