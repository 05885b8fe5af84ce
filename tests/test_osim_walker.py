"""Muscle paths of an OpenSim model of a walking person: as long as OpenSim has them, or shorter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Figure
from ecorche.io.osim import OsimModel, muscle_lengths, muscle_moment_arms, muscle_path, read_osim
from ecorche.muscles.lines.moment_arms import moment_arms
from osim_models import (
    ARM,
    LEG,
    LENGTH,
    SHARE,
    WALKER_FILE,
    Floats,
    Peer,
    Pose,
    opensim_package,
    stretched,
    walking,
)

# muscles round one cylinder that OpenSim does not draw tight: its contacts do not slide along the axis
LOOSE = ("addbrev", "addlong", "addmag", "glmax1")


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


@pytest.fixture(scope="module")
def walker(data: Path) -> OsimModel:
    return read_osim(data / WALKER_FILE)


def measured(model: OsimModel, muscle: str, pose: Pose, points: Floats) -> float:
    """Length of a path through points, each second piece of which lies round one of its cylinders."""
    bodies = model.bodies(model.values(pose))
    total = 0.0
    for k, (a, b) in enumerate(pairwise(points)):
        pieces = [float(np.linalg.norm(b - a))]
        for name, _, _ in model.muscles[muscle].wraps:
            one = model.surfaces[name]
            frame = bodies[one.body] @ one.body_from_surface
            (ax, ay, az), (bx, by, bz) = ((point - frame[:3, 3]) @ frame[:3, :3] for point in (a, b))
            radius = one.surface.sizes[0]
            if k % 2 and np.allclose([np.hypot(ax, ay), np.hypot(bx, by)], radius, atol=1e-4):
                angle = np.arctan2(ax * by - ay * bx, ax * bx + ay * by)
                pieces.append(float(np.hypot(radius * angle, bz - az)))
        assert len(pieces) == 1 + k % 2
        total += pieces[-1]
    return total


def test_lengths_of_the_walker_are_opensims(
    opensim: Any, walker: OsimModel, data: Path, figure: Figure
) -> None:
    """80 muscles. Where OpenSim does not draw a path tight it is the longer one, by 0.3 mm at most.

    Of the lateral gastrocnemius round two cylinders it gives lengths that its own path does not have: that
    path, measured, is as long as ours.
    """
    peer = Peer(opensim, data / WALKER_FILE)
    worst, loose, refuted, compared = 0.0, 0.0, 0, 0
    for pose in (*walking(data, walker, 12), *stretched(walker, 25)):
        peer.pose(pose)
        lengths = muscle_lengths(walker, pose)
        for name, mine in lengths.items():
            off = mine - peer.length(name)
            compared += 1
            if name.startswith(LOOSE):
                loose = max(loose, -off)
                assert off < 1e-6
            elif name.startswith("gaslat") and off > LENGTH:
                worst = max(worst, abs(mine - measured(walker, name, pose, peer.points(name))))
                refuted += 1
            else:
                worst = max(worst, abs(off))
    figure("muscle lengths against OpenSim, walk", 1000 * worst, 0.1, "mm")
    assert worst < LENGTH
    assert loose < 3e-4
    assert compared > 2900
    assert 0 < refuted < 40


def test_moment_arms_of_the_walker_are_opensims(
    opensim: Any, walker: OsimModel, data: Path, figure: Figure
) -> None:
    """About hip, knee with its knee cap, and ankle.

    OpenSim's moment arms are not quite the slopes of its own lengths where a path is not tight; there the
    slope decides.
    """
    peer = Peer(opensim, data / WALKER_FILE)
    names = [name for name in walker.muscles if name.endswith("_r") and not name.startswith("gaslat")]
    wrong, slopes, compared = 0.0, 0, 0
    for pose in (*walking(data, walker, 2), *stretched(walker, 1)):
        peer.pose(pose)
        found = muscle_moment_arms(walker, pose, LEG, names)
        for row, name in enumerate(names):
            for column, coordinate in enumerate(LEG):
                theirs = peer.moment_arm(name, coordinate)
                off = abs(found.values[row, column] - theirs) / max(ARM, SHARE * abs(theirs))
                compared += 1
                if off > 1.0:
                    assert name.startswith(LOOSE)
                    theirs = peer.slope(name, pose, coordinate)
                    off = abs(found.values[row, column] - theirs) / max(ARM, SHARE * abs(theirs))
                    slopes += 1
                wrong = max(wrong, off)
    figure("moment arms against OpenSim, walk, of what is allowed", wrong, 1.0, "share")
    assert wrong < 1.0
    assert slopes <= 6
    assert compared > 550


def length_over_two(x: Floats, frames: list[Floats], radii: Floats, ends: Floats) -> float:
    """Length of a path between two ends round two cylinders, by their contacts unrolled, (8,)."""
    on = x.reshape(4, 2)
    angle = on[:, 0] / radii
    local = np.column_stack([radii * np.cos(angle), radii * np.sin(angle), on[:, 1]])
    places = [f[:3, :3] @ p + f[:3, 3] for f, p in zip(frames, local, strict=True)]
    straight = (places[0] - ends[0], places[2] - places[1], ends[1] - places[3])
    arcs = np.hypot(on[[1, 3], 0] - on[[0, 2], 0], on[[1, 3], 1] - on[[0, 2], 1])
    return float(sum(np.linalg.norm(v) for v in straight) + arcs.sum())


def test_two_cylinders_are_drawn_tight(walker: OsimModel) -> None:
    """Moving any contact of the lateral gastrocnemius along its cylinder changes the length by nothing."""
    found = 0
    for pose in stretched(walker, 40):
        path = muscle_path(walker, "gaslat_r", pose)
        if np.count_nonzero(path.carriers >= 0) < 4:
            continue
        found += 1
        assert path.settled
        bodies = walker.bodies(walker.values(pose))
        frames, radii, start = [], [], []
        for k in np.flatnonzero(path.carriers >= 0):
            one = walker.surfaces[walker.muscles["gaslat_r"].wraps[path.carriers[k]][0]]
            frame = bodies[one.body] @ one.body_from_surface
            local = (path.places[k] - frame[:3, 3]) @ frame[:3, :3]
            frames.append(frame)
            radii.append(one.surface.sizes[0])
            start += [np.arctan2(local[1], local[0]) * radii[-1], local[2]]

        ends = path.places[[0, -1]]
        given: dict[str, Any] = {"frames": frames, "radii": np.array(radii), "ends": ends}
        assert length_over_two(np.array(start), **given) == pytest.approx(path.length, abs=1e-9)
        slopes = moment_arms(partial(length_over_two, **given), start, step=1e-5)
        assert np.abs(slopes.values).max() < 1e-5  # radians from straight
    assert found >= 3
