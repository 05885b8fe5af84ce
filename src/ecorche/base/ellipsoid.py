"""The nearest point of an ellipsoid, the signed distance to it, and how both change.

In the ellipsoid's own frame, with radii ``e``, a point x and its nearest point p are joined by a normal:
``x − p = t p / e²``, so ``p = e² x / (t + e²)``, and t is the one root right of ``−min e²`` of

    F(t) = Σ (e x / (t + e²))² − 1.

No closed form gives that root, but once it is known everything else has one:
with ``u = p / (t + e²)`` and ``s = Σ p² / (e² (t + e²))`` it is ``dp/dx = diag(e² / (t + e²)) − u uᵀ / s``;
the signed distance is ``t |p / e²|``, negative inside, and its gradient the outward normal.

Newton's method on ``1 − 1/sqrt(F + 1)``, which is nearly straight, climbs to the root from the left without
ever overstepping it. The unknown is ``t + min e²``, which loses no digits however flat the ellipsoid is.

Inside, points of a flat disc across the smallest axis are equally near to both sides (the centre of a sphere
to all). There the side of the coordinate's own sign is taken, and of a zero the positive one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

_NOTHING = 1e-290  # what is smaller counts as zero: its quotients would lose digits


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def foot(x: float, y: float, z: float, a: float, b: float, c: float) -> Any:
    """Nearest point of the ellipsoid with radii a, b, c [m] and the multiplier t [m²]: (px, py, pz, t)."""
    aa, bb, cc = a * a, b * b, c * c
    least = min(aa, bb, cc)
    da, db, dc = aa - least, bb - least, cc - least
    za, zb, zc = a * abs(x), b * abs(y), c * abs(z)
    # lower bounds of the root: of each coordinate alone, and of all with the largest radius
    r = np.sqrt(za * za + zb * zb + zc * zc) - max(da, db, dc)
    r = max(r, za - da, zb - db, zc - dc)
    if not r > _NOTHING:
        # nothing along the smallest axes: within their disc both sides are equally near
        qa = za / da if da > 0.0 else 0.0
        qb = zb / db if db > 0.0 else 0.0
        qc = zc / dc if dc > 0.0 else 0.0
        left = 1.0 - (qa * qa + qb * qb + qc * qc)
        if left >= 0.0:
            px, py, pz = a * qa, b * qb, c * qc
            if da == 0.0:
                px = a * np.sqrt(left)
            elif db == 0.0:
                py = b * np.sqrt(left)
            else:
                pz = c * np.sqrt(left)
            return _signed(px, x), _signed(py, y), _signed(pz, z), -least
        r = _NOTHING
    for _ in range(100):
        ia, ib, ic = 1.0 / (r + da), 1.0 / (r + db), 1.0 / (r + dc)
        qa, qb, qc = za * ia, zb * ib, zc * ic
        square = qa * qa + qb * qb + qc * qc
        if not square > 1.0 + 1e-15:
            break
        step = square * (np.sqrt(square) - 1.0) / (qa * qa * ia + qb * qb * ib + qc * qc * ic)
        r += step
        if step <= 2e-16 * r:
            break
    return aa * x / (r + da), bb * y / (r + db), cc * z / (r + dc), r - least


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _signed(size: float, like: float) -> float:
    return -size if like < 0.0 else size


@njit(cache=True)  # type: ignore[untyped-decorator]
def nearest_on_ellipsoid(point: Any, radii: Any) -> Any:
    """The point of an ellipsoid nearest to a point, both in its own frame: three numbers each [m]."""
    x, y, z, _ = foot(point[0], point[1], point[2], radii[0], radii[1], radii[2])
    return x, y, z


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def distance_and_normal(x: float, y: float, z: float, a: float, b: float, c: float) -> Any:
    """Signed distance [m], negative inside, and the outward unit normal there: (d, nx, ny, nz)."""
    px, py, pz, t = foot(x, y, z, a, b, c)
    nx, ny, nz = px / (a * a), py / (b * b), pz / (c * c)
    size = np.sqrt(nx * nx + ny * ny + nz * nz)
    return t * size, nx / size, ny / size, nz / size


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def distance_to_second_order(x: float, y: float, z: float, a: float, b: float, c: float) -> Any:
    """Signed distance [m], normal and second derivative [1/m]: (d, nx, ny, nz, xx, xy, xz, yy, yz, zz).

    The normal is ``w = p / e²`` made a unit, so its derivative is ``(1 − n nᵀ) diag(1 / e²) dp/dx / |w|``. On
    the disc inside, where the nearest point jumps from side to side, that is not finite; it is then zero.
    """
    px, py, pz, t = foot(x, y, z, a, b, c)
    wx, wy, wz = px / (a * a), py / (b * b), pz / (c * c)
    size = np.sqrt(wx * wx + wy * wy + wz * wz)
    nx, ny, nz = wx / size, wy / size, wz / size
    ra, rb, rc = t + a * a, t + b * b, t + c * c
    if not min(ra, rb, rc) > 1e-12 * min(a * a, b * b, c * c):
        return t * size, nx, ny, nz, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ux, uy, uz = px / ra, py / rb, pz / rc
    over = 1.0 / (wx * ux + wy * uy + wz * uz)
    # diag(1 / e²) dp/dx, and what it has along the normal
    sx, sy, sz = over * ux / (a * a), over * uy / (b * b), over * uz / (c * c)
    xx, xy, xz = 1.0 / ra - sx * ux, -sx * uy, -sx * uz
    yx, yy, yz = -sy * ux, 1.0 / rb - sy * uy, -sy * uz
    zx, zy, zz = -sz * ux, -sz * uy, 1.0 / rc - sz * uz
    kx, ky, kz = nx * xx + ny * yx + nz * zx, nx * xy + ny * yy + nz * zy, nx * xz + ny * yz + nz * zz
    over = 1.0 / size
    return (
        t * size, nx, ny, nz,
        over * (xx - nx * kx), over * (xy - nx * ky), over * (xz - nx * kz),
        over * (yy - ny * ky), over * (yz - ny * kz), over * (zz - nz * kz),
    )  # fmt: skip


def nearest_points(points: npt.ArrayLike, radii: npt.ArrayLike) -> Floats:
    """Nearest points [m] of ellipsoids to points (..., 3), in their own frames; radii [m] (..., 3)."""
    asked, sizes, shape = _rows(points, radii)
    found = np.empty((len(asked), 4))
    _feet(asked, sizes, found)
    return np.ascontiguousarray(found[:, :3]).reshape(shape)


def signed_distances(points: npt.ArrayLike, radii: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Signed distances [m] (...), negative inside, and outward normals (..., 3); see `nearest_points`."""
    asked, sizes, shape = _rows(points, radii)
    found = np.empty((len(asked), 4))
    _signed_distances(asked, sizes, found)
    return found[:, 0].reshape(shape[:-1]), np.ascontiguousarray(found[:, 1:]).reshape(shape)


