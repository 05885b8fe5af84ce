"""Bent muscles: sections by arc length, straight ones as ever, and a bent elbow that keeps its skin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ecorche.base.rotations import normalise
from ecorche.base.threads import at_most_threads
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_character
from ecorche.muscles.centre_lines import REACH, STATIONS, CentreLines
from ecorche.muscles.paths import paths_at
from ecorche.muscles.section_frames import PosedFrames, section_frames
from ecorche.muscles.sections import Sections, chord_sections, path_sections
from ecorche.muscles.spindle import Spindles
from ecorche.muscles.volume import SpindleStates, contract
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.influence import Influences, influence
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.weights import rigid_weights
from muscle_patches import Floats, Points, random_muscles

RADIUS, WHOLE = 0.2, np.radians(100.0)


def on_circle(angle: Floats, radius: float | Floats) -> Floats:
    return np.stack([radius * np.sin(angle), radius * np.cos(angle), 0.0 * angle], axis=-1)


def arc(turn: float = WHOLE, radius: float = RADIUS) -> CentreLines:
    """A line on a circle round the world's Z axis that bulges away from its centre."""
    angle = np.linspace(0.0, turn, STATIONS)
    out = on_circle(angle, 1.0)
    along = np.stack([np.cos(angle), -np.sin(angle), 0.0 * angle], axis=-1)
    length = np.array([radius * turn])
    return CentreLines(np.ones(1, np.bool_), radius * out[None], along[None], out[None], length)


def bent(muscles: Sections, turn: float) -> Sections:
    """Each muscle's line bent evenly towards its inner side; a turn of zero leaves it straight."""
    angle = np.linspace(0.0, turn, STATIONS)
    s = np.linspace(0.0, 1.0, STATIONS)
    forth = s if turn == 0.0 else np.sin(angle) / turn
    down = 0.0 * s if turn == 0.0 else (1.0 - np.cos(angle)) / turn
    along, out = muscles.along[:, None], muscles.out[:, None]
    path = (forth[:, None] * along - down[:, None] * out) * muscles.length[:, None, None]
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    lines = CentreLines(
        np.ones(len(muscles), np.bool_),
        muscles.origin[:, None] + path,
        cosine * along - sine * out,
        cosine * out + sine * along,
        muscles.length,
    )
    return replace(muscles, lines=lines)


def random_body(turn: float, vertices: int = 4000) -> tuple[Sections, Points, Influences]:
    bind = bent(replace(random_muscles(40, seed=4, size=0.25), bulge=np.ones(40)), turn)
    points = np.random.default_rng(8).uniform(-0.3, 0.3, (vertices, 3)).astype(np.float32)
    points[::7, 0] = -0.0
    found = influence(points, rigid_weights(vertices, 0), bind, [[0]] * 40, template="radial")
    return bind, points, found


def tense(muscles: Sections, turn: float) -> Sections:
    return bent(replace(muscles, bulge=1.2 * muscles.bulge, length=0.9 * muscles.length), turn)


def test_on_a_circle_t_is_the_arc_and_v_the_distance_from_it() -> None:
    rng = np.random.default_rng(1)
    share, height, z = rng.random(500), rng.uniform(-0.12, 0.1, 500), rng.uniform(-0.05, 0.05, 500)
    points = on_circle(share * WHOLE, RADIUS + height) + z[:, None] * [0.0, 0.0, 1.0]
    lines = arc()
    for near in (None, np.clip(share + rng.uniform(-0.2, 0.2, 500), 0.0, 1.0)):
        at = lines.places(0, points, near)
        np.testing.assert_allclose(at.t, share, atol=2e-3)
        # the line between stations is a chord, at most R (1 − cos(δ/2)) within the circle
        sagitta = RADIUS * (1.0 - np.cos(0.5 * WHOLE / (STATIONS - 1)))
        v = np.sum((points - at.point) * at.out, axis=1)
        assert (v - height).min() > -1e-4
        assert (v - height).max() < 1.1 * sagitta
        np.testing.assert_allclose(np.sum((points - at.point) * at.side, axis=1), z, atol=1e-12)
        np.testing.assert_allclose(at.out, on_circle(share * WHOLE, 1.0), atol=2e-2)


