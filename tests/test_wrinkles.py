"""Folds at joints that bend."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from altered_people import scaled
from ecorche.body.character import Character
from ecorche.body.fit_for_muscles import times_a_person
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import check_rig, create_rig
from ecorche.body.wrinkles import PLACES, compile_wrinkles, folds_of, too_coarse_for
from ecorche.document.files import Rig
from ecorche.document.spec import SkeletonSpec
from ecorche.document.wrinkle_spec import WrinklesSpec
from ecorche.errors import DocumentError, SkeletonError
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.wrinkles import FlexionWrinkles, Folds


def test_a_bent_elbow_folds_on_its_inner_side_only(data: Path) -> None:
    character = read_character(data / "human" / "male_muscular_cmu_mb.glb")
    mesh, skeleton = character.meshes[0], character.skeleton
    assert mesh.weights is not None
    curl = Path(__file__).parents[1] / "examples" / "curl.pose"
    frames = perform(character, read_motion(curl)).take.frames
    assert isinstance(frames, LiveFrames)
    joint = skeleton.index("LeftForeArm")
    wrinkles = FlexionWrinkles(mesh.mesh.points, mesh.weights, skeleton, [Folds(joint, depth=0.003)])
    still = np.zeros((skeleton.joint_count, 4, 4))
    assert not wrinkles.depths(still).any()
    deepest = []
    for number in range(0, len(frames), 8):
        moved = difference_from_bind(skeleton, frames.motion.local[number])
        depths = wrinkles.depths(moved)
        assert (depths >= 0.0).all()
        deepest.append(depths.max())
    assert 0.0015 < max(deepest) <= 0.003  # vertices do not lie at the bottom of a groove
    assert np.abs(np.diff(deepest)).max() < 0.002  # they come and go
    moved = difference_from_bind(skeleton, frames.motion.local[len(frames) // 2])
    depths = wrinkles.depths(moved)
    folded = depths > 0.0005
    assert 5 < folded.sum() < 400
    elbow, hand = (skeleton.bind_world[skeleton.index(n), :3, 3] for n in ("LeftForeArm", "LeftHand"))
    assert np.linalg.norm(mesh.mesh.points[folded] - elbow, axis=1).max() < 0.08
    # the inner side is where the hand goes
    posed = moved + np.eye(4)
    goes = posed[skeleton.index("LeftHand")] @ [*hand, 1.0]
    seen = np.linalg.solve(posed[skeleton.index("LeftArm")], goes)[:3] - elbow
    assert ((mesh.mesh.points[folded] - elbow) @ seen > 0.0).mean() > 0.95


def test_a_root_does_not_fold(data: Path) -> None:
    character = read_character(data / "human" / "male_slim_cmu_mb.glb")
    mesh = character.meshes[0]
    assert mesh.weights is not None
    with pytest.raises(SkeletonError, match="does not bend"):
        FlexionWrinkles(mesh.mesh.points, mesh.weights, character.skeleton, [Folds(0)])


def asked(rig: Rig, **wrinkles: WrinklesSpec) -> Rig:
    """The rig, with such folds."""
    return replace(rig, spec=rig.spec.model_copy(update={"wrinkles": wrinkles}))


@pytest.fixture(scope="module")
def woman(data: Path) -> tuple[Character, Rig]:
    path = data / "human" / "female_average_cmu_mb.glb"
    character = read_character(path)
    return character, create_rig(character, path, "woman.ecorche", muscles=False)


def test_a_rig_folds_nothing_unless_asked(woman: tuple[Character, Rig]) -> None:
    character, rig = woman
    assert rig.spec.wrinkles == {}
    assert compile_wrinkles(character, rig) is None
    assert compile_wrinkles(character, asked(rig, elbow=WrinklesSpec(depth=0.0))) is None


def test_every_place_of_the_body_folds_at_its_joint(woman: tuple[Character, Rig]) -> None:
    character, rig = woman
    skeleton, body = character.skeleton, character.body()
    folds = folds_of(asked(rig, **dict.fromkeys(PLACES, WrinklesSpec())), skeleton)
    names = [skeleton.names[one.joint] for one in folds]
    assert names[:6] == ["LeftForeArm", "RightForeArm", "LeftLeg", "RightLeg", "LeftHand", "RightHand"]
    assert names[6:] == ["LowerBack", "Neck1"]
    size = times_a_person(skeleton, recognise(skeleton))
    assert folds[0].depth == pytest.approx(0.0025 * size)
    for name in PLACES:
        wrinkles = compile_wrinkles(character, asked(rig, **{name: WrinklesSpec()}))
        assert wrinkles is not None
        joint = folds_of(asked(rig, **{name: WrinklesSpec()}), skeleton)[0].joint
        local = skeleton.bind_local.copy()
        across = np.linalg.solve(skeleton.bind_world[joint, :3, :3], [1.0, 0.0, 0.0])
        local[joint, :3, :3] = local[joint, :3, :3] @ Rotation.from_rotvec(0.9 * across).as_matrix()
        deep = wrinkles.depths(difference_from_bind(skeleton, local))
        place = skeleton.bind_world[joint, :3, 3]
        assert deep.max() > 0.0002, name
        folded = body.mesh.points[deep > 0.0]
        assert np.linalg.norm(folded - place, axis=1).max() < (0.3 if name == "waist" else 0.14), name


def test_folds_are_as_said_and_grow_with_the_character(woman: tuple[Character, Rig]) -> None:
    character, rig = woman
    said = asked(rig, LeftLeg=WrinklesSpec(depth=0.004, width=0.03, full=60.0), knee=WrinklesSpec())
    mine, left, right = folds_of(said, character.skeleton)
    assert (mine.depth, mine.width) == (0.004, 0.03)
    assert mine.full == pytest.approx(np.pi / 3.0)
    assert left.width == right.width
    (giant, _) = folds_of(asked(rig, knee=WrinklesSpec()), scaled(character, 3.0).skeleton)
    assert giant.width == pytest.approx(3.0 * left.width)
    assert giant.depth == pytest.approx(3.0 * left.depth)


def test_places_and_joints_that_are_not_there_are_refused(woman: tuple[Character, Rig]) -> None:
    character, rig = woman
    with pytest.raises(DocumentError, match="no joint 'LeftLegg'"):
        folds_of(asked(rig, LeftLegg=WrinklesSpec()), character.skeleton)
    with pytest.raises(DocumentError, match="mm are deeper than the"):
        folds_of(asked(rig, knee=WrinklesSpec(depth=5.0)), character.skeleton)
    assert "LeftLegg" in check_rig(asked(rig, LeftLegg=WrinklesSpec()), character)[0]
    with pytest.raises(DocumentError, match="does not bend"):
        folds_of(asked(rig, Hips=WrinklesSpec()), character.skeleton)
    rig = replace(rig, spec=rig.spec.model_copy(update={"skeleton": SkeletonSpec()}))
    bare = Skeleton(
        ("a", "b"),
        np.array([-1, 0], np.int32),
        *2 * (np.tile(np.eye(4), (2, 1, 1)),),
        np.full((2, 3), np.nan),
    )
    with pytest.raises(DocumentError, match="no knee"):
        folds_of(asked(rig, knee=WrinklesSpec()), bare)


def test_a_skin_too_coarse_for_its_folds_is_told(woman: tuple[Character, Rig]) -> None:
    character, rig = woman
    assert too_coarse_for(character, rig) == ()
    assert too_coarse_for(character, asked(rig, LeftLeg=WrinklesSpec(width=0.1))) == ()
    (told,) = too_coarse_for(character, asked(rig, LeftLeg=WrinklesSpec(depth=0.001, width=0.004)))
    assert "folds 4.0 mm apart at 'LeftLeg' do not show as they are" in told
