"""Muscles and skin as masses on springs in a body: exact at bind, jiggling in a motion, at rest after it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial import cKDTree

from altered_people import scaled
from ecorche.body.bone_points import bone_points
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.compile_springs import compile_springs
from ecorche.body.firm_parts import firm_parts
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.body.spring_motion import SpringMotion, _from
from ecorche.body.spring_places import (
    areas_of,
    edges_of,
    held_from_below,
    muscle_masses,
    one_a_cell,
    thinned,
)
from ecorche.document.files import Rig
from ecorche.document.springs_spec import BallSpec, BlowSpec, SpringsSpec
from ecorche.errors import DocumentError, EcorcheError
from ecorche.io.formats import read_character
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.naming import recognise
from soft_ball import ball, hopping, turned

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def character() -> Character:
    return ball()


def springy(character: Character, **said: Any) -> Rig:
    """A rig without muscles whose springs are as said; soft, so that steps are few."""
    rig = create_rig(character, "ball.glb", "ball.ecorche", muscles=False)
    fields = {"tissue": 20_000.0, "skin": 2.0, **said}
    return replace(rig, spec=rig.spec.model_copy(update={"springs": SpringsSpec(**fields)}))


def frames_of(character: Character, motion: Motion, rig: Rig | None, **said: Any) -> LiveFrames:
    frames = perform(character, motion, rig=rig, dynamics="springs", **said).take.frames
    assert isinstance(frames, LiveFrames)
    return frames


def away(frames: LiveFrames) -> Floats:
    """How far each vertex is from where it is without dynamics [m], (frames, vertices, 3)."""
    without = LiveFrames(replace(frames.body, springs=None), frames.motion)
    pairs = ((frames[n].points[0], without[n].points[0]) for n in range(len(without)))
    return np.array([a.astype(np.float64) - b for a, b in pairs])


def test_bind_is_exact_and_a_still_pose_stays_still_to_the_bit(character: Character) -> None:
    still = bind_pose(character.skeleton)
    motion = replace(still, times=np.arange(12) / 30.0, local=np.repeat(still.local, 12, axis=0))
    frames = frames_of(character, motion, springy(character))
    for number in (0, 1, 11):
        np.testing.assert_array_equal(frames[number].points[0], character.meshes[0].mesh.points)
    leaning = turned(character, np.full(12, 0.7))
    frames = frames_of(character, leaning, springy(character))
    assert not away(frames).any()


def test_springs_that_nothing_damps_are_refused(character: Character) -> None:
    with pytest.raises(EcorcheError, match="springs: nothing damps them, so they never rest"):
        frames_of(character, hopping(character), springy(character, damping=0.0, ring=0.0))


def test_a_hop_leaves_the_skin_behind_and_then_it_rests(character: Character) -> None:
    frames = frames_of(character, hopping(character, 2.5), springy(character))
    offsets = away(frames)
    swing = offsets[:, :, 1].mean(axis=1)
    assert 0.0003 < swing.max() < 0.05
    assert -0.05 < swing.min() < -0.0003
    assert np.abs(offsets[-1]).max() < 0.02 * np.abs(offsets).max()
    stiffer = away(frames_of(character, hopping(character, 0.8), springy(character, tissue=200_000.0)))
    assert np.abs(stiffer).max() < 0.3 * np.abs(offsets).max()
    less = away(frames_of(character, hopping(character, 0.5), springy(character, intensity=0.5)))
    # its last frames look ahead less far
    np.testing.assert_allclose(less[:10], 0.5 * offsets[:10], atol=1e-3 * np.abs(offsets).max())


def test_slow_sway_gives_what_the_weights_of_flesh_say(character: Character) -> None:
    """Carried up ever faster by 2 m/s², every mass lags by what its springs give way: K u = −m a."""
    times = np.arange(61) / 30.0
    local = np.tile(character.skeleton.bind_local, (len(times), 1, 1, 1))
    local[:, 0, 1, 3] += times**2  # 2 m/s²
    motion = Motion("lift", character.skeleton, times, local)
    frames = frames_of(character, motion, springy(character, damping=0.5, tissue=200_000.0))
    offsets = away(frames)[-1]
    springs = frames.body.springs
    assert springs is not None
    count = len(springs.first)
    k, unit = springs.springs.stiffness, springs.springs.directions(springs.bind)[0]
    matrix = np.zeros((3 * count, 3 * count))
    for (i, j), stiff, along in zip(springs.springs.pairs, k, unit, strict=True):
        block = stiff * np.outer(along, along)
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            if a < count and b < count:
                matrix[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
    matrix += np.diag(np.repeat(springs.springs.own_stiffness[:count], 3))
    load = np.zeros((count, 3))
    load[:, 1] = -2.0 * springs.springs.masses[:count]
    exact = np.linalg.solve(matrix, load.ravel()).reshape(-1, 3)
    np.testing.assert_allclose(offsets, springs.follows @ exact, atol=0.05 * np.abs(exact).max())


def test_frames_are_the_same_in_any_order_and_from_a_state(character: Character) -> None:
    motion = hopping(character, 1.5)
    rig = springy(character)
    frames = frames_of(character, motion, rig)
    forwards = [frames[n].points[0] for n in range(len(frames))]
    for number in (5, 40, 33, 12):
        np.testing.assert_array_equal(frames[number].points[0], forwards[number])
    kept = frames_of(character, motion, rig)
    _ = kept[20]
    state = kept.state()
    assert state is not None
    other = frames_of(character, motion, rig)
    other.go_on_from(state)
    np.testing.assert_array_equal(other[25].points[0], forwards[25])
    springs = other.springs
    assert springs is not None
    with pytest.raises(EcorcheError, match="of other springs"):
        springs.go_on_from(state[:-8])


def test_a_part_after_preroll_begins_at_rest_and_samples_lie_on_the_same_way(character: Character) -> None:
    motion, rig = hopping(character, 1.2), springy(character)
    plain = frames_of(character, motion, rig)
    fine = frames_of(character, motion, rig, samples=3)
    for number in (6, 18, 30):
        a, b = plain[number].points[0], fine[3 * number].points[0]
        np.testing.assert_allclose(a, b, atol=4e-4)
    rolled = frames_of(character, motion, rig, preroll=0.6, frames=(8, 20))
    assert len(rolled) == 13
    assert np.isfinite(rolled[12].points[0]).all()


def test_a_later_beginning_of_a_polynomial_is_the_same_polynomial() -> None:
    path = np.random.default_rng(0).normal(size=(6, 4, 3))
    later = _from(path, 0.3)
    for t in (0.0, 0.1, 0.7):
        np.testing.assert_allclose(
            np.einsum("k,knx->nx", t ** np.arange(6.0), later),
            np.einsum("k,knx->nx", (t + 0.3) ** np.arange(6.0), path),
            atol=1e-12,
        )


def test_a_body_twice_the_size_jiggles_half_as_fast(data: Path) -> None:
    """The same tissue: all lengths times two, all frequencies by two."""
    path = data / "human" / "male_average_cmu_mb.glb"
    found = []
    for size in (1.0, 2.0):
        man = scaled(read_character(path), size)
        springs = compile_springs(compile_body(man), None).springs
        free = np.isfinite(springs.masses)
        held = np.bincount(springs.pairs[:, 0], springs.stiffness, len(free)) + springs.own_stiffness
        found.append(np.sqrt(held[free] / springs.masses[free]))
    # bones are thinned out by a grid, which falls otherwise on another size
    assert np.median(found[1] / found[0]) == pytest.approx(0.5, rel=0.01)


def test_a_blow_has_its_impulse_and_falls_on_one_side(character: Character) -> None:
    blow = BlowSpec(joint="ball", along=0.0, radius=0.2, force=(0.0, 0.0, -30.0), start=0.11, seconds=0.05)
    rig = springy(character, blows={"slap": blow})
    still = bind_pose(character.skeleton)
    motion = replace(still, times=np.arange(30) / 60.0, local=np.repeat(still.local, 30, axis=0))
    frames = frames_of(character, motion, rig)
    springs = frames.body.springs
    assert springs is not None
    (slap,) = springs.blows
    np.testing.assert_allclose(slap.forces.sum(axis=0), [0.0, 0.0, -30.0])
    assert (springs.bind[slap.points, 2] > 0.0).all()
    total = sum(slap.mean(a, b) * (b - a) for a, b in zip(motion.times, motion.times[1:], strict=False))
    assert total == pytest.approx(0.05 * 2.0 / np.pi)
    offsets = away(frames)
    assert not offsets[:6].any()
    front = character.meshes[0].mesh.points[:, 2] > 0.08
    assert offsets[8:12, front, 2].min() < -1e-4
    with pytest.raises(EcorcheError, match="meets no skin"):
        frames_of(
            character, motion, springy(character, blows={"miss": blow.model_copy(update={"radius": 1e-4})})
        )
    with pytest.raises(DocumentError, match="there is no joint 'bal'"):
        frames_of(
            character, motion, springy(character, blows={"x": blow.model_copy(update={"joint": "bal"})})
        )


def test_a_ball_pushes_skin_out_of_itself_and_leaves_it(character: Character) -> None:
    path = ((0.1, 0.0, 1.0, 0.3), (0.4, 0.0, 1.0, 0.145), (0.7, 0.0, 1.0, 0.3))
    rig = springy(character, balls={"fist": BallSpec(radius=0.05, path=path)})
    still = bind_pose(character.skeleton)
    motion = replace(still, times=np.arange(60) / 60.0, local=np.repeat(still.local, 60, axis=0))
    offsets = away(frames_of(character, motion, rig))
    front = int(np.argmax(character.meshes[0].mesh.points[:, 2]))
    assert offsets[24, front, 2] < -0.002  # 5 mm deep
    assert np.abs(offsets[0]).max() == 0.0
    assert np.abs(offsets[-1]).max() < 0.3 * np.abs(offsets).max()
    with pytest.raises(ValueError, match="its times do not rise"):
        BallSpec(radius=0.05, path=path[::-1])


def test_the_hemisphere_is_that_of_the_text() -> None:
    random = np.random.default_rng(4)
    skin = np.column_stack([random.random((50, 2)), np.zeros(50)])
    beneath = np.column_stack([random.random((400, 2)), random.uniform(-0.3, 0.1, 400)])
    up = np.tile([0.0, 0.0, 1.0], (50, 1))
    vertex, point, length, nearest = held_from_below(skin, up, beneath, 0.1, 1000)
    for v in range(50):
        apart = np.linalg.norm(beneath - skin[v], axis=1)
        below = beneath[:, 2] <= 0.0
        r = apart[below].min()
        assert nearest[v] == pytest.approx(r)
        np.testing.assert_array_equal(np.sort(point[vertex == v]), np.flatnonzero(below & (apart <= r + 0.1)))
    np.testing.assert_allclose(length, np.linalg.norm(beneath[point] - skin[vertex], axis=1))
    few = held_from_below(skin, up, beneath, 0.1, 3)
    assert np.bincount(few[0]).max() == 3
    for v in range(50):
        assert few[2][few[0] == v].max() <= np.sort(length[vertex == v])[:3].max() + 1e-12


def test_areas_masses_edges_and_cells_are_those_of_a_ball(character: Character) -> None:
    mesh = character.meshes[0].mesh
    points, triangles = mesh.points.astype(np.float64) - [0.0, 1.0, 0.0], mesh.triangles().astype(np.int64)
    assert areas_of(points, triangles).sum() == pytest.approx(4.0 * np.pi * 0.01, rel=0.02)
    assert len(edges_of(triangles)) == 3 * len(points) - 6
    masses, depth = muscle_masses(
        points, triangles, np.zeros(len(points), np.int64), np.ones(len(points)), 1000.0, 1e-4
    )
    assert masses.sum() == pytest.approx(1000.0 * 4.0 / 3.0 * np.pi * 1e-3, rel=0.03)
    np.testing.assert_allclose(depth, 0.1 / 3.0, rtol=0.02)
    kept = one_a_cell(points, 0.05)
    assert len(np.unique(np.floor(points[kept] / 0.05), axis=0)) == len(kept)
    assert len(kept) == len(np.unique(np.floor(points / 0.05), axis=0))


def test_thinner_muscles_keep_their_length() -> None:
    t, angle = (a.ravel() for a in np.meshgrid(np.linspace(0.0, 1.0, 41), np.arange(12) * np.pi / 6.0))
    tube = np.column_stack([0.03 * np.cos(angle), t, 0.03 * np.sin(angle)])
    both = np.concatenate([tube, tube + np.array([1.0, 0.0, 0.0])])
    thin = thinned(both, np.array([0, len(tube), 2 * len(tube)]), 0.75) @ both
    np.testing.assert_allclose(np.hypot(thin[: len(tube), 0], thin[: len(tube), 2]), 0.75 * 0.03, rtol=1e-6)
    assert np.ptp(thin[:, 1]) > 0.98
    np.testing.assert_allclose(
        thin[len(tube) :] - thin[: len(tube)], np.tile([1.0, 0.0, 0.0], (len(tube), 1)), atol=1e-9
    )


def test_a_man_is_held_by_muscles_and_bones(data: Path) -> None:
    path = data / "human" / "male_muscular_cmu_mb.glb"
    man = read_character(path)
    rig = create_rig(man, path, path.with_suffix(".ecorche"))
    springs = compile_springs(compile_body(man, rig=rig), rig)
    skin, muscles = len(springs.first), len(springs.muscle)
    assert skin == 13380
    masses = springs.springs.masses
    assert 8.0 < masses[:skin].sum() < 25.0  # skin and half of what is between it and the muscles [kg]
    assert 18.0 < masses[skin : skin + muscles].sum() < 40.0
    assert np.isinf(masses[skin + muscles :]).all()
    # every vertex of the skin is held, and every muscle holds some or is deep
    ends = springs.springs.pairs
    held = np.bincount(ends[(ends[:, 0] < skin) & (ends[:, 1] >= skin), 0], minlength=skin)
    assert ((held > 0) | (springs.springs.own_stiffness[:skin] > 0.0)).all()
    assert held.max() == 12
    assert (held > 0).mean() > 0.3  # the others are head, hands and feet: more than half of its vertices
    own = springs.springs.own_stiffness[skin : skin + muscles]
    frequency = np.sqrt(own / masses[skin : skin + muscles]) / (2.0 * np.pi)
    assert springs.surfaces is not None
    for name, low, high in (("gastrocnemius", 15.0, 35.0), ("vastus lateralis", 10.0, 25.0)):
        which = np.array([springs.surfaces.names[m] == name for m in springs.muscle])
        assert low < np.percentile(frequency[which], 25) < high, name
    tense = springs.stiffening(np.ones(len(springs.surfaces.names)))
    assert (tense[:skin] == 1.0).all()
    assert (tense[skin : skin + muscles] == 4.0).all()
    assert 50e-6 < springs.springs.stable_step(springs.bind) < 300e-6
    thinner = compile_springs(
        compile_body(man, rig=rig),
        replace(rig, spec=rig.spec.model_copy(update={"springs": SpringsSpec(muscularity=0.75)})),
    )
    assert thinner.springs.masses[skin : skin + muscles].sum() < 0.7 * masses[skin : skin + muscles].sum()
    assert thinner.springs.masses[:skin].sum() > masses[:skin].sum()


def test_springs_without_a_rig_and_the_state_of_all_muscles_unknown(character: Character) -> None:
    frames = frames_of(character, hopping(character, 0.3), None)
    assert isinstance(frames.springs, SpringMotion)
    assert np.abs(away(frames)).max() > 0.0


def test_bones_hold_by_their_whole_surface_and_go_with_their_joints(data: Path) -> None:
    """Points on shafts, not only where vertices are; moved as the vertices of their triangles are."""
    character = read_character(data / "human" / "male_muscular_cmu_mb.glb")
    naming = recognise(character.skeleton)
    firm = firm_parts(character, None, naming)
    count = character.skeleton.joint_count
    points = bone_points(firm, 0.012, count)
    knee = character.skeleton.names.index("RightLeg")
    head, tip = character.skeleton.bind_world[knee, :3, 3], character.skeleton.tail_positions()[knee]
    own = points.at_bind[points.weights[:, [knee]].toarray()[:, 0] > 0.9]
    along = np.sort((own - head) @ (tip - head) / np.sum((tip - head) ** 2))
    assert np.diff(along).max() < 0.1  # of the shin; a third of it is without a vertex
    np.testing.assert_allclose(np.asarray(points.weights.sum(axis=1))[:, 0], 1.0, atol=1e-6)
    assert np.array_equal(points.posed(np.zeros((count, 4, 4))), points.at_bind)
    moved = np.random.default_rng(3).normal(0.0, 0.1, (count, 4, 4))
    near, vertex = map(np.asarray, cKDTree(firm.points).query(points.at_bind))
    same = near < 1e-9
    assert same.sum() > 50
    np.testing.assert_allclose(points.posed(moved)[same], firm.posed(moved)[vertex[same]], atol=1e-6)


def test_patches_cover_the_skin_evenly_and_hands_go_with_their_bones(data: Path) -> None:
    """Real time: what a mass stands for adds up to all, and steps are three times as long."""
    path = data / "human" / "male_muscular_cmu_mb.glb"
    man = read_character(path)
    rig = create_rig(man, path, path.with_suffix(".ecorche"))
    body = compile_body(man, rig=rig)
    fast = replace(rig, spec=rig.spec.model_copy(update={"springs": SpringsSpec(realtime=True)}))
    full, few = compile_springs(body, rig), compile_springs(body, fast)
    assert len(few.first) < 0.2 * len(full.first)
    assert few.springs.stable_step(few.bind) > 3.0 * full.springs.stable_step(full.bind)
    assert "patches stand for 13380 vertices" in few.notes[-1]
    total = np.asarray(few.follows.sum(axis=1)).ravel()
    assert total.max() < 1.0 + 1e-9
    assert 0.6 < (total == 0.0).mean() < 0.75  # head, hands and feet: most of its vertices
    # what goes with its bone comes in by and by: no edge leads from all to nothing
    edges = edges_of(man.body(rig.spec.body).mesh.triangles().astype(np.int64))
    assert np.abs(np.diff(total[edges], axis=1)).max() < 0.95


def test_real_time_is_exact_at_rest_and_much_as_the_whole(character: Character) -> None:
    motion = hopping(character, 1.0)
    whole, few = (
        away(frames_of(character, motion, springy(character, realtime=realtime)))
        for realtime in (False, True)
    )
    assert not few[0].any()
    assert np.linalg.norm(few.mean(axis=1) - whole.mean(axis=1), axis=1).max() < 0.35 * np.abs(whole).max()
    still = bind_pose(character.skeleton)
    held = replace(still, times=np.arange(20) / 60.0, local=np.repeat(still.local, 20, axis=0))
    assert not away(frames_of(character, held, springy(character, realtime=True))).any()
