"""Public packages read as data: fetched once with pip, checked by hash, kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ecorche.base.files import readable_write_errors
from ecorche.errors import MissingPackageError, ReadError


@dataclass(frozen=True)
class Wheel:
    """One exact wheel of the Python package index, of which only data files are read."""

    package: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The wheel's file name, for a pure Python package."""
        return f"{self.package}-{self.version}-py3-none-any.whl"


def cache_folder() -> Path:
    """Where downloads are kept: ``ECORCHE_CACHE``, else the platform's cache folder for users."""
    if chosen := os.environ.get("ECORCHE_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "ecorche" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ecorche"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ecorche"


def cached_wheel(wheel: Wheel, cache: Path | None = None) -> Path:
    """The wheel's file, downloaded at the first call; its hash is checked at every call."""
    folder = cache or cache_folder()
    target = folder / wheel.file_name
    if not target.exists():
        _download(wheel, folder)
    found = _sha256(target)
    if found != wheel.sha256:
        raise ReadError(
            f"its SHA-256 is {found[:16]}…, expected {wheel.sha256[:16]}…",
            where=target,
            remedy="Delete the file and try again; if that does not help, do not trust its source",
        )
    return target


def _download(wheel: Wheel, folder: Path) -> None:
    """Fetch into a folder of its own first, so that an interrupted download leaves nothing behind."""
    target = folder / wheel.file_name
    with readable_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as arrival:
            requirement = f"{wheel.package}=={wheel.version}"
            options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check"]
            done = subprocess.run(
                [sys.executable, "-m", "pip", "download", *options, "--dest", arrival, requirement],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                check=False,
            )
            if "No module named pip" in done.stderr:
                raise MissingPackageError(
                    f"pip is needed to download {requirement}",
                    remedy=f"Run: {sys.executable} -m ensurepip",
                )
            arrived = Path(arrival) / wheel.file_name
            if done.returncode != 0 or not arrived.exists():
                reason = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "")
                raise ReadError(
                    f"the package {requirement} could not be downloaded" + (f" ({reason})" if reason else ""),
                    where=target,
                    remedy=f"Check the connection, or put {wheel.file_name} into that folder yourself",
                )
            arrived.replace(target)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror})", where=path) from error