def test_past_the_ends_t_runs_on_by_length() -> None:
    lines = arc()
    before = lines.points[0, 0] - 0.03 * lines.along[0, 0] + 0.02 * lines.out[0, 0]
    after = lines.points[0, -1] + 0.05 * lines.along[0, -1] + 0.02 * lines.out[0, -1]
    t = lines.places(0, np.stack([before, after])).t
    np.testing.assert_allclose(t, [-0.03 / lines.length[0], 1.0 + 0.05 / lines.length[0]], atol=1e-6)


def test_a_line_that_comes_back_keeps_each_point_near_its_bind_place() -> None:
    """A line bent by 200°: planes of its end cut through the skin at its beginning."""
    lines = arc(np.radians(200.0), 0.05)
    share = np.linspace(0.05, 0.95, 200)
    points = on_circle(share * np.radians(200.0), np.full(200, 0.08))
    assert np.abs(lines.places(0, points).t - share).max() > 0.1, "without the bind place it is lost"
    np.testing.assert_allclose(lines.places(0, points, share).t, share, atol=4e-3)
    elsewhere = np.random.default_rng(3).uniform(-0.1, 0.1, (200, 3))
    off = lines.places(0, elsewhere, share).t - share
    assert np.abs(off).max() == pytest.approx(REACH)


def test_t_has_no_jump_on_the_outer_side() -> None:
    lines = arc(np.radians(140.0), 0.06)
    share = np.linspace(0.0, 1.0, 4001)
    t = lines.places(0, on_circle(share * np.radians(140.0), 0.09 + 0.0 * share), share).t
    assert (np.diff(t) > 0.0).all()
    assert np.diff(t).max() < 1.2 / 4000


def test_a_bent_line_that_is_straight_gives_what_the_straight_one_gives() -> None:
    bind, points, found = random_body(0.0)
    straight = replace(bind, lines=None)
    for muscle in range(0, 40, 7):
        here, there = bind.coordinates(muscle, points), straight.coordinates(muscle, points)
        for mine, yours in zip(here, there, strict=True):
            np.testing.assert_allclose(mine, yours, atol=1e-7)
    posed = tense(bind, 0.0)
    displaced = SlidingSkin(points, bind, found).apply(posed, points)
    expected = SlidingSkin(points, straight, found).apply(replace(posed, lines=None), points)
    assert np.abs(expected - points).max() > 5e-3
    np.testing.assert_allclose(displaced, expected, atol=1e-6)


def test_the_kernel_equals_the_reference_on_bent_lines() -> None:
    bind, points, found = random_body(0.3)
    posed = tense(bind, 1.2)
    displaced = SlidingSkin(points, bind, found).apply(posed, points)
    top, below = np.zeros((len(points), 3)), np.zeros(len(points))
    for m in range(40):
        of = found.muscles == m
        here, w, side = found.vertices()[of], found.weights[of].astype(float), found.side[of]
        near, p = found.t[of].astype(float), points[found.vertices()[of]].astype(float)
        rest, now = (muscles.coordinates(m, p, near) for muscles in (bind, posed))
        delta = (side * now.height - now.v) - (side * rest.height - rest.v)
        assert posed.lines is not None
        top[here] += (w * w * delta)[:, None] * posed.lines.places(m, p, near).out
        below[here] += w
    expected = points + top / np.where(below > 0, below, 1.0)[:, None]
    assert np.abs(expected - points).max() > 1e-2
    # where planes meet t is steep, and float32 shows: there are few such vertices
    off = np.abs(displaced - expected).max(axis=1)
    assert np.quantile(off, 0.995) < 3e-6
    assert off.max() < 1e-4


