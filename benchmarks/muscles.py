"""What muscles add to a frame: on a person, by vertices and muscles, and on a hero of 300,000 vertices."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from benchmarks.timing import Timing, by_turns
from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.base.rotations import xyzw_from_rotation_vector
from ecorche.base.transforms import compose
from ecorche.body.muscles import BodyMuscles
from ecorche.io.formats import read_character
from ecorche.muscles.fit import fit_to_skin
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.musculature import Musculature, musculature
from ecorche.muscles.packed_sections import PackedSections
from ecorche.muscles.posing import pose, posing_memory
from ecorche.muscles.scapula import VirtualScapula
from ecorche.muscles.template import TEMPLATE, place
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.flesh_weights import SkinRound
from ecorche.skin.influence import Influences, influence
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.normals import Normals
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.spacing import edge_squares
from ecorche.skin.weights import SkinWeights, weights_from_table

PERSON = DATA / "human" / "male_muscular_cmu_mb.glb"
ROUNDS = 2000
HERO_VERTICES, HERO_MUSCLES = 300_000, 200
MUSCLES = "muscles: bulge, posing, displacement"
POSING, DISPLACEMENT = "of the muscles: posing", "of the muscles: displacement"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Person:
    """A skinned person with fitted muscles, and one pose."""

    mesh: Mesh
    weights: SkinWeights
    skeleton: Skeleton
    muscles: tuple[Muscle, ...]
    scapulae: tuple[VirtualScapula, ...]
    local: Floats

    @cached_property
    def difference(self) -> Floats:
        """How far the joints are from bind, (joints, 4, 4)."""
        return difference_from_bind(self.skeleton, self.local)


class Muscled:
    """Everything that is made once, and the steps of a frame."""

    def __init__(self, person: Person, muscles: Sequence[Muscle] | None = None) -> None:
        chosen = person.muscles if muscles is None else tuple(muscles)
        points = person.mesh.points
        self.musculature: Musculature = musculature(chosen, person.skeleton, person.scapulae)
        still = self.musculature.sections(np.zeros(person.difference.shape))
        self.influences: Influences = influence(
            points,
            person.weights,
            still,
            [muscle.reach.joints for muscle in chosen],
            template="fitted",
            weighting=[muscle.reach.weighting for muscle in chosen],
            squares=edge_squares(points, person.mesh.triangles()),
        )
        self.skin = SlidingSkin(points, still, self.influences)
        self._active = np.full(len(chosen), 0.5)
        self._muscles = BodyMuscles(
            musculature=self.musculature,
            skin=0,
            influences=self.influences,
            sliding=self.skin,
            garments=(None,),
            gains=np.ones(len(chosen)),
            skin_round=SkinRound(points, person.mesh.triangles(), person.weights),
        )
        self._linear, self._normals = LinearSkinning(points, person.weights), Normals([person.mesh])
        self._skeleton, self._local = person.skeleton, person.local
        self._difference, self._out = person.difference, np.empty_like(points)

    def frame(self, rounds: int) -> dict[str, Timing]:
        """The steps of a frame in turn, and then by themselves two parts of what the muscles do."""
        bulge, plan = self._muscles.bulge(self._active), self.musculature.plan(self.skin.stations_read)
        tables, copy = posing_memory(plan, exact=False), np.empty_like(self._out)
        posed = PackedSections(tables.table, tables.lines)
        steps: dict[str, Callable[[], object]] = {
            "joints": lambda: difference_from_bind(self._skeleton, self._local),
            "linear skinning": lambda: self._linear.apply(self._difference, out=self._out),
            MUSCLES: lambda: self._muscles.displaced(
                (self._out,), self._difference, self._active, in_place=True
            ),
            "normals": lambda: self._normals.apply([self._out]),
        }
        parts: dict[str, Callable[[], object]] = {
            POSING: lambda: pose(plan, self._difference, bulge, tables),
            DISPLACEMENT: lambda: self.skin.apply(posed, copy, copy),
        }
        return by_turns(steps, rounds) | by_turns(parts, rounds)


def person() -> Person | None:
    """The real person with the whole template fitted, or None where the data is not."""
    if not PERSON.exists():
        return None
    character = read_character(PERSON)
    body = character.body()
    assert body.weights is not None
    placement = place(TEMPLATE, character.skeleton, recognise(character.skeleton))
    muscles, _ = fit_to_skin(placement.muscles, placement.skeleton, body.mesh.points, body.mesh.triangles())
    turn = 0.2 * np.random.default_rng(0).normal(size=(character.skeleton.joint_count, 3))
    local = character.skeleton.bind_local @ compose(np.zeros(3), xyzw_from_rotation_vector(turn))
    return Person(body.mesh, body.weights, character.skeleton, muscles, placement.scapulae, local)


def subdivided(whole: Person, wanted: int) -> Person:
    """The person with every triangle cut in four, again and again, the last time only as many as needed."""
    import trimesh

    joints, table = whole.weights.padded()
    dense = np.zeros((len(table), whole.skeleton.joint_count))
    np.add.at(dense, (np.arange(len(table))[:, None], joints), table)
    points, triangles = whole.mesh.points.astype(np.float64), whole.mesh.triangles().astype(np.int64)
    while len(points) < wanted:
        some = np.arange(min(len(triangles), int(0.55 * (wanted - len(points))) + 1))
        points, triangles, carried = trimesh.remesh.subdivide(
            points, triangles, face_index=some, vertex_attributes={"weights": dense}
        )
        dense = carried["weights"]
    strongest = np.argsort(-dense, axis=1)[:, :4]
    kept = np.take_along_axis(dense, strongest, axis=1)
    kept /= kept.sum(axis=1, keepdims=True)
    weights = weights_from_table(strongest, kept, whole.skeleton.joint_count, "subdivided")
    return replace(whole, mesh=triangle_mesh("subdivided", points, triangles), weights=weights)


def hero() -> dict[str, float]:
    """The hero's figures; run in a process of its own, for its memory."""
    whole = person()
    assert whole is not None
    big = subdivided(whole, HERO_VERTICES)
    doubled = [
        replace(m, name=f"{m.name}, again") for m in whole.muscles[: HERO_MUSCLES - len(whole.muscles)]
    ]
    before = _peak()
    start = time.perf_counter()
    made = Muscled(big, (*whole.muscles, *doubled))
    took = {"prepared": time.perf_counter() - start}
    timings = made.frame(60)
    return took | {
        **{name: timing.median for name, timing in timings.items()},
        "vertices": len(big.mesh.points),
        "muscles": len(whole.muscles) + len(doubled),
        "entries": len(made.influences.muscles),
        "kept": made.skin.kept_bytes,
        "peak before": before,
        "peak": _peak(),
    }


