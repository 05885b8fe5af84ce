"""How a take's skin departs from linear skinning, as a few morph targets in bind space.

A player moves a vertex by ``B (v + Σ weight · target)`` with its blended matrix B. So for a frame
that shows the vertex at p, what the targets have to add is ``B⁻¹ (p − B v)``. The best few shapes
for all frames come from `ecorche.skin.residual`.

Weights stay within 0 and 1, because Blender and several engines clamp them there: a shape that is
needed both ways rests in the middle of its way, and one more target, always on, takes that back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.body.character import Character
from ecorche.body.frames import Frame, Frames
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, WriteError
from ecorche.io.playback import JointKeys, LinearPlayer, joint_keys, linear_inverse, transformed
from ecorche.skin.residual import Basis, BasisBuilder

Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]

ENOUGH = 1e-5
"""Largest error [m] that counts as none: no further targets are spent on it."""

NORMALS_WORTH = 0.01
"""Root mean square turn of normals [rad] above which targets carry normals too."""


@dataclass(frozen=True, eq=False)
class Departure:
    """Morph targets of one mesh and what they reach.

    Attributes:
        targets: Bind-space offsets [m], shape (targets, vertices, 3), float32.
        normals: Offsets of normals, the same shape; None where not worth their bytes.
        weights: Weight of each target over time, shape (frames, targets), float32, 0 to 1.
        resting: Weight of each target that together change nothing, shape (targets,).
        linear_worst: Largest error [m] without any target.
        worst, rms: Largest and root mean square error [m] with them, over all frames.
    """

    targets: Floats32
    normals: Floats32 | None
    weights: Floats32
    resting: Floats32
    linear_worst: float
    worst: float
    rms: float


def departures(
    character: Character,
    keys: JointKeys | None,
    morph_weights: list[Floats],
    frames: Frames,
    most: int,
) -> list[Departure]:
    """The departure of every mesh from linear skinning, with at most ``most`` targets each.

    ``morph_weights`` holds the weights of each mesh's own blend shapes, (frames, morphs) each.
    Frames are read once, and once more where the skin does depart.
    """
    tracks = [_Track(character, i, morph_weights[i], most) for i in range(len(character.meshes))]
    rest = character.skeleton.rest_local
    for index in range(len(frames)):
        frame = frames[index]
        for track in tracks:
            track.look(frame, index, rest if keys is None else keys.local(index))
    fits = [track.fit(len(frames)) for track in tracks]
    if any(fit is not None for fit in fits):
        for index in range(len(frames)):
            frame = frames[index]
            for fit in fits:
                if fit is not None:
                    fit.look(frame, index, rest if keys is None else keys.local(index))
    return [
        track.plain(len(frames)) if fit is None else fit.result()
        for track, fit in zip(tracks, fits, strict=True)
    ]


def shape_basis(take: Take, most: int = 32) -> dict[str, Departure]:
    """Blend shapes that, with linear skinning, show a take's frames: of every mesh, by its name.

    Args:
        take: A character in motion, with frames.
        most: At most so many shapes a mesh.
    """
    motion, frames = take.motion, take.frames
    if motion is None or frames is None or len(frames) != motion.frame_count:
        raise EcorcheError(
            "there is no frame of skin for every frame of its joints",
            where=take.character.name,
            remedy="Perform a motion first",
        )
    own = [
        np.stack(
            [
                motion.morph_weights.get(f"{mesh.name}/{m.name}", np.full(len(frames), m.weight))
                for m in mesh.mesh.morphs
            ],
            axis=1,
        )
        if mesh.mesh.morphs
        else np.zeros((len(frames), 0))
        for mesh in take.character.meshes
    ]
    found = departures(take.character, joint_keys(motion), own, frames, most)
    return {mesh.name: one for mesh, one in zip(take.character.meshes, found, strict=True)}


class _Track:
    """First look at the frames of one mesh: how far they are from linear, and in which shapes."""

    def __init__(self, character: Character, number: int, morph_weights: Floats, most: int) -> None:
        mesh = character.meshes[number]
        self.player = LinearPlayer(character.skeleton, mesh)
        self.number, self.most, self.morph_weights = number, most, morph_weights
        self.name, self.size = mesh.name, mesh.mesh.vertex_count
        self.worst, self.squares, self.frames = 0.0, 0.0, 0
        self.builder: BasisBuilder | None = None

    def residual(self, frame: Frame, index: int, local: Floats) -> tuple[Floats | None, Floats]:
        """Blended matrices, and the difference of the frame from linear skinning [m]."""
        points = frame.points[self.number]
        if len(points) != self.size:
            raise WriteError(
                f"frame {index} has {len(points)} points for the {self.size} vertices of mesh {self.name!r}",
                remedy="Bake this character anew",
            )
        matrices = self.player.matrices(local)
        played = transformed(matrices, self.player.bind_points(self.morph_weights[index]))
        return matrices, points.astype(np.float64) - played

    def look(self, frame: Frame, index: int, local: Floats) -> None:
        matrices, difference = self.residual(frame, index, local)
        squared = np.einsum("vi,vi->v", difference, difference)
        worst = float(np.sqrt(squared.max(initial=0.0)))
        self.worst = max(self.worst, worst)
        self.squares += float(squared.sum())
        self.frames += 1
        if worst > ENOUGH and self.most > 0:
            if self.builder is None:
                # one target is kept back to hold the others' resting places
                self.builder = BasisBuilder(3 * self.size, max(self.most - 1, 1))
            self.builder.add(bind_space(matrices, difference).reshape(-1))

    def fit(self, frames: int) -> _Fit | None:
        return None if self.builder is None else _Fit(self, self.builder.basis(), frames)

    def plain(self, frames: int) -> Departure:
        rms = float(np.sqrt(self.squares / max(self.frames * self.size, 1)))
        none = np.zeros((0, self.size, 3), np.float32)
        still = np.zeros((frames, 0), np.float32)
        return Departure(none, None, still, np.zeros(0, np.float32), self.worst, self.worst, rms)


class _Fit:
    """Second look: the weight of every shape in every frame, and the error each further shape leaves."""

    def __init__(self, track: _Track, basis: Basis, frames: int) -> None:
        self.track, count = track, len(basis.strengths)
        # targets of the size they usually have, so that weights are of order one
        self.sizes = basis.strengths / np.sqrt(frames)
        self.directions = basis.directions
        self.targets = (basis.directions * self.sizes[:, None]).astype(np.float32).reshape(count, -1, 3)
        self.weights = np.zeros((frames, count), np.float32)
        self.worst, self.squares = np.zeros(count + 1), np.zeros(count + 1)
        self.normals = _NormalFit(count, track.size)

    def look(self, frame: Frame, index: int, local: Floats) -> None:
        matrices, difference = self.track.residual(frame, index, local)
        offsets = bind_space(matrices, difference)
        products = np.einsum("kc,c->k", self.directions, offsets.reshape(-1), dtype=np.float64)
        self.weights[index] = products / self.sizes
        linear = np.tile(np.eye(3), (self.track.size, 1, 1)) if matrices is None else matrices[:, :, :3]
        _leftover(difference, linear, self.targets, self.weights[index], self.worst, self.squares)
        normals, bind = frame.normals[self.track.number], self.track.player.mesh.normals
        if normals is not None and bind is not None and normals.shape == bind.shape == offsets.shape:
            self.normals.look(matrices, normals, bind, self.weights[index])

    def result(self) -> Departure:
        reached = np.flatnonzero(self.worst <= ENOUGH)
        count = int(reached[0]) if len(reached) else len(self.worst) - 1
        samples = max(len(self.weights) * self.track.size, 1)
        lowest, spread = _ranges(self.weights[:, :count])
        takes_back = bool((lowest < 0.0).any()) and self.track.most > 1
        if not takes_back:
            lowest = np.zeros_like(lowest)
        weights = (self.weights[:, :count] - lowest) / spread
        resting = -lowest / spread
        if takes_back:
            weights = np.concatenate([np.ones((len(weights), 1)), weights], axis=1)
            resting = np.concatenate([[1.0], resting])
        normals = self.normals.result(count)
        return Departure(
            targets=_spread(self.targets[:count], lowest, spread, takes_back),
            normals=None if normals is None else _spread(normals, lowest, spread, takes_back),
            weights=weights.astype(np.float32),
            resting=resting.astype(np.float32),
            linear_worst=float(self.worst[0]),
            worst=float(self.worst[count]),
            rms=float(np.sqrt(self.squares[count] / samples)),
        )


def _ranges(weights: Floats32) -> tuple[Floats, Floats]:
    """The least weight of each target, zero at most, and how far it goes from there."""
    exact = weights.astype(np.float64)
    lowest = np.minimum(exact.min(axis=0), 0.0)
    spread = np.maximum(exact.max(axis=0), 0.0) - lowest
    return lowest, np.where(spread > 0.0, spread, 1.0)


def _spread(shapes: Floats32, lowest: Floats, spread: Floats, takes_back: bool) -> Floats32:
    """Shapes (targets, vertices, 3) for weights from 0 to 1, after the one that takes their rest back."""
    wide = shapes * spread[:, None, None]
    if takes_back:
        back = np.einsum("k,kvi->vi", lowest, shapes.astype(np.float64))
        wide = np.concatenate([back[None], wide])
    return wide.astype(np.float32)


class _NormalFit:
    """Least squares for the normals that go with the targets' weights."""

    def __init__(self, count: int, size: int) -> None:
        self.weights_squared = np.zeros((count, count))
        self.products = np.zeros((count, 3 * size))
        self.squares, self.samples = 0.0, 0

    def look(self, matrices: Floats | None, normals: Floats32, bind: Floats32, weights: Floats32) -> None:
        turned = normals.astype(np.float64)
        if matrices is not None:
            turned = np.einsum("vij,vj->vi", linear_inverse(matrices), turned)
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        change = np.where(length > 1e-9, turned / np.where(length > 1e-9, length, 1.0), bind) - bind
        exact = weights.astype(np.float64)
        self.weights_squared += np.multiply.outer(exact, exact)
        self.products += np.multiply.outer(exact, change.reshape(-1))
        self.squares += float(np.sum(change * change))
        self.samples += len(change)

    def result(self, count: int) -> Floats32 | None:
        """Normal offsets (targets, vertices, 3), where they would set the shading right noticeably."""
        if count == 0 or self.samples == 0 or np.sqrt(self.squares / self.samples) < NORMALS_WORTH:
            return None
        gram = self.weights_squared[:count, :count]
        gram = gram + np.eye(count) * 1e-9 * np.trace(gram)
        solved = np.einsum("ij,jc->ic", np.linalg.inv(gram), self.products[:count])
        if np.sum(solved * self.products[:count]) < 0.1 * self.squares:
            return None
        offsets: Floats32 = solved.reshape(count, -1, 3).astype(np.float32)
        return offsets


