"""Markers on muscles of another kind than the one that is identified: meshes on action lines, on real bodies.

A dog's front half and a man's leg from MRI. Their joints go through smooth motions, their muscles tense and
slacken; full activation raises each under the skin by `AMPLITUDE` where it raises it most, its volume is
held, and markers sit on those vertices of the meshes that lie next beneath the skin, with `NOISE` on every
coordinate.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from benchmarks.line_muscle_bodies import RangedBody
from ecorche.base.rotations import normalise
from ecorche.biomech.identification import Track
from ecorche.biomech.markers_on_muscles import Markers
from ecorche.body.line_specs import fields_of
from ecorche.muscles.around_path import PathFrames, carried_axis
from ecorche.muscles.line_muscle import LineMuscle
from ecorche.muscles.line_musculature import LineMusculature
from ecorche.muscles.lines.fields import Field
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

AMPLITUDE = 0.005
"""By how much full activation raises, at bind, the vertex next beneath the skin that it raises most [m]."""
NOISE = 0.001
"""Standard deviation of every coordinate of a marker [m]."""
FRAMES = 300
MARKERS = 425
BENEATH = 0.02
"""A vertex of a muscle further below the skin lies under something else [m]."""
MOST_BULGE = 2.0
"""A muscle that would have to double its height for the amplitude is too thin for it."""
VIA = 5
"""Nodes of the paths that are given to the identification."""
APART = 3.0
"""Between bodies that are captured together [m]: no marker of one reaches a muscle of the next."""
FLAT = 3
"""A muscle of so many action lines is flat, and as many thin spindles side by side."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One motion: what an identification is given, and what it is not.

    Attributes:
        tracks: Lengths, paths and tensions.
        markers: As measured. true: Without noise [m], (F, K, 3).
    """

    tracks: list[Track]
    markers: Markers
    true: Floats


class Subject:
    """A body whose mesh muscles bulge by the amplitude, and markers on it.

    Args:
        body: Real bones, muscles and skin. seed: Of markers and motions. count: How many markers.
    """

    def __init__(self, body: RangedBody, seed: int, count: int = MARKERS) -> None:
        self.body, self.seed = body, seed
        skeleton = body.character.skeleton
        fields = fields_of(body.rig, skeleton)
        free = [replace(muscle, room=None) for muscle in body.lines.musculature.muscles]
        skin = body.character.body().mesh.points.astype(np.float64)
        self.muscles, self.too_thin = _bulging(free, skeleton, fields, skin)
        self._able = _beneath(self.muscles, skin)
        self.vertices = _spread(self.muscles.meshes.bind, self._able, count, seed)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(muscle.name for muscle in self.muscles.muscles)

    def again(self, seed: int) -> Subject:
        """The same body with other markers, motions and noise."""
        other = copy.copy(self)
        other.seed = seed
        other.vertices = _spread(self.muscles.meshes.bind, self._able, len(self.vertices), seed)
        return other

    def scene(self, shares: dict[str, Floats], activation: Floats, seed: int) -> Scene:
        """A motion told by shares of joints' ranges, (F,) each, and activations (F, M)."""
        frames = len(activation)
        posed = [self.body.posed({k: float(v[f]) for k, v in shares.items()}) for f in range(frames)]
        skeleton = self.body.character.skeleton
        moved = np.stack([difference_from_bind(skeleton, local) for local in posed])
        paths = self.muscles.paths.posed(moved)
        true = np.stack(
            [
                self.muscles.posed(moved[f], paths.nodes[f], paths.elongation[f], activation[f]).points[
                    self.vertices
                ]
                for f in range(frames)
            ]
        )
        noise = np.random.default_rng(seed).normal(0.0, NOISE, true.shape)
        return Scene(self._tracks(moved, paths.nodes, activation), Markers(true + noise), true)

    def _tracks(self, moved: Floats, nodes: Floats, activation: Floats) -> list[Track]:
        turns = moved[..., :3, :3] + np.eye(3)
        starts = self.muscles.frames.starts
        found = []
        for m, muscle in enumerate(self.muscles.muscles):
            first = int(self.muscles.line_starts[m])
            lines = []
            for line in range(first, first + len(muscle.lines)):
                own = slice(int(starts[line]), int(starts[line + 1]))
                both = np.concatenate([self.muscles.frames.nodes[None, own], nodes[:, own]])
                lines.append(resampled(both, VIA))
            if len(lines) < FLAT:  # one spindle in the middle of them
                lines = [np.mean(lines, axis=0)]
            for k, path in enumerate(lines):
                then = path[0, 1] - path[0, 0]
                axis = _across(then, muscle.lines[k].outward)
                joint = muscle.lines[k].joints[0]
                polar = carried_axis(axis, turns[:, joint], then, path[1:, 1] - path[1:, 0])
                name = muscle.name if len(lines) == 1 else f"{muscle.name}/{k + 1}"
                radius = max(line.flesh for line in muscle.lines) / np.sqrt(len(lines))
                found.append(
                    Track(
                        name,
                        PathFrames(path[1:], polar, name=name),
                        activation[:, m] * muscle.max_force,
                        muscle.name,
                        1.0 / len(lines),
                        radius=radius,
                    )
                )
        return found


