"""Meshes of bones in a rig: written and read, posed with their joints, refused where they cannot be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anatomy_shapes import ball
from characters import tube
from ecorche.body.bones import bone_surfaces, compile_bones
from ecorche.body.rig import create_rig
from ecorche.document.bones import BoneSurfaces
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.errors import DocumentError
from ecorche.muscles.bone import Bone

CHARACTER = tube()


def bony_rig(folder: Path) -> Rig:
    rig = create_rig(CHARACTER, folder / "tube.glb", folder / "tube.ecorche", muscles=False)
    bones = []
    for joint, radius in ((0, 0.02), (1, 0.03)):
        mesh = ball(CHARACTER.skeleton.bind_world[joint, :3, 3], np.full(3, radius), rings=7)
        bones.append(Bone(f"bone {joint}", joint, mesh.points, mesh.triangles.astype(np.int32)))
    return replace(rig, bones=bone_surfaces(bones, CHARACTER.skeleton))


def test_they_come_back_from_the_file_and_follow_their_joints(tmp_path: Path) -> None:
    write_rig(tmp_path / "tube.ecorche", bony_rig(tmp_path))
    body = compile_bones(read_rig(tmp_path / "tube.ecorche"), CHARACTER.skeleton)
    assert body is not None
    assert body.names == ("bone 0", "bone 1")
    assert [bone.joint for bone in body.bones] == [0, 1]
    still = np.zeros((CHARACTER.skeleton.joint_count, 4, 4))
    assert (body.points(still) == body.bind).all()
    moved = still.copy()
    moved[1, :3, 3] = 0.1, 0.2, 0.3
    shift = body.points(moved) - body.bind
    first, second = (np.unique(body.triangles[body.part == row]) for row in (0, 1))
    assert (shift[first] == 0.0).all()
    assert np.allclose(shift[second], (0.1, 0.2, 0.3))
    assert len(first) + len(second) == len(body.bind)


def test_a_rig_without_them_has_none(tmp_path: Path) -> None:
    write_rig(tmp_path / "tube.ecorche", replace(bony_rig(tmp_path), bones=None))
    rig = read_rig(tmp_path / "tube.ecorche")
    assert rig.bones is None
    assert compile_bones(rig, CHARACTER.skeleton) is None


def test_a_joint_that_is_not_there_is_refused_with_the_bone(tmp_path: Path) -> None:
    rig = bony_rig(tmp_path)
    assert rig.bones is not None
    bones = replace(rig.bones, joints=("nowhere", rig.bones.joints[1]))
    with pytest.raises(DocumentError, match="no joint 'nowhere'") as refused:
        compile_bones(replace(rig, bones=bones), CHARACTER.skeleton)
    assert "bone 0" in str(refused.value)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda b: replace(b, joints=b.joints[:1]), "do not add up"),
        (lambda b: replace(b, points=np.full_like(b.points, np.nan)), "vertex 0 is not a number"),
        (lambda b: replace(b, bone=b.bone[::-1].copy()), "order of their bones"),
        (lambda b: replace(b, triangles=b.triangles + len(b.points)), "vertices that do not exist"),
        (lambda b: replace(b, triangles=b.triangles[:-1].reshape(-1)[[0, 1, -1]][None]), "joins two bones"),
        (lambda b: replace(b, triangles=b.triangles[:3]), "'bone 1' has no triangles"),
    ],
)
def test_what_cannot_be_bones_is_not_written(
    tmp_path: Path, spoil: Callable[[BoneSurfaces], BoneSurfaces], said: str
) -> None:
    rig = bony_rig(tmp_path)
    assert rig.bones is not None
    with pytest.raises(DocumentError, match=said):
        write_rig(tmp_path / "tube.ecorche", replace(rig, bones=spoil(rig.bones)))
