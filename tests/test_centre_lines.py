"""Bent muscles: sections that ride with the limb, straight ones as ever, and arms that keep their skin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bent_arm import BentArm, bent_arm, mirrored_arm
from ecorche.base.rotations import normalise
from ecorche.base.threads import at_most_threads
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_character
from ecorche.muscles.centre_lines import STATIONS, CentreLines
from ecorche.muscles.paths import paths_at
from ecorche.muscles.section_frames import section_frames
from ecorche.muscles.sections import Sections, path_sections
from ecorche.muscles.spindle import Spindles
from ecorche.muscles.volume import contract
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.influence import Influences, influence
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.weights import rigid_weights
from muscle_patches import Floats, Points, random_muscles, saturated

RADIUS, WHOLE = 0.2, np.radians(100.0)


def on_circle(angle: Floats, radius: float | Floats) -> Floats:
    return np.stack([radius * np.sin(angle), radius * np.cos(angle), 0.0 * angle], axis=-1)


def arc(turn: float = WHOLE, radius: float = RADIUS) -> CentreLines:
    """A line on a circle round the world's Z axis that bulges away from its centre."""
    angle = np.linspace(0.0, turn, STATIONS)
    out = on_circle(angle, 1.0)
    along = np.stack([np.cos(angle), -np.sin(angle), 0.0 * angle], axis=-1)
    t = np.linspace(0.0, 1.0, STATIONS)[None]
    return CentreLines(
        np.zeros(1, np.int64), radius * out[None], along[None], out[None], t, np.array([radius * turn])
    )


