"""A new skin for a character, laid over its bones and muscles in a pose: shape and weights.

What lies beneath is posed, `skin.extract_skin` lays a skin over it, `skin.weights_beneath` binds it to what
carries it, and linear skinning is undone, so that the character with its new skin comes out in its bind pose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.lens_grid import Lens
from ecorche.base.mesh import Mesh
from ecorche.base.signed_distance import SignedSurface
from ecorche.body.character import Character, Material, SkinnedMesh
from ecorche.body.compile import compile_body
from ecorche.body.ecorche_surfaces import EcorcheSurfaces, surfaces_of
from ecorche.body.figure.ecorche import REGIONS as LEAN
from ecorche.body.figure.ecorche import region_of
from ecorche.body.firm_parts import FirmParts, firm_parts
from ecorche.body.fit_for_muscles import times_a_person
from ecorche.body.regions import by_joint, joint_regions
from ecorche.document.files import Rig
from ecorche.errors import DocumentError, MeshError
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming.recognise import Naming, recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.extract_skin import SkinSurface, extract_skin
from ecorche.skin.layers_beneath import LayersBeneath
from ecorche.skin.weights import SkinWeights
from ecorche.skin.weights_beneath import weights_beneath

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SKIN = "skin"
STATURE = 1.75
"""Of the person whose measures are told here [m]: others are so many times as large."""
EDGE = 0.015
FAT, BRIDGE = 0.004, 0.022
"""Edges of the skin; fat, and half the width of gaps that are bridged, where no region says it; of a person
[m]."""
REGIONS = {**LEAN, "hip": (0.007, 0.024), "thigh": (0.005, 0.020), "arm": (0.004, 0.018)}
"""As the built-in figure's; muscles of others leave wider gaps at hips and shoulders."""
RINGS, SIDES = 24, 12
"""How finely muscles that are no meshes are told to the skin."""
LENSES = {"head": (0.13, 0.70, 2.0), "hands": (0.11, 0.60, 2.4), "feet": (0.12, 0.50, 1.8)}
"""Where a person's skin is finer: within which radius, from which on it is not [m], and how many times."""
FLATTEST = 0.05
"""Skinning that presses a place flatter than this share of its volume is not undone."""
BARE = 0.1
"""A joint's skin with a smaller share than this over muscles is told to lie over bones alone."""
APART = 0.5
"""A part with more than this share of its vertices outside the skin is not beneath it."""


@dataclass(frozen=True, eq=False)
class LaidSkin:
    """A character with its new skin, and what was done.

    Attributes:
        character: Skin and bones; other meshes are left out.
        posed: The skin in the pose in which it was laid [m], (vertices, 3).
        beneath: What it was laid over in that pose: bones first, then muscles.
        over_muscle: Whether the nearest thing beneath each vertex is a muscle, (vertices,).
        notes: Where bones come from, what lies over bones alone, what is not beneath the skin, a sentence
            each.
    """

    character: Character
    posed: Floats
    beneath: LayersBeneath
    over_muscle: npt.NDArray[np.bool_]
    notes: tuple[str, ...]

    @property
    def skin(self) -> SkinnedMesh:
        """The new mesh."""
        return self.character.mesh(SKIN)


