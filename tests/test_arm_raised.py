"""Muscles of shoulder and back while an arm rises: the virtual scapula carries them without a jump.

It turns about the shoulder joint, which a rig leaves where it is, so that the deltoid's origin stays with the
arm. A pivot nearer to the blade's inner border was measured too: at a quarter of the way the middle deltoid
lengthens by 6 % from 120 degrees of abduction on (1 % with ours), and by as much when the arm rises forward,
where it should not lengthen; the rhomboid is stretched 6 % less, and the largest displacement of the skin
changes by less than a millimetre. So the shoulder it is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from anatomical_poses import AnatomicalPoses
from conftest import Figure
from ecorche.muscles.template.neck import NECK_MUSCLES
from ecorche.muscles.template.shoulder_and_arm import SHOULDER_AND_ARM
from ecorche.skeleton.naming import recognise
from limb_in_pose import muscles_of, person, skinned

Floats = npt.NDArray[np.float64]

PEOPLE = ("male_average_cmu_mb", "male_muscular_mixamo", "female_average_cmu_mb")
STEP = 5.0
ANGLES = np.arange(0.0, 151.0, STEP)
"""How far the arm is raised [degrees]."""
GIRDLE = {m.name for m in (*NECK_MUSCLES, *SHOULDER_AND_ARM) if m.side == "right"}

COURSES = {
    "abduction": {
        "latissimus dorsi, upper": (1, 150),
        "latissimus dorsi, middle": (1, 150),
        "latissimus dorsi, lower": (1, 150),
        "teres major": (1, 150),
        "rhomboid major": (1, 150),
        "levator scapulae": (1, 150),
        "trapezius, middle": (-1, 150),
        "trapezius, lower": (-1, 100),
        "serratus anterior, upper": (-1, 150),
        "serratus anterior, lower": (-1, 110),
        "deltoid, middle": (-1, 120),
        "triceps brachii, long head": (1, 150),
        "pectoralis major, abdominal": (1, 140),
    },
    "flexion": {
        "latissimus dorsi, middle": (1, 110),
        "teres major": (1, 120),
        "rhomboid major": (1, 150),
        "trapezius, middle": (-1, 150),
        "serratus anterior, upper": (-1, 150),
        "deltoid, anterior": (-1, 80),
        "deltoid, posterior": (1, 120),
        "pectoralis major, clavicular": (-1, 50),
    },
}
"""Whether a muscle lengthens (1) or shortens (-1) while the arm rises, and up to which angle it must."""


def _poses(path: Path, direction: str) -> Floats:
    skeleton = person(path).character.skeleton
    poses = AnatomicalPoses(skeleton, recognise(skeleton))
    return np.stack([poses.difference([("r_shoulder", direction, angle)]) for angle in ANGLES])


@pytest.mark.parametrize("direction", ["abduction", "flexion"])
@pytest.mark.parametrize("name", PEOPLE)
def test_lengths_run_one_way_without_a_jump(data: Path, name: str, direction: str, figure: Figure) -> None:
    path = data / "human" / f"{name}.glb"
    muscles = muscles_of(person(path)).musculature
    lengths = muscles.posed(_poses(path, direction))[0].path.lengths / muscles.spindles.bind_length
    number = {muscle: i for i, muscle in enumerate(muscles.names)}
    for muscle, (sign, last) in COURSES[direction].items():
        rising = np.diff(lengths[last >= ANGLES, number[f"{muscle}, right"]])
        assert (sign * rising > -1e-4).all(), (muscle, rising)
    own = lengths[:, [number[muscle] for muscle in GIRDLE]]
    bends = np.abs(np.diff(own, 2, axis=0)).max() / np.radians(STEP) ** 2
    figure(f"longest muscle of the girdle over its bind length, {direction}, {name}", own.max(), 1.5, "share")
    figure(f"bend of the lengths over the angle, {direction}, {name}", bends, 1.5, "1/rad^2")
    assert own.min() > 0.6
    assert own.max() < 1.5
    assert bends < 1.5


@pytest.mark.parametrize("direction", ["abduction", "flexion"])
@pytest.mark.parametrize("name", PEOPLE)
def test_the_skin_over_them_moves_smoothly(data: Path, name: str, direction: str, figure: Figure) -> None:
    """What the muscles add to plain skinning, at rest and while the arm rises by five degrees a frame."""
    path = data / "human" / f"{name}.glb"
    body = person(path)
    muscles = muscles_of(body)
    moved = []
    for difference in _poses(path, direction):
        plain = skinned(body, difference)
        moved.append(muscles.sliding.apply(muscles.musculature.sections(difference), plain) - plain)
    steps = np.linalg.norm(np.diff(moved, axis=0), axis=2)
    largest, usual = float(steps.max()), float(np.percentile(steps, 99.9))
    figure(f"step of the muscles' displacement in 5 degrees, {direction}, {name}", largest, 0.003, "m")
    assert np.linalg.norm(moved, axis=2).max() < 0.012
    assert largest < 0.003  # single vertices in the fold of the armpit
    assert usual < 0.001
