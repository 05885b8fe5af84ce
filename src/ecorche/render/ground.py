"""The ground under the character: faint lines at a round distance, and its soft shadow."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.render.shadow import TEXELS, darkness
from ecorche.render.studio import OVERSAMPLING

Floats = npt.NDArray[np.float64]

LINE_COLOUR = (84, 90, 99)
LINE_OPACITY = 0.42
SHADOW_COLOUR = (22, 24, 30)


class Ground:
    """Lines and shadow that stay with the subject; the lines move by whole steps, so they stand still.

    Args:
        pv: The pyvista module.
        plotter: The stage's plotter.
        subject_size: How large the subject is [m].
        height: Height of the ground [m].
        to_light: Unit vector from the ground to the key light, shape (3,).
        half: Half the side of the patch that shadows fall on [m]; None suits one subject.
        texels: Of a side of that patch.
    """

    def __init__(
        self,
        pv: Any,
        plotter: Any,
        *,
        subject_size: float,
        height: float,
        to_light: Floats,
        half: float | None = None,
        texels: int = TEXELS,
    ) -> None:
        self._pv, self._height, self._to_light = pv, height, to_light
        self._subject_size, self._scale, self._texels = subject_size, 1.4 * subject_size, texels
        self._half = self._scale if half is None else half
        # of many subjects the lines are further apart, and further seen
        self._step = round_length(subject_size / (4.0 if half is None else 2.0))
        self._lines = plotter.add_mesh(
            _grid(pv, self._step, 2.4 * max(subject_size, self._half / 1.4)),
            scalars="rgba",
            rgba=True,
            lighting=False,
            line_width=1.0 * OVERSAMPLING,
        )
        square = pv.PolyData(
            np.array([[-1.0, 0, -1], [-1, 0, 1], [1, 0, 1], [1, 0, -1]]), faces=[4, 0, 1, 2, 3]
        )
        square.active_texture_coordinates = np.array([[0.0, 0], [0, 1], [1, 1], [1, 0]])
        self._patch = plotter.add_mesh(
            square, texture=self._texture(np.zeros((texels, texels))), lighting=False
        )
        self._patch.ForceTranslucentOn()

    def update(self, samples: npt.NDArray[np.float32], area_each: float) -> None:
        """Move with samples of the surfaces [m] (samples, 3) that stand for so much of them each [m²]."""
        if not len(samples):
            return
        middle = 0.5 * (samples.min(axis=0) + samples.max(axis=0)).astype(np.float64)[[0, 2]]
        half = self._half
        shade = darkness(
            samples,
            area_each,
            middle,
            half,
            self._height,
            self._to_light,
            texels=self._texels,
            scale=self._scale,
        )
        self._patch.SetTexture(self._texture(shade))
        lift = 1e-3 * self._subject_size
        self._patch.position = (middle[0], self._height, middle[1])
        self._patch.scale = (half, 1.0, half)
        nearest = self._step * np.round(middle / self._step)
        self._lines.position = (nearest[0], self._height - lift, nearest[1])

    def _texture(self, shade: npt.NDArray[np.floating]) -> Any:
        rgba = np.empty((*shade.shape, 4), np.uint8)
        rgba[..., :3] = SHADOW_COLOUR
        rgba[..., 3] = np.round(255.0 * shade)
        texture = self._pv.Texture(np.ascontiguousarray(rgba[::-1]))  # the first row is the top, v = 1
        texture.interpolate = True
        texture.wrap = self._pv.Texture.WrapType.CLAMP_TO_EDGE
        return texture


def round_length(length: float) -> float:
    """The length of 1, 2 or 5 times a power of ten nearest to a given one [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    choices = power * np.array([1.0, 2.0, 5.0, 10.0])
    return float(choices[np.argmin(np.abs(np.log(choices / length)))])


def _grid(pv: Any, step: float, reach: float) -> Any:
    """Crossing lines that fade with distance from the middle."""
    count = int(np.ceil(2.0 * reach / step))
    marks = step * np.arange(-count, count + 1)
    across, along = np.meshgrid(marks, marks, indexing="ij")
    zero = np.zeros_like(across)
    places = np.concatenate(
        [np.stack([across, zero, along], axis=-1), np.stack([along, zero, across], axis=-1)]
    ).reshape(-1, 3)
    numbers = np.arange(len(places)).reshape(-1, len(marks))
    lines = np.concatenate([np.full((len(numbers), 1), len(marks)), numbers], axis=1)
    grid = pv.PolyData(places, lines=lines.reshape(-1))
    opacity = 255.0 * LINE_OPACITY * np.exp(-((np.linalg.norm(places, axis=1) / reach) ** 2))
    grid["rgba"] = np.column_stack([np.tile(LINE_COLOUR, (len(places), 1)), opacity]).astype(np.uint8)
    return grid
