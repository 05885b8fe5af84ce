"""`ecorche shots`: every shot of a list, on all cores or on a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.errors import EcorcheError
from ecorche.farm.job import Failure, Job, Report, Runner
from ecorche.farm.schedule import Told

if TYPE_CHECKING:
    from ecorche.farm.shot_list import Shot

STARTED = "local"
"""The address that stands for a cluster which the command starts."""


def shots(
    listed: Path = typer.Argument(..., metavar="LIST", help="The shots: .csv or .toml, see docs/farm.md."),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Folder for the shots' files; default: called like the list, beside it."
    ),
    workers: int | None = typer.Option(None, min=1, help="Processes to work with; default: one a core."),
    threads: int | None = typer.Option(None, min=1, help="Threads each; default: cores shared out evenly."),
    memory: float | None = typer.Option(None, min=0.25, help="At most so many GiB of memory a worker."),
    cluster: str | None = typer.Option(
        None,
        metavar="ADDRESS",
        help="A Dask scheduler such as tcp://farm:8786, or local: a cluster that is started here.",
    ),
    split: int | None = typer.Option(
        None, min=1, help="Bake ranges of so many frames apart, where the method allows."
    ),
    resume: bool = typer.Option(False, "--resume", help="Do only what is missing."),
    again: bool = typer.Option(False, "--again", help="Bake shots that are finished anew."),
    retries: int = typer.Option(2, min=0, max=100, help="How often what failed is tried again."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Check the list and print its commands."),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Bake every shot of a list.

    Each is the same bytes as by `ecorche bake`. What fails is tried again, then reported with exit code 1;
    --resume does what is missing, after a failure, an interruption or a power cut.
    """
    from ecorche.cli.bake_options import command_line
    from ecorche.cli.options import counted
    from ecorche.farm.records import is_finished
    from ecorche.farm.schedule import run_jobs
    from ecorche.farm.shot_list import read_shots

    if resume and again:
        raise EcorcheError("--resume and --again exclude each other", remedy="Give one of them")
    if cluster is not None and cluster != STARTED and (workers is not None or memory is not None):
        raise EcorcheError(
            "the workers of a cluster that is there have been started already",
            where="--workers, --memory",
            remedy="Leave them out, or give --cluster local",
        )
    folder = (listed.with_suffix("") if output is None else output).absolute()
    jobs = [_job(shot, listed.absolute().parent, folder) for shot in read_shots(listed)]
    if dry_run:
        for job in jobs:
            typer.echo(command_line(job.options))
        return
    _require_folder(folder)
    finished = [job for job in jobs if is_finished(Path(job.options["output"]), job.digest)]
    if finished and not (resume or again):
        raise EcorcheError(
            f"{counted(len(finished), 'shot')} of {len(jobs)} are finished already",
            where=folder,
            remedy="Give --resume to do only what is missing, or --again to bake them anew",
        )
    left = [job for job in jobs if again or job not in finished]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = min(workers or cores, max(1, len(left) if split is None else cores))
    each = threads or (max(1, cores // count) if cluster is None else 1)
    began, follow = time.perf_counter(), _Follow(len(left), quiet)
    failed: list[tuple[Job, Failure]] = []
    if left:
        bytes_each = None if memory is None else int(memory * 2**30)
        runner, notes = _runner(cluster, folder, count, each, bytes_each)
        try:
            for note in notes:
                typer.echo(f"note: {note}")
            started = [_begun(job, each, split) for job in left]
            failed = run_jobs(started, runner, follow, retries=retries)
        finally:
            runner.close()
    follow.summary(len(finished) if not again else 0, time.perf_counter() - began, failed, folder)
    if follow.done_count < len(left):
        raise typer.Exit(1)


def _job(shot: Shot, home: Path, folder: Path) -> Job:
    """A shot as a bake, checked as far as that goes without reading its character."""
    from ecorche.base.files import require_file
    from ecorche.cli.bake_options import command_line, shot_options
    from ecorche.errors import WriteError
    from ecorche.farm.records import digest_of
    from ecorche.farm.shot_list import FORMAT
    from ecorche.io.formats import module_for

    target = folder / shot.file_name()
    try:
        module_for(target, "write_take", WriteError)
    except WriteError as error:
        raise EcorcheError(error.what, where=f"{shot.where}, {FORMAT}", remedy=error.remedy) from None
    said = {name: value for name, value in shot.settings.items() if name != FORMAT}
    options = shot_options(said, home, shot.where)
    files = [value for value in options.values() if isinstance(value, Path)]
    for path in files:
        try:
            require_file(path)
        except EcorcheError as error:
            raise EcorcheError(
                f"{error.what}: {path}", where=f"{shot.where} ({shot.name!r})", remedy=error.remedy
            ) from None
    if options["activation"] is not None and (home / options["activation"]).is_file():
        files.append(home / options["activation"])
    files += [found for path in files if (found := _named_character(path)) is not None]
    options["output"] = target
    return Job(shot.name, "bake", home, options, digest=digest_of(command_line(options), files))


def _named_character(path: Path) -> Path | None:
    """The character that a rig names, where it is there."""
    if path.suffix.lower() != ".ecorche":
        return None
    from ecorche.document.files import read_rig

    named = path.parent / read_rig(path).spec.character.path
    return named if named.is_file() else None


def _require_folder(folder: Path) -> None:
    from ecorche.base.files import readable_write_errors, require_folder
    from ecorche.farm.records import FOLDER

    with readable_write_errors(folder):
        folder.mkdir(exist_ok=True)
    require_folder(folder / FOLDER / "any" if (folder / FOLDER).exists() else folder / "any")
    with readable_write_errors(folder):
        (folder / FOLDER).mkdir(exist_ok=True)


def _runner(
    cluster: str | None, folder: Path, workers: int, threads: int, memory: int | None
) -> tuple[Runner, tuple[str, ...]]:
    from ecorche.cli.shot_job import do_job

    if cluster is None:
        from ecorche.farm.pool import Pool

        return Pool(do_job, workers, threads, memory), ()
    from ecorche.farm.cluster import Cluster

    address = None if cluster == STARTED else cluster
    joined = Cluster(do_job, address, folder, workers=workers, memory=memory)
    return joined, joined.notes


def _begun(job: Job, threads: int, split: int | None) -> Job:
    """The first job of a shot: the whole bake, or the question into which ranges it falls apart."""
    options = {**job.options, "threads": threads}
    if split is None:
        return replace(job, options=options)
    return replace(job, step="split", options={**options, "split": split})


class _Follow(Told):
    """Tells people what is done, and which jobs follow from it."""

    def __init__(self, total: int, quiet: bool) -> None:
        self.total, self.quiet, self.done_count, self.peak, self.noted = total, quiet, 0, 0, 0
        self._parts: dict[str, int] = {}

    def done(self, job: Job, report: Report) -> Iterable[Job]:
        """Tell of finished shots; from ranges follow parts, from the last part their stitching."""
        self.peak = max(self.peak, report.peak)
        options = {**job.options, "split": None, "part": None}
        if job.step == "split":
            ranges = [line for line in report.lines if line[:1].isdigit()]
            if len(ranges) == 1:
                return [replace(job, step="bake", options=options)]
            self._parts[job.shot] = len(ranges)
            return [_part(job, options, text) for text in ranges]
        if job.step == "part":
            self._parts[job.shot] -= 1
            if self._parts[job.shot]:
                return []
            return [replace(job, step="stitch", frames=None, options={**options, "stitch": True})]
        self.done_count += 1
        self.noted += any(line.startswith("note:") for line in report.lines)
        if not self.quiet:
            size = f", {report.peak / 2**20:.0f} MiB" if report.peak else ""
            typer.echo(f"{report.lines[-1]}{size} ({self.done_count} of {self.total})")
        return []

    def again(self, job: Job, why: str, attempt: int) -> None:
        """Tell that something is tried again."""
        typer.echo(f"again: {job.title}: {why} (attempt {attempt + 1})", err=True)

    def summary(self, there: int, seconds: float, failed: list[tuple[Job, Failure]], folder: Path) -> None:
        """Tell what was done, and what failed."""
        from ecorche.cli.options import counted
        from ecorche.farm.records import FOLDER

        for job, failure in failed:
            typer.echo(f"failed: {job.title}: {failure.why}", err=True)
        missing = self.total - self.done_count
        if missing:
            typer.echo(
                f"ecorche: {missing} of {counted(self.total, 'shot')} failed or were not begun. Mend what is"
                " told above, and give --resume: what is finished is kept",
                err=True,
            )
        if self.quiet:
            return
        if self.noted:
            typer.echo(f"note: {counted(self.noted, 'shot')} gave notes; see {folder / FOLDER}/*.log")
        told = [f"{counted(self.done_count, 'shot')} in {seconds:.1f} s"]
        told += [f"{there} were there already"] * bool(there)
        told += [f"{missing} failed"] * bool(missing)
        told += [f"at most {self.peak / 2**20:.0f} MiB a worker"] * bool(self.peak)
        typer.echo(f"{folder}: {', '.join(told)}")


def _part(job: Job, options: dict[str, object], text: str) -> Job:
    first, _, last = text.partition("-")
    return replace(job, step="part", frames=(int(first), int(last)), options={**options, "part": text})
