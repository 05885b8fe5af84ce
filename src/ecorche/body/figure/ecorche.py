"""The built-in figure's écorché and the skin over it.

Bones, the template's muscles with their own proportions (nothing has been fitted to a skin yet), pads of
face, hands and feet, and what fills the body between them. Fat by region is that of a lean man. A few
hollows that neither bone nor muscle makes are drawn by us; the left side and the middle are told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.lens_grid import Lens
from ecorche.base.smooth_step import smooth_step
from ecorche.body.figure.bone import Bone
from ecorche.body.figure.bone_mesh import BoneSurface, grown_surface, tube_surface
from ecorche.body.figure.extremities import foot, hand, head
from ecorche.body.figure.filling import filling
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.skeleton.naming.vocabulary import mirrored
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.extract_skin import SkinSurface, extract_skin
from ecorche.skin.layers_beneath import LayersBeneath
from ecorche.skin.settle_skin import vertex_normals

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EDGE = 0.0150
"""Of the skin [m], where forms are not small."""
RINGS, SIDES, PAD_SIDES = 24, 12, 16
"""How finely muscles and pads are told to the skin."""
HEAD, HAND, FOOT = (0.0032, 0.0035), (0.0030, 0.0025), (0.0035, 0.0030)
"""How finely the pads of head, hand and foot are told, and how softly their parts grow together [m]."""

GROUND, SOLE = 0.001, 0.012
"""Height of the sole, and how far its edge is rounded [m]."""
ENDS, FARTHEST_END = 0.4, 0.04
"""Over which share of its length a muscle follows its end onto a bone, and from how far away at most [m]."""

SUNK = {
    "rectus abdominis": (0.0, 0.0, -0.012),
    "external oblique, anterior": (-0.006, 0.0, -0.008),
    "external oblique, lateral": (-0.011, 0.0, 0.0),
}
"""How far bellies of muscles lie lateral, above and before where the template has them [m]: a lean man's
belly is flat."""

SOFT = ("vl5", "vl1", "vc7", "vc4")
"""Joints with whose fillings the skin moves, belly and throat: everywhere else bones are near."""

REGIONS = {
    # fat, and half the width of gaps that are bridged [m]
    "head": (0.0008, 0.0015),
    "neck": (0.0030, 0.014),
    "trunk": (0.0050, 0.022),
    "girdle": (0.0080, 0.022),
    "belly": (0.0070, 0.022),
    "hip": (0.0070, 0.014),
    "thigh": (0.0050, 0.010),
    "shank": (0.0040, 0.009),
    "foot": (0.0010, 0.002),
    "arm": (0.0040, 0.014),
    "forearm": (0.0035, 0.008),
    "hand": (0.0006, 0.0008),
}
PADDED = ("hand", "foot")
"""Where tendons lie in pads."""
_OF_JOINT = {
    "skullbase": "head",
    "vc4": "neck",
    "vc7": "neck",
    "vt7": "trunk",
    "vl1": "belly",
    "vl5": "belly",
    "sacroiliac": "hip",
    "hip": "thigh",
    "knee": "shank",
    "talocrural": "foot",
    "metatarsophalangeal_2": "foot",
    "sternoclavicular": "girdle",
    "acromioclavicular": "girdle",
    "shoulder": "arm",
    "elbow": "forearm",
}


def region_of(joint: str) -> str:
    """The region of what moves with a joint, by its canonical name; all that is no other is the hand."""
    return _OF_JOINT.get(joint.removeprefix("l_").removeprefix("r_"), "hand")


@dataclass(frozen=True)
class Bell:
    """A swelling, or a hollow where ``height`` is negative: Gaussian, of half-widths along the axes [m]."""

    centre: tuple[float, float, float]
    widths: tuple[float, float, float]
    height: float


RELIEF = (
    Bell((0.0, 1.046, 0.10), (0.010, 0.014, 0.03), -0.006),  # navel
    Bell((0.0, 1.16, 0.11), (0.012, 0.08, 0.04), -0.003),  # linea alba
    Bell((0.015, 1.633, 0.085), (0.006, 0.006, 0.010), -0.003),  # inner corner of the eye
    Bell((0.033, 1.644, 0.080), (0.012, 0.004, 0.012), -0.002),  # below the brow
)


@dataclass(frozen=True, eq=False)
class Ecorche:
    """The figure without its skin.

    Attributes:
        points: Vertices of all its parts [m], (V, 3).
        triangles: Their triangles, (T, 3).
        joints: The joint each vertex moves with, by name; empty for muscles, which have several.
        carries: Whether skin above a vertex moves with it, (V,): bones and fillings, but neither muscles nor
            pads, which spread over several joints.
    """

    points: Floats
    triangles: Ints
    joints: tuple[str, ...]
    carries: npt.NDArray[np.bool_]


def figure_firm(skeleton: Skeleton, bones: BoneSurface) -> Ecorche:
    """Bones, pads and fillings of both sides, bones first."""
    heads = dict(zip(skeleton.names, skeleton.bind_world[:, :3, 3], strict=True))
    tips = dict(zip(skeleton.names, skeleton.tail_positions(), strict=True))
    points, triangles, joints = [bones.points], [bones.triangles], [*bones.joints]
    carries = [np.ones(len(bones.points), bool)]

    def add(places: Floats, faces: Ints, joint: str, *, carrying: bool = False) -> None:
        triangles.append(faces + sum(map(len, points)))
        points.append(places)
        joints.extend([joint] * len(places))
        carries.append(np.full(len(places), carrying))

    def add_both(places: Floats, faces: Ints, joint: str, *, carrying: bool = False) -> None:
        add(places, faces, joint, carrying=carrying)
        add(places * (-1.0, 1.0, 1.0), faces[:, ::-1], mirrored(joint), carrying=carrying)

    add(*grown_surface(Bone("skullbase", tuple(head())), *HEAD, both_sides=True), "skullbase")
    for joint, tubes, fineness in (
        ("l_radiocarpal", hand(heads, tips), HAND),
        ("l_talocrural", foot(heads), FOOT),
    ):
        add_both(*grown_surface(Bone(joint, tuple(tubes)), *fineness), joint)
    for tube, joint in filling(heads):
        middle = not tube.centres[:, 0].any()
        (add if middle else add_both)(*tube_surface(tube, PAD_SIDES), joint, carrying=joint in SOFT)
    return Ecorche(np.concatenate(points), np.concatenate(triangles), tuple(joints), np.concatenate(carries))


def figure_ecorche(skeleton: Skeleton, muscles: Musculature, bones: BoneSurface) -> Ecorche:
    """Bones, muscles, pads and fillings of both sides."""
    firm = figure_firm(skeleton, bones)
    points, triangles = _muscle_surfaces(muscles, TriangleSurface(firm.points, firm.triangles))
    return Ecorche(
        np.concatenate([firm.points, points]),
        np.concatenate([firm.triangles, triangles + len(firm.points)]),
        (*firm.joints, *("",) * len(points)),
        np.concatenate([firm.carries, np.zeros(len(points), bool)]),
    )


def figure_skin(skeleton: Skeleton, ecorche: Ecorche) -> SkinSurface:
    """The skin over the figure's écorché."""
    heads = dict(zip(skeleton.names, skeleton.bind_world[:, :3, 3], strict=True))
    knuckle, instep = heads["l_metacarpophalangeal_3"], heads["l_talocrural"] + (0.012, 0.0, 0.09)
    instep[1] = 0.03
    arm = Lens(_three(0.5 * (heads["l_elbow"] + knuckle)), 0.30, 0.54, 1.35)
    lenses = (
        Lens(_three(arm.enlarged(knuckle)), 0.14, 0.50, 2.25),
        arm,
        Lens((0.0, 1.625, 0.025), 0.14, 0.68, 2.6),
        Lens(_three(instep), 0.11, 0.46, 1.9),
    )
    skin = extract_skin(_with_fat(ecorche), EDGE, lenses=lenses, symmetric=True)
    return replace(skin, points=_touched_up(skin))


