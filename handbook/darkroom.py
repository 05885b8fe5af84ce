"""Pictures made by running what a page shows; finished ones are kept, so that an interrupted build goes on.

A run is a few commands in a folder of its own. The folder is named after everything the result depends on:
the commands, the files they are given and the package's own sources. When any of that changes the commands
run anew.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parent.parent


class RunFailed(Exception):
    """A command of a page did not succeed; the message is what it said."""


class Darkroom:
    """Where commands run and what they made is kept.

    Args:
        folder: For runs; made where it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def _sources(self) -> bytes:
        """A digest of the package: another program may draw another picture."""
        digest = hashlib.sha256()
        for file in sorted((ROOT / "src" / "ecorche").rglob("*")):
            if file.suffix in {".py", ".wgsl", ".html", ".json"}:
                digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
        return digest.digest()

    def run(
        self,
        name: str,
        commands: Sequence[str],
        given: Iterable[Path] = (),
        files: Mapping[str, str] = MappingProxyType({}),
    ) -> Path:
        """The folder in which commands have run, beside ``examples``.

        Args:
            name: What the run is called, for the folder and for messages.
            commands: ``ecorche …`` or ``python examples/….py …``, one after another.
            given: Files that the result depends on, beside the package.
            files: Texts that the commands find in their folder, by name.
        """
        digest = hashlib.sha256(self._sources)
        for text in commands:
            digest.update(text.encode() + b"\0")
        for beside, content in sorted(files.items()):
            digest.update(f"{beside}\0{content}\0".encode())
        for file in sorted(given):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
        done = self.folder / f"{name}-{digest.hexdigest()[:12]}"
        if done.is_dir():
            return done
        self.folder.mkdir(parents=True, exist_ok=True)
        # what an older program drew is of no more use
        for old in self.folder.glob(f"{name}-????????????"):
            shutil.rmtree(old)
        working = self.folder / f".{name}.running"
        shutil.rmtree(working, ignore_errors=True)
        working.mkdir()
        shutil.copytree(ROOT / "examples", working / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        for beside, content in files.items():
            (working / beside).write_text(content, encoding="utf-8")
        for command in commands:
            self._command(command, working)
        return working.rename(done)

    def _command(self, command: str, folder: Path) -> None:
        program, *arguments = shlex.split(command)
        if program not in {"ecorche", "python"}:
            raise RunFailed(f"{command}: only ecorche and python are run")
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        ran = subprocess.run(
            [sys.executable, *(["-m", "ecorche"] if program == "ecorche" else []), *arguments],
            cwd=folder,
            env={"ECORCHE_DATA": str(ROOT.parent / "shared" / "data"), **os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
        )
        if ran.returncode:
            raise RunFailed(f"{command}\n{ran.stdout}{ran.stderr}")
