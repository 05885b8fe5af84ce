"""The compiled posing: the same as the analytical tool, exact at bind, and as clear about what cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ecorche.base.rotations import xyzw_from_rotation_vector
from ecorche.base.threads import at_most_threads
from ecorche.base.transforms import compose
from ecorche.body.character import Character
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_character
from ecorche.muscles.centre_lines import STATIONS
from ecorche.muscles.musculature import Musculature, musculature
from ecorche.muscles.packed_sections import PackedSections
from ecorche.muscles.sections import Sections, path_sections
from ecorche.muscles.template import TEMPLATE, place
from ecorche.muscles.volume import VolumeRule
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming import recognise
from ecorche.skin.influence import influence
from ecorche.skin.sliding import SlidingSkin
from muscle_patches import Floats

FIELDS = ("origin", "along", "out", "side", "length", "bulge", "scale", "belly", "thickness", "sweep")
LINES = ("muscles", "points", "along", "out", "t", "length")


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return read_character(data / "human" / "male_muscular_cmu_mb.glb")


def muscles_of(man: Character, volume: VolumeRule = "exact") -> Musculature:
    """The template on a rig without shoulder blades, and a few of its muscles straightened."""
    placement = place(TEMPLATE, man.skeleton, recognise(man.skeleton))
    assert len(placement.scapulae) == 2
    straight = [
        replace(m, joints=(m.joints[0], m.joints[-1]), positions=m.positions[[0, -1]]) if n % 5 == 0 else m
        for n, m in enumerate(placement.muscles)
    ]
    return musculature(straight, man.skeleton, placement.scapulae, volume=volume)


@pytest.fixture(scope="module")
def muscles(man: Character) -> Musculature:
    return muscles_of(man)


def pose(man: Character, size: float, seed: int, scale: float = 0.0) -> Floats:
    """Every joint turned at random, and stretched unevenly."""
    rng, count = np.random.default_rng(seed), man.skeleton.joint_count
    turn = xyzw_from_rotation_vector(size * rng.normal(size=(count, 3)))
    stretch = np.exp(scale * rng.normal(size=(count, 3)))
    return difference_from_bind(man.skeleton, man.skeleton.bind_local @ compose(np.zeros(3), turn, stretch))


def assert_equal(mine: Sections, oracle: Sections) -> None:
    for name in FIELDS:
        np.testing.assert_allclose(getattr(mine, name), getattr(oracle, name), rtol=0.0, atol=1e-12)
    assert mine.lines is not None
    assert oracle.lines is not None
    for name in LINES:
        here, there = getattr(mine.lines, name), getattr(oracle.lines, name)
        np.testing.assert_allclose(here, there, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(mine.line_rows, oracle.line_rows)
    (table, lines), (other_table, other_lines) = mine.packed, oracle.packed
    np.testing.assert_allclose(table, other_table, rtol=3e-7, atol=1e-6)
    np.testing.assert_allclose(lines, other_lines, rtol=3e-7, atol=1e-6)


@pytest.mark.parametrize(("size", "scale"), [(0.0, 0.0), (1e-9, 0.0), (0.1, 0.0), (0.7, 0.0), (0.4, 0.15)])
def test_the_kernel_agrees_with_the_analytical_tool(
    man: Character, muscles: Musculature, size: float, scale: float
) -> None:
    for seed in range(3):
        difference = pose(man, size, seed, scale)
        bulge = np.random.default_rng(seed).uniform(1.0, 1.3, len(muscles.muscles))
        mine = muscles.sections(difference, bulge)
        assert "_posed" in mine.__dict__, "this is the kernel's"
        assert_equal(mine, path_sections(*muscles.posed(difference, bulge)))


def test_so_it_does_by_the_insertion_and_with_two_cones(man: Character) -> None:
    muscles = muscles_of(man, "two_cone")
    count = len(muscles.muscles)
    weights = np.random.default_rng(2).uniform(0.0, 1.0, count)
    muscles = replace(muscles, frames=replace(muscles.frames, weight=weights))
    for seed in range(3):
        difference = pose(man, 0.5, seed)
        assert_equal(muscles.sections(difference, 1.1), path_sections(*muscles.posed(difference, 1.1)))


def test_bind_is_exact_bit_for_bit_and_so_is_the_skin(man: Character, muscles: Musculature) -> None:
    skeleton, body = man.skeleton, man.body()
    still = muscles.sections(np.zeros((skeleton.joint_count, 4, 4)))
    again = muscles.sections(difference_from_bind(skeleton, skeleton.bind_local))
    np.testing.assert_array_equal(again.packed.table, still.packed.table)
    np.testing.assert_array_equal(again.length, muscles.spindles.bind_length)
    np.testing.assert_array_equal(again.thickness, muscles.spindles.thickness)
    assert body.weights is not None
    joints = [muscle.reach.joints for muscle in muscles.muscles]
    found = influence(body.mesh.points, body.weights, still, joints)
    assert len(found.muscles) > 1000
    skin = SlidingSkin(body.mesh.points, still, found)
    assert skin.apply(again, body.mesh.points).tobytes() == body.mesh.points.tobytes()
    # and a pose is the same whatever the number of threads, and near bind near the bind
    posed = muscles.sections(pose(man, 0.3, 1), 1.2)
    many = skin.apply(posed, body.mesh.points)
    with at_most_threads(1):
        assert skin.apply(posed, body.mesh.points).tobytes() == many.tobytes()
    near = skin.apply(muscles.sections(pose(man, 1e-8, 1)), body.mesh.points)
    np.testing.assert_allclose(near, body.mesh.points, atol=1e-6)


def test_what_a_skin_reads_is_posed_as_if_everything_were(man: Character, muscles: Musculature) -> None:
    body, count = man.body(), len(muscles.muscles)
    assert body.weights is not None
    still = muscles.sections(np.zeros((man.skeleton.joint_count, 4, 4)))
    joints = [muscle.reach.joints for muscle in muscles.muscles]
    found = influence(body.mesh.points, body.weights, still, joints)
    skin = SlidingSkin(body.mesh.points, still, found)
    read = skin.stations_read
    assert read.shape == (count, STATIONS)
    assert 0.3 < read.mean() < 0.8
    np.testing.assert_array_equal(read.any(axis=1), np.isin(np.arange(count), found.muscles))
    plan, bent = muscles.plan(read), still.line_rows >= 0
    for seed, size in ((0, 0.0), (1, 0.3), (2, 0.9)):
        difference, bulge = pose(man, size, seed), np.random.default_rng(seed).uniform(1.0, 1.3, count)
        whole, part = muscles.sections(difference, bulge), muscles.packed(plan, difference, bulge)
        np.testing.assert_array_equal(part.table[read.any(axis=1)], whole.packed.table[read.any(axis=1)])
        np.testing.assert_array_equal(part.lines[read[bent]], whole.packed.lines[read[bent]])
        # what is not read cannot matter
        part.table[~read.any(axis=1)], part.lines[~read[bent]] = np.nan, np.nan
        moved = skin.apply(part, body.mesh.points)
        assert moved.tobytes() == skin.apply(whole, body.mesh.points).tobytes()
        assert moved.tobytes() != body.mesh.points.tobytes()
    bulge = np.ones(count)
    still_again = muscles.packed(plan, np.zeros((man.skeleton.joint_count, 4, 4)), bulge)
    assert skin.apply(still_again, body.mesh.points).tobytes() == body.mesh.points.tobytes()
    with pytest.raises(EcorcheError, match="bulge"):
        muscles.packed(plan, pose(man, 0.1, 0), 0.0 * bulge)
    with pytest.raises(EcorcheError, match="muscles move a skin"):
        skin.apply(PackedSections(part.table[1:], part.lines), body.mesh.points)
    with pytest.raises(EcorcheError, match="bent at bind"):
        skin.apply(PackedSections(part.table, part.lines[1:]), body.mesh.points)


def test_a_posed_frame_can_be_changed_like_any_other(man: Character, muscles: Musculature) -> None:
    posed = muscles.sections(pose(man, 0.3, 4))
    frozen = replace(posed, thickness=muscles.spindles.thickness)
    np.testing.assert_array_equal(frozen.thickness, muscles.spindles.thickness)
    np.testing.assert_allclose(frozen.packed.table[:, :12], posed.packed.table[:, :12], atol=1e-7)
    assert not np.array_equal(frozen.packed.table, posed.packed.table)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = posed.nonsense  # type: ignore[attr-defined]


def test_what_cannot_be_is_refused_in_words(man: Character, muscles: Musculature) -> None:
    difference, count = pose(man, 0.2, 1), len(muscles.muscles)
    bulge = np.ones(count)
    bulge[7] = 0.0
    with pytest.raises(EcorcheError, match="bulge is not a positive number"):
        muscles.sections(difference, bulge)
    with pytest.raises(EcorcheError, match="bulge"):
        muscles.sections(difference, np.nan)
    with pytest.raises(EcorcheError, match="fit"):
        muscles.sections(difference, np.ones(count + 1))
    with pytest.raises(EcorcheError, match="joints"):
        muscles.sections(difference[:-1])
    broken = difference.copy()
    broken[man.skeleton.index("LeftArm")] = np.nan
    with pytest.raises(EcorcheError, match="not a finite number"):
        muscles.sections(broken)
    # all joints in one point: nothing is left of any muscle
    nothing = np.tile(-np.eye(4), (man.skeleton.joint_count, 1, 1))
    with pytest.raises(EcorcheError, match="in a pose"):
        muscles.sections(nothing)
