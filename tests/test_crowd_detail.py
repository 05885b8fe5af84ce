"""Fewer muscles and coarser meshes far away: nothing pops, and near the eye nothing changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from conftest import Figure
from crowds import alone, coarse, crowd
from ecorche.base import transforms
from ecorche.body.budget import COARSEST, FADE, PIXEL, MuscleBudget, muscle_lift
from ecorche.body.crowd_frames import CrowdFrames, Eye
from ecorche.body.detail_choice import HYSTERESIS, DetailChoice
from ecorche.body.evaluator import Evaluator
from ecorche.body.lod import Level, lod_distance, lod_programs, on_same_joints
from ecorche.document.spec import MapRef
from ecorche.errors import EcorcheError, MeshError, SkeletonError
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights
from rigged_people import person

Floats = npt.NDArray[np.float64]
ONE = np.zeros(1, np.int64)


def _eye(x: float, y: float, z: float) -> Eye:
    return Eye(np.array([x, y, z]), PIXEL)


def test_near_the_eye_the_skin_is_the_same_to_the_bit(data: Path) -> None:
    member = alone(crowd(data), 3)
    place = np.array([0.6, 1.2, 0.6])
    whole = CrowdFrames(member)
    near, film = CrowdFrames(member, eye=Eye(place, 1e-30)), CrowdFrames(member, eye=Eye(place, PIXEL))
    for time in (0.0, 0.4):
        expected = whole.frame(time)[0]
        got = near.frame(time)[0]
        assert near.shown > 0.9
        assert np.array_equal(got.points, expected.points)
        assert np.array_equal(got.normals, expected.normals)
        # at a pixel as films have it, what is missing is less than can be seen
        apart = np.linalg.norm(film.frame(time)[0].points - expected.points, axis=-1).max()
        assert apart < 2.0 * PIXEL * 1.6


def test_who_comes_nearer_gets_muscles_without_popping(data: Path, figure: Figure) -> None:
    """A walk towards the eye: what is missing is never two pixels, and what gains alone change is little."""
    member, rate = alone(crowd(data), 0, z=-14.0), 30.0
    program = member.programs[0]
    frames = CrowdFrames(member, eye=_eye(0.8, 1.4, 0.0))
    budget, evaluator = MuscleBudget(program, pixel=PIXEL), Evaluator(program)
    before: Floats | None = None
    skins = np.empty((3, 1, len(program.points), 3), np.float32)
    shown, missing, changed, far = [], [], [], []
    for time in (np.arange(round(9.0 * rate)) / rate).tolist():
        seen, distance = frames.frame(time)[0].points, frames.distance(ONE, time)
        gain = budget.step(distance, 0.0 if before is None else 1.0 / rate)
        before = gain if before is None else before
        moved, active = member.difference(ONE, time), member.activation(ONE, time)
        for skin, given in zip(skins, (gain, before, np.ones_like(gain)), strict=True):
            evaluator.apply(moved, active, points=skin, gain=given)
        assert np.array_equal(skins[0], seen)
        missing.append(np.linalg.norm(skins[2] - skins[0], axis=-1).max())
        changed.append(np.linalg.norm(skins[1] - skins[0], axis=-1).max())
        shown.append(frames.shown)
        far.append(PIXEL * float(distance[0]))
        before = gain
    assert shown[0] < 0.05
    assert max(shown) > 0.5
    assert max(missing) > 1e-3  # there was something to fade
    assert (np.array(missing) / far).max() < 2.0
    # a muscle comes within FADE seconds, so at most so much of the largest comes in a frame
    most = muscle_lift(program).max() / (FADE * rate)
    figure(
        "crowd: skin that fading moves from one frame to the next",
        1e3 * float(max(changed)),
        1e3 * most,
        "mm",
    )
    assert max(changed) < most
    assert (np.array(changed) / far).max() < 0.25


def test_a_film_does_not_depend_on_how_fast_the_machine_is(data: Path) -> None:
    found, eye = crowd(data), _eye(6.0, 1.5, 9.0)
    runs = []
    for wait in (0.0, 0.3):
        frames = CrowdFrames(found, eye=eye)
        for time in (0.0, 0.1):
            frames.taken += wait
            points = [group.points.copy() for group in frames.frame(time)]
        runs.append(points)
    for one, other in zip(*runs, strict=True):
        assert np.array_equal(one, other)


def test_a_budget_of_time_fades_more_and_gives_back(data: Path) -> None:
    found = crowd(data)
    eye = Eye(np.array([4.0, 1.5, 5.0]), 0.1 * PIXEL)
    free, pressed = CrowdFrames(found, eye=eye), CrowdFrames(found, eye=eye, seconds=1e-7)
    for time in np.arange(60) / 30.0:
        pressed.frame(float(time))
    free.frame(0.0)
    assert free.shown > 0.5
    assert pressed.shown < 0.5 * free.shown
    budget = MuscleBudget(found.programs[0], seconds=0.01)
    for _ in range(60):
        budget.step([5.0], 1 / 30, taken=0.02)
    assert budget.coarseness == COARSEST
    for _ in range(60):
        budget.step([5.0], 1 / 30, taken=0.002)
    assert budget.coarseness == 1.0
    with pytest.raises(EcorcheError, match="is none"):
        MuscleBudget(found.programs[0], seconds=0.0)


def test_a_view_that_goes_back_in_time_begins_anew(data: Path) -> None:
    found, eye = crowd(data), _eye(6.0, 1.5, 9.0)
    frames, fresh = CrowdFrames(found, eye=eye), CrowdFrames(found, eye=eye)
    for time in (0.0, 1.0, 0.4):
        seen = [group.points.copy() for group in frames.frame(time)]
    for one, other in zip(seen, fresh.frame(0.4), strict=True):
        assert np.array_equal(one, other.points)
    with pytest.raises(EcorcheError, match="nan is no time"):
        frames.frame(float("nan"))
    budget = MuscleBudget(found.programs[0])
    gains = budget.step([5.0], 0.0)
    for distance, elapsed, taken in ((np.nan, 0.1, None), (5.0, -0.1, None), (5.0, 0.1, np.nan)):
        with pytest.raises(EcorcheError, match=r"is none\. Give numbers from 0 on"):
            budget.step([distance], elapsed, taken)
    assert np.array_equal(budget.step([5.0], 0.1), gains)


def test_levels_change_late_and_do_not_flicker() -> None:
    choice = DetailChoice([10.0, 30.0])
    assert choice.step(np.array([5.0, 10.1, 31.0])).tolist() == [0, 1, 2]
    inside = 10.0 * (1.0 + 0.9 * HYSTERESIS)
    assert choice.step(np.array([inside, 9.6, 29.0])).tolist() == [0, 1, 2]
    assert choice.step(np.array([10.6, 9.4, 28.0])).tolist() == [1, 0, 1]
    assert choice.step(np.array([100.0, 9.4, 1.0])).tolist() == [2, 0, 0]
    for bad in ([0.0], [5.0, 5.0], [-1.0], [float("nan")]):
        with pytest.raises(EcorcheError, match="cannot be shown"):
            DetailChoice(bad)


@pytest.mark.parametrize(("triangles", "asked"), [(12_000, 5e-3), (4_000, 16e-3)])
def test_coarser_meshes_share_the_rig_and_lie_on_the_full_skin(
    data: Path, triangles: int, asked: float, figure: Figure
) -> None:
    found = crowd(data)
    programs = lod_programs(found.character, found.rigs, coarse(data, triangles))
    assert [p.muscle_count for p in programs] == [p.muscle_count for p in found.programs]
    members = found.of_type(1)
    moved, active = found.difference(members, 1.1), found.activation(members, 1.1)
    apart = lod_distance(found.programs[1], programs[1], moved, active)
    figure(
        f"crowd: a skin of {triangles:,} triangles from that of 26,756", 1e3 * apart.max(), 1e3 * asked, "mm"
    )
    assert apart.max() < asked
    assert np.sqrt((apart**2).mean()) < 0.1 * asked
    # and its muscles move it as they move the full one
    bind = lod_distance(found.programs[1], programs[1], 0.0 * moved[:1], 0.0 * active[:1])
    assert np.sqrt((apart**2).mean()) < 4.0 * np.sqrt((bind**2).mean())


def test_members_far_away_are_shown_by_the_coarser_mesh(data: Path) -> None:
    found = crowd(data)
    programs = lod_programs(found.character, found.rigs, coarse(data))
    frames = CrowdFrames(found, levels=[Level("coarse", 9.0, programs)], eye=_eye(0.0, 1.5, 8.0))
    times = np.array([0.0, 0.5, 1.0])
    room = frames.capacity(times)
    assert {level for _, level in room} == {0, 1}
    for time in times:
        seen = frames.frame(float(time))
        assert sorted(np.concatenate([one.members for one in seen]).tolist()) == list(range(len(found)))
        for one in seen:
            assert one.points.shape[1] == len(frames.program(one.body_type, one.level).points)
            assert len(one.members) <= room[one.body_type, one.level]
            away = frames.distance(one.members, float(time))
            assert (away > 9.0 * (1.0 - HYSTERESIS) if one.level else away < 9.0 * (1.0 + HYSTERESIS)).all()


def _reordered(data: Path) -> tuple[Skeleton, SkinWeights]:
    """The man's joints in another order, parents still first, and the weights on them."""
    full = coarse(data)
    skeleton, weights = full.skeleton, full.meshes[0].weights
    assert weights is not None
    depth = np.zeros(skeleton.joint_count, np.int64)
    for joint, parent in enumerate(skeleton.parents):
        depth[joint] = 0 if parent < 0 else depth[parent] + 1
    order = np.lexsort((-np.arange(len(depth)), depth))
    there = np.argsort(order).astype(np.int32)
    parents = np.array(
        [-1 if skeleton.parents[j] < 0 else there[skeleton.parents[j]] for j in order], np.int32
    )
    names = tuple(skeleton.names[j] for j in order)
    made = Skeleton(
        names, parents, skeleton.bind_local[order], skeleton.rest_local[order], skeleton.tails[order]
    )
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    joints = there[weights.joints]
    by = np.lexsort((joints, vertex))
    return made, SkinWeights(weights.starts, joints[by], weights.weights[by])