def resampled(nodes: Floats, count: int) -> Floats:
    """Paths (F, n, 3) as so many nodes evenly along each."""
    reached = np.concatenate(
        [np.zeros((len(nodes), 1)), np.cumsum(np.linalg.norm(np.diff(nodes, axis=1), axis=2), axis=1)], axis=1
    )
    share = np.linspace(0.0, 1.0, count)
    return np.stack(
        [
            np.stack([np.interp(share * at[-1], at, path[:, c]) for c in range(3)], axis=1)
            for at, path in zip(reached, nodes, strict=True)
        ]
    )


def side_by_side(scenes: Sequence[Scene], apart: float = APART) -> Scene:
    """Bodies beside one another in one capture; names of muscles begin with their body's number, from 1."""
    tracks, places, true = [], [], []
    for number, scene in enumerate(scenes):
        shift = np.array([number * apart, 0.0, 0.0])
        places.append(scene.markers.positions + shift)
        true.append(scene.true + shift)
        for track in scene.tracks:
            name = f"{number + 1}: {track.name}"
            path = PathFrames(track.path.nodes + shift, track.path.axes[:, 0], name=name)
            tracks.append(replace(track, name=name, muscle=f"{number + 1}: {track.muscle}", path=path))
    return Scene(tracks, Markers(np.concatenate(places, axis=1)), np.concatenate(true, axis=1))


def at_rest(subject: Subject, frames: int = 30) -> Scene:
    """At bind and slack, for a second: what an undeformed spindle is found from."""
    still = {what: np.zeros(frames) for what in subject.body.ranges}
    return subject.scene(still, np.zeros((frames, len(subject.names))), subject.seed + 5)


def training(subject: Subject, frames: int = FRAMES) -> Scene:
    """Joints sway, each at its own pace; muscles tense and slacken slowly."""
    rng, t = np.random.default_rng(subject.seed + 1), np.arange(frames) / 30.0
    shares = {
        what: 0.6 * np.sin(2.0 * np.pi * pace * t + phase)
        for what, pace, phase in zip(
            subject.body.ranges, (0.31, 0.47, 0.23), rng.uniform(0.0, 6.0, 3), strict=False
        )
    }
    count = len(subject.names)
    pace, phase = rng.uniform(0.15, 0.6, count), rng.uniform(0.0, 2.0 * np.pi, count)
    activation = 0.5 + 0.5 * np.sin(2.0 * np.pi * pace * t[:, None] + phase)
    return subject.scene(shares, activation, subject.seed + 2)


