"""Bodies and muscle paths of OpenSim models: an arm as OpenSim has it, and where not, who is right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Figure
from ecorche.base.ellipsoid import nearest_points
from ecorche.io.osim import OsimModel, muscle_lengths, muscle_moment_arms, muscle_path, read_osim
from ecorche.io.osim.functions import PiecewiseLinear, SimmSpline
from ecorche.muscles.lines.geodesic import side_of_chord
from ecorche.muscles.lines.moment_arms import moment_arms_of_nodes
from ecorche.muscles.lines.wrapped_path import TightPath
from osim_models import (
    ARM,
    ARM_FILE,
    LENGTH,
    SHARE,
    WALKER_FILE,
    Floats,
    Peer,
    arm_poses,
    opensim_package,
    stretched,
)


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


@pytest.fixture(scope="module")
def arm(data: Path) -> OsimModel:
    return read_osim(data / ARM_FILE)


@pytest.fixture(scope="module")
def walker(data: Path) -> OsimModel:
    return read_osim(data / WALKER_FILE)


def touches(model: OsimModel, muscle: str, path: TightPath) -> set[str]:
    return {model.muscles[muscle].wraps[k][0] for k in path.carriers if k >= 0}


def test_bodies_stand_where_opensim_has_them(
    opensim: Any, arm: OsimModel, walker: OsimModel, data: Path
) -> None:
    """To what OpenSim's own solver of couplings leaves open, in the knee caps."""
    for model, file, poses in (
        (arm, data / ARM_FILE, arm_poses()[::7]),
        (walker, data / WALKER_FILE, stretched(walker, 5)),
    ):
        peer = Peer(opensim, file)
        for pose in poses:
            peer.pose(pose)
            mine = model.bodies(model.values(pose))
            for body in peer.model.getBodySet():
                frame = body.getTransformInGround(peer.state)
                origin = [frame.p().get(k) for k in range(3)]
                np.testing.assert_allclose(mine[body.getName()][:3, 3], origin, atol=1e-5)


def test_simm_spline_is_opensims(opensim: Any) -> None:
    x = np.array([0.0, 0.2, 0.5, 0.7, 1.1, 1.3])
    y = np.array([0.1, -0.2, 0.4, 0.45, -0.3, 0.0])
    for count in (3, 4, 6):
        peer = opensim.SimmSpline()
        for a, b in zip(x[:count], y[:count], strict=True):
            peer.addPoint(float(a), float(b))
        mine = SimmSpline(x[:count], y[:count])
        for at in np.linspace(-0.3, x[count - 1] + 0.3, 40):
            assert mine([at]) == pytest.approx(peer.calcValue(opensim.Vector(1, float(at))), abs=1e-12)
    assert PiecewiseLinear(x, y)([0.35]) == pytest.approx(0.1)


def test_lengths_and_moment_arms_of_the_arm_are_opensims(
    opensim: Any, arm: OsimModel, data: Path, figure: Figure
) -> None:
    """All six muscles; the long triceps on its ellipsoid, and at a cylinder's end, has tests of its own."""
    peer = Peer(opensim, data / ARM_FILE)
    worst, wrong, compared = 0.0, 0.0, 0
    for number, pose in enumerate(arm_poses()):
        peer.pose(pose)
        held = "TRIlonghh" in touches(arm, "TRIlong", muscle_path(arm, "TRIlong", pose))
        held = held or 41.0 < np.degrees(pose["r_shoulder_elev"]) < 47.0
        names = [name for name in arm.muscles if not (held and name == "TRIlong")]
        lengths = muscle_lengths(arm, pose, names)
        arms = muscle_moment_arms(arm, pose, list(pose), names) if number % 3 == 0 else None
        for row, name in enumerate(names):
            worst = max(worst, abs(lengths[name] - peer.length(name)))
            for column, coordinate in enumerate(pose if arms is not None else ()):
                assert arms is not None
                theirs = peer.moment_arm(name, coordinate)
                off = abs(arms.values[row, column] - theirs)
                wrong = max(wrong, off / max(ARM, SHARE * abs(theirs)))
                compared += 1
    figure("muscle lengths against OpenSim, arm26", 1000 * worst, 0.1, "mm")
    figure("moment arms against OpenSim, arm26, of what is allowed", wrong, 1.0, "share")
    assert worst < LENGTH
    assert wrong < 1.0
    assert compared > 150