def test_bind_is_exact_and_threads_do_not_matter() -> None:
    bind, points, found = random_body(0.8, 20_000)
    skin = SlidingSkin(points, bind, found)
    assert skin.apply(bind, points).tobytes() == points.tobytes()
    posed = tense(bind, 1.5)
    many = skin.apply(posed, points)
    assert np.isfinite(many).all()
    with at_most_threads(1):
        assert skin.apply(posed, points).tobytes() == many.tobytes()


def test_bent_and_straight_muscles_are_not_mixed_up() -> None:
    bind, points, found = random_body(0.3, 200)
    with pytest.raises(EcorcheError, match="path_sections"):
        SlidingSkin(points, bind, found).apply(replace(bind, lines=None), points)
    with pytest.raises(EcorcheError, match="40 muscles have 1 centre lines"):
        replace(bind, lines=arc())
    with pytest.raises(EcorcheError, match="out of 1 centre lines"):
        replace(arc(), out=np.zeros((1, 3, 3)))


def test_a_strongly_bent_elbow_does_not_drag_the_skin_of_the_arm(data: Path) -> None:
    """A biceps held to the upper arm by a via point; along the chord the skin is drawn in by 2 cm."""
    character = read_character(data / "human" / "male_average_cmu_mb.glb")
    skeleton, body = character.skeleton, character.meshes[0]
    points, skin_weights = body.mesh.points, body.weights
    assert skin_weights is not None
    arm, forearm, hand = (skeleton.index(n) for n in ("LeftArm", "LeftForeArm", "LeftHand"))
    shoulder, elbow, wrist = (skeleton.bind_world[j][:3, 3] for j in (arm, forearm, hand))
    down = normalise(elbow - shoulder)
    front = normalise(np.array([0.0, 0.0, 1.0]) - down * down[2])
    nodes = [
        (arm, shoulder + 0.03 * down + 0.023 * front),
        (arm, elbow - 0.03 * down + 0.022 * front),
        (forearm, elbow + 0.04 * normalise(wrist - elbow) + 0.015 * front),
    ]
    paths = paths_at(skeleton, [nodes])
    frames = section_frames(paths, front[None])
    half = np.array([0.006, 0.012, 0.026, 0.026])
    shape = Spindles(
        thickness=np.stack([half, half[::-1]])[None],
        sweep=np.zeros((1, 2, 4, 2)),
        belly=np.array([0.5]),
        scale=np.ones(1),
        bind_length=paths.bind.lengths,
    )
    local = skeleton.bind_local.copy()
    bend = Rotation.from_rotvec(np.radians(100.0) * np.cross(down, front)).as_matrix()
    turn = skeleton.bind_world[forearm][:3, :3]
    local[forearm, :3, :3] = local[forearm, :3, :3] @ (turn.T @ bend @ turn)
    difference = difference_from_bind(skeleton, local)
    plain = LinearSkinning(points, skin_weights).apply(difference)

    def displacement(make: Callable[[PosedFrames, SpindleStates], Sections]) -> Floats:
        """How far the skin of arm and forearm moves to the front [m]."""
        at_bind = frames.moved(difference_from_bind(skeleton, skeleton.bind_local))
        rest = make(at_bind, contract(shape, at_bind.path.lengths))
        found = influence(points, skin_weights, rest, [[arm, forearm]], weighting="binary")
        skin = SlidingSkin(points, rest, found)
        assert skin.apply(rest, points).tobytes() == points.tobytes()
        posed = frames.moved(difference)
        moved = skin.apply(make(posed, contract(shape, posed.path.lengths, bulge=1.15)), plain)
        return np.asarray((moved.astype(float) - plain) @ front)

    assert displacement(chord_sections).min() < -0.02
    along_path = displacement(path_sections)
    assert along_path.min() > -0.001
    upper = (plain - shoulder) @ down < 0.75 * np.linalg.norm(elbow - shoulder)
    assert 0.006 < along_path[upper].max() < 0.018, "the belly swells"
