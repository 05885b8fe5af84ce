"""Threads over spheres and cylinders: as long as MuJoCo's, shortest, smooth at first contact, no jumps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import mujoco
import numpy as np
import numpy.typing as npt
import pytest

from conftest import Figure
from ecorche.base.rotations import matrix_from_xyzw, normalise, rotate_xyzw, xyzw_from_axis_angle
from ecorche.errors import EcorcheError
from ecorche.muscles.lofted import LoftedMuscle, Rings, Wrap
from ecorche.muscles.root_curves import RootCurves, root_curves
from ecorche.muscles.wrapping import ANGLE, CHORD, FIRST, RADIUS, SHARE, SPEED, WRAPPED

Floats = npt.NDArray[np.float64]
Shape = Literal["sphere", "cylinder", "ball"]
SHAPES: tuple[Shape, ...] = ("sphere", "cylinder")
RADIUS_OF = 0.04
Z = np.array([0.0, 0.0, 1.0])
STILL = np.zeros((3, 4, 4))


def thread(shape: Shape | None, ends: Any, axis: npt.ArrayLike = Z, **wrap: Any) -> LoftedMuscle:
    """Origin on joint 0, insertion on joint 1, round something on joint 2."""
    rings = Rings(np.array([0.3, 0.7]), np.zeros((2, 2)), np.full((2, 2), 0.01), np.zeros(2))
    obstacle = None
    if shape is not None:
        centre = np.asarray(wrap.pop("centre", np.zeros(3)))
        obstacle = Wrap(shape, 2, centre, np.asarray(axis, float), wrap.pop("radius", RADIUS_OF))
    name = str(wrap.pop("name", "thread"))
    joints = wrap.pop("joints", (0, 1))
    return LoftedMuscle(
        name, name, name, joints, np.asarray(ends, float), np.array([0.3, 0.5, 0.8]), rings, obstacle
    )


def curves(*muscles: LoftedMuscle) -> RootCurves:
    return root_curves(muscles, 3)


def shifts(origin: npt.ArrayLike, insertion: npt.ArrayLike, centre: npt.ArrayLike = (0, 0, 0)) -> Floats:
    """Joints moved without turning, (..., 3, 4, 4)."""
    parts = np.broadcast_arrays(*(np.asarray(v, float) for v in (origin, insertion, centre)))
    difference = np.zeros((*parts[0].shape[:-1], 3, 4, 4))
    for joint, part in enumerate(parts):
        difference[..., joint, :3, 3] = part
    return difference


def random_ends(
    random: np.random.Generator, shape: Shape, count: int, nearest: float, farthest: float
) -> Floats:
    """Ends outside sphere or cylinder, (count, 2, 3)."""
    direction = normalise(random.normal(size=(count, 2, 3)))
    if shape == "cylinder":
        direction[..., 2] = 0.0
        direction = normalise(direction)
    ends = direction * random.uniform(nearest, farthest, (count, 2, 1))
    if shape == "cylinder":
        ends[..., 2] = random.uniform(-0.2, 0.2, (count, 2))
    return ends


@pytest.mark.parametrize("shape", SHAPES)
def test_lengths_are_those_of_mujoco(shape: Shape, figure: Figure) -> None:
    """1,000 random configurations, either side, the side site mid-arc."""
    size = f"{RADIUS_OF}" if shape == "sphere" else f"{RADIUS_OF} 1"
    bodies = "".join(f'<body mocap="true"><site name="{name}"/></body>' for name in "abs")
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody>{bodies}<geom name="g" type="{shape}" size="{size}"/></worldbody>
        <tendon><spatial><site site="a"/><geom geom="g" sidesite="s"/><site site="b"/></spatial></tendon>
        </mujoco>"""
    )
    data = mujoco.MjData(model)
    random = np.random.default_rng(1)
    ends = random_ends(random, shape, 1000, 1.05 * RADIUS_OF, 0.2)
    sides = random.choice([-1.0, 1.0], 1000)
    normals = np.tile(Z, (1000, 1)) if shape == "cylinder" else normalise(np.cross(ends[:, 0], ends[:, 1]))
    posed = curves(*(thread(shape, e, s * n) for e, s, n in zip(ends, sides, normals, strict=True))).bind
    rows, wrapped = posed.rows, posed.rows[:, SHARE] > 0.0
    middle = np.full((1000, 1), 0.5)  # of the arc
    arc = rows[wrapped, FIRST] + 0.5 * rows[wrapped, ANGLE] * rows[wrapped, SPEED]
    middle[wrapped, 0] = arc / rows[wrapped, WRAPPED]
    points = posed.at(middle)[0][:, 0]
    # a straight thread passes anywhere: the side site is on the surface below it
    flat = points * [1.0, 1.0, shape == "sphere"]
    site = points + flat * (1.1 * RADIUS_OF / np.linalg.norm(flat, axis=1, keepdims=True) - 1.0)
    theirs = np.empty(1000)
    for k in range(1000):
        data.mocap_pos[:] = [*ends[k], site[k]]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        theirs[k] = data.ten_length[0]
    assert 300 < wrapped.sum() < 700
    # beyond half a turn MuJoCo judges the side by the middle between the tangent points, which lies opposite
    # to the arc's: it then finds the same thread or a straight line; brute force, below, is with us
    beyond = rows[:, ANGLE] > np.pi
    assert beyond.sum() > 10
    given_up = beyond & (np.abs(theirs - rows[:, CHORD]) < 1e-12)
    assert given_up.sum() < 0.5 * beyond.sum()
    worst = np.abs(posed.lengths - theirs)[~given_up].max()
    figure(f"length over a {shape} against MuJoCo", 1000.0 * worst, 0.1, "mm")
    assert worst < 1e-12