def bind_space(matrices: Floats | None, difference: Floats) -> Floats32:
    """World offsets (vertices, 3) taken back through each vertex's blended matrix."""
    if matrices is not None:
        difference = np.einsum("vij,vj->vi", linear_inverse(matrices), difference)
    return difference.astype(np.float32)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _leftover(
    difference: Floats,
    linear: Floats,
    targets: Floats32,
    weights: Floats32,
    worst: Floats,
    squares: Floats,
) -> None:
    """Largest and summed squared error after none, one, two … targets, added to the last two."""
    count = len(targets)
    for v in range(len(difference)):
        x, y, z = difference[v]
        for k in range(count + 1):
            if k > 0:
                a = np.float64(weights[k - 1]) * targets[k - 1, v, 0]
                b = np.float64(weights[k - 1]) * targets[k - 1, v, 1]
                c = np.float64(weights[k - 1]) * targets[k - 1, v, 2]
                x -= linear[v, 0, 0] * a + linear[v, 0, 1] * b + linear[v, 0, 2] * c
                y -= linear[v, 1, 0] * a + linear[v, 1, 1] * b + linear[v, 1, 2] * c
                z -= linear[v, 2, 0] * a + linear[v, 2, 1] * b + linear[v, 2, 2] * c
            squared = x * x + y * y + z * z
            squares[k] += squared
            worst[k] = max(worst[k], np.sqrt(squared))
