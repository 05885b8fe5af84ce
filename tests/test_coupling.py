"""The skin of a body bound to what lies beneath: region by region, exact at bind, even in time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import trimesh
from benchmarks.limb_shape import Arm
from benchmarks.muscle_people import motion_file, rigged
from benchmarks.muscles_apart import Others
from benchmarks.skin_over_muscles import FEEL, Beneath, accelerations, volume_given_way
from scipy.spatial.distance import pdist
from typer.testing import CliRunner

from conftest import Figure
from ecorche.base.mesh import triangle_mesh
from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_rotation_vector
from ecorche.base.threads import at_most_threads
from ecorche.body.character import SkinnedMesh
from ecorche.body.compile import compile_body
from ecorche.body.evaluate import Pose, evaluate, skin_correction
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.cli.coupling import with_coupling
from ecorche.cli.main import app
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.files import Rig, read_rig
from ecorche.document.spec import MapRef, RigSpec
from ecorche.errors import DocumentError, EcorcheError
from ecorche.io.formats import read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.weights import rigid_weights

MAN = Path("human/male_muscular_cmu_mb.glb")
HELD = 42
"""A frame of the curl in which arms are bent."""


def coupled(rig: Rig, **said: object) -> Rig:
    coupling = CouplingSpec.model_validate({"everywhere": "fascia", **said})
    return replace(rig, spec=rig.spec.model_copy(update={"coupling": coupling}))


@cache
def curling(data: Path, everywhere: str = "fascia") -> LiveFrames:
    character, rig = rigged(data / MAN)
    motion = read_motion(motion_file(data, "curl"))
    frames = perform(character, motion, rig=coupled(rig, everywhere=everywhere)).take.frames
    assert isinstance(frames, LiveFrames)
    return frames


@pytest.mark.parametrize("everywhere", ["plain", "height_field", "fascia"])
def test_bind_is_exact(data: Path, everywhere: str) -> None:
    body = curling(data, everywhere).body
    frame = evaluate(body, Pose(body.character.skeleton.bind_local))
    for mesh, points in zip(body.character.meshes, frame.points, strict=True):
        assert points.tobytes() == mesh.mesh.points.tobytes()


def test_a_mesh_on_one_joint_stays_stiff_when_that_joint_twists(data: Path) -> None:
    character, rig = rigged(data / MAN)
    forearm = character.skeleton.names.index("LeftForeArm")
    rod = trimesh.creation.cylinder(0.02, 0.3).subdivide().subdivide()
    points = np.asarray(rod.vertices, np.float32) @ np.array(
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.float32
    ) + character.skeleton.bind_world[forearm, :3, 3].astype(np.float32)
    bone = SkinnedMesh(triangle_mesh("bone", points, rod.faces), rigid_weights(len(points), forearm))
    with_bone = replace(character, meshes=(*character.meshes, bone))
    body = compile_body(with_bone, rig=coupled(rig))
    local = with_bone.skeleton.bind_local.copy()
    local[forearm] = local[forearm] @ np.diag([-1.0, -1.0, 1.0, 1.0])
    moved = evaluate(body.without_muscles(), Pose(local)).points[-1]
    assert np.abs(pdist(moved) - pdist(points)).max() < 1e-6


def test_skin_follows_muscles_where_the_region_says_so(data: Path) -> None:
    live = curling(data)
    plain = LiveFrames(live.body.without_muscles(), live.motion)
    moved = np.linalg.norm(live[HELD].points[0] - plain[HELD].points[0], axis=1)
    weights, names = live.body.character.meshes[0].weights, live.body.character.skeleton.names
    assert weights is not None
    joints, shares = weights.padded()
    strongest = np.array(names)[joints[np.arange(len(joints)), shares.argmax(axis=1)]]
    assert moved[strongest == "RightArm"].max() > 0.004
    # head, hands and feet are left to plain skinning
    sure = shares.max(axis=1) > 0.999
    for masked in ("Head", "RightHandIndex1", "LeftFoot"):
        assert moved[(strongest == masked) & sure].max(initial=0.0) < 1e-6


def test_intensity_scales_it_and_a_map_paints_it(data: Path) -> None:
    character, rig = rigged(data / MAN)
    motion = read_motion(motion_file(data, "curl"))
    mesh = character.meshes[0]
    left = (mesh.mesh.points[:, 0] > 0.0).astype(np.float32)
    painted = replace(
        rig,
        spec=rig.spec.model_copy(update={"maps": {"left": MapRef(mesh=mesh.name)}}),
        maps={"left": left},
    )
    asked = {"contact": False, "slide": 0.0, "seconds": 0.0}
    frames = perform(character, motion, rig=coupled(painted, intensity="left", **asked)).take.frames
    assert isinstance(frames, LiveFrames)
    plain = LiveFrames(frames.body.without_muscles(), frames.motion)
    moved = np.linalg.norm(frames[HELD].points[0] - plain[HELD].points[0], axis=1)
    assert moved[left > 0.0].max() > 0.004
    assert moved[left == 0.0].max() == 0.0


def test_a_part_of_a_motion_is_that_of_the_whole(data: Path) -> None:
    character, rig = rigged(data / MAN)
    motion = read_motion(motion_file(data, "curl"))
    part = perform(character, motion, rig=coupled(rig), frames=(HELD, HELD + 1)).take.frames
    assert part is not None
    assert part[0].points[0].tobytes() == curling(data)[HELD].points[0].tobytes()
    with at_most_threads(1):
        alone = LiveFrames(curling(data).body, curling(data).motion)[HELD]
    assert alone.points[0].tobytes() == part[0].points[0].tobytes()


def test_the_filter_that_follows_lags_and_the_centred_does_not(data: Path) -> None:
    live = curling(data)
    body = live.body
    assert body.coupling is not None
    late = replace(body.coupling, spec=body.coupling.spec.model_copy(update={"time_filter": "following"}))
    following = LiveFrames(replace(body, coupling=late), live.motion.part(0, 20))
    centred = live.part(0, 20)
    alone = evaluate(body, live.pose(18)).points[0]
    near, far = (np.abs(frames[18].points[0] - alone).max() for frames in (centred, following))
    assert 0.0 < near < far < 0.01


def test_skin_stays_over_the_muscles_and_moves_evenly(data: Path, figure: Figure) -> None:
    live = curling(data)
    plain = LiveFrames(live.body.without_muscles(), live.motion)
    depths = Beneath(live).depths([15, HELD])
    figure("skin in muscles, curl", 1e3 * float(depths.worst.max()), 2.0, "mm")
    assert depths.worst.max() < 0.002
    ours, theirs = (accelerations(frames.part(10, 34), 0) for frames in (live, plain))
    ratio = float((ours / np.maximum(theirs, FEEL)).max())
    figure("acceleration of the skin over plain skinning's, curl", ratio, 2.0, "times")
    assert ratio < 2.0


def test_a_little_change_of_a_squat_is_a_little_change_of_the_skin(data: Path, figure: Figure) -> None:
    """Where belly, thighs and calves meet: all joints turned by a hundredth of a degree."""
    character, rig = rigged(data / MAN)
    frames = perform(character, read_motion(motion_file(data, "squat")), rig=coupled(rig)).take.frames
    assert isinstance(frames, LiveFrames)
    coupling = frames.body.coupling
    assert coupling is not None
    assert coupling.contact is not None
    without = replace(frames.body, coupling=replace(coupling, contact=None))
    rng, changes = np.random.default_rng(0), []
    for number in (36, 40, 55):
        pose = frames.pose(number)
        turns = np.radians(0.01) * normalise(rng.normal(size=(len(pose.local), 3)))
        turned = pose.local.copy()
        turned[:, :3, :3] = turned[:, :3, :3] @ matrix_from_xyzw(xyzw_from_rotation_vector(turns))
        first, second = (
            skin_correction(frames.body, one, difference_from_bind(character.skeleton, one.local))
            - skin_correction(without, one, difference_from_bind(character.skeleton, one.local))
            for one in (pose, replace(pose, local=turned))
        )
        assert first.min() < -0.015
        changes.append(np.abs(first - second).max())
    figure("what contact makes of a hundredth of a degree, squat", 1e3 * max(changes), 1.0, "mm")
    assert max(changes) < 0.0005


def test_a_twisted_forearm_keeps_its_girth_and_a_bent_elbow_its_volume(figure: Figure) -> None:
    arm = Arm("muscular man")
    body = arm.compiled("contour", "fascia")
    girth, volume = arm.change_of_girth(body), arm.change_of_volume(body)
    figure("girth of a forearm twisted by 150°, fascia", 100.0 * abs(girth), 3.0, "%")
    figure("volume of an elbow bent by 130°, fascia", 100.0 * abs(volume), 3.0, "%")
    assert abs(girth) < 0.03
    assert abs(volume) < 0.03
    # what it is better than
    assert arm.change_of_volume(arm.compiled("dual_quaternion", "plain")) < -0.1


def test_muscles_give_way_where_they_are_drawn_alone(data: Path) -> None:
    live = curling(data)
    beneath = Beneath(live)
    assert beneath.depths([HELD], giving_way=False).worst.max() > 0.002
    lost, muscle = volume_given_way(beneath, [HELD])
    assert muscle == "biceps brachii"
    assert -0.05 < lost < -0.002


def test_muscles_give_way_to_each_other(data: Path, figure: Figure) -> None:
    others = Others(curling(data))
    before = others.depths(others.drawn.before_giving_way(HELD))
    after = others.depths(others.drawn.among_each_other(HELD))
    count = [int((deep > 0.001).sum()) for deep in (before, after)]
    figure(
        "curl: places of bellies in other muscles, share of those before",
        100.0 * count[1] / count[0],
        50.0,
        "%",
    )
    assert count[0] > 100
    assert count[1] < 0.5 * count[0]
    assert after.max() < 0.005
    assert others.drawn.among_each_other(0).shape == others.drawn.at_bind().shape


def test_regions_that_are_not_there_are_refused(data: Path) -> None:
    character, rig = rigged(data / MAN)
    with pytest.raises(DocumentError, match="no region and no joint 'hand'") as refused:
        perform(character, rig=coupled(rig, regions={"hand": "plain"}))
    assert "hands" in str(refused.value)
    bare = replace(rig, spec=coupled(rig).spec.model_copy(update={"muscles": type(rig.spec.muscles)()}))
    with pytest.raises(DocumentError, match="there are none"):
        perform(character, rig=bare)


def test_the_command_records_and_overrides_couplings(tmp_path: Path, data: Path) -> None:
    man, rig = str(data / MAN), tmp_path / "man.ecorche"
    done = CliRunner().invoke(
        app,
        [
            "rig",
            man,
            "-o",
            str(rig),
            "--coupling",
            "fascia",
            "--coupling",
            "neck=plain",
            "--coupling",
            "slide=0.1",
        ],
    )
    assert done.exit_code == 0, done.output
    said = read_rig(rig).spec.coupling
    assert (said.everywhere, said.regions, said.slide) == ("fascia", {"neck": "plain"}, 0.1)
    pose = tmp_path / "bind.npz"
    done = CliRunner().invoke(app, ["bake", str(rig), "-o", str(pose), "--coupling", "trunk=height_field"])
    assert done.exit_code == 0, done.output
    for wrong, told in (("fasca", "fascia"), ("hans=plain", "hands"), ("slide=2", "between 0 and 1")):
        done = CliRunner().invoke(app, ["bake", str(rig), "-o", str(pose), "--coupling", wrong])
        assert done.exit_code != 0
        assert told in str(done.exception) + done.output


@pytest.mark.parametrize("time_filter", ["centred", "following"])
def test_moments_between_frames_leave_the_frames_as_they_are(data: Path, time_filter: str) -> None:
    character, rig = rigged(data / MAN)
    motion, bound = read_motion(motion_file(data, "curl")), coupled(rig, time_filter=time_filter)
    whole, fine = (perform(character, motion, rig=bound, samples=n).take.frames for n in (1, 4))
    assert isinstance(whole, LiveFrames)
    assert isinstance(fine, LiveFrames)
    for frame in (0, 30, 31):
        # matrices taken apart and put together again are rounded
        np.testing.assert_allclose(whole[frame].points[0], fine[4 * frame].points[0], atol=1e-6)
    # and lie between them
    apart = [np.linalg.norm(fine[122].points[0] - fine[n].points[0], axis=1).max() for n in (120, 124)]
    step = np.linalg.norm(fine[124].points[0] - fine[120].points[0], axis=1).max()
    assert 0.0 < max(apart) < 0.6 * step


def test_words_of_a_coupling_are_understood_and_others_refused(data: Path) -> None:
    character, rig = rigged(data / MAN)
    said = with_coupling(rig, ["fascia", "time_filter=following", "contact=off"], character).spec.coupling
    assert (said.time_filter, said.contact) == ("following", False)
    with pytest.raises(EcorcheError, match=r"time_filter cannot be 'live'\. Say centred or following"):
        with_coupling(rig, ["time_filter=live"], character)


def test_wrinkles_come_with_any_coupling_and_not_unasked(data: Path) -> None:
    character, rig = rigged(data / MAN)
    motion = read_motion(motion_file(data, "curl"))
    asked = RigSpec.model_validate({**rig.spec.model_dump(), "wrinkles": {"elbow": {}}})
    without, folded = (
        perform(character, motion, rig=one).take.frames for one in (rig, replace(rig, spec=asked))
    )
    assert without is not None
    assert folded is not None
    deep = np.linalg.norm(folded[HELD].points[0] - without[HELD].points[0], axis=1)
    assert 0.0003 < deep.max() < 0.003
    elbows = character.skeleton.bind_world[
        [character.skeleton.index(n) for n in ("LeftForeArm", "RightForeArm")], :3, 3
    ]
    away = np.linalg.norm(character.meshes[0].mesh.points[:, None] - elbows, axis=2).min(axis=1)
    assert deep[away > 0.12].max() < 1e-6
