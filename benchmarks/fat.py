"""Fat as an elastic solid: against mechanics, how fast, how it grows, and in bodies that jump."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from benchmarks.timing import fastest_by_turns
from ecorche.body.body_type import with_type
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.fat.elastic_grid import ElasticGrid, FrameMotion
from ecorche.fat.elasticity import TISSUES, Tissue
from ecorche.io.formats import read_character, read_motion

Floats = npt.NDArray[np.float64]

DOWN = np.array([0.0, 0.0, -9.81])
BREAST, LARGER = (8.0, 4.2), (8.4, 6.1)
"""Half axes of breasts [cm] of which, in voxels of 1 cm, some 904 nodes are there, as the thesis's voxels are
nodes, or some 904 voxels."""
SOLIDS = (
    (BREAST, 0.02),
    (BREAST, 0.014),
    (BREAST, 0.01),
    (LARGER, 0.01),
    (BREAST, 0.007),
    (BREAST, 0.005),
)
"""Half axes [cm] and edge of a voxel [m]."""
ROUNDS = 9
FRAMES, RATE = (1, 80), 30.0
PEOPLE = {
    "woman": ("female_average_cmu_mb", 0.0),
    "man": ("male_average_cmu_mb", 0.0),
    "man, heavy (fat 2.5)": ("male_average_cmu_mb", 2.5),
}
"""File of each, and how heavy."""


def dome(half_axes: tuple[float, float], edge: float) -> ElasticGrid:
    """Half an ellipsoid of fat on the thorax, in voxels of an edge [m]; the nodes at its base are held."""
    wide, high = (0.01 * half / edge for half in half_axes)
    across, up = int(np.ceil(wide)), int(np.ceil(high))
    i, j, k = np.meshgrid(
        np.arange(-across, across) + 0.5, np.arange(-across, across) + 0.5, np.arange(up) + 0.5, indexing="ij"
    )
    voxels = (i / wide) ** 2 + (j / wide) ** 2 + (k / high) ** 2 < 1.0
    held = np.broadcast_to(np.arange(up + 1) < 1, [n + 1 for n in voxels.shape])
    return ElasticGrid(voxels, edge, TISSUES["fat"], held)


def pulled(gravity: Floats) -> FrameMotion:
    """A frame at rest in which gravity acts."""
    return FrameMotion(-gravity, np.zeros(3), np.zeros(3))


def block(shape: tuple[int, int, int], tissue: Tissue) -> ElasticGrid:
    """A block in voxels of 1 cm, held at one end."""
    held = np.zeros([n + 1 for n in shape], np.bool_)
    held[0] = True
    return ElasticGrid(np.ones(shape, np.bool_), 0.01, tissue, held)


def _mechanics() -> list[str]:
    cube = block((7, 7, 7), Tissue(10_000.0, 150.0 / 302.0, viscosity=0.006))
    off = 0.0
    for _ in range(50):
        cube.advance(0.02, motion=pulled(DOWN))
        off = max(off, abs(cube.volume() / 0.07**3 - 1.0))
    sag = -1e3 * cube.displacements[:, 2].min()
    tissue = Tissue(200_000.0, 0.3)
    bar = block((30, 3, 3), tissue)
    bar.advance(3.0, motion=pulled(np.array([9.81, 0.0, 0.0])))
    tip = bar.displacements[bar.places[:, 0] == 30, 0].mean()
    exact = tissue.density * 9.81 * 0.3**2 / (2.0 * tissue.young)
    return [
        f"- The thesis's cube, 512 nodes, one face held, λ = 150 μ: it sags by {sag:.0f} mm, its volume is"
        f" within {100.0 * off:.2f} % all the time (1 % asked).",
        f"- A hanging bar of 30 cm gets {1e3 * tip:.3f} mm longer, {1e3 * exact:.3f} by ρ g L² / 2 E:"
        f" {100.0 * abs(tip / exact - 1.0):.1f} % (5 % asked).",
    ]


@dataclass(frozen=True)
class _Timed:
    """A solid, steps it takes a second, and seconds a second takes of one processor and by the clock."""

    grid: ElasticGrid
    steps: int
    processor: float
    clock: float

    @property
    def row(self) -> str:
        """Of the table."""
        grid = self.grid
        arrays = [*vars(grid).values(), *vars(grid._layout).values(), *grid._memory]
        size = sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))
        return (
            f"| {1e3 * grid.size:.0f} | {int(grid.voxels.sum()):,} | {len(grid.rest):,}"
            f" | {int(grid.held.sum()):,} | {1e3 * grid.step:.3f} | {1e6 * self.processor / self.steps:.1f}"
            f" | {1.0 / self.processor:.1f} | {1.0 / self.clock:.1f} | {size / 1024:,.0f} |"
        )


def _timed() -> list[_Timed]:
    grids = [dome(*solid) for solid in SOLIDS]
    seconds = [0.4 * (grid.size / 0.02) ** 2 for grid in grids]

    def swing(number: int) -> int:
        return grids[number].advance(seconds[number], motion=pulled(DOWN))

    steps = [swing(number) for number in range(len(grids))]
    timed = fastest_by_turns({str(n): partial(swing, n) for n in range(len(grids))}, ROUNDS)
    return [
        _Timed(grid, round(steps[n] / s), timed[str(n)].processor / s, timed[str(n)].clock / s)
        for n, (grid, s) in enumerate(zip(grids, seconds, strict=True))
    ]


def _person(name: str, file: str, heavy: float) -> str:
    """A captured jump with fat and without."""
    path = DATA / "human" / f"{file}.glb"
    character, motion = read_character(path), read_motion(DATA / "cmu" / "13_39.bvh")
    rig = with_type(create_rig(character, path, path.with_suffix(".ecorche")), fat=heavy)
    # once before, so that nothing is compiled while it is timed
    perform(character, motion, rig=rig, rate=RATE, frames=FRAMES, dynamics="fat")
    taken, shown, prepared, live = {}, {}, {}, None
    for dynamics in ("off", "fat"):
        begun = time.process_time()
        frames = perform(
            character, motion, rig=rig, rate=RATE, frames=FRAMES, dynamics=dynamics, preroll=1.0
        ).take.frames
        assert isinstance(frames, LiveFrames)
        prepared[dynamics] = time.process_time() - begun
        first = frames[0]
        begun = time.process_time()
        rest = [frames[n].points[0] for n in range(1, len(frames))]
        taken[dynamics] = 1e3 * (time.process_time() - begun) / len(rest)
        shown[dynamics], live = np.array([first.points[0], *rest]), frames
    assert live is not None
    fat = live.body.fat
    assert fat is not None
    away = np.linalg.norm(shown["fat"] - shown["off"], axis=2).max(axis=0)
    swing = ", ".join(f"{p.name} {1e3 * away[p.vertices].max():.0f}" for p in fat.parts)
    nodes = sum(len(p.grid.rest) for p in fat.parts)
    return (
        f"| {name} | {nodes:,} in {len(fat.parts)} | {prepared['fat'] - prepared['off']:.1f}"
        f" | {taken['off']:.1f} | {taken['fat']:.1f} | {swing} |"
    )


def section() -> str:
    """Figures of fat."""
    solids = _timed()
    breast, larger = solids[2], solids[3]
    people = [_person(name, *who) for name, who in PEOPLE.items()]
    return "\n".join(
        [
            "## Fat as an elastic solid",
            "",
            *_mechanics(),
            f"- A breast as the thesis's (904 nodes of 1 cm, 254 of them held, E = 10 kPa, ν = 0.495), of"
            f" {len(breast.grid.rest)} nodes, {int(breast.grid.held.sum())} held, is stable at"
            f" {1e3 * breast.grid.step:.2f} ms, not at 1 ms: {1.0 / breast.processor:.0f} times real time on"
            f" one core. Of {int(larger.grid.voxels.sum())} voxels, {1.0 / larger.processor:.0f} times (20"
            " asked; the thesis took two minutes for a second).",
            "",
            "Breasts in smaller voxels: nodes grow with the third power, steps with the first. One core.",
            "",
            "| edge [mm] | voxels | nodes | held | step [ms] | a step [µs] | times real time | by the clock"
            " | memory [KiB] |",
            "|---|---|---|---|---|---|---|---|---|",
            *(solid.row for solid in solids),
            "",
            f"A captured jump at {RATE:.0f} frames a second after a second of preroll, with the template's"
            " muscles; breasts, belly and buttocks in voxels of 1 cm times the size of the person. Processor"
            " time of all cores together; how far skin is moved at most.",
            "",
            "| who | nodes, regions | to prepare [s] | frame without [ms] | with fat [ms] | moved [mm] |",
            "|---|---|---|---|---|---|",
            *people,
        ]
    )
