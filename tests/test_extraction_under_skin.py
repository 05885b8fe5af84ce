"""Muscles found in real people lie under the skin at bind, end on their side of a joint, and move with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.extraction import found, person

from conftest import Figure
from ecorche.base.signed_pieces import SignedPieces
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.io.formats import read_motion
from ecorche.muscles.extraction.ellipses import Ellipse, within
from ecorche.muscles.extraction.redrawn import space_rings_of, surface_of
from ecorche.muscles.loft_frames import bind_axes
from ecorche.muscles.lofted_posing import Lofts
from ecorche.skeleton.kinematics import difference_from_bind
from extracted_people import extracted, hybrid_body

Floats = npt.NDArray[np.float64]

EXAMPLES = Path(__file__).parent.parent / "examples"
PEOPLE = ("male_muscular", "male_slim", "female_average", "male_average")


def file(data: Path, who: str) -> Path:
    return data / "human" / f"{who}_cmu_mb.glb"


@pytest.mark.parametrize("who", PEOPLE)
def test_no_muscle_stands_out_of_the_skin_at_bind(data: Path, figure: Figure, who: str) -> None:
    body = person(file(data, who)).body()
    skin = SignedPieces(body.mesh.points, body.mesh.triangles())
    worst, common = 0.0, 0.0
    for muscle in found(file(data, who)).muscles:
        outside = -skin.depth(surface_of(muscle, np.linspace(0.0, 1.0, 65)[1:-1]))[0]
        assert outside.max() < 0.006, muscle.name
        assert np.percentile(outside, 95.0) < 0.001, muscle.name
        worst, common = max(worst, outside.max()), max(common, np.percentile(outside, 95.0))
    figure(f"found muscles of {who} outside the skin at bind, farthest", 1e3 * worst, 6.0, "mm")
    figure("the same, 95 of 100 points of each muscle within", 1e3 * common, 1.0, "mm")


def test_a_plate_too_wide_for_a_round_section_is_narrowed_and_stays_near_the_skin() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    skin = 0.1 * np.column_stack([np.cos(angle), np.sin(angle)])
    for turn in (0.0, 1.0, 4.0):
        outward = np.array([np.cos(turn), np.sin(turn)])
        plate = Ellipse(0.08 * outward, np.array([0.09, 0.02]), (turn + 0.5 * np.pi) % np.pi)
        assert np.linalg.norm(plate.points(), axis=1).max() > 0.115
        kept = within(plate, skin, outward)
        far = np.linalg.norm(kept.points(200), axis=1).max()
        assert 0.095 < far < 0.1025
        assert kept.half_axes[0] > 0.045
        np.testing.assert_allclose(kept.centre / np.linalg.norm(kept.centre), outward, atol=1e-9)
        # and one that lies within is left as it is
        small = Ellipse(0.08 * outward, np.array([0.02, 0.015]), plate.angle)
        same = within(small, skin, outward)
        np.testing.assert_allclose(same.half_axes, small.half_axes, rtol=1e-9)
        np.testing.assert_allclose(same.centre, small.centre, atol=1e-12)


def posed(data: Path, who: str, pose: str, frame: int) -> tuple[LiveFrames, LiveFrames, Floats]:
    """Hybrid and plain frames of a pose, and the lengths of muscles there over those at bind."""
    character, rig = extracted(file(data, who))
    motion = perform(character, read_motion(EXAMPLES / f"{pose}.pose"), rig=rig, muscles=False).take.motion
    assert motion is not None
    held = motion.part(frame, frame)
    lofts = Lofts(found(file(data, who)).muscles, character.skeleton)
    moved = lofts.curves.moved(difference_from_bind(character.skeleton, held.local[0]))
    body = hybrid_body(file(data, who))
    hybrid, plain = LiveFrames(body, held), LiveFrames(body.without_muscles(), held)
    return hybrid, plain, moved.lengths / lofts.curves.bind.lengths


@pytest.mark.parametrize("who", PEOPLE)
def test_a_calf_in_a_deep_squat_changes_length_and_bulges_as_a_calf_does(
    data: Path, figure: Figure, who: str
) -> None:
    """Knee and ankle both bent: what the knee takes of it, the heel gives back in part."""
    hybrid, plain, lengths = posed(data, who, "squat", 60)
    calves = [
        n
        for n, m in enumerate(found(file(data, who)).muscles)
        if m.name.startswith(("lower leg back", "lower leg inner"))
    ]
    assert len(calves) >= 2
    assert ((lengths[calves] > 0.85) & (lengths[calves] < 1.1)).all()
    character = person(file(data, who))
    weights = character.body().weights
    assert weights is not None
    shanks = [character.skeleton.names.index(n) for n in ("LeftLeg", "RightLeg")]
    joints, shares = weights.padded()
    on_shank = np.where(np.isin(joints, shanks), shares, 0.0).sum(axis=1) > 0.5
    stands_out = np.linalg.norm(hybrid[0].points[0] - plain[0].points[0], axis=1)[on_shank].max()
    figure(f"the skin of {who}'s lower leg moved by its muscles in a squat", 1e3 * stands_out, 8.0, "mm")
    assert 0.001 < stands_out < 0.008


@pytest.mark.parametrize("who", PEOPLE)
def test_a_limbs_muscle_keeps_its_side_of_the_joints_it_crosses(data: Path, who: str) -> None:
    """The far end of forearms' and lower legs' muscles lies beside wrist and ankle, not in their middle."""
    skeleton = person(file(data, who)).skeleton
    heads = skeleton.bind_world[:, :3, 3]
    checked = 0
    for muscle in found(file(data, who)).muscles:
        far = muscle.joints[1]
        if not muscle.name.startswith(("forearm", "lower leg")) or not skeleton.names[far].endswith(
            ("Hand", "Foot")
        ):
            continue
        checked += 1
        start, end = heads[skeleton.parents[far]], heads[far]
        axis = (end - start) / np.linalg.norm(end - start)
        last = space_rings_of(muscle).centre[-1] - start
        aside = last - (last @ axis) * axis
        path = bind_axes(muscle, np.linspace(0.0, 1.0, 201)).points
        lever = np.linalg.norm(path - end, axis=1).min()
        assert lever >= 0.4 * np.linalg.norm(aside), muscle.name
        assert (muscle.ends[1] - end) @ muscle.outward > 0.0, muscle.name
    assert checked >= 4


def test_a_calf_is_shortened_by_the_heel_when_on_tiptoe(data: Path) -> None:
    for who in ("male_muscular", "female_average"):
        lengths = posed(data, who, "squat", 125)[2]
        calf = [m.muscle == "gastrocnemius" for m in found(file(data, who)).muscles]
        assert (lengths[calf] < 0.99).all()


def test_triceps_does_not_shorten_as_the_elbow_bends_and_biceps_does(data: Path) -> None:
    muscles = found(file(data, "male_muscular")).muscles
    straight, bent = (posed(data, "male_muscular", "curl", frame)[2] for frame in (0, 48))
    for name, low, high in (("biceps brachii", 0.6, 0.9), ("triceps brachii", 1.0, 1.3)):
        own = [n for n, m in enumerate(muscles) if m.muscle == name and m.name.startswith("upper arm")]
        assert len(own) == 2
        assert ((bent[own] / straight[own] > low) & (bent[own] / straight[own] < high)).all(), name


def test_what_reaches_the_hip_from_behind_is_stretched_by_the_thigh_in_a_squat(data: Path) -> None:
    skeleton = person(file(data, "male_muscular")).skeleton
    muscles = found(file(data, "male_muscular")).muscles
    lengths = posed(data, "male_muscular", "squat", 60)[2]
    buttocks = [n for n, m in enumerate(muscles) if m.name.startswith("abdomen back")]
    assert len(buttocks) == 2
    for n in buttocks:
        assert skeleton.names[muscles[n].joints[0]] in ("LeftUpLeg", "RightUpLeg")
        assert 1.05 < lengths[n] < 1.5


@pytest.mark.parametrize("who", ["dog/dog_skin.skn", "mesh2motion/horse-animations.glb"])
def test_the_bellies_of_creatures_lie_under_their_skin_too(data: Path, who: str) -> None:
    body = person(data / who).body()
    skin = SignedPieces(body.mesh.points, body.mesh.triangles())
    for muscle in found(data / who).muscles:
        shown = surface_of(muscle, np.linspace(muscle.rings.u[0], muscle.rings.u[-1], 33))
        assert -skin.depth(shown)[0].min() < 0.006, muscle.name
        # not drawn in from the skin either
        assert skin.depth(shown)[0].min(axis=1).max() < 0.03, muscle.name
