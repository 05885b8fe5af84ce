"""Elastic lines at rest: analytic truths, bind, rigid motion, shared nodes, fields on lines, bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from ecorche.base.threads import at_most_threads
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.bundle_forces import bundle_terms
from ecorche.muscles.lines.elastic import DYNAMIC, ElasticLine, ElasticLines
from ecorche.muscles.lines.elastic_compile import elastic_lines
from ecorche.muscles.lines.equilibrium import equilibrium, rest_at_bind
from ecorche.muscles.lines.field_places import place_ellipsoid
from ecorche.muscles.lines.fields import PLACED, Field, FieldEllipsoid
from ecorche.muscles.lines.posed_lines import ElasticState, designed_state
from ecorche.muscles.lines.relaxation import relax
from elastic_scene import limbs

Floats = npt.NDArray[np.float64]


def straight(name: str, a: Floats, b: Floats, shares: Floats, **more: object) -> ElasticLine:
    nodes = a + shares[:, None] * (b - a)
    joints = [0, *[DYNAMIC] * (len(shares) - 2), 1]
    return ElasticLine(name, nodes, joints, **more)  # type: ignore[arg-type]


A, B = np.array([0.0, 0.0, 0.0]), np.array([0.3, 0.05, -0.02])
UNEVEN = np.array([0.0, 0.05, 0.2, 0.5, 0.6, 0.9, 1.0])


def test_a_designed_straight_line_rests_as_it_is() -> None:
    line = straight("biceps", A, B, UNEVEN, tendon=[True, False, False, False, True, True])
    stiffness, rest, tension = line.springs()
    assert stiffness.tolist() == [3000.0, 300.0, 300.0, 300.0, 3000.0, 3000.0]
    lengths = np.linalg.norm(np.diff(line.nodes, axis=0), axis=1)
    assert stiffness * (lengths - rest) == pytest.approx(tension)
    assert rest.min() >= 0.0
    nodes, _, report = rest_at_bind(elastic_lines([line], [], 2))
    assert np.array_equal(nodes, line.nodes)
    assert report.settled.all()


def test_elongation_goes_to_the_belly_as_springs_in_a_row_share_it() -> None:
    line = straight("biceps", A, B, UNEVEN, tendon=[True, False, False, False, True, True])
    lines = elastic_lines([line], [], 2)
    _, state, _ = rest_at_bind(lines)
    moved = np.zeros((2, 4, 4))
    moved[1, :3, 3] = 0.2 * (B - A)
    nodes, _, _ = equilibrium(lines, moved, state, tolerance=1e-12)
    longer = lines.lengths(nodes) - lines.lengths(line.nodes)
    compliance = 1.0 / line.springs()[0]
    assert longer == pytest.approx(0.2 * np.linalg.norm(B - A) * compliance / compliance.sum(), abs=1e-9)


def test_rest_in_rest_out_and_a_body_moves_its_lines_rigidly() -> None:
    scene = limbs(6, 1)
    lines = elastic_lines(scene.lines, scene.fields, scene.joint_count)
    nodes, state, report = rest_at_bind(lines)
    assert report.settled.all()
    assert np.abs(nodes - lines.designed[lines.points]).max() > 0.005  # fields have bent them
    again, _, _ = equilibrium(lines, np.zeros((scene.joint_count, 4, 4)), state)
    assert np.array_equal(again, nodes)
    turn, shift = Rotation.from_rotvec([0.5, 2.0, -1.0]).as_matrix(), np.array([3.0, -1.0, 2.0])
    moved = np.zeros((scene.joint_count, 4, 4))
    moved[:, :3, :3], moved[:, :3, 3] = turn - np.eye(3), shift
    there, _, after = equilibrium(lines, moved, state)
    assert there == pytest.approx(nodes @ turn.T + shift, abs=2e-6)
    assert after.rounds.max() <= 1


def test_batches_single_frames_and_thread_counts_give_the_same_bits() -> None:
    scene = limbs(6, 2)
    lines = elastic_lines(scene.lines, scene.fields, scene.joint_count)
    _, state, _ = rest_at_bind(lines)
    poses = scene.moved(np.arange(300) / 120.0)  # more than are held in memory at once
    together, last, report = equilibrium(lines, poses, state)
    with at_most_threads(1):
        alone, _, _ = equilibrium(lines, poses, state)
    assert np.array_equal(together, alone)
    for pose, expected in zip(poses[:40], together[:40], strict=True):
        nodes, state, _ = equilibrium(lines, pose, state)
        assert np.array_equal(nodes, expected)
    assert report.settled.all()
    assert report.notes() == []
    assert np.array_equal(last.points[lines.points], together[-1])


@pytest.mark.parametrize("seed", [3, 4])
def test_swinging_and_the_direct_solve_agree_within_a_tenth_of_a_millimetre(seed: int) -> None:
    scene = limbs(32, seed)
    lines = elastic_lines(scene.lines, scene.fields, scene.joint_count)
    direct, state, _ = rest_at_bind(lines)
    swung, _, report = relax(lines, np.zeros((scene.joint_count, 4, 4)), designed_state(lines))
    assert report.settled.all()
    assert np.abs(direct - swung).max() < 1e-4
    for pose in scene.moved(np.arange(0.0, 1.0, 0.05)):
        begin = state
        direct, state, one = equilibrium(lines, pose, begin)
        swung, _, other = relax(lines, pose, begin)
        assert one.settled.all()
        assert other.settled.all()
        assert np.abs(direct - swung).max() < 1e-4


def test_rest_is_a_minimum_for_an_independent_minimiser() -> None:
    """Springs and one ball, written down again and minimised by SciPy."""
    ball, radius = np.array([0.15, 0.02, 0.0]), 0.04
    field = Field("ball", (FieldEllipsoid(ball, np.full(3, radius), joint=0),), strength=4000.0)
    line = straight("l", A, B, np.linspace(0.0, 1.0, 8), fields=["ball"])
    lines = elastic_lines([line], [field], 2)
    nodes, _, _ = rest_at_bind(lines)
    stiffness, rest, _ = line.springs()
    h = field.rounding

    def energy(inner: Floats) -> float:
        x = np.concatenate([line.nodes[:1], inner.reshape(-1, 3), line.nodes[-1:]])
        springs = 0.5 * stiffness * (np.linalg.norm(np.diff(x, axis=0), axis=1) - rest) ** 2
        depth = np.linalg.norm(x[1:-1] - ball, axis=1) - radius
        rounded = 4000.0 * np.clip(h - depth, 0.0, 2.0 * h) ** 3 / (12.0 * h)
        deep = 0.5 * 4000.0 * depth**2 + 4000.0 * h**2 / 6.0
        return float(springs.sum() + np.where(depth < -h, deep, rounded).sum())

    best = minimize(energy, nodes[1:-1].ravel() + 0.001, method="BFGS", options={"gtol": 1e-7})
    assert nodes[1:-1].ravel() == pytest.approx(best.x, abs=2e-6)
    assert energy(nodes[1:-1].ravel()) <= best.fun + 1e-10


def forked() -> list[ElasticLine]:
    """Two heads from two places of one bone that join in one tendon."""
    fork, end = np.array([0.2, 0.0, 0.0]), np.array([0.3, 0.0, 0.0])
    heads = []
    for name, y in (("long", 0.06), ("short", -0.04)):
        start = np.array([0.0, y, 0.0])
        nodes = np.array([start, 0.5 * (start + fork), fork, 0.5 * (fork + end), end])
        shared = {2: "fork", 3: "tendon", 4: "insertion"}
        heads.append(ElasticLine(name, nodes, [0, DYNAMIC, DYNAMIC, DYNAMIC, 1], shared=shared))
    return heads


def test_lines_that_share_nodes_rest_together() -> None:
    lines = elastic_lines(forked(), [], 2)
    assert lines.bundles.tolist() == [0, 0]
    nodes, _, report = rest_at_bind(lines)
    assert report.settled.all()
    assert np.array_equal(nodes[2:5], nodes[7:10])
    forces = np.zeros((5, 3))
    for n, line in enumerate(forked()):
        x = nodes[5 * n : 5 * n + 5]
        stiffness, rest, _ = line.springs()
        for k in range(4):
            along = x[k + 1] - x[k]
            length = np.linalg.norm(along)
            pull = stiffness[k] * (length - rest[k]) * along / length
            forces[k] += pull
            forces[k + 1] -= pull
    assert np.abs(forces[2:4]).max() < 1e-4  # at the fork and on the tendon both heads are in balance
    swung, _, _ = relax(lines, np.zeros((2, 4, 4)), designed_state(lines))
    assert np.abs(swung - nodes).max() < 1e-4
    apart = [replace(line, shared={}) for line in forked()]
    assert elastic_lines(apart, [], 2).bundles.tolist() == [0, 1]
    assert np.abs(rest_at_bind(elastic_lines(apart, [], 2))[0] - nodes).max() > 0.001
    other = forked()
    other[1].nodes[2] += 0.01
    with pytest.raises(EcorcheError, match=r"'short': its node 2, shared as 'fork'"):
        elastic_lines(other, [], 2)


def stacked() -> tuple[list[ElasticLine], list[Field]]:
    """A shallow line over a deep one that carries a ball; the deep one lies on a bone."""
    bone = Field("bone", (FieldEllipsoid(np.array([0.15, -0.02, 0.0]), np.full(3, 0.04), joint=0),))
    middle = np.array([0.15, 0.0, 0.0])
    belly = Field("belly", (FieldEllipsoid(middle, np.array([0.04, 0.02, 0.02]), line="deep", place=4.0),))
    shares, end = np.linspace(0.0, 1.0, 9), np.array([0.3, 0.0, 0.0])
    deep = straight("deep", np.zeros(3), end, shares, fields=["bone"])
    up = np.array([0.0, 0.03, 0.0])
    shallow = straight("shallow", up, end + up, shares, fields=["belly"])
    return [shallow, deep], [bone, belly]


def test_a_field_on_a_line_bends_the_line_above_and_goes_along_when_all_turns() -> None:
    lines = elastic_lines(*stacked(), 2)
    nodes, state, report = rest_at_bind(lines)
    assert report.settled.all()
    shallow, deep = nodes[:9], nodes[9:]
    assert deep[4, 1] > 0.017  # lifted by the bone
    assert shallow[4, 1] > deep[4, 1] + 0.018  # and that lifts the one above
    assert shallow[0, 1] == 0.03
    turn = Rotation.from_rotvec([2.0, 0.3, 0.0]).as_matrix()
    moved = np.zeros((2, 4, 4))
    moved[:, :3, :3] = turn - np.eye(3)
    there, _, _ = equilibrium(lines, moved, state)
    assert there == pytest.approx(nodes @ turn.T, abs=2e-6)
    swung, _, _ = relax(lines, np.zeros((2, 4, 4)), designed_state(lines))
    assert np.abs(swung - nodes).max() < 1e-4


def test_lines_that_bend_each_other_are_refused() -> None:
    (shallow, deep), (bone, belly) = stacked()
    ring = Field("ring", (FieldEllipsoid(np.zeros(3), np.ones(3), line="shallow", place=2.0),))
    with pytest.raises(EcorcheError, match=r"'shallow' bends 'deep' by field 'ring', 'deep' bends 'shallow'"):
        elastic_lines([shallow, replace(deep, fields=["bone", "ring"])], [bone, belly, ring], 2)


def energies(lines: ElasticLines, pose: Floats, state: ElasticState) -> Floats:
    """Energy of springs, fields and motion of each bundle [J]."""
    placed = np.empty((len(lines.binding.joints), PLACED))
    for n in range(len(placed)):
        place_ellipsoid(lines.binding, n, pose, state.points, placed)
    plan, found, nothing = lines.plan, [], np.empty((0, 3, 3))
    for bundle in range(len(plan.rows) - 1):
        moving = np.arange(plan.rows[bundle], plan.rows[bundle + 1])
        attached = plan.anchor_points[plan.anchors[bundle] : plan.anchors[bundle + 1]]
        x, force = state.points[np.append(moving, attached)], np.empty((len(moving), 3))
        stored = bundle_terms(plan, lines.fields, placed, bundle, x, force, nothing, nothing, False, False)
        found.append(stored + 0.5 * np.sum(state.velocities[moving] ** 2))
    return np.array(found)


@pytest.mark.parametrize("steer", ["kinetic", "total"])
@pytest.mark.parametrize("drag", [20.0, 0.5])
def test_changing_everything_while_it_swings_never_explodes(
    drag: float, steer: Literal["kinetic", "total"]
) -> None:
    """Whoever changes things may put energy in, stepping never does: however it swings, none is made."""
    rng = np.random.default_rng(0)
    scene = limbs(8, 5)
    state = designed_state(elastic_lines(scene.lines, scene.fields, scene.joint_count))
    for _ in range(40):
        strength = float(10.0 ** rng.uniform(1.0, 6.0))
        fields = [
            replace(
                field,
                strength=strength,
                ellipsoids=tuple(
                    replace(one, radii=one.radii * rng.uniform(0.3, 2.0)) for one in field.ellipsoids
                ),
            )
            for field in scene.fields
        ]
        stiffness = float(10.0 ** rng.uniform(1.0, 5.0))
        changed = [replace(line, stiffness=stiffness, drag=drag, damping=0.0) for line in scene.lines]
        lines = elastic_lines(changed, fields, scene.joint_count)
        pose = scene.moved(rng.uniform(0.0, 1.0, 1))[0]
        _, begun, _ = relax(lines, pose, state, most_steps=0)
        _, state, _ = relax(lines, pose, begun, steer=steer, most_steps=30)
        assert (energies(lines, pose, state) <= energies(lines, pose, begun) * (1.0 + 1e-9)).all()
    calm = elastic_lines(scene.lines, scene.fields, scene.joint_count)
    _, _, report = relax(calm, np.zeros((scene.joint_count, 4, 4)), state)
    assert report.settled.all()


def test_a_line_that_does_not_settle_is_named_and_the_others_go_on() -> None:
    scene = limbs(3, 1)
    lines = elastic_lines(scene.lines, scene.fields, scene.joint_count)
    _, _, report = relax(lines, np.zeros((scene.joint_count, 4, 4)), designed_state(lines), most_steps=5)
    assert not report.settled.any()
    assert report.notes()[0].startswith("line 'line 0' did not come to rest in 1 of 1 frames")
    easy = straight("easy", A, B, UNEVEN)
    mixed = elastic_lines([*scene.lines, easy], scene.fields, scene.joint_count)
    _, _, report = relax(mixed, np.zeros((scene.joint_count, 4, 4)), designed_state(mixed), most_steps=5)
    assert report.settled[0].tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joints": [DYNAMIC, *[DYNAMIC] * 5, 1]}, "hangs free.*first and last"),
        ({"joints": [0, *[DYNAMIC] * 5, 7]}, "no joint 7.*0 to 1"),
        ({"joints": [0, 1]}, "7 nodes have 2 joints"),
        ({"nodes": np.full((7, 3), np.nan)}, "no places"),
        ({"nodes": np.zeros((7, 3))}, "coincide"),
        ({"fields": ["bone"]}, "no field 'bone'"),
        ({"stiffness": 0.0}, "no springs"),
        ({"tension": 1e6}, "shorter than nothing"),
    ],
)
def test_what_is_no_line_is_refused_by_name(change: dict[str, object], message: str) -> None:
    line = straight("biceps", A, B, UNEVEN)
    with pytest.raises(EcorcheError, match=message) as told:
        elastic_lines([replace(line, **change)], [], 2)  # type: ignore[arg-type]
    assert "line 'biceps'" in str(told.value)


def test_bad_poses_and_states_are_refused_with_the_line() -> None:
    lines = elastic_lines([straight("biceps", A, B, UNEVEN)], [], 2)
    _, state, _ = rest_at_bind(lines)
    moved = np.zeros((3, 2, 4, 4))
    moved[1, 1, 0, 0] = np.nan
    with pytest.raises(EcorcheError, match=r"'biceps': joint 1 is nowhere in frame 1"):
        equilibrium(lines, moved, state)
    with pytest.raises(EcorcheError, match="bound to 2 joints"):
        equilibrium(lines, np.zeros((5, 4, 4)), state)
    with pytest.raises(EcorcheError, match="belongs to other lines"):
        equilibrium(lines, moved[0], replace(state, points=state.points[:3]))
    with pytest.raises(EcorcheError, match="two lines are named 'biceps'"):
        elastic_lines([straight("biceps", A, B, UNEVEN)] * 2, [], 2)
