"""Alembic out, through Blender out of process: the points of every mesh, frame by frame."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from ecorche.base.files import whole_file
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io import usd
from ecorche.io.blender import require_program, run_blender
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.posed import frames_of, rate_of

__all__ = ["require_program", "write_take"]


def write_take(path: Path, take: Take, options: WriteOptions) -> Written:
    """Write all meshes of a take as Alembic, in metres, +Y up; muscles, bones and fat too if it has any."""
    frames = frames_of(take)
    rate, even = rate_of(frames.times)
    rate /= take.samples
    if not even:
        raise WriteError(
            "its frames are not evenly spaced in time",
            where=path,
            remedy="Resample them: ecorche bake --rate 24",
        )
    rate = float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate
    notes: list[str] = []
    first, last = (round(float(t) * rate, 4) for t in (frames.times[0], frames.times[-1]))
    if abs(first - round(first)) > 1e-3:
        notes.append(f"the first frame stands between two frames of Blender, at {first:g}")
    with tempfile.TemporaryDirectory(prefix="ecorche-abc-") as name:
        middle = Path(name) / "points.usdc"
        points = replace(options, usd_as="points", tangents=False)
        notes += usd.write_take(middle, replace(take, frames=frames), points).notes
        with whole_file(path) as partial:
            run_blender(
                "usd_to_abc",
                middle,
                partial.resolve(),
                rate,
                int(np.floor(first + 1e-3)),
                int(np.ceil(last - 1e-3)),
                take.samples,
                where=path,
                error=WriteError,
            )
            if not partial.exists():
                raise WriteError("Blender wrote nothing", where=path, remedy="Check it in Blender")
    return Written(tuple(notes))