def test_where_a_cylinder_ends_lengths_jump_in_either_program(
    opensim: Any, arm: OsimModel, data: Path
) -> None:
    """By 2 mm: OpenSim's at 41.5° of the shoulder, ours at 46.5°; its contacts are 0.5 mm off."""
    peer = Peer(opensim, data / ARM_FILE)
    steps: dict[str, list[float]] = {"theirs": [], "ours": []}
    shoulders = np.arange(38.0, 52.0, 0.5)
    for shoulder in shoulders:
        pose = {"r_shoulder_elev": float(np.radians(shoulder)), "r_elbow_flex": 0.1}
        peer.pose(pose)
        steps["theirs"].append(peer.length("TRIlong"))
        steps["ours"].append(muscle_path(arm, "TRIlong", pose).length)
    for who, low, high in (("theirs", 41.0, 42.0), ("ours", 46.0, 47.0)):
        jump = np.abs(np.diff(steps[who], 2))
        at = shoulders[int(np.argmax(jump)) + 1]
        assert low <= at <= high
        assert jump.max() > 1.5e-3
    away = (shoulders < 41.0) | (shoulders > 47.0)
    assert np.abs(np.subtract(steps["ours"], steps["theirs"]))[away].max() < LENGTH


def drawn_by_hand(p: Floats, q: Floats, radii: Floats, by: Floats) -> float:
    """Length of a thread of many points, drawn tight over an ellipsoid from high above a point of it."""
    legs = np.linspace(0.0, 1.0, 9)[:, None]
    top = 1.5 * by
    thread = np.vstack([p + (top - p) * legs, top + (q - top) * legs[1:]])
    for level in range(4):
        for _ in range(len(thread) ** 2 // 2):
            for odd in (1, 2):
                at = np.arange(odd, len(thread) - 1, 2)
                middle = 0.5 * (thread[at - 1] + thread[at + 1])
                inside = np.sum((middle / radii) ** 2, axis=1) < 1.0
                if inside.any():
                    middle[inside] = nearest_points(middle[inside], radii)
                thread[at] = middle
        if level < 3:
            finer = np.empty((2 * len(thread) - 1, 3))
            finer[::2], finer[1::2] = thread, 0.5 * (thread[1:] + thread[:-1])
            thread = finer
    return float(np.linalg.norm(np.diff(thread, axis=0), axis=1).sum())


def test_the_long_triceps_over_its_ellipsoid_is_the_shortest_and_opensims_is_not(
    opensim: Any, arm: OsimModel, data: Path, figure: Figure
) -> None:
    """OpenSim keeps the thread in a plane: it is up to 8 mm longer than one drawn tight by brute force."""
    peer = Peer(opensim, data / ARM_FILE)
    surface = arm.surfaces["TRIlonghh"]
    radii = np.array(surface.surface.sizes)
    most, worst = 0.0, 0.0
    for shoulder in (80, 110, 135):
        pose = {"r_shoulder_elev": float(np.radians(shoulder)), "r_elbow_flex": 0.6}
        peer.pose(pose)
        path = muscle_path(arm, "TRIlong", pose)
        assert path.settled
        assert path.length < peer.length("TRIlong")
        most = max(most, peer.length("TRIlong") - path.length)
        frame = arm.bodies(arm.values(pose))[surface.body] @ surface.body_from_surface
        first = int(np.flatnonzero(path.carriers == 1)[0])
        p, q = ((path.places[k] - frame[:3, 3]) @ frame[:3, :3] for k in (first - 1, first + 2))
        ours = np.linalg.norm(path.places[[first, first + 2]] - path.places[[first - 1, first + 1]], axis=1)
        by = side_of_chord(p, q, radii)
        assert by is not None
        by[2] = abs(by[2])
        truth = drawn_by_hand(p, q, radii, by)
        worst = max(worst, abs(ours.sum() + path.arcs[first] - truth))
    figure("ellipsoid wrapping against brute force", 1000 * worst, 0.01, "mm")
    assert worst < 1e-5  # what its chords cut off the thread of brute force
    assert most > 5e-3


def test_moment_arms_of_wrapped_paths_follow_from_contacts_carried_by_their_surfaces(arm: OsimModel) -> None:
    """Differences of lengths against virtual work: no other way to be both right."""
    for pose in arm_poses()[1::9]:
        values = arm.values(pose)
        bodies = arm.bodies(values)
        found = muscle_moment_arms(arm, pose, list(pose))
        for row, (name, muscle) in enumerate(arm.muscles.items()):
            path = muscle_path(arm, name, pose)
            points = iter(muscle.points)
            owners = [
                next(points).body if k < 0 else arm.surfaces[muscle.wraps[k][0]].body for k in path.carriers
            ]
            velocities = np.zeros((len(pose), len(owners), 3))
            for column, coordinate in enumerate(pose):
                ends = [
                    arm.bodies(arm.values({**pose, coordinate: pose[coordinate] + s})) for s in (1e-5, -1e-5)
                ]
                for node, owner in enumerate(owners):
                    here = np.linalg.solve(bodies[owner], np.append(path.places[node], 1.0))
                    velocities[column, node] = ((ends[0][owner] - ends[1][owner]) @ here)[:3] / 2e-5
            straight = path.places.copy()
            exact = moment_arms_of_nodes(straight, [0, len(straight)], velocities)[0]
            # between two contacts of one surface nothing moves: what the chord there adds is nothing too
            np.testing.assert_allclose(found.values[row], exact, atol=2e-7)
