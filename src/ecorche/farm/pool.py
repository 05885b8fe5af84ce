"""Workers on this machine: processes that are spawned, do jobs one after another, and may die.

They are never forked: a process that has run a parallel kernel cannot be. One that dies costs the job it was
at, which is tried again by a new one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from ecorche.farm.job import Failure, Finished, Job, Report, Work, attempt

_SPAWN = get_context("spawn")


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    job: Job | None = None


class Pool:
    """Some workers on this machine.

    Args:
        work: What does a job.
        workers: How many.
        threads: Of libraries for linear algebra in each; the kernels' own are an option of the job.
        memory: At most so much memory each [bytes], where the system can hold them to it (Linux); None for
            as much as there is.
    """

    def __init__(self, work: Work, workers: int, threads: int = 1, memory: int | None = None) -> None:
        self._work, self._threads, self._memory = work, threads, memory
        self._most, self._workers = workers, list[_Worker]()

    def room(self) -> int:
        """How many workers have nothing to do."""
        return self._most - sum(worker.job is not None for worker in self._workers)

    def start(self, job: Job) -> None:
        """Give a job to a worker that has none."""
        worker = next((w for w in self._workers if w.job is None), None) or self._begin()
        try:
            worker.connection.send(job)
        except OSError:  # it died while it had nothing to do
            self._end(worker)
            worker = self._begin()
            worker.connection.send(job)
        worker.job = job

    def wait(self) -> list[Finished]:
        """Wait until a job is done, or the worker that was at it has died."""
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        ended = []
        for connection in wait(list(busy)):
            assert isinstance(connection, Connection)
            worker = busy[connection]
            assert worker.job is not None
            job, worker.job = worker.job, None
            result: Report | Failure
            try:
                result = connection.recv()
            except (EOFError, OSError):
                worker.process.join()
                result = Failure(_death(worker.process.exitcode))
                self._end(worker)
            ended.append(Finished(job, result))
        return ended

    def close(self) -> None:
        """End all workers; what one is at stays on disk as far as it is done."""
        for worker in list(self._workers):
            self._end(worker)

    def _begin(self) -> _Worker:
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=_serve, args=(theirs, self._work, self._memory), daemon=True)
        with _environment(self._threads):
            process.start()
        theirs.close()  # so that its end is seen when it dies
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _end(self, worker: _Worker) -> None:
        worker.connection.close()
        if worker.job is not None or worker.process.exitcode is not None:
            worker.process.kill()
        worker.process.join(10)
        if worker.process.exitcode is None:
            worker.process.kill()
            worker.process.join()
        worker.process.close()
        self._workers.remove(worker)


def _serve(connection: Connection, work: Work, memory: int | None) -> None:
    """A worker's life: jobs until nobody is there to give any."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it decides
    if memory is not None and sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        result = attempt(work, job)
        with contextlib.suppress(OSError):
            connection.send(result)


@contextlib.contextmanager
def _environment(threads: int) -> Iterator[None]:
    """Linear algebra in a process that is started here has so many threads; a person's own choice wins."""
    names = [n for n in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS") if n not in os.environ]
    os.environ.update(dict.fromkeys(names, str(threads)))
    try:
        yield
    finally:
        for name in names:
            del os.environ[name]


def _death(code: int | None) -> str:
    if code is None or code >= 0:
        return f"its worker ended with exit code {code}"
    told = signal.strsignal(-code) or "unknown"
    more = "; often that is a machine out of memory" if -code == signal.SIGKILL else ""
    return f"its worker was ended by signal {-code} ({told}){more}"
