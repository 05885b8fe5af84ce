"""A soft shadow on the ground, painted from samples of the surface.

Each surface sample darkens the ground where the key light would throw its shadow, the more
blurred the higher it is, and right below itself while it is close: the cast shadow of a broad
lamp, and the dark line of contact that tells the eye a foot stands. Both are sums over height
bands of blurred histograms: a few milliseconds, where shadow maps in software take a second.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from ecorche.base.mesh import Mesh

Floats = npt.NDArray[np.float64]

TEXELS = 256
SAMPLES = 30_000
BANDS = 6
CAST_DARKNESS, CONTACT_DARKNESS = 0.34, 0.6
CONTACT_REACH = 0.06
"""Height below which contact darkens, as a share of the patch's half width."""


class SurfaceSamples:
    """Points spread evenly over meshes at bind, that travel with them."""

    def __init__(self, meshes: list[Mesh], samples: int = SAMPLES) -> None:
        corners = [m.points[m.triangles()].astype(np.float64) for m in meshes]
        areas = [
            0.5 * np.linalg.norm(np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]), axis=1) for c in corners
        ]
        total = max(sum(float(a.sum()) for a in areas), 1e-30)
        self._rows: list[npt.NDArray[np.int32]] = []
        self._shares: list[npt.NDArray[np.float32]] = []
        self.area_each = total / samples
        for mesh, area in zip(meshes, areas, strict=True):
            count = round(samples * float(area.sum()) / total)
            # evenly along the running sum of areas; a golden-ratio sequence inside each triangle
            along = (np.arange(count) + 0.5) / max(count, 1) * area.sum()
            face = np.minimum(np.searchsorted(np.cumsum(area), along), max(len(area) - 1, 0))
            u = (np.arange(count) * 0.7548776662466927) % 1.0
            v = (np.arange(count) * 0.5698402909980532) % 1.0
            root = np.sqrt(u)
            self._rows.append(mesh.triangles()[face] if count else np.zeros((0, 3), np.int32))
            self._shares.append(np.stack([1.0 - root, root * (1.0 - v), root * v], axis=1).astype(np.float32))

    def at(self, points: tuple[npt.NDArray[np.float32], ...]) -> npt.NDArray[np.float32]:
        """The samples for posed points of every mesh [m] (..., vertices, 3), shape (..., samples, 3)."""
        return np.concatenate(
            [
                (p[..., rows, :] * shares[:, :, None]).sum(axis=-2)
                for p, rows, shares in zip(points, self._rows, self._shares, strict=True)
            ],
            axis=-2,
        )


def darkness(
    samples: npt.NDArray[np.float32],
    area_each: float,
    centre: Floats,
    half_width: float,
    ground: float,
    to_light: Floats,
    *,
    texels: int = TEXELS,
    scale: float | None = None,
) -> npt.NDArray[np.float32]:
    """How much of the light the ground loses, 0 … 1, on a square patch, shape (texels, texels).

    Args:
        samples: Surface points [m], shape (samples, 3).
        area_each: Surface that each stands for [m²].
        centre: The patch's middle, x and z [m], shape (2,).
        half_width: Half the patch's side [m].
        ground: Height of the ground [m].
        to_light: Unit vector from the ground to the key light, shape (3,).
        texels: Of a side.
        scale: Half the side of a patch that fits what throws the shadow [m]; None is this one.

    Rows run along z, columns along x.
    """
    scale = half_width if scale is None else scale
    height = np.maximum(samples[:, 1] - ground, 0.0)
    slope = to_light[[0, 2]] / to_light[1]
    texel = 2.0 * half_width / texels
    # half the surface faces away, and a sheet seen from above covers its area: 1/2 per texel is opaque
    per_sample = 0.5 * area_each / texel**2
    edges = scale * np.concatenate([[0.0], 0.04 * 2.6 ** np.arange(BANDS - 1), [np.inf]])
    cast = np.zeros((texels, texels))
    for low, high in pairwise(edges):
        band = (height >= low) & (height < high)
        if not band.any():
            continue
        thrown = samples[band][:, [0, 2]] - height[band, None] * slope
        blur = 0.008 * scale + 0.10 * float(height[band].mean())
        cast += gaussian_filter(
            _histogram(thrown, centre, texel, texels), blur / texel, mode="constant", truncate=2.5
        )
    near = np.exp(-height / (CONTACT_REACH * scale))
    below = _histogram(samples[:, [0, 2]], centre, texel, texels, near)
    contact = gaussian_filter(below, 0.018 * scale / texel, mode="constant", truncate=2.5)
    light = np.exp(-2.0 * per_sample * cast)
    sky = np.exp(-2.0 * per_sample * contact)
    kept = (1.0 - CAST_DARKNESS * (1.0 - light)) * (1.0 - CONTACT_DARKNESS * (1.0 - sky))
    return ((1.0 - kept) * _edge_fade(texels)).astype(np.float32)


def _histogram(
    places: npt.NDArray[np.floating],
    centre: Floats,
    texel: float,
    texels: int,
    weights: npt.NDArray[np.floating] | None = None,
) -> Floats:
    """How many samples (or how much weight) fall into each texel."""
    cell = np.floor((places - centre) / texel).astype(np.int64) + texels // 2
    inside = ((cell >= 0) & (cell < texels)).all(axis=1)
    flat = cell[inside, 1] * texels + cell[inside, 0]
    counts = np.bincount(flat, None if weights is None else weights[inside], minlength=texels * texels)
    return counts.astype(np.float64).reshape(texels, texels)


def _edge_fade(texels: int) -> Floats:
    """One inside, zero at the patch's rim, so that the rim is never seen."""
    across = np.abs(np.linspace(-1.0, 1.0, texels))
    fade = np.clip((1.0 - across) / 0.15, 0.0, 1.0)
    return np.minimum(fade[:, None], fade[None, :])
