"""Found muscles are drawn within the skin of everybody in the data: in one piece or many, fine or coarse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest

from characters import tube
from conftest import Figure
from ecorche.base.signed_pieces import SignedPieces
from ecorche.body.character import Character
from ecorche.muscles.extraction.build import extract_muscles
from ecorche.muscles.lofted import LoftedMuscle, Rings
from ecorche.muscles.lofted_posing import Lofts
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import bind_pose
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skin.flesh_weights import SkinRound, flesh_round
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.skin_samples import skin_samples
from ecorche.skin.weights import weights_from_table
from extracted_people import extracted
from posed_found_muscles import drawn, drawn_outside, held
from test_extraction_bad_input import posed as bound_anew

Floats = npt.NDArray[np.float64]

HUMANOIDS = ("human/male_muscular_mixamo.glb", "human/male_dressed_mixamo.glb", "mesh2motion/human-male.glb")
HORSE, DOG = "mesh2motion/horse-animations.glb", "dog/dog.xml"
AT_BIND, POSED = 0.002, 0.008
GAITS = ("Walk", "Trot", "Run", "Kick", "Rear", "Eating", "Turn_Left")


@pytest.mark.parametrize("who", [*HUMANOIDS, HORSE, DOG])
def test_no_muscle_is_drawn_outside_the_skin_at_bind(data: Path, figure: Figure, who: str) -> None:
    outside = drawn_outside(data / who, bind_pose(extracted(data / who)[0].skeleton))
    figure(f"drawn muscles of {who} outside the skin at bind", 1e3 * max(outside.values()), 2.0, "mm")
    assert max(outside.values()) < AT_BIND, max(outside, key=lambda name: outside[name])


@pytest.mark.parametrize("pose", ["curl", "squat", "raise"])
@pytest.mark.parametrize("who", HUMANOIDS)
def test_none_is_drawn_outside_the_skin_of_a_posed_humanoid(
    data: Path, figure: Figure, who: str, pose: str
) -> None:
    """A mannequin of sixty pieces among them, whose arms part from the trunk as they are raised."""
    outside = drawn_outside(data / who, held(data / who, pose))
    figure(f"drawn muscles of {who} outside the skin, {pose}", 1e3 * max(outside.values()), 8.0, "mm")
    assert max(outside.values()) < POSED, max(outside, key=lambda name: outside[name])


@pytest.mark.parametrize("gait", GAITS)
def test_none_is_drawn_outside_the_coarse_skin_of_a_horse(data: Path, figure: Figure, gait: str) -> None:
    clip = next(m for m in extracted(data / HORSE)[0].motions if m.name == gait)
    frames = np.linspace(0, clip.frame_count - 1, 6)[1:-1].astype(int).tolist()
    worst = max(max(drawn_outside(data / HORSE, clip.part(i, i)).values()) for i in frames)
    figure(f"drawn muscles of the horse outside its skin, {gait}", 1e3 * worst, 8.0, "mm")
    assert worst < POSED


def turned(limb: Character, degrees: float) -> Floats:
    """``M − I`` of a tube's joints, the upper one turned about x."""
    local = limb.skeleton.bind_local.copy()
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    local[1, :3, :3] = local[1, :3, :3] @ np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return difference_from_bind(limb.skeleton, local)


def below(depth: float) -> LoftedMuscle:
    """A thin muscle along the front of a tube, so far below its skin."""
    at = 0.1 * np.cos(np.pi / 8.0) - depth - 0.001
    ends = np.array([[0.0, 0.2, at], [0.0, 0.8, at]])
    rings = Rings(np.linspace(0.1, 0.9, 5), np.zeros((5, 2)), np.full((5, 2), 0.001), np.zeros(5))
    return LoftedMuscle("thin", "thin", "tube", (0, 1), ends, np.array([0.0, 0.0, 1.0]), rings, reach=(0, 1))


def test_flesh_below_a_long_triangle_cuts_the_corner_as_the_triangle_does() -> None:
    """Blended by smooth weights it would go on a bow, outside a limb that is bent backwards."""
    limb = tube(rings=5, around=8)
    mesh = limb.meshes[0]
    assert mesh.weights is not None
    lofts = Lofts([below(0.002)], limb.skeleton)
    skin = SkinRound(mesh.mesh.points, mesh.mesh.triangles(), mesh.weights)
    flesh = flesh_round(skin, lofts)
    assert flesh[0].bows is not None
    np.testing.assert_allclose(flesh[0].bows.sum(axis=2), 0.0, atol=1e-12)
    u, angle = np.linspace(0.1, 0.9, 33), np.linspace(0.0, 6.0, 6)
    moved = turned(limb, -70.0)
    points = LinearSkinning(mesh.mesh.points, mesh.weights).apply(moved)
    solid = SignedPieces(points, mesh.mesh.triangles())
    with_bows, without = (
        solid.depth(lofts.within(lambda own=own: own).posed(moved).rings(0, u, angle))[0].min()  # type: ignore[misc]
        for own in (flesh, (replace(flesh[0], bows=None),))
    )
    assert without < -0.004
    assert with_bows > -0.002


