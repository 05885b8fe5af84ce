"""All muscles of the dog on centroid lines, bent, shortened, tensed: held, of one volume, not turned over."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from conftest import Figure
from ecorche.base.rotations import inverse_xyzw, multiply_xyzw, normalise, rotate_xyzw
from ecorche.io.surfaces import read_mesh
from ecorche.muscles.lines.contraction import isometric_profile
from ecorche.muscles.lines.cubic import node_turns
from ecorche.muscles.lines.frames import line_frames
from ecorche.muscles.lines.line_mesh import LineMeshes
from ecorche.muscles.lines.muscle_on_lines import muscle_on_lines

Floats = npt.NDArray[np.float64]
NODES = 9


def centroid_line(points: Floats) -> Floats:
    """Means of the vertices about nine heights of the longest axis [m], (9, 3)."""
    middle = points.mean(axis=0)
    height = (points - middle) @ np.linalg.svd(points - middle, full_matrices=False)[2][0]
    low, high = np.quantile(height, [0.02, 0.98])
    levels = np.linspace(low, high, NODES)
    near = np.exp(-0.5 * ((height - levels[:, None]) / (0.5 * (levels[1] - levels[0]))) ** 2)
    return np.asarray(near @ points / near.sum(axis=1, keepdims=True))


@cache
def dog(folder: Path) -> LineMeshes:
    """One line a muscle, from joint 0 to a joint of its own."""
    meshes = [read_mesh(path) for path in sorted((folder / "dog" / "muscles").glob("*.stl"))]
    count = len(meshes)
    nodes = np.concatenate([centroid_line(mesh.points.astype(np.float64)) for mesh in meshes])
    starts = NODES * np.arange(count + 1)
    joints = np.stack([np.zeros(count), 1 + np.arange(count)], axis=1)
    lines = line_frames(starts, nodes, joints, names=[mesh.name for mesh in meshes])
    sigma = isometric_profile(lines.starts)
    bound = [
        muscle_on_lines(mesh.name, mesh.points, mesh.triangles(), lines, [k], isometric=sigma)
        for k, mesh in enumerate(meshes)
    ]
    return LineMeshes(lines, bound)


def bent(meshes: LineMeshes, degrees: float, shorter: float, seed: int) -> tuple[Floats, Floats]:
    """Every muscle bent about its middle and shortened; the insertion goes rigidly with its joint."""
    lines, random = meshes.lines, np.random.default_rng(seed)
    moved, nodes = np.zeros((1 + lines.line_count, 4, 4)), lines.nodes.copy()
    share = np.clip((np.linspace(0.0, 1.0, NODES) - 0.3) / 0.4, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    for line in range(lines.line_count):
        own = slice(NODES * line, NODES * (line + 1))
        at, middle = lines.nodes[own], lines.nodes[own][NODES // 2]
        along = normalise(at[-1] - at[0])
        axis = normalise(np.cross(along, random.normal(size=3)))
        turn = Rotation.from_rotvec(np.deg2rad(degrees) * axis)
        shift = -(1.0 - shorter) * np.linalg.norm(at[-1] - at[0]) * along
        nodes[own] = middle + Rotation.from_rotvec(share[:, None] * turn.as_rotvec()).apply(at - middle)
        # shortened evenly: a third off the bend alone would crush it
        nodes[own] += np.linspace(0.0, 1.0, NODES)[:, None] * turn.apply(shift)
        moved[1 + line, :3, :3] = turn.as_matrix() - np.eye(3)
        moved[1 + line, :3, 3] = middle - turn.apply(middle) + turn.apply(shift)
    return nodes, moved


def turned_over(meshes: LineMeshes, frames: Floats, points: Floats) -> tuple[int, int]:
    """Triangles turned by more than 90° against the frame they are mapped to, and all triangles."""
    lines, turned, count = meshes.lines, 0, 0
    turns = np.empty((2, len(lines.nodes), 4))
    node_turns(lines.starts, lines.frames, turns[0])
    node_turns(lines.starts, frames, turns[1])
    for number, muscle in enumerate(meshes.muscles):
        now = points[meshes.starts[number] : meshes.starts[number + 1]]
        line = muscle.lines[0]
        own = turns[:, lines.starts[line] : lines.starts[line + 1]]
        # the mapped frame of a triangle: the line's at its place, blended between the two nodes
        n, t = muscle.node[:, 0] - lines.starts[line], muscle.t[:, :1]
        quaternion = normalise((1.0 - t) * own[:, n] + t * own[:, n + 1])
        since = multiply_xyzw(quaternion[1], inverse_xyzw(quaternion[0]))[muscle.triangles]
        corners = muscle.points[muscle.triangles], now[muscle.triangles]
        normals = [np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]) for at in corners]
        carried = rotate_xyzw(since, normals[0][:, None])
        turned += int((np.sum(carried * normals[1][:, None], axis=2) < 0.0).all(axis=1).sum())
        count += len(muscle.triangles)
    return turned, count


def test_all_muscles_are_bound_closed_and_exact_at_bind(data: Path) -> None:
    meshes = dog(data)
    assert len(meshes.muscles) == 147
    assert all(muscle.report.notes == () for muscle in meshes.muscles)
    still = np.zeros((148, 4, 4))
    posed = meshes.lines.posed(meshes.lines.nodes, still)
    assert (meshes.posed(meshes.lines.nodes, posed.frames, still).points == meshes.bind).all()


@pytest.mark.parametrize(("degrees", "shorter"), [(30.0, 1.0), (30.0, 0.75), (45.0, 1.2)])
def test_bent_and_shortened_they_keep_volume_and_attachments_and_do_not_turn_over(
    data: Path, figure: Figure, degrees: float, shorter: float
) -> None:
    meshes = dog(data)
    nodes, moved = bent(meshes, degrees, shorter, seed=0)
    frames = meshes.lines.posed(nodes, moved).frames
    result = meshes.posed(nodes, frames, moved, np.linspace(0.0, 1.0, 147))
    assert np.isfinite(result.points).all()
    assert result.held.all()
    off, drift = 0.0, 0.0
    for number, muscle in enumerate(meshes.muscles):
        now = result.points[meshes.starts[number] : meshes.starts[number + 1]]
        for side in (0, 1):
            held = muscle.hold[:, side] >= 1.0 - 1e-12
            matrix = moved[muscle.held[held, side]]
            carried = muscle.points[held] + matrix[:, :3, 3]
            carried += (matrix[:, :3, :3] @ muscle.points[held][..., None])[..., 0]
            off = max(off, float(np.abs(now[held] - carried).max(initial=0.0)))
        a, b, c = np.moveaxis(now[muscle.triangles] - now[0], 1, 0)
        volume = np.sum(a * np.cross(b, c)) / 6.0
        a, b, c = np.moveaxis(muscle.points[muscle.triangles] - muscle.points[0], 1, 0)
        drift = max(drift, abs(volume / (np.sum(a * np.cross(b, c)) / 6.0) - 1.0))
    turned, count = turned_over(meshes, frames, result.points)
    what = f"dog's muscles on one line each, bent by {degrees:g}°, length × {shorter:g}"
    figure(f"{what}: triangles turned over", 100.0 * turned / count, 0.1, "%")
    figure(f"{what}: volume", 100.0 * drift, 1.0, "%")
    assert off < 1e-3
    assert drift < 1e-6
    assert turned <= 0.001 * count
