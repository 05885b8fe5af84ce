"""The figure's skin put together: what fills the body, the template's muscles, and the relief over them.

Hollows and swellings, and where the skin is finer, are drawn by us; the left side and the middle are told.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.body.figure.flesh import flesh
from ecorche.body.figure.skin import Bell, Detail, Lens, SkinField, SkinSurface, skin_surface
from ecorche.body.figure.solids import Tube, packed
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

RINGS, SIDES = 16, 8
"""How finely muscles are told to the skin."""
LEAST = 0.006
"""Half as thick as a muscle under the skin is, at least [m]; tendons thinner than that lie as much deeper."""

RELIEF = (
    Bell((0.0, 1.02, 0.10), (0.07, 0.06, 0.06), 0.004),  # belly
    Bell((0.0, 1.046, 0.10), (0.010, 0.014, 0.03), -0.006),  # navel
    Bell((0.0, 1.20, -0.09), (0.014, 0.16, 0.05), -0.007),  # furrow of the back
    Bell((0.0, 1.16, 0.11), (0.012, 0.08, 0.04), -0.003),  # linea alba
    Bell((0.0, 1.428, 0.05), (0.013, 0.014, 0.03), -0.007),  # above the breastbone
    Bell((0.015, 1.633, 0.085), (0.006, 0.006, 0.010), -0.004),  # inner corner of the eye
    Bell((0.033, 1.644, 0.080), (0.012, 0.004, 0.012), -0.003),  # below the brow
)


def figure_skin(skeleton: Skeleton, muscles: Musculature) -> SkinSurface:
    """The first skin of the built-in figure, over muscles with the template's own proportions."""
    heads = dict(zip(skeleton.names, skeleton.bind_world[:, :3, 3], strict=True))
    tips = dict(zip(skeleton.names, skeleton.tail_positions(), strict=True))
    hand, foot = heads["l_metacarpophalangeal_3"], heads["l_talocrural"] + (0.012, 0.0, 0.09)
    foot[1] = 0.03
    details = (
        Detail(_three(hand), 0.12, 0.25),
        Detail((0.0, 1.61, 0.05), 0.085, 0.45),
        Detail(_three(foot), 0.10, 0.45),
    )
    arm = Lens(_three(0.5 * (heads["l_elbow"] + hand)), 0.30, 0.54, 1.35)
    lenses = (
        Lens(_three(arm.enlarged(hand)), 0.14, 0.44, 2.2),
        arm,
        Lens((0.0, 1.60, 0.05), 0.115, 0.36, 2.0),
        Lens(_three(foot), 0.11, 0.36, 1.6),
    )
    filling, limits = flesh(heads, tips)
    field = SkinField(packed([*filling, *_muscle_tubes(muscles, details)]), packed(limits), RELIEF, details)
    return skin_surface(field, lenses, np.array([*heads.values(), *tips.values()]))


def _three(place: Floats) -> tuple[float, float, float]:
    x, y, z = place
    return float(x), float(y), float(z)


def _muscle_tubes(muscles: Musculature, details: tuple[Detail, ...]) -> list[Tube]:
    """Muscles as tubes, all that come near the left half; hands, feet and face have forms of their own."""
    surfaces = spindle_surfaces(muscles.spindles, rings=RINGS, sides=SIDES)
    joints = muscles.frames.paths.skeleton.joint_count - len(muscles.scapulae)
    frames, states = muscles.posed(np.zeros((joints, 4, 4)))
    points = surfaces.points(states, Stations(*frames.at(surfaces.t)))
    rings = points.reshape(len(muscles.muscles), -1, 3)[:, 1:-1].reshape(-1, RINGS, SIDES, 3)
    centres = rings.mean(axis=2)
    out, side = rings[:, :, 0] - centres, rings[:, :, SIDES // 4] - centres
    made = []
    for m in range(len(rings)):
        kept = np.ones(RINGS, bool)
        for detail in details:
            kept &= detail.factor(centres[m]) > 0.6
        if kept.sum() < 2 or rings[m, ..., 0].max() < -0.02:
            continue
        half = np.linalg.norm(out[m], axis=1, keepdims=True)
        deeper = centres[m] - out[m] / half * np.maximum(LEAST - half, 0.0)
        axes = [
            axis * np.maximum(1.0, LEAST / np.linalg.norm(axis, axis=1, keepdims=True))
            for axis in (out[m], side[m])
        ]
        made.append(Tube(deeper[kept], axes[0][kept], axes[1][kept], (0.5 * LEAST, 0.5 * LEAST)))
    return made
