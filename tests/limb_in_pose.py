"""Limbs of real people in poses, with and without muscles: what the tests of bulges look at.

A person is rigged and compiled once for all motions and tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import trimesh

from ecorche.body.compile import Body, compile_body
from ecorche.body.live_frames import LiveFrames
from ecorche.body.muscles import BodyMuscles
from ecorche.body.rig import create_rig
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.sections import path_sections
from ecorche.muscles.spindle import Curve, curve
from ecorche.muscles.volume import contract
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.retarget import retarget

Floats = npt.NDArray[np.float64]

PEOPLE = (
    "male_muscular_cmu_mb",
    "male_average_cmu_mb",
    "male_slim_cmu_mb",
    "female_average_cmu_mb",
    "male_muscular_mixamo",
    "male_dressed_mixamo",
)


@cache
def person(path: Path) -> Body:
    """A person with the template's muscles, driven by the joints, linearly skinned."""
    character = read_character(path)
    rig = create_rig(character, path, path.with_suffix(".ecorche"))
    return compile_body(character, skinning="linear", rig=rig)


_read = cache(read_motion)


@cache
def _retargeted(path: Path, motion: Path) -> Motion:
    return retarget(_read(motion), person(path).character.skeleton).motion


@cache
def moving(path: Path, motion: Path) -> LiveFrames:
    """A motion on a person, its frames computed when asked for."""
    return LiveFrames(person(path), _retargeted(path, motion))


@cache
def poses(path: Path, motion: Path, count: int = 3) -> tuple[Floats, ...]:
    """Differences from bind of some moments of a motion on a person, (joints, 4, 4) each."""
    local = _retargeted(path, motion).local
    chosen = np.linspace(0.05 * len(local), 0.95 * len(local), count).astype(int)
    return tuple(difference_from_bind(person(path).character.skeleton, local[i]) for i in chosen)


def muscles_of(body: Body) -> BodyMuscles:
    """The muscles of a person who has some."""
    assert body.muscles is not None
    return body.muscles


def skinned(body: Body, difference: Floats) -> npt.NDArray[np.float32]:
    """The body's skin without muscles."""
    skinning = body.skinnings[muscles_of(body).skin]
    assert skinning is not None
    return skinning.apply(difference)


def carried(body: Body, difference: Floats) -> tuple[Floats, Floats]:
    """How far muscles that keep their shape move each vertex [m], and their lengths over those at bind.

    What then moves the skin is where the paths went.
    """
    muscles = muscles_of(body)
    spindles = muscles.musculature.spindles
    posed, _ = muscles.musculature.posed(difference)
    still = contract(spindles, spindles.bind_length)
    plain = skinned(body, difference)
    moved = np.linalg.norm(muscles.sliding.apply(path_sections(posed, still), plain) - plain, axis=1)
    return moved, posed.path.lengths / spindles.bind_length


@cache
def thickness_below(body: Body) -> Floats:
    """Half the thickness along S_d at bind of the thickest muscle below each vertex [m], (vertices,)."""
    found, shapes = muscles_of(body).influences, muscles_of(body).musculature.spindles
    vertex = np.repeat(np.arange(found.vertex_count), np.diff(found.starts))
    each = Curve(*(of_muscles[found.muscles] for of_muscles in curve(shapes.thickness, shapes.belly)))
    thick = np.zeros(found.vertex_count)
    np.maximum.at(thick, vertex, shapes.scale[found.muscles] * each.at(found.t[:, None])[:, 0])
    return thick


@cache
def share_of(body: Body, joint: int) -> Floats:
    """How much of each vertex's skin weight is a joint's, (vertices,)."""
    mesh = body.character.meshes[muscles_of(body).skin]
    assert mesh.weights is not None
    vertex = np.repeat(np.arange(len(mesh.mesh.points)), np.diff(mesh.weights.starts))
    own = mesh.weights.weights * (mesh.weights.joints == joint)
    return np.asarray(np.bincount(vertex, own, minlength=len(mesh.mesh.points)), np.float64)


