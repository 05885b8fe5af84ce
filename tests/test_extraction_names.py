"""What is found in people's skin: which of it is a muscle, and what it is called."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from benchmarks.extraction import extracted, found, person

from conftest import skip_or_fail
from ecorche.errors import MissingPackageError, ReadError
from ecorche.io.makehuman import sample_human
from ecorche.muscles.extraction.build import Extraction
from ecorche.muscles.lofted import LoftedMuscle

MUSCULAR = "human/male_muscular_cmu_mb.glb"
HANGING = [f"{side} shoulder, what hangs from the chest" for side in ("left", "right")]


def side(muscle: LoftedMuscle) -> str:
    return muscle.name.rpartition(", ")[2]


@pytest.mark.parametrize(
    "who",
    [MUSCULAR, "human/male_slim_cmu_mb.glb", "human/female_average_cmu_mb.glb", "mesh2motion/human-male.glb"],
)
def test_no_two_muscles_of_a_side_are_called_alike(data: Path, who: str) -> None:
    muscles = found(data / who).muscles
    assert max(Counter((m.muscle, side(m)) for m in muscles).values()) == 1
    assert sum(m.muscle != m.name for m in muscles) >= 0.75 * len(muscles)


def test_what_goes_from_the_back_to_the_arm_is_no_muscle_of_the_spine(data: Path) -> None:
    arms = {person(data / MUSCULAR).skeleton.index(f"{s}Arm") for s in ("Left", "Right")}
    backs = [m for m in found(data / MUSCULAR).muscles if m.name.startswith("shoulder back")]
    assert {side(m) for m in backs} == {"left", "right"}
    for muscle in backs:
        assert arms & set(muscle.joints)
        assert muscle.muscle.startswith("latissimus dorsi")


def test_names_are_the_same_on_both_sides_of_the_muscular_man(data: Path) -> None:
    muscles = found(data / MUSCULAR).muscles
    left, right = (
        {m.muscle.removesuffix(f", {s}") for m in muscles if side(m) == s} for s in ("left", "right")
    )
    assert left == right
    assert {"rectus abdominis", "sternocleidomastoid", "trapezius", "external oblique"} <= left


@pytest.mark.parametrize("who", ["male_muscular", "male_average", "male_slim", "female_average"])
def test_the_calf_and_the_buttock_are_called_alike_on_everybody(data: Path, who: str) -> None:
    called = {m.name: m.muscle for m in found(data / "human" / f"{who}_cmu_mb.glb").muscles}
    for s in ("left", "right"):
        assert called.get(f"lower leg back, {s}", called[f"lower leg inner, {s}"]) == "gastrocnemius"
        assert called.get(f"lower leg outer, {s}", "fibularis longus") == "fibularis longus"
        if who in ("male_muscular", "female_average"):  # the others' back swells above the buttock
            assert called[f"abdomen back, {s}"] == "gluteus maximus"


def test_muscles_of_creatures_keep_their_own_names(data: Path) -> None:
    assert all(m.muscle == m.name for m in found(data / "dog" / "dog_skin.skn").muscles)


def _chest(extraction: Extraction) -> tuple[list[str], set[str]]:
    """What hangs, and on which sides there is a pectoral below the collar bone."""
    hanging = sorted(region for region, reason in extraction.left_out if "underside" in reason)
    pectorals = [m for m in extraction.muscles if m.muscle.startswith("pectoralis major")]
    return hanging, {side(m) for m in pectorals if not m.muscle.endswith("clavicular")}


def test_a_womans_breast_is_left_to_plain_skinning_with_the_reason(data: Path) -> None:
    assert _chest(found(data / "human" / "female_average_cmu_mb.glb")) == (HANGING, set())


@pytest.mark.parametrize("who", ["muscular", "average"])
def test_a_mans_pectoral_does_not_hang(data: Path, who: str) -> None:
    assert _chest(found(data / "human" / f"male_{who}_cmu_mb.glb")) == ([], {"left", "right"})


@pytest.mark.parametrize("who", ["male_average_cmu_mb", "female_average_cmu_mb", "male_dressed_mixamo"])
def test_a_collar_bone_is_left_to_plain_skinning_with_the_reason(data: Path, who: str) -> None:
    extraction = found(data / "human" / f"{who}.glb")
    told = [note for note in extraction.notes if "collar bone" in note]
    assert [note.partition(":")[0] for note in told] == ["left shoulder", "right shoulder"]
    assert not [m.name for m in extraction.muscles if m.muscle.endswith("clavicular")]


@cache
def _heavy(gender: float) -> Extraction:
    try:
        character = sample_human(gender=gender, weight=1.0, muscle=1.0, features="caucasian", rig="cmu_mb")
    except (ReadError, MissingPackageError) as error:
        skip_or_fail(str(error))
        raise
    return extracted(character)


def test_so_it_is_on_heavy_people_who_were_not_looked_at_first() -> None:
    assert _chest(_heavy(0.0)) == (HANGING, set())
    assert _chest(_heavy(1.0)) == ([], {"left", "right"})
