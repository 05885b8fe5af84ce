"""How our parallel kernels share the machine: one place for the settings, set before first use.

Import this before `numba` runs its first parallel function.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numba
from numba import config

import ecorche.base.compiling  # noqa: F401  what precedes the first kernel that is compiled

# Between two frames idle OpenMP threads would spin by default and take the processor from the
# readers and writers that work there; on a busy machine every frame then stalls for milliseconds. So
# they spin for some eighty microseconds, which carries them from kernel to kernel over what one thread does
# between, and then sleep. The variables are read once, when the OpenMP library loads; a person's own choice
# wins.
if "OMP_WAIT_POLICY" not in os.environ and "GOMP_SPINCOUNT" not in os.environ:
    os.environ.update(OMP_WAIT_POLICY="passive", GOMP_SPINCOUNT="4000")
# Where a system happens to have Intel's TBB, Numba would take that, and a crowd's skin takes a third longer.
if "NUMBA_THREADING_LAYER_PRIORITY" not in os.environ:
    os.environ["NUMBA_THREADING_LAYER_PRIORITY"] = "omp tbb workqueue"  # for processes that this one starts
    config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]

_WORTH_SHARING = 1024  # groups of sixteen: about 0.1 ms of skinning, the time it takes to wake a thread
_WORTH_SHARING_AWAKE = 256  # such groups, where what ran just before has woken the threads


def worth_sharing(groups: int, *, after: int = 0) -> bool:
    """Whether so many groups of sixteen lanes are worth sharing with other threads.

    A small kernel that exists without threads too is better called so than by way of `threads_for`, which
    takes as long as skinning some thousand vertices. A kernel that runs right ``after`` one of so many groups
    finds the threads awake, and on each of them half of what it reads.
    """
    return groups >= (_WORTH_SHARING_AWAKE if after >= _WORTH_SHARING else _WORTH_SHARING)


def threads_for(groups: int) -> AbstractContextManager[None]:
    """Run a kernel over so many groups of sixteen lanes on all allowed threads if that pays, else on one.

    An ordinary character is skinned before a sleeping thread has woken up, and one thread does not
    wait for another that a busy machine has set aside.
    """
    return nullcontext() if worth_sharing(groups) else at_most_threads(1)


@contextmanager
def at_most_threads(count: int) -> Iterator[None]:
    """Run the kernels within the block on at most ``count`` threads; results do not depend on it."""
    before = numba.get_num_threads()
    numba.set_num_threads(max(1, min(count, before)))
    try:
        yield
    finally:
        numba.set_num_threads(before)
