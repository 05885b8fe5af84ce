"""The template's muscles as meshes on action lines, on a real person, in the cases of texts 002 and 003."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from conftest import ROOT
from ecorche.body.as_lines import as_lines
from ecorche.body.line_specs import line_muscles_of
from ecorche.body.lines import compile_lines
from ecorche.body.muscle_specs import muscles_of
from ecorche.cli.main import app
from ecorche.document.files import read_rig, write_rig
from ecorche.errors import EcorcheError
from ecorche.muscles.musculature import musculature
from ecorche.muscles.template.bones import BONES, template_bones
from ecorche.muscles.volume import contract
from ecorche.skeleton.naming.recognise import recognise
from rigged_people import person, rigged

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def man(data: Path) -> Path:
    return data / "human" / "male_muscular_cmu_mb.glb"


@pytest.fixture(scope="module")
def cases() -> ModuleType:
    """The example that draws the cases and prints their figures."""
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        return importlib.import_module("line_cases")
    finally:
        sys.path.remove(str(ROOT / "examples"))


@pytest.fixture(scope="module")
def both(man: Path, cases: ModuleType) -> dict[str, Any]:
    motion = cases.cases_motion(person(man))
    return {m: cases.case(person(man), rigged(man), m, motion) for m in ("admissible", "elastic")}


def _volume(points: Floats, triangles: npt.NDArray[np.int32]) -> float:
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_biceps_is_pulled_down_by_pronation(cases: ModuleType, both: dict[str, Any]) -> None:
    for model, least in (("admissible", 0.002), ("elastic", 0.0005)):
        for muscle in cases.BICEPS:
            assert least < cases.pulled_down(both[model], muscle) < 0.02
    # its tendon winds round the radius, and the line is longer by that
    up, down = (both["admissible"].length(cases.BICEPS[0], s) for s in (cases.PALMS_UP, cases.PALMS_DOWN))
    assert 0.004 < down - up < 0.03


def test_straight_belly_muscle_folds_and_flattens(cases: ModuleType, both: dict[str, Any]) -> None:
    admissible = both["admissible"]
    belly, cut = cases.folds(admissible, cases.SIT_UP)
    assert belly.min() > 1.3
    assert cut.max() < 1.2  # tendon: it keeps its thickness, so that folds stand between
    belly, cut = cases.folds(admissible, cases.BENT_BACK)
    assert belly.max() < 0.9
    assert np.abs(cut - 1.0).max() < 0.08


def test_models_agree_over_a_hinge_and_differ_over_the_shoulder(
    cases: ModuleType, both: dict[str, Any]
) -> None:
    admissible, elastic = both["admissible"], both["elastic"]
    for second in (cases.STANDING, cases.ELBOWS_BENT):
        assert cases.apart(*(m.line(cases.TRICEPS, second) for m in (admissible, elastic))) < 0.004
    raised = [m.line(cases.PECTORAL, cases.ARMS_RAISED) for m in (admissible, elastic)]
    assert 0.015 < cases.apart(*raised) < 0.05
    assert elastic.paths.unsettled == ()  # nor in the sit-up, which presses springs together


def test_leg_raise_shortens_the_front_and_lengthens_the_back(cases: ModuleType, both: dict[str, Any]) -> None:
    for measured in both.values():
        front, back = (
            measured.length(muscle, cases.LEG_RAISED) / measured.length(muscle, cases.BIND)
            for muscle in (cases.QUADRICEPS, cases.HAMSTRING)
        )
        assert 0.8 < front < 0.93
        assert 1.08 < back < 1.3


def test_flexing_is_isotonic_and_isometric(cases: ModuleType, both: dict[str, Any]) -> None:
    admissible, ring = both["admissible"], cases.RINGS // 2
    for muscle in cases.BICEPS:
        still = admissible.thickness(muscle, cases.BIND, ring)
        bent = admissible.thickness(muscle, cases.FLEXING, ring)
        tensed = admissible.thickness(muscle, cases.FLEXING, ring, 1.0)
        assert bent > 1.05 * still
        assert tensed > 1.2 * bent


def test_meshes_keep_volume_and_are_nowhere_inside_out(cases: ModuleType, both: dict[str, Any]) -> None:
    admissible = both["admissible"]
    for muscle in cases.MEASURED:
        triangles = admissible.triangles(muscle)
        bind = admissible.mesh(muscle, cases.BIND)
        still = _volume(bind, triangles)
        sides = _outwards(bind, triangles, admissible.line(muscle, cases.BIND)) > 0.5  # ends face along it
        assert sides.mean() > 0.6
        for second in range(1, 10):
            for activation in (0.0, 1.0):
                posed = admissible.mesh(muscle, second, activation)
                assert abs(_volume(posed, triangles) / still - 1.0) < 1e-6
                turned = _outwards(posed, triangles, admissible.line(muscle, second))[sides] < 0.0
                assert turned.mean() < 0.02, (muscle, second)  # where a tendon bends sharply


def _outwards(points: Floats, triangles: npt.NDArray[np.int32], line: Floats) -> Floats:
    """Cosine between each triangle's normal and the way to it from the line, (T,)."""
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    normal, middle = np.cross(b - a, c - a), (a + b + c) / 3.0
    step = np.diff(line, axis=0)
    from_start = middle[:, None] - line[:-1]
    share = np.clip((from_start * step).sum(axis=-1) / (step * step).sum(axis=-1), 0.0, 1.0)
    away = from_start - share[..., None] * step
    nearest = away[np.arange(len(away)), np.linalg.norm(away, axis=-1).argmin(axis=1)]
    size = np.linalg.norm(normal, axis=1) * np.linalg.norm(nearest, axis=1)
    return np.asarray((normal * nearest).sum(axis=1) / np.maximum(size, 1e-30))


