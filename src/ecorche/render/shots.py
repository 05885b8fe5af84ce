"""Pictures of some frames of a take: where the camera stands, and what it sees, one picture at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.body.frames import Frames
from ecorche.body.take import Take
from ecorche.errors import EcorcheError
from ecorche.render.camera import Camera, direction, facing, frame_subject, seen_aspect
from ecorche.render.focus import Focus, find_part
from ecorche.render.layers import Layer
from ecorche.render.stage import Stage
from ecorche.render.studio import Picture
from ecorche.render.survey import Survey, survey
from ecorche.skeleton.skeleton import world_from_local

Floats = npt.NDArray[np.float64]
Progress = Callable[[str, int, int], None]
"""Called with ``"render"``, pictures done, and pictures in all."""

LARGEST_SIDE = 8192
FOLLOW_SECONDS = 0.4
"""How slowly a film's camera follows [s]."""
FOLLOW_WHEN = 1.5
"""The camera travels along when standing still would at times make the subject this much smaller."""


@dataclass(frozen=True, eq=False)
class Setting:
    """Which frames of a take are shown, and from where.

    Attributes:
        take: The character and its motion.
        numbers: The frames.
        seen: What was found when looking over them.
        towards: Unit vector from subject to camera, shape (3,).
        camera: Where the camera stands in each frame.
        size: Width and height of the pictures [pixels].
        fine: More samples a pixel, for single pictures.
    """

    take: Take
    numbers: Sequence[int]
    seen: Survey
    towards: Floats
    camera: Camera
    size: tuple[int, int]
    fine: bool


def set_up(
    take: Take,
    frames: Frames,
    numbers: Sequence[int],
    size: tuple[int, int] | int,
    view: str,
    *,
    camera: str = "follow",
    smoothing: float = 0.0,
    fine: bool = True,
    focus: Focus | None = None,
) -> Setting:
    """Place the camera for the frames of those numbers.

    A size of one number is that many pixels, in a shape that suits the subject. A camera that follows
    does so smoothly over ``smoothing`` seconds.
    """
    if camera not in ("auto", "fixed", "follow"):
        raise EcorcheError(f"there is no camera {camera!r}", remedy="Use 'auto', 'fixed' or 'follow'")
    if not isinstance(size, int) and not all(16 <= side <= LARGEST_SIDE for side in size):
        raise EcorcheError(
            f"a picture of {size[0]} x {size[1]} pixels is asked for",
            remedy=f"Give 16 to {LARGEST_SIDE} each",
        )
    skeleton = take.character.skeleton
    part = None if focus is None else find_part(focus, skeleton, facing(Take(take.character)))
    towards = direction(view, facing(take), from_right=part is not None and part.right)
    seen = survey(take.character, frames, numbers)
    if isinstance(size, int):
        shape = 1.0 if part is not None else seen_aspect(seen.outlines, towards)
        size = suitable_size(size, shape)
    shape = size[0] / size[1]
    if part is not None:
        worlds = np.stack([joints_of(take, number) for number in numbers])
        chosen = part.camera(worlds, towards, shape)
    else:
        chosen = _whole(seen, frames.times[list(numbers)], towards, shape, camera, smoothing)
    return Setting(take, numbers, seen, towards, chosen, size, fine)


def _whole(
    seen: Survey, times: Floats, towards: Floats, aspect: float, camera: str, smoothing: float
) -> Camera:
    """A camera that shows the whole subject."""
    fixed = frame_subject(seen.outlines, times, towards, aspect, follow=False)
    follow = frame_subject(seen.outlines, times, towards, aspect, follow=True, smoothing=smoothing)
    if camera == "auto":
        middles = 0.5 * (seen.outlines.min(axis=1) + seen.outlines.max(axis=1))
        furthest = ((fixed.targets + fixed.offset - middles) @ towards).max()
        camera = "follow" if furthest > FOLLOW_WHEN * np.linalg.norm(follow.offset) else "fixed"
    return follow if camera == "follow" else fixed


def shots(setting: Setting, layer: Layer, *, skeleton: bool = False) -> Iterator[Picture]:
    """The pictures of a setting, one at a time; ``skeleton`` draws the bones over the skin."""
    take = setting.take
    with Stage(
        take.character,
        layer,
        setting.size,
        subject_size=setting.seen.size,
        ground=setting.seen.ground,
        towards=setting.towards,
        skeleton=skeleton,
        fine=setting.fine,
    ) as stage:
        for number, target in zip(setting.numbers, setting.camera.targets, strict=True):
            world = joints_of(take, number) if skeleton else None
            yield stage.shoot(layer.look(number), target, setting.camera.offset, world)


def suitable_size(pixels: int, aspect: float, narrowest: float = 0.7) -> tuple[int, int]:
    """Width and height of that many pixels for a subject of that shape, within what a page can hold."""
    aspect = min(max(aspect, narrowest), 1.8)
    return 2 * round(0.5 * (pixels * aspect) ** 0.5), 2 * round(0.5 * (pixels / aspect) ** 0.5)


def joints_of(take: Take, number: int) -> Floats:
    """``world_from_joint`` at a frame, shape (joints, 4, 4)."""
    skeleton = take.character.skeleton
    if take.motion is None and take.frames is not None:
        raise EcorcheError(
            "nobody knows where the joints of this take are",
            where=take.character.name,
            remedy="Leave skeleton and focus out, or give a take with its motion",
        )
    if take.motion is None:
        return skeleton.bind_world
    return world_from_local(skeleton.parents, take.motion.local[number])


def nearest_frames(times: Floats, moments: Floats) -> list[int]:
    """The frame nearest to each moment; the earlier one half-way."""
    after = np.clip(np.searchsorted(times, moments), 0, len(times) - 1)
    before = np.maximum(after - 1, 0)
    earlier = np.abs(moments - times[before]) <= np.abs(times[after] - moments)
    return [int(n) for n in np.where(earlier, before, after)]


def spread_frames(times: Floats, count: int) -> list[int]:
    """That many frames spread evenly in time, the first and the last included; all where there are fewer."""
    return nearest_frames(times, np.linspace(times[0], times[-1], min(count, len(times))))


def frame_number(frame: int, count: int, where: str) -> int:
    """A frame counted from 0; negative numbers count from the end."""
    if not -count <= frame < count:
        raise EcorcheError(
            f"there is no frame {frame}", where=where, remedy=f"Give a number from 0 to {count - 1}"
        )
    return frame % count


def counted(pictures: Iterator[Picture], total: int, progress: Progress | None) -> Iterator[Picture]:
    """The pictures, each told of when it is done."""
    for done, picture in enumerate(pictures, start=1):
        yield picture
        if progress is not None:
            progress("render", done, total)
