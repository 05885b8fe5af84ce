"""How much memory there is to take."""

from __future__ import annotations

import os
from pathlib import Path


def free_memory() -> int | None:
    """Bytes that a program may still take without others losing theirs; None where nobody says."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        (told,) = (line for line in lines if line.startswith("MemAvailable:"))
        return 1024 * int(told.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not told on every system
        return None