def test_joints_may_come_in_another_order(data: Path) -> None:
    found, lod = crowd(data), coarse(data)
    skeleton, weights = _reordered(data)
    assert skeleton.names != lod.skeleton.names
    other = replace(lod, skeleton=skeleton, meshes=(replace(lod.meshes[0], weights=weights),))
    back = on_same_joints(other, found.skeleton)
    assert back.skeleton is found.skeleton
    assert back.meshes[0].weights is not None
    assert lod.meshes[0].weights is not None
    assert np.array_equal(back.meshes[0].weights.joints, lod.meshes[0].weights.joints)
    assert np.array_equal(back.meshes[0].weights.weights, lod.meshes[0].weights.weights)


def test_another_skeleton_is_refused(data: Path) -> None:
    found, lod = crowd(data), coarse(data)
    stranger = person(data / "human" / "male_dressed_mixamo.glb")
    with pytest.raises(
        SkeletonError, match=r"another skeleton: it lacks 'Hips'.*skeleton of the rig's character"
    ):
        lod_programs(found.character, found.rigs, stranger)
    moved = lod.skeleton.bind_local.copy()
    moved[5] = moved[5] @ transforms.compose(np.array([0.0, 0.004, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    other = replace(lod, skeleton=replace(lod.skeleton, bind_local=moved))
    with pytest.raises(
        SkeletonError, match=r"coarse.glb: it is bound in another pose: joint '\w+' is off by"
    ):
        lod_programs(found.character, found.rigs, other)
    parents = lod.skeleton.parents.copy()
    parents[8] = 0
    hung = replace(lod, skeleton=replace(lod.skeleton, parents=parents))
    with pytest.raises(SkeletonError, match="hangs on 'Hips'"):
        lod_programs(found.character, found.rigs, hung)
    bare = replace(lod, meshes=(replace(lod.meshes[0], weights=None),))
    with pytest.raises(MeshError, match="which of its 0 skinned meshes is the body"):
        lod_programs(found.character, found.rigs, bare)
    renamed = replace(lod.meshes[0], mesh=replace(lod.meshes[0].mesh, name="far"))
    assert len(lod_programs(found.character, found.rigs[:1], replace(lod, meshes=(renamed,)))) == 1


def test_painted_maps_do_not_go_to_other_meshes(data: Path) -> None:
    found = crowd(data)
    body = found.character.meshes[0].name
    maps = {"soft": MapRef(mesh=body)}
    rig = replace(found.rigs[0], spec=found.rigs[0].spec.model_copy(update={"maps": maps}))
    with pytest.raises(MeshError, match="painted maps \\('soft'\\) are of its own mesh"):
        lod_programs(found.character, [rig], coarse(data))
