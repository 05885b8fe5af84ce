"""Affine transforms as 4x4 matrices acting on column vectors, and their parts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_matrix

Floats = npt.NDArray[np.float64]


def compose(
    translation: npt.ArrayLike, rotation_xyzw: npt.ArrayLike, scale: npt.ArrayLike = (1.0, 1.0, 1.0)
) -> Floats:
    """Matrices (..., 4, 4) that scale (..., 3), then turn (..., 4), then move (..., 3)."""
    translation = np.asarray(translation, np.float64)
    rotation = matrix_from_xyzw(rotation_xyzw)
    scale = np.asarray(scale, np.float64)
    shape = np.broadcast_shapes(translation.shape[:-1], rotation.shape[:-2], scale.shape[:-1])
    m = np.zeros((*shape, 4, 4))
    m[..., :3, :3] = rotation * scale[..., None, :]
    m[..., :3, 3] = translation
    m[..., 3, 3] = 1.0
    return m


def decompose(m: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Translation (..., 3), rotation xyzw (..., 4) and scale (..., 3) of matrices (..., 4, 4).

    A mirroring matrix gets a negative x scale. What the three parts cannot say, shear, is left
    out: ask `shear` where that matters.
    """
    m = np.asarray(m, np.float64)
    linear = m[..., :3, :3]
    scale = np.linalg.norm(linear, axis=-2)
    mirrored = np.linalg.det(linear) < 0.0
    scale[..., 0] = np.where(mirrored, -scale[..., 0], scale[..., 0])
    return m[..., :3, 3].copy(), xyzw_from_matrix(nearest_rotation(linear)), scale


def nearest_rotation(linear: npt.ArrayLike) -> Floats:
    """The rotation matrices (..., 3, 3) that agree best with ``linear`` after removing its scale.

    Columns are normalised first; where they are then orthogonal to rounding, they are returned
    as they are, so that a clean rotation comes back unchanged.
    """
    linear = np.asarray(linear, np.float64)
    lengths = np.linalg.norm(linear, axis=-2, keepdims=True)
    columns: Floats = linear / np.where(lengths > 0.0, lengths, 1.0)
    flip = np.where(np.linalg.det(linear) < 0.0, -1.0, 1.0)
    columns = columns * np.stack([flip, np.ones_like(flip), np.ones_like(flip)], axis=-1)[..., None, :]
    gram = np.swapaxes(columns, -1, -2) @ columns
    skewed = np.max(np.abs(gram - np.eye(3)), axis=(-1, -2)) > 1e-12
    if not np.any(skewed):
        return columns
    u, _, vt = np.linalg.svd(columns)
    u = u * np.stack([np.ones_like(flip), np.ones_like(flip), np.linalg.det(u @ vt)], axis=-1)[..., None, :]
    nearest: Floats = np.where(skewed[..., None, None], u @ vt, columns)
    return nearest


def shear(m: npt.ArrayLike) -> Floats:
    """How far matrices (..., 4, 4) are from translation, rotation and scale: 0 when they are just that."""
    t, q, s = decompose(m)
    m = np.asarray(m, np.float64)
    size = np.maximum(np.max(np.abs(m[..., :3, :3]), axis=(-1, -2)), 1e-30)
    return np.asarray(np.max(np.abs(compose(t, q, s) - m), axis=(-1, -2)) / size)


def inverse(m: npt.ArrayLike) -> Floats:
    """Inverses of affine matrices (..., 4, 4), with an exact last row."""
    m = np.asarray(m, np.float64)
    result = np.zeros_like(m)
    result[..., :3, :3] = np.linalg.inv(m[..., :3, :3])
    result[..., :3, 3] = -(result[..., :3, :3] @ m[..., :3, 3:])[..., 0]
    result[..., 3, 3] = 1.0
    return result


def transform_points(m: npt.ArrayLike, points: npt.ArrayLike) -> Floats:
    """Points (..., N, 3) moved by one matrix a batch (..., 4, 4)."""
    m, points = np.asarray(m, np.float64), np.asarray(points, np.float64)
    moved: Floats = points @ np.swapaxes(m[..., :3, :3], -1, -2) + m[..., None, :3, 3]
    return moved
