"""A crowd: drawn by its seed, nobody touches anybody, and each member is what a bake of it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial import cKDTree

from crowds import COUNT, alone, crowd, man
from ecorche.body.crowd import Crowd, make_crowd
from ecorche.body.crowd_cast import PACES, Reach, drawn_cast
from ecorche.body.crowd_frames import CrowdFrames
from ecorche.body.evaluator import Evaluator
from ecorche.body.perform import perform
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from rigged_people import person, rigged

Floats = npt.NDArray[np.float64]
EVERYBODY = np.arange(COUNT)


def _skins(found: Crowd, time: float) -> dict[int, Floats]:
    """The skin of every member [m], by number."""
    return {
        int(member): points.astype(np.float64)
        for seen in CrowdFrames(found).frame(time)
        for member, points in zip(seen.members, seen.points, strict=True)
    }


def test_a_seed_draws_the_same_crowd_and_another_seed_another(data: Path) -> None:
    reaches = [Reach(0.4, 0.4, 0.5, 0.6), Reach(0.8, 0.7, 0.3, 0.4), Reach(0.3, 0.3, 0.3, 0.3)]
    one, same, other = (drawn_cast(reaches, 4, 50, seed=seed) for seed in (1, 1, 2))
    for name in ("clip", "body_type", "phase", "pace", "place", "heading"):
        assert np.array_equal(getattr(one, name), getattr(same, name))
    assert not np.array_equal(one.place, other.place)
    assert np.bincount(one.body_type).tolist() == [13, 13, 12, 12]
    assert (one.pace.min(), one.pace.max()) == pytest.approx(PACES)
    for clip in range(3):  # phases are spread, not drawn alike
        phases = np.sort(one.phase[one.clip == clip])
        assert (
            np.abs(phases - (np.arange(len(phases)) + 0.5) / len(phases)).max() <= 0.5 / len(phases) + 1e-12
        )
    assert len(np.unique(one.phase)) == 50


@pytest.mark.parametrize("travelling", [True, False])
@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_boxes_of_members_never_meet(travelling: bool, count: int) -> None:
    reaches = [Reach(0.4, 0.4, 0.5, 0.6), Reach(0.8, 0.7, 0.3, 0.4), Reach(0.3, 0.3, 0.3, 0.3)]
    speeds = np.array([1.2, 0.0, 2.8])
    cast = drawn_cast(reaches, 2, count, seed=5, travelling=travelling)
    low = np.array([(-r.right, -r.behind) for r in reaches])[cast.clip]
    high = np.array([(r.left, r.ahead) for r in reaches])[cast.clip]
    for time in (0.0, 3.0, 60.0):
        at = cast.place.copy()
        if travelling:
            at[:, 1] += speeds[cast.clip] * cast.pace * time
        below, above = at + low, at + high
        apart = (below[:, None] > above[None]) | (below[None] > above[:, None])
        assert (apart.any(axis=-1) | np.eye(count, dtype=bool)).all()


@pytest.mark.parametrize("travelling", [True, False])
def test_nobody_touches_anybody_or_sinks_into_the_ground(data: Path, travelling: bool) -> None:
    found = crowd(data, travelling=travelling)
    lowest = []
    for time in (0.0, 0.9, 2.3, 7.7):
        skins = _skins(found, time)
        assert sorted(skins) == EVERYBODY.tolist()
        trees = [cKDTree(skins[member]) for member in range(COUNT)]
        at = found.whereabouts(EVERYBODY, time)
        for one in range(COUNT):
            for other in range(one):
                if np.linalg.norm(at[one] - at[other]) < 3.0:
                    nearest = np.min(trees[one].query(skins[other], distance_upper_bound=0.1)[0])
                    assert nearest > 0.05, f"{one} and {other} at {time} s"
        lowest.append([skins[member][:, 1].min() for member in range(COUNT)])
    assert np.min(lowest) > -0.005
    assert np.sort(np.min(lowest, axis=0))[COUNT // 2] < 0.02  # and they stand on it


@pytest.mark.parametrize("body_type", [0, 1])
def test_a_member_is_what_a_bake_of_its_motion_is(data: Path, body_type: int) -> None:
    """Its activations exactly, its skin up to where it stands."""
    found, path = crowd(data), man(data)
    member, one = alone(found, 0, body_type=body_type), np.zeros(1, np.int64)
    loop = found.clips[0].loop
    baked = perform(person(path), read_motion(data / "cmu" / "02_01.bvh"), rig=found.rigs[body_type]).take
    assert baked.frames is not None
    active = baked.frames.activation  # type: ignore[attr-defined]
    for step in (0, 60, 150):
        time, frame = step / loop.motion.rate, loop.frames[0] + step
        assert member.activation(one, time)[0] == pytest.approx(active[frame], abs=1e-9)
        points = _skins(member, time)[0]
        theirs = baked.frames[frame].points[0].astype(np.float64)
        a, b = points - points.mean(axis=0), theirs - theirs.mean(axis=0)
        u, _, v = np.linalg.svd(a.T @ b)
        assert np.abs(a @ (u @ v) - b).max() < 1e-5
        turn = u @ v
        assert turn[1, 1] == pytest.approx(1.0, abs=1e-9)  # about the upright only


def test_body_types_differ_and_the_first_is_the_character_itself(data: Path) -> None:
    found = crowd(data)
    own, other = found.programs
    assert np.array_equal(own.points, person(man(data)).meshes[0].mesh.points)
    assert 2e-3 < np.abs(own.points - other.points).max() < 0.1
    assert found.rigs[0] is rigged(man(data))


def test_between_frames_joints_turn_and_stay_rigid(data: Path) -> None:
    found = crowd(data)
    step = 1.0 / found.clips[0].loop.motion.rate
    local = found.local(EVERYBODY, 0.37 * step)
    turns = local[..., :3, :3]
    assert np.abs(turns @ np.swapaxes(turns, -1, -2) - np.eye(3)).max() < 1e-6
    times = 0.5 + np.linspace(0.0, 2.0 * step, 21)
    joints = np.stack([difference_from_bind(found.skeleton, found.local(EVERYBODY, t)) for t in times])
    jumps = np.abs(np.diff(joints, axis=0)).max(axis=(1, 2, 3, 4))
    assert jumps.max() < 4.0 * np.median(jumps)


def test_groups_have_the_very_bits_of_members_alone(data: Path) -> None:
    found = crowd(data)
    seen = CrowdFrames(found).frame(1.3)
    assert [one.body_type for one in seen] == [0, 1]
    for group in seen:
        evaluator = Evaluator(found.programs[group.body_type])
        for place in (0, len(group.members) - 1):
            member = group.members[place : place + 1]
            points = np.empty((1, *group.points.shape[1:]), np.float32)
            normals = np.empty((1, *group.normals.shape[1:]), np.float32)
            moved, active = found.difference(member, 1.3), found.activation(member, 1.3)
            evaluator.apply(moved, active, points=points, normals=normals)
            assert np.array_equal(points[0], group.points[place])
            assert np.array_equal(normals[0], group.normals[place])


def test_frames_take_no_fresh_memory_and_time_may_be_asked_again(data: Path) -> None:
    frames = CrowdFrames(crowd(data))
    first = frames.frame(0.5)
    kept = [group.points.copy() for group in first]
    for later, early in zip(frames.frame(0.9), first, strict=True):
        assert np.shares_memory(later.points, early.points)
    for group, points in zip(frames.frame(0.5), kept, strict=True):
        assert np.array_equal(group.points, points)


def test_what_is_no_crowd_is_refused(data: Path) -> None:
    path = man(data)
    motion = read_motion(data / "cmu" / "02_01.bvh")
    with pytest.raises(EcorcheError, match="a crowd of 0 is none"):
        drawn_cast([Reach(1, 1, 1, 1)], 1, 0)
    with pytest.raises(EcorcheError, match="seed -1 is below zero"):
        drawn_cast([Reach(1, 1, 1, 1)], 1, 1, seed=-1)
    with pytest.raises(EcorcheError, match="there is no motion"):
        make_crowd(person(path), rigged(path), [], count=3)
    for types in (0, 9):
        with pytest.raises(EcorcheError, match="Give 1 to 8"):
            make_crowd(person(path), rigged(path), [motion], count=3, body_types=types)