def lay_skin(
    character: Character,
    rig: Rig,
    *,
    local: Floats | None = None,
    fat: Mapping[str, float] | None = None,
    bridge: Mapping[str, float] | None = None,
    edge: float | None = None,
    influences: int = 4,
    working: Callable[[str], object] = lambda _: None,
) -> LaidSkin:
    """Lay a skin over a character's bones and muscles.

    Args:
        character: The character; its own skin is not looked at.
        rig: With its muscles.
        local: The pose in which it is laid, (joints, 4, 4), in which limbs should not touch; None is bind.
        fat: How thick fat and skin are [m], by region or by the name of a joint, which counts for all below;
            ``""`` is everywhere else.
        bridge: Half the width of the gaps that are bridged [m], likewise.
        edge: How long edges of the skin shall be [m]; None goes by the body's size.
        influences: How many joints move a vertex at most.
        working: Told what is being done.
    """
    if not rig.spec.muscles.count:
        raise DocumentError(
            "has no muscles to lay a skin over",
            where=rig.source or rig.spec.name,
            remedy="Give it some: ecorche rig CHARACTER, or ecorche rig --anatomy FOLDER CHARACTER",
        )
    working("posing bones and muscles")
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    plain = replace(rig, spec=rig.spec.model_copy(update={"coupling": type(rig.spec.coupling)()}))
    body = compile_body(character, rig=plain)
    character, skeleton = body.character, body.character.skeleton
    firm = firm_parts(character, rig, naming)
    moved = np.zeros((skeleton.joint_count, 4, 4)) if local is None else difference_from_bind(skeleton, local)
    surfaces = surfaces_of(body, rings=RINGS, sides=SIDES)
    bones = firm.posed(moved)
    meshes = None if body.lines is None else body.lines.points(moved)
    muscles = surfaces.points(moved, body.bulge(None), meshes).astype(np.float64)

    size = _size(skeleton, naming, np.concatenate([bones, muscles]))
    fats, spans = _thicknesses(skeleton, naming, size, fat or {}, bridge or {})
    beneath = _beneath(firm, bones, surfaces, muscles, fats, spans)
    working("laying the skin")
    lenses = _lenses(skeleton, naming, bones, firm, size)
    laid = extract_skin(beneath, EDGE * size if edge is None else edge, lenses=lenses)
    working("finding what moves it")
    carried = np.flatnonzero(firm.carries)
    weights = weights_beneath(
        laid, skeleton, bones[carried], _rows(firm.weights, carried), influences=influences
    )
    points = _at_bind(laid.points, weights, moved)
    over_muscle = _nearer(
        laid.points, (muscles, surfaces.triangles.astype(np.int64)), (bones, firm.triangles)
    )
    notes = (
        f"Bones: {firm.told}.",
        *_bare(laid, weights, over_muscle, skeleton),
        *_apart(laid, firm, bones, surfaces, muscles),
        *_left_out(character, firm),
    )
    made = _with_skin(character, firm, laid, points, weights)
    return LaidSkin(made, laid.points, beneath, over_muscle, notes)


def _size(skeleton: Skeleton, naming: Naming, points: Floats) -> float:
    """How many times as large as a person: by limbs, or by how far it reaches where none are known."""
    known = times_a_person(skeleton, naming)
    return known if known != 1.0 else float(np.ptp(points, axis=0).max()) / STATURE


def _thicknesses(
    skeleton: Skeleton, naming: Naming, size: float, fat: Mapping[str, float], bridge: Mapping[str, float]
) -> tuple[Floats, Floats]:
    """Fat, and half the gaps that are bridged [m], of what moves with each joint, both (joints,)."""
    found = []
    for given, usual, column, option in ((fat, FAT, 0, "--fat-offset"), (bridge, BRIDGE, 1, "--bridge")):
        lean: list[float] = []
        for parent, name in zip(skeleton.parents.tolist(), naming.canonical, strict=True):
            above = lean[parent] if parent >= 0 else size * usual
            lean.append(above if name is None else size * REGIONS[region_of(name)][column])
        said = {name: value for name, value in given.items() if name}
        told = by_joint(said, given.get("", np.nan), skeleton, naming, option)
        found.append(np.where(np.isnan(told), lean, told))
    return found[0], found[1]


def _strongest(weights: SkinWeights) -> Ints:
    """The joint that moves each vertex most, (V,)."""
    joints, shares = weights.padded()
    return np.asarray(joints[np.arange(len(joints)), shares.argmax(axis=1)], np.int64)


def _beneath(
    firm: FirmParts, bones: Floats, surfaces: EcorcheSurfaces, muscles: Floats, fat: Floats, span: Floats
) -> LayersBeneath:
    """Bones and muscles with the fat of their joints: muscles have that of the nearest bone."""
    own, carried = _strongest(firm.weights), np.flatnonzero(firm.carries)
    triangles = surfaces.triangles.astype(np.int64)
    _, near = cKDTree(bones[carried]).query(muscles[triangles].mean(axis=1))
    return LayersBeneath(
        np.concatenate([bones, muscles]),
        np.concatenate([firm.triangles, triangles + len(bones)]),
        np.concatenate([own[firm.triangles[:, 0]], own[carried[np.asarray(near, np.int64)]]]),
        fat,
        span,
    )


def _lenses(skeleton: Skeleton, naming: Naming, bones: Floats, firm: FirmParts, size: float) -> list[Lens]:
    """Finer edges at head, hands and feet of a humanoid, each about the middle of its bones."""
    regions = np.array([region or "" for region in joint_regions(skeleton, naming)])
    side = np.array([(name or "")[:2] for name in naming.canonical])
    own = _strongest(firm.weights)
    found: list[Lens] = []
    for region, (inner, outer, power) in LENSES.items():
        for one in ("",) if region == "head" else ("l_", "r_"):
            there = (regions[own] == region) & ((side[own] == one) if one else True)
            if not there.any():
                continue
            low, high = bones[there].min(axis=0), bones[there].max(axis=0)
            centre = 0.5 * (low + high)
            for lens in reversed(found):
                centre = lens.enlarged(centre)
            x, y, z = (float(at) for at in centre)
            found.insert(0, Lens((x, y, z), size * inner, size * outer, power))
    return found