def shortest_round_circle(rho: Floats, phi: float, radius: float, count: int = 20001) -> float:
    """The shortest of all threads that touch a circle at two of many points, and of the straight line.

    From the distance rho[0] of the centre to rho[1], about it by the angle phi; none enters the circle.
    """
    angle = np.linspace(0.0, phi, count)
    touch = radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    ends = rho[:, None] * np.array([[1.0, 0.0], [np.cos(phi), np.sin(phi)]])

    def clear(a: Floats, b: Floats, about: Floats) -> Any:
        """Lines from a to b outside the circle, that run about its centre by less than half a turn."""
        chord = b - a
        nearest = np.clip(-(a * chord).sum(axis=-1) / (chord * chord).sum(axis=-1), 0.0, 1.0)
        distance = np.linalg.norm(a + nearest[..., None] * chord, axis=-1)
        return (distance > radius * (1.0 - 1e-9)) & (about < np.pi)

    first = np.linalg.norm(touch - ends[0], axis=1) - radius * angle
    last = np.linalg.norm(touch - ends[1], axis=1) + radius * angle
    first = np.where(clear(np.tile(ends[0], (count, 1)), touch, angle), first, np.inf)
    last = np.where(clear(touch, np.tile(ends[1], (count, 1)), phi - angle), last, np.inf)
    # touched at i first and at j ≥ i last
    best = float((np.minimum.accumulate(first) + last).min())
    if clear(ends[0], ends[1], np.array(phi)):
        best = min(best, float(np.linalg.norm(ends[1] - ends[0])))
    return best


@pytest.mark.parametrize("shape", SHAPES)
def test_no_thread_on_the_stored_side_is_shorter(shape: Shape, figure: Figure) -> None:
    """Up to 310° round, ends down to a tenth of a millimetre over the surface, against brute force."""
    random = np.random.default_rng(2)
    worst, wrapped = 0.0, 0
    for _ in range(100):
        phi = random.uniform(0.3, np.radians(310.0))
        rho = RADIUS_OF + 10.0 ** random.uniform(-4.0, -0.8, 2)
        turn = random.uniform(0.0, 2.0 * np.pi)
        flat = rho[:, None] * np.array([[np.cos(t), np.sin(t)] for t in (turn, turn + phi)])
        heights = random.uniform(-0.1, 0.1, 2) * (shape == "cylinder")
        posed = curves(thread(shape, np.c_[flat, heights])).bind
        brute = np.hypot(shortest_round_circle(rho, phi, RADIUS_OF), heights[1] - heights[0])
        assert posed.lengths[0] < brute + 1e-12
        worst, wrapped = max(worst, brute - posed.lengths[0]), wrapped + int(posed.rows[0, SHARE])
    figure(f"length over a {shape} against brute force", 1000.0 * worst, 0.1, "mm")
    assert worst < 1e-7
    assert 60 < wrapped < 95


