"""The photographer's stage: lights, ground, the character's surfaces, drawn without a screen.

A key light from the camera's upper left and a weaker, cooler fill from the other side; a small
painted studio around the subject for soft ambient light and gloss; physically based shading; a
ground whose soft shadow shows contact. Everything scales with the subject.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.body.character import Character, Material
from ecorche.errors import MissingPackageError
from ecorche.render.bones import BoneShapes
from ecorche.render.camera import FIELD_OF_VIEW
from ecorche.render.drawn_meshes import DrawnMeshes
from ecorche.render.ground import Ground
from ecorche.render.layers import Layer, Look
from ecorche.render.surface import PaintedSurface, Surface, vertex_normals
from ecorche.render.under_skin import FACING_OPACITY, MusclesUnderSkin

Floats = npt.NDArray[np.float64]
Picture = npt.NDArray[np.uint8]

SKIN = Material("skin", base_color=(0.61, 0.36, 0.26, 1.0), roughness=0.55)
CLOTH = Material("cloth", base_color=(0.30, 0.33, 0.37, 1.0), roughness=0.8)
BONE_COLOUR, BONE_OPACITY = (0.96, 0.90, 0.72), 0.85
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


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
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


class Stage:
    """A character on its ground in front of a camera; one picture a frame.

    Args:
        character: Whose surfaces to show.
        layer: What of them to show.
        size: Width and height of the pictures [pixels].
        subject_size: How large the subject is [m].
        ground: Height of the ground [m].
        towards: Unit vector from the subject to the camera, shape (3,).
        skeleton: Whether to draw the bones over the skin.
        fine: Four times as many samples a pixel, for stills; films do without.
    """

    def __init__(
        self,
        character: Character,
        layer: Layer,
        size: tuple[int, int],
        *,
        subject_size: float,
        ground: float,
        towards: Floats,
        skeleton: bool,
        fine: bool,
    ) -> None:
        pv = require_pyvista()
        level = normalise(towards * (1.0, 0.0, 1.0))
        right = np.cross((0.0, 1.0, 0.0), level)
        to_key = normalise(-1.0 * right + 0.55 * level + np.array([0.0, 1.1, 0.0]))
        to_fill = normalise(right + 0.4 * level + np.array([0.0, 0.3, 0.0]))
        with _quiet():
            window = [OVERSAMPLING * s for s in size]
            self._plotter = plotter = pv.Plotter(off_screen=True, window_size=window, lighting="none")
        plotter.render_window.SetMultiSamples(4 if fine else 0)
        plotter.renderer.SetUseOIT(False)  # ground and bones blend well in order, at two thirds of the time
        plotter.set_background(BACKGROUND_LOW, top=BACKGROUND_HIGH)
        for place, colour, strength in (
            (to_key, KEY_COLOUR, KEY_STRENGTH),
            (to_fill, FILL_COLOUR, FILL_STRENGTH),
        ):
            # where colours stand for numbers, light has none
            shade = (1.0, 1.0, 1.0) if layer.painted else colour
            plotter.add_light(pv.Light(position=place, color=shade, intensity=strength))
        _surround(pv, plotter.renderer)
        self._drawn = DrawnMeshes(character)
        meshes = self._drawn.meshes
        self._ground = Ground(
            pv,
            plotter,
            meshes,
            subject_size=subject_size,
            height=ground,
            to_light=to_key,
            line_width=1.0 * OVERSAMPLING,
        )
        self._surfaces: list[Surface] = []
        self._painted: list[PaintedSurface] = []
        self._others: list[PaintedSurface] = []
        self._muscles: MusclesUnderSkin | None = None
        if layer.painted:
            if layer.doubled:
                self._others = [
                    PaintedSurface(pv, plotter, m.triangles(), m.vertex_count, "clay") for m in meshes
                ]
            gloss: Literal["clay", "matt"] = "clay" if layer.doubled else "matt"
            self._painted = [
                PaintedSurface(pv, plotter, m.triangles(), m.vertex_count, gloss) for m in meshes
            ]
        else:
            body = self._drawn.body
            self._surfaces = [
                Surface(pv, plotter, mesh, character, SKIN if mesh is body else CLOTH) for mesh in meshes
            ]
        if layer.shapes is not None:
            translucent = {k: mesh for k, mesh in enumerate(meshes) if k not in self._drawn.solid}
            self._muscles = MusclesUnderSkin(
                pv,
                plotter,
                translucent,
                [actor for k in translucent for actor in self._surfaces[k].actors],
                layer.shapes.triangles,
                layer.shapes.vertex_count,
                FACING_OPACITY if layer.opacity is None else layer.opacity,
            )
        self._bones = (
            _Bones(pv, plotter, BoneShapes(character.skeleton, _anchors(character))) if skeleton else None
        )

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._plotter.close()

    def shoot(self, look: Look, target: Floats, offset: Floats, world: Floats | None = None) -> Picture:
        """The picture of one frame, shape (height, width, 3).

        Args:
            look: What the stage's layer shows in this frame.
            target: What the camera looks at [m].
            offset: From target to camera [m].
            world: ``world_from_joint`` matrices for the bones, shape (joints, 4, 4).
        """
        look = self._drawn.look(look)
        frame = look.frame
        for place, mesh in enumerate(self._drawn.meshes):
            points, normals = frame.points[place], frame.normals[place]
            if look.paint is None:
                self._surfaces[place].update(points, normals)
            else:
                normals = vertex_normals(mesh, points, normals)
                self._painted[place].update(points, normals, look.paint[place])
            if look.other is not None and look.other_paint is not None:
                points, normals = look.other.points[place], look.other.normals[place]
                normals = vertex_normals(mesh, points, normals)
                self._others[place].update(points, normals, look.other_paint[place])
        if self._bones is not None and world is not None:
            self._bones.update(world)
        self._ground.update(frame.points)
        distance = float(np.linalg.norm(offset))
        camera = self._plotter.camera
        camera.focal_point, camera.position, camera.up = target, target + offset, (0.0, 1.0, 0.0)
        camera.view_angle = FIELD_OF_VIEW
        camera.clipping_range = (0.05 * distance, 8.0 * distance)
        with _quiet():
            if self._muscles is None:
                return _shrunk(self._photograph())
            return _shrunk(self._muscles.photograph(look, target + offset, self._photograph))

    def _photograph(self) -> Picture:
        """The stage as it is, at the size of its window."""
        self._plotter.render()
        image: Picture = self._plotter.screenshot(return_img=True)
        return image[..., :3]


def _anchors(character: Character) -> set[int]:
    """Joints at the top of the tree that move no skin: they hold the scene, not the body."""
    moving = {int(j) for m in character.meshes if m.weights is not None for j in np.unique(m.weights.joints)}
    found: set[int] = set()
    for joint, parent in enumerate(character.skeleton.parents):
        if moving and joint not in moving and (parent < 0 or parent in found):
            found.add(joint)
    return found


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


class _Bones:
    """The skeleton, drawn in a layer over the picture, so that it is seen through the skin."""

    def __init__(self, pv: Any, plotter: Any, shapes: BoneShapes) -> None:
        from vtkmodules.vtkRenderingCore import vtkRenderer

        self._shapes = shapes
        self._solid = pv.PolyData.from_regular_faces(
            np.zeros((6 * len(shapes.joints), 3), np.float32), shapes.triangles
        )
        actor = pv.Actor(mapper=pv.DataSetMapper(self._solid))
        actor.prop.color, actor.prop.opacity = BONE_COLOUR, BONE_OPACITY
        actor.prop.ambient, actor.prop.diffuse = 0.35, 0.24
        actor.prop.interpolation = "flat"
        actor.prop.culling = "back"
        overlay = vtkRenderer()
        overlay.SetLayer(1)
        overlay.SetActiveCamera(plotter.camera)
        overlay.AddActor(actor)
        for light in plotter.renderer.lights:
            overlay.AddLight(light)
        plotter.render_window.SetNumberOfLayers(2)
        plotter.render_window.AddRenderer(overlay)

    def update(self, world: Floats) -> None:
        """Show the bones for these ``world_from_joint`` matrices (joints, 4, 4)."""
        self._solid.points = self._shapes.points(world)


def _shrunk(image: npt.NDArray[np.uint8]) -> Picture:
    """Mean over blocks of OVERSAMPLING × OVERSAMPLING pixels."""
    total = np.full(
        (image.shape[0] // OVERSAMPLING, image.shape[1] // OVERSAMPLING, 3), OVERSAMPLING**2 // 2, np.uint16
    )
    for row in range(OVERSAMPLING):
        for column in range(OVERSAMPLING):
            total += image[row::OVERSAMPLING, column::OVERSAMPLING, :3]
    return (total // OVERSAMPLING**2).astype(np.uint8)
