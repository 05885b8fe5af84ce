"""Muscles narrower than the skin's edges: lower and wider on it, never now this vertex and now that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.muscle_people import PEOPLE, motion_file, performed, rigged
from benchmarks.skin_smoothness import Roughness, roughness

import ecorche.body.muscles
from conftest import Figure
from ecorche.body.compile import compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.muscles.sections import Sections
from ecorche.skeleton.naming import recognise
from ecorche.skin.influence import WIDEST, Influences, influence
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.spacing import edge_squares
from ecorche.skin.weights import rigid_weights
from muscle_patches import one_muscle

Floats = npt.NDArray[np.float64]

SQUATTING = 47
"""The frame of examples/squat.pose in which the body is down."""
ROUGH = 0.66
"""Unevenness over displacement, root mean squares; white noise has 1.1, a ripple of four vertices 0.5."""


def _inner_thighs(path: Path) -> npt.NDArray[np.bool_]:
    """The vertices on the inner side of both thighs, by skin weight and place at bind."""
    character, _ = rigged(path)
    body, naming = character.body(), recognise(character.skeleton)
    assert body.weights is not None
    joints, weights = body.weights.padded()
    heads, points = character.skeleton.bind_world[:, :3, 3], body.mesh.points.astype(np.float64)
    inner = np.zeros(len(points), bool)
    for side, other in (("r", "l"), ("l", "r")):
        hip, knee, far = (naming.joint(n) for n in (f"{side}_hip", f"{side}_knee", f"{other}_hip"))
        assert hip is not None
        assert knee is not None
        assert far is not None
        bone = heads[knee] - heads[hip]
        share = np.clip((points - heads[hip]) @ bone / (bone @ bone), 0.0, 1.0)
        off = points - heads[hip] - share[:, None] * bone
        medial = off[:, 0] * np.sign(heads[far, 0] - heads[hip, 0])
        own = np.where(joints == hip, weights, 0.0).sum(axis=1) > 0.5
        inner |= own & (medial > 0.5 * np.hypot(off[:, 0], off[:, 2]))
    return inner


def _squat(data: Path, path: Path) -> Roughness:
    """How uneven the muscles leave the inner thighs in a squat."""
    character, rig = rigged(path)
    frames = performed(path, motion_file(data, "squat")).muscled
    assert frames.activation is not None
    pose = Pose(frames.motion.local[SQUATTING], activation=frames.activation[SQUATTING])
    muscled, plain = compile_body(character, rig=rig), compile_body(character)
    assert muscled.muscles is not None
    skin = muscled.muscles.skin
    over, bare = (evaluate(body, pose).points[skin].astype(np.float64) for body in (muscled, plain))
    mesh = character.body().mesh
    return roughness(mesh.points, mesh.triangles(), over, bare, _inner_thighs(path))


@pytest.mark.parametrize("person", PEOPLE)
def test_the_inner_thigh_is_even_in_a_squat(
    data: Path, person: str, figure: Figure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sartorius, gracilis and adductors are narrower there than an edge of the skin is long."""
    path = data / "human" / f"{PEOPLE[person]}.glb"
    found = _squat(data, path)
    figure(f"muscles: unevenness of the inner thigh in a squat, {person}", found.over_displacement, ROUGH, "")
    figure(f"muscles: unevenness of the inner thigh in a squat [mm], {person}", 1e3 * found.uneven, 1.2, "mm")
    assert found.displaced > 0.8e-3
    assert found.over_displacement < ROUGH
    # a skin taken for fine is found out
    with monkeypatch.context() as patch:
        patch.setattr(ecorche.body.muscles, "edge_squares", lambda points, _: np.zeros((len(points), 3, 3)))
        jagged = _squat(data, path)
    assert jagged.over_displacement > ROUGH
    assert found.uneven < 0.85 * jagged.uneven


