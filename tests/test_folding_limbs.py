"""Limbs that bend: they keep their volume, and their halves stay on their sides of the fold."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from ecorche.base.threads import at_most_threads
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.fold_planes import FoldPlanes, limb_folds
from ecorche.skin.keep_volume import KeptVolume
from ecorche.skin.limb_segments import LimbSegment, limb_segments
from ecorche.skin.limb_thickness import thickness_round
from ecorche.skin.two_rings import two_rings
from ecorche.skin.weights import SkinWeights, weights_from_table
from ecorche.skin.widened_limbs import WidenedLimbs

Points = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

BONE, RADIUS, BLENDED = 0.3, 0.05, 0.04
ROUND = np.arange(48) * 2.0 * np.pi / 48
CIRCLE = np.stack([np.cos(ROUND), np.sin(ROUND), np.zeros(48)], axis=1)


class Arm(NamedTuple):
    """A closed tube of two bones along z with the elbow at the origin."""

    points: Points
    triangles: npt.NDArray[np.int64]
    skeleton: Skeleton
    weights: SkinWeights
    segments: list[LimbSegment]

    def bent(self, degrees: float) -> tuple[Floats, Points]:
        """``M − I`` of the joints, and the tube skinned linearly."""
        turn, angle = np.eye(4), np.radians(degrees)
        turn[0, 0] = turn[2, 2] = np.cos(angle)
        turn[0, 2], turn[2, 0] = np.sin(angle), -np.sin(angle)
        local = self.skeleton.bind_local.copy()
        local[1] = local[1] @ turn
        moved = difference_from_bind(self.skeleton, local)
        joints, table = self.weights.padded()
        blended = np.einsum("vi,vijk->vjk", table, moved[joints])
        at = np.concatenate([self.points, np.ones((len(self.points), 1))], axis=1)
        return moved, (self.points + np.einsum("vjk,vk->vj", blended, at)[:, :3]).astype(np.float32)

    def normals(self, points: Points) -> Points:
        mesh = trimesh.Trimesh(points, self.triangles, process=False)
        return np.asarray(mesh.vertex_normals, np.float32)

    def volume(self, points: Points) -> float:
        return float(trimesh.Trimesh(points.astype(np.float64), self.triangles, process=False).volume)


@pytest.fixture(scope="module")
def arm() -> Arm:
    around, along = 24, 61
    angle, z = np.arange(around) * 2.0 * np.pi / around, np.linspace(-BONE, BONE, along)
    ring = RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    tube = np.concatenate([np.tile(ring, (along, 1)), np.repeat(z, around)[:, None]], axis=1)
    points = np.concatenate([tube, [[0.0, 0.0, -BONE], [0.0, 0.0, BONE]]]).astype(np.float32)
    i, k = np.meshgrid(np.arange(along - 1), np.arange(around), indexing="ij")
    a, b = (i * around + k).ravel(), (i * around + (k + 1) % around).ravel()
    turn, after = np.arange(around), (np.arange(around) + 1) % around
    low, high, top = np.full(around, len(tube)), np.full(around, len(tube) + 1), (along - 1) * around
    triangles = np.concatenate(
        [
            np.stack([a, b, a + around], 1),
            np.stack([b, b + around, a + around], 1),
            np.stack([after, turn, low], 1),
            np.stack([top + turn, top + after, high], 1),
        ]
    )
    local = np.tile(np.eye(4), (3, 1, 1))
    local[:, 2, 3] = [-BONE, BONE, BONE]
    tails = np.array([[0.0, 0.0, BONE], [0.0, 0.0, BONE], [0.0, 0.0, 0.05]])
    skeleton = Skeleton(("upper", "lower", "end"), np.array([-1, 0, 1], np.int32), local, local, tails)
    behind = np.clip(0.5 + points[:, 2] / (2.0 * BLENDED), 0.0, 1.0)
    weights = weights_from_table(
        np.tile([0, 1], (len(points), 1)), np.stack([1.0 - behind, behind], 1), 3, "arm"
    )
    segments = limb_segments(points, triangles, np.arange(len(points)), weights, skeleton, [1])
    return Arm(points, triangles, skeleton, weights, segments)


def test_a_segment_is_the_tube_between_its_caps(arm: Arm) -> None:
    (segment,) = arm.segments
    kept, reach = KeptVolume(arm.points, arm.segments), 0.6 * BONE
    assert segment.joint == 1
    assert len(segment.borders) == 2
    z = arm.points[segment.vertices, 2]
    assert z.min() == pytest.approx(-reach, abs=0.0101)
    assert z.max() == pytest.approx(reach, abs=0.0101)
    # an even prism of 24 sides
    area = 12.0 * RADIUS**2 * np.sin(2.0 * np.pi / 24)
    assert kept.volumes[0] == pytest.approx(area * (z.max() - z.min()), rel=1e-6)


def test_a_tube_that_is_there_twice_has_the_same_caps(arm: Arm) -> None:
    (segment,) = arm.segments
    twice = np.concatenate([arm.triangles, arm.triangles])
    place = np.arange(len(arm.points))
    (again,) = limb_segments(arm.points, twice, place, arm.weights, arm.skeleton, [1])
    np.testing.assert_array_equal(again.triangles, segment.triangles)
    np.testing.assert_array_equal(again.profile, segment.profile)
    assert [len(edges) for edges in again.borders] == [len(edges) for edges in segment.borders]


@pytest.mark.parametrize("degrees", [40.0, 90.0, 130.0])
def test_a_bent_tube_keeps_its_volume(arm: Arm, degrees: float) -> None:
    kept, (_, bent) = KeptVolume(arm.points, arm.segments), arm.bent(degrees)
    whole, up = arm.volume(arm.points), arm.normals(bent)
    lost = whole - arm.volume(bent)
    assert lost > {40.0: 0.001, 90.0: 0.01, 130.0: 0.03}[degrees] * whole
    out = kept.correction(bent, up)
    assert abs(arm.volume(bent + out[:, None] * up) - whole) < 0.01 * lost
    # at its caps and beyond nothing moves, nor at bind, to the last bit
    assert not out[np.abs(arm.points[:, 2]) > 0.6 * BONE].any()
    assert not kept.correction(arm.points, arm.normals(arm.points)).any()
    with at_most_threads(1):
        np.testing.assert_array_equal(kept.correction(bent, up), out)


def test_halves_of_a_folded_tube_stay_on_their_sides(arm: Arm) -> None:
    planes = FoldPlanes(
        arm.points, limb_folds(arm.points, arm.segments, arm.weights, arm.skeleton), arm.skeleton
    )
    moved, bent = arm.bent(130.0)
    angle = np.radians(130.0)
    on = np.array([np.sin(angle), 0.0, np.cos(angle)])
    back = np.array([0.0, 0.0, -1.0])
    across, into = on - back, on + back
    across, into = across / np.linalg.norm(across), into / np.linalg.norm(into)
    side = np.sign(arm.points[:, 2])
    clear, crook = np.abs(arm.points[:, 2]) > BLENDED, bent @ into > 0.011
    own = clear & crook & (np.abs(arm.points[:, 2]) < 0.5 * BONE)

    def beyond(points: Points) -> Floats:
        return np.asarray(-side[own] * (points[own] @ across), np.float64)

    assert beyond(bent).max() > 0.01
    laid = planes.laid(bent, moved)
    assert beyond(bent + laid).max() < 1e-6
    # straight onto the plane, in the crook alone
    np.testing.assert_allclose(laid - np.outer(laid @ across, across), 0.0, atol=1e-8)
    assert not laid[bent @ into < 0.0].any()
    with at_most_threads(1):
        np.testing.assert_array_equal(planes.laid(bent, moved), laid)
    # the same in place, and for any points that fold as vertices do
    some = np.random.default_rng(5).integers(0, len(bent), 400)
    there = bent[some]
    np.testing.assert_array_equal(planes.going_with(some).laid(there, moved), laid[some])
    planes.going_with(some).lay(there, moved)
    np.testing.assert_array_equal(there, (bent + laid)[some])


def test_a_thick_half_and_a_thin_one_meet_where_their_skins_touch(arm: Arm) -> None:
    (even,) = limb_folds(arm.points, arm.segments, arm.weights, arm.skeleton)
    thick, thin = 0.06, 0.03
    told = [thickness_round(r * CIRCLE, np.zeros(3), axis, np.ones(len(CIRCLE)))
            for r, axis in ((thick, even.before), (thin, even.behind))]  # fmt: skip
    planes = FoldPlanes(arm.points, [replace(even, thickness=np.array(told))], arm.skeleton)
    moved, bent = arm.bent(130.0)
    angle = np.radians(130.0)
    on, back = np.array([np.sin(angle), 0.0, np.cos(angle)]), np.array([0.0, 0.0, -1.0])
    # the line that is as far from one bone as its half is thick, and from the other likewise
    touching = thick * on + thin * back
    assert np.linalg.norm(np.cross(touching, back)) / np.linalg.norm(np.cross(touching, on)) == (
        pytest.approx(thick / thin)
    )
    laid = planes.laid(bent, moved)
    there = np.linalg.norm(laid, axis=1) > 0.008
    assert there.sum() > 20
    clear = there & (np.abs(arm.points[:, 2]) > BLENDED)
    across = np.cross(touching, [0.0, 1.0, 0.0])
    np.testing.assert_allclose((bent + laid)[clear] @ across / np.linalg.norm(across), 0.0, atol=1e-6)


def test_skin_between_halves_is_held_and_only_there(arm: Arm) -> None:
    planes = FoldPlanes(
        arm.points, limb_folds(arm.points, arm.segments, arm.weights, arm.skeleton), arm.skeleton
    )
    moved, bent = arm.bent(130.0)
    laid = planes.laid(bent, moved)
    held = planes.held(bent + laid, moved)
    pressed = (np.linalg.norm(laid, axis=1) > 0.01) & (np.abs(arm.points[:, 2]) > BLENDED)
    assert pressed.sum() > 20
    assert held[pressed].min() > 0.9
    assert 0.0 <= held.min() <= held.max() <= 1.0
    angle = np.radians(130.0)
    on, back = np.array([np.sin(angle), 0.0, np.cos(angle)]), np.array([0.0, 0.0, -1.0])
    before = np.sign(arm.points[:, 2]) * ((bent + laid) @ (on - back)) / np.linalg.norm(on - back)
    assert not held[before > 0.033].any()
    assert not held[(bent + laid) @ (on + back) < 0.0].any()
    # a little change of the pose is a little change of that, and before halves meet there is none
    closer, further = arm.bent(130.01), arm.bent(49.0)
    near = planes.held(closer[1] + planes.laid(closer[1], closer[0]), closer[0])
    assert np.abs(near - held).max() < 0.02
    assert not planes.held(further[1], further[0]).any()
    assert not planes.held(arm.points, np.zeros_like(moved)).any()


def test_nothing_is_laid_before_halves_meet(arm: Arm) -> None:
    planes = FoldPlanes(
        arm.points, limb_folds(arm.points, arm.segments, arm.weights, arm.skeleton), arm.skeleton
    )
    for degrees in (0.0, 49.0):
        moved, bent = arm.bent(degrees)
        assert not planes.laid(bent, moved).any()


def test_limbs_widen_by_their_own_skin_as_they_would_by_the_whole(arm: Arm) -> None:
    planes = FoldPlanes(
        arm.points, limb_folds(arm.points, arm.segments, arm.weights, arm.skeleton), arm.skeleton
    )
    kept, rings = KeptVolume(arm.points, arm.segments), two_rings(arm.points, arm.triangles)
    moved, bent = arm.bent(120.0)
    up, rng = arm.normals(bent), np.random.default_rng(7)
    share = rng.random(len(bent)).astype(np.float32)
    start = (0.001 * rng.normal(size=len(bent))).astype(np.float32)
    wanted = start
    for _ in range(3):
        lifted = bent + wanted[rings.place][:, None] * up
        wider = kept.correction(lifted + planes.laid(lifted, moved), up)
        wanted = wanted + (share * wider)[rings.speakers()]
    limbs = WidenedLimbs(arm.points, arm.segments, planes, rings, share)
    np.testing.assert_array_equal(limbs.widened(start, bent, up, moved), wanted)
    assert (wanted != start).any()
