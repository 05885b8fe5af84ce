"""A skin laid over surfaces: closed, even, as far out as its fat, and moved by what lies beneath."""

from __future__ import annotations

import igl
import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from ecorche.base.lens_grid import Lens
from ecorche.errors import MeshError
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin import settle_skin
from ecorche.skin.extract_skin import SkinSurface, extract_skin
from ecorche.skin.layers_beneath import LayersBeneath
from ecorche.skin.weights import weights_from_table
from ecorche.skin.weights_beneath import weights_beneath

Floats = npt.NDArray[np.float64]
EDGE = 0.012
FAT = 0.006


def _beneath(*parts: trimesh.Trimesh, fat: float = FAT, span: float = 0.015) -> LayersBeneath:
    whole = trimesh.util.concatenate(parts)
    number = np.repeat(np.arange(len(parts)), [len(part.faces) for part in parts])
    return LayersBeneath(
        np.array(whole.vertices),
        np.array(whole.faces),
        number,
        np.full(len(parts), fat),
        np.full(len(parts), span),
    )


def _rod(start: Floats, end: Floats, radius: float) -> trimesh.Trimesh:
    return trimesh.creation.cylinder(radius, segment=np.stack([start, end]), sections=32).subdivide_to_size(
        0.03
    )


def _surface(skin: SkinSurface) -> trimesh.Trimesh:
    return trimesh.Trimesh(skin.points, skin.triangles, process=False)


@pytest.fixture(scope="module")
def forked() -> LayersBeneath:
    """A trunk and two arms that hang at its sides, with gaps below the armpits."""
    trunk = _rod(np.array([0.0, -0.2, 0.0]), np.array([0.0, 0.2, 0.0]), 0.06)
    arms = [
        _rod(np.array([s * 0.03, 0.14, 0.0]), np.array([s * 0.26, -0.10, 0.0]), 0.03) for s in (1.0, -1.0)
    ]
    return _beneath(trunk, *arms)


@pytest.fixture(scope="module")
def skin(forked: LayersBeneath) -> SkinSurface:
    return extract_skin(forked, EDGE, symmetric=True)


def test_over_a_ball_it_is_a_ball_with_its_fat() -> None:
    ball = trimesh.creation.icosphere(4, 0.08)
    skin = extract_skin(_beneath(ball), EDGE)
    radius = np.linalg.norm(skin.points, axis=1)
    assert radius == pytest.approx(0.08 + FAT, abs=5e-4)
    assert _surface(skin).volume == pytest.approx(4.0 / 3.0 * np.pi * (0.08 + FAT) ** 3, rel=0.02)


def test_it_is_one_closed_surface_turned_outwards(skin: SkinSurface) -> None:
    surface = _surface(skin)
    assert surface.is_watertight
    assert surface.is_winding_consistent
    assert surface.body_count == 1
    assert surface.euler_number == 2
    assert surface.volume > 0.0
    for side, wound in ((-1e-3, 1.0), (1e-3, 0.0)):
        found = igl.fast_winding_number(
            skin.points, skin.triangles, skin.points + side * surface.vertex_normals
        )
        assert np.abs(found - wound).max() < 0.5


def test_its_edges_are_even(skin: SkinSurface) -> None:
    length = np.linalg.norm(skin.points[skin.quads] - skin.points[np.roll(skin.quads, -1, axis=1)], axis=2)
    low, middle, high = np.percentile(length, (2.5, 50.0, 97.5))
    assert middle == pytest.approx(EDGE, rel=0.15)
    assert low > 0.5 * middle
    assert high < 1.6 * middle


def test_nothing_beneath_comes_near_the_skin(skin: SkinSurface, forked: LayersBeneath) -> None:
    hidden = igl.fast_winding_number(skin.points, skin.triangles, forked.points)
    assert (hidden > 0.5).all()
    depth = forked.outside(skin.points) + FAT
    assert depth.min() > 0.6 * FAT - 1e-4
    x, y, _ = skin.points.T
    flank = (np.abs(x) < 0.075) & (y < -0.08) & (y > -0.17)  # far from the armpits and from sharp rims
    assert depth[flank] == pytest.approx(FAT, abs=5e-4)


def test_more_rays_go_where_the_skin_is_hollow(
    forked: LayersBeneath, skin: SkinSurface, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Floats] = []
    rays = settle_skin._rays

    def counted(beneath: LayersBeneath, starts: Floats, outwards: Floats, longest: Floats) -> Floats:
        sent.append(starts)
        return rays(beneath, starts, outwards, longest)

    monkeypatch.setattr(settle_skin, "_rays", counted)
    again = extract_skin(forked, EDGE, symmetric=True)
    assert np.array_equal(again.points, skin.points)

    def per_vertex(middle: tuple[float, float, float]) -> float:
        near = [np.linalg.norm(places - np.array(middle), axis=1) < 0.04 for places in (*sent, skin.points)]
        return sum(int(there.sum()) for there in near[:-1]) / int(near[-1].sum())

    armpit, flank = per_vertex((0.085, 0.03, 0.0)), per_vertex((0.066, -0.15, 0.0))
    assert flank == pytest.approx(3.0, abs=0.5)  # a vertex sends one in each of three rounds
    assert armpit > 2.0 * flank


