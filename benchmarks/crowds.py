"""Crowds in real time: text 000's Table 2 again, on the processor alone.

The muscular man is subdivided by Loop's rule and decimated to 82,000 triangles (41,000 vertices), with the 56
muscles that move most of his skin; a leg of 8,000 triangles with four. Every instance stands in a pose of its
own, drawn from the range of all joints, every muscle at an activation of its own. Times are of whole frames:
from the joints' matrices and activations of all instances to positions and normals of each, in memory that
is handed over, one frame after another of the same kind. Beside them stands a memory copy of the positions,
by one thread as `np.copyto` and on all cores: what no skinning can beat by much.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from benchmarks.bodies import DATA
from benchmarks.decimated import decimated
from benchmarks.muscle_people import refined, rigged
from benchmarks.timing import Timing, by_turns
from ecorche.body.compile import compile_body
from ecorche.body.evaluator import Evaluator
from ecorche.body.sample_poses import sample_poses
from ecorche.body.vertex_program import vertex_program
from ecorche.document.files import Rig
from ecorche.gpu.chunk import bytes_each
from ecorche.gpu.device import device_names
from ecorche.gpu.device_plan import device_plan
from ecorche.gpu.evaluator import GpuEvaluator
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

PERSON = DATA / "human" / "male_muscular_cmu_mb.glb"
TRIANGLES, MUSCLES = 82_000, 56
LEG_TRIANGLES = 8_000
LEG_MUSCLES = (
    "rectus femoris, left",
    "biceps femoris, long head, left",
    "gastrocnemius, medial, left",
    "tibialis anterior, left",
)
COUNTS, LEG_COUNTS = (1, 20, 25, 50, 100, 200), (100, 200, 400)
IN_TEXT = {20: "21", 25: "17", 50: "9", 100: "4.3", 200: "2.1"}
LEG_IN_TEXT = {100: "32", 200: "16", 400: "3.5"}
"""Frames a second with muscles by instances: Table 2 of text 000, which has no single character."""
SKINNED_IN_TEXT = {25: "26"}
"""The same by plain skinning: section 6's only figure of it."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Instances ready to be evaluated, and where to.

    Attributes:
        evaluator: Of the character.
        moved: ``M − I`` of every instance, (n, joints, 4, 4).
        active: Activations, (n, muscles).
        points, normals: (n, vertices, 3).
    """

    evaluator: Evaluator
    moved: Floats
    active: Floats
    points: Points
    normals: Points

    def run(self, *, muscles: bool, normals: bool) -> None:
        """One frame."""
        self.evaluator.apply(
            self.moved,
            self.active,
            points=self.points,
            normals=self.normals if normals else None,
            muscles=muscles,
        )


def section() -> str:
    """The section of the report."""
    if not PERSON.exists():
        return "## Crowds\n\nNot measured: the data is not here."
    man, leg = _man(), _leg()
    lines = [
        "## Crowds",
        "",
        f"The muscular man of {len(man.program.points):,} vertices with {man.program.muscle_count} muscles,"
        f" and a leg of {len(leg.program.points):,} with {leg.program.muscle_count}; all cores. *Overhead* is"
        " what muscles add to plain skinning with normals. *Copy* is skinning alone over a memory copy of its"
        " positions, by one thread (`np.copyto`) and on all cores. The evaluator keeps"
        f" {man.kept_bytes / 2**20:.0f} MiB, whatever the number of instances.",
        "",
        "| instances | skinning [ms] | and muscles [ms] | and normals [ms] | frames/s | overhead | copy"
        " | copy, all cores | ns a vertex | text 000 [frames/s] | text 000, skinning [frames/s] |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(man, n, IN_TEXT.get(n, ""), SKINNED_IN_TEXT.get(n, "")) for n in COUNTS]
    lines += [_row(leg, n, LEG_IN_TEXT.get(n, ""), "") for n in LEG_COUNTS]
    lines += [
        "",
        "Asked: 25 instances of the man at 200 frames/s or more, 100 at 60 or more; muscles at most 20 % over"
        " plain skinning with normals; skinning within 1.3 times a copy (of one character of a million"
        " vertices: see *Skinning*). The text's figures are of a GeForce 8800 GTX: its Table 2 with muscles,"
        " three of them on a leg, and beside it the one it names of plain skinning.",
        "",
        *_on_gpu(man),
        "",
        "By muscles, 32 instances of the man of 13,380 vertices [ms a frame, with muscles and normals]:",
        "",
        "| muscles | influences | frame [ms] | muscles' part [ms] | a muscle and instance [µs] |",
        "|---|---|---|---|---|",
        *map(_by_muscles, (8, 16, 32, 64, 128, 256, 512)),
    ]
    return "\n".join(lines)


def _row(evaluator: Evaluator, count: int, in_text: str, skinned_in_text: str) -> str:
    crowd = _crowd(evaluator, count)
    copy = np.empty_like(crowd.points)
    rounds = max(5, 400 // count)
    taken = by_turns(
        {
            "plain": partial(crowd.run, muscles=False, normals=False),
            "muscles": partial(crowd.run, muscles=True, normals=False),
            "shaded": partial(crowd.run, muscles=False, normals=True),
            "all": partial(crowd.run, muscles=True, normals=True),
            "copyto": partial(np.copyto, copy, crowd.points),
            "copy": partial(_copy, crowd.points.reshape(-1), copy.reshape(-1)),
        },
        rounds,
        settled=True,
    )
    median = {name: of.median for name, of in taken.items()}
    vertices = crowd.points.shape[0] * crowd.points.shape[1]
    cells = [
        f"{count} {'of the leg' if evaluator.program.muscle_count < MUSCLES else ''}".strip(),
        f"{median['plain']:.2f}",
        f"{median['muscles']:.2f}",
        f"{median['all']:.2f} {_range(taken['all'])}",
        f"**{1e3 / median['all']:.0f}**",
        f"{100.0 * (median['all'] / median['shaded'] - 1.0):.0f} %",
        f"{median['plain'] / median['copyto']:.2f}",
        f"{median['plain'] / median['copy']:.2f}",
        f"{1e6 * median['all'] / vertices:.2f}",
        in_text,
        skinned_in_text,
    ]
    return f"| {' | '.join(cells)} |"


def _on_gpu(man: Evaluator) -> list[str]:
    """The same through the shaders, on whatever device there is."""
    if not device_names():
        return ["GPU: none here."]
    crowd = _crowd(man, 25)
    gpu = GpuEvaluator(man.program, capacity=25)
    points, normals = np.empty_like(crowd.points), np.empty_like(crowd.normals)

    def fetched() -> None:
        gpu.apply(crowd.moved, crowd.active, points=points, normals=normals)

    crowd.run(muscles=True, normals=True)
    fetched()
    apart = np.abs(points - crowd.points).max()
    taken = by_turns({"gpu": fetched}, 8)["gpu"].median
    each = sum(bytes_each(device_plan(man.program)).values())
    return [
        f"The same 25 through the shaders on {device_names()[0]}, fetched: {taken:.0f} ms a frame, at most"
        f" {1e6 * apart:.1f} µm apart; {each / 2**20:.1f} MiB an instance on the device,"
        f" {bytes_each(device_plan(man.program))['payload']:,} bytes of them sent a frame.",
        "",
    ]


def _range(of: Timing) -> str:
    return f"({of.fastest:.2f}–{of.slowest:.2f})"


def _by_muscles(count: int) -> str:
    character, rig = rigged(PERSON)
    evaluator = Evaluator(vertex_program(compile_body(character, rig=_repeated(rig, count))))
    crowd = _crowd(evaluator, 32)
    taken = by_turns(
        {
            "shaded": partial(crowd.run, muscles=False, normals=True),
            "all": partial(crowd.run, muscles=True, normals=True),
        },
        12,
        settled=True,
    )
    part = taken["all"].median - taken["shaded"].median
    entries = len(evaluator.program.sliding.muscles)
    each = 1e3 * part / (32 * count)
    return f"| {count} | {entries:,} | {taken['all'].median:.2f} | {part:.2f} | {each:.2f} |"


def _crowd(evaluator: Evaluator, count: int) -> Crowd:
    program = evaluator.program
    character, rig = rigged(PERSON)
    poses = sample_poses(character, rig, 48).local
    moved = difference_from_bind(character.skeleton, poses)[np.arange(count) % len(poses)].copy()
    active = np.random.default_rng(count).random((count, program.muscle_count))
    points = np.zeros((count, len(program.points), 3), np.float32)
    return Crowd(evaluator, moved, active, points, np.zeros_like(points))


@cache
def _man() -> Evaluator:
    character, rig = rigged(PERSON)
    fine = refined(character, 1)
    coarser = decimated(fine, np.arange(len(fine.meshes[0].mesh.face_counts)), TRIANGLES)
    found = compile_body(coarser, rig=rig).muscles
    assert found is not None
    moved = np.bincount(found.influences.muscles, minlength=len(found.musculature.names))
    most = np.argsort(-moved, kind="stable")[:MUSCLES]
    chosen = _with(rig, [found.musculature.names[number] for number in most])
    return Evaluator(vertex_program(compile_body(coarser, rig=chosen)))


@cache
def _leg() -> Evaluator:
    character, rig = rigged(PERSON)
    fine = refined(character, 1)
    mesh, weights = fine.meshes[0].mesh, fine.meshes[0].weights
    assert weights is not None
    leg = np.isin(fine.skeleton.names, ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"])
    on_leg = leg[weights.strongest()]
    faces = np.flatnonzero(on_leg[mesh.triangles()].all(axis=1))
    return Evaluator(
        vertex_program(compile_body(decimated(fine, faces, LEG_TRIANGLES), rig=_with(rig, LEG_MUSCLES)))
    )


def _with(rig: Rig, names: list[str] | tuple[str, ...]) -> Rig:
    """The rig with these muscles only."""
    named = {name: spec for name, spec in rig.spec.muscles.named.items() if name in names}
    assert len(named) == len(names), set(names) - set(named)
    muscles = rig.spec.muscles.model_copy(update={"named": named})
    return replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles}))


def _repeated(rig: Rig, count: int) -> Rig:
    """The rig with so many muscles: its own, and then the same once more."""
    own = list(rig.spec.muscles.named.items())
    named = {
        name if turn == 0 else f"{name}, {turn + 1}": spec
        for turn in range(-(-count // len(own)))
        for name, spec in own[: count - turn * len(own)]
    }
    muscles = rig.spec.muscles.model_copy(update={"named": named})
    return replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles}))


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _copy(source: Points, out: Points) -> None:
    for k in prange(len(source)):
        out[k] = source[k]


if __name__ == "__main__":
    print(section())
