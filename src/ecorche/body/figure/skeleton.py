"""The built-in figure's joints: an adult of 1.75 m, bound with arms and legs a little apart.

Segment lengths are those of the standing figure (Drillis and Contini 1966, as tabled in Winter, Biomechanics
and Motor Control of Human Movement). Head and spine are drawn nearer to where the vertebrae lie, since a
body with a skin shows it: the skull's base behind and below the ear, the chest's vertebrae in its back half.
Shoulder blades are joints of their own. Arms hang at 45 degrees and fingers are spread, so that skin and
skin weights of neighbours do not touch.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skeleton.standing import STATURE, standing_figure

Floats = npt.NDArray[np.float64]

_LEFT, _UP, _FORWARD = np.eye(3)

# where this figure differs from the standing one, as parts of stature: to the left, up, forward
_PLACES = {
    "humanoid_root": (0.0, 0.545, -0.004),
    "sacroiliac": (0.0, 0.545, -0.004),
    "vl5": (0.0, 0.575, -0.012),
    "vl1": (0.0, 0.645, -0.014),
    "vt7": (0.0, 0.728, -0.027),
    "vc7": (0.0, 0.832, -0.024),
    "vc4": (0.0, 0.870, -0.012),
    "skullbase": (0.0, 0.912, -0.004),
}
_ACROMION = (0.104, 0.826, -0.012)
_CROWN = (0.0, 0.088, 0.002)

# joint, axis and degrees of the left side, outer joints first: how the bind pose differs from standing
_SPREAD = (
    ("metacarpophalangeal_2", _LEFT, -6.5),
    ("metacarpophalangeal_3", _LEFT, -0.5),
    ("metacarpophalangeal_4", _LEFT, 6.5),
    ("metacarpophalangeal_5", _LEFT, 13.5),
    *((f"metacarpophalangeal_{n}", _FORWARD, -7.0) for n in (2, 3, 4, 5)),
    *((f"carpal_proximal_interphalangeal_{n}", _FORWARD, -9.0) for n in (2, 3, 4, 5)),
    ("carpometacarpal_1", _LEFT, -16.0),
    ("metacarpophalangeal_1", _LEFT, 12.0),
    ("elbow", _LEFT, -8.0),
    ("shoulder", _FORWARD, 45.0),
    ("hip", _FORWARD, 5.0),
    ("talocrural", _FORWARD, -5.0),
    ("talocrural", _UP, 6.0),
)


@cache
def figure_skeleton() -> Skeleton:
    """The joints of the built-in figure at bind under their canonical names; their axes are the world's."""
    standing = standing_figure()
    names = list(standing.names)
    above = {name: names[p] if p >= 0 else "" for name, p in zip(names, standing.parents, strict=True)}
    heads = dict(zip(names, standing.bind_world[:, :3, 3].copy(), strict=True))
    tails = dict(zip(names, standing.tails.copy(), strict=True))
    for name, place in _PLACES.items():
        heads[name] = STATURE * np.array(place)
    tails["skullbase"] = STATURE * np.array(_CROWN)
    for side, mirror in (("l", 1.0), ("r", -1.0)):
        blade = f"{side}_acromioclavicular"
        names.insert(names.index(f"{side}_shoulder"), blade)
        heads[blade] = STATURE * np.array(_ACROMION) * (mirror, 1.0, 1.0)
        tails[blade] = np.full(3, np.nan)
        above[blade], above[f"{side}_shoulder"] = f"{side}_sternoclavicular", blade
        for joint, axis, degrees in _SPREAD:
            flip = mirror if axis is not _LEFT else 1.0
            _turn(f"{side}_{joint}", axis, flip * degrees, heads, tails, above)
    parents = np.array([names.index(above[n]) if above[n] else -1 for n in names], np.int32)
    world = np.tile(np.eye(4), (len(names), 1, 1))
    world[:, :3, 3] = [heads[n] for n in names]
    bind = local_from_world(parents, world)
    return Skeleton(tuple(names), parents, bind, bind.copy(), np.array([tails[n] for n in names]))


def _turn(
    joint: str,
    axis: Floats,
    degrees: float,
    heads: dict[str, Floats],
    tails: dict[str, Floats],
    above: dict[str, str],
) -> None:
    """Turn everything that hangs on a joint about it."""
    turn = matrix_from_xyzw(xyzw_from_axis_angle(axis, np.radians(degrees)))
    for name in heads:
        up = name
        while up and up != joint:
            up = above[up]
        if up == joint:
            heads[name] = heads[joint] + turn @ (heads[name] - heads[joint])
            tails[name] = turn @ tails[name]
