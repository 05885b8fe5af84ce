"""Pictures, films and contact sheets of a take: what a person asks for.

render_picture("man.png", take, frame=40)
render_film("walk.mp4", take)
render_contact_sheet("walk.png", take, frames=12)
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_folder, whole_file
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, WriteError
from ecorche.io.posed import frames_of
from ecorche.render.film import check_film, write_film
from ecorche.render.focus import Focus
from ecorche.render.layers import skin_layer
from ecorche.render.sheet import arranged, require_pillow
from ecorche.render.shots import (
    FOLLOW_SECONDS,
    Progress,
    counted,
    frame_number,
    nearest_frames,
    set_up,
    shots,
    spread_frames,
)
from ecorche.render.studio import Picture

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
    focus: Focus | None = None,
) -> None:
    """Draw one frame of a take into a PNG file.

    Args:
        path: The ``.png`` file to write.
        take: The character and its frames; a still take is shown at bind.
        frame: Which frame, from 0; negative numbers count from the end.
        size: Width and height [pixels]; None takes a shape that suits the subject.
        view: ``"front"``, ``"three_quarter"``, ``"side"`` or ``"back"``.
        skeleton: Draw the bones over the skin.
        focus: A part of the body to look at from near; None shows all of it.
    """
    path = png_path(path)
    frames = frames_of(take)
    number = frame_number(frame, len(frames), take.character.name)
    setting = set_up(take, frames, [number], size or PICTURE_PIXELS, view, focus=focus)
    (picture,) = shots(setting, skin_layer(frames), skeleton=skeleton)
    save_png(picture, path)


def render_film(
    path: str | os.PathLike[str],
    take: Take,
    *,
    size: tuple[int, int] = (1280, 720),
    view: str = "three_quarter",
    skeleton: bool = False,
    focus: Focus | None = None,
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
        focus: A part of the body to look at from near; None shows all of it.
        rate: Pictures a second; the frames nearest in time are shown.
        camera: ``"fixed"`` frames the whole motion, ``"follow"`` travels along, ``"auto"`` chooses.
        progress: Told of every picture.
    """
    path = Path(path)
    check_film(path, size)
    require_folder(path)
    frames = frames_of(take)
    numbers = film_frames(frames.times, rate, path)
    setting = set_up(
        take, frames, numbers, size, view, camera=camera, smoothing=FOLLOW_SECONDS, fine=False, focus=focus
    )
    pictures = shots(setting, skin_layer(frames), skeleton=skeleton)
    write_film(path, counted(pictures, len(numbers), progress), size, rate)


def render_contact_sheet(
    path: str | os.PathLike[str],
    take: Take,
    *,
    frames: int = 12,
    columns: int | None = None,
    size: tuple[int, int] | None = None,
    view: str = "three_quarter",
    skeleton: bool = False,
    focus: Focus | None = None,
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
        focus: A part of the body to look at from near; None shows all of it.
        progress: Told of every picture.
    """
    path = png_path(path)
    if not 1 <= frames <= 400:
        raise EcorcheError(f"{frames} moments are asked for", where=path, remedy="Give 1 to 400")
    if columns is not None and not 1 <= columns <= frames:
        raise EcorcheError(f"{columns} columns are asked for", where=path, remedy=f"Give 1 to {frames}")
    all_frames = frames_of(take)
    times = all_frames.times
    numbers = spread_frames(times, frames)
    setting = set_up(take, all_frames, numbers, size or SHEET_PIXELS, view, focus=focus)
    shot = shots(setting, skin_layer(all_frames), skeleton=skeleton)
    pictures = list(counted(shot, len(numbers), progress))
    captions = [f"{times[n]:.2f} s   frame {n}" for n in numbers]
    save_png(arranged(pictures, captions, columns), path)


def film_frames(times: npt.NDArray[np.float64], rate: float, where: Path) -> list[int]:
    """The frames a film of that rate shows: for each picture the one nearest in time."""
    if not 1.0 <= rate <= 240.0:
        raise EcorcheError(f"{rate} pictures a second are asked for", where=where, remedy="Give 1 to 240")
    return nearest_frames(times, np.arange(times[0], times[-1] + 1e-9, 1.0 / rate))


def png_path(path: str | os.PathLike[str]) -> Path:
    """A path that a picture can be written to, refused before any work is done."""
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise WriteError(f"{path.suffix!r} is no picture suffix", where=path, remedy="Use .png")
    require_folder(path)
    return path


def save_png(picture: Picture, path: Path) -> None:
    """Write a picture (height, width, 3), whole or not at all."""
    with whole_file(path) as partial:
        require_pillow()[0].fromarray(picture).save(partial)