@pytest.mark.parametrize("shape", SHAPES)
def test_a_curve_is_told_by_arc_length_and_stays_outside(shape: Shape) -> None:
    random = np.random.default_rng(3)
    ends = random_ends(random, shape, 200, RADIUS_OF, 0.2)
    sides = random.choice([-1.0, 1.0], 200)[:, None]
    axes = sides * (Z if shape == "cylinder" else normalise(np.cross(ends[:, 0], ends[:, 1])))
    posed = curves(*(thread(shape, e, a) for e, a in zip(ends, axes, strict=True))).bind
    share = np.linspace(0.0, 1.0, 2001)
    points, tangents = posed.at(share)
    whole = posed.rows[:, SHARE] == 1.0
    assert whole.sum() > 60
    np.testing.assert_allclose(points[:, 0], ends[:, 0], atol=1e-15)
    np.testing.assert_allclose(points[:, -1], ends[:, 1], atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(tangents, axis=-1), 1.0, atol=1e-12)
    plain = whole | (posed.rows[:, SHARE] == 0.0)
    steps = np.diff(points[plain], axis=1)
    length = posed.lengths[plain, None]
    np.testing.assert_allclose(np.linalg.norm(steps, axis=-1) / length, 1.0 / 2000.0, rtol=1e-4)
    middle = posed.at(0.5 * (share[1:] + share[:-1]))[1][plain]
    assert np.abs(steps * 2000.0 / length[..., None] - middle).max() < 3e-2  # straddling a tangent point
    assert np.median(np.abs(steps * 2000.0 / length[..., None] - middle)) < 1e-7
    flat = points[whole] * [1.0, 1.0, shape == "sphere"]
    distance = np.linalg.norm(flat, axis=-1)
    assert distance.min() > RADIUS_OF - 1e-9
    np.testing.assert_allclose(distance.min(axis=1), RADIUS_OF, atol=1e-6)  # touched, not just passed


def sharpest_jump(curve: Callable[[Floats], Floats], steps: int = 400) -> float:
    """The largest change left when the three worst of the steps over 0 … 1 are halved 36 times."""
    times = np.linspace(0.0, 1.0, steps + 1)
    values = curve(times)
    worst = np.argsort(np.abs(np.diff(values, axis=0)).max(axis=1))[-3:]
    begin, end, first, last = times[worst], times[worst + 1], values[worst], values[worst + 1]
    for _ in range(36):
        middle = 0.5 * (begin + end)
        value = curve(middle)
        early = np.abs(value - first).max(axis=1) > np.abs(last - value).max(axis=1)
        begin, first = np.where(early, begin, middle), np.where(early[:, None], first, value)
        end, last = np.where(early, middle, end), np.where(early[:, None], value, last)
    return float(np.abs(last - first).max())


@pytest.mark.parametrize("shape", [*SHAPES, "ball"])
def test_no_motion_makes_a_curve_jump(shape: Shape) -> None:
    """Ends that wander through the obstacle, its axis, its centre and any side, obstacles that turn over."""
    random = np.random.default_rng(4)
    share, wave = np.linspace(0.0, 1.0, 7), np.array([1.0, 2.0, 3.0])
    touched = np.zeros(3, int)  # straight, blended, wrapped
    for _ in range(100):
        ends = random_ends(random, shape, 1, 0.02, 0.12)[0]
        axis = Z if shape == "cylinder" else normalise(np.cross(ends[0], ends[1]))
        root = curves(thread(shape, ends, random.choice([-1.0, 1.0]) * axis))
        spin_axis, spin = normalise(random.normal(size=3)), random.uniform(-1.5, 1.5)
        waves, phase = random.normal(size=(2, 3, 3)) * 0.08, random.uniform(0.0, 2.0 * np.pi, (2, 3, 3))

        def moved(
            t: Floats,
            root: RootCurves = root,
            waves: Floats = waves,
            phase: Floats = phase,
            spin_axis: Floats = spin_axis,
            spin: float = spin,
        ) -> Floats:
            clock = 2.0 * np.pi * t[:, None, None, None] * wave
            away = (waves * (np.sin(clock + phase) - np.sin(phase))).sum(axis=-1)
            difference = shifts(away[:, 0], away[:, 1])
            turn = xyzw_from_axis_angle(spin_axis, spin * np.sin(2.0 * np.pi * t))
            difference[:, 2, :3, :3] = matrix_from_xyzw(turn) - np.eye(3)
            posed = root.moved(difference)
            points, tangents = posed.at(share)
            kind = np.ceil(2.0 * posed.rows[:, 0, SHARE]).astype(int)
            np.add.at(touched, np.where(posed.rows[:, 0, SHARE] < 1.0, np.minimum(kind, 1), 2), 1)
            count = len(t)
            parts = points.reshape(count, -1), 0.03 * tangents.reshape(count, -1), posed.lengths
            result = np.concatenate(parts, axis=1)
            assert np.isfinite(result).all()
            return result

        assert sharpest_jump(moved) < 1e-5
    assert (touched > 1000).all()


