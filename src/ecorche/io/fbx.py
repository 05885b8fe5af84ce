"""FBX in and out, through Blender out of process.

Between Blender and us the character is a USD file: vertices keep their order and faces their corners on the
way. FBX skins linearly: a skin that departs from that is written with blend shapes, as in glTF.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base import transforms
from ecorche.base.confined import confined, reading_only_within
from ecorche.base.files import whole_file
from ecorche.base.names import suggestion
from ecorche.body.character import Character
from ecorche.body.take import Take
from ecorche.errors import MotionError, ReadError, WriteError
from ecorche.io import usd
from ecorche.io.blender import require_program, run_blender
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.posed import rate_of
from ecorche.skeleton.motion import Motion

__all__ = ["read_character", "read_motion", "require_program", "write_take"]

MAGIC = b"Kaydara FBX Binary"
UNSHEARED = 1e-5
"""A shear that is but rounding."""
COARSE = 0.05
"""So far scales in Blender's USD may be from what they were: it leaves out what has changed little."""


def read_character(path: Path) -> Character:
    """The character in an FBX file with all its motions, as Blender reads it."""
    with path.open("rb") as file:
        head = file.read(len(MAGIC))
    if head != MAGIC:
        raise ReadError(
            "is not binary FBX, which is all that Blender reads",
            where=path,
            remedy="Export it again as binary FBX 7.1 or newer",
        )
    with tempfile.TemporaryDirectory(prefix="ecorche-fbx-") as name:
        folder = Path(name)
        run_blender("fbx_to_usd", path.resolve(), folder, where=path, error=ReadError)
        names = json.loads((folder / "names.json").read_text(encoding="utf-8"))
        within = reading_only_within(folder) if confined() else contextlib.nullcontext()
        try:
            with within:
                character = usd.read_character(folder / "0.usdc")
                # a cache would be read from a file that is gone soon
                character = replace(character, cache=None)
                others = [usd.read_motion(folder / f"{n}.usdc") for n in range(1, len(names["motions"]))]
                scales = [np.load(folder / f"{n}.npy") for n in range(len(names["motions"]))]
        except ReadError as error:
            raise ReadError(error.what, where=path, remedy=error.remedy) from error
    return _named(character, others, scales, names, path)


def read_motion(path: Path, clip: str | None = None) -> Motion:
    """A motion in an FBX file, by name where it has several."""
    motions = read_character(path).motions
    if not motions:
        raise MotionError("it has no motion", where=path, remedy="Export it with its animation")
    for motion in motions:
        if clip is None or motion.name == clip:
            return motion
    raise MotionError(
        f"there is no motion {clip!r}", where=path, remedy=suggestion(clip or "", [m.name for m in motions])
    )


def _named(
    character: Character,
    others: list[Motion],
    scales: list[npt.NDArray[np.float64]],
    names: dict[str, Any],
    path: Path,
) -> Character:
    """The character with the names that FBX gives, where USD's differ."""
    joints = {_usd_name(name): name for name in names["joints"]}
    called = {_usd_name(name): name for name in names["meshes"]}
    skeleton = replace(
        character.skeleton, names=tuple(joints.get(_usd_name(n), n) for n in character.skeleton.names)
    )
    meshes = {m.name: called.get(_usd_name(m.name), m.name) for m in character.meshes}
    notes = [note for note in character.notes if "posed cache" not in note]
    if len(joints) < len(names["joints"]):
        notes.append("some joints have names that USD does not tell apart: they may be exchanged")
    if names["armatures"] > 1:
        notes.append(f"the file has {names['armatures']} armatures")
    # without an action what Blender writes is one pose, which is no motion
    own = list(character.motions[:1]) if names["motions"] else []
    motions = []
    read = zip([*own, *others], names["motions"], names["ranges"], scales, strict=False)
    for sparse, name, (first, last), scale in read:
        motion = _every_frame(sparse, np.arange(first, last + 1) / names["rate"])
        motion = _with_scales(motion, names["joints"], scale)
        if motion.skeleton.names != character.skeleton.names:
            notes.append(f"motion {name!r} is of other joints and left out")
            continue
        weights = {
            f"{meshes.get(mesh, mesh)}/{shape}": curve
            for key, curve in motion.morph_weights.items()
            for mesh, shape in [key.split("/", 1)]
        }
        # Blender names an action "armature|take", and ours has no armature to tell apart
        motions.append(replace(motion, name=name.split("|")[-1], skeleton=skeleton, morph_weights=weights))
    return replace(
        character,
        name=path.stem,
        source=str(path),
        skeleton=skeleton,
        meshes=tuple(replace(m, mesh=replace(m.mesh, name=meshes[m.name])) for m in character.meshes),
        motions=tuple(motions),
        notes=tuple(notes),
    )


