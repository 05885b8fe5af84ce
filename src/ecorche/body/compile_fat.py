"""From what a rig says about fat to the fat of a body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from ecorche.base.ray_tree import RayTree
from ecorche.base.rotations import normalise
from ecorche.base.smooth_step import smooth_step
from ecorche.body.compile import Body, skinned_points
from ecorche.body.ecorche_surfaces import EcorcheSurfaces, surfaces_of
from ecorche.body.fat import BodyFat, FatPart
from ecorche.body.fat_contact import FatContact
from ecorche.body.fat_holding import carried_by, held_by_muscles, whole_inside
from ecorche.body.fat_places import AUTOMATIC, ELSEWHERE, USUAL, VOXEL, Usual, place_shares
from ecorche.body.fit_for_muscles import require_size, times_a_person
from ecorche.body.frames import PointSet
from ecorche.body.garments import garment_transfers
from ecorche.body.painting import require_weights
from ecorche.body.skin_state import outward
from ecorche.body.spelled_joints import spot
from ecorche.document.fat_spec import FatRegionSpec, FatSpec
from ecorche.document.files import Rig
from ecorche.errors import DocumentError, EcorcheError
from ecorche.fat.elastic_grid import ElasticGrid
from ecorche.fat.elasticity import Tissue, tissue_named
from ecorche.fat.skin_on_nodes import SkinOnNodes
from ecorche.fat.voxels import SkinSurface, fat_voxels
from ecorche.skeleton.naming.recognise import Naming, recognise
from ecorche.skin.evened import EvenedPatch
from ecorche.skin.height_field import nearest_beneath
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RINGS, SIDES = 16, 12
"""How finely muscles are divided that fat is held by."""
PAINTED_THICKNESS, PAINTED_STIFFNESS = 0.05, 2.0
"""What 1 on a map means: so thick [m], and so many times as stiff."""
_EVENED = 0.015
"""Over so much skin of an adult the thickness of the layer is evened [m]."""
_REACH = 2.5
"""Of voxels: from how far nodes carry skin."""
_EVEN = 1.0
"""Of voxels: over which stretch what they do to the skin is evened."""


@dataclass(frozen=True, eq=False)
class _Skin:
    """The body's skin at bind and what lies beneath it."""

    points: Floats
    normals: Floats
    triangles: Ints
    weights: SkinWeights
    size: float
    muscles: tuple[EcorcheSurfaces, Floats] | None

    @cached_property
    def surface(self) -> SkinSurface:
        """To ask where it is nearest."""
        return SkinSurface(self.points, self.triangles)


def compile_fat(body: Body, rig: Rig | None) -> BodyFat:
    """The fat of a body that moves, by what its rig says; without a rig, at the usual places."""
    character = body.character
    spec = FatSpec() if rig is None else rig.spec.fat
    mesh = character.body(None if rig is None else rig.spec.body)
    number = character.meshes.index(mesh)
    assert mesh.weights is not None  # body() gives skinned meshes only
    naming = recognise(character.skeleton, None if rig is None else rig.spec.skeleton.mapping or None)
    require_size(character, naming)
    still = np.zeros((character.skeleton.joint_count, 4, 4))
    bind = skinned_points(body.without_muscles(), still, (None,) * len(character.meshes))
    normals = body.normals.apply(bind)[number]
    points = bind[number].astype(np.float64)
    triangles, state = outward(
        points,
        mesh.mesh.triangles().astype(np.int64),
        f"{character.source or character.name}, mesh {mesh.name!r}",
    )
    if state.inside_out or normals is None or len(normals) != len(points):
        normals = _normals(points, triangles)
    skin = _Skin(
        points,
        np.asarray(normals, np.float64),
        triangles,
        mesh.weights,
        times_a_person(character.skeleton, naming),
        _muscles(body),
    )
    parts, notes = [], list(state.told(mesh.name))
    for name, said, share in _regions(spec, rig, body, naming, skin, mesh.name):
        usual = ELSEWHERE if said.place is None else USUAL[said.place]
        try:
            parts.append(_part(name, said, usual, share, skin, _Maps(rig, name, mesh.name)))
        except _TooThin as none:
            notes.append(f"fat of the {name} does not move: {none}")
    if not parts:
        raise EcorcheError(
            "there is no fat that could move" + "".join(f"; {note}" for note in notes),
            where="" if rig is None else rig.source,
            remedy="Name a thickness for a region in the rig's fat, or leave out --dynamics fat",
        )
    garments = garment_transfers(character, number, bind)
    down = np.array([0.0, -spec.gravity, 0.0])
    surfaces = None if skin.muscles is None else skin.muscles[0]
    whole = _not_twice(parts, len(points))
    contact = None
    if rig is None or rig.spec.coupling.contact:
        contact = FatContact(bind[number], triangles, whole, skin.size)
    return BodyFat(whole, number, bind[number], garments, down, surfaces, contact, tuple(notes))


