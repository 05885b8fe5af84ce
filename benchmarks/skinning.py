"""Skinning a million vertices beside other programs, each as a ratio to a memory copy of the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from benchmarks import peers
from benchmarks.bodies import Body, crowd, man, ring, shuffled
from benchmarks.timing import Timing, by_turns, timing
from ecorche.skin.contour import ContourSkinning
from ecorche.skin.dual_quaternion import DualQuaternionSkinning
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.methods import Skinning, make_skinning
from ecorche.skin.normals import Normals

ROUNDS = 21
SMALL = 10  # libigl's dense matrix would fill the memory: it gets a tenth of the vertices

COPY = "memory copy of the same bytes (np.copyto), **the reference**"
LINEAR = "**Ecorche, linear**"

FIRST_CALL = """
import json, sys, time
import numpy as np
clock, took = time.perf_counter, {}
from benchmarks.bodies import ring
from ecorche.skin.methods import make_skinning
body = ring(40, 40)
start = clock()
import ecorche.skin.contour, ecorche.skin.dual_quaternion, ecorche.skin.linear
from ecorche.skin.normals import Normals
took["import of the kernels and Numba"] = clock() - start
for method in ("linear", "dual_quaternion", "contour"):
    start = clock()
    make_skinning(method, body.mesh.points, body.weights, body.skeleton).apply(body.difference)
    took[method] = clock() - start
