"""An unnamed humanoid is recognised by where its joints stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.naming.vocabulary import MAIN_JOINTS
from ecorche.skeleton.skeleton import Skeleton
from rigs import Floats, skeleton_at, unnamed

HUMANS = [
    "human/male_average_cmu_mb.glb",
    "human/male_muscular_cmu_mb.glb",
    "human/male_slim_cmu_mb.glb",
    "human/female_average_cmu_mb.glb",
    "human/male_muscular_mixamo.glb",
    "human/male_dressed_mixamo.glb",
    "mesh2motion/human-male.glb",
    "cmu/02_01.bvh",
    "cmu/02_03.bvh",
    "cmu/13_13.bvh",
    "cmu/13_39.bvh",
]


def load(path: Path) -> Skeleton:
    return read_motion(path).skeleton if path.suffix == ".bvh" else read_character(path).skeleton


@pytest.mark.parametrize("file", HUMANS)
@pytest.mark.parametrize("turn", [0.0, 0.5 * np.pi, np.pi, 4.0])
def test_every_joint_of_every_human_is_found_without_names(data: Path, file: str, turn: float) -> None:
    skeleton = load(data / file)
    named = dict(zip(skeleton.names, recognise(skeleton).canonical, strict=True))
    stripped, old = unnamed(skeleton, seed=int(turn * 10), turn=turn)
    naming = recognise(stripped)
    assert naming.convention == "shape"
    assert naming.notes == ()
    assert dict(zip(old, naming.canonical, strict=True)) == named


def test_roles_are_found_without_names(data: Path) -> None:
    skeleton = load(data / "mesh2motion/human-male.glb")
    roles = dict(zip(skeleton.names, recognise(skeleton).roles, strict=True))
    stripped, old = unnamed(skeleton, seed=3)
    assert dict(zip(old, recognise(stripped).roles, strict=True)) == roles


def test_four_legged_animals_are_refused(data: Path) -> None:
    stripped, _ = unnamed(load(data / "mesh2motion/horse-animations.glb"), seed=1)
    naming = recognise(stripped)
    assert naming.convention == "unknown"
    assert set(naming.canonical) == {None}
    assert "four-legged" in naming.notes[0]


def test_the_dog_is_refused(data: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(data / "dog/dog.xml"))
    state = mujoco.MjData(model)
    mujoco.mj_forward(model, state)
    points = state.xpos[1:][:, [0, 2, 1]] * [1.0, 1.0, -1.0]
    parents = [int(p) - 1 for p in model.body_parentid[1:]]
    naming = recognise(skeleton_at([f"bone_{i}" for i in range(len(parents))], parents, points))
    assert naming.convention == "unknown"
    assert "four-legged" in naming.notes[0]


Parts = tuple[list[str], list[int], list[Floats]]


def without_clavicles(names: list[str], parents: list[int], points: list[Floats]) -> Parts:
    for gone in ("LeftShoulder", "RightShoulder"):
        at = names.index(f"mixamorig:{gone}")
        parents[:] = [parents[at] if p == at else p for p in parents]
        parents[:] = [p - (p > at) for p in parents]
        for rows in (names, parents, points):
            del rows[at]
    return names, parents, points


def with_twist_in_every_bone(names: list[str], parents: list[int], points: list[Floats]) -> Parts:
    for below in ("ForeArm", "Hand", "Leg", "Foot"):
        for side in ("Left", "Right"):
            child = names.index(f"mixamorig:{side}{below}")
            above = parents[child]
            names.append(f"twist {side}{below}")
            parents.append(above)
            points.append(0.5 * (points[child] + points[above]))
            parents[child] = len(names) - 1
    return names, parents, points


def with_twist_leaves(names: list[str], parents: list[int], points: list[Floats]) -> Parts:
    for below in ("ForeArm", "Hand", "Leg", "Foot"):
        for side in ("Left", "Right"):
            child = names.index(f"mixamorig:{side}{below}")
            for share in (0.0, 0.4, 0.7):
                names.append(f"twist {side}{below}{share}")
                parents.append(parents[child])
                points.append((1 - share) * points[parents[child]] + share * points[child])
    return names, parents, points


def with_roots_and_handles(names: list[str], parents: list[int], points: list[Floats]) -> Parts:
    """Two roots above, inverse-kinematics handles on the ground and at the hands, a tail."""
    hips = names.index("mixamorig:Hips")

    def add(name: str, parent: int, point: Floats) -> int:
        names.append(name)
        parents.append(parent)
        points.append(np.asarray(point, np.float64))
        return len(names) - 1

    armature = add("armature", -1, np.zeros(3))
    root = add("root", armature, np.zeros(3))
    parents[hips] = root
    for part in ("Foot", "Hand"):
        handles = add(f"handles {part}", root, np.zeros(3))
        for side in ("Left", "Right"):
            add(f"handle {side}{part}", handles, points[names.index(f"mixamorig:{side}{part}")])
    tail = hips
    for i in range(6):
        tail = add(f"tail{i}", tail, points[hips] + [0.0, -0.12 * i, -0.1 * (i + 1)])
    return names, parents, points


def with_a_face(names: list[str], parents: list[int], points: list[Floats]) -> Parts:
    head = names.index("mixamorig:Head")
    for x in (-0.03, 0.03):
        names.append(f"eye {x}")
        parents.append(head)
        points.append(points[head] + [x, 0.1, 0.08])
    return names, parents, points


def with_arms_hanging(names: list[str], parents: list[int], points: list[Floats]) -> Parts:
    for side in ("Left", "Right"):
        shoulder = names.index(f"mixamorig:{side}Arm")
        pivot = points[shoulder].copy()
        angle = (-1.0 if side == "Left" else 1.0) * np.deg2rad(38.0)
        turn = np.array(
            [[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]]
        )
        for joint, _ in enumerate(names):
            above = joint
            while above >= 0 and above != shoulder:
                above = parents[above]
            if above == shoulder:
                points[joint] = pivot + turn @ (points[joint] - pivot)
    return names, parents, points


@pytest.mark.parametrize(
    "change",
    [
        without_clavicles,
        with_twist_in_every_bone,
        with_twist_leaves,
        with_roots_and_handles,
        with_a_face,
        with_arms_hanging,
    ],
)
def test_other_builds_of_a_rig_are_recognised(
    data: Path, change: Callable[[list[str], list[int], list[Floats]], Parts]
) -> None:
    skeleton = load(data / "human/male_muscular_mixamo.glb")
    expected = dict(zip(skeleton.names, recognise(skeleton).canonical, strict=True))
    names, parents, points = change(
        list(skeleton.names), [int(p) for p in skeleton.parents], list(skeleton.bind_world[:, :3, 3])
    )
    stripped, old = unnamed(skeleton_at(names, parents, points), seed=8)
    naming = recognise(stripped)
    assert naming.convention == "shape"
    found = dict(zip(old, naming.canonical, strict=True))
    assert found == {name: expected.get(name) for name in names}
    roles = dict(zip(old, naming.roles, strict=True))
    for name in names:
        if name.startswith("twist") and not name.endswith(("0.0", "0.4", "0.7")):
            assert roles[name] == "twist"
        if name in ("armature", "root"):
            assert roles[name] == "root"
        if name.startswith(("handle", "tail", "eye")):
            assert roles[name] == "helper"


def test_left_and_right_come_from_the_feet_not_from_the_axes(data: Path) -> None:
    skeleton = load(data / "human/male_muscular_mixamo.glb")
    mirror = skeleton.bind_world[:, :3, 3] * [-1.0, 1.0, 1.0]
    swapped = skeleton_at(
        [f"b{i}" for i in range(skeleton.joint_count)], [int(p) for p in skeleton.parents], mirror
    )
    named = recognise(skeleton)
    naming = recognise(swapped)
    for name in MAIN_JOINTS:
        at = named.joint(name)
        twin = {"l": "r", "r": "l"}.get(name[0]) if name[1] == "_" else None
        assert at is not None
        assert naming.canonical[at] == (f"{twin}{name[1:]}" if twin else name)


def test_a_figure_without_feet_says_that_its_sides_are_a_guess(data: Path) -> None:
    """Only a mapping can tell left from right in a figure that is the same seen from behind."""
    points = {
        "hips": (0, 1, 0), "spine": (0, 1.2, 0), "neck": (0, 1.5, 0), "head": (0, 1.6, 0),
        "a1": (0.1, 0.95, 0), "a2": (0.1, 0.5, 0), "a3": (0.1, 0.05, 0),
        "b1": (-0.1, 0.95, 0), "b2": (-0.1, 0.5, 0), "b3": (-0.1, 0.05, 0),
        "c1": (0.2, 1.45, 0), "c2": (0.5, 1.45, 0), "c3": (0.75, 1.45, 0),
        "d1": (-0.2, 1.45, 0), "d2": (-0.5, 1.45, 0), "d3": (-0.75, 1.45, 0),
    }  # fmt: skip
    names = list(points)
    above = {
        "spine": "hips",
        "neck": "spine",
        "head": "neck",
        "a1": "hips",
        "b1": "hips",
        "c1": "spine",
        "d1": "spine",
    }
    above |= {f"{limb}{i}": f"{limb}{i - 1}" for limb in "abcd" for i in (2, 3)}
    parents = [names.index(above[n]) if n in above else -1 for n in names]
    naming = recognise(skeleton_at(names, parents, list(points.values())))
    assert naming.convention == "shape"
    assert naming.canonical[names.index("a1")] == "l_hip"
    assert "neither feet nor knees say which way the figure faces" in naming.notes[0]


def test_too_few_joints_are_refused() -> None:
    naming = recognise(skeleton_at(["a", "b"], [-1, 0], [(0, 0, 0), (0, 1, 0)]))
    assert naming.convention == "unknown"
    assert naming.notes == ("not recognised as a humanoid: 2 joints are too few for a humanoid",)