def _rows(weights: SkinWeights, rows: Ints) -> SkinWeights:
    joints, shares = weights.padded()
    counts = np.diff(weights.starts)[rows]
    kept = np.arange(joints.shape[1]) < counts[:, None]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return SkinWeights(starts, joints[rows][kept], shares[rows][kept])


def _at_bind(posed: Floats, weights: SkinWeights, moved: Floats) -> Floats:
    """Where linear skinning takes these places from [m], (vertices, 3)."""
    if not moved.any():
        return posed
    joints, shares = weights.padded()
    matrix = np.einsum("vk,vkij->vij", shares.astype(np.float64), moved[joints])[:, :3]
    linear = matrix[:, :, :3] + np.eye(3)
    flat = int((np.linalg.det(linear) < FLATTEST).sum())
    if flat:
        raise MeshError(
            f"the pose turns joints so far that skinning presses {flat} vertices flat, and cannot be undone",
            where="skin extraction",
            remedy="Take a pose nearer to bind: limbs apart, no joint turned by half a turn",
        )
    return np.asarray(np.linalg.solve(linear, (posed - matrix[:, :, 3])[..., None])[..., 0])


def _nearer(points: Floats, one: tuple[Floats, Ints], other: tuple[Floats, Ints]) -> npt.NDArray[np.bool_]:
    """Whether the one surface is nearer to places than the other, (n,)."""
    far = [TriangleSurface(*surface).closest(points).distances for surface in (one, other)]
    return np.asarray(far[0] < far[1])


def _bare(
    laid: SkinSurface, weights: SkinWeights, over_muscle: npt.NDArray[np.bool_], skeleton: Skeleton
) -> tuple[str, ...]:
    """How much of the skin lies over muscles, and of which joints none does, a sentence."""
    own, corners = _strongest(weights), laid.points[laid.quads]
    across = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    area = np.bincount(laid.quads.ravel(), np.repeat(np.linalg.norm(across, axis=1), 4), len(own))
    whole = np.bincount(own, area, skeleton.joint_count)
    muscled = np.bincount(own, area * over_muscle, skeleton.joint_count)
    bare = [skeleton.names[j] for j in np.flatnonzero((whole > 0.0) & (muscled < BARE * whole))]
    told = f"{100.0 * muscled.sum() / whole.sum():.0f} % of the skin lies over muscles, the rest over bones"
    return (f"{told}; over bones alone, as no muscle is there: {_some(bare)}." if bare else f"{told}.",)


def _apart(
    laid: SkinSurface, firm: FirmParts, bones: Floats, surfaces: EcorcheSurfaces, muscles: Floats
) -> tuple[str, ...]:
    """Which bones and muscles are not beneath the skin, because they lie apart from the rest, a sentence."""
    surface = SignedSurface(laid.points, laid.triangles)
    apart = []
    for names, part, places in (
        (firm.names, firm.part, bones),
        (surfaces.names, surfaces.muscle, muscles),
    ):
        rows = np.arange(0, len(places), 5)
        out = surface.depth(places[rows])[0] < 0.0
        total = np.bincount(part[rows], minlength=len(names))
        outside = np.bincount(part[rows], out, len(names))
        apart += [names[n] for n in np.flatnonzero(outside > APART * np.maximum(total, 1))]
    if not apart:
        return ()
    return (
        f"Not beneath the skin, which is one piece, as they lie apart from it: {_some(apart)}; a wider"
        " --bridge or shorter edges join them.",
    )


def _left_out(character: Character, firm: FirmParts) -> tuple[str, ...]:
    gone = [mesh.name for mesh in character.meshes if mesh not in firm.meshes]
    return (f"Meshes left out: {_some(gone)}.",) if gone else ()


def _some(names: list[str]) -> str:
    once = list(dict.fromkeys(names))
    return ", ".join(once[:8]) + (f" and {len(once) - 8} more" if len(once) > 8 else "")


def _with_skin(
    character: Character, firm: FirmParts, laid: SkinSurface, points: Floats, weights: SkinWeights
) -> Character:
    mesh = Mesh(
        name=SKIN,
        points=points.astype(np.float32),
        face_counts=np.full(len(laid.quads), 4, np.int32),
        face_indices=laid.quads.astype(np.int32).ravel(),
        material=len(character.materials),
    )
    kept = tuple(bone for bone in firm.meshes if bone.name != SKIN)
    return replace(
        character,
        meshes=(SkinnedMesh(mesh, weights), *kept),
        materials=(*character.materials, Material(SKIN, base_color=(0.61, 0.36, 0.26, 1.0), roughness=0.55)),
        cache=None,
        notes=(),
    )