def bent(muscles: Sections, turn: float, gathered: float = 0.0) -> Sections:
    """Each muscle's line bent evenly towards its inner side; a turn of zero leaves it straight.

    ``gathered`` draws the stations towards the origin, as a path does whose first part has shortened.
    """
    t = np.linspace(0.0, 1.0, STATIONS)
    t = t - gathered * t * (1.0 - t)
    angle = turn * t
    forth = t if turn == 0.0 else np.sin(angle) / turn
    down = 0.0 * t if turn == 0.0 else (1.0 - np.cos(angle)) / turn
    along, out = muscles.along[:, None], muscles.out[:, None]
    path = (forth[:, None] * along - down[:, None] * out) * muscles.length[:, None, None]
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    lines = CentreLines(
        np.arange(len(muscles)),
        muscles.origin[:, None] + path,
        cosine * along - sine * out,
        cosine * out + sine * along,
        np.tile(t, (len(muscles), 1)),
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
    other = replace(muscles, bulge=1.2 * muscles.bulge, length=0.9 * muscles.length)
    return bent(other, turn, gathered=0.15)


def test_on_a_circle_t_is_the_arc_and_v_the_distance_from_it() -> None:
    rng = np.random.default_rng(1)
    share, height, z = rng.random(500), rng.uniform(-0.12, 0.1, 500), rng.uniform(-0.05, 0.05, 500)
    points = on_circle(share * WHOLE, RADIUS + height) + z[:, None] * [0.0, 0.0, 1.0]
    lines = arc()
    place = lines.find(0, points)
    np.testing.assert_allclose(place, share * (STATIONS - 1), atol=0.02)
    # skin that has slid by up to a station is measured from its bind place
    slid = np.clip(place + rng.uniform(-0.5, 0.5, 500), 0.0, STATIONS - 1.0)
    for belongs, close in ((place, 2e-3), (slid, 5e-2)):
        at = lines.places(0, points, belongs)
        np.testing.assert_allclose(at.t, share, atol=close)
        np.testing.assert_allclose(np.sum((points - at.foot) * at.side, axis=1), z, atol=1e-12)
    at = lines.places(0, points, place)
    # the line between stations is a chord, at most R (1 − cos(δ/2)) within the circle
    sagitta = RADIUS * (1.0 - np.cos(0.5 * WHOLE / (STATIONS - 1)))
    v = np.sum((points - at.foot) * at.out, axis=1)
    assert (v - height).min() > -1e-4
    assert (v - height).max() < 1.1 * sagitta
    np.testing.assert_allclose(at.out, on_circle(share * WHOLE, 1.0), atol=2e-2)


def test_past_the_ends_t_runs_on_by_length() -> None:
    lines = arc()
    before = lines.points[0, 0] - 0.03 * lines.along[0, 0] + 0.02 * lines.out[0, 0]
    after = lines.points[0, -1] + 0.05 * lines.along[0, -1] + 0.02 * lines.out[0, -1]
    points = np.stack([before, after])
    t = lines.places(0, points, lines.find(0, points)).t
    np.testing.assert_allclose(t, [-0.03 / lines.length[0], 1.0 + 0.05 / lines.length[0]], atol=1e-6)


def test_along_skin_outside_a_bend_places_rise_without_a_jump() -> None:
    lines = arc(np.radians(140.0), 0.06)
    share = np.linspace(0.0, 1.0, 4001)
    points = on_circle(share * np.radians(140.0), 0.09 + 0.0 * share)
    place = lines.find(0, points)
    assert (np.diff(place) > 0.0).all()
    assert np.diff(place).max() < 1.2 * (STATIONS - 1) / 4000
    t = lines.places(0, points, place).t
    assert (np.diff(t) > 0.0).all()
    assert np.diff(t).max() < 1.2 / 4000


def test_a_bent_line_that_is_straight_gives_what_the_straight_one_gives() -> None:
    bind, points, found = random_body(0.0)
    straight = replace(bind, lines=None)
    for muscle in range(0, 40, 7):
        here, there = bind.coordinates(muscle, points), straight.coordinates(muscle, points)
        for mine, yours in zip(here[1:], there[1:], strict=True):
            np.testing.assert_allclose(mine, yours, atol=1e-12)
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
    assert posed.lines is not None
    for m in range(40):
        of = found.muscles == m
        here, w, side = found.vertices()[of], found.weights[of].astype(float), found.side[of]
        place, p = found.place[of].astype(float), points[found.vertices()[of]].astype(float)
        rest, now = (muscles.coordinates(m, p, place) for muscles in (bind, posed))
        delta = (side * now.height - now.v) - (side * rest.height - rest.v)
        delta = saturated(delta, bind.scale[m] * rest.thickness)
        top[here] += (w * w * delta)[:, None] * posed.lines.places(m, p, place).out
        below[here] += w
    expected = points + top / np.where(below > 0, below, 1.0)[:, None]
    assert np.abs(expected - points).max() > 1e-2
    np.testing.assert_allclose(displaced, expected, atol=3e-6)


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
    with pytest.raises(EcorcheError, match="same via points"):
        SlidingSkin(points, bind, found).apply(replace(bind, lines=None), points)
    with pytest.raises(EcorcheError, match="1 muscles have a centre line of muscle 39"):
        replace(random_muscles(1), lines=bind.lines)
    with pytest.raises(EcorcheError, match="out of 1 centre lines"):
        replace(arc(), out=np.zeros((1, 3, 3)))


@pytest.fixture(scope="module")
def arm() -> BentArm:
    return bent_arm()


def test_a_twisted_arm_takes_its_muscle_along(arm: BentArm) -> None:
    """The whole arm turns about its own axis by 70°: skin and muscle turn alike, and nothing is displaced."""
    for degrees in (-70.0, 35.0, 70.0):
        plain, displaced, posed = arm.pose(twist=degrees)
        assert posed.length[0] == pytest.approx(arm.bind.length[0], rel=1e-9)
        assert np.linalg.norm(plain - arm.points, axis=1).max() > 0.02
        assert np.linalg.norm(displaced - plain, axis=1).max() < 1e-3
    # what carries the belly is the joint of its nodes: with the origin's alone the skin would be torn
    frames = arm.frames.moved(arm.difference(twist=70.0))
    carried_by_origin = frames.out[0]
    belly = path_sections(frames, contract(arm.spindles, frames.path.lengths)).lines
    assert belly is not None
    turned = np.degrees(np.arccos(belly.out[0, STATIONS // 2] @ carried_by_origin))
    assert turned == pytest.approx(70.0, abs=3.0)


def test_a_bent_elbow_leaves_the_belly_to_its_own_thickening(arm: BentArm) -> None:
    """With thickness and t held, skin over the part that is rigid with the arm does not move at all."""
    frames = arm.frames.moved(arm.difference(bend=120.0))
    assert frames.path.lengths[0] < 0.93 * arm.bind.length[0]
    posed = path_sections(frames, contract(arm.spindles, frames.path.lengths))
    assert posed.lines is not None
    assert arm.bind.lines is not None
    lines = replace(posed.lines, t=arm.bind.lines.t, length=arm.bind.length)
    still = replace(posed, thickness=arm.bind.thickness, lines=lines)
    assert still.lines is not None
    rigid = slice(1, 5)
    np.testing.assert_allclose(still.lines.points[0, rigid], arm.bind.lines.points[0, rigid], atol=1e-12)
    np.testing.assert_allclose(still.lines.out[0, rigid], arm.bind.lines.out[0, rigid], atol=1e-12)
    off = np.linalg.norm(arm.skin.apply(still, arm.points) - arm.points, axis=1)
    over_belly = np.abs(arm.points[:, 0] - 0.15) < 0.04
    assert off[over_belly].max() < 1e-5
    thick = arm.skin.apply(posed, arm.points)
    assert (thick - arm.points)[:, 2].max() > 1e-3


def test_rigid_motion_moves_the_result(arm: BentArm) -> None:
    turn = Rotation.from_rotvec([1.0, -2.0, 0.5]).as_matrix()
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = turn, [0.5, 1.0, -0.7]
    still = arm.pose(twist=30.0, bend=90.0, bulge=1.2)
    moved = arm.pose(twist=30.0, bend=90.0, bulge=1.2, whole=whole)
    assert np.abs(still[1] - still[0]).max() > 2e-3
    for here, there in zip(still[:2], moved[:2], strict=True):
        np.testing.assert_allclose(there, here @ turn.T + whole[:3, 3], atol=2e-6)


def test_the_other_arm_is_the_mirror_image(arm: BentArm) -> None:
    other, mirror = mirrored_arm(), np.array([-1.0, 1.0, 1.0])
    here = arm.pose(twist=40.0, bend=80.0, bulge=1.2)
    there = other.pose(twist=40.0, bend=-80.0, bulge=1.2)
    np.testing.assert_allclose(other.points, arm.points * mirror, atol=1e-7)
    for mine, yours in zip(here[:2], there[:2], strict=True):
        np.testing.assert_allclose(yours, mine * mirror, atol=2e-6)


def test_nothing_pops_as_the_arm_moves(arm: BentArm) -> None:
    """Half the step in time, a quarter of the second differences: no jump, and no sudden turn."""

    def roughness(steps: int) -> float:
        angle = np.linspace(0.0, 1.0, steps + 1)
        moved = [
            arm.exact(twist=60.0 * np.sin(3.0 * s), bend=130.0 * s * s, bulge=1.0 + 0.3 * s) for s in angle
        ]
        return float(np.abs(np.diff(np.array(moved), 2, axis=0)).max())

    coarse, fine = roughness(200), roughness(400)
    assert fine < 0.35 * coarse
    assert fine < 1e-3


def test_neighbours_on_the_skin_stay_neighbours(arm: BentArm) -> None:
    """Along and round the arm, over all stations: half the distance, half the difference."""

    def steps(count: int) -> float:
        x = np.linspace(0.02, 0.33, count)
        round_arm = np.linspace(-0.9, 0.9, count)
        along = np.stack([x, 0.0 * x + 0.01, 0.0 * x + 0.045], axis=-1)
        across = np.stack([0.0 * x + 0.17, 0.045 * np.sin(round_arm), 0.045 * np.cos(round_arm)], axis=-1)
        worst = 0.0
        for line in (along, across):
            off = arm.exact(twist=20.0, bend=110.0, bulge=1.25, points=line)
            assert np.abs(off).max() > 1e-3
            worst = max(worst, float(np.abs(np.diff(off, axis=0)).max()))
        return worst

    assert steps(4000) < 0.6 * steps(2000)


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
    local = skeleton.bind_local.copy()
    bend = Rotation.from_rotvec(np.radians(100.0) * np.cross(down, front)).as_matrix()
    turn = skeleton.bind_world[forearm][:3, :3]
    local[forearm, :3, :3] = local[forearm, :3, :3] @ (turn.T @ bend @ turn)
    difference = difference_from_bind(skeleton, local)
    plain = LinearSkinning(points, skin_weights).apply(difference)

    def displacement(line: list[tuple[int, Floats]]) -> Floats:
        """How far the skin of arm and forearm moves to the front [m]."""
        paths = paths_at(skeleton, [line])
        frames = section_frames(paths, front[None])
        half = np.array([0.006, 0.012, 0.026, 0.026])
        shape = Spindles(
            thickness=np.stack([half, half[::-1]])[None],
            sweep=np.zeros((1, 2, 4, 2)),
            belly=np.array([0.5]),
            scale=np.ones(1),
            bind_length=paths.bind.lengths,
        )

        def sections(moved: Floats, bulge: float) -> Sections:
            posed = frames.moved(moved)
            return path_sections(posed, contract(shape, posed.path.lengths, bulge=bulge))

        rest = sections(difference_from_bind(skeleton, skeleton.bind_local), 1.0)
        found = influence(points, skin_weights, rest, [[arm, forearm]], weighting="binary")
        skin = SlidingSkin(points, rest, found)
        assert skin.apply(rest, points).tobytes() == points.tobytes()
        moved = skin.apply(sections(difference, 1.15), plain)
        return np.asarray((moved.astype(float) - plain) @ front)

    assert displacement([nodes[0], nodes[-1]]).min() < -0.009
    moved = displacement(nodes)
    assert moved.min() > -0.002
    upper = (plain - shoulder) @ down < 0.75 * np.linalg.norm(elbow - shoulder)
    assert 0.006 < moved[upper].max() < 0.018, "the belly swells"
