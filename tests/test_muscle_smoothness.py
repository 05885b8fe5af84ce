"""Muscles crease no skin at the borders of their influence, on a four times finer skin too, and never pop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.muscle_people import (
    PEOPLE,
    Pair,
    motion_file,
    performed,
    refined,
    rigged,
)
from benchmarks.skin_smoothness import Crease, Edges, crease, edges_of, jerk

import ecorche.skin.influence
from conftest import Figure
from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluate import Pose
from ecorche.body.live_frames import LiveFrames
from ecorche.skin.influence import Fades

Floats = npt.NDArray[np.float64]

SEEN = {"curl": 60, "squat": 60, "raise": 63}
"""Frames in which these motions have their muscles bulge most."""
LESS = 0.75
"""Borders bend the skin by less than this part of what the bulge does."""


@cache
def _poses(path: Path, data: Path) -> dict[str, Pose]:
    """Poses with large bulges, and the bind pose with every muscle fully active."""
    character, rig = rigged(path)
    poses = {}
    for name, index in SEEN.items():
        frames = performed(path, motion_file(data, name)).muscled
        assert frames.activation is not None
        poses[name] = Pose(frames.motion.local[index], activation=frames.activation[index])
    full = np.ones(len(rig.spec.muscles.named))
    return poses | {"all active at bind": Pose(character.skeleton.bind_local, activation=full)}


@cache
def _fine(path: Path, times: int) -> tuple[Character, Body, Edges]:
    fine = refined(rigged(path)[0], times)
    return fine, compile_body(fine), edges_of(fine.meshes[0].mesh.triangles())


def _creases(data: Path, path: Path, times: int) -> dict[str, Crease]:
    fine, plain, edges = _fine(path, times)
    muscled = compile_body(fine, rig=rigged(path)[1])
    return {name: crease(muscled, plain, edges, pose) for name, pose in _poses(path, data).items()}


@contextmanager
def _fades(monkeypatch: pytest.MonkeyPatch, fades: Fades) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(ecorche.skin.influence, "Fades", lambda: fades)
        yield


@pytest.mark.parametrize("person", PEOPLE)
def test_borders_crease_the_skin_less_than_the_bulge_itself_bends_it(
    data: Path, person: str, figure: Figure
) -> None:
    path = data / "human" / f"{PEOPLE[person]}.glb"
    for pose, found in _creases(data, path, 1).items():
        assert found.largest > 3e-3, pose
        assert found.border < LESS * found.inside, (pose, found)
        what = f"muscles: bend at borders beside the bulge's, {person}, {pose}"
        figure(what, found.border / found.inside, LESS, "")


_NONE = 1e-4  # a fade of no width


@pytest.mark.parametrize(
    "fades",
    [Fades(ends=_NONE, rim=_NONE, depth=_NONE, limb=_NONE), Fades(rim=_NONE), Fades(limb=_NONE)],
    ids=["no fades", "no fade at the rim", "no fade along the limb"],
)
def test_a_fade_that_is_cut_off_is_found_out(
    data: Path, fades: Fades, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = data / "human" / f"{PEOPLE['average man']}.glb"
    _poses(path, data)
    with _fades(monkeypatch, fades):
        assert any(found.border > LESS * found.inside for found in _creases(data, path, 1).values())


def test_a_finer_skin_meets_its_border_more_gently(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a weight were cut off, the last moved vertices would move as far on any skin."""
    path = data / "human" / f"{PEOPLE['average man']}.glb"

    def rates() -> Floats:
        coarse, fine = (_creases(data, path, times) for times in (0, 1))
        return np.array([fine[pose].jump / coarse[pose].jump for pose in coarse])

    gentle = rates()
    assert (gentle < 0.8).all()
    with _fades(monkeypatch, Fades(ends=_NONE, rim=_NONE, depth=_NONE, limb=_NONE)):
        cut_off = rates()
    assert (cut_off > 1.25 * gentle).all()
    assert np.median(cut_off) > 0.9


MOVES = ("walk", "run", "jump", "second jump")
"""Recordings at 120 Hz."""


@pytest.mark.parametrize("person", PEOPLE)
def test_accelerations_stay_within_twice_those_of_plain_skinning(
    data: Path, person: str, figure: Figure
) -> None:
    """Accelerations in every window of a tenth of a second, of all frames but the T-pose they begin with."""
    path = data / "human" / f"{PEOPLE[person]}.glb"
    for motion in MOVES:
        pair = performed(path, motion_file(data, motion))
        found = jerk(pair, 1, len(pair.muscled) - 1)
        figure(f"muscles: acceleration over plain, {person}, {motion}", found.in_windows.max(), 2.0, "")
        assert found.over_motion.max() < 1.25, motion
        assert found.in_windows.max() < 2.0, motion


def test_an_activation_that_pops_is_found_out(data: Path) -> None:
    path = data / "human" / f"{PEOPLE['average man']}.glb"
    pair = performed(path, motion_file(data, "second jump"))
    assert (jerk(pair, 20, 80).in_windows <= 2.0).all()
    popping = LiveFrames(pair.muscled.body, pair.muscled.motion)
    assert popping.activation is not None
    popping.activation = popping.activation.copy()
    popping.activation[50:] = 1.0
    assert (jerk(Pair(popping, pair.plain), 20, 80).in_windows > 2.0).mean() > 0.01
