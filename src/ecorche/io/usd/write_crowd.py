"""Write a crowd as USD: a UsdSkel character of each body type, and instances with joints of their own.

Muscles are joints. Each body type is a SkelRoot in the class ``Types``, so that it is not drawn itself. Each
member is an Xform with its place and heading; below it stand a SkelAnimation, and ``Body``, an instanceable
reference to its type that is bound to that animation. Its travel is in the animation's first joints.

Some programs do not see what is bound above a skeleton: for those the reference is not instanceable, and the
skeleton below it is bound itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Kind, Sdf, Usd, UsdGeom, UsdSkel

from ecorche.body.as_joints import JointedCharacter, jointed_character
from ecorche.body.crowd import Crowd
from ecorche.body.joint_error import half_scale_error
from ecorche.body.take import Take
from ecorche.errors import EcorcheError
from ecorche.io.formats import Written
from ecorche.io.usd.write import write_file, write_textures
from ecorche.io.usd.write_scene import Scene
from ecorche.io.usd.write_skeleton import TimeLine, without_scale, write_animation
from ecorche.io.usd.write_skin import write_skinned
from ecorche.skeleton.motion import Motion
from ecorche.version import __version__

Floats = npt.NDArray[np.float64]
Progress = Callable[[str, int, int], None]

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
BYTES_A_JOINT = 34
"""Of a joint in a frame: translation and rotation in single, scale in half precision."""


def jointed_types(
    crowd: Crowd, *, influences: int = 8, joints_per_muscle: int | None = None
) -> tuple[JointedCharacter, ...]:
    """The character of each body type of a crowd, its muscles as joints."""
    character = crowd.character
    return tuple(
        jointed_character(character, rig, influences=influences, joints_per_muscle=joints_per_muscle)
        for rig in crowd.rigs
    )


def write_crowd(
    path: Path,
    crowd: Crowd,
    jointed: Sequence[JointedCharacter],
    times: Floats,
    *,
    instanced: bool = True,
    progress: Progress | None = None,
) -> Written:
    """Write a crowd whole, or not at all.

    Args:
        path: A .usd, .usda, .usdc or .usdz file.
        crowd: The crowd.
        jointed: Its character of each body type, with muscles as joints.
        times: Seconds of the frames, evenly spaced, (frames,).
        instanced: Whether members are instances, which share what is read of their type.
        progress: Told of every member.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise EcorcheError(f"{path.suffix!r} is no USD suffix", where=path, remedy="Use .usdc or .usda")
    notes: list[str] = []

    def layer(file: Path, target: Path) -> None:
        _write_layer(file, target, crowd, jointed, times, notes, instanced, progress)

    write_file(path, layer)
    apart = max(half_scale_error(j, m) for j, m in _first_motions(crowd, jointed, times))
    notes.append(f"UsdSkel keeps scales in half precision: {1e3 * apart:.3f} mm at the skin at most")
    return Written(tuple(notes))


def animation_bytes(jointed: Sequence[JointedCharacter], members: int, frames: int) -> int:
    """About how large the animations of so many members and frames are in a binary file."""
    joints = max(one.character.skeleton.joint_count for one in jointed)
    return members * frames * joints * BYTES_A_JOINT


def member_motion(crowd: Crowd, jointed: JointedCharacter, member: int, times: Floats) -> Motion:
    """What a member's joints do, muscle joints among them, seen from where it begins and is headed."""
    one = np.array([member])
    ahead = np.linalg.inv(crowd.placement(one, 0.0))[0]
    roots = np.flatnonzero(crowd.skeleton.parents < 0)
    local, active = [], []
    for time in times.tolist():
        pose = crowd.lane_local(one, time)[0]
        pose[roots] = ahead @ crowd.placement(one, time)[0] @ pose[roots]
        local.append(pose)
        active.append(crowd.activation(one, time)[0])
    skeleton = jointed.body.character.skeleton
    motion = Motion(f"member {member}", skeleton, times, np.stack(local))
    return jointed.motion(motion, np.stack(active))


