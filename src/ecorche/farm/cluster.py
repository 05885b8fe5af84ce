"""Workers on other machines: a Dask cluster, one that is there or one that is started here.

Jobs travel to workers, frames do not travel back: workers write to a folder that all of them see. The package
``distributed`` is imported when a cluster is asked for.
"""

from __future__ import annotations

import contextlib
import queue
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ecorche.errors import EcorcheError, MissingPackageError
from ecorche.farm.job import Failure, Finished, Job, Work, attempt
from ecorche.farm.versions import differences, versions

ANSWER = 10.0
"""So long a scheduler, and a first worker, are waited for [s]."""
ABSENT = 60.0
"""So long a cluster may have no worker at all while jobs are under way [s]."""
_LOOK = 5.0
_TRIM = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
_START = "Start it: dask scheduler, and on each machine: dask worker ADDRESS --nthreads 1 --nworkers CORES"


class ClusterLostError(EcorcheError):
    """The cluster went away while it worked."""

    exit_code = 1


def _distributed() -> ModuleType:
    try:
        import distributed
    except ImportError:
        raise MissingPackageError(
            "a cluster needs the package distributed", remedy='Run: pip install "ecorche[farm]"'
        ) from None
    module: ModuleType = distributed
    return module


class Cluster:
    """The workers of a Dask cluster.

    Args:
        work: What does a job.
        address: Of a scheduler, such as ``tcp://farm:8786``; None starts a cluster on this machine.
        folder: Where workers write; they must see it.
        workers: How many to start, where a cluster is started.
        memory: At most so much each of those [bytes].

    Attributes:
        notes: What about the workers may show in the bytes.
        names: Addresses of the workers.
    """

    def __init__(
        self,
        work: Work,
        address: str | None,
        folder: Path,
        *,
        workers: int = 1,
        memory: int | None = None,
    ) -> None:
        distributed = _distributed()
        self._work, self._own = work, None
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._jobs: dict[str, tuple[Job, Any]] = {}
        if address is None:
            with _memory_kept():
                self._own = distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=memory or 0,
                    dashboard_address="127.0.0.1:0",
                )
            address = self._own.scheduler_address
        try:
            self._client = _client(distributed, address)
        except BaseException:
            self._close_own()
            raise
        try:
            self.notes = self._check(address, folder)
        except BaseException:
            self.close()
            raise

    def _check(self, address: str, folder: Path) -> tuple[str, ...]:
        """Refuse workers that cannot do the work; tell those that may round otherwise."""
        _wait_for_worker(self._client, address)
        threads = self._client.nthreads()
        self.names = tuple(sorted(threads))
        for name in self.names:
            if threads[name] != 1:
                raise EcorcheError(
                    f"the worker takes {threads[name]} jobs at once",
                    where=name,
                    remedy="Start it with --nthreads 1, and several with --nworkers",
                )
        ours, notes = versions(), list[str]()
        for name, theirs in sorted(self._client.run(versions, on_error="return").items()):
            if isinstance(theirs, BaseException):
                raise EcorcheError(
                    f"the worker cannot run ecorche ({theirs})",
                    where=name,
                    remedy=f"Install ecorche {ours['ecorche']} there",
                )
            found = differences(ours, theirs)
            if theirs.get("ecorche") != ours["ecorche"]:
                raise EcorcheError(
                    f"the worker has another version: {'; '.join(found)}",
                    where=name,
                    remedy=f"Install ecorche {ours['ecorche']} there",
                )
            if found:
                notes.append(f"worker {name}: {'; '.join(found)}; its frames may differ by up to 1e-6")
        self._require_shared(folder)
        return tuple(notes)

    def _require_shared(self, folder: Path) -> None:
        token = folder / f".seen-{uuid.uuid4().hex}"
        token.write_text("by all workers")
        try:
            for name, seen in sorted(self._client.run(_sees, str(token), on_error="return").items()):
                if seen is not True:
                    raise EcorcheError(
                        f"the worker does not see the folder {str(folder)!r}",
                        where=name,
                        remedy="Give -o a folder that all machines share under one path",
                    )
        finally:
            token.unlink(missing_ok=True)

    def room(self) -> int:
        """How many workers have nothing to do.

        None waits behind another: a job that is bound to a worker does not go to the one that is free first.
        """
        return max(0, max(1, len(self._client.nthreads())) - len(self._jobs))

    def start(self, job: Job) -> None:
        """Have a job done by whichever worker is free."""
        key = f"{job.shot}-{job.step}-{uuid.uuid4().hex}"
        future = self._client.submit(attempt, self._work, job, key=key, pure=False)
        self._jobs[key] = job, future
        future.add_done_callback(self._ended.put)

    def wait(self) -> list[Finished]:
        """Wait until a job is done, or was given up as workers that were at it died."""
        absent = 0.0
        while True:
            try:
                future = self._ended.get(timeout=_LOOK)
                break
            except queue.Empty:
                absent = 0.0 if self._alive() else absent + _LOOK
                if absent >= ABSENT:
                    raise ClusterLostError(
                        "the cluster went away",
                        where=self._client.scheduler.address if self._client.scheduler else None,
                        remedy="Start it again, and give --resume: finished shots and frames are kept",
                    ) from None
        job, _ = self._jobs.pop(future.key)
        if future.status == "finished":
            return [Finished(job, future.result())]
        if future.status == "error":
            return [Finished(job, Failure(f"{future.exception()}"))]
        return [Finished(job, Failure("the scheduler went away; --resume goes on", stop=True))]

    def _alive(self) -> bool:
        try:
            return bool(self._client.nthreads())
        except Exception:
            return False

    def close(self) -> None:
        """Leave the cluster; end it where it was started here."""
        with contextlib.suppress(Exception):
            self._client.cancel([future for _, future in self._jobs.values()])
        with contextlib.suppress(Exception):
            self._client.close()
        self._close_own()

    def _close_own(self) -> None:
        if self._own is not None:
            self._own.close()


@contextlib.contextmanager
def _memory_kept() -> Iterator[None]:
    """Workers started here keep freed memory for their next frame.

    Dask has them give it back at once, so the system hands out and clears the arrays of every frame anew,
    which takes up to a fifth of a worker's time.
    """
    import dask

    with dask.config.set({_TRIM: None}):
        yield


def _client(distributed: ModuleType, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise EcorcheError(
            f"no scheduler answers there ({error})", where=f"--cluster {address}", remedy=_START
        ) from None


def _wait_for_worker(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=ANSWER)
    except TimeoutError:
        raise EcorcheError(
            "the cluster has no workers", where=f"--cluster {address}", remedy=_START
        ) from None


def _sees(token: str) -> bool:
    """Whether a file is there, for a worker to answer."""
    return Path(token).exists()
