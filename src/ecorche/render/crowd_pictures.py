"""Films, pictures and contact sheets of a crowd: what a person asks for."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_folder
from ecorche.base.memory import require_memory
from ecorche.body.crowd import BYTES_A_VERTEX, Crowd
from ecorche.body.crowd_frames import CrowdFrames, moments, require_seconds
from ecorche.body.instance_evaluator import InstanceEvaluator
from ecorche.body.lod import Level
from ecorche.body.vertex_program import VertexProgram
from ecorche.errors import EcorcheError
from ecorche.render.crowd_camera import CrowdCamera, crowd_camera
from ecorche.render.crowd_stage import CrowdStage
from ecorche.render.film import check_film, write_film
from ecorche.render.pictures import png_path, save_png
from ecorche.render.sheet import arranged
from ecorche.render.shots import LARGEST_SIDE, Progress, counted
from ecorche.render.studio import Picture

Floats = npt.NDArray[np.float64]

SIZE, SHEET_SIZE = (1280, 720), (640, 360)
"""Width and height of pictures [pixels], alone and on a sheet."""


@dataclass
class CrowdTimes:
    """How long pictures of a crowd took.

    Attributes:
        evaluated, drawn: Seconds of each picture, for its skin and for all else.
        shown: Share of all muscles that were there in each picture.
    """

    evaluated: list[float] = field(default_factory=list)
    drawn: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        skin, rest = (1e3 * float(np.median(of)) for of in (self.evaluated, self.drawn))
        return (
            f"a frame took {skin:.1f} ms for skin and muscles and {rest:.0f} ms to draw;"
            f" {100.0 * float(np.mean(self.shown)):.0f} % of all muscles were there"
        )


@dataclass(frozen=True, eq=False)
class CrowdShots:
    """How pictures of a crowd are made.

    Attributes:
        crowd: The crowd.
        levels: Coarser meshes for those far away.
        fading: Whether muscles fade that move skin by less than a pixel.
        view: ``"front"``, ``"three_quarter"``, ``"side"`` or ``"back"``.
        camera: ``"whole"`` shows everybody; ``"eye"`` stands at eye level by the first row.
        evaluator_for: What evaluates so many instances of a vertex program; None is the processor.
    """

    crowd: Crowd
    levels: Sequence[Level] = ()
    fading: bool = True
    view: str = "three_quarter"
    camera: str = "whole"
    evaluator_for: Callable[[VertexProgram, int], InstanceEvaluator] | None = None

    def placed(self, times: Floats, size: tuple[int, int]) -> CrowdCamera:
        """Where the camera stands for all these times."""
        return crowd_camera(self.crowd, times, size, view=self.view, camera=self.camera)

    def pictures(
        self, times: Floats, size: tuple[int, int], *, fine: bool, told: CrowdTimes
    ) -> Iterator[Picture]:
        """The pictures at some times [s], one at a time; how long they took is told."""
        if not all(16 <= side <= LARGEST_SIDE for side in size):
            raise EcorcheError(
                f"a picture of {size[0]} x {size[1]} pixels is asked for",
                remedy=f"Give 16 to {LARGEST_SIDE} each",
            )
        camera = self.placed(times, size)
        frames = CrowdFrames(
            self.crowd,
            levels=self.levels,
            eye=camera.eye(size[1]),
            fading=self.fading,
            evaluator_for=self.evaluator_for,
        )
        members = np.arange(len(self.crowd))
        at = np.concatenate([self.crowd.whereabouts(members, float(t)) for t in (times[0], times[-1])])
        widest = max(
            max(c.reach.left, c.reach.right, c.reach.ahead, c.reach.behind) for c in self.crowd.clips
        )
        spread = 0.5 * float(np.ptp(at[:, ::2], axis=0).max()) + widest + 1.5
        capacity = frames.capacity(times)
        vertices = sum(count * len(frames.program(*key).points) for key, count in capacity.items())
        what = f"{len(self.crowd):,} members, {vertices:,} vertices together,"
        remedy = "Give fewer, or coarser meshes from nearer on"
        require_memory(vertices * BYTES_A_VERTEX, what, where="crowd", remedy=remedy)
        with CrowdStage(frames, capacity, camera, size, spread=spread, fine=fine) as stage:
            for time in times:
                started = clock.perf_counter()
                picture = stage.shoot(frames.frame(float(time)))
                told.evaluated.append(frames.taken)
                told.drawn.append(clock.perf_counter() - started - frames.taken)
                told.shown.append(frames.shown)
                yield picture


def render_crowd_film(
    path: str | os.PathLike[str],
    shots: CrowdShots,
    *,
    seconds: float = 4.0,
    rate: float = 30.0,
    size: tuple[int, int] = SIZE,
    progress: Progress | None = None,
) -> CrowdTimes:
    """Draw a crowd into an MP4 (H.264) or GIF file, whole or not at all."""
    path = Path(path)
    check_film(path, size)
    require_folder(path)
    told, times = CrowdTimes(), moments(seconds, rate)
    pictures = shots.pictures(times, size, fine=False, told=told)
    write_film(path, counted(pictures, len(times), progress), size, rate)
    return told


def render_crowd_picture(
    path: str | os.PathLike[str], shots: CrowdShots, *, time: float = 0.0, size: tuple[int, int] = SIZE
) -> CrowdTimes:
    """Draw a crowd at a time [s] into a PNG file."""
    path, told = png_path(path), CrowdTimes()
    if time != 0.0:
        require_seconds(time)
    (picture,) = shots.pictures(np.array([float(time)]), size, fine=True, told=told)
    save_png(picture, path)
    return told


def render_crowd_sheet(
    path: str | os.PathLike[str],
    shots: CrowdShots,
    *,
    frames: int = 6,
    seconds: float = 4.0,
    size: tuple[int, int] = SHEET_SIZE,
    progress: Progress | None = None,
) -> CrowdTimes:
    """Draw moments of a crowd, evenly spread over so many seconds, side by side into one PNG file."""
    path, told = png_path(path), CrowdTimes()
    require_seconds(seconds)
    times = np.linspace(0.0, seconds, frames)
    shot = shots.pictures(times, size, fine=True, told=told)
    pictures = list(counted(shot, len(times), progress))
    save_png(arranged(pictures, [f"{time:.2f} s" for time in times]), path)
    return told
