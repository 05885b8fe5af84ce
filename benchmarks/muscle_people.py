"""The people, motions and skins that the studies and the tests of muscles look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import triangle_mesh
from ecorche.body.character import Character
from ecorche.body.compile import Body
from ecorche.body.live_frames import LiveFrames
from ecorche.body.muscles import BodyMuscles
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.activation import ActivationSource, Constant
from ecorche.skeleton.motion import Motion
from ecorche.skin.weights import weights_from_table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PEOPLE = {
    "muscular man": "male_muscular_cmu_mb",
    "average man": "male_average_cmu_mb",
    "slim man": "male_slim_cmu_mb",
    "woman": "female_average_cmu_mb",
    "dressed man": "male_dressed_mixamo",
}
CAPTURED = {"walk": "02_01", "run": "02_03", "jump": "13_13", "second jump": "13_39"}
KEYED = ("curl", "squat", "raise", "fist")


@dataclass(frozen=True, eq=False)
class Pair:
    """One motion on one person, with muscles and by plain skinning."""

    muscled: LiveFrames
    plain: LiveFrames

    @property
    def muscles(self) -> BodyMuscles:
        """The muscles of the first."""
        assert self.muscled.body.muscles is not None
        return self.muscled.body.muscles

    def skins(self, index: int) -> tuple[Floats, Floats]:
        """The body's skin in a frame, with muscles and without [m], each (vertices, 3)."""
        skin = self.muscles.skin
        with_muscles, without = self.muscled[index].points[skin], self.plain[index].points[skin]
        return with_muscles.astype(np.float64), without.astype(np.float64)


@cache
def rigged(path: Path) -> tuple[Character, Rig]:
    """A person as `ecorche rig` gives it muscles."""
    character = read_character(path)
    return character, create_rig(character, path, path.with_suffix(".ecorche"))


def motion_file(data: Path, name: str) -> Path:
    """The file of a captured or keyed motion."""
    return data / "cmu" / f"{CAPTURED[name]}.bvh" if name in CAPTURED else EXAMPLES / f"{name}.pose"


@cache
def _compiled(path: Path, activation: float | None) -> Body:
    character, rig = rigged(path)
    source: ActivationSource | None = None
    if activation is not None:
        source = Constant(np.full(len(rig.spec.muscles.named), activation))
    frames = perform(character, rig=rig, activation=source).take.frames
    assert isinstance(frames, LiveFrames)
    return frames.body


@cache
def _motion(path: Path, motion: Path) -> Motion:
    character, rig = rigged(path)
    moves = perform(character, read_motion(motion), rig=rig, muscles=False).take.motion
    assert moves is not None
    return moves


def performed(path: Path, motion: Path, activation: float | None = None) -> Pair:
    """A person in a motion, as `perform` gives it: muscles driven by the joints, or all at one activation.

    A person's muscles are compiled once for all motions.
    """
    body, moves = _compiled(path, activation), _motion(path, motion)
    return Pair(LiveFrames(body, moves), LiveFrames(replace(body, muscles=None), moves))


def half_axes(muscles: BodyMuscles) -> Floats:
    """How far each vertex may be displaced [m], (vertices,): the half-axis ``s_f C_T(t)`` of its muscle.

    Of several muscles over one vertex the thickest counts; without any it is zero. The Béziers are evaluated
    here, apart from the code under test.
    """
    found, spindles = muscles.influences, muscles.musculature.spindles
    number, t = found.muscles, np.clip(found.t.astype(np.float64), 0.0, 1.0)
    belly = spindles.belly[number]
    first = t < belly
    u = np.where(first, t / belly, (t - belly) / (1.0 - belly))
    control = np.where(first[:, None], spindles.thickness[number, 0], spindles.thickness[number, 1])
    basis = np.stack([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u**2 * (1 - u), u**3], axis=1)
    limits = np.zeros(found.vertex_count)
    np.maximum.at(limits, found.vertices(), spindles.scale[number] * np.sum(control * basis, axis=1))
    return limits


def refined(character: Character, times: int) -> Character:
    """The character's body alone, its skin and weights subdivided by Loop's rule; seams are closed first."""
    body = character.body()
    assert body.weights is not None
    points, triangles = body.mesh.points.astype(np.float64), body.mesh.triangles().astype(np.int64)
    joints = character.skeleton.joint_count
    weights = np.zeros((len(points), joints))
    rows = np.repeat(np.arange(len(points)), np.diff(body.weights.starts))
    weights[rows, body.weights.joints] = body.weights.weights
    _, first, same = np.unique(points, axis=0, return_index=True, return_inverse=True)
    triangles = same.reshape(-1)[triangles]
    whole = np.all(triangles != np.roll(triangles, 1, axis=1), axis=1)
    values = np.concatenate([points[first], weights[first]], axis=1)
    if times:
        values, faces = igl.loop(values, triangles[whole], times)
    else:
        faces = triangles[whole]
    points, weights = values[:, :3], np.where(values[:, 3:] < 1e-6, 0.0, values[:, 3:])
    width = int((weights > 0.0).sum(axis=1).max())
    strongest = np.argsort(-weights, axis=1, kind="stable")[:, :width]
    table = weights_from_table(strongest, np.take_along_axis(weights, strongest, axis=1), joints, body.name)
    fine = replace(body, mesh=triangle_mesh(body.name, points, faces), weights=table)
    return replace(character, meshes=(fine,), motions=(), cache=None)
