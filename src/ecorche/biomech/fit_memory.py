"""Fits that are done, kept on disk: what was interrupted goes on where it was.

A file a spindle, named after all that its fit depends on, so that nothing is taken for what it is not. Each
is written whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

from ecorche.base.files import whole_file
from ecorche.biomech.fit_spindle import SpindleFit
from ecorche.biomech.spindle_cost import Cost, OverSpindle
from ecorche.version import __version__

VERSION = f"{__version__} 1"
"""Of the fit: another finds other numbers from the same markers."""


class FitMemory:
    """Fits in a folder of their own.

    Args:
        folder: Made with the first fit.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, over: OverSpindle, cost: Cost) -> SpindleFit | None:
        """The fit of a spindle to exactly this, if there is one."""
        try:
            told = json.loads((self.folder / _name(over, cost)).read_text(encoding="utf-8"))
            told |= {key: np.array(told[key], np.float64) for key in ("coefficients", "undeformed")}
            return SpindleFit(**{**told, "notes": tuple(told["notes"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None  # none, or damaged: it is found anew

    def keep(self, over: OverSpindle, cost: Cost, fit: SpindleFit) -> None:
        """Write a fit."""
        self.folder.mkdir(exist_ok=True)
        told = asdict(fit) | {key: getattr(fit, key).tolist() for key in ("coefficients", "undeformed")}
        with whole_file(self.folder / _name(over, cost)) as partial:
            partial.write_text(json.dumps(told), encoding="utf-8")

    def forget(self) -> None:
        """Remove the folder: the work is done."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _name(over: OverSpindle, cost: Cost) -> str:
    content = hashlib.sha256(f"{VERSION} {cost!r}".encode())
    for field in fields(over):
        value = getattr(over, field.name)
        content.update(f"{field.name} ".encode())
        content.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return f"{content.hexdigest()[:32]}.json"
