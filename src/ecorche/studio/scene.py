"""What a page draws: everything of a body that stays the same, and the arrays of one frame."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.body.bones import BodyBones, compile_bones
from ecorche.body.compile import Body
from ecorche.body.drawn_muscles import DrawnMuscles
from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.body.fat import BodyFat
from ecorche.body.fat_shell import FatShell
from ecorche.body.frames import Frame
from ecorche.body.vertex_program import VertexProgram, vertex_program
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.io.gltf.geometry import first_corners, geometry_of
from ecorche.render.tissue_colours import TissueColours
from ecorche.skin.smoothing import has_corner_normals
from ecorche.skin.weights import one_joint_each
from ecorche.studio.messages.view import MeshTold, MuscleSurfaceTold, SceneTold

if TYPE_CHECKING:
    from ecorche.studio.session import Moment

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]


class SkinArrays(NamedTuple):
    """All meshes of a character as they are drawn.

    Attributes:
        meshes: Each of them.
        source: Point of a mesh behind each written vertex, (written,).
        places: Normal of a mesh of each written vertex, (written,).
        triangles: Of written vertices, each mesh counting its own, (triangles, 3).
    """

    meshes: tuple[MeshTold, ...]
    source: npt.NDArray[np.uint32]
    places: npt.NDArray[np.uint32]
    triangles: npt.NDArray[np.uint32]


class ShownFat(NamedTuple):
    """Fat and the outside of each of its regions."""

    fat: BodyFat
    shells: tuple[FatShell, ...]

    def triangles(self) -> npt.NDArray[np.uint32]:
        """Of all regions, (triangles, 3)."""
        cut: list[npt.NDArray[np.integer]] = [np.zeros((0, 3), np.int64)]
        first = 0
        for shell in self.shells:
            cut += [shell.faces[:, corners].astype(np.int64) + first for corners in ([0, 1, 2], [0, 2, 3])]
            first += int(shell.faces.max(initial=-1)) + 1
        return np.concatenate(cut).astype(np.uint32)

    def points(self, moment: Moment, moved: Floats) -> Points:
        """Where the outside of all regions is [m], (vertices, 3): at rest where nothing swings."""
        live = moment.live
        swinging = live.body.fat is not None and len(live.body.fat.parts) == len(self.shells)
        rest = [np.zeros_like(part.grid.rest) for part in self.fat.parts]
        displaced = live.fat_displacements(moment.index) if swinging else rest
        found = [shell.points(moved, d) for shell, d in zip(self.shells, displaced, strict=True)]
        return np.concatenate([np.zeros((0, 3), np.float32), *found])


class Scene:
    """A body as it is drawn, constant over time.

    Args:
        body: The compiled body.
        rig: Its rig.
    """

    def __init__(self, body: Body, rig: Rig) -> None:
        self.body, self.rig = body, rig

    @cached_property
    def bones(self) -> BodyBones | None:
        """Meshes of bones; None where the rig has none."""
        return compile_bones(self.rig, self.body.character.skeleton)

    @cached_property
    def fat(self) -> ShownFat:
        """The body's fat, with what can be shown of it."""
        from ecorche.body.compile_fat import compile_fat

        held = self.body.fat or compile_fat(self.body, self.rig)
        return ShownFat(held, tuple(FatShell(part) for part in held.parts))

    @cached_property
    def program(self) -> tuple[VertexProgram | None, str | None]:
        """The body's vertex program; None and why where it cannot be played so."""
        try:
            return vertex_program(self.body), None
        except EcorcheError as error:
            return None, error.what

    @cached_property
    def skin(self) -> SkinArrays:
        """The character's meshes."""
        return skin_arrays(self.body)

    def told(self, drawn: DrawnMuscles, revision: int) -> tuple[SceneTold, dict[str, npt.NDArray[Any]]]:
        """The scene as a message, and its arrays."""
        surfaces, bones = drawn.surfaces, self.bones
        skeleton = self.body.character.skeleton
        reply = SceneTold(
            revision=revision,
            meshes=self.skin.meshes,
            muscles=muscle_parts(self.body, surfaces),
            bones=()
            if bones is None
            else tuple((bone.name, skeleton.names[bone.joint]) for bone in bones.bones),
        )
        none = np.zeros((0, 3))
        return reply, {
            "source": self.skin.source,
            "places": self.skin.places,
            "triangles": self.skin.triangles,
            "muscle_triangles": surfaces.triangles.astype(np.uint32),
            "muscle_colours": TissueColours(surfaces).tissue(),
            "bone_points": (none if bones is None else bones.bind).astype(np.float32),
            "bone_joints": (none[:, 0] if bones is None else bones.joint).astype(np.uint32),
            "bone_triangles": (none if bones is None else bones.triangles).astype(np.uint32),
            "bind": skeleton.bind_world.astype(np.float32),
            "tips": skeleton.tail_positions().astype(np.float32),
        }


