"""What computes: versions of the packages that frames depend on, and the kind of processor."""

from __future__ import annotations

import platform
import re
from importlib.metadata import version
from pathlib import Path

from ecorche.version import __version__

Versions = dict[str, str]
"""Name to version."""


def versions() -> Versions:
    """Of this process; what shows in the bytes of a bake."""
    return {
        "ecorche": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "processor": processor(),
    }


def processor() -> str:
    """The kind of processor: its family rounds alike."""
    model = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(errors="replace"), flags=re.MULTILINE)
        model = "" if found is None else found[1].strip()
    return " ".join(filter(None, (platform.machine(), model or platform.processor())))


def differences(ours: Versions, theirs: Versions) -> list[str]:
    """What differs, such as ``numpy 2.1.0 there, 2.2.0 here``."""
    return [
        f"{name} {theirs.get(name, 'missing')} there, {ours[name]} here"
        for name in ours
        if theirs.get(name) != ours[name]
    ]
