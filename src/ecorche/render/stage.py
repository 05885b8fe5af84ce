"""The photographer's stage: the character's surfaces in a studio, on a ground.

Physically based shading; a ground whose soft shadow shows contact. Everything scales with the subject.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character, Material
from ecorche.render.bones import BoneShapes
from ecorche.render.drawn_meshes import DrawnMeshes
from ecorche.render.ground import Ground
from ecorche.render.layers import Layer, Look
from ecorche.render.shadow import SurfaceSamples
from ecorche.render.studio import Picture, Studio, quiet, shrunk
from ecorche.render.surface import PaintedSurface, Surface, vertex_normals
from ecorche.render.under_skin import FACING_OPACITY, MusclesUnderSkin

Floats = npt.NDArray[np.float64]

SKIN = Material("skin", base_color=(0.61, 0.36, 0.26, 1.0), roughness=0.55)
CLOTH = Material("cloth", base_color=(0.30, 0.33, 0.37, 1.0), roughness=0.8)
BONE_COLOUR, BONE_OPACITY = (0.96, 0.90, 0.72), 0.85


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
        # where colours stand for numbers, light has none
        self._studio = studio = Studio(size, towards, fine=fine, white=layer.painted)
        pv, plotter = studio.pv, studio.plotter
        self._drawn = DrawnMeshes(character)
        meshes = self._drawn.meshes
        self._samples = SurfaceSamples(meshes)
        self._ground = Ground(pv, plotter, subject_size=subject_size, height=ground, to_light=studio.to_key)
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
        self._studio.close()

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
        self._ground.update(self._samples.at(frame.points), self._samples.area_each)
        studio = self._studio
        studio.aim(target, offset)
        if self._muscles is None:
            return studio.picture()
        with quiet():
            return shrunk(self._muscles.photograph(look, target + offset, studio.photograph))


def _anchors(character: Character) -> set[int]:
    """Joints at the top of the tree that move no skin: they hold the scene, not the body."""
    moving = {int(j) for m in character.meshes if m.weights is not None for j in np.unique(m.weights.joints)}
    found: set[int] = set()
    for joint, parent in enumerate(character.skeleton.parents):
        if moving and joint not in moving and (parent < 0 or parent in found):
            found.add(joint)
    return found


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