def _touched_up(skin: SkinSurface) -> Floats:
    """Vertices with the relief that neither bone nor muscle makes, and a flat sole."""
    points = skin.points.copy()
    left = points * np.where(points[:, :1] < 0.0, (-1.0, 1.0, 1.0), 1.0)
    height = np.zeros(len(points))
    for bell in RELIEF:
        q = (left - np.array(bell.centre)) / np.array(bell.widths)
        height += bell.height * np.exp(-0.5 * np.sum(q * q, axis=1))
    points += height[:, None] * vertex_normals(points, skin.quads)
    points[:, 0] = np.where(skin.mirror == np.arange(len(points)), 0.0, points[:, 0])
    low = np.maximum(SOLE - np.abs(points[:, 1] - GROUND), 0.0) / SOLE
    points[:, 1] = np.maximum(points[:, 1], GROUND) + low * low * low * SOLE / 6.0
    return np.asarray(0.5 * (points + points[skin.mirror] * (-1.0, 1.0, 1.0)))


def _with_fat(ecorche: Ecorche) -> LayersBeneath:
    """Fat by region: that of the joint a part moves with, or for muscles of the nearest that carries skin."""
    regions = list(REGIONS)
    own = np.array([regions.index(region_of(joint)) if joint else -1 for joint in ecorche.joints])
    carried = np.flatnonzero(ecorche.carries)
    middles = ecorche.points[ecorche.triangles].mean(axis=1)
    part = own[ecorche.triangles[:, 0]]
    _, near = cKDTree(ecorche.points[carried]).query(middles[part < 0])
    muscle = part < 0
    part[muscle] = own[carried[near]]
    kept = ~muscle | ~np.isin(part, [regions.index(name) for name in PADDED])
    fat, span = np.array([REGIONS[name] for name in regions]).T
    return LayersBeneath(ecorche.points, ecorche.triangles[kept], part[kept], fat, span)


