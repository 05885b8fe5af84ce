"""How much memory there is to take."""

from __future__ import annotations

import os
from pathlib import Path

from ecorche.errors import EcorcheError

SPARE = 0.8
"""How much of the free memory something may take."""


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


def require_memory(needed: float, what: str, *, where: str, remedy: str) -> None:
    """Refuse what takes more bytes than there are, before it takes them."""
    free = free_memory()
    if free is not None and needed > SPARE * free:
        raise EcorcheError(
            f"{what} take about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free",
            where=where,
            remedy=remedy,
        )
