"""How long it takes to read a real person, put a real walk on it, and bake it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ECORCHE_DATA", ROOT.parent / "shared" / "data"))

PROGRAM = """
import json, re, sys, time
from pathlib import Path
clock = time.perf_counter
t = clock()
import ecorche
took = {"import ecorche": clock() - t}
t = clock()
import numba, numpy, pygltflib
from pxr import Usd, UsdGeom, UsdSkel
import ecorche.io.gltf, ecorche.io.usd, ecorche.body.perform
took["start-up: NumPy, Numba, USD and our own modules"] = clock() - t
data, out = Path(sys.argv[1]), Path(sys.argv[2])
t = clock(); man = ecorche.read_character(data / "human" / "male_average_cmu_mb.glb")
took["read the person (13,380 vertices, 31 joints)"] = clock() - t
t = clock(); motion = ecorche.read_motion(data / "cmu" / "02_01.bvh")
took["read the walk (344 frames)"] = clock() - t
t = clock(); take = ecorche.perform(man, motion).take; took["retarget and compile"] = clock() - t
t = clock(); take.frames[0]; took["first frame (kernels compiled or loaded)"] = clock() - t
t = clock()
for index in range(len(take.frames)): take.frames[index]
took["skin and normals of all frames"] = clock() - t
for suffix in ("usdc", "glb", "npz", "pc2"):
    t = clock(); ecorche.write_take(out / f"walk.{suffix}", take)
    took[f"write .{suffix}, frames included"] = clock() - t
# not ru_maxrss, which counts the process this one was started from too
took["peak memory"] = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
print(json.dumps(took))
"""


def _measure(cache: Path) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, DATA, out],
            env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
            capture_output=True,
            text=True,
            check=True,
        )
    took: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return took


def measure() -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of each step: on a machine that has compiled nothing yet, and the best of three after."""
    with tempfile.TemporaryDirectory() as cache:
        first = _measure(Path(cache))
        later = [_measure(Path(cache)) for _ in range(3)]
    return first, {step: min(run[step] for run in later) for step in first}


def section() -> str:
    """The figures as a markdown section."""
    if not DATA.is_dir():
        return "## Bake\n\nNot measured: the real data is not here (set ECORCHE_DATA)."
    first, later = measure()
    lines = [
        "## Bake",
        "",
        "A real person (13,380 vertices) on a real walk (344 frames at 120 Hz); the whole process is started",
        "anew each time. First: nothing compiled yet. After: best of three with compiled kernels cached.",
        "",
        "| step | first run | after |",
        "|---|---|---|",
    ]
    for step in first:
        if step == "peak memory":
            lines.append(f"| {step} | {first[step] / 2**20:.0f} MiB | {later[step] / 2**20:.0f} MiB |")
        else:
            lines.append(f"| {step} | {first[step]:.2f} s | {later[step]:.2f} s |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(section())
