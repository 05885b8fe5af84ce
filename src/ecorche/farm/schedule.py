"""Jobs handed to workers until all are done: tried again where they fail, and what failed is told."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ecorche.farm.job import Failure, Job, Report, Runner


class Told:
    """What happens is told to this; a class to be derived from."""

    def done(self, job: Job, report: Report) -> Iterable[Job]:
        """A job is done; the jobs that follow from it."""
        raise NotImplementedError

    def again(self, job: Job, why: str, attempt: int) -> None:
        """A job failed and is tried again."""
        raise NotImplementedError


def run_jobs(
    jobs: Iterable[Job], runner: Runner, told: Told, *, retries: int = 2
) -> list[tuple[Job, Failure]]:
    """Have jobs done, and those that follow from them; which failed in the end, and why.

    Args:
        jobs: In the order in which they are begun; those that follow come first.
        runner: Has them done.
        told: Told of each that is done or tried again.
        retries: How often one that fails is tried again, after all others that wait.
    """
    waiting: deque[tuple[Job, int]] = deque((job, 0) for job in jobs)
    failed: list[tuple[Job, Failure]] = []
    under_way: dict[int, int] = {}
    while waiting or under_way:
        while waiting and runner.room() > 0:
            job, tried = waiting.popleft()
            under_way[id(job)] = tried
            runner.start(job)
        for finished in runner.wait():
            job, result = finished.job, finished.result
            tried = under_way.pop(id(job)) + 1
            if isinstance(result, Report):
                waiting.extendleft((new, 0) for new in reversed(list(told.done(job, result))))
            elif result.again and not result.stop and tried <= retries:
                told.again(job, result.why, tried)
                waiting.append((job, tried))
            else:
                failed.append((job, result))
                if result.stop:
                    waiting.clear()
    return failed
