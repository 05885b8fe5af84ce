"""A frame of muscles in one compiled call: the bytes of its parts, from any thread, and refused in words."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from conftest import ROOT
from ecorche.base import threads
from ecorche.body.compile import Body, compile_body, skinned_points
from ecorche.body.displacement import Displacement
from ecorche.body.muscles import BodyMuscles
from ecorche.body.rig import create_rig
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_character
from ecorche.io.keyframes import read_keyframes
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]
FRAMES = range(0, 60, 10)


@cache
def _body(path: Path) -> tuple[Body, BodyMuscles, tuple[Floats, ...], Floats]:
    """A person, its muscles, and for some frames of a motion the joints' M − I and the activations."""
    character = read_character(path)
    body = compile_body(character, rig=create_rig(character, path, path.with_suffix(".ecorche")))
    assert body.muscles is not None
    assert body.activation is not None
    motion = read_keyframes(ROOT / "examples" / "flex.pose", character.skeleton)
    moved = tuple(difference_from_bind(character.skeleton, motion.local[frame]) for frame in FRAMES)
    return body, body.muscles, moved, body.activation.over(motion)[list(FRAMES)]


def _displacement(muscles: BodyMuscles) -> Displacement:
    largest = np.array([muscle.largest_bulge for muscle in muscles.musculature.muscles])
    return Displacement(muscles.musculature, muscles.sliding, largest)


def _skin(body: Body, muscles: BodyMuscles, difference: Floats) -> npt.NDArray[np.float32]:
    return skinned_points(body, difference, (None,) * len(body.character.meshes))[muscles.skin]


def _in_parts(body: Body, muscles: BodyMuscles, difference: Floats, active: Floats | None) -> bytes:
    posed = muscles.musculature.sections(difference, muscles.bulge(active))
    return muscles.sliding.apply(posed, _skin(body, muscles, difference)).tobytes()


@pytest.mark.parametrize("worth_sharing", [1024, 0])
def test_one_call_gives_the_bytes_of_its_parts(
    data: Path, worth_sharing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, muscles, moved, active = _body(data / "human" / "male_slim_cmu_mb.glb")
    monkeypatch.setattr(threads, "_WORTH_SHARING", worth_sharing)
    monkeypatch.setattr(threads, "_WORTH_SHARING_AWAKE", worth_sharing)
    assert muscles.sliding.is_shared == (worth_sharing == 0)
    displacement = _displacement(muscles)
    for difference, alpha in zip(moved, active, strict=True):
        for given in (alpha, None, alpha.astype(np.float32), alpha.tolist()):
            points = _skin(body, muscles, difference)
            assert displacement.apply(points, difference, given)
            assert points.tobytes() == _in_parts(body, muscles, difference, given)


def test_a_skin_that_threads_have_skinned_is_displaced_by_them_sooner() -> None:
    """They are awake, and each has half of the vertices at hand."""
    assert not threads.worth_sharing(500)
    assert not threads.worth_sharing(500, after=1000)
    assert threads.worth_sharing(500, after=2000)
    assert not threads.worth_sharing(100, after=2000)


def test_threads_that_ask_at_once_do_not_disturb_one_another(data: Path) -> None:
    body, muscles, moved, active = _body(data / "human" / "male_slim_cmu_mb.glb")
    alone = [
        muscles.displaced((_skin(body, muscles, d),), d, a)[0] for d, a in zip(moved, active, strict=True)
    ]

    def run(number: int) -> bytes:
        frame = number % len(moved)
        points = (_skin(body, muscles, moved[frame]),)
        return muscles.displaced(points, moved[frame], active[frame])[0].tobytes()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(run, range(80)))
    assert found == [alone[number % len(moved)].tobytes() for number in range(80)]


def test_what_cannot_be_moves_nothing_and_is_refused_in_words(data: Path) -> None:
    body, muscles, moved, active = _body(data / "human" / "male_slim_cmu_mb.glb")
    displacement = _displacement(muscles)
    difference, points = moved[3], _skin(body, muscles, moved[3])
    flat = difference.copy()
    flat[:, :3, :3] = -np.eye(3)
    wrong = (
        (points, difference, active[3] + 1.0, "not between 0 and 1"),
        (points, difference, active[3, 1:], "activation|shape"),
        (points, difference, np.where(active[3] < 2.0, np.nan, 0.0), "not between 0 and 1"),
        (points, flat, active[3], "nodes|coincide|apart|scaled|length"),
        (points, difference * np.nan, active[3], "finite"),
        (points[1:], difference, active[3], "points"),
    )
    for skin, joints, alpha, words in wrong:
        before = skin.tobytes()
        assert not displacement.apply(skin, joints, alpha)
        assert skin.tobytes() == before
        with pytest.raises(EcorcheError, match=words):
            muscles.displaced((skin,), joints, alpha)
    assert not displacement.apply(points[:, ::-1], difference, active[3])
    assert not displacement.apply(points.astype(np.float64), difference, active[3])
    # nothing of that is left in its memory
    assert displacement.apply(points, difference, active[3])
    assert points.tobytes() == _in_parts(body, muscles, difference, active[3])