def _every_frame(motion: Motion, times: npt.NDArray[np.float64]) -> Motion:
    """The motion at all frames: Blender leaves out those in which nothing differs from the frame before."""
    kept = np.maximum(np.searchsorted(motion.times, times + 1e-6, side="right") - 1, 0)
    weights = {name: curve[kept] for name, curve in motion.morph_weights.items()}
    return replace(motion, times=times, local=motion.local[kept], morph_weights=weights)


def _with_scales(motion: Motion, joints: list[str], scales: npt.NDArray[np.float64]) -> Motion:
    """The motion with scales of joints as Blender has them, where they are what USD rounded."""
    moves, turns, told = transforms.decompose(motion.local)
    places = {_usd_name(name): place for place, name in enumerate(joints)}
    for joint, name in enumerate(motion.skeleton.names):
        place = places.get(_usd_name(name))
        # an armature's own scale may have been taken into its first joints, whose scale then is another
        if place is not None and np.abs(scales[:, place] - told[:, joint]).max() < COARSE:
            told[:, joint] = scales[:, place]
    return replace(motion, local=transforms.compose(moves, turns, told))


def _usd_name(name: str) -> str:
    """What of a name USD and Blender agree about."""
    return re.sub(r"\W", "_", name)


def write_take(path: Path, take: Take, options: WriteOptions) -> Written:
    """Write a character with its motion, and blend shapes for what linear skinning does not do."""
    notes: list[str] = []
    character = take.character
    if any(mesh.skinning not in (None, "linear") for mesh in character.meshes):
        meshes = tuple(replace(mesh, skinning=None) for mesh in character.meshes)
        character = replace(character, meshes=meshes)
        notes.append("FBX in Blender skins linearly: the character's own skinning is not told")
    motion = take.motion or (character.motions[0] if character.motions else None)
    if take.motion is None and len(character.motions) > 1:
        left = ", ".join(repr(m.name) for m in character.motions[1:])
        notes.append(f"one motion is written to FBX, {character.motions[0].name!r}; left out: {left}")
        character = replace(character, motions=character.motions[:1])
    with tempfile.TemporaryDirectory(prefix="ecorche-fbx-") as name:
        folder = Path(name)
        middle = folder / "character.usdc"
        skeletal = replace(options, usd_as="skeleton")
        notes += usd.write_take(middle, replace(take, character=character), skeletal).notes
        called = usd.prim_names(middle) | {"motion": "motion" if motion is None else motion.name}
        (folder / "names.json").write_text(json.dumps(called), encoding="utf-8")
        rate, first, last = _time(motion, take.samples, notes)
        if motion is not None:
            plain = usd.animated(motion)
            if transforms.shear(plain.local).max() < UNSHEARED:  # scales, all that USD rounds, go beside it
                notes = [note for note in notes if "half precision" not in note]
            scales, joints = transforms.decompose(plain.local)[2], list(plain.skeleton.names)
            np.savez(folder / "scales.npz", frames=motion.times * rate, joints=joints, scales=scales)
        with whole_file(path) as partial:
            run_blender(
                "usd_to_fbx",
                middle,
                partial.resolve(),
                folder / "names.json",
                folder / "scales.npz",
                rate,
                first,
                last,
                where=path,
                error=WriteError,
            )
            if not partial.exists():
                raise WriteError("Blender wrote nothing", where=path, remedy="Check it in Blender")
    return Written(tuple(notes))


def _time(motion: Motion | None, samples: int, notes: list[str]) -> tuple[float, int, int]:
    """Frames a second, and the first and last frame; a rate of 0 is no motion."""
    if motion is None:
        return 0.0, 0, 0
    rate, even = rate_of(motion.times)
    rate /= samples
    rate = float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate
    if not even or samples > 1:
        notes.append("FBX is keyed once a frame: what lies between frames is left out")
    return rate, int(np.floor(motion.times[0] * rate + 1e-6)), int(np.ceil(motion.times[-1] * rate - 1e-6))