class _TooThin(Exception):
    """A region has no fat to speak of."""


class _Maps:
    """Painted values of one region's fields."""

    def __init__(self, rig: Rig | None, region: str, mesh: str) -> None:
        self._rig, self._region, self._mesh = rig, region.split(", ")[0], mesh

    def values(self, field: str, said: float | str, times: float) -> Floats | float:
        """A number as it is, or what a map of that name holds, (vertices,), times so much."""
        if not isinstance(said, str):
            return said
        assert self._rig is not None  # without a rig nothing is said
        where = spot(self._rig, ("fat", "regions", self._region, field))
        if said not in self._rig.maps or self._rig.spec.maps[said].mesh != self._mesh:
            raise DocumentError(
                f"there is no map {said!r} on {self._mesh!r}", where=where, remedy="Paint it on the body"
            )
        painted = np.asarray(self._rig.maps[said], np.float64)
        if painted.ndim != 1:
            raise DocumentError(
                f"the map {said!r} holds several numbers a vertex", where=where, remedy="Paint one, 0 to 1"
            )
        require_weights(painted, where)
        return times * painted


def _regions(
    spec: FatSpec, rig: Rig | None, body: Body, naming: Naming, skin: _Skin, mesh: str
) -> Iterator[tuple[str, FatRegionSpec, Floats]]:
    """Names, what is said, and how far each vertex belongs to it: every side by itself."""
    said: Mapping[str, FatRegionSpec] = spec.regions or {p: FatRegionSpec(place=p) for p in AUTOMATIC}
    for name, region in said.items():
        mask = 1.0 if region.mask is None else _Maps(rig, name, mesh).values("mask", region.mask, 1.0)
        if region.place is None:
            yield name, region, np.broadcast_to(mask, len(skin.points))
            continue
        found = place_shares(
            region.place, skin.points, skin.normals, skin.weights, body.character.skeleton, naming, skin.size
        )
        if not found and spec.regions:
            raise EcorcheError(
                f"this character's {region.place.replace('_', ' ')} are not found by its joints",
                where="fat" if rig is None else spot(rig, ("fat", "regions", name, "place")),
                remedy="Paint a mask instead, or name its joints in skeleton.mapping",
            )
        for side, share in found.items():
            yield f"{name}, {side}" if side else name, region, mask * share


def _part(name: str, said: FatRegionSpec, usual: Usual, share: Floats, skin: _Skin, maps: _Maps) -> FatPart:
    size = skin.size
    voxel = VOXEL * size if said.voxel is None else said.voxel
    least = usual.least * size if said.least is None else said.least
    deepest = usual.deepest * size if said.deepest is None else said.deepest
    if not (share > 0.5).any():
        raise _TooThin("no vertex is in it")
    depth = np.minimum(_depth(said, usual, share, skin, maps, deepest), deepest)
    region = share * smooth_step((depth - 0.75 * least) / (0.5 * least))
    if not (region > 0.5).any():
        raise _TooThin(f"it is nowhere thicker than {1e3 * least:.0f} mm")
    near = np.linalg.norm(skin.points - skin.points[region > 0.5].mean(axis=0), axis=1)
    centre = skin.points[near.argmin()].round(3)
    found = fat_voxels(skin.surface, depth, region, voxel)
    grid = ElasticGrid(
        found.voxels,
        voxel,
        _tissue(said, usual),
        found.held,
        corner=found.corner - centre,
        stiffness=_stiffness(said, skin, maps, found.corner, voxel, found.voxels.shape),
    )
    at_bind = grid.rest + centre
    carriers, shares = carried_by(grid, at_bind, skin.surface, skin.weights)
    joint = int(carriers[np.argmax(shares[grid.held].sum(axis=0))])
    inner = np.zeros(len(grid.rest), np.bool_)
    inner[whole_inside(grid)] = True
    fading = np.flatnonzero(region > 0.0)
    bound = SkinOnNodes(
        skin.points[fading] - centre, grid.rest, grid.places, ~inner, _REACH * voxel, said.nodes
    )
    vertices = fading[bound.bound]
    shown = maps.values("intensity", said.intensity, 1.0) * smooth_step(2.0 * region)
    holding = None
    if skin.muscles is not None:
        surfaces, muscles = skin.muscles
        holding = held_by_muscles(grid, at_bind, muscles, surfaces.triangles, size)
    return FatPart(
        name,
        grid,
        joint,
        centre,
        carriers,
        shares,
        holding,
        vertices,
        bound,
        shown[vertices],
        depth[vertices],
        EvenedPatch(vertices, skin.points, skin.triangles, _EVEN * voxel),
        said.sag,
    )