def test_meshes_are_the_spindles_at_bind_and_keep_what_they_are(
    man: Path, cases: ModuleType, tmp_path: Path
) -> None:
    character, rig = person(man), rigged(man)
    changed, report = as_lines(rig, character, only=cases.MEASURED)
    assert report.muscles == len(cases.MEASURED)
    assert set(changed.spec.muscles.lines) == cases.MEASURED
    assert not cases.MEASURED & set(changed.spec.muscles.named)
    assert len(changed.spec.muscles.named) + len(cases.MEASURED) == len(rig.spec.muscles.named)
    write_rig(tmp_path / "man.ecorche", changed)
    read = line_muscles_of(read_rig(tmp_path / "man.ecorche"), character.skeleton)
    old = {muscle.name: muscle for muscle in muscles_of(rig, character.skeleton)[0]}
    spindles, scapulae = muscles_of(rig, character.skeleton)
    every = musculature(spindles, character.skeleton, scapulae)
    volumes = contract(every.spindles, every.spindles.bind_length).volumes()
    for muscle in read:
        was = old[muscle.name]
        assert (muscle.muscle, muscle.group, muscle.max_force) == (was.muscle, was.group, was.max_force)
        assert muscle.actions == was.actions
        # as much flesh: a mesh of 16 sides has 0.97 of a round section
        share = _volume(muscle.points, muscle.triangles) / volumes[every.names.index(muscle.name)]
        assert 0.93 < share < 1.0
        line = muscle.lines[0]
        assert line.joints == (was.joints[0], was.joints[-1])
        assert np.abs(line.places()[[0, -1]] - was.positions[[0, -1]]).max() < 1e-6


def test_bulk_thickens_them(man: Path) -> None:
    character, only = person(man), frozenset({"biceps brachii, long head, left"})
    fitted, grown = (
        compile_lines(character, as_lines(rigged(man), character, only=only, bulk=bulk)[0])
        for bulk in (1.0, 1.3)
    )
    assert fitted is not None
    assert grown is not None
    before, after = (lines.musculature.meshes.volumes[0] for lines in (fitted, grown))
    assert 1.3 < after / before < 1.3**2  # the ends stay as they are


def test_template_has_bones_of_both_sides(man: Path) -> None:
    character = person(man)
    bones = template_bones(character.skeleton, recognise(character.skeleton))
    assert len(bones) == 2 * len(BONES) - 1
    by_name = {bone.bone: bone for bone in bones}
    for bone in bones:
        assert np.abs(bone.axes.T @ bone.axes - np.eye(3)).max() < 1e-9
        assert np.linalg.det(bone.axes) > 0.0
        if bone.bone.endswith("right"):  # the man stands in the plane x = 0, bound alike on both sides
            left = by_name[bone.bone.replace("right", "left")]
            assert np.abs(left.centre * [-1, 1, 1] - bone.centre).max() < 0.005
            assert np.abs(left.radii - bone.radii).max() < 0.003


def test_what_has_no_parametric_muscles_is_refused(man: Path, cases: ModuleType) -> None:
    character, rig = person(man), rigged(man)
    with pytest.raises(EcorcheError, match="no parametric muscle 'biceps'"):
        as_lines(rig, character, only=frozenset({"biceps"}))
    changed, _ = as_lines(rig, character, only=cases.MEASURED)
    with pytest.raises(EcorcheError, match="no parametric muscle 'rectus abdominis, right'"):
        as_lines(changed, character, only=frozenset({"rectus abdominis, right"}))
    for wrong in (["--without-muscles"], ["--muscles", "extract"]):
        done = CliRunner().invoke(app, ["rig", str(man), "-o", "x.ecorche", "--as-lines", "elastic", *wrong])
        assert done.exit_code == 2
        assert "contradict" in done.output
