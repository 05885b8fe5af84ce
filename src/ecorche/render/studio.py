"""The photographer's studio: lights, surroundings and a camera that draws without a screen.

A key light from the camera's upper left and a weaker, cooler fill from the other side; a small
painted studio around the subject for soft ambient light and gloss.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.errors import MissingPackageError
from ecorche.render.camera import FIELD_OF_VIEW

Floats = npt.NDArray[np.float64]
Picture = npt.NDArray[np.uint8]

BACKGROUND_LOW, BACKGROUND_HIGH = (0.83, 0.84, 0.85), (0.50, 0.55, 0.61)
KEY_COLOUR, KEY_STRENGTH = (1.0, 0.95, 0.88), 3.1
FILL_COLOUR, FILL_STRENGTH = (0.78, 0.88, 1.0), 0.7
OVERSAMPLING = 2
"""Pictures are drawn this many times larger and shrunk."""
_ONE_AT_A_TIME = threading.Lock()


def require_pyvista() -> Any:
    """The pyvista module, or the command that installs it."""
    try:
        with _ONE_AT_A_TIME:
            import pyvista

            pyvista.Plotter  # noqa: B018  it loads its parts when first asked, and a second thread gets half
    except ImportError:
        raise MissingPackageError(
            "pictures need the package pyvista", remedy='Run: pip install "ecorche[render]"'
        ) from None
    return pyvista


class Studio:
    """An empty studio.

    Args:
        size: Width and height of the pictures [pixels].
        towards: Unit vector from the subject to the camera, shape (3,).
        fine: Four times as many samples a pixel, for stills; films do without.
        white: Light without colour, where colours stand for numbers.

    Attributes:
        pv: The pyvista module.
        plotter: What is drawn.
        to_key: Unit vector to the key light, shape (3,).
    """

    def __init__(self, size: tuple[int, int], towards: Floats, *, fine: bool, white: bool = False) -> None:
        self.pv = pv = require_pyvista()
        level = normalise(towards * (1.0, 0.0, 1.0))
        right = np.cross((0.0, 1.0, 0.0), level)
        self.to_key: Floats = normalise(-1.0 * right + 0.55 * level + np.array([0.0, 1.1, 0.0]))
        to_fill = normalise(right + 0.4 * level + np.array([0.0, 0.3, 0.0]))
        with quiet():
            window = [OVERSAMPLING * s for s in size]
            self.plotter = plotter = pv.Plotter(off_screen=True, window_size=window, lighting="none")
        plotter.render_window.SetMultiSamples(4 if fine else 0)
        plotter.renderer.SetUseOIT(False)  # ground and bones blend well in order, at two thirds of the time
        plotter.set_background(BACKGROUND_LOW, top=BACKGROUND_HIGH)
        for place, colour, strength in (
            (self.to_key, KEY_COLOUR, KEY_STRENGTH),
            (to_fill, FILL_COLOUR, FILL_STRENGTH),
        ):
            shade = (1.0, 1.0, 1.0) if white else colour
            plotter.add_light(pv.Light(position=place, color=shade, intensity=strength))
        _surround(pv, plotter.renderer)

    def close(self) -> None:
        """Give back what the window took."""
        self.plotter.close()

    def aim(
        self,
        target: Floats,
        offset: Floats,
        *,
        field: float = FIELD_OF_VIEW,
        clipping: tuple[float, float] | None = None,
    ) -> None:
        """Point the camera.

        Args:
            target: What it looks at [m].
            offset: From target to camera [m].
            field: Vertical opening [degrees].
            clipping: Nearest and furthest that is drawn [m]; None goes by how far the target is.
        """
        distance = float(np.linalg.norm(offset))
        camera = self.plotter.camera
        camera.focal_point, camera.position, camera.up = target, target + offset, (0.0, 1.0, 0.0)
        camera.view_angle = field
        camera.clipping_range = clipping or (0.05 * distance, 8.0 * distance)

    def photograph(self) -> Picture:
        """The studio as it is, at the size of its window."""
        self.plotter.render()
        image: Picture = self.plotter.screenshot(return_img=True)
        return image[..., :3]

    def picture(self) -> Picture:
        """The studio as it is, at the size that was asked for."""
        with quiet():
            return shrunk(self.photograph())


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """VTK complains on the error stream that there is no screen, then draws without one.

    How much it says is one setting for all threads, so they draw in turn.
    """
    from vtkmodules.vtkCommonCore import vtkLogger

    with _ONE_AT_A_TIME:
        before = vtkLogger.GetCurrentVerbosityCutoff()
        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
        try:
            yield
        finally:
            vtkLogger.SetStderrVerbosity(before)


def _surround(pv: Any, renderer: Any) -> None:
    """A painted studio as surroundings: bright above and to the sides, darker towards the floor.

    Sizes are small: soft light needs no detail, and in software every sample counts.
    """
    up = np.linspace(1.0, -1.0, 32)[:, None, None]  # the first row looks up
    around = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)[None, :, None]
    sky, floor = np.array([0.44, 0.49, 0.56]), np.array([0.19, 0.17, 0.15])
    mix = np.clip(0.5 + 0.7 * up, 0.0, 1.0)
    colour = (1.0 - mix) * floor + mix * sky + 0.0 * around
    texture = pv.Texture(np.round(255.0 * colour).astype(np.uint8))
    texture.interpolate = True
    texture.mipmap = True
    renderer.UseImageBasedLightingOn()
    renderer.SetEnvironmentTexture(texture, True)
    renderer.UseSphericalHarmonicsOn()
    prefiltered, table = renderer.GetEnvMapPrefiltered(), renderer.GetEnvMapLookupTable()
    prefiltered.SetPrefilterLevels(4)
    prefiltered.SetPrefilterMaxSamples(32)
    table.SetLUTSize(64)
    table.SetLUTSamples(64)


def shrunk(image: npt.NDArray[np.uint8]) -> Picture:
    """Mean over blocks of OVERSAMPLING × OVERSAMPLING pixels."""
    total = np.full(
        (image.shape[0] // OVERSAMPLING, image.shape[1] // OVERSAMPLING, 3), OVERSAMPLING**2 // 2, np.uint16
    )
    for row in range(OVERSAMPLING):
        for column in range(OVERSAMPLING):
            total += image[row::OVERSAMPLING, column::OVERSAMPLING, :3]
    return (total // OVERSAMPLING**2).astype(np.uint8)