start = clock()
Normals([body.mesh]).apply([body.mesh.points])
took["normals"] = clock() - start
print(json.dumps(took))
"""


def _copy(size: int) -> Callable[[], object]:
    """A copy that moves ``size`` bytes in all: half are read, half written."""
    source = np.ones(size // 8, np.float32)
    target = np.zeros_like(source)
    return lambda: np.copyto(target, source)


def _parallel_copy(size: int) -> Callable[[], object]:
    from numba import njit, prange

    @njit(parallel=True)  # type: ignore[untyped-decorator]
    def copy(source: npt.NDArray[np.float32], target: npt.NDArray[np.float32]) -> None:
        for i in prange(len(source)):
            target[i] = source[i]

    source = np.ones(size // 8, np.float32)
    target = np.zeros_like(source)
    return lambda: copy(source, target)


def _apply(skinning: Skinning, body: Body, points: npt.NDArray[np.float32] | None = None) -> peers.Run:
    out = np.empty_like(body.mesh.points)
    return lambda: skinning.apply(body.difference, points, out)


def _with_normals(skinning: Skinning, body: Body) -> peers.Run:
    out, normals = np.empty_like(body.mesh.points), Normals([body.mesh])
    return lambda: normals.apply([skinning.apply(body.difference, out=out)])


def _moved_bytes(skinning: LinearSkinning, body: Body) -> int:
    """What one call must read and write at least, in our own compact layout."""
    return skinning.kept_bytes + body.mesh.points.nbytes


def _rows(timings: dict[str, Timing]) -> list[str]:
    """A table: times, and their ratio to the reference in the median and at the fastest."""
    reference = timings[COPY]
    lines = ["| | median [ms] | range [ms] | × reference | fastest × fastest |", "|---|---|---|---|---|"]
    for name, t in timings.items():
        ratio, best = t.median / reference.median, t.fastest / reference.fastest
        lines.append(
            f"| {name} | {t.median:.2f} | {t.fastest:.2f}–{t.slowest:.2f} | {ratio:.2f} | {best:.2f} |"
        )
    return lines


def _try(
    contenders: dict[str, peers.Run], missing: list[str], name: str, maker: Callable[[], peers.Run]
) -> None:
    try:
        contenders[name] = maker()
    except peers.MissingPeer as reason:
        missing.append(f"{name}: not measured, {reason}.")


def _blender(body: Body, missing: list[str]) -> dict[str, Timing]:
    found = {}
    for method, name in (("linear", "Blender, armature modifier"), ("dual", "Blender, preserving volume")):
        try:
            found[f"{name} (own process)"] = timing(peers.blender_armature(body, ROUNDS, method))
        except peers.MissingPeer as reason:
            missing.append(f"{name}: not measured, {reason}.")
    return found


def _first_calls() -> list[str]:
    with tempfile.TemporaryDirectory() as cache:
        runs = []
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", FIRST_CALL],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                capture_output=True,
                text=True,
                check=True,
            )
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    compiled, cached = runs
    lines = ["| first call in a process | nothing compiled yet [s] | compiled before [s] |", "|---|---|---|"]
    lines += [f"| {n.replace('_', ' ')} | {compiled[n]:.1f} | {cached[n]:.2f} |" for n in compiled]
    return lines


def _million() -> list[str]:
    body = ring()
    points, weights, skeleton = body.mesh.points, body.weights, body.skeleton
    start = time.perf_counter()
    linear = LinearSkinning(points, weights)
    prepared = time.perf_counter() - start
    moved = _moved_bytes(linear, body)
    mixed = shuffled(body)
    contenders: dict[str, peers.Run] = {
        COPY: _copy(moved),
        "memory copy of the same bytes, on two threads": _parallel_copy(moved),
        "memory copy of the points alone (in and out)": _copy(2 * points.nbytes),
        LINEAR: _apply(linear, body),
        "Ecorche, linear, other points given (morphs)": _apply(linear, body, points.copy()),
        "Ecorche, linear, vertices in random order": _apply(
            LinearSkinning(mixed.mesh.points, mixed.weights), mixed
        ),
        "Ecorche, dual quaternion": _apply(DualQuaternionSkinning(points, weights), body),
        "Ecorche, contour": _apply(ContourSkinning(points, weights, skeleton), body),
    }
    person = man()
    if person is not None:
        many = crowd(person, 75)
        name = f"Ecorche, linear, the real man 75 times ({many.mesh.vertex_count:,} vertices)"
        contenders[name] = _apply(LinearSkinning(many.mesh.points, many.weights), many)
    missing: list[str] = []
    _try(contenders, missing, "UsdSkel, linear", lambda: peers.usdskel(body, "classicLinear"))
    _try(contenders, missing, "UsdSkel, dual quaternion", lambda: peers.usdskel(body, "dualQuaternion"))
    small_name = f"libigl, linear (1/{SMALL} of the vertices, time × {SMALL}; dense, double)"
    _try(contenders, missing, small_name, lambda: peers.libigl(ring(1000 // SMALL)))
    contenders["NumPy, linear"] = peers.numpy_plain(body)
    timings = by_turns(contenders, ROUNDS)
    if small_name in timings:
        timings[small_name] = timings[small_name].times(SMALL)
    timings |= _blender(body, missing)

    shaded: dict[str, peers.Run] = {
        COPY: _copy(moved),
        "**Ecorche, linear and normals**": _with_normals(linear, body),
        "Ecorche, contour and normals": _with_normals(ContourSkinning(points, weights, skeleton), body),
    }
    _try(shaded, missing, "MuJoCo's skin, linear and normals (one thread)", lambda: peers.mujoco_skin(body))
    shaded_timings = by_turns(shaded, ROUNDS)

    return [
        "One million vertices, 4 influences, 60 joints, float32: a ring whose vertices follow their four",
        f"nearest joints. Every contender takes its turn in each of {ROUNDS} rounds; the range leaves out",
        "the slowest tenth. Ecorche's times include restoring the caller's vertex order, into an array that",
        "exists; UsdSkel works in place, so its times include copying the bind points first.",
        "",
        *_rows(timings),
        "",
        f"The reference moves as many bytes as our kernel must: {moved / len(points):.1f} a vertex (points in"
        " and out, weights, joint",
        "and vertex numbers in the grouped layout), half read and half written, by one thread as `np.copyto`"
        " does it.",
        f"Preparing the layout took {prepared:.2f} s, once; it holds {linear.kept_bytes / 2**20:.0f} MiB.",
        "",
        "With normals (new arrays for them each time, as in a bake):",
        "",
        *_rows(shaded_timings),
        *(["", *missing] if missing else []),
    ]


def _one_person() -> list[str]:
    person = man()
    if person is None:
        return ["The real person was not measured: its data is not here (set ECORCHE_DATA)."]
    normals = Normals([person.mesh])
    contenders: dict[str, peers.Run] = {}
    for method in ("linear", "dual_quaternion", "contour"):
        skinning = make_skinning(method, person.mesh.points, person.weights, person.skeleton)
        contenders[f"{method.replace('_', ' ')} skinning"] = _apply(skinning, person)
    contenders["normals"] = lambda: normals.apply([person.mesh.points])
    lines = ["| the real man, 13,380 vertices | median [ms] | range [ms] |", "|---|---|---|"]
    for name, t in by_turns(contenders, 200).items():
        lines.append(f"| {name} | {t.median:.3f} | {t.fastest:.3f}–{t.slowest:.3f} |")
    return lines


def section() -> str:
    """The figures as a markdown section."""
    parts: Sequence[list[str]] = (["## Skinning"], _million(), _one_person(), _first_calls())
    return "\n\n".join("\n".join(p) for p in parts)


if __name__ == "__main__":
    print(section())
