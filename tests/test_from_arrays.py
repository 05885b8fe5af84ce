"""Characters, motions and rigs handed over as plain arrays and bytes, as another program does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ecorche
from ecorche import Character, MeshArrays
from ecorche.errors import DocumentError, EcorcheError, MeshError, MotionError, SkeletonError

MAN = Path("human") / "male_muscular_cmu_mb.glb"


def handed_over(man: Character, order: list[int]) -> Character:
    """The same character as arrays, its joints in another order."""
    skeleton, body = man.skeleton, man.meshes[0]
    assert body.weights is not None
    place = {joint: number for number, joint in enumerate(order)}
    place[-1] = -1
    vertex = np.repeat(np.arange(body.mesh.vertex_count), np.diff(body.weights.starts))
    return ecorche.character_from_arrays(
        man.name,
        joints=[skeleton.names[j] for j in order],
        parents=[place[int(skeleton.parents[j])] for j in order],
        bind_world=skeleton.bind_world[order],
        tails=skeleton.tail_positions()[order],
        meshes=[
            MeshArrays(
                body.name,
                body.mesh.points,
                body.mesh.face_counts,
                body.mesh.face_indices,
                (vertex, [place[int(j)] for j in body.weights.joints], body.weights.weights),
            )
        ],
    )


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return ecorche.read_character(data / MAN)


def test_a_character_of_arrays_moves_as_that_of_the_file(man: Character) -> None:
    order = np.random.default_rng(3).permutation(man.skeleton.joint_count).tolist()
    same = handed_over(man, order)
    turned = man.skeleton.bind_local.copy()
    elbow = next(j for j, n in enumerate(man.skeleton.names) if n == "RightForeArm")
    turned[elbow, :3, :3] @= np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    motion = ecorche.Motion("bent", man.skeleton, np.array([0.0]), turned[None])
    own = ecorche.motion_from_arrays(
        same, joints=man.skeleton.names, world=motion.world(), times=[0.0], name="bent"
    )
    there = ecorche.perform(man, motion, rig=ecorche.new_rig(man, "man.glb", "man.ecorche").rig).take
    here = ecorche.perform(same, own, rig=ecorche.new_rig(same, "man.glb", "man.ecorche").rig).take
    assert there.frames is not None
    assert here.frames is not None
    apart = np.abs(there.frames[0].points[0] - here.frames[0].points[0]).max()
    assert apart < 1e-6


def test_a_packed_rig_is_the_rig(man: Character) -> None:
    rig, told = ecorche.new_rig(man, "man.glb", "man.ecorche", muscles="none")
    assert told == []
    painted = ecorche.with_map(rig, "soft parts", np.linspace(0.0, 1.0, man.meshes[0].mesh.vertex_count))
    packed = ecorche.pack_rig(painted)
    back = ecorche.unpack_rig(packed)
    assert back.spec.maps == painted.spec.maps
    assert np.array_equal(ecorche.map_values(back, "soft parts"), ecorche.map_values(painted, "soft parts"))
    assert ecorche.pack_rig(back) == packed
    assert ecorche.check_rig(back, man) == []
    for damaged in (b"", b"ECORCHE-RIG\0", packed[:200], packed[:-1]):
        with pytest.raises(DocumentError):
            ecorche.unpack_rig(damaged)


def test_what_cannot_be_is_told(man: Character) -> None:
    with pytest.raises(SkeletonError, match="for 0 joints"):
        ecorche.character_from_arrays("-", joints=[], parents=[], bind_world=np.zeros((0, 4, 4)), meshes=[])
    with pytest.raises(SkeletonError, match="cycle: a → b → a"):
        ecorche.character_from_arrays(
            "ring", joints=["a", "b"], parents=[1, 0], bind_world=np.tile(np.eye(4), (2, 1, 1)), meshes=[]
        )
    triangle = MeshArrays("skin", np.eye(3), [3], [0, 1, 2], ([0, 1, 2], [0, 0, 1], [1.0, 1.0, 1.0]))
    with pytest.raises(MeshError, match="joint that is not there"):
        ecorche.character_from_arrays(
            "one", joints=["a"], parents=[-1], bind_world=np.eye(4)[None], meshes=[triangle]
        )
    with pytest.raises(MotionError, match="Name each joint of the character once"):
        ecorche.motion_from_arrays(man, joints=["hips"], world=np.eye(4)[None, None], times=[0.0])
    with pytest.raises(EcorcheError, match="Did you mean 'template'"):
        ecorche.new_rig(man, "man.glb", "man.ecorche", muscles="templat")
    with pytest.raises(EcorcheError, match="Name the folder"):
        ecorche.new_rig(man, "man.glb", "man.ecorche", muscles="anatomy")
    bare = ecorche.new_rig(man, "man.glb", "man.ecorche", muscles="none").rig
    with pytest.raises(EcorcheError, match="and there are none"):
        ecorche.with_coupling(bare, man, {"everywhere": "fascia"})
    with pytest.raises(DocumentError, match="intensity"):
        ecorche.with_coupling(bare, man, {"intensity": 3.0})
