"""One limb of a real person in one pose, with and without muscles: what the tests of bulges look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import trimesh

from ecorche.body.character import Character
from ecorche.body.evaluate import LiveFrames
from ecorche.body.muscles import BodyMuscles
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming import recognise

Floats = npt.NDArray[np.float64]


@cache
def rigged(path: Path) -> tuple[Character, Rig]:
    """A person with the template's muscles."""
    character = read_character(path)
    return character, create_rig(character, path, path.with_suffix(".ecorche"))


@cache
def moving(path: Path, motion: Path) -> LiveFrames:
    """A motion on a person with the template's muscles, driven by the joints, linearly skinned."""
    character, rig = rigged(path)
    frames = perform(character, read_motion(motion), rig=rig, skinning="linear").take.frames
    assert isinstance(frames, LiveFrames)
    return frames


def muscles_of(frames: LiveFrames) -> BodyMuscles:
    """The muscles of a person who has some."""
    assert frames.body.muscles is not None
    return frames.body.muscles


def skinned(frames: LiveFrames, difference: Floats) -> npt.NDArray[np.float32]:
    """The body's skin without muscles."""
    skinning = frames.body.skinnings[muscles_of(frames).skin]
    assert skinning is not None
    return skinning.apply(difference)


def share_of(frames: LiveFrames, joint: int) -> Floats:
    """How much of each vertex's skin weight is a joint's, (vertices,)."""
    mesh = frames.body.character.meshes[muscles_of(frames).skin]
    assert mesh.weights is not None
    vertex = np.repeat(np.arange(len(mesh.mesh.points)), np.diff(mesh.weights.starts))
    own = mesh.weights.weights * (mesh.weights.joints == joint)
    return np.asarray(np.bincount(vertex, own, minlength=len(mesh.mesh.points)), np.float64)


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
        """Whether a vertex lies over the belly of a muscle, any head of it, and under its width."""
        found, shapes = self.muscles.influences, self.muscles.musculature.spindles
        for entry in range(found.starts[vertex], found.starts[vertex + 1]):
            number = int(found.muscles[entry])
            muscle, t = self.muscles.musculature.muscles[number], float(found.t[entry])
            width = shapes.thickness_at([t])[number, 0]
            if muscle.muscle == name and abs(t - muscle.belly) <= 0.2 and abs(found.a[entry]) < width:
                return True
        return False


def limb_at(frames: LiveFrames, time: float, near: str, far: str) -> Limb:
    """The limb between two joints at a moment [s]."""
    body, muscles = frames.body, muscles_of(frames)
    skeleton = body.character.skeleton
    naming = recognise(skeleton)
    start, end = naming.joint(near), naming.joint(far)
    assert start is not None
    assert end is not None
    index = int(np.abs(frames.times - time).argmin())
    difference = difference_from_bind(skeleton, frames.motion.local[index])
    moved = np.eye(4) + difference[start]
    ends = skeleton.bind_world[[start, end], :3, 3] @ moved[:3, :3].T + moved[:3, 3]
    plain = skinned(frames, difference).astype(np.float64)
    muscled = frames[index].points[muscles.skin].astype(np.float64)
    triangles = body.character.meshes[muscles.skin].mesh.triangles().astype(np.int64)
    normals = trimesh.Trimesh(plain, triangles, process=False).vertex_normals
    own = share_of(frames, start) > 0.5
    outward = np.where(own, np.sum((muscled - plain) * normals, axis=1), -np.inf)
    assert frames.activation is not None
    on_limb = triangles[own[triangles].all(axis=1)]
    return Limb(muscles, on_limb, plain, muscled, outward, ends[0], ends[1], frames.activation[index])
