"""Twenty muscles of 32 elastic lines on a captured person, as many as the thesis's Table 4.1 has.

Four lines cross each hip, knee, shoulder and elbow, of nine nodes, and four orthogonal fields act on each:
the joint's ball and the two bones push it off, a pad over the joint draws it in. A segment at either end is
tendon: with two, springs in the bend of the running elbow rest longer than the way from end to end.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from ecorche.io.formats import read_motion
from ecorche.muscles.lines.elastic import DYNAMIC, ElasticLine, ElasticLines
from ecorche.muscles.lines.elastic_compile import elastic_lines
from ecorche.muscles.lines.fields import Field, FieldEllipsoid
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

NODES = 9
# where the bone above a joint begins, the joint, where the bone below ends, how many muscles cross it
CROSSED = (
    ("{0}Shoulder", "{0}Arm", "{0}ForeArm", 2),
    ("{0}Arm", "{0}ForeArm", "{0}Hand", 3),
    ("Spine", "{0}UpLeg", "{0}Leg", 2),
    ("{0}UpLeg", "{0}Leg", "{0}Foot", 3),
)
PLACES = {2: ("front 1", "front 2", "back 1", "back 2"), 3: ("front 1", "front 2", "side", "back")}
"""Names of the four lines over a joint: by muscle, then by line where it has two."""


def captured(name: str) -> tuple[Motion, Floats]:
    """A captured motion and its poses (F, J, 4, 4) as differences from bind."""
    motion = read_motion(DATA / "cmu" / f"{name}.bvh")
    return motion, difference_from_bind(motion.skeleton, motion.local)


def lines_on(skeleton: Skeleton, times: int = 1, tendons: int = 1) -> ElasticLines:
    """The lines, each several times over if so many are asked for, with so many tendon segments an end."""
    parts = list(crossing(skeleton, times, tendons))
    return elastic_lines(
        [line for line, _ in parts], [f for _, fields in parts for f in fields], len(skeleton.names)
    )


def crossing(skeleton: Skeleton, times: int, tendons: int = 1) -> Iterator[tuple[ElasticLine, list[Field]]]:
    """Each line with its fields."""
    place = skeleton.bind_world[:, :3, 3]
    for side in ("Left", "Right"):
        for above, at, below, muscles in CROSSED:
            start, joint, end = (skeleton.names.index(n.format(side)) for n in (above, at, below))
            parent = int(skeleton.parents[joint])
            for copy in range(times):
                for n, spot in enumerate(PLACES[muscles]):
                    name = f"{at.format(side)} {spot}" + (f" again {copy}" if copy else "")
                    turn = 0.5 * np.pi * n + 0.3 * copy / times
                    yield _line(name, place[start], place[joint], place[end], parent, joint, turn, tendons)


def _line(
    name: str, top: Floats, middle: Floats, bottom: Floats, parent: int, joint: int, turn: float, tendons: int
) -> tuple[ElasticLine, list[Field]]:
    down, up = bottom - middle, top - middle
    out = np.cross(down, [0.3, 0.2, 1.0])
    out /= np.linalg.norm(out)
    side = np.cross(down, out) / np.linalg.norm(down)
    aside = np.cos(turn) * out + np.sin(turn) * side
    origin, insertion = middle + 0.7 * up + 0.05 * aside, middle + 0.5 * down + 0.03 * aside
    shares = np.linspace(0.0, 1.0, NODES)[:, None]
    tendon = [*[True] * tendons, *[False] * (NODES - 1 - 2 * tendons), *[True] * tendons]
    across = 0.5 * (np.linalg.norm(up) + np.linalg.norm(down))
    shapes = (
        ("ball", parent, middle, (0.04, 0.04, 0.04), up, "repel", 5000.0),
        ("upper", parent, middle + 0.5 * up, (0.025, 0.025, 0.45 * np.linalg.norm(up)), up, "repel", 3000.0),
        (
            "lower",
            joint,
            middle + 0.5 * down,
            (0.025, 0.025, 0.45 * np.linalg.norm(down)),
            down,
            "repel",
            3000.0,
        ),
        ("pad", parent, middle, (0.06, 0.06, 0.5 * across), up, "attract", 150.0),
    )
    fields = []
    for what, carrier, centre, radii, along, kind, strength in shapes:
        one = FieldEllipsoid(centre, np.array(radii), _axes(along), joint=carrier)
        fields.append(Field(f"{name}, {what}", (one,), kind, strength=strength))  # type: ignore[arg-type]
    line = ElasticLine(
        name,
        origin * (1.0 - shares) + insertion * shares,
        [parent, *[DYNAMIC] * (NODES - 2), joint],
        tendon,
        [field.name for field in fields],
    )
    return line, fields


def _axes(along: Floats) -> Floats:
    """Unit axes as columns, the last one along."""
    z = along / np.linalg.norm(along)
    x = np.cross([0.3, 1.0, 0.2], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=-1)
