"""Pictures, films and contact sheets of a take: what a person asks for.

render_picture("man.png", take, frame=40)
render_film("walk.mp4", take)
render_contact_sheet("walk.png", take, frames=12)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_folder, whole_file
from ecorche.body.frames import Frames
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, WriteError
from ecorche.io.posed import frames_of
from ecorche.render.camera import direction, facing, frame_subject, seen_aspect
from ecorche.render.film import check_film, write_film
from ecorche.render.sheet import arranged, require_pillow
from ecorche.render.stage import Picture, Stage
from ecorche.render.survey import survey
from ecorche.skeleton.skeleton import world_from_local

Floats = npt.NDArray[np.float64]
Progress = Callable[[str, int, int], None]
"""Called with ``"render"``, pictures done, and pictures in all."""

LARGEST_SIDE = 8192
FOLLOW_SECONDS = 0.4
"""How slowly a film's camera follows [s]."""
FOLLOW_WHEN = 1.5
"""The camera travels along when standing still would at times make the subject this much smaller."""
PICTURE_PIXELS, SHEET_PIXELS = 960 * 1080, 320 * 360
"""How many pixels a picture has, alone and on a sheet, when nobody says a size."""


def render_picture(
    path: str | os.PathLike[str],
    take: Take,
    *,
    frame: int = 0,
    size: tuple[int, int] | None = None,
    view: str = "three_quarter",
    skeleton: bool = False,
) -> None:
    """Draw one frame of a take into a PNG file.

    Args:
        path: The ``.png`` file to write.
        take: The character and its frames; a still take is shown at bind.
        frame: Which frame, from 0; negative numbers count from the end.
        size: Width and height [pixels]; None takes a shape that suits the subject.
        view: ``"front"``, ``"three_quarter"``, ``"side"`` or ``"back"``.
        skeleton: Draw the bones over the skin.
    """
    path = _png(path)
    frames = frames_of(take)
    count = len(frames)
    if not -count <= frame < count:
        raise EcorcheError(
            f"there is no frame {frame}",
            where=take.character.name,
            remedy=f"Give a number from 0 to {count - 1}",
        )
    (picture,) = _pictures(
        take, frames, [frame % count], size or PICTURE_PIXELS, view, skeleton, camera="follow", fine=True
    )
    _save(picture, path)


def render_film(
    path: str | os.PathLike[str],
    take: Take,
    *,
    size: tuple[int, int] = (1280, 720),
    view: str = "three_quarter",
    skeleton: bool = False,
    rate: float = 30.0,
    camera: str = "auto",
    progress: Progress | None = None,
) -> None:
    """Draw a take in real time into an MP4 (H.264) or GIF file.

    Args:
        path: The ``.mp4`` or ``.gif`` file to write.
        take: The character and its frames.
        size: Width and height [pixels], even numbers.
        view: ``"front"``, ``"three_quarter"``, ``"side"`` or ``"back"``.
        skeleton: Draw the bones over the skin.
        rate: Pictures a second; the frames nearest in time are shown.
        camera: ``"fixed"`` frames the whole motion, ``"follow"`` travels along, ``"auto"`` chooses.
        progress: Told of every picture.
    """
    path = Path(path)
    check_film(path, size)
    require_folder(path)
    if not 1.0 <= rate <= 240.0:
        raise EcorcheError(f"{rate} pictures a second are asked for", where=path, remedy="Give 1 to 240")
    frames = frames_of(take)
    numbers = _nearest(frames.times, np.arange(frames.times[0], frames.times[-1] + 1e-9, 1.0 / rate))
    pictures = _pictures(take, frames, numbers, size, view, skeleton, camera=camera, fine=False)
    write_film(path, _counted(pictures, len(numbers), progress), size, rate)


def render_contact_sheet(
    path: str | os.PathLike[str],
    take: Take,
    *,
    frames: int = 12,
    columns: int | None = None,
    size: tuple[int, int] | None = None,
    view: str = "three_quarter",
    skeleton: bool = False,
    progress: Progress | None = None,
) -> None:
    """Draw moments of a take, evenly spread in time, side by side into one PNG file.

    Args:
        path: The ``.png`` file to write.
        take: The character and its frames.
        frames: How many moments, the first and the last included.
        columns: Pictures in a row; None chooses.
        size: Width and height of each [pixels]; None takes a shape that suits the subject.
        view: ``"front"``, ``"three_quarter"``, ``"side"`` or ``"back"``.
        skeleton: Draw the bones over the skin.
        progress: Told of every picture.
    """
    path = _png(path)
    if not 1 <= frames <= 400:
        raise EcorcheError(f"{frames} moments are asked for", where=path, remedy="Give 1 to 400")
    if columns is not None and not 1 <= columns <= frames:
        raise EcorcheError(f"{columns} columns are asked for", where=path, remedy=f"Give 1 to {frames}")
    all_frames = frames_of(take)
    times = all_frames.times
    numbers = _nearest(times, np.linspace(times[0], times[-1], min(frames, len(times))))
    shot = _pictures(
        take, all_frames, numbers, size or SHEET_PIXELS, view, skeleton, camera="follow", fine=True
    )
    pictures = list(_counted(shot, len(numbers), progress))
    captions = [f"{times[n]:.2f} s   frame {n}" for n in numbers]
    _save(arranged(pictures, captions, columns), path)


