"""How our parallel kernels share the machine: one place for the settings, set before first use.

Import this before `numba` runs its first parallel function.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Between two frames idle OpenMP threads would spin by default and take the processor from the
# readers and writers that work there; asleep, they cost each kernel 0.1 ms to wake. So they spin for
# about a quarter of a millisecond, which carries them from kernel to kernel within a frame, and then
# sleep. The variables are read once, when the OpenMP library loads; a person's own choice wins.
if "OMP_WAIT_POLICY" not in os.environ and "GOMP_SPINCOUNT" not in os.environ:
    os.environ.update(OMP_WAIT_POLICY="passive", GOMP_SPINCOUNT="10000")


@contextmanager
def at_most_threads(count: int) -> Iterator[None]:
    """Run the kernels within the block on at most ``count`` threads; results do not depend on it."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(max(1, min(count, numba.config.NUMBA_NUM_THREADS)))
    try:
        yield
    finally:
        numba.set_num_threads(before)