def _sheet(step: float, high: float) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """A flat skin so high over the muscle's line, its rows slanting to it, with vertices so far apart."""
    slant = 0.3
    count = int(0.36 / step)
    u, w = np.meshgrid(step * np.arange(count) - 0.03, step * np.arange(count) - 0.18, indexing="ij")
    x, z = np.cos(slant) * u - np.sin(slant) * w, np.sin(slant) * u + np.cos(slant) * w
    a = (count * np.arange(count - 1)[:, None] + np.arange(count - 1)).reshape(-1)
    triangles = np.concatenate(
        [np.stack([a, a + count, a + count + 1], 1), np.stack([a, a + count + 1, a + 1], 1)]
    )
    return np.stack([x, 0.0 * x + high, z], axis=-1).reshape(-1, 3).astype(np.float32), triangles


def _found(
    muscle: Sections, step: float, aware: bool, high: float = 0.05
) -> tuple[npt.NDArray[np.float32], Influences]:
    points, triangles = _sheet(step, high)
    squares = edge_squares(points, triangles) if aware else None
    return points, influence(points, rigid_weights(len(points), 0), muscle, [[0]], squares=squares)


def _thin(width: float) -> Sections:
    return one_muscle(thickness=np.full((1, 2, 4), width))


def test_a_fine_skin_without_fat_sees_the_muscle_itself() -> None:
    for aware in (True, False):
        _, found = _found(_thin(0.04), 0.002, aware, high=0.0)
        weights = np.zeros(found.vertex_count)
        weights[found.vertices()] = found.weights
        if aware:
            kept = weights
            np.testing.assert_allclose(found.read, found.a, atol=1e-4)
    np.testing.assert_allclose(kept, weights, atol=0.01)


def test_a_coarse_skin_reads_nearer_to_the_middle_and_borders_move_out() -> None:
    for width in (0.02, 0.03):
        _, found = _found(_thin(width), 0.015, True)
        assert (np.abs(found.read) <= np.abs(found.a)).all()
        assert (found.read * found.a >= 0.0).all()
        # steps along both rows of the grid and along its diagonals, and how much of them is across the muscle
        steps = 0.015 * np.array([np.sin(0.3), np.cos(0.3), np.sin(0.3) + np.cos(0.3)])
        apart = np.sqrt(2.0 * np.mean(steps**2))
        off = np.abs(found.a) > 1e-3
        # over so much fat the muscle is as much wider as it can be
        wider = np.sqrt(width**2 + apart**2 + (WIDEST * width) ** 2)
        np.testing.assert_allclose((found.read / found.a)[off], width / wider, rtol=1e-4)
        _, narrow = _found(_thin(width), 0.015, False)
        assert (narrow.read == narrow.a).all()
        assert np.abs(found.a).max() > 1.1 * np.abs(narrow.a).max()


def test_a_muscle_that_falls_between_vertices_moves_none() -> None:
    _, gone = _found(_thin(0.006), 0.015, True)
    assert len(gone.muscles) == 0
    weights = [
        float(_found(_thin(width), 0.015, True)[1].weights.max()) for width in (0.01, 0.013, 0.016, 0.03)
    ]
    assert (np.diff(weights) > 0.0).all()
    assert weights[0] < 0.5
    assert weights[-1] > 0.95


def test_the_bind_is_exact_and_a_bulge_is_smooth_where_the_muscle_is_narrow() -> None:
    """Rows of vertices cross the muscle aslant: beside it and on it in turn."""

    def ripple(aware: bool) -> tuple[float, float]:
        muscle = _thin(0.016)
        points, found = _found(muscle, 0.016, aware)
        sliding = SlidingSkin(points, muscle, found)
        assert sliding.apply(muscle, points).tobytes() == points.tobytes()
        tense = one_muscle(thickness=np.full((1, 2, 4), 0.016), bulge=np.array([1.3]))
        rise = (sliding.apply(tense, points) - points)[:, 1].reshape(int(0.36 / 0.016), -1)
        return float(np.abs(np.diff(rise, 2, axis=0)).max()), float(rise.max())

    rough, high = ripple(False)
    smooth, low = ripple(True)
    assert 0.3 * high < low < high
    assert smooth < 0.6 * rough
