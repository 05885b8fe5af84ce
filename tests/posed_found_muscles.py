"""Found muscles as they are drawn in a pose, and how far they stand outside the skin there."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt

from ecorche.body.ecorche_surfaces import EcorcheSurfaces, surfaces_of
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.io.formats import read_motion
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.posed_lofts import PosedLofts
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from extracted_people import extracted, hybrid_body

Floats = npt.NDArray[np.float64]

EXAMPLES = Path(__file__).parent.parent / "examples"
POSES = {"curl": 48, "squat": 60, "raise": 63}
"""The frames in which the poses of the examples are held."""
PLACES, ANGLES = np.linspace(0.0, 1.0, 41)[1:-1], np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)


def drawn(file: Path) -> Lofts:
    """The muscles found in someone's skin, as they are drawn."""
    lofts = hybrid_body(file).lofts
    assert lofts is not None
    return lofts.lofts


def held(file: Path, pose: str) -> Motion:
    """One frame of a pose of the examples."""
    character, rig = extracted(file)
    motion = perform(character, read_motion(EXAMPLES / f"{pose}.pose"), rig=rig, muscles=False).take.motion
    assert motion is not None
    return motion.part(POSES[pose], POSES[pose])


def posed_muscles(file: Path, motion: Motion) -> PosedLofts:
    """The muscles in the first frame of a motion."""
    return drawn(file).posed(difference_from_bind(extracted(file)[0].skeleton, motion.local[0]))


def outside_skin(file: Path, motion: Motion) -> dict[str, Floats]:
    """How far points of each muscle are outside the skin that they move [m], 0 within it.

    Told by winding numbers: in the crook, where the skin goes through itself, its normals mislead.
    """
    character, rig = extracted(file)
    body = character.body(rig.spec.body)
    triangles = body.mesh.triangles().astype(np.int64)
    skin = LiveFrames(hybrid_body(file), motion)[0].points[character.meshes.index(body)].astype(np.float64)
    posed = posed_muscles(file, motion)
    result = {}
    for number, name in enumerate(posed.lofts.names):
        places = posed.rings(number, PLACES, ANGLES).reshape(-1, 3)
        out = igl.fast_winding_number(skin, triangles, places) < 0.5
        result[name] = np.zeros(len(places))
        if out.any():
            result[name][out] = np.sqrt(igl.point_mesh_squared_distance(places[out], skin, triangles)[0])
    return result


def drawn_outside(file: Path, motion: Motion) -> dict[str, float]:
    """How far the surface of each muscle as it is drawn, vertices and triangles, leaves the skin [m]."""
    character, rig = extracted(file)
    body, compiled = character.body(rig.spec.body), hybrid_body(file)
    triangles, frames = body.mesh.triangles().astype(np.int64), LiveFrames(compiled, motion)
    skin = frames[0].points[character.meshes.index(body)].astype(np.float64)
    surfaces = _surfaces(file)
    moved, active = difference_from_bind(character.skeleton, motion.local[0]), frames.activation
    points = surfaces.points(moved, compiled.bulge(None if active is None else active[0])).astype(np.float64)
    asked = np.concatenate([points, points[surfaces.triangles].mean(axis=1)])
    muscle = np.concatenate([surfaces.muscle, surfaces.muscle[surfaces.triangles[:, 0]]])
    gap, out = np.zeros(len(asked)), igl.fast_winding_number(skin, triangles, asked) < 0.5
    if out.any():
        gap[out] = np.sqrt(igl.point_mesh_squared_distance(asked[out], skin, triangles)[0])
    names = drawn(file).names
    return {name: float(gap[muscle == number].max()) for number, name in enumerate(names)}


@cache
def _surfaces(file: Path) -> EcorcheSurfaces:
    return surfaces_of(hybrid_body(file))
