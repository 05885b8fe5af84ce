"""A job of a farm as a worker does it: the verb `bake`, with what it says kept."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from ecorche.farm.job import Job


def do_job(job: Job) -> tuple[str, ...]:
    """Bake a shot or a part of it, or put its parts together; the lines that were said.

    Once a shot's file is whole, that is written down beside it.
    """
    from ecorche.cli.bake import bake
    from ecorche.farm.records import write_record

    said, complaints = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(job.folder),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complaints),
    ):
        bake(**job.options)
    lines = tuple(said.getvalue().splitlines())
    if job.step in ("bake", "stitch"):
        write_record(Path(job.options["output"]), job.digest, lines)
    return lines
