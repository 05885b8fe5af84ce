"""What is finished: a small file a shot, written by the worker that finished it.

Thus whoever handed the jobs out may die, and nothing that is done is done again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from ecorche.base.files import readable_write_errors, whole_file
from ecorche.version import __version__

FOLDER = ".shots"
"""Where records stand, in the folder of the shots' files."""


def _record(output: Path) -> Path:
    return output.parent / FOLDER / f"{output.name}.json"


def log_path(output: Path) -> Path:
    """Where all that a shot's bake said is kept."""
    return output.parent / FOLDER / f"{output.name}.log"


def write_record(output: Path, digest: str, said: Iterable[str] = ()) -> None:
    """Say that a shot's file is finished, of what it was made, and what its bake said."""
    path = _record(output)
    with readable_write_errors(path):
        path.parent.mkdir(exist_ok=True)
    with whole_file(log_path(output)) as partial:
        partial.write_text("".join(f"{line}\n" for line in said), encoding="utf-8")
    with whole_file(path) as partial:
        partial.write_text(json.dumps({"made_of": digest, "bytes": output.stat().st_size}))


def is_finished(output: Path, digest: str) -> bool:
    """Whether a shot's file is there, whole, and made of the same."""
    try:
        told = json.loads(_record(output).read_text())
        return bool(told["made_of"] == digest and told["bytes"] == output.stat().st_size)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def digest_of(settings: str, files: Iterable[Path]) -> str:
    """All that a shot depends on: its settings, this version, and what is in its files."""
    digest = hashlib.sha256(f"{__version__}\n{settings}\n".encode())
    for path in files:
        stat = path.stat()
        digest.update(_content(str(path), stat.st_size, stat.st_mtime_ns))
    return digest.hexdigest()


@lru_cache(maxsize=4096)
def _content(path: str, _size: int, _changed: int) -> bytes:
    """Digest of a file's content; shots share characters and motions."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
