"""Quaternions and matrices against SciPy, and the axioms of swing and twist."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
from hypothesis import assume, given, settings
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation, Slerp

from ecorche.base import rotations as r
from ecorche.base import transforms as t

Floats = npt.NDArray[np.float64]

calm = settings(max_examples=60)
numbers = st.floats(-1.0, 1.0, allow_subnormal=False)


@st.composite
def unit(draw: st.DrawFn, size: int, rows: int = 5) -> Floats:
    v = draw(arrays(np.float64, (rows, size), elements=numbers))
    length = np.linalg.norm(v, axis=1, keepdims=True)
    assume((length > 1e-3).all())
    return np.asarray(v / length)


def same_rotation(a: Floats, b: Floats, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(r.matrix_from_xyzw(a), r.matrix_from_xyzw(b), atol=tolerance)


@calm
@given(unit(4), unit(4), unit(3))
def test_products_inverses_and_turned_vectors_are_scipys(a: Floats, b: Floats, v: Floats) -> None:
    product = Rotation.from_quat(a) * Rotation.from_quat(b)
    np.testing.assert_allclose(r.matrix_from_xyzw(r.multiply_xyzw(a, b)), product.as_matrix(), atol=1e-14)
    np.testing.assert_allclose(
        r.matrix_from_xyzw(r.inverse_xyzw(a)), Rotation.from_quat(a).inv().as_matrix(), atol=1e-14
    )
    np.testing.assert_allclose(r.rotate_xyzw(a, v), Rotation.from_quat(a).apply(v), atol=1e-14)


@calm
@given(unit(4))
def test_matrices_and_rotation_vectors_are_scipys_and_return(q: Floats) -> None:
    np.testing.assert_allclose(r.matrix_from_xyzw(q), Rotation.from_quat(q).as_matrix(), atol=1e-14)
    back = r.xyzw_from_matrix(r.matrix_from_xyzw(q))
    same_rotation(back, q, 1e-14)
    assert (back[:, 3] >= 0.0).all()
    vector = r.rotation_vector_from_xyzw(q)
    assert (np.linalg.norm(vector, axis=1) <= np.pi + 1e-12).all()
    same_rotation(r.xyzw_from_rotation_vector(vector), q, 1e-13)
    np.testing.assert_allclose(
        Rotation.from_rotvec(vector).as_matrix(), Rotation.from_quat(q).as_matrix(), atol=1e-13
    )


@calm
@given(unit(3), st.floats(-10.0, 10.0))
def test_axis_and_angle_are_scipys(axis: Floats, angle: float) -> None:
    np.testing.assert_allclose(
        r.matrix_from_xyzw(r.xyzw_from_axis_angle(axis, np.full(len(axis), angle))),
        Rotation.from_rotvec(angle * axis).as_matrix(),
        atol=1e-13,
    )


def test_tiny_rotations_keep_their_size() -> None:
    for size in (1e-8, 1e-14, 1e-200, 0.0):
        vector = np.array([size, 0.0, -2.0 * size])
        np.testing.assert_allclose(
            r.rotation_vector_from_xyzw(r.xyzw_from_rotation_vector(vector)), vector, rtol=1e-12
        )


@calm
@given(unit(4, 1), unit(4, 1), st.floats(0.0, 1.0))
def test_slerp_is_scipys(a: Floats, b: Floats, fraction: float) -> None:
    # half a turn apart there are two equally short ways
    assume(abs(float((a * b).sum())) > 1e-3)
    expected = Slerp([0.0, 1.0], Rotation.from_quat(np.concatenate([a, b])))(fraction)
    np.testing.assert_allclose(
        r.matrix_from_xyzw(r.slerp_xyzw(a[0], b[0], fraction)), expected.as_matrix(), atol=1e-9
    )


@calm
@given(unit(3), unit(3))
def test_shortest_arc_arrives_and_is_shortest(a: Floats, b: Floats) -> None:
    q = r.shortest_arc_xyzw(a, b)
    np.testing.assert_allclose(r.rotate_xyzw(q, a), b, atol=1e-6)
    between = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), (a * b).sum(axis=1))
    np.testing.assert_allclose(np.linalg.norm(r.rotation_vector_from_xyzw(q), axis=1), between, atol=1e-6)
    opposite = r.shortest_arc_xyzw(a, -a)
    np.testing.assert_allclose(r.rotate_xyzw(opposite, a), -a, atol=1e-12)


@calm
@given(unit(4), unit(3))
def test_swing_and_twist_axioms(q: Floats, axis: Floats) -> None:
    swing, twist = r.swing_twist_xyzw(q, axis)
    same_rotation(r.multiply_xyzw(swing, twist), q)
    # twist is about the axis only, swing about an axis perpendicular to it
    np.testing.assert_allclose(np.cross(twist[:, :3], axis), 0.0, atol=1e-12)
    regular = np.hypot((q[:, :3] * axis).sum(axis=1), q[:, 3]) > 1e-6
    np.testing.assert_allclose((swing[regular, :3] * axis[regular]).sum(axis=1), 0.0, atol=1e-9)
    # the axis ends where swing alone takes it
    np.testing.assert_allclose(r.rotate_xyzw(swing, axis), r.rotate_xyzw(q, axis), atol=1e-12)
    # q and −q are one rotation
    for part, other in zip((swing, twist), r.swing_twist_xyzw(-q, axis), strict=True):
        same_rotation(part, other)
        assert (part[:, 3] >= 0.0).all()


@calm
@given(arrays(np.float64, 2, elements=st.floats(-2.2, 2.2)), st.floats(-3.1, 3.1))
def test_swing_and_twist_are_unique(swing_vector: Floats, angle: float) -> None:
    assume(np.linalg.norm(swing_vector) < np.pi - 1e-3)
    swing = r.xyzw_from_rotation_vector(np.append(swing_vector, 0.0))
    twist = r.xyzw_from_axis_angle(np.array([0.0, 0.0, 1.0]), angle)
    found_swing, found_twist = r.swing_twist_xyzw(r.multiply_xyzw(swing, twist))
    np.testing.assert_allclose(r.rotation_vector_from_xyzw(found_swing)[:2], swing_vector, atol=1e-9)
    assert abs(2.0 * np.arctan2(found_twist[2], found_twist[3]) - angle) < 1e-9


@calm
@given(unit(4, 1), unit(3, 1))
def test_swing_and_twist_are_continuous_away_from_the_opposite_direction(q: Floats, nudge: Floats) -> None:
    size = 1e-7
    distance = float(np.hypot(q[0, 2], q[0, 3]))  # zero where the limb points along −z
    assume(distance > 0.05)
    moved = r.multiply_xyzw(r.xyzw_from_rotation_vector(size * nudge), q)
    for part, other in zip(r.swing_twist_xyzw(q), r.swing_twist_xyzw(moved), strict=True):
        change = np.linalg.norm(r.rotation_vector_from_xyzw(r.multiply_xyzw(other, r.inverse_xyzw(part))))
        assert change < 3.0 * size / distance


def test_at_the_opposite_direction_the_twist_is_zero() -> None:
    half_turn = np.array([0.6, 0.8, 0.0, 0.0])
    swing, twist = r.swing_twist_xyzw(half_turn)
    np.testing.assert_array_equal(twist, [0.0, 0.0, 0.0, 1.0])
    same_rotation(swing, half_turn)


@calm
@given(
    arrays(np.float64, (4, 3), elements=st.floats(-5.0, 5.0)),
    unit(4, 4),
    arrays(np.float64, (4, 3), elements=st.floats(0.1, 4.0)),
    st.booleans(),
)
def test_transforms_come_apart_as_they_were_put_together(
    place: Floats, q: Floats, scale: Floats, mirror: bool
) -> None:
    if mirror:
        scale = scale * (-1.0, 1.0, 1.0)
    m = t.compose(place, q, scale)
    found_place, found_q, found_scale = t.decompose(m)
    np.testing.assert_array_equal(found_place, place)
    np.testing.assert_allclose(found_scale, scale, rtol=1e-12)
    same_rotation(found_q, q)
    assert t.shear(m).max() < 1e-12
    np.testing.assert_allclose(t.inverse(m) @ m, np.broadcast_to(np.eye(4), m.shape), atol=1e-12)
    points = np.array([[[1.0, 2.0, 3.0], [-0.5, 0.0, 7.0]]]).repeat(4, axis=0)
    homogeneous = np.concatenate([points, np.ones((4, 2, 1))], axis=-1)
    np.testing.assert_allclose(
        t.transform_points(m, points), np.einsum("fij,fpj->fpi", m, homogeneous)[..., :3], atol=1e-12
    )


@calm
@given(arrays(np.float64, (3, 3), elements=numbers), unit(4, 1))
def test_the_nearest_rotation_is_one_and_leaves_rotations_alone(skew: Floats, q: Floats) -> None:
    clean = r.matrix_from_xyzw(q[0])
    np.testing.assert_array_equal(t.nearest_rotation(clean), clean / np.linalg.norm(clean, axis=0))
    bent = t.nearest_rotation(clean + 0.2 * skew)
    np.testing.assert_allclose(bent.T @ bent, np.eye(3), atol=1e-12)
    assert np.linalg.det(bent) > 0.0


def test_shear_is_seen() -> None:
    m = np.eye(4)
    m[0, 1] = 0.3
    assert t.shear(m) > 0.05