def _depth(
    said: FatRegionSpec, usual: Usual, share: Floats, skin: _Skin, maps: _Maps, deepest: float
) -> Floats:
    """How deep the layer is below each vertex [m], (vertices,)."""
    if said.thickness is not None:
        return np.broadcast_to(
            maps.values("thickness", said.thickness, PAINTED_THICKNESS), len(skin.points)
        ).astype(np.float64)
    depth = np.full(len(skin.points), usual.thickness * skin.size)
    if skin.muscles is None:
        return depth
    own = np.flatnonzero(share > 0.0)
    surfaces, points = skin.muscles
    tree = RayTree(points, surfaces.triangles)
    hits = nearest_beneath(
        skin.points[own].astype(np.float32), skin.normals[own].astype(np.float32), tree, 1.5 * deepest
    ).distances.astype(np.float64)
    known = np.isfinite(hits)
    if known.mean() < 0.2:
        return depth
    # the mean round each vertex: rays that miss between two muscles, or hit a ridge, count little
    apart = cKDTree(skin.points[own]).sparse_distance_matrix(
        cKDTree(skin.points[own[known]]), 3.0 * _EVENED * skin.size, output_type="coo_matrix"
    )
    weight = sparse.csr_matrix(
        (np.exp(-0.5 * (apart.data / (_EVENED * skin.size)) ** 2), (apart.row, apart.col)), shape=apart.shape
    )
    total = np.asarray(weight.sum(axis=1)).ravel()
    evened = weight @ np.maximum(hits[known], 0.0)
    depth[own] = np.where(total > 1e-6, evened / np.maximum(total, 1e-6), np.median(hits[known]))
    return depth


def _tissue(said: FatRegionSpec, usual: Usual) -> Tissue:
    tissue = tissue_named(usual.tissue if said.material is None else said.material)
    own = {
        f: v
        for f in ("young", "poisson", "density", "viscosity", "stiffening")
        if (v := getattr(said, f)) is not None
    }
    return replace(tissue, **own)


def _stiffness(
    said: FatRegionSpec,
    skin: _Skin,
    maps: _Maps,
    corner: Floats,
    voxel: float,
    shape: tuple[int, ...],
) -> Floats | float:
    """Of each voxel as a share of the tissue's: that of the nearest skin."""
    values = maps.values("stiffness", said.stiffness, PAINTED_STIFFNESS)
    if not isinstance(values, np.ndarray):
        return values
    middles = corner + voxel * (np.moveaxis(np.indices(shape), 0, -1) + 0.5)
    _, nearest = cKDTree(skin.points).query(middles.reshape(-1, 3))
    return np.maximum(values[nearest], 0.01).reshape(shape)


def _muscles(body: Body) -> tuple[EcorcheSurfaces, Floats] | None:
    """Surfaces of a body's muscles and their points at bind; None for a body without."""
    if body.muscles is None and body.lofts is None and body.lines is None:
        return None
    surfaces = surfaces_of(body, rings=RINGS, sides=SIDES)
    still = np.zeros((body.character.skeleton.joint_count, 4, 4))
    meshes = None if body.lines is None else body.lines.points(still)
    return surfaces, surfaces.points(still, body.bulge(None), meshes).astype(np.float64)


def _not_twice(parts: list[FatPart], vertex_count: int) -> tuple[FatPart, ...]:
    """Parts that overlap share the skin between them."""
    total = np.zeros(vertex_count)
    for part in parts:
        total[part.vertices] += part.shown
    return tuple(replace(p, shown=p.shown / np.maximum(total[p.vertices], 1.0)) for p in parts)


def _normals(points: Floats, triangles: Ints) -> PointSet:
    """Unit normals a vertex, (vertices, 3)."""
    corners = points[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.zeros_like(points)
    for corner in range(3):
        np.add.at(total, triangles[:, corner], area)
    return np.asarray(normalise(total), np.float32)
