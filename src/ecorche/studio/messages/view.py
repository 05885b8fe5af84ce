"""Messages about the view: the scene, one frame of it, colours on vertices, and what a ray meets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from ecorche.studio.messages.base import Message, Replied, Reply, Request

Vector = tuple[float, float, float]
Colouring = Literal["material", "displacement", "weights", "activation"]
Layer = Literal["skin", "muscles", "bones", "skeleton"]


class MeshTold(Message):
    """A mesh of the character, in the arrays of its scene.

    Attributes:
        name: The mesh's.
        body: Whether it is the one over the muscles.
        solid: Whether it is fixed to joints, as bones are: it stays opaque under translucent skin.
        colour: sRGB of its material, 0 to 1.
        points: Its part of a frame's points: first and count.
        normals: Its part of a frame's normals; none where these follow from the points.
        written: Its part of ``source`` and ``places``.
        triangles: Its part of ``triangles``, which count its own written vertices.
    """

    name: str
    body: bool
    solid: bool
    colour: Vector
    points: tuple[int, int]
    normals: tuple[int, int]
    written: tuple[int, int]
    triangles: tuple[int, int]


class MuscleSurfaceTold(Message):
    """A muscle's part of the muscles' vertices: first and count."""

    name: str
    points: tuple[int, int]


class SceneTold(Reply):
    """What stays the same until an edit.

    Attributes:
        revision: Of the rig it shows.
        meshes: The character's.
        muscles: Surfaces of the muscles.
        bones: Names of the bones, each with its joint and its part of the bones' vertices: first and count.
    """

    arrays: ClassVar[Mapping[str, str]] = {
        "source": "uint32 (written,): point of a mesh behind each written vertex",
        "places": "uint32 (written,): normal of a mesh of each written vertex",
        "triangles": "uint32 (triangles, 3)",
        "muscle_triangles": "uint32 (triangles, 3)",
        "muscle_colours": "uint8 (vertices, 3): sRGB of flesh and tendon",
        "bone_points": "float32 (vertices, 3) [m], at bind",
        "bone_joints": "uint32 (vertices,)",
        "bone_triangles": "uint32 (triangles, 3)",
        "bind": "float32 (joints, 4, 4): world_from_joint at bind, row by row",
        "tips": "float32 (joints, 3) [m]: tip of each joint's bone at bind",
    }

    revision: int
    meshes: tuple[MeshTold, ...]
    muscles: tuple[MuscleSurfaceTold, ...]
    bones: tuple[tuple[str, str], ...]


class ViewScene(Request):
    """What stays the same until an edit."""

    reply: ClassVar[Replied] = SceneTold
    type: Literal["view.scene"] = "view.scene"


class FrameTold(Reply):
    """One moment.

    Attributes:
        revision: Of the rig it shows; another than the scene's asks for a new scene.
        time: On the motion's clock [s]; 0 of a pose.
        range: Of the coloured values: least and greatest, and their unit.
        seconds: What the server took to make it [s].
    """

    arrays: ClassVar[Mapping[str, str]] = {
        "points": "float32 (vertices, 3) [m]: of all meshes",
        "normals": "float32 (places, 3)",
        "plain": "float32 (vertices, 3) [m]: by skinning alone, where it was asked for",
        "plain_normals": "float32 (places, 3)",
        "muscles": "float32 (vertices, 3) [m], where they were asked for",
        "fat": "float32 (vertices, 3) [m], where it was asked for",
        "activation": "float32 (muscles,)",
        "joints": "float32 (joints, 4, 4): world_from_joint, row by row",
        "values": "float32 (vertices,): what colours stand for, of all meshes",
        "payload": "float32: of the vertex program, where it was asked for in place of points",
    }

    revision: int
    time: float
    range: tuple[float, float, str] | None
    seconds: float


class ViewFrame(Request):
    """The pose or the moment of the motion that this page shows.

    Attributes:
        muscles: Whether to give the muscles' surfaces.
        fat: Whether to give the outside of the fat.
        plain: Whether to give the skin by skinning alone too.
        payload: Give what the vertex program plays in place of points, where it can be played.
        colour: What colours on the skin stand for.
        of: The muscle or joint whose weights are meant.
    """

    reply: ClassVar[Replied] = FrameTold
    type: Literal["view.frame"] = "view.frame"
    muscles: bool = True
    fat: bool = False
    plain: bool = False
    payload: bool = False
    colour: Colouring = "material"
    of: str | None = None


class FatTold(Reply):
    """The fat that can move, region by region.

    Attributes:
        revision: Of the rig.
        regions: Their names.
        notes: What was left out and why, a sentence each.
    """

    arrays: ClassVar[Mapping[str, str]] = {"triangles": "uint32 (triangles, 3)"}

    revision: int
    regions: tuple[str, ...]
    notes: tuple[str, ...]


class ViewFat(Request):
    """The fat; it is made when it is first asked for, which takes seconds."""

    reply: ClassVar[Replied] = FatTold
    type: Literal["view.fat"] = "view.fat"


class ProgramTold(Reply):
    """The vertex program of this revision, for a page that runs it by itself.

    Attributes:
        revision: Of the rig.
        carried: As a glTF of ours carries it, see `ecorche.web.carried`; None where it cannot be played so.
        why: What is in the way; None for nothing.
    """

    arrays: ClassVar[Mapping[str, str]] = {"*": "bytes of each constant, by its name"}

    revision: int
    carried: str | None
    why: str | None


class ViewProgram(Request):
    """The vertex program."""

    reply: ClassVar[Replied] = ProgramTold
    type: Literal["view.program"] = "view.program"


class PickTold(Reply):
    """What a ray meets first.

    Attributes:
        kind: What it is; None for nothing.
        name: Of the mesh, muscle, bone or joint.
        point: Where [m], in the world as posed.
        bind: The same point at bind [m].
        normal: Of the surface there, in the world.
        joint: The joint that it moves with most.
        distance: Along the ray [m].
    """

    kind: Layer | None
    name: str | None = None
    point: Vector | None = None
    bind: Vector | None = None
    normal: Vector | None = None
    joint: str | None = None
    distance: float | None = None


class ViewPick(Request):
    """What a ray meets first.

    Attributes:
        origin: Of the ray [m].
        direction: Of the ray.
        layers: What it may meet.
    """

    reply: ClassVar[Replied] = PickTold
    type: Literal["view.pick"] = "view.pick"
    origin: Vector
    direction: Vector
    layers: tuple[Layer, ...]


class ActivationSet(Request):
    """Work some muscles by hand while posing; None gives one back to the rig's own source.

    Attributes:
        values: By the muscle's name, 0 to 1.
    """

    type: Literal["view.activate"] = "view.activate"
    values: Mapping[str, float | None]


class ViewRest(Request):
    """Back to bind: the pose, and muscles that were worked by hand."""

    type: Literal["view.rest"] = "view.rest"


REQUESTS = (ViewScene, ViewFrame, ViewFat, ViewProgram, ViewPick, ActivationSet, ViewRest)
EVENTS = ()
