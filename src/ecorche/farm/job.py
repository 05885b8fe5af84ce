"""A job of a farm, what it reports, and how it fails."""

from __future__ import annotations

import errno
import os
import platform
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ecorche.errors import EcorcheError, ReadError, WriteError
from ecorche.version import __version__

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True)
class Job:
    """Something for one worker to do; small, as it travels to it.

    Attributes:
        shot: Name of the shot.
        step: ``"bake"`` the whole shot, ``"split"`` it to ranges, bake a ``"part"``, or ``"stitch"`` them.
        folder: Where it is done: paths are told from there.
        options: Of ``ecorche bake``.
        frames: The range of a part.
        digest: Of all that the shot depends on, for its record.
        version: Of the program that wants it.
    """

    shot: str
    step: str
    folder: Path
    options: dict[str, Any]
    frames: tuple[int, int] | None = None
    digest: str = ""
    version: str = __version__

    @property
    def title(self) -> str:
        """What it is called in a report."""
        return self.shot if self.frames is None else f"{self.shot}, frames {self.frames[0]}-{self.frames[1]}"


@dataclass(frozen=True)
class Report:
    """What a job that succeeded tells.

    Attributes:
        lines: What it said.
        seconds: How long it took.
        peak: The most memory that its worker has ever had [bytes].
        worker: Machine and process.
    """

    lines: tuple[str, ...]
    seconds: float
    peak: int
    worker: str


@dataclass(frozen=True)
class Failure:
    """Why a job failed.

    Attributes:
        why: In words.
        again: Whether it may succeed when tried again.
        stop: Whether others will fail as well: the disk is full or read-only, the cluster is gone.
    """

    why: str
    again: bool = True
    stop: bool = False


@dataclass(frozen=True)
class Finished:
    """A job that has ended."""

    job: Job
    result: Report | Failure


Work = Callable[[Job], tuple[str, ...]]
"""What does a job and gives the lines it said; a function of a module, as its name travels to workers."""


class Runner(Protocol):
    """What has jobs done, some at a time."""

    def room(self) -> int:
        """How many more jobs it takes now."""
        ...

    def start(self, job: Job) -> None:
        """Have a job done."""
        ...

    def wait(self) -> list[Finished]:
        """Wait until jobs have ended."""
        ...

    def close(self) -> None:
        """End its workers."""
        ...


def attempt(work: Work, job: Job) -> Report | Failure:
    """Do a job in this process; errors become words, as not every error can travel."""
    began, worker = time.perf_counter(), f"{platform.node()}:{os.getpid()}"
    if job.version != __version__:
        return Failure(
            f"the worker {worker} has ecorche {__version__}, {job.version} is wanted: install the same there",
            again=False,
        )
    try:
        lines = work(job)
    except Exception as error:
        if os.environ.get("ECORCHE_DEBUG") == "1":
            raise
        return failure(error)
    return Report(lines, time.perf_counter() - began, peak_memory(), worker)


def failure(error: Exception) -> Failure:
    """An error as a failure: bad input is the same when tried again, disks and networks may recover."""
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    cause = error if isinstance(error, OSError) else error.__cause__
    stop = isinstance(cause, OSError) and isinstance(error, OSError | WriteError) and cause.errno in _NO_ROOM
    if isinstance(error, EcorcheError):
        return Failure(f"{error}{notes}", again=isinstance(error, ReadError | WriteError), stop=stop)
    return Failure(f"{type(error).__name__}: {error}{notes}", stop=stop)


def peak_memory() -> int:
    """The most memory this process has ever had [bytes]; 0 where the system does not say."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s+(\d+)", status.read_text())
        return 0 if found is None else int(found[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else peak * 1024