def shares(body: Body, *names: str) -> Floats:
    """The same of several joints of both sides, (joints, vertices)."""
    naming = recognise(body.character.skeleton)
    joints = [naming.joint(f"{side}_{name}") for side in "rl" for name in names]
    return np.stack([share_of(body, joint) for joint in joints if joint is not None])


@dataclass(frozen=True, eq=False)
class Limb:
    """A limb in a pose.

    Attributes:
        muscles: The person's muscles.
        triangles: The skin's, those of the limb alone.
        plain: Its vertices by linear skinning [m].
        muscled: With muscles [m].
        outward: How far the muscles moved each along its normal [m], minus infinity off the limb.
        near: Where the limb begins [m].
        far: Where it ends [m].
        activation: Of each muscle.
    """

    muscles: BodyMuscles
    triangles: npt.NDArray[np.int64]
    plain: Floats
    muscled: Floats
    outward: Floats
    near: Floats
    far: Floats
    activation: Floats

    @property
    def peak(self) -> int:
        """The vertex that the muscles move outwards most."""
        return int(self.outward.argmax())

    @property
    def dent(self) -> float:
        """How far the muscles move a vertex inwards at most [m], below zero."""
        return float(self.outward[np.isfinite(self.outward)].min())

    def growth(self, point: Floats) -> float:
        """By what part the girth grows at the height of a point, against plain skinning."""
        along = (self.far - self.near) / np.linalg.norm(self.far - self.near)
        centre = self.near + along * float(along @ (point - self.near))
        plain, muscled = (
            np.linalg.norm(
                np.diff(trimesh.intersections.mesh_plane(skin, along, centre), axis=1), axis=-1
            ).sum()
            for skin in (
                trimesh.Trimesh(p, self.triangles, process=False) for p in (self.plain, self.muscled)
            )
        )
        return float(muscled / plain - 1.0)

    def is_over_a_belly(self, vertex: int, name: str) -> bool:
        """Whether a vertex lies over the belly of a muscle, or of one of a group, and under its width."""
        found, shapes = self.muscles.influences, self.muscles.musculature.spindles
        for entry in range(found.starts[vertex], found.starts[vertex + 1]):
            number = int(found.muscles[entry])
            muscle, t = self.muscles.musculature.muscles[number], float(found.t[entry])
            width = shapes.thickness_at([t])[number, 0]
            near = abs(t - muscle.belly) <= 0.2 and abs(found.a[entry]) < width
            if name in (muscle.muscle, muscle.group) and near:
                return True
        return False


def limb_at(frames: LiveFrames, time: float, near: str, far: str) -> Limb:
    """The limb between two joints at a moment [s]."""
    body, muscles = frames.body, muscles_of(frames.body)
    skeleton = body.character.skeleton
    naming = recognise(skeleton)
    start, end = naming.joint(near), naming.joint(far)
    assert start is not None
    assert end is not None
    index = int(np.abs(frames.times - time).argmin())
    difference = difference_from_bind(skeleton, frames.motion.local[index])
    moved = np.eye(4) + difference[start]
    ends = skeleton.bind_world[[start, end], :3, 3] @ moved[:3, :3].T + moved[:3, 3]
    plain = skinned(body, difference).astype(np.float64)
    muscled = frames[index].points[muscles.skin].astype(np.float64)
    triangles = body.character.meshes[muscles.skin].mesh.triangles().astype(np.int64)
    own = share_of(body, start) > 0.5
    on_limb = triangles[own[triangles].all(axis=1)]
    normals = trimesh.Trimesh(plain, triangles, process=False).vertex_normals
    outward = np.where(own, np.sum((muscled - plain) * normals, axis=1), -np.inf)
    assert frames.activation is not None
    return Limb(muscles, on_limb, plain, muscled, outward, ends[0], ends[1], frames.activation[index])