def _first_motions(
    crowd: Crowd, jointed: Sequence[JointedCharacter], times: Floats
) -> Iterator[tuple[JointedCharacter, Motion]]:
    """A member of each body type, and what its joints do."""
    for kind, one in enumerate(jointed):
        members = crowd.of_type(kind)
        if len(members):
            yield one, member_motion(crowd, one, int(members[0]), times)


def _write_layer(
    file: Path,
    target: Path,
    crowd: Crowd,
    jointed: Sequence[JointedCharacter],
    times: Floats,
    notes: list[str],
    instanced: bool,
    progress: Progress | None,
) -> None:
    texture = write_textures(target, jointed[0].character)
    layer = Sdf.Layer.CreateNew(str(file))
    stage = Usd.Stage.Open(layer)
    rate = 24.0 if len(times) < 2 else (len(times) - 1) / float(times[-1] - times[0])
    line = TimeLine(float(round(rate)) if abs(rate - round(rate)) < 1e-6 else rate)
    _write_metadata(stage, line, times)
    types, skeletons = stage.CreateClassPrim("/Types").GetPath(), []
    for kind, one in enumerate(jointed):
        path = types.AppendChild(f"Type_{kind}")
        scene = Scene(stage, Take(one.character), "SkelRoot", texture, notes if kind == 0 else [], at=path)
        skeletons.append(None if instanced else scene.skeleton.name)
        skeleton = one.character.skeleton
        write_skinned(stage, scene, one.character.meshes, skeleton, [], line, notes if kind == 0 else [])
    root = UsdGeom.Xform.Define(stage, "/Crowd").GetPrim()
    stage.SetDefaultPrim(root)
    Usd.ModelAPI(root).SetKind(Kind.Tokens.assembly)
    digits = len(str(len(crowd) - 1))
    for member in range(len(crowd)):
        kind = int(crowd.cast.body_type[member])
        place = root.GetPath().AppendChild(f"Member_{member:0{digits}}")
        motion = member_motion(crowd, jointed[kind], member, times)
        _, (motion,), _ = without_scale(motion.skeleton, [motion])
        animation = place.AppendChild("Animation")
        _write_place(stage, place, crowd, member)
        # what half precision does is told once for all
        write_animation(stage, animation, motion, line, {}, keep_matrices=False, notes=[])
        _write_body(
            stage, place.AppendChild("Body"), types.AppendChild(f"Type_{kind}"), animation, skeletons[kind]
        )
        if progress is not None:
            progress("write", member + 1, len(crowd))
    layer.Save()


def _write_place(stage: Any, path: Any, crowd: Crowd, member: int) -> None:
    """Where a member begins, and its heading."""
    xform = UsdGeom.Xform.Define(stage, path)
    Usd.ModelAPI(xform.GetPrim()).SetKind(Kind.Tokens.group)
    begin = crowd.whereabouts(np.array([member]), 0.0)[0]
    xform.AddTranslateOp().Set(Gf.Vec3d(*begin.tolist()))
    heading = float(np.degrees(crowd.cast.heading[member]))
    if heading:
        xform.AddRotateYOp(UsdGeom.XformOp.PrecisionDouble).Set(heading)


def _write_body(stage: Any, path: Any, prototype: Any, animation: Any, skeleton: str | None) -> None:
    """A reference to a body type that plays an animation; an instance unless its skeleton is named."""
    body = stage.DefinePrim(path)
    body.GetReferences().AddInternalReference(prototype)
    if skeleton is None:
        body.SetInstanceable(True)
    else:
        body = stage.OverridePrim(path.AppendChild(skeleton))
    UsdSkel.BindingAPI.Apply(body).CreateAnimationSourceRel().SetTargets([animation])


def _write_metadata(stage: Any, line: TimeLine, times: Floats) -> None:
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    stage.SetTimeCodesPerSecond(line.rate)
    stage.SetFramesPerSecond(line.rate)
    codes = line.codes(times)
    stage.SetStartTimeCode(codes[0])
    stage.SetEndTimeCode(codes[-1])
    stage.GetRootLayer().customLayerData = {"creator": f"ecorche {__version__}"}
