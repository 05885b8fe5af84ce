"""Hands, feet and face are left to plain skinning unless somebody names them, on everybody we have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.body.character import Character
from ecorche.body.coupling_shares import coupling_shares
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.errors import DocumentError
from ecorche.io.formats import read_character
from ecorche.skeleton.naming.recognise import recognise

Floats = npt.NDArray[np.float64]
PEOPLE = [
    "human/female_average_cmu_mb.glb",
    "human/male_average_cmu_mb.glb",
    "human/male_dressed_mixamo.glb",
    "human/male_muscular_cmu_mb.glb",
    "human/male_muscular_mixamo.glb",
    "human/male_slim_cmu_mb.glb",
    "mesh2motion/human-male.glb",
]


def plain(character: Character, **said: object) -> Floats:
    """How far each vertex of the body is plainly skinned, (vertices,)."""
    spec = CouplingSpec.model_validate({"everywhere": "fascia", **said})
    weights = character.body().weights
    assert weights is not None
    naming = recognise(character.skeleton, None)
    return coupling_shares(spec, character, naming, weights, "test")["plain"]


@pytest.mark.parametrize("file", PEOPLE)
def test_a_persons_hands_feet_and_face_are_plain(data: Path, file: str) -> None:
    character = read_character(data / file)
    naming, heads = recognise(character.skeleton, None), character.skeleton.bind_world[:, :3, 3]
    points, share = character.body().mesh.points.astype(np.float64), plain(character)
    size = float(points[:, 1].max()) / 1.75

    def at(name: str) -> Floats:
        joint = naming.joint(name)
        assert joint is not None
        return np.asarray(heads[joint])

    skull = at("skullbase")
    parts = [
        (points[:, 1] > skull[1] + 0.03 * size)
        & (points[:, 2] > skull[2] + 0.02 * size)
        & (np.abs(points[:, 0]) < 0.15 * size)
    ]
    for side in "lr":
        wrist, ankle = at(f"{side}_radiocarpal"), at(f"{side}_talocrural")
        along = (wrist - at(f"{side}_elbow")) / np.linalg.norm(wrist - at(f"{side}_elbow"))
        parts.append(
            ((points - wrist) @ along > 0.03 * size) & (np.linalg.norm(points - wrist, axis=1) < 0.3 * size)
        )
        parts.append(
            (points[:, 1] < ankle[1] - 0.04 * size) & (np.linalg.norm(points - ankle, axis=1) < 0.3 * size)
        )
    for part in parts:
        assert part.sum() > 40
        assert np.median(share[part]) > 0.99
        assert np.percentile(share[part], 20) > 0.75  # a stiff shin shares the mannequin's heel
    # and all of the rest is not
    for near, far in (("hip", "knee"), ("shoulder", "elbow"), ("knee", "talocrural")):
        middle = 0.5 * (at(f"l_{near}") + at(f"l_{far}"))
        assert share[np.linalg.norm(points - middle, axis=1) < 0.13 * size].mean() < 0.05
    named = plain(character, regions={"hands": "fascia", "head": "height_field", "feet": "muscles"})
    assert named.max() < 1e-9


@pytest.mark.parametrize(
    ("file", "begins"),
    [
        ("mesh2motion/horse-animations.glb", ("head", "front_leg_foot", "back_leg_foot")),
        ("dog/dog.xml", ("skull", "hand_anchor", "foot")),
    ],
)
def test_a_creatures_too_by_what_its_joints_are_called(
    data: Path, file: str, begins: tuple[str, ...]
) -> None:
    character = read_character(data / file)
    weights, skeleton = character.body().weights, character.skeleton
    assert weights is not None
    masked = np.zeros(skeleton.joint_count, np.bool_)
    for joint, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents.tolist(), strict=True)):
        masked[joint] = name.startswith(begins) or (parent >= 0 and masked[parent])
    joints, shares = weights.padded()
    expected = np.where(masked[joints], shares, 0.0).sum(axis=1)
    assert 0.1 < (expected > 0.5).mean() < 0.85
    np.testing.assert_allclose(plain(character), expected, atol=1e-6)
    assert plain(character, regions={"head": "fascia"}).sum() < expected.sum()
    with pytest.raises(DocumentError, match="no joint of this character is known to be of the thighs"):
        plain(character, regions={"thighs": "plain"})
