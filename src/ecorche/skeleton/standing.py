"""The standing figure: a human skeleton of average proportions in the anatomical standing position.

Upright, facing +Z, legs straight and parallel, arms hanging with palms to the thighs: the pose in
which H-Anim figures stand and from which joint angles are counted in gait analysis. It carries
motions that are written down in such angles to any character by retargeting. Heights and lengths of segments
as parts of stature after Drillis and Contini (1966), as tabled in Winter, Biomechanics and Motor
Control of Human Movement; spine and hand drawn in between by us.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ecorche.skeleton.skeleton import Skeleton

STATURE = 1.75  # [m]

# joint, parent, and where it stands as parts of stature: to the left, up, forward
_MIDDLE = (
    ("humanoid_root", "", (0.0, 0.545, 0.0)),
    ("sacroiliac", "humanoid_root", (0.0, 0.545, 0.0)),
    ("vl5", "humanoid_root", (0.0, 0.565, -0.010)),
    ("vl1", "vl5", (0.0, 0.640, -0.006)),
    ("vt7", "vl1", (0.0, 0.725, -0.016)),
    ("vc7", "vt7", (0.0, 0.825, -0.012)),
    ("vc4", "vc7", (0.0, 0.855, -0.004)),
    ("skullbase", "vc4", (0.0, 0.885, 0.006)),
)
_LEFT = (
    ("hip", "sacroiliac", (0.052, 0.530, 0.0)),
    ("knee", "hip", (0.052, 0.285, 0.0)),
    ("talocrural", "knee", (0.052, 0.039, 0.0)),
    ("metatarsophalangeal_2", "talocrural", (0.056, 0.012, 0.075)),
    ("sternoclavicular", "vt7", (0.014, 0.815, 0.008)),
    ("shoulder", "sternoclavicular", (0.112, 0.812, -0.008)),
    ("elbow", "shoulder", (0.126, 0.627, -0.008)),
    ("radiocarpal", "elbow", (0.137, 0.481, -0.008)),
    ("carpometacarpal_1", "radiocarpal", (0.137, 0.470, 0.004)),
    ("metacarpophalangeal_1", "carpometacarpal_1", (0.135, 0.449, 0.018)),
    ("carpal_interphalangeal_1", "metacarpophalangeal_1", (0.134, 0.433, 0.024)),
    ("metacarpophalangeal_2", "radiocarpal", (0.141, 0.427, 0.006)),
    ("carpal_proximal_interphalangeal_2", "metacarpophalangeal_2", (0.142, 0.402, 0.007)),
    ("carpal_distal_interphalangeal_2", "carpal_proximal_interphalangeal_2", (0.143, 0.387, 0.007)),
    ("metacarpophalangeal_3", "radiocarpal", (0.141, 0.425, -0.006)),
    ("carpal_proximal_interphalangeal_3", "metacarpophalangeal_3", (0.142, 0.398, -0.006)),
    ("carpal_distal_interphalangeal_3", "carpal_proximal_interphalangeal_3", (0.143, 0.381, -0.006)),
    ("metacarpophalangeal_4", "radiocarpal", (0.141, 0.428, -0.017)),
    ("carpal_proximal_interphalangeal_4", "metacarpophalangeal_4", (0.142, 0.403, -0.018)),
    ("carpal_distal_interphalangeal_4", "carpal_proximal_interphalangeal_4", (0.143, 0.388, -0.018)),
    ("metacarpophalangeal_5", "radiocarpal", (0.141, 0.433, -0.027)),
    ("carpal_proximal_interphalangeal_5", "metacarpophalangeal_5", (0.142, 0.414, -0.029)),
    ("carpal_distal_interphalangeal_5", "carpal_proximal_interphalangeal_5", (0.143, 0.403, -0.029)),
)
_TIPS = {"skullbase": (0.0, 0.115, 0.0), "metatarsophalangeal_2": (0.0, -0.006, 0.034)}
_FINGERTIP = (0.0, -0.013, 0.0)


@cache
def standing_figure() -> Skeleton:
    """The standing figure, 1.75 m tall, its joints under their canonical names."""
    rows = list(_MIDDLE)
    for side, sign in (("l", 1.0), ("r", -1.0)):
        for name, parent, (x, y, z) in _LEFT:
            above = parent if parent in ("sacroiliac", "vt7") else f"{side}_{parent}"
            rows.append((f"{side}_{name}", above, (sign * x, y, z)))
    names = [name for name, _, _ in rows]
    parents = np.array([names.index(p) if p else -1 for _, p, _ in rows], np.int32)
    heads = STATURE * np.array([place for _, _, place in rows])
    bind = np.tile(np.eye(4), (len(rows), 1, 1))
    bind[:, :3, 3] = heads - np.where(parents[:, None] >= 0, heads[parents], 0.0)
    tails = np.full((len(rows), 3), np.nan)
    for joint, name in enumerate(names):
        bare = name[2:] if name[1] == "_" else name
        if bare in _TIPS:
            tails[joint] = STATURE * np.array(_TIPS[bare])
        elif joint not in parents:
            tails[joint] = STATURE * np.array(_FINGERTIP)
    return Skeleton(tuple(names), parents, bind, bind.copy(), tails)