def test_a_hinge_carries_the_thread_over_the_top_when_the_centre_crosses_its_line() -> None:
    """The ends are 5 mm out of the hinge's plane on either side, as in any real elbow."""
    ends = np.array([[-0.2, -0.03, 0.005], [0.2, -0.03, -0.005]])
    root = curves(thread("sphere", ends, Z))
    lengths = []
    for height in np.linspace(0.0, 0.1, 401):
        posed = root.moved(shifts([0.0, height, 0.0], [0.0, height, 0.0]))
        points = posed.at(np.linspace(0.0, 1.0, 41))[0][0]
        if posed.rows[0, SHARE] > 0.0:
            # below the centre all the time, never round the side
            assert points[20, 1] < -0.93 * RADIUS_OF
            assert abs(points[20, 2]) < 0.35 * RADIUS_OF
        lengths.append(posed.lengths[0])
    assert posed.rows[0, SHARE] == 1.0
    assert posed.rows[0, RADIUS] > 0.99 * RADIUS_OF
    assert (np.diff(lengths) >= -1e-15).all()


def test_round_a_ball_the_shorter_way_is_taken(figure: Figure) -> None:
    """It is the sphere's own thread where the stored side is the shorter, and never runs the long way."""
    random = np.random.default_rng(7)
    ends = random_ends(random, "sphere", 2000, 1.05 * RADIUS_OF, 0.2)
    axes = normalise(np.cross(ends[:, 0], ends[:, 1]))
    # the stored side is near that of the plane, or near its opposite
    axes += 0.2 * random.normal(size=axes.shape)
    sides = random.choice([-1.0, 1.0], (2000, 1))
    chords = normalise(ends[:, 1] - ends[:, 0])
    told = np.linalg.norm(np.cross(chords, normalise(axes)), axis=1) > 0.55
    ends, axes, sides = ends[told], axes[told], sides[told]
    pairs = list(zip(ends, normalise(axes), sides, strict=True))
    shorter = curves(*(thread("sphere", e, a) for e, a, _ in pairs)).bind
    ball = curves(*(thread("ball", e, s * a) for e, a, s in pairs)).bind
    right, wrapped = sides[:, 0] > 0.0, shorter.rows[:, SHARE] == 1.0
    assert (right & wrapped).sum() > 100
    np.testing.assert_allclose(ball.lengths[right], shorter.lengths[right], rtol=1e-14)
    off = np.linalg.norm(np.cross(ends[:, 0], chords[told]), axis=1)
    far = ~right & (off > 0.6 * RADIUS_OF)
    assert (far & wrapped).sum() > 30
    # the centre is on the other side by more than half a radius: no thread runs there
    np.testing.assert_array_equal(ball.lengths[far], ball.rows[far, CHORD])
    most = float((ball.lengths / shorter.lengths).max())
    figure("length round a ball beside the shortest", most, 1.5, "")
    assert most < 1.5


