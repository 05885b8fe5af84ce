"""Which lines a vertex follows: regions on folded muscles, borders, branching tendons, real sheets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from ecorche.io.surfaces import read_mesh
from ecorche.muscles.lines.frames import LineFrames, line_frames
from ecorche.muscles.lines.line_mesh import LineMeshes
from ecorche.muscles.lines.mapping import map_to_line
from ecorche.muscles.lines.muscle_on_lines import muscle_on_lines
from ecorche.muscles.lines.regions import Regions, grow_regions
from ecorche.muscles.lines.surface_graph import SurfaceGraph
from line_muscles import mesh_volume, tube, u_shape

Floats = npt.NDArray[np.float64]


def regions_of(
    points: Floats, triangles: npt.NDArray[np.integer], lines: LineFrames, **options: object
) -> tuple[Regions, SurfaceGraph]:
    graph, own = SurfaceGraph(points, triangles), range(lines.line_count)
    mappings = [map_to_line(points, lines, line) for line in own]
    return grow_regions(graph, lines, own, mappings, **options), graph  # type: ignore[arg-type]


def connected(graph: SurfaceGraph, chosen: npt.NDArray[np.bool_]) -> bool:
    return len(np.unique(graph.components(chosen)[chosen])) == 1


@pytest.mark.parametrize("meeting", [1.0, 0.15])
def test_in_a_u_shaped_deltoid_no_vertex_follows_the_other_arm(meeting: float) -> None:
    """Arms 20 mm apart and 100 mm long, in one case converging to a tip where all three lines meet."""
    points, triangles, lines, round_u = u_shape(gap=0.02, meeting=meeting)
    front, back = round_u < 0.3, round_u > 0.7
    bow = (round_u > 0.42) & (round_u < 0.58)
    found, graph = regions_of(points, triangles, lines)
    followed = np.where(found.weight > 0.0, found.second, found.first)
    for line, arm, other in ((0, front, 2), (2, back, 0)):
        assert (found.first[arm] != other).all()
        assert (followed[arm] != other).all()
        assert (found.first[arm] == line).mean() > 0.9
    assert (found.first[bow] == 1).all()
    assert all(connected(graph, found.first == k) for k in range(3))


def test_by_distance_alone_a_narrow_u_is_mixed_up_and_regions_mend_it() -> None:
    """A trapezius folded so that its arms nearly touch, with the front line laid off its arm's middle."""
    points, triangles, lines, round_u = u_shape(gap=0.012, depth=0.08, thick=0.004)
    nodes = lines.nodes.copy()
    nodes[:7, 1] += 0.03
    lines = line_frames(lines.starts, nodes, lines.joints)
    front, back = round_u < 0.38, round_u > 0.62
    nearest = np.argmin([map_to_line(points, lines, k).distance for k in range(3)], axis=0)
    wrong = (front & (nearest == 2)) | (back & (nearest == 0))
    assert wrong.sum() > 50
    found, graph = regions_of(points, triangles, lines)
    assert not ((front & (found.first == 2)) | (back & (found.first == 0))).any()
    assert not ((front & (found.second == 2)) | (back & (found.second == 0))).any()
    assert all(connected(graph, found.first == k) for k in range(3))


def plate(
    width: float = 0.1, thick: float = 0.006, count: int = 3
) -> tuple[Floats, npt.NDArray[np.int32], LineFrames]:
    """A flat muscle 0.2 m long with evenly spaced lines, the outer ones inside its borders."""

    def place(u: float, v: float) -> npt.ArrayLike:
        a = 2.0 * np.pi * v
        return [width / 2.0 * np.cos(a), thick / 2.0 * np.sin(a), 0.2 * u]

    points, triangles = tube(place, around=48)
    nodes = []
    for x in np.linspace(-0.3, 0.3, count) * width:
        z = np.linspace(0.0, 0.2, 7)
        nodes.append(np.stack([0.0 * z + x, 0.0 * z, z], axis=1))
    lines = line_frames(
        7 * np.arange(count + 1), np.concatenate(nodes), [[0, 1]] * count, outward=[0.0, 1.0, 0.0]
    )
    return points, triangles, lines


def test_between_lines_weights_are_shares_of_the_way_and_on_the_border_one_line_is_followed() -> None:
    points, triangles, lines = plate()
    found, _ = regions_of(points, triangles, lines)
    at = np.array([-0.03, 0.0, 0.03])
    place = (1.0 - found.weight) * at[found.first] + found.weight * at[np.maximum(found.second, 0)]
    np.testing.assert_allclose(place, np.clip(points[:, 0], -0.03, 0.03), atol=1e-9)
    assert (found.weight[np.abs(points[:, 0]) > 0.03] == 0.0).all()


def test_text_002s_own_rules_agree_on_a_thin_plate() -> None:
    points, triangles, lines = plate(thick=0.0005)
    ours, _ = regions_of(points, triangles, lines)
    theirs, _ = regions_of(points, triangles, lines, border_angle=np.pi / 2.0)
    both = (ours.weight > 0.05) & (theirs.weight > 0.05)
    assert both.sum() > 200
    assert (ours.second == theirs.second)[both].all()
    np.testing.assert_allclose(ours.weight[both], theirs.weight[both], atol=0.02)
    assert (theirs.weight[np.abs(points[:, 0]) > 0.031] == 0.0).all()


