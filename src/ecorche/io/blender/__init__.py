"""Blender, run out of process for formats that it alone reads and writes well: the door to this folder.

The files beside this one are scripts that Blender's own Python runs. They import nothing of Ecorche, and
nothing of Ecorche imports them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from ecorche.errors import EcorcheError

PYTHON, PROGRAM = "ECORCHE_BLENDER_PYTHON", "ECORCHE_BLENDER"
"""Names of a Python that has the module ``bpy``, and of Blender itself, in the environment."""

LONGEST = 3600.0
"""Blender is given up after so many seconds."""


def run_blender(script: str, *arguments: object, where: Path, error: type[EcorcheError]) -> None:
    """Run a script of this folder in Blender.

    Args:
        script: Its name.
        arguments: What it is given.
        where: The file it is about, for messages.
        error: What is raised where there is no Blender, or where the script fails.
    """
    command = [*_blender(where, error, Path(__file__).with_name(f"{script}.py")), *map(str, arguments)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
            # its FBX writer orders what it writes by hashes, which else differ from run to run
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
    except subprocess.TimeoutExpired as late:
        raise error(f"Blender did not end within {LONGEST:.0f} s", where=where) from late
    except OSError as refused:
        raise error(
            f"Blender cannot be started ({refused.strerror or refused})",
            where=where,
            remedy=f"Check what {PYTHON} or {PROGRAM} names",
        ) from refused
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.strip()] or ["it says nothing"]
        if "No module named 'bpy'" in told[-1]:
            raise error(
                f"the Python that {PYTHON} names has no module bpy",
                where=where,
                remedy=f"Install it there: {command[0]} -m pip install bpy",
            )
        raise error(f"Blender refuses ({told[-1].strip()})", where=where, remedy="Check it in Blender")


def require_program(path: Path, error: type[EcorcheError]) -> None:
    """Refuse a file where there is no Blender for it, before any work is done."""
    _blender(path, error, Path())


def _blender(where: Path, error: type[EcorcheError], script: Path) -> list[str]:
    """The command that runs a script in Blender, up to its arguments."""
    named = os.environ.get(PYTHON)
    if named:
        return [named, str(script)]
    program = os.environ.get(PROGRAM) or shutil.which("blender")
    if program:
        return [
            program,
            "--background",
            "--factory-startup",
            "--python-exit-code",
            "1",
            "--python",
            str(script),
            "--",
        ]
    raise error(
        f"{where.suffix} files need Blender, and there is none",
        where=where,
        remedy=f"Install Blender 4.5 or newer, or its module in a Python of its own (pip install bpy),"
        f" and name it: {PROGRAM}=/path/to/blender or {PYTHON}=/path/to/python",
    )
