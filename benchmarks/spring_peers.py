"""The same springs by other people's engines on the processor, each written as its own users would.

Taichi and Warp live in an environment of their own, as Blender does: `tools/setup-engines` makes it. Each
runs in a process of its own on the springs it is given, twice, by gathering at each point and by scattering
from each spring with atomic additions, and says how long a step takes and where the points came to.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.peers import ROOT, MissingPeer
from ecorche.dynamics.springs import Springs

Floats = npt.NDArray[np.float64]

_MEASURED = """
def measured(make, given, rounds, count):
    import json, time
    import numpy as np
    found = {}
    for way in ("gather", "scatter"):
        advance, finish, offsets = make(given, way)
        advance(count)
        finish()
        result = offsets().astype(np.float32)
        taken = []
        for _ in range(rounds):
            start = time.perf_counter()
            advance(count)
            finish()
            taken.append((time.perf_counter() - start) / count)
        found[way] = {"seconds": min(taken)}
        np.save(f"{given['folder']}/{way}.npy", result)
    print(json.dumps(found))
"""

TAICHI = """
import sys
import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, cpu_max_num_threads=int(sys.argv[4]), fast_math=True, offline_cache=False)


def make(given, way):
    n, springs, edges = len(given["places"]), len(given["pairs"]), len(given["others"])
    vector = lambda: ti.Vector.field(3, ti.f32, n)
    y, u, v, w, a, guess, force = (vector() for _ in range(7))
    pairs = ti.Vector.field(2, ti.i32, springs)
    k, c = ti.field(ti.f32, springs), ti.field(ti.f32, springs)
    starts, others = ti.field(ti.i32, n + 1), ti.field(ti.i32, edges)
    ke, ce = ti.field(ti.f32, edges), ti.field(ti.f32, edges)
    own, drag, inverse = (ti.field(ti.f32, n) for _ in range(3))
    for field, name in ((y, "places"), (v, "velocities"), (a, "accelerations"), (k, "stiffness"),
                        (c, "damping"), (ke, "edge_stiffness"), (ce, "edge_damping"), (own, "own"),
                        (drag, "own_damping"), (inverse, "inverse")):
        field.from_numpy(given[name].astype(np.float32))
    for field, name in ((pairs, "pairs"), (starts, "starts"), (others, "others")):
        field.from_numpy(given[name].astype(np.int32))
    h = float(given["step"])

    @ti.func
    def pull(i, j, stiff, damp):
        apart = y[j] - y[i]
        moved = u[j] - u[i]
        along = apart + moved
        rest, length = apart.norm(), along.norm()
        stretch = moved.dot(apart + along) / (rest + length)
        rate = (guess[j] - guess[i]).dot(along) / length
        return (stiff * stretch + damp * rate) / length * along

    @ti.kernel
    def begin():
        for i in range(n):
            w[i] = v[i] + 0.5 * h * a[i]
            u[i] += h * w[i]
            guess[i] = w[i] + 0.5 * h * a[i]
            if ti.static(way == "scatter"):
                force[i] = -own[i] * u[i] - drag[i] * guess[i]

    @ti.kernel
    def gather():
        for i in range(n):
            total = -own[i] * u[i] - drag[i] * guess[i]
            for e in range(starts[i], starts[i + 1]):
                total += pull(i, others[e], ke[e], ce[e])
            v[i] = w[i] + 0.5 * h * inverse[i] * total
            a[i] = inverse[i] * total

    @ti.kernel
    def scatter():
        for s in range(springs):
            i, j = pairs[s][0], pairs[s][1]
            f = pull(i, j, k[s], c[s])
            force[i] += f
            force[j] -= f

    @ti.kernel
    def end():
        for i in range(n):
            v[i] = w[i] + 0.5 * h * inverse[i] * force[i]
            a[i] = inverse[i] * force[i]

    def advance(count):
        for _ in range(count):
            begin()
            if way == "gather":
                gather()
            else:
                scatter()
                end()

    return advance, ti.sync, u.to_numpy


given = dict(np.load(sys.argv[1]))
given["folder"] = sys.argv[5]
measured(make, given, int(sys.argv[2]), int(sys.argv[3]))
"""

WARP = """
import sys
import numpy as np
import warp as wp

wp.config.quiet = True
wp.init()


@wp.func
def pull(i: int, j: int, stiff: float, damp: float, y: wp.array(dtype=wp.vec3), u: wp.array(dtype=wp.vec3),
         guess: wp.array(dtype=wp.vec3)):
    apart = y[j] - y[i]
    moved = u[j] - u[i]
    along = apart + moved
    length = wp.length(along)
    stretch = wp.dot(moved, apart + along) / (wp.length(apart) + length)
    rate = wp.dot(guess[j] - guess[i], along) / length
    return (stiff * stretch + damp * rate) / length * along