def test_weights_do_not_jump_over_a_thick_muscle() -> None:
    """Neighbouring vertices follow lines alike; with text 002's threshold they do not."""
    jumps = []
    for angle in (None, np.pi / 2.0):
        points, triangles, lines = plate(thick=0.05)
        found, graph = regions_of(points, triangles, lines, border_angle=angle)
        share = np.zeros((len(points), 3))
        rows = np.arange(len(points))
        share[rows, found.first] = 1.0 - found.weight
        share[rows[found.second >= 0], found.second[found.second >= 0]] += found.weight[found.second >= 0]
        edges = graph.edges
        length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
        jumps.append((np.abs(share[edges[:, 0]] - share[edges[:, 1]]).max(axis=1) - length / 0.03).max())
    assert jumps[0] < 1e-6
    assert jumps[1] > 0.2


def test_branching_tendons_follow_their_own_line_only() -> None:
    points, triangles, lines = plate(count=2)
    exclusive = np.zeros(12, bool)
    exclusive[[4, 5, 10, 11]] = True
    found, _ = regions_of(points, triangles, lines, exclusive=exclusive)
    free, _ = regions_of(points, triangles, lines)
    belly = points[:, 2] < 0.2 * 4 / 6
    np.testing.assert_array_equal(found.weight[belly], free.weight[belly])
    tendon = points[:, 2] > 0.2 * 5 / 6 + 1e-9
    assert (free.weight[tendon] > 0.0).any()
    assert (found.weight[tendon] == 0.0).all()
    fading = ~belly & ~tendon & (free.weight > 0.1)
    assert ((found.weight[fading] <= free.weight[fading]) & (found.weight[fading] >= 0.0)).all()


def test_pieces_follow_the_lines_that_run_through_them() -> None:
    """Two bellies side by side, each a piece with its own line: vertices follow only that."""
    one, faces = tube(lambda u, v: [0.02 * np.cos(6.2832 * v), 0.02 * np.sin(6.2832 * v), 0.2 * u])
    points = np.concatenate([one, one + np.array([0.045, 0.0, 0.0])])
    z = np.linspace(0.0, 0.2, 5)
    nodes = np.concatenate([np.stack([0.0 * z + x, 0.0 * z, z], axis=1) for x in (-0.012, 0.035)])
    lines = line_frames([0, 5, 10], nodes, [[0, 1]] * 2)
    found, _ = regions_of(points, np.concatenate([faces, faces + len(one)]), lines)
    np.testing.assert_array_equal(found.first, np.repeat([0, 1], len(one)))
    assert (found.weight == 0.0).all()


def test_a_deltoid_moves_with_its_lines_without_tearing() -> None:
    """The front arm's line swings out by 20°: front vertices follow and back ones stay."""
    points, triangles, lines, round_u = u_shape(meeting=0.3)
    meshes = LineMeshes(lines, [muscle_on_lines("deltoid", points, triangles, lines, [0, 1, 2])])
    turn = Rotation.from_rotvec([0.0, np.deg2rad(20.0), 0.0])
    nodes = lines.nodes.copy()
    share = np.linspace(1.0, 0.0, 7)[:, None]
    nodes[:7] += share * (nodes[6] + turn.apply(nodes[:7] - nodes[6]) - nodes[:7])
    still = np.zeros((2, 4, 4))
    result = meshes.posed(nodes, lines.posed(nodes, still).frames, still)
    assert (meshes.posed(lines.nodes, lines.frames, still).points == meshes.bind).all()
    # only κ, which the whole muscle shares, reaches the back
    back = round_u > 0.85
    assert np.abs(result.points[back] - points[back]).max() < 1e-3
    assert np.linalg.norm(result.points - points, axis=1)[round_u < 0.15].max() > 0.01
    volumes = [mesh_volume(p, triangles) for p in (points, result.points)]
    assert abs(volumes[1] / volumes[0] - 1.0) < 1e-9


SHEETS = ("MUSCm.trapezius", "MUSCm.latissimus_dors_L", "MUSCm.deltoideus_scapularis_L")


@pytest.mark.parametrize("name", SHEETS)
def test_regions_of_real_sheets_are_connected(data: Path, name: str) -> None:
    path = data / "dog" / "muscles" / f"{name}.stl"
    mesh = read_mesh(path)
    points = mesh.points.astype(np.float64)
    # five straight lines side by side along the second axis of the sheet
    middle = points.mean(axis=0)
    axes = np.linalg.svd(points - middle, full_matrices=False)[2]
    flat = (points - middle) @ axes.T
    nodes = []
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        across = np.quantile(flat[:, 0], share)
        near = np.abs(flat[:, 0] - across) < 0.15 * np.ptp(flat[:, 0])
        low, high = np.quantile(flat[near, 1], [0.1, 0.9])
        along = np.linspace(low, high, 6)
        height = [np.median(flat[near][np.argsort(np.abs(flat[near, 1] - y))[:12], 2]) for y in along]
        nodes.append(middle + np.stack([0.0 * along + across, along, height], axis=1) @ axes)
    lines = line_frames(6 * np.arange(6), np.concatenate(nodes), [[0, 1]] * 5, outward=axes[2])
    found, graph = regions_of(points, mesh.triangles(), lines)
    for k in range(5):
        members = found.first == k
        assert members.sum() > 10
        for piece in np.unique(graph.piece[members]):
            assert connected(graph, members & (graph.piece == piece))
    meshes = LineMeshes(lines, [muscle_on_lines(name, points, mesh.triangles(), lines, range(5))])
    still = np.zeros((2, 4, 4))
    assert (meshes.posed(lines.nodes, lines.frames, still).points == meshes.bind).all()