def _pictures(
    take: Take,
    frames: Frames,
    numbers: list[int],
    size: tuple[int, int] | int,
    view: str,
    skeleton: bool,
    *,
    camera: str,
    fine: bool,
) -> Iterator[Picture]:
    """Pictures of the frames of those numbers, one at a time; a size of one number is that many pixels."""
    if camera not in ("auto", "fixed", "follow"):
        raise EcorcheError(f"there is no camera {camera!r}", remedy="Use 'auto', 'fixed' or 'follow'")
    if not isinstance(size, int) and not all(16 <= side <= LARGEST_SIDE for side in size):
        raise EcorcheError(
            f"a picture of {size[0]} x {size[1]} pixels is asked for",
            remedy=f"Give 16 to {LARGEST_SIDE} each",
        )
    if skeleton and take.motion is None and take.frames is not None:
        raise EcorcheError(
            "nobody knows where the joints of this take are",
            where=take.character.name,
            remedy="Leave the skeleton out, or give a take with its motion",
        )
    towards = direction(view, facing(take))
    seen = survey(take.character, frames, numbers)
    if isinstance(size, int):
        size = _suitable_size(size, seen_aspect(seen.outlines, towards))
    aspect = size[0] / size[1]
    times = frames.times[numbers]
    fixed = frame_subject(seen.outlines, times, towards, aspect, follow=False)
    follow = frame_subject(
        seen.outlines, times, towards, aspect, follow=True, smoothing=0.0 if fine else FOLLOW_SECONDS
    )
    if camera == "auto":
        middles = 0.5 * (seen.outlines.min(axis=1) + seen.outlines.max(axis=1))
        furthest = ((fixed.targets + fixed.offset - middles) @ towards).max()
        camera = "follow" if furthest > FOLLOW_WHEN * np.linalg.norm(follow.offset) else "fixed"
    chosen = follow if camera == "follow" else fixed
    with Stage(
        take.character,
        size,
        subject_size=seen.size,
        ground=seen.ground,
        towards=towards,
        skeleton=skeleton,
        fine=fine,
    ) as stage:
        for number, target in zip(numbers, chosen.targets, strict=True):
            world = _joints(take, number) if skeleton else None
            yield stage.shoot(frames[number], target, chosen.offset, world)


def _suitable_size(pixels: int, aspect: float) -> tuple[int, int]:
    """Width and height of that many pixels for a subject of that shape, within what a page can hold."""
    aspect = min(max(aspect, 0.7), 1.8)
    return 2 * round(0.5 * (pixels * aspect) ** 0.5), 2 * round(0.5 * (pixels / aspect) ** 0.5)


def _joints(take: Take, number: int) -> Floats:
    """``world_from_joint`` at a frame, shape (joints, 4, 4)."""
    skeleton = take.character.skeleton
    if take.motion is None:
        return skeleton.bind_world
    return world_from_local(skeleton.parents, take.motion.local[number])


def _nearest(times: Floats, moments: Floats) -> list[int]:
    """The frame nearest to each moment; the earlier one half-way."""
    after = np.clip(np.searchsorted(times, moments), 0, len(times) - 1)
    before = np.maximum(after - 1, 0)
    earlier = np.abs(moments - times[before]) <= np.abs(times[after] - moments)
    return [int(n) for n in np.where(earlier, before, after)]


def _counted(pictures: Iterator[Picture], total: int, progress: Progress | None) -> Iterator[Picture]:
    for done, picture in enumerate(pictures, start=1):
        yield picture
        if progress is not None:
            progress("render", done, total)


def _png(path: str | os.PathLike[str]) -> Path:
    """A path that a picture can be written to, refused before any work is done."""
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise WriteError(f"{path.suffix!r} is no picture suffix", where=path, remedy="Use .png")
    require_folder(path)
    return path


def _save(picture: Picture, path: Path) -> None:
    with whole_file(path) as partial:
        require_pillow()[0].fromarray(picture).save(partial)