def test_mirrored_halves_are_equal_bit_for_bit(skin: SkinSurface) -> None:
    assert np.array_equal(skin.points[skin.mirror] * (-1.0, 1.0, 1.0), skin.points)
    assert np.array_equal(skin.mirror[skin.mirror], np.arange(len(skin.points)))


def test_a_gap_narrower_than_the_ball_is_bridged_and_a_wider_one_is_not() -> None:
    left, right = (_rod(np.array([x, -0.1, 0.0]), np.array([x, 0.1, 0.0]), 0.03) for x in (-0.04, 0.04))
    bridged = extract_skin(_beneath(left, right, fat=0.0, span=0.03), EDGE)
    parted = extract_skin(_beneath(left, right, fat=0.0, span=0.002), EDGE)
    between = np.array([[0.0, 0.0, 0.0]])
    assert igl.fast_winding_number(bridged.points, bridged.triangles, between)[0] > 0.5
    assert igl.fast_winding_number(parted.points, parted.triangles, between)[0] < 0.5


def test_a_hollow_body_is_not_entered() -> None:
    outer, inner = trimesh.creation.icosphere(3, 0.09), trimesh.creation.icosphere(3, 0.08)
    inner.invert()
    skin = extract_skin(_beneath(outer, inner, fat=0.001, span=0.0), EDGE)
    assert _surface(skin).body_count == 1
    assert np.linalg.norm(skin.points, axis=1).min() > 0.089


def test_fat_differs_by_part() -> None:
    ends = [trimesh.creation.icosphere(3, 0.05) for _ in range(2)]
    ends[1].apply_translation((0.3, 0.0, 0.0))
    bar = _rod(np.zeros(3), np.array([0.3, 0.0, 0.0]), 0.02)
    plain = _beneath(*ends, bar)
    skin = extract_skin(
        LayersBeneath(
            plain.points, plain.triangles, plain.parts, np.array([0.002, 0.012, 0.002]), plain.span
        ),
        EDGE,
    )
    ways = skin.points - np.where(skin.points[:, :1] < 0.15, (0.0, 0.0, 0.0), (0.3, 0.0, 0.0))
    ends_alone = (skin.points[:, 0] < -0.02) | (skin.points[:, 0] > 0.32)
    found = np.linalg.norm(ways, axis=1)[ends_alone] - 0.05
    wanted = np.where(skin.points[ends_alone, 0] < 0.15, 0.002, 0.012)
    assert found == pytest.approx(wanted, abs=7e-4)


def test_a_lens_shortens_edges_where_it_is(forked: LayersBeneath) -> None:
    skin = extract_skin(forked, EDGE, lenses=[Lens((0.0, 0.2, 0.0), 0.08, 0.3, 2.0)])
    length = np.linalg.norm(skin.points[skin.quads[:, 0]] - skin.points[skin.quads[:, 1]], axis=1)
    height = skin.points[skin.quads[:, 0], 1]
    assert np.median(length[height > 0.17]) == pytest.approx(0.5 * EDGE, rel=0.25)
    assert np.median(length[height < -0.15]) == pytest.approx(EDGE, rel=0.15)


def test_weights_come_from_what_lies_beneath(skin: SkinSurface, forked: LayersBeneath) -> None:
    places = np.tile(np.eye(4), (3, 1, 1))
    places[1:, :3, 3] = (0.06, 0.12, 0.0), (-0.06, 0.12, 0.0)
    names = ("sacroiliac", "l_shoulder", "r_shoulder")
    skeleton = Skeleton(names, np.array([-1, 0, 0], np.int32), places, places.copy(), np.full((3, 3), np.nan))
    owner = np.zeros(len(forked.points), np.int64)
    for part, joint in ((1, 1), (2, 2)):
        owner[forked.triangles[forked.parts == part]] = joint
    carriers = weights_from_table(owner[:, None], np.ones((len(owner), 1)), 3, "parts")
    found = weights_beneath(skin, skeleton, forked.points, carriers, influences=2)
    assert np.diff(found.starts).max() <= 2
    joints, weights = found.padded()
    table = np.zeros((len(joints), 3))
    np.add.at(table, (np.arange(len(joints))[:, None], joints), weights)
    assert table.sum(axis=1) == pytest.approx(1.0, abs=1e-6)
    assert np.array_equal(table[skin.mirror][:, [0, 2, 1]], table)
    x, y, _ = skin.points.T
    assert table[x > 0.2, 1].min() > 0.99
    assert (
        table[(np.abs(x) < 0.07) & (y < -0.05), 0].min() > 0.99
    )  # the arm beside the flank does not reach it


def test_nothing_to_lay_a_skin_over_is_refused() -> None:
    with pytest.raises(MeshError, match="nothing to lay a skin over"):
        LayersBeneath(np.zeros((0, 3)), np.zeros((0, 3), int), np.zeros(0, int), np.zeros(0), np.zeros(0))
    ball = trimesh.creation.icosphere(1, 0.1)
    with pytest.raises(MeshError, match="fat of a part"):
        _beneath(ball, fat=-0.01)
    with pytest.raises(MeshError, match="nodes"):
        extract_skin(_beneath(trimesh.creation.icosphere(1, 100.0)), 0.01)