def _peak() -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return float(found[1]) * 1024 if found else float("nan")


def _share(timings: dict[str, Timing]) -> float:
    """What muscles add to skinning with normals, in per cent."""
    plain = timings["linear skinning"].median + timings["normals"].median
    return 100.0 * timings[MUSCLES].median / plain


def _one_person(whole: Person) -> list[str]:
    made = Muscled(whole)
    timings = made.frame(ROUNDS)
    moved = int((np.diff(made.influences.starts) > 0).sum())
    lines = [
        f"| {len(whole.mesh.points):,} vertices, {len(whole.muscles)} muscles | median [ms] | range [ms] |",
        "|---|---|---|",
    ]
    lines += [f"| {n} | {t.median:.3f} | {t.fastest:.3f}–{t.slowest:.3f} |" for n, t in timings.items()]
    return [
        *lines,
        "",
        f"Muscles add {_share(timings):.0f} % to skinning with normals (medians,"
        f" steps in turn, {ROUNDS:,} frames); {moved:,} vertices are moved,"
        f" by {len(made.influences.muscles):,} influences.",
    ]


def _growth(whole: Person) -> list[str]:
    lines = [
        "| vertices | muscles | influences | posing [ms] | displacement [ms] | muscles' share |",
        "|---|---|---|---|---|---|",
    ]
    bodies = [whole, *(subdivided(whole, factor * len(whole.mesh.points)) for factor in (4, 16))]
    cases = [(body, len(whole.muscles)) for body in bodies]
    cases += [(bodies[1], len(whole.muscles) // part) for part in (2, 4)]
    for body, count in cases:
        made = Muscled(body, body.muscles[:count])
        timings = made.frame(60)
        lines.append(
            f"| {len(body.mesh.points):,} | {count} | {len(made.influences.muscles):,}"
            f" | {timings[POSING].median:.3f}"
            f" | {timings[DISPLACEMENT].median:.3f} | {_share(timings):.0f} % |"
        )
    return lines


def _hero() -> list[str]:
    program = "import json; from benchmarks.muscles import hero; print(json.dumps(hero()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    frame = sum(found[n] for n in ("joints", "linear skinning", MUSCLES, "normals"))
    muscular, plain = found[MUSCLES], found["linear skinning"] + found["normals"]
    return [
        f"A hero of {int(found['vertices']):,} vertices with {int(found['muscles'])} muscles"
        f" ({int(found['entries']):,} influences), the person cut finer:",
        f"{frame:.2f} ms a frame with normals, of it muscles {muscular:.2f} ms"
        f" ({100.0 * muscular / plain:.0f} % on top). Prepared in {found['prepared']:.1f} s;",
        f"the muscles' layout holds {found['kept'] / 2**20:.0f} MiB, the process at most"
        f" {found['peak'] / 2**20:.0f} MiB ({found['peak before'] / 2**20:.0f} MiB before preparing, mesh and"
        " libraries).",
    ]


def section() -> str:
    """The figures as a markdown section."""
    whole = person()
    if whole is None:
        return "## Muscles\n\nNot measured: the data is not here (set ECORCHE_DATA)."
    parts = (["## Muscles"], _one_person(whole), _growth(whole), _hero())
    return "\n\n".join("\n".join(part) for part in parts)


if __name__ == "__main__":
    print(section())