@wp.kernel
def begin(h: float, own: wp.array(dtype=float), drag: wp.array(dtype=float), u: wp.array(dtype=wp.vec3),
          v: wp.array(dtype=wp.vec3), a: wp.array(dtype=wp.vec3), w: wp.array(dtype=wp.vec3),
          guess: wp.array(dtype=wp.vec3), force: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    w[i] = v[i] + 0.5 * h * a[i]
    u[i] = u[i] + h * w[i]
    guess[i] = w[i] + 0.5 * h * a[i]
    force[i] = -own[i] * u[i] - drag[i] * guess[i]


@wp.kernel
def gather(h: float, starts: wp.array(dtype=int), others: wp.array(dtype=int), k: wp.array(dtype=float),
           c: wp.array(dtype=float), inverse: wp.array(dtype=float), y: wp.array(dtype=wp.vec3),
           u: wp.array(dtype=wp.vec3), guess: wp.array(dtype=wp.vec3), w: wp.array(dtype=wp.vec3),
           force: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3), a: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    total = force[i]
    for e in range(starts[i], starts[i + 1]):
        total += pull(i, others[e], k[e], c[e], y, u, guess)
    v[i] = w[i] + 0.5 * h * inverse[i] * total
    a[i] = inverse[i] * total


@wp.kernel
def scatter(pairs: wp.array(dtype=wp.vec2i), k: wp.array(dtype=float), c: wp.array(dtype=float),
            y: wp.array(dtype=wp.vec3), u: wp.array(dtype=wp.vec3), guess: wp.array(dtype=wp.vec3),
            force: wp.array(dtype=wp.vec3)):
    s = wp.tid()
    i, j = pairs[s][0], pairs[s][1]
    f = pull(i, j, k[s], c[s], y, u, guess)
    wp.atomic_add(force, i, f)
    wp.atomic_sub(force, j, f)


@wp.kernel
def end(h: float, inverse: wp.array(dtype=float), w: wp.array(dtype=wp.vec3), force: wp.array(dtype=wp.vec3),
        v: wp.array(dtype=wp.vec3), a: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    v[i] = w[i] + 0.5 * h * inverse[i] * force[i]
    a[i] = inverse[i] * force[i]


def make(given, way):
    n, springs, h = len(given["places"]), len(given["pairs"]), float(given["step"])
    vector = lambda name: wp.array(given[name].astype(np.float32), dtype=wp.vec3, device="cpu")
    number = lambda name: wp.array(given[name].astype(np.float32), dtype=float, device="cpu")
    whole = lambda name: wp.array(given[name].astype(np.int32), dtype=int, device="cpu")
    empty = lambda: wp.zeros(n, dtype=wp.vec3, device="cpu")
    y, v, a = vector("places"), vector("velocities"), vector("accelerations")
    u, w, guess, force = empty(), empty(), empty(), empty()
    own, drag, inverse = number("own"), number("own_damping"), number("inverse")
    starts, others = whole("starts"), whole("others")
    ke, ce = number("edge_stiffness"), number("edge_damping")
    k, c = number("stiffness"), number("damping")
    pairs = wp.array(given["pairs"].astype(np.int32), dtype=wp.vec2i, device="cpu")
    first = wp.launch(begin, n, [h, own, drag, u, v, a, w, guess, force], device="cpu", record_cmd=True)
    if way == "gather":
        commands = [first, wp.launch(gather, n, [h, starts, others, ke, ce, inverse, y, u, guess, w, force,
                                                 v, a], device="cpu", record_cmd=True)]
    else:
        commands = [first,
                    wp.launch(scatter, springs, [pairs, k, c, y, u, guess, force], device="cpu",
                              record_cmd=True),
                    wp.launch(end, n, [h, inverse, w, force, v, a], device="cpu", record_cmd=True)]

    def advance(count):
        for _ in range(count):
            for command in commands:
                command.launch()

    return advance, wp.synchronize, u.numpy


given = dict(np.load(sys.argv[1]))
given["folder"] = sys.argv[5]
measured(make, given, int(sys.argv[2]), int(sys.argv[3]))
"""

PROGRAMS = {"Taichi": TAICHI, "Warp": WARP}


@dataclass(frozen=True)
class PeerSteps:
    """What an engine did: seconds of a step by its faster way, which that is, and offsets [m], (N, 3)."""

    seconds: float
    way: str
    offsets: Floats


def steps_of(
    peer: str, springs: Springs, places: Floats, velocities: Floats, *, step: float, count: int, rounds: int
) -> PeerSteps:
    """Take ``count`` steps from the bind places at some speed [m/s], (N, 3), several times.

    The offsets are those after the first ``count``.
    """
    python = Path(os.environ.get("ECORCHE_ENGINES", ROOT / ".venv-engines" / "bin" / "python"))
    if not python.exists():
        raise MissingPeer(f"{peer} is not here: run tools/setup-engines, or set ECORCHE_ENGINES")
    from ecorche.dynamics.springs import spring_forces

    starts, others, numbers = springs.ends
    force = spring_forces(springs, places, np.zeros_like(places), velocities)
    with tempfile.TemporaryDirectory() as folder:
        program, given = Path(folder) / f"{peer.lower()}_springs.py", Path(folder) / "given.npz"
        program.write_text(_MEASURED + PROGRAMS[peer])
        np.savez(
            given,
            places=places,
            velocities=velocities,
            accelerations=force * springs.inverse_masses[:, None],
            pairs=springs.pairs,
            stiffness=springs.stiffness,
            damping=springs.damping,
            starts=starts,
            others=others,
            edge_stiffness=springs.stiffness[numbers],
            edge_damping=springs.damping[numbers],
            own=springs.own_stiffness,
            own_damping=springs.own_damping,
            inverse=springs.inverse_masses,
            step=step,
        )
        arguments = [str(rounds), str(count), str(os.cpu_count() or 1), folder]
        done = subprocess.run(
            [python, program, given, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise MissingPeer(f"{peer} stopped: {done.stderr.strip().splitlines()[-1:]}")
        told = json.loads(done.stdout.splitlines()[-1])
        way = min(told, key=lambda name: float(told[name]["seconds"]))
        offsets = np.load(Path(folder) / f"{way}.npy").astype(np.float64)
    return PeerSteps(float(told[way]["seconds"]), way, offsets)
