"""Real-time action lines: tendons of constant length, finer paths, moment arms, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import (
    matrix_from_xyzw,
    multiply_xyzw,
    xyzw_from_axis_angle,
)
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.admissible import (
    AdmissiblePaths,
    BoundNode,
    CollisionNode,
    finer,
    line_through,
)
from ecorche.muscles.lines.moment_arms import (
    line_lengths,
    moment_arms,
    moment_arms_of_nodes,
    velocities_about,
)
from ecorche.muscles.lines.tendons import SHORTEST, Tendons
from hanging_arm import (
    ARM,
    ELBOW,
    IDENTITY,
    INSERTION,
    ORIGIN,
    ball,
    bent,
    mobile,
    over_the_elbow,
    paths,
    turned,
)

Floats = npt.NDArray[np.float64]


def test_tendons_keep_their_length_and_the_belly_takes_all() -> None:
    line = paths(
        BoundNode(ORIGIN, 1),
        *(CollisionNode(ratio) for ratio in (0.2, 0.5, 0.8)),
        BoundNode(INSERTION, 2),
        tendon=(True, False, False, True),
    )
    for angle in (-1.0, 0.5, 1.3):
        path = line.nodes(bent(angle))
        slid = line.tendons.slid(path)
        np.testing.assert_array_equal(slid.lengths[[0, 3]], line.tendons.lengths[[0, 3]])
        assert slid.lengths.sum() == pytest.approx(float(line_lengths(path, line.starts)[0]), abs=1e-15)
        ratio = slid.lengths[1:3] / line.tendons.lengths[1:3]
        assert ratio[0] == pytest.approx(ratio[1])
        assert abs(ratio[0] - 1.0) > 0.01
        # this path is straight, so distances of nodes are lengths along it
        np.testing.assert_allclose(
            np.linalg.norm(np.diff(slid.nodes, axis=0), axis=1), slid.lengths, atol=1e-15
        )
        np.testing.assert_array_equal(slid.nodes[[0, -1]], path[[0, -1]])


def test_a_path_shorter_than_its_tendons_is_told_and_stays_in_order() -> None:
    starts, bind = [0, 4], np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0], [0.3, 0.0, 0.0]])
    tendons = Tendons(starts, bind, [True, False, True], ["short"])
    lengths = []
    for factor in np.linspace(1.2, 0.2, 400):
        slid = tendons.slid(bind * factor)
        lengths.append(slid.lengths)
        assert slid.slack[0] == (factor < (0.2 + SHORTEST * 0.1) / 0.3)
        assert (slid.lengths > 0.0).all()
        assert slid.lengths.sum() == pytest.approx(0.3 * factor)
    assert np.abs(np.diff(lengths, axis=0)).max() < 0.3 / 399 + 1e-9


def test_a_finer_path_carries_the_same_nodes() -> None:
    """Samples of an arc between the nodes: places are kept by arc length along it."""
    angles = np.linspace(0.0, 1.5, 13)
    bind = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
    tendons = Tendons([0, 4], bind, [True, False, False], ["arc"], subdivisions=4)
    posed = 1.5 * bind
    slid = tendons.slid(posed)
    chord = 2.0 * np.sin(1.5 / 24.0)
    assert slid.lengths[0] == pytest.approx(4.0 * chord)
    assert slid.lengths[1:] == pytest.approx([(1.5 * 12 - 4) / 2.0 * chord] * 2)


# ---- moment arms


def test_moment_arms_by_differences_are_those_of_the_nodes_velocities() -> None:
    rng = np.random.default_rng(5)
    places = rng.normal(size=(5, 3)) * 0.05 + ELBOW
    joints = [1, 1, 2, 2, 2]
    line = paths(*(BoundNode(p, j) for p, j in zip(places, joints, strict=True)))
    axes = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

    def pose(q: Floats) -> Floats:
        first, second = (xyzw_from_axis_angle(axis, angle) for axis, angle in zip(axes, q, strict=True))
        return turned(IDENTITY, IDENTITY, multiply_xyzw(first, second))

    at = np.array([0.4, -0.3])
    found = moment_arms(lambda q: line_lengths(line.nodes(pose(q)), line.starts), at)
    nodes = line.nodes(pose(at))
    now = np.array([axes[0], matrix_from_xyzw(xyzw_from_axis_angle(axes[0], at[0])) @ axes[1]])
    moves = np.tile(np.array(joints) == 2, (2, 1))
    exact = moment_arms_of_nodes(nodes, line.starts, velocities_about(nodes, moves, now, [ELBOW, ELBOW]))
    np.testing.assert_allclose(found.values, exact, atol=1e-11)
    assert (found.errors < 1e-9).all()
    assert (np.abs(exact) > 1e-3).all()


def test_a_wrapped_line_has_the_balls_radius_for_a_moment_arm() -> None:
    line = over_the_elbow(39, side=np.array([0.0, 0.0, 1.0]), tightening=40)
    # of a polyline the slope wavers as nodes come and go: over a span it is the radius
    lengths = [float(line_lengths(line.nodes(bent(a)), line.starts)[0]) for a in (0.6, 2.0)]
    assert (lengths[1] - lengths[0]) / 1.4 == pytest.approx(0.03, rel=0.05)


# ---- bad input


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((BoundNode(ORIGIN, 1),), "'line': it has fewer than two nodes"),
        ((BoundNode(ORIGIN, 1), CollisionNode(0.5)), "a collision node stands at its end"),
        ((BoundNode(ORIGIN, 7), BoundNode(INSERTION, 2)), "bound to joint 7, but only 0 to 2 exist"),
        ((BoundNode(ORIGIN, 1, 1.5), BoundNode(INSERTION, 2)), "not between 0 and 1"),
        (
            (BoundNode(ORIGIN * np.nan, 1), BoundNode(INSERTION, 2)),
            "node 0 holds a number that is not finite",
        ),
        (
            (BoundNode(ORIGIN, 1), CollisionNode(0.6), CollisionNode(0.4), BoundNode(INSERTION, 2)),
            "the ratio 0.4 of its node 2 does not lie between 0.6 and 1",
        ),
        ((BoundNode(ORIGIN, 1), mobile(rest=3.0), BoundNode(INSERTION, 2)), "do not rise"),
        ((BoundNode(ORIGIN, 1), mobile("bend"), BoundNode(INSERTION, 2)), "kind is 'bend'. Choose angle"),
    ],
)
def test_what_makes_no_line_is_refused_by_name(nodes: Any, message: str) -> None:
    with pytest.raises(EcorcheError, match=message):
        paths(*nodes)


def test_bad_deflectors_tendons_and_poses_are_refused() -> None:
    ends = BoundNode(ORIGIN, 1), BoundNode(INSERTION, 2)
    with pytest.raises(EcorcheError, match="line 'line', deflector 0: the radii"):
        paths(*ends, deflectors=[ball(0.0)])
    with pytest.raises(EcorcheError, match="only 0 to 2 exist"):
        paths(*ends, deflectors=[ball(joint=5)])
    with pytest.raises(EcorcheError, match="of a collision node is no direction"):
        over_the_elbow(1, side=np.ones(2))
    with pytest.raises(EcorcheError, match="nothing of it is belly"):
        paths(*ends, tendon=(True,))
    with pytest.raises(EcorcheError, match="2 tendon flags for 1 segments"):
        paths(*ends, tendon=(True, False))
    with pytest.raises(EcorcheError, match="does not fit 3 joints"):
        paths(*ends).nodes(np.zeros((2, 4, 4)))
    moved = np.zeros((3, 4, 4))
    moved[2] = np.nan
    with pytest.raises(EcorcheError, match="line 'line': its node 1 comes out as not a number"):
        paths(*ends).nodes(moved)
    with pytest.raises(EcorcheError, match="give no moment arms"):
        moment_arms(lambda q: q, [np.nan])


def test_finer_lines_keep_designed_nodes() -> None:
    line = line_through("t", [ORIGIN, np.array([0.0, -0.3, 0.06]), INSERTION], [1, 1, 2], [True, False, True])
    fine = AdmissiblePaths(ARM, [finer(line, 4)])
    np.testing.assert_allclose(fine.bind[::4], AdmissiblePaths(ARM, [line]).bind, atol=1e-15)
