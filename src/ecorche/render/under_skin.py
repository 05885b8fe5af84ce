"""Muscles under translucent skin: three photographs of one stage, laid over each other.

One without the skin, where the muscles stand before the inside of the far skin; one with it; and one that
says how much of each to take. So exactly the nearest skin lies over what is inside, in any pose and in
whatever order a file lists its triangles, which blending in the scene does not give. The skin is
thin where one looks straight at it and thick at its outline, as glass and as wet skin are. A muscle that
pierces the skin is in both photographs, and stays as red as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Mesh
from ecorche.base.rotations import normalise
from ecorche.render.layers import Look
from ecorche.render.surface import PaintedSurface, smooth_normals, vertex_normals

Floats = npt.NDArray[np.float64]
Image = npt.NDArray[np.uint8]

FACING_OPACITY, OUTLINE_OPACITY = 0.2, 0.85
"""How much of the skin is seen, where it faces the camera and at its outline."""
OUTLINE_POWER = 2.5
INSIDE = (190, 176, 164)
"""The far skin seen from within."""


class MusclesUnderSkin:
    """The muscles, the inside of the skin and the skin's opacity on a stage.

    Args:
        pv: The pyvista module.
        plotter: The stage's plotter.
        meshes: The surfaces that are made translucent, by their place in a frame.
        skins: The actors that show them opaque.
        triangles: Of the muscles' surfaces, (triangles, 3).
        count: How many vertices those have.
        opacity: How much of the skin is seen where it faces the camera.
    """

    def __init__(
        self,
        pv: Any,
        plotter: Any,
        meshes: Mapping[int, Mesh],
        skins: Sequence[Any],
        triangles: npt.NDArray[np.int32],
        count: int,
        opacity: float = FACING_OPACITY,
    ) -> None:
        self._facing_opacity = opacity
        self._meshes, self._skins, self._triangles = meshes, skins, triangles
        self._flesh = PaintedSurface(pv, plotter, triangles, count, "wet")
        self._inside = [
            PaintedSurface(pv, plotter, m.triangles(), m.vertex_count, "wet", "front")
            for m in meshes.values()
        ]
        self._opacity = [
            PaintedSurface(pv, plotter, m.triangles(), m.vertex_count, "none") for m in meshes.values()
        ]

    def photograph(self, look: Look, camera: Floats, take_picture: Callable[[], Image]) -> Image:
        """The picture with translucent skin.

        Args:
            look: The muscles, and the frame of the surfaces.
            camera: Where the camera stands [m].
            take_picture: Photographs the stage as it is.
        """
        assert look.muscles is not None
        assert look.muscle_colours is not None
        self._flesh.update(look.muscles, smooth_normals(look.muscles, self._triangles), look.muscle_colours)
        frame = look.frame
        for (place, mesh), inside, opacity in zip(
            self._meshes.items(), self._inside, self._opacity, strict=True
        ):
            points = frame.points[place]
            normals = vertex_normals(mesh, points, frame.normals[place])
            inside.update(points, normals, np.tile(np.array(INSIDE, np.uint8), (len(points), 1)))
            grey = np.rint(255.0 * skin_opacity(points, normals, camera, self._facing_opacity)).astype(
                np.uint8
            )
            opacity.update(points, normals, np.repeat(grey[:, None], 3, axis=1))
        self._show(inside=True)
        within = take_picture().astype(np.uint16)
        self._show(opacity=True)
        share = take_picture()[..., :1].astype(np.uint16)
        self._show(skin=True)
        without = take_picture().astype(np.uint16)
        return ((share * without + (255 - share) * within + 127) // 255).astype(np.uint8)

    def _show(self, *, inside: bool = False, opacity: bool = False, skin: bool = False) -> None:
        for surface in self._inside:
            surface.actor.visibility = inside
        for surface in self._opacity:
            surface.actor.visibility = opacity
        for actor in self._skins:
            actor.visibility = skin


def skin_opacity(
    points: npt.NDArray[np.float32],
    normals: npt.NDArray[np.float32],
    camera: Floats,
    facing_opacity: float = FACING_OPACITY,
) -> npt.NDArray[np.floating]:
    """How much of the skin is seen at each vertex, 0 to 1, shape (vertices,)."""
    facing = np.abs(np.einsum("vi,vi->v", normals, normalise(camera - points)))
    # float32 normals are longer than one by rounding
    aslant = np.maximum(1.0 - facing, 0.0)
    share: npt.NDArray[np.floating] = (
        facing_opacity + (OUTLINE_OPACITY - facing_opacity) * aslant**OUTLINE_POWER
    )
    return share