def _three(place: Floats) -> tuple[float, float, float]:
    x, y, z = place
    return float(x), float(y), float(z)


def _muscle_surfaces(muscles: Musculature, firm: TriangleSurface) -> tuple[Floats, Ints]:
    """All muscles at bind, their ends laid on what is firm in the figure, which is not the template's."""
    surfaces = spindle_surfaces(muscles.spindles, rings=RINGS, sides=SIDES)
    joints = muscles.frames.paths.skeleton.joint_count - len(muscles.scapulae)
    frames, states = muscles.posed(np.zeros((joints, 4, 4)))
    points = surfaces.points(states, Stations(*frames.at(surfaces.t)))
    own = np.repeat(np.arange(len(muscles.muscles)), np.diff(surfaces.vertex_starts))
    t = np.zeros(len(points))
    t[surfaces.triangles] = surfaces.uv[..., 1]
    sunk = np.array([SUNK.get(m.name.rpartition(",")[0], (0.0, 0.0, 0.0)) for m in muscles.muscles])
    for ends, away in ((surfaces.vertex_starts[:-1], t), (surfaces.vertex_starts[1:] - 1, 1.0 - t)):
        hit = firm.closest(points[ends], within=FARTHEST_END)
        shift = np.einsum("mc,mcx->mx", hit.barycentric, firm.corners[hit.triangles]) - points[ends]
        shift[hit.triangles < 0] = 0.0
        points = points + (1.0 - smooth_step(away / ENDS))[:, None] * shift[own]
    sunk *= np.stack([np.sign(points[surfaces.vertex_starts[:-1], 0]), *np.ones((2, len(sunk)))], axis=1)
    points += np.sin(np.pi * t)[:, None] * sunk[own]
    return points, surfaces.triangles.astype(np.int64)
