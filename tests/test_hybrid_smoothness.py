"""Found muscles crease no skin at the borders of their weights, and never pop.

Creases are changes of the dihedral angle from plain skinning to hybrid skinning, at edges that plain skinning
has not folded already (in the crook of an elbow it turns skin inside out, and nothing there tells a border),
between triangles that it has not crushed (in the hollow of a bent knee one has lost 94 % of its area: which
way it faces is chance).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.muscle_people import CAPTURED, PEOPLE
from benchmarks.skin_smoothness import FLOOR, WINDOW, Edges, edges_of
from scipy.ndimage import maximum_filter1d

import ecorche.skin.loft_weights
from conftest import Figure
from ecorche.base.mesh import coincident_groups
from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.live_frames import LiveFrames
from extracted_people import both_skins, extracted, hybrid_body

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SEEN = {"curl": 60, "squat": 60, "raise": 63}
"""Frames in which these motions have their muscles bulge most."""
FOLDED, SHARP = np.radians(45.0), np.radians(100.0)
"""Edges that plain skinning bends by more than the first, or to more than the second, are folds."""
CRUSHED = 0.1
"""Triangles that plain skinning makes smaller than this share of their area at bind face anywhere."""
STEEPEST = np.radians(30.0)
"""No more than one edge in a thousand is bent further by muscles."""

FLICK = np.radians(10.0)
"""In one frame, 1/120 s."""
MOST_OVER_PLAIN = 2.0
"""How much more than by plain skinning the skin may accelerate."""


@dataclass(frozen=True, eq=False)
class Skin:
    """A body's skin without its seams: its edges, the first vertex of each place, and the bind pose."""

    edges: Edges
    triangles: Ints
    first: Ints
    bind: Floats

    def crushed(self, points: Floats) -> npt.NDArray[np.bool_]:
        """Which edges (edges,) have a triangle beside them that is far smaller than at bind."""
        small = _areas(points[self.triangles]) < CRUSHED * _areas(self.bind[self.triangles])
        near = np.concatenate([self.triangles[small][:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
        count = len(self.bind)
        keys = [np.minimum(*e.T) * count + np.maximum(*e.T) for e in (self.edges.vertices, near)]
        return np.isin(keys[0], keys[1])


def _areas(corners: Floats) -> Floats:
    return np.asarray(
        np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    )


@cache
def _skin(path: Path) -> Skin:
    body = hybrid_body(path)
    assert body.lofts is not None
    mesh = body.character.meshes[body.lofts.skin].mesh
    place = coincident_groups(mesh.points)
    first = np.unique(place, return_index=True)[1]
    triangles = place[mesh.triangles()].astype(np.int64)
    return Skin(edges_of(triangles), triangles, first, mesh.points[first].astype(np.float64))


@dataclass(frozen=True)
class Crease:
    """Change of the dihedral angle [rad].

    Attributes:
        border: Root mean square where one end is moved by a muscle and the other by none.
        rim: Where muscles have less than half of the weight.
        inside: Where they have more.
        most: What one edge in a thousand exceeds.
        plain: What plain skinning itself does, from bind, where muscles have most of the weight.
        largest: Largest displacement [m].
    """

    border: float
    rim: float
    inside: float
    most: float
    plain: float
    largest: float


def _crease(body: Body, path: Path, pose: Pose) -> Crease:
    assert body.lofts is not None
    skin, number = _skin(path), body.lofts.skin
    hybrid, plain = (
        evaluate(b, pose).points[number][skin.first].astype(np.float64)
        for b in (body, body.without_muscles())
    )
    bent = skin.edges.bend(plain)
    change, by_plain = _apart(skin.edges.bend(hybrid), bent), _apart(bent, skin.edges.bend(skin.bind))
    weight = np.minimum(body.lofts.over.weight.sum(axis=0), 1.0)[skin.first][skin.edges.vertices]
    open_edge = (by_plain < FOLDED) & (np.abs(bent) < SHARP) & ~skin.crushed(plain)
    low, high = weight.min(axis=1), weight.max(axis=1)
    inside = open_edge & (low >= 0.5)
    return Crease(
        border=_rms(change[open_edge & (low == 0.0) & (high > 0.0)]),
        rim=_rms(change[open_edge & (high > 0.0) & (high < 0.5)]),
        inside=_rms(change[inside]),
        most=float(np.percentile(change[open_edge & (high > 0.0)], 99.9)),
        plain=_rms(by_plain[inside]),
        largest=float(np.linalg.norm(hybrid - plain, axis=1).max()),
    )


def _apart(one: Floats, other: Floats) -> Floats:
    """The angle between two angles."""
    return np.abs((one - other + np.pi) % (2.0 * np.pi) - np.pi)


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))


@cache
def _poses(path: Path, data: Path) -> dict[str, Pose]:
    """Poses with large bulges, and the bind pose with every muscle fully active."""
    character, rig = extracted(path)
    poses = {}
    for name, index in SEEN.items():
        frames = both_skins(path, data, name)[0]
        assert frames.activation is not None
        poses[name] = Pose(frames.motion.local[index], activation=frames.activation[index])
    full = np.ones(len(rig.spec.muscles.lofted))
    return poses | {"all active at bind": Pose(character.skeleton.bind_local, activation=full)}


@pytest.mark.parametrize("person", PEOPLE)
def test_borders_crease_the_skin_less_than_the_muscles_themselves(
    data: Path, person: str, figure: Figure
) -> None:
    path = data / "human" / f"{PEOPLE[person]}.glb"
    for name, pose in _poses(path, data).items():
        found = _crease(hybrid_body(path), path, pose)
        assert found.largest > 2e-3, name
        assert found.border < found.inside, (name, found)
        assert found.rim < 1.6 * found.inside, (name, found)
        assert found.most < STEEPEST, (name, found)
        if name in SEEN:
            assert found.inside < found.plain, (name, found)
        what = f"hybrid: bend at borders beside the muscles' own, {person}, {name}"
        figure(what, found.border / found.inside, 1.0, "")


@contextmanager
def _cut_off(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Weights that end abruptly."""
    with monkeypatch.context() as patch:
        for name, value in (("EVENED", 0), ("FADE", 1e-4), ("AWAY", 0.5), ("OVER", 0.4999)):
            patch.setattr(ecorche.skin.loft_weights, name, value)
        yield


def test_weights_that_are_cut_off_are_found_out(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = data / "human" / f"{PEOPLE['muscular man']}.glb"
    poses = _poses(path, data)
    character, rig = extracted(path)
    with _cut_off(monkeypatch):
        body = compile_body(character, rig=rig)
    creases = {name: _crease(body, path, pose) for name, pose in poses.items()}
    assert all(found.border > found.inside for found in creases.values()), creases
    assert any(found.most > STEEPEST for found in creases.values()), creases


def _accelerations(hybrid: LiveFrames, plain: LiveFrames) -> tuple[Floats, Floats, float]:
    """Of the vertices that muscles move, with and without them [m/s²], (frames, vertices); and the step [s].

    The T-pose that recordings begin with is left out, and so are moments in which a recording itself flicks.
    """
    lofts = hybrid.body.lofts
    assert lofts is not None
    moved = np.flatnonzero(lofts.over.weight.sum(axis=0) > 0.0)
    step = float(hybrid.times[-1] - hybrid.times[1]) / (len(hybrid) - 2)
    even = ~_flicking(hybrid.motion.local[1:, :, :3, :3])
    found = []
    for frames in (hybrid, plain):
        points = np.stack([frames[n].points[lofts.skin][moved] for n in range(1, len(frames))])
        speeding = np.linalg.norm(np.diff(points.astype(np.float64), 2, axis=0), axis=-1) / step**2
        found.append(np.where(even[1:-1, None], speeding, 0.0))
    return found[0], found[1], step


def _flicking(local: Floats) -> npt.NDArray[np.bool_]:
    """Frames beside one in which a joint turns by more than `FLICK` and back: nobody moves so, markers do."""

    def turned(a: Floats, b: Floats) -> Floats:
        trace = np.einsum("fjik,fjik->fj", a, b)
        return np.asarray(np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0)))

    there, back = turned(local[:-2], local[1:-1]), turned(local[1:-1], local[2:])
    flick = (np.minimum(there, back) > FLICK) & (turned(local[:-2], local[2:]) < 0.5 * FLICK)
    found = np.zeros(len(local), np.bool_)
    for frame in np.flatnonzero(flick.any(axis=1)) + 1:
        found[frame - 2 : frame + 3] = True
    assert found.sum() < 0.02 * len(found)
    return found


def _in_windows(with_muscles: Floats, without: Floats, step: float) -> Floats:
    width = 2 * round(0.5 * WINDOW / step) + 1
    most, plain_most = (maximum_filter1d(a, width, axis=0) for a in (with_muscles, without))
    return np.asarray(most / np.maximum(plain_most, FLOOR))


@pytest.mark.parametrize("person", PEOPLE)
def test_accelerations_stay_within_twice_those_of_plain_skinning(
    data: Path, person: str, figure: Figure
) -> None:
    """In every window of a tenth of a second, of recordings at 120 Hz."""
    path = data / "human" / f"{PEOPLE[person]}.glb"
    for motion in CAPTURED:
        with_muscles, without, step = _accelerations(*both_skins(path, data, motion))
        over_motion = with_muscles.max(axis=0) / np.maximum(without.max(axis=0), FLOOR)
        found = _in_windows(with_muscles, without, step)
        most = float(found.max())
        figure(f"hybrid: acceleration over plain, {person}, {motion}", most, MOST_OVER_PLAIN, "")
        assert over_motion.max() < 1.5, motion
        assert most < MOST_OVER_PLAIN, motion


def test_a_muscle_that_pops_is_found_out(data: Path) -> None:
    path = data / "human" / f"{PEOPLE['muscular man']}.glb"
    hybrid, plain = both_skins(path, data, "walk")
    assert hybrid.activation is not None
    half = len(hybrid) // 2
    popping = LiveFrames(hybrid.body, hybrid.motion, activation=hybrid.activation.copy())
    assert popping.activation is not None
    popping.activation[half:] = 1.0
    found = _in_windows(*_accelerations(popping, plain))
    assert found.max() > 3.0 * MOST_OVER_PLAIN
    assert (found > MOST_OVER_PLAIN).any(axis=0).mean() > 0.1  # on much of the skin that muscles move
