"""Damage a file in many ways and read it: an answer or an `EcorcheError`, nothing else.

    python tests/fuzz.py SAMPLE SECONDS SEED

Runs in a process of its own, so that a crash or a hang of a library shows. Every case is
reproducible from the seed and its number, which are printed before it begins.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from ecorche.errors import EcorcheError
from ecorche.io import formats

SECONDS_A_CASE = 20
RECORDINGS = {
    ".trc": ("trc", "read_trc"),
    ".mot": ("opensim_storage", "read_table"),
    ".c3d": ("c3d", "read_c3d"),
}
"""What laboratories write: module and function by suffix."""


def read(path: Path) -> None:
    """Read a file in every way its format offers."""
    if path.suffix == ".ecorche":
        from ecorche.document.files import read_rig

        read_rig(path)
        return
    if path.suffix in RECORDINGS:
        reader, function = RECORDINGS[path.suffix]
        getattr(importlib.import_module(f"ecorche.io.{reader}"), function)(path)
        return
    module = formats.module_for(path, "__name__", EcorcheError)
    for ability in ("read_character", "read_mesh", "read_frames"):
        if hasattr(module, ability):
            getattr(module, ability)(path)
    if hasattr(module, "read_motion"):
        module.read_motion(path, None)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to several injuries: flips, cuts, repeats, numbers changed, pieces swapped."""
    injured = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not injured:
            break
        at = rng.randrange(len(injured))
        kind = rng.randrange(8)
        if kind == 0:
            injured[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            injured[at] = rng.randrange(256)
        elif kind == 2:
            del injured[at : at + rng.choice((1, 4, 64, 4096))]
        elif kind == 3:
            del injured[at:]
        elif kind == 4:
            piece = injured[at : at + rng.choice((1, 4, 64, 1024))]
            injured[at:at] = piece
        elif kind == 5:
            injured[at : at + 4] = rng.choice((b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f", b"\0\0\xc0\x7f"))
        elif kind == 6:
            digits = [
                i for i in range(max(0, at - 200), min(len(injured), at + 200)) if 48 <= injured[i] <= 57
            ]
            if digits:
                i = rng.choice(digits)
                injured[i : i + 1] = rng.choice((b"-1", b"999999999", b"1e999", b"nan", b"0", b""))
        else:
            other = rng.randrange(len(injured))
            size = rng.choice((1, 8, 64))
            injured[at : at + size], injured[other : other + size] = (
                injured[other : other + size],
                injured[at : at + size],
            )
    return bytes(injured)


def main(sample: Path, seconds: float, seed: int) -> int:
    """Damage the sample until the time is over; 0 when every case ended well."""
    data = sample.read_bytes()
    companions = [p for p in sample.parent.iterdir() if p != sample and p.is_file()]
    end = time.monotonic() + seconds
    case = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for companion in companions:
            os.link(companion, Path(folder) / companion.name)
        victim = Path(folder) / sample.name
        while time.monotonic() < end:
            print(f"seed {seed}, case {case}", file=sys.stderr, flush=True)
            victim.write_bytes(damaged(data, random.Random(seed * 1_000_003 + case)))
            # a case that hangs ends the process and shows where, even inside a library
            faulthandler.dump_traceback_later(SECONDS_A_CASE, exit=True)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    read(victim)
            except EcorcheError:
                refused += 1
            except BaseException:
                traceback.print_exc()
                return 1
            finally:
                faulthandler.cancel_dump_traceback_later()
            case += 1
    print(f"{sample.name}: {case} cases, {refused} refused")
    return 0 if case else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))