def held_out(subject: Subject, frames: int = FRAMES) -> Scene:
    """A gait that was not identified from: joints go together, muscles work in bursts."""
    rng, t = np.random.default_rng(subject.seed + 3), np.arange(frames) / 30.0
    shares = {
        what: 0.55 * np.sin(2.0 * np.pi * 0.9 * t + lag) * (0.75 + 0.25 * np.sin(0.7 * t))
        for what, lag in zip(subject.body.ranges, (0.0, 1.1, 2.3), strict=False)
    }
    phase = rng.uniform(0.0, 2.0 * np.pi, len(subject.names))
    wave = np.sin(2.0 * np.pi * 0.9 * t[:, None] + phase)
    return subject.scene(shares, np.maximum(wave, 0.0) * rng.uniform(0.6, 1.0, len(phase)), subject.seed + 4)


def _across(along: Floats, outward: Floats | None) -> Floats:
    """A direction across a path: where the designer's frame points, or any."""
    for wanted in (outward, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])):
        if wanted is not None and np.linalg.norm(np.cross(wanted, normalise(along))) > 0.3:
            return np.asarray(wanted, np.float64)
    return np.array([0.0, 0.0, 1.0])


def _bulging(
    muscles: Sequence[LineMuscle], skeleton: Skeleton, fields: Mapping[str, Field], skin: Floats
) -> tuple[LineMusculature, list[str]]:
    """The muscles with the bulge that raises each by the amplitude at bind.

    How far it rises is not quite straight in the bulge, as the volume is held; so it is measured anew.
    """
    still = np.zeros((1, skeleton.joint_count, 4, 4))
    bulge = np.full(len(muscles), 1.3)
    for _ in range(2):
        made = [replace(m, largest_bulge=float(b)) for m, b in zip(muscles, bulge, strict=True)]
        current = LineMusculature(skeleton, made, fields)
        path = current.paths.posed(still)
        tense, slack = (
            current.posed(still[0], path.nodes[0], path.elongation[0], np.full(len(made), a)).points
            for a in (1.0, 0.0)
        )
        rise = np.sum((tense - slack) * _normals(current), axis=1)
        owner = np.repeat(np.arange(len(made)), np.diff(current.meshes.starts))
        far, beneath = np.zeros(len(made)), _beneath(current, skin)
        np.maximum.at(far, owner[beneath], rise[beneath])
        hidden = np.bincount(owner[beneath], minlength=len(made)) == 0
        new = 1.0 + (bulge - 1.0) * AMPLITUDE / np.maximum(far, 1e-5)
        bulge = np.where(hidden, 1.3, np.clip(new, 1.01, 3.0))
    thin = [m.name for m, b in zip(muscles, bulge, strict=True) if b > MOST_BULGE]
    made = [replace(m, largest_bulge=float(b)) for m, b in zip(muscles, bulge, strict=True)]
    return LineMusculature(skeleton, [m for m in made if m.name not in thin], fields), thin


def _beneath(muscles: LineMusculature, skin: Floats) -> Ints:
    """Vertices of muscles that are next beneath some place of the skin."""
    away, nearest = cKDTree(muscles.meshes.bind).query(skin)
    return np.unique(np.asarray(nearest)[np.asarray(away) < BENEATH])


def _spread(points: Floats, able: Ints, count: int, seed: int) -> Ints:
    """So many of some points, each as far from those before it as can be."""
    chosen = [int(np.random.default_rng(seed).choice(able))]
    far = np.linalg.norm(points[able] - points[chosen[0]], axis=1)
    while len(chosen) < min(count, len(able)):
        chosen.append(int(able[np.argmax(far)]))
        far = np.minimum(far, np.linalg.norm(points[able] - points[chosen[-1]], axis=1))
    return np.array(chosen)


def _normals(muscles: LineMusculature) -> Floats:
    """Of all vertices at bind, unit, (V, 3)."""
    found = []
    for mesh in muscles.meshes.muscles:
        a, b, c = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
        faces = np.cross(b - a, c - a)
        sums = np.zeros_like(mesh.points)
        for corner in range(3):
            np.add.at(sums, mesh.triangles[:, corner], faces)
        inside = np.sum(sums * (mesh.points - mesh.points.mean(axis=0))) < 0.0
        found.append((-1.0 if inside else 1.0) * normalise(sums))
    return np.concatenate(found)
