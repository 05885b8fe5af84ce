"""Muscles of a model on a character: where they run, which of them show, and whose they are by place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from conftest import Figure
from ecorche.biomech.model import MusculoskeletalModel
from ecorche.biomech.model_on_character import PlacedPath, paths_on_character
from ecorche.biomech.mujoco_model import MujocoModel
from ecorche.biomech.muscle_map import MuscleMap, map_muscles
from ecorche.biomech.muscles_by_place import MOST, Nearness, nearness, segments_of
from ecorche.biomech.read_model import read_model
from ecorche.biomech.surface_muscles import surface_muscles
from ecorche.body.as_model import rig_model
from ecorche.body.character import Character
from ecorche.body.muscle_courses import muscle_courses
from ecorche.body.under_skin import skin_of
from ecorche.document.files import Rig
from ecorche.errors import SkeletonError
from ecorche.io.mjcf import write_mjcf
from ecorche.skeleton.naming import recognise
from extracted_people import extracted
from osim_models import ARM_FILE, WALKER_FILE, opensim_package
from rigged_people import person, rigged

MAN, WOMAN, STRONG = (
    Path("human", f"{name}_cmu_mb.glb") for name in ("male_average", "female_average", "male_muscular")
)


@pytest.fixture(scope="module")
def walker(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Iterator[MusculoskeletalModel]:
    with opensim_package(tmp_path_factory.mktemp("opensim")):
        yield _read(data / WALKER_FILE)


@cache
def _read(path: Path) -> MusculoskeletalModel:
    return read_model(path)


def _near(
    model: MusculoskeletalModel, character: Character, rig: Rig
) -> tuple[Nearness, npt.NDArray[np.bool_], tuple[PlacedPath | None, ...]]:
    skeleton = character.skeleton
    paths = paths_on_character(model, skeleton)
    shown = surface_muscles(paths, skin_of(character, rig)[0])
    names = [muscle.name for muscle in model.muscles]
    segment = segments_of(skeleton, recognise(skeleton))
    return nearness(muscle_courses(rig, skeleton), paths, names, segment, shown), shown, paths


def _both(model: MusculoskeletalModel, near: Nearness, character: Character, rig: Rig) -> list[MuscleMap]:
    """Whose muscles are by name, and by place where no name is told."""
    courses = muscle_courses(rig, character.skeleton)
    strength = [muscle.max_force for muscle in model.muscles]
    named = map_muscles([(c.name, c.muscle) for c in courses], near.model, strength)
    nameless = [(f"muscle {k}", "") for k in range(len(courses))]
    return [named, map_muscles(nameless, near.model, strength, places=near)]


@pytest.mark.parametrize(("file", "most"), [(MAN, 43), (WOMAN, 45)])
def test_names_that_are_lost_are_found_again_by_place(
    walker: MusculoskeletalModel, data: Path, figure: Figure, file: Path, most: int
) -> None:
    character, rig = person(data / file), rigged(data / file)
    near, _, _ = _near(walker, character, rig)
    named, placed = _both(walker, near, character, rig)
    own = named.matched
    assert own.sum() == 52
    best = placed.shares.argmax(axis=1)
    same = named.shares[np.arange(len(best)), best] > 0.0
    right = (placed.shares * (named.shares > 0.0)).sum(axis=1)[own].mean()
    figure("muscles matched by place as by name, of 52", float((same & own).sum()), float(most), "muscles")
    assert (same & own).sum() >= most
    assert right > 0.84
    # what is not in the model, arms and trunk, stays unmatched; of the leg a pectineus takes its neighbour
    courses = muscle_courses(rig, character.skeleton)
    extra = {courses[k].muscle for k in np.flatnonzero(placed.matched & ~own)}
    assert extra <= {"pectineus"}
    # never the other side's
    for k, course in enumerate(courses):
        sides = {name[-1] for name in placed.taken(k)}
        assert sides <= {"l" if course.name.endswith("left") else "r"}, course.name


def test_muscles_found_in_a_skin_take_those_that_run_there(walker: MusculoskeletalModel, data: Path) -> None:
    character, rig = extracted(data / STRONG)
    near, _, _ = _near(walker, character, rig)
    placed = _both(walker, near, character, rig)[1]
    found = {near.rig[k]: placed.taken(k) for k in range(len(near.rig)) if placed.matched[k]}
    for side in ("left", "right"):
        quadriceps = found[f"thigh front outer, {side}"]
        assert all(name.startswith(("recfem", "vas")) for name in quadriceps)
        assert next(iter(found[f"lower leg inner, {side}"])) == f"gasmed_{side[0]}"
        assert next(iter(found[f"lower leg outer, {side}"])) == f"gaslat_{side[0]}"
        assert next(iter(found[f"abdomen back, {side}"])) == f"glmax1_{side[0]}"
        assert next(iter(found[f"thigh back inner, {side}"])) == f"grac_{side[0]}"
    assert len(found) == 10  # of the arms and the trunk the model has none
    assert np.nanmax(placed.distance) < 0.05
    told = placed.notes()
    assert told[0].endswith(": 10 by place")
    assert any("by place: gasmed_r 9" in note and "mm from it" in note for note in told)


def test_a_rig_written_as_a_model_finds_every_muscle_of_its_own(data: Path, tmp_path: Path) -> None:
    """Any creature: joints by name, bones by their own frames; here the muscles found in a skin."""
    character, rig = extracted(data / STRONG)
    made = rig_model(character, rig)
    write_mjcf(tmp_path / "man.xml", made)
    model = MujocoModel(tmp_path / "man.xml")
    near, _, _ = _near(model, character, rig)
    placed = _both(model, near, character, rig)[1]
    assert [model.muscles[k].name for k in placed.shares.argmax(axis=1)] == [m.name for m in made.muscles]


def test_the_model_stands_on_the_character_in_its_size_and_pose(
    walker: MusculoskeletalModel, data: Path
) -> None:
    character, rig = person(data / MAN), rigged(data / MAN)
    _, shown, paths = _near(walker, character, rig)
    depth = skin_of(character, rig)[0].depth
    deep = np.concatenate([depth(path.points)[0] for path in paths if path is not None])
    # the rig's hips lie further out than a person's, and its feet are thin: some points come out there
    assert np.mean(deep > -0.005) > 0.75
    assert deep.min() > -0.04
    skeleton = character.skeleton
    for side, knee in (("r", "RightLeg"), ("l", "LeftLeg")):
        vastus = next(p for p in paths if p is not None and p.name == f"vaslat_{side}")
        at = skeleton.bind_world[skeleton.index(knee), :3, 3]
        assert np.linalg.norm(vastus.points[-1] - at) < 0.09
    next_to_skin = {path.name for path, has in zip(paths, shown, strict=True) if has and path is not None}
    for side in "rl":
        for name in ("gasmed", "gaslat", "recfem", "vaslat", "glmax1", "glmax2", "tibant", "bflh", "tfl"):
            assert f"{name}_{side}" in next_to_skin
        for name in ("iliacus", "psoas", "vasint", "piri", "addbrev", "glmin3", "soleus"):
            assert f"{name}_{side}" not in next_to_skin
    assert 40 <= len(next_to_skin) <= 60


def test_far_is_no_match_and_one_limb_alone_is_refused(opensim: Any, data: Path) -> None:
    far = Nearness(("a",), ("m", "n"), np.array([[MOST + 0.01, np.inf]]), np.array([[0.1, np.nan]]))
    assert not far.shares(np.ones(2)).any()
    two = Nearness(("a", "b"), ("m", "n"), np.array([[1.0, 1.2], [np.inf, 0.2]]), np.full((2, 2), 0.01))
    # n is b's, so a takes m alone although n is as near
    np.testing.assert_allclose(two.shares(np.ones(2)), [[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(SkeletonError, match="does not say which way that body faces"):
        paths_on_character(_read(data / ARM_FILE), person(data / MAN).skeleton)


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package