def test_a_limb_that_twists_in_its_ball_leaves_the_thread_where_it_is() -> None:
    """The insertion lies on the axis of twist; the origin, the ball and its socket stay."""
    ends = np.array([[-0.05, 0.03, 0.01], [0.15, 0.0, 0.0]])
    axis = normalise(np.cross([0.0, 1.0, 0.1], ends[1] - ends[0]))
    root = curves(thread("ball", ends, axis, radius=0.03))
    difference = np.zeros((73, 3, 4, 4))
    twist = xyzw_from_axis_angle([1.0, 0.0, 0.0], np.linspace(0.0, 2.0 * np.pi, 73))
    difference[:, 1, :3, :3] = matrix_from_xyzw(twist) - np.eye(3)
    posed = root.moved(difference)
    assert posed.rows[0, 0, SHARE] == 1.0
    np.testing.assert_allclose(posed.rows - posed.rows[0], 0.0, atol=1e-12)


def test_a_limb_that_circles_in_its_ball_never_throws_the_thread_round_it() -> None:
    """Arms in circles, wide and narrow: no step of a degree changes the length by more than the ends move."""
    random = np.random.default_rng(8)
    angle = np.linspace(0.0, 2.0 * np.pi, 361)
    for _ in range(60):
        origin = normalise(random.normal(size=3)) * random.uniform(0.03, 0.08)
        arm = normalise(random.normal(size=3))
        ends = np.array([origin, 0.12 * arm + 0.02 * normalise(random.normal(size=3))])
        side = normalise(random.normal(size=3))
        axis = np.cross(side, normalise(ends[1] - ends[0]))
        if np.linalg.norm(axis) < 0.6:
            continue
        root = curves(thread("ball", ends, axis, radius=0.025))
        turn = matrix_from_xyzw(xyzw_from_axis_angle(normalise(random.normal(size=3)), angle))
        difference = np.zeros((361, 3, 4, 4))
        difference[:, 1, :3, :3] = turn - np.eye(3)
        step = np.abs(np.diff(root.moved(difference).lengths[:, 0])).max()
        assert step < 3.0 * 0.14 * np.radians(1.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_length_and_tangent_are_continuous_through_first_contact(shape: Shape) -> None:
    """The straight thread sinks onto the surface: second order in the depth, and a tangent of first order."""
    for sideways in (0.0, 0.03):
        ends = np.array([[-0.2, -0.05, 0.0], [0.15, -0.05, sideways * (shape == "cylinder")]])
        root = curves(thread(shape, ends, Z))
        for depth in (1e-4, 1e-6, 1e-8):
            lift = np.array([0.0, 0.01 + depth, 0.0])
            posed = root.moved(shifts(lift, lift))
            assert posed.rows[0, SHARE] == 1.0
            chord = np.linalg.norm(ends[1] - ends[0])
            assert 0.0 < posed.lengths[0] - chord < 40.0 * depth**2 + 1e-16
            _, tangents = posed.at(np.linspace(0.0, 1.0, 11))
            assert np.abs(tangents[0] - (ends[1] - ends[0]) / chord).max() < 20.0 * depth
            apart = root.moved(shifts(lift - [0.0, 2.0 * depth, 0.0], lift - [0.0, 2.0 * depth, 0.0]))
            assert apart.rows[0, SHARE] == 0.0


def test_an_end_that_sinks_in_slides_on_the_circle_it_lies_on() -> None:
    ends = np.array([[0.05, 0.0, 0.0], [-0.2, 0.0, 0.05]])
    root = curves(thread("cylinder", ends, Z))
    for into in (0.0, 0.0099, 0.0101, 0.03, 0.0499, 0.05, 0.06, 0.1):
        posed = root.moved(shifts([-into, 0.0, 0.0], [0.0, 0.0, 0.0]))
        assert posed.rows[0, RADIUS] <= RADIUS_OF
        points, tangents = posed.at(np.linspace(0.0, 1.0, 21))
        assert np.isfinite(points).all()
        assert np.isfinite(tangents).all()
        least = np.linalg.norm(points[0, :, :2], axis=-1).min()
        assert least >= min(RADIUS_OF, abs(0.05 - into)) - 1e-12


@pytest.mark.parametrize("shape", SHAPES)
def test_the_thread_pulls_its_ends_along_itself(shape: Shape) -> None:
    """The length's gradient by an end is the unit tangent there: no friction, so a moment arm follows."""
    random = np.random.default_rng(5)
    for ends in random_ends(random, shape, 60, 0.05, 0.2):
        axis = normalise(np.cross(ends[0], ends[1])) if shape == "sphere" else Z
        root = curves(thread(shape, ends, axis * random.choice([-1.0, 1.0])))
        tangents = root.bind.at([0.0, 1.0])[1][0]
        h = 1e-6
        for end, sign in ((0, -1.0), (1, 1.0)):
            steps = np.zeros((6, 2, 3))
            steps[np.arange(6), end] = np.repeat([h, -h], 3)[:, None] * np.tile(np.eye(3), (2, 1))
            lengths = root.moved(shifts(steps[:, 0], steps[:, 1])).lengths[:, 0]
            np.testing.assert_allclose(
                (lengths[:3] - lengths[3:]) / (2.0 * h), sign * tangents[end], atol=2e-5
            )


@pytest.mark.parametrize("shape", SHAPES)
def test_turned_about_and_walked_backwards_it_is_the_same_thread(shape: Shape) -> None:
    random = np.random.default_rng(6)
    share = np.linspace(0.0, 1.0, 9)
    q = normalise(random.normal(size=4))
    for ends in random_ends(random, shape, 50, 0.03, 0.2):
        axis = normalise(np.cross(ends[0], ends[1])) if shape == "sphere" else Z
        # tilted, as no real axis is exactly that of the plane; none exactly backwards either
        axis = random.choice([-1.0, 1.0]) * (normalise(axis + 0.2 * random.normal(size=3)))
        there = curves(thread(shape, ends, axis))
        back = curves(thread(shape, ends[::-1], -axis))
        moved = curves(thread(shape, rotate_xyzw(q, ends) + 1.0, rotate_xyzw(q, axis), centre=np.ones(3)))
        np.testing.assert_allclose(back.bind.lengths, there.bind.lengths, rtol=1e-12)
        points, tangents = there.bind.at(share)
        backward, behind = back.bind.at(1.0 - share)
        np.testing.assert_allclose(backward, points, atol=1e-12)
        np.testing.assert_allclose(behind, -tangents, atol=1e-9)
        np.testing.assert_allclose(moved.bind.at(share)[0], rotate_xyzw(q, points) + 1.0, atol=1e-12)


def test_a_straight_thread_is_a_straight_line_and_bind_is_exact() -> None:
    ends = np.array([[0.1, 0.2, 0.3], [0.4, -0.2, 0.1]])
    root = curves(thread(None, ends), thread("sphere", ends, Z), thread("cylinder", ends, Z))
    points, tangents = root.bind.at([0.0, 0.25, 1.0])
    np.testing.assert_allclose(points[0, 1], 0.75 * ends[0] + 0.25 * ends[1], atol=1e-16)
    assert np.ptp(tangents[0], axis=0).max() == 0.0
    again = root.moved(np.zeros((4, 3, 4, 4)))
    assert again.lengths.shape == (4, 3)
    assert again.rows[2].tobytes() == root.bind.rows.tobytes()


@pytest.mark.parametrize(
    ("muscle", "message"),
    [
        (thread(None, [[0, 0, 0], [0, 0, 0]]), "ends where it begins"),
        (thread(None, [[0, 0, 0], [0, np.nan, 0]]), "its end"),
        (thread(None, [[0, 0, 0], [0, 1, 0]], joints=(0, 7)), "no joint 7"),
        (thread("sphere", [[0, 0, 0], [0, 1, 0]], radius=0.0), "radius of 0 m"),
        (thread("cylinder", [[0, 0, 0], [0, 1, 0]], [0, 0, 0]), "no direction"),
        (thread("sphere", [[0, 0, 0], [0, 1, 0]], [0, 1, 0.1]), "says no side"),
        (thread("cone", [[0, 0, 0], [0, 1, 0]]), "'cone'"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_thread_is_refused_with_its_name(muscle: LoftedMuscle, message: str) -> None:
    with pytest.raises(EcorcheError, match=message) as caught:
        curves(muscle)
    assert "'thread'" in str(caught.value)


def test_matrices_for_another_skeleton_are_refused() -> None:
    with pytest.raises(EcorcheError, match="do not fit 3 joints"):
        curves(thread(None, [[0, 0, 0], [0, 1, 0]])).moved(np.zeros((2, 4, 4)))