def skin_arrays(body: Body) -> SkinArrays:
    """The meshes of a body as they are drawn."""
    character, told = body.character, []
    source, places, triangles = [], [], []
    first_point = first_normal = first_written = first_triangle = 0
    main = character.body().name if any(m.weights is not None for m in character.meshes) else None
    if body.muscles is not None:
        main = character.meshes[body.muscles.skin].name
    for mesh in character.meshes:
        geometry = geometry_of(mesh.mesh)
        of_corner = first_corners(geometry.corners, len(geometry.source))
        corner_normals = has_corner_normals(mesh.mesh)
        count = mesh.mesh.vertex_count
        shaded = mesh.mesh.subdivision == "none"
        normals = 0 if not shaded else len(geometry.corners) if corner_normals else count
        cut = geometry.corners[geometry.triangles]
        numbers = (mesh.mesh.material, *(subset.material for subset in mesh.mesh.subsets))
        colours = [character.materials[n].base_color for n in numbers if n is not None]
        told.append(
            MeshTold(
                name=mesh.name,
                body=mesh.name == main,
                solid=mesh.name != main and mesh.weights is not None and one_joint_each(mesh.weights),
                colour=colours[0][:3] if colours else (0.8, 0.8, 0.8),
                points=(first_point, count),
                normals=(first_normal, normals),
                written=(first_written, len(geometry.source)),
                triangles=(first_triangle, len(cut)),
            )
        )
        source.append(geometry.source)
        places.append(of_corner if corner_normals else geometry.source)
        triangles.append(cut)
        first_point, first_normal = first_point + count, first_normal + normals
        first_written, first_triangle = first_written + len(geometry.source), first_triangle + len(cut)
    return SkinArrays(
        tuple(told),
        np.concatenate([np.zeros(0), *source]).astype(np.uint32),
        np.concatenate([np.zeros(0), *places]).astype(np.uint32),
        np.concatenate([np.zeros((0, 3)), *triangles]).astype(np.uint32),
    )


def muscle_parts(body: Body, surfaces: EcorcheSurfaces) -> tuple[MuscleSurfaceTold, ...]:
    """Which vertices of the surfaces are whose; a muscle that is not drawn has none."""
    names = drawn_names(body)
    counts = np.bincount(surfaces.muscle, minlength=len(names))
    firsts = np.concatenate([[0], np.cumsum(counts)])
    return tuple(
        MuscleSurfaceTold(name=name, points=(int(first), int(count)))
        for name, first, count in zip(names, firsts, counts, strict=False)
    )


def drawn_names(body: Body) -> tuple[str, ...]:
    """Names of the muscles whose surfaces are drawn, in their order: meshes that lack a line are not."""
    if body.lines is None:
        return body.muscle_names
    first = len(body.muscle_names) - len(body.lines.designed)
    kept = [body.lines.designed[n].name for n in body.lines.musculature.kept.tolist()]
    return (*body.muscle_names[:first], *kept)


def joined_normals(frame: Frame) -> Points:
    """Normals of all meshes that have some, (places, 3)."""
    return np.concatenate([np.zeros((0, 3), np.float32), *(n for n in frame.normals if n is not None)])


def joined_points(frame: Frame) -> Points:
    """Points of all meshes [m], (vertices, 3)."""
    return np.concatenate([np.zeros((0, 3), np.float32), *frame.points])


def joint_worlds(moment: Moment) -> Points:
    """``world_from_joint`` of a moment, (joints, 4, 4)."""
    from ecorche.skeleton.skeleton import world_from_local

    motion = moment.live.motion
    return world_from_local(motion.skeleton.parents, motion.local[moment.index]).astype(np.float32)