def nearest_point_derivatives(points: npt.ArrayLike, radii: npt.ArrayLike) -> Floats:
    """``dp/dx`` (..., 3, 3) of the nearest points; not finite on the disc inside where these jump."""
    asked, sizes, shape = _rows(points, radii)
    squares = sizes * sizes
    found: Floats = np.empty((len(asked), 4))
    _feet(asked, sizes, found)
    p, spread = found[:, :3], found[:, 3:] + squares
    with np.errstate(divide="ignore", invalid="ignore"):
        u = p / spread
        s = np.sum(p * u / squares, axis=1)
        derivative: Floats = -u[:, :, None] * u[:, None, :] / s[:, None, None]
        derivative[:, range(3), range(3)] += squares / spread
    return derivative.reshape(*shape, 3)


def require_radii(radii: npt.ArrayLike, where: object) -> Floats:
    """The radii [m] of an ellipsoid (..., 3), refused unless all are positive numbers."""
    sizes = np.asarray(radii, np.float64)
    if sizes.shape[-1:] != (3,) or not (np.isfinite(sizes).all() and (sizes > 0.0).all()):
        raise EcorcheError(
            f"the radii {np.array2string(sizes, separator=', ')} make no ellipsoid",
            where=where,
            remedy="Give three lengths in metres, each above zero",
        )
    return sizes


def _rows(points: npt.ArrayLike, radii: npt.ArrayLike) -> tuple[Floats, Floats, tuple[int, ...]]:
    sizes = require_radii(radii, "ellipsoid")
    asked, sizes = np.broadcast_arrays(np.asarray(points, np.float64), sizes)
    rows = np.ascontiguousarray(asked).reshape(-1, 3), np.ascontiguousarray(sizes).reshape(-1, 3)
    return *rows, asked.shape


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _feet(points: Floats, radii: Floats, found: Floats) -> None:
    for i in prange(len(points)):
        p, e = points[i], radii[i]
        x, y, z, t = foot(p[0], p[1], p[2], e[0], e[1], e[2])
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = x, y, z, t


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _signed_distances(points: Floats, radii: Floats, found: Floats) -> None:
    for i in prange(len(points)):
        p, e = points[i], radii[i]
        d, x, y, z = distance_and_normal(p[0], p[1], p[2], e[0], e[1], e[2])
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = d, x, y, z
