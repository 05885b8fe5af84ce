"""Films: pictures piped into the ffmpeg that imageio-ffmpeg carries.

MP4 is H.264 in yuv420p, which every player shows; GIF has a palette of its own. A fixed number
of encoder threads and no metadata give the same bytes for the same pictures.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import whole_file
from ecorche.errors import EcorcheError, MissingPackageError, WriteError

ENCODERS: dict[str, list[str]] = {
    ".mp4": [
        *("-c:v", "libx264", "-preset", "medium", "-crf", "17", "-pix_fmt", "yuv420p", "-threads", "4"),
        *("-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"),
        *("-vf", "scale=out_color_matrix=bt709", "-movflags", "+faststart"),
    ],
    ".gif": [
        "-vf",
        "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4",
    ],
}


def write_film(
    path: Path, pictures: Iterable[npt.NDArray[np.uint8]], size: tuple[int, int], rate: float
) -> None:
    """Write pictures (height, width, 3) as a film, whole or not at all.

    Args:
        path: A ``.mp4`` or ``.gif`` file.
        pictures: The frames in order.
        size: Width and height [pixels]; even numbers for ``.mp4``.
        rate: Frames per second.
    """
    check_film(path, size)
    command = [
        *(_ffmpeg(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"),
        *("-s", f"{size[0]}x{size[1]}", "-r", f"{rate:.6f}", "-i", "-", "-an"),
        *("-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"),
        *ENCODERS[path.suffix.lower()],
    ]
    with whole_file(path) as partial, tempfile.TemporaryFile() as complaints:
        encoder = subprocess.Popen([*command, str(partial)], stdin=subprocess.PIPE, stderr=complaints)
        assert encoder.stdin is not None
        try:
            for picture in pictures:
                encoder.stdin.write(np.ascontiguousarray(picture).data)
            encoder.stdin.close()
            code = encoder.wait()
        except BrokenPipeError:
            code = encoder.wait() or 1
        finally:
            if encoder.poll() is None:
                encoder.kill()
                encoder.wait()
            with contextlib.suppress(BrokenPipeError):
                encoder.stdin.close()
        if code != 0:
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip().splitlines()
            reason = said[-1] if said else f"exit code {code}"
            raise WriteError(f"ffmpeg could not write the film ({reason})", where=path)


def check_film(path: Path, size: tuple[int, int]) -> None:
    """Refuse a suffix or size that no film can have, before any picture is drawn."""
    suffix = path.suffix.lower()
    if suffix not in ENCODERS:
        raise WriteError(
            f"{suffix!r} is no film suffix", where=path, remedy=f"Use one of {', '.join(ENCODERS)}"
        )
    if suffix == ".mp4" and (size[0] % 2 or size[1] % 2):
        raise EcorcheError(
            f"a film of {size[0]} x {size[1]} pixels cannot be encoded",
            where=path,
            remedy="Give even numbers",
        )


def _ffmpeg() -> str:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise MissingPackageError(
            "films need the package imageio-ffmpeg", remedy='Run: pip install "ecorche[render]"'
        ) from None
    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise MissingPackageError(
            f"imageio-ffmpeg finds no ffmpeg ({error})", remedy="Install ffmpeg, or reinstall imageio-ffmpeg"
        ) from error
