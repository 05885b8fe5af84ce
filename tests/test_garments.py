"""What is worn on a body follows its skin, and where the body shows through is told."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse
from scipy.spatial.transform import Rotation

from characters import tube
from ecorche.base import rotations, transforms
from ecorche.base.smooth_step import smooth_step
from ecorche.base.threads import at_most_threads
from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body, skinned_points
from ecorche.body.garments import Cover, covers, garment_transfers
from ecorche.errors import EcorcheError, MeshError
from ecorche.io.formats import read_character
from ecorche.muscles.fit import fit_to_skin
from ecorche.muscles.musculature import Musculature, musculature
from ecorche.muscles.template import TEMPLATE, place
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming import recognise
from ecorche.skin.delta_transfer import DeltaTransfer, Falloff, FollowedSkin
from ecorche.skin.influence import influence
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.weights import SkinWeights, rigid_weights, weights_from_table

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

FALLOFF = Falloff(0.02, 0.10)


def plate(height: float, across: float = 0.5, step: float = 0.02) -> tuple[Floats, Ints]:
    """A flat sheet facing up, (points, 3) and (triangles, 3)."""
    count = round(across / step) + 1
    x, z = np.meshgrid(
        np.linspace(-across / 2, across / 2, count), np.linspace(-across / 2, across / 2, count)
    )
    points = np.stack([x, np.full_like(x, height), z], axis=-1).reshape(-1, 3)
    i, k = np.meshgrid(np.arange(count - 1), np.arange(count - 1), indexing="ij")
    corner = (i * count + k).reshape(-1)
    first = np.stack([corner, corner + count, corner + 1], axis=1)
    return points, np.concatenate([first, first[:, [1, 1, 2]] + [0, 1, 0]])


def facing_down(sheet: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
    return sheet[0], sheet[1][:, ::-1]


def both(*sheets: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
    starts = np.cumsum([0, *(len(points) for points, _ in sheets)])
    return np.concatenate([p for p, _ in sheets]), np.concatenate(
        [t + start for (_, t), start in zip(sheets, starts, strict=False)]
    )


def tube_surface(radius: float, rings: int = 41, around: int = 48) -> tuple[Points, npt.NDArray[np.int32]]:
    mesh = tube(rings, around, 1.0, radius).meshes[0].mesh
    return mesh.points, mesh.triangles()


def worn_over(
    body: npt.ArrayLike,
    triangles: npt.ArrayLike,
    cloth: npt.ArrayLike,
    *,
    body_weights: SkinWeights | None = None,
    weights: SkinWeights | None = None,
    falloff: Falloff | None = None,
) -> DeltaTransfer:
    return DeltaTransfer(FollowedSkin(body, triangles, body_weights, falloff=falloff), cloth, weights)


# --- what a frame does --------------------------------------------------------------------------


def test_without_displacement_every_bit_stays() -> None:
    body, triangles = tube_surface(0.1)
    cloth = tube_surface(0.11, 17, 20)[0].copy()
    cloth[3, 1] = -0.0
    transfer = worn_over(body, triangles, cloth)
    assert transfer.matrix.nnz > len(cloth)
    assert transfer.apply(np.zeros_like(body), cloth).tobytes() == cloth.tobytes()
    assert transfer.apply(np.full_like(body, -0.0), cloth).tobytes() == cloth.tobytes()


def test_a_frame_is_the_matrix_in_place_or_not_on_any_number_of_threads() -> None:
    body, triangles = tube_surface(0.1, 81, 96)
    cloth = tube_surface(0.12, 161, 120)[0]
    deltas = np.random.default_rng(0).normal(scale=0.01, size=body.shape).astype(np.float32)
    transfer = worn_over(body, triangles, cloth)
    moved = transfer.apply(deltas, cloth)
    np.testing.assert_allclose(moved, cloth + transfer.matrix.astype(np.float64) @ deltas, atol=2e-7)
    out = cloth.copy()
    assert transfer.apply(deltas, out, out) is out
    assert out.tobytes() == moved.tobytes()
    with at_most_threads(1):
        alone = worn_over(body, triangles, cloth)
        assert alone.apply(deltas, cloth).tobytes() == moved.tobytes()
    assert alone.matrix.data.tobytes() == transfer.matrix.data.tobytes()


def test_turned_shifted_or_mirrored_bodies_dress_the_same_way() -> None:
    body, triangles = both(plate(0.0), plate(0.05))
    cloth = plate(0.02, 0.3, 0.017)[0]
    upright = worn_over(body, triangles, cloth, falloff=FALLOFF).matrix
    turn = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()
    for linear, corners in ((turn, triangles), (np.diag([-1.0, 1.0, 1.0]), triangles[:, ::-1])):
        moved = worn_over(body @ linear.T + 3.0, corners, cloth @ linear.T + 3.0, falloff=FALLOFF).matrix
        assert np.abs((moved - upright).data).max() < 1e-5


# --- how much arrives ---------------------------------------------------------------------------


def test_cloth_on_skin_follows_wholly_and_hair_far_away_not_at_all() -> None:
    body, triangles = plate(0.0)
    heights = np.array([0.0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.0999, 0.1, 0.3])
    cards = np.stack([np.zeros(9), heights, np.zeros(9)], axis=1)
    transfer = worn_over(body, triangles, cards, falloff=FALLOFF)
    share = np.asarray(transfer.matrix.sum(axis=1))
    np.testing.assert_allclose(share, smooth_step((0.1 - heights) / 0.08), atol=1e-6)
    assert share[:3].tolist() == pytest.approx([1.0, 1.0, 1.0], abs=1e-6)
    assert not share[7:].any()
    np.testing.assert_allclose(transfer.distances[:7], heights[:7], atol=1e-12)
    assert np.isinf(transfer.distances[7:]).all()


def test_the_fall_off_grows_with_the_body() -> None:
    body, triangles = tube_surface(0.1)
    cloth = tube_surface(0.12)[0]
    small, large = (worn_over(s * body, triangles, s * cloth) for s in (1.0, 20.0))
    assert FollowedSkin(body, triangles).falloff.near == pytest.approx(1 / 87.5)
    assert np.abs((small.matrix - large.matrix).data).max() < 1e-4


def test_on_the_skin_it_is_the_skins_own_interpolation() -> None:
    body, triangles = tube_surface(0.1)
    rng = np.random.default_rng(1)
    chosen = rng.integers(len(triangles), size=500)
    inside = rng.dirichlet([1.0, 1.0, 1.0], 500)
    places = np.einsum("pc,pcx->px", inside, body[triangles[chosen]].astype(np.float64))
    matrix = worn_over(body, triangles, places).matrix
    rows = np.repeat(np.arange(500), 3)
    truth = sparse.csr_array((inside.reshape(-1), (rows, triangles[chosen].reshape(-1))), shape=matrix.shape)
    assert np.abs((matrix - truth).toarray()).max() < 0.01


def test_where_two_parts_are_equally_near_the_cloth_does_not_tear() -> None:
    """Two walls 4 cm apart, one moving left and one right: a single closest point leaps by 2 midway."""
    walls, triangles = both(plate(0.0), facing_down(plate(0.04)))
    upper = walls[:, 1] > 0.0
    line = np.linspace(0.0, 0.04, 401)
    cloth = np.stack([np.zeros(401), line, np.zeros(401)], axis=1)
    transfer = worn_over(walls, triangles, cloth, falloff=FALLOFF)
    follows = transfer.matrix.astype(np.float64) @ np.where(upper, 1.0, -1.0)
    assert follows[0] == pytest.approx(-1.0)
    assert follows[-1] == pytest.approx(1.0)
    assert (np.diff(follows) > -1e-6).all()
    assert np.diff(follows).max() < 0.04  # spread over at least 5 of the 40 mm


def test_bones_below_the_skin_stay_where_the_joints_put_them() -> None:
    body, triangles = tube_surface(0.1)
    deltas = np.zeros_like(body)
    deltas[:, 0] = 0.01
    inner = np.array([[0.0, 0.5, r] for r in (0.0, 0.06, 0.08, 0.0945, 0.0995, 0.101)], np.float32)
    followed = worn_over(body, triangles, inner).apply(deltas, inner)[:, 0] - inner[:, 0]
    np.testing.assert_array_equal(followed[:3], 0.0)
    assert 0.0 < followed[3] < 0.01
    np.testing.assert_allclose(followed[4:], 0.01, rtol=1e-3)


def test_bones_inside_the_skin_follow_no_muscle_and_what_is_worn_does() -> None:
    """Of three rigid pieces and a soft one, the bone alone, however near the skin, is left to its joint."""
    body = tube(41, 48, 1.0, 0.1)
    surface = body.meshes[0]
    rings = {"bone": 0.099, "bracelet": 0.104, "lesser body": 0.099}
    pieces = [
        replace(
            surface,
            mesh=replace(
                surface.mesh,
                name=name,
                points=surface.mesh.points * np.array([r / 0.1, 1.0, r / 0.1], np.float32),
            ),
            weights=surface.weights if name == "lesser body" else rigid_weights(len(surface.mesh.points), 1),
        )
        for name, r in rings.items()
    ]
    prop = replace(surface, mesh=replace(surface.mesh, name="prop"), weights=None)
    dressed = replace(body, meshes=(surface, *pieces, prop))
    found = garment_transfers(dressed, 0, _bind(dressed))
    assert [transfer is not None for transfer in found] == [False, False, True, True, False]


# --- joints -------------------------------------------------------------------------------------


def test_an_arm_never_moves_the_cloth_of_the_flank() -> None:
    flank, arm = plate(0.0), facing_down(plate(0.03))
    body, triangles = both(flank, arm)
    moves = np.repeat([0, 1], [len(flank[0]), len(arm[0])])
    cloth = plate(0.025, 0.3, 0.017)[0]  # 25 mm off the flank, 5 mm from the arm
    body_weights = weights_from_table(moves[:, None], np.ones((len(body), 1)), 2, "body")
    own = rigid_weights(len(cloth), 0)
    dressed = worn_over(body, triangles, cloth, body_weights=body_weights, weights=own, falloff=FALLOFF)
    assert dressed.matrix[:, moves == 1].nnz == 0
    np.testing.assert_allclose(dressed.matrix.sum(axis=1), FALLOFF.share(0.025), atol=1e-6)
    careless = worn_over(body, triangles, cloth, falloff=FALLOFF)
    assert careless.matrix[:, moves == 1].sum() > 0.9 * len(cloth)


def test_a_lesser_mesh_without_twist_joints_follows_all_the_same_but_a_vest_leaves_the_arm_alone() -> None:
    body, triangles = tube_surface(0.1)
    lower = body[:, 1] < 0.5
    body_weights = weights_from_table(np.where(lower, 0, 1)[:, None], np.ones((len(body), 1)), 2, "body")
    lesser = tube_surface(0.1, 15, 20)[0]
    whole = worn_over(
        body, triangles, lesser, body_weights=body_weights, weights=rigid_weights(len(lesser), 0)
    )
    np.testing.assert_allclose(whole.matrix.sum(axis=1), 1.0, atol=1e-5)
    vest = lesser[lesser[:, 1] < 0.6]  # covers only a little of what joint 1 moves
    part = worn_over(body, triangles, vest, body_weights=body_weights, weights=rigid_weights(len(vest), 0))
    assert part.matrix[:, body[:, 1] > 0.51].nnz == 0
    skirt = worn_over(  # joint 7 is its own
        body, triangles, vest, body_weights=body_weights, weights=rigid_weights(len(vest), 7)
    )
    np.testing.assert_array_equal(skirt.matrix.toarray(), part.matrix.toarray())


# --- depth of the body through cloth ------------------------------------------------------------


def test_a_swelling_limb_comes_through_by_as_much_as_it_swells_beyond_the_cloth() -> None:
    (body, triangles), (cloth, cloth_triangles) = tube_surface(0.1), tube_surface(0.105)
    radial = body * [10.0, 0.0, 10.0]
    swelling = (0.02 * np.exp(-(((body[:, 1:2] - 0.5) / 0.1) ** 2)) * radial).astype(np.float32)
    cover = Cover(body, triangles, cloth, cloth_triangles)
    assert len(cover.covered) >= len(body) - 2 * 48  # all but the rings at the open ends
    assert cover.check(body, cloth).through == 0
    swollen = body + swelling
    bare = cover.check(swollen, cloth, body, cloth)
    assert bare.deepest == pytest.approx(0.015, abs=2e-4)
    assert bare.deepest_added == bare.deepest
    truth = np.linalg.norm(swelling[cover.covered], axis=1) > 0.0051
    assert bare.through == bare.added == pytest.approx(truth.sum(), abs=48)
    assert abs(swollen[bare.worst_vertex, 1] - 0.5) < 0.03
    assert (bare.plain_through, bare.plain_deepest, bare.uncovered) == (0, 0.0, 0)
    assert "15.0 mm at most; without muscles 0" in bare.line()
    follows = worn_over(body, triangles, cloth).apply(swelling, cloth)
    assert cover.check(swollen, follows, body, cloth).through == 0
    assert cover.check(swollen, follows, body, cloth).line().startswith("none of")


def test_skin_that_already_comes_through_is_not_the_muscles_doing() -> None:
    (body, triangles), (cloth, cloth_triangles) = tube_surface(0.1), tube_surface(0.105)
    cover = Cover(body, triangles, cloth, cloth_triangles)
    out = (body * [1.08, 1.0, 1.08]).astype(np.float32)
    further = (body * [1.09, 1.0, 1.09]).astype(np.float32)
    report = cover.check(further, cloth, out, cloth)
    assert report.through == report.plain_through == report.covered
    assert report.added == 0
    assert report.deepest_added == pytest.approx(0.001, abs=1e-5)


def test_cloth_that_slid_off_or_lies_inside_covers_nothing() -> None:
    (body, triangles), (cloth, cloth_triangles) = tube_surface(0.1), tube_surface(0.105)
    cover = Cover(body, triangles, cloth, cloth_triangles)
    slid = cover.check(body, cloth + np.array([0.0, 0.5, 0.0], np.float32))
    assert slid.through == 0
    assert slid.uncovered == pytest.approx(slid.covered / 2, rel=0.05)
    assert len(Cover(body, triangles, *tube_surface(0.095)).covered) == 0
    assert len(Cover(body, triangles, *tube_surface(0.2)).covered) == 0


# --- a real man in tights -----------------------------------------------------------------------


@cache
def _man(data: Path) -> tuple[Character, Body, Musculature, SlidingSkin]:
    character = read_character(data / "human" / "male_dressed_mixamo.glb")
    body = character.meshes[0]
    assert body.weights is not None
    placed = place(TEMPLATE, character.skeleton, recognise(character.skeleton))
    muscles, _ = fit_to_skin(placed.muscles, placed.skeleton, body.mesh.points, body.mesh.triangles())
    joined = musculature(muscles, character.skeleton, placed.scapulae)
    still = joined.sections(np.zeros((character.skeleton.joint_count, 4, 4)))
    found = influence(body.mesh.points, body.weights, still, [m.reach.joints for m in muscles])
    return character, compile_body(character), joined, SlidingSkin(body.mesh.points, still, found)


@cache
def _knee_bend(data: Path) -> tuple[tuple[Points, ...], Points]:
    """Skinned points of both meshes with hip and knee bent, and the body with muscles at work."""
    character, body, muscles, sliding = _man(data)
    skeleton = character.skeleton
    local = skeleton.bind_local.copy()
    for joint, angle in (("mixamorig:LeftUpLeg", -60.0), ("mixamorig:LeftLeg", 90.0)):
        number = skeleton.index(joint)
        axis = skeleton.bind_world[number, :3, :3].T @ [1.0, 0.0, 0.0]
        turn = rotations.xyzw_from_axis_angle(axis / np.linalg.norm(axis), np.radians(angle))
        local[number] = local[number] @ transforms.compose(np.zeros(3), turn)
    moved = difference_from_bind(skeleton, local)
    plain = skinned_points(body, moved, (None,) * len(character.meshes))
    return plain, sliding.apply(muscles.sections(moved, 1.25), plain[0])


def _bind(character: Character) -> tuple[Points, ...]:
    return tuple(mesh.mesh.points for mesh in character.meshes)


def test_tights_follow_the_muscles_so_the_body_no_longer_comes_through(data: Path) -> None:
    character, *_ = _man(data)
    plain, muscled = _knee_bend(data)
    none, tights = garment_transfers(character, 0, _bind(character))
    assert none is None
    assert tights is not None
    assert np.isfinite(tights.distances).all()  # every vertex lies on the legs or the hips
    follows = tights.apply(muscled - plain[0], plain[1])
    assert np.linalg.norm(follows - plain[1], axis=1).max() > 0.005
    nobody, cover = covers(character, 0, _bind(character))
    assert nobody is None
    assert cover is not None
    assert cover.check(*_bind(character)).through == 0
    bare, dressed = (cover.check(muscled, cloth, *plain) for cloth in (plain[1], follows))
    assert bare.added > 5
    assert dressed.added < bare.added / 2
    assert dressed.deepest_added < bare.deepest_added
    assert bare.plain_through == dressed.plain_through > 0  # linear skinning alone shows the knee's hollow


def test_neighbouring_vertices_of_real_tights_follow_alike(data: Path) -> None:
    """A wave of 20 cm over the body arrives hardly steeper than it is, but for millimetres in the crotch."""
    character, *_ = _man(data)
    tights = garment_transfers(character, 0, _bind(character))[1]
    assert tights is not None
    body, cloth = (points.astype(np.float64) for points in _bind(character))
    triangles = character.meshes[1].mesh.triangles()
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    length = np.linalg.norm(cloth[edges[:, 0]] - cloth[edges[:, 1]], axis=1)
    for direction in np.eye(3):
        wave = np.sin(2.0 * np.pi / 0.2 * body @ direction)
        step = np.abs(np.diff((tights.matrix.astype(np.float64) @ wave)[edges], axis=1)[:, 0])
        steepness = step / (2.0 * np.pi / 0.2 * length)
        assert steepness[length > 0.005].max() < 2.0
        assert steepness.max() < 4.0


def test_a_coarser_mesh_of_the_same_man_gets_his_own_displacements(data: Path) -> None:
    character, *_ = _man(data)
    plain, muscled = _knee_bend(data)
    body = character.meshes[0]
    assert body.weights is not None
    points, triangles = body.mesh.points.astype(np.float64), body.mesh.triangles().astype(np.int64)
    welded, _, _, faces = igl.remove_duplicate_vertices(points, triangles, 1e-7)
    coarse = igl.decimate(welded, faces, len(faces) // 4)[0]
    assert 1000 < len(coarse) < len(points) / 3
    square, hit, place = igl.point_mesh_squared_distance(coarse, points, triangles)
    inside = igl.barycentric_coordinates(place, *(points[triangles[hit, c]] for c in range(3)))
    weights = _interpolated(body.weights, triangles[hit], inside)
    transfer = worn_over(points, triangles, coarse, body_weights=body.weights, weights=weights)
    deltas = muscled - plain[0]
    truth = np.einsum("pc,pcx->px", inside, deltas[triangles[hit]])
    still = np.zeros((len(coarse), 3), np.float32)
    error = np.linalg.norm(transfer.apply(deltas, still) - truth, axis=1)
    size = np.linalg.norm(truth, axis=1)
    assert np.sqrt(square).max() < 0.01
    assert size.max() > 0.005
    assert error.max() < 0.1 * size.max()
    assert np.sqrt((error**2).sum() / (size**2).sum()) < 0.02


def _interpolated(weights: SkinWeights, corners: Ints, inside: Floats) -> SkinWeights:
    joints, table = weights.padded()
    parts = (table[corners] * np.maximum(inside, 0.0)[..., None]).reshape(len(corners), -1)
    return weights_from_table(
        joints[corners].reshape(len(corners), -1), parts, int(joints.max()) + 1, "coarse"
    )


# --- bad input ----------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused() -> None:
    body, triangles = tube_surface(0.1)
    cloth = tube_surface(0.11, 9, 12)[0]
    transfer = worn_over(body, triangles, cloth)
    with pytest.raises(MeshError, match="the displacements of the body is float64"):
        transfer.apply(np.zeros(body.shape), cloth)  # type: ignore[arg-type]
    with pytest.raises(MeshError, match=r"the points is float32 of shape \(5, 3\)"):
        transfer.apply(np.zeros_like(body), cloth[:5])
    with pytest.raises(MeshError, match="output array"):
        transfer.apply(np.zeros_like(body), cloth, np.zeros((len(cloth), 6), np.float32)[:, ::2])
    with pytest.raises(MeshError, match="weights for 3"):
        worn_over(body, triangles, cloth, weights=rigid_weights(3, 0))
    with pytest.raises(MeshError, match="point 2 is not a finite number"):
        worn_over(body, triangles, np.where(np.arange(len(cloth))[:, None] == 2, np.nan, cloth))
    with pytest.raises(MeshError, match="only 0 to"):
        worn_over(body, triangles + 1, cloth)
    with pytest.raises(MeshError, match="shape"):
        worn_over(body, triangles, cloth[:, :2])
    with pytest.raises(EcorcheError, match="cannot be drawn"):
        Falloff(0.1, 0.1)
    cover = Cover(body, triangles, cloth, tube_surface(0.11, 9, 12)[1])
    with pytest.raises(MeshError, match="the frame's points have shape"):
        cover.check(body[:5], cloth)


def test_nothing_to_follow_and_nothing_that_follows() -> None:
    body, triangles = tube_surface(0.1)
    nothing = np.zeros((0, 3), np.float32)
    assert worn_over(body, triangles, nothing).apply(np.zeros_like(body), nothing).shape == (0, 3)
    bare = worn_over(nothing, np.zeros((0, 3), int), body)
    assert bare.apply(nothing, body).tobytes() == body.tobytes()
    one_place = worn_over(np.zeros((3, 3)), [[0, 1, 2]], np.zeros((1, 3)), falloff=FALLOFF)
    np.testing.assert_allclose(one_place.matrix.sum(), 1.0, atol=1e-6)