def test_places_on_a_skin_are_close_together_and_on_it() -> None:
    mesh = tube(rings=5, around=8).meshes[0].mesh
    points, triangles = mesh.points.astype(np.float64), mesh.triangles().astype(np.int64)
    samples = skin_samples(points, triangles)
    np.testing.assert_allclose(samples.shares.sum(axis=1), 1.0)
    between = np.einsum("sk,skx->sx", samples.shares, points[samples.corners])
    np.testing.assert_allclose(samples.points, between, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(samples.normals, axis=1), 1.0, atol=1e-9)
    gaps = np.linalg.norm(samples.points[:, None] - samples.points[None, ::37], axis=-1)
    gaps[gaps == 0.0] = np.inf
    assert gaps.min() > 1e-6
    assert gaps.min(axis=0).max() < 0.25 / 16


def test_a_muscle_stays_in_the_piece_it_shows_in_when_pieces_part() -> None:
    """Two tubes one upon the other, each on a joint of its own; the muscle shows in the lower one."""
    limb = tube(rings=33, around=24).meshes[0].mesh
    upper = np.array([0.0, 1.05, 0.0])
    points = np.concatenate([limb.points, limb.points + upper])
    triangles = np.concatenate([limb.triangles(), limb.triangles() + len(limb.points)])
    joint = np.repeat([0, 1], len(limb.points))
    weights = weights_from_table(joint[:, None], np.ones((len(joint), 1)), 2, "two pieces")
    ends = np.array([[0.0, 0.2, 0.06], [0.0, 1.3, 0.06]])
    u = np.linspace(0.1, 0.6, 5)
    rings = Rings(u, np.zeros((5, 2)), np.full((5, 2), 0.02), np.zeros(5))
    muscle = LoftedMuscle("across", "across", "tube", (0, 1), ends, np.array([0.0, 0.0, 1.0]), rings)
    lofts = Lofts([muscle], tube().skeleton)
    (flesh,) = flesh_round(SkinRound(points, triangles, weights), lofts)
    assert list(flesh.joints) == [0]
    still = lofts.within(lambda: (flesh,)).posed(np.zeros((lofts.curves.joint_count, 4, 4)))
    drawn = still.rings(0, np.linspace(0.02, 0.98, 60), np.linspace(0.0, 6.0, 9))
    assert SignedPieces(limb.points, limb.triangles()).depth(drawn)[0].min() > -0.001


@pytest.mark.parametrize(("name", "lift"), [("T", 0.85), ("arms down", -0.6)])
def test_what_would_cross_an_armpit_is_drawn_as_ending_before_it(
    data: Path, figure: Figure, name: str, lift: float
) -> None:
    turns = {"LeftArm": np.array([0.0, 0.0, lift]), "RightArm": np.array([0.0, 0.0, -lift])}
    man = bound_anew(extracted(data / "human" / "male_muscular_cmu_mb.glb")[0], turns)
    body = man.body()
    assert body.weights is not None
    skin, triangles = body.mesh.points.astype(np.float64), body.mesh.triangles()
    found = extract_muscles(skin, triangles, body.weights.padded(), man.skeleton, recognise(man.skeleton))
    lofts = Lofts(found.muscles, man.skeleton)
    flesh = flesh_round(SkinRound(skin, triangles, body.weights), lofts)
    still = lofts.within(lambda: flesh).posed(np.zeros((man.skeleton.joint_count, 4, 4)))
    rings = still.all_rings(np.tile(np.linspace(0.0, 1.0, 41), (len(lofts.muscles), 1)), 16)
    asked = np.concatenate([rings, 0.5 * (rings[:, 1:] + rings[:, :-1])], axis=1)[..., :3].reshape(-1, 3)
    out = igl.fast_winding_number(skin, triangles.astype(np.int64), asked) < 0.5
    gaps = igl.point_mesh_squared_distance(asked[out], skin, triangles.astype(np.int64))[0]
    outside = float(np.sqrt(gaps.max(initial=0.0)))
    figure(f"drawn muscles outside the skin at bind, {name}", 1e3 * outside, 2.0, "mm")
    assert outside < AT_BIND


def test_sections_that_dilate_keep_away_from_the_skin(data: Path) -> None:
    """Twice as large, at bind, none takes more than half its way to the skin along it."""
    man = data / "human" / "male_muscular_cmu_mb.glb"
    lofts = drawn(man)
    u, angle = np.linspace(0.05, 0.95, 25), np.linspace(0.0, 6.0, 11)
    for flesh in lofts.flesh:
        steps = 0.05 * np.random.default_rng(1).normal(size=(25, 11, 3))
        kept = flesh.held_in(u, angle, steps)
        assert (np.linalg.norm(kept, axis=-1) <= np.linalg.norm(steps, axis=-1) + 1e-12).all()
        assert flesh.room is not None
        changed = np.abs(kept - steps).max(axis=-1) > 1e-12
        assert changed.any()
        assert not changed.all()
