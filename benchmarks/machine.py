"""What the figures were measured on: processor, system and versions, nothing personal."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path

import psutil

PACKAGES = ("numpy", "numba", "llvmlite", "scipy", "usd-core", "mujoco", "libigl", "ecorche")


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
        flags = next((line for line in lines if line.startswith("flags")), "").split()
        widest = next((f for f in ("avx512f", "avx2", "avx", "sse4_2") if f in flags), "")
        return f"{model or platform.machine()} ({widest})" if widest else model or platform.machine()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"{package} not installed"


def section() -> str:
    """The machine as a markdown section."""
    memory = psutil.virtual_memory().total / 2**30
    return "\n".join(
        [
            "## Machine",
            "",
            f"- {_processor()}, {psutil.cpu_count()} cores, {memory:.0f} GiB",
            f"- {platform.system()}, Python {platform.python_version()}",
            f"- {', '.join(_version(p) for p in PACKAGES)}",
            f"- other work on the machine when the run began: load {psutil.getloadavg()[0]:.1f}",
        ]
    )
