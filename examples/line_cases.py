"""The cases of texts 002 and 003 on a real person: the template's muscles as meshes on action lines.

    python examples/line_cases.py [OUTPUT_FOLDER] [--cases pronation,sit-up]

The data is the folder named by ECORCHE_DATA, else ../shared/data beside the project. For every case there is
a sheet of bind and extremes from the front and the side, muscles coloured by activation; one of the paths
that both models of lines take; and figures are printed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from muscle_pictures import PEOPLE
from picture_options import DATA, HERE, asked

from ecorche import (
    Character,
    Focus,
    Motion,
    Rig,
    create_rig,
    perform,
    read_character,
    read_keyframes,
    render_layers,
)
from ecorche.body.as_lines import PathModel, as_lines
from ecorche.body.lines import BodyLines, compile_lines
from ecorche.muscles.lines.line_paths import PosedPaths
from ecorche.muscles.spindle_lines import INTERSECTIONS, RINGS, SIDES
from ecorche.muscles.spindle_mesh import ring_places
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]

BIND, STANDING, PALMS_UP, PALMS_DOWN, SIT_UP, BENT_BACK, LEG_RAISED, ARMS_RAISED, ELBOWS_BENT, FLEXING = (
    range(10)
)
"""Seconds of the motion: a second of bind, then `line_cases.pose`."""
RATE = 30
BICEPS = tuple(f"biceps brachii, {head} head, right" for head in ("long", "short"))
RECTUS, TRICEPS = "rectus abdominis, right", "triceps brachii, lateral head, right"
PECTORAL = "pectoralis major, abdominal, right"
QUADRICEPS, HAMSTRING = "rectus femoris, right", "semitendinosus, right"
MEASURED = frozenset({*BICEPS, RECTUS, TRICEPS, PECTORAL, QUADRICEPS, HAMSTRING})
ARM, TRUNK = Focus(("r_shoulder", "r_elbow"), 0.27), Focus(("vl5", "vt7"), 0.42)
CHEST = Focus(("r_shoulder", "vt7"), 0.3)
PICTURES = {
    "pronation": ((BIND, PALMS_UP, PALMS_DOWN), ARM),
    "sit-up": ((BIND, SIT_UP, BENT_BACK), TRUNK),
    "triceps": ((BIND, ELBOWS_BENT), ARM),
    "pectoral": ((BIND, STANDING, ARMS_RAISED), CHEST),
    "leg-raise": ((BIND, LEG_RAISED), Focus(("r_hip", "r_knee"), 0.45)),
    "flexing": ((BIND, FLEXING), Focus(("r_shoulder", "l_shoulder"), 0.55)),
}
BOTH_MODELS = ("triceps", "pectoral")


def cases_motion(character: Character) -> Motion:
    """A second of bind and then the poses, on the character's own joints."""
    posed = perform(
        character, read_keyframes(HERE / "line_cases.pose", character.skeleton), rate=RATE
    ).take.motion
    assert posed is not None
    still = np.repeat(character.skeleton.bind_local[None], RATE, axis=0)
    times = np.concatenate([np.arange(RATE) / RATE, 1.0 + posed.times])
    return replace(posed, times=times, local=np.concatenate([still, posed.local]))


@dataclass(frozen=True, eq=False)
class Case:
    """The measured muscles of one model of lines through the motion."""

    lines: BodyLines
    motion: Motion

    @cached_property
    def moved(self) -> Floats:
        """``M − I`` of the joints of every frame, (F, joints, 4, 4)."""
        return difference_from_bind(self.motion.skeleton, self.motion.local)

    @cached_property
    def paths(self) -> PosedPaths:
        """The lines of every frame."""
        return self.lines.musculature.paths.posed(self.moved)

    def line(self, name: str, second: int) -> Floats:
        """A muscle's nodes [m], (n, 3)."""
        number = self.lines.names.index(name)
        first, last = self.lines.musculature.paths.starts[number : number + 2]
        return self.paths.nodes[second * RATE, first:last]

    def length(self, name: str, second: int) -> float:
        """Of a muscle's line [m]."""
        elongation = self.paths.elongation[second * RATE]
        return float(self.lines.musculature.lengths(elongation)[self.lines.names.index(name)])

    def mesh(self, name: str, second: int, activation: float = 0.0) -> Floats:
        """A muscle's vertices [m], (V, 3)."""
        frame, number = second * RATE, self.lines.names.index(name)
        nodes, elongation = self.paths.nodes[frame], self.paths.elongation[frame]
        muscles = self.lines.musculature
        posed = muscles.posed(
            self.moved[frame], nodes, elongation, np.full(len(self.lines.names), activation)
        )
        first, last = muscles.meshes.starts[number : number + 2]
        return posed.points[first:last]

    def triangles(self, name: str) -> npt.NDArray[np.int32]:
        """A muscle's triangles, (T, 3)."""
        return self.lines.musculature.meshes.muscles[self.lines.names.index(name)].triangles

    def thickness(self, name: str, second: int, ring: int, activation: float = 0.0) -> float:
        """From front to back of one ring of a mesh [m]."""
        vertices = self.mesh(name, second, activation)
        own = vertices[1 + ring * SIDES : 1 + (ring + 1) * SIDES]
        return float(np.linalg.norm(own[0] - own[SIDES // 2]))


def case(
    character: Character, rig: Rig, model: PathModel, motion: Motion, only: frozenset[str] = MEASURED
) -> Case:
    """Some muscles of a rig of the template as meshes on lines."""
    lines = compile_lines(character, as_lines(rig, character, model, only=only)[0])
    assert lines is not None
    return Case(lines, motion)


def pulled_down(measured: Case, muscle: str) -> float:
    """How much lower on the upper arm a muscle lies with the palm down than with the palm up [m]."""
    skeleton = measured.motion.skeleton
    shoulder, elbow = (
        skeleton.bind_world[skeleton.index(name), :3, 3] for name in ("RightArm", "RightForeArm")
    )
    along = (elbow - shoulder) / np.linalg.norm(elbow - shoulder)
    arm = np.eye(4) + measured.moved[:, skeleton.index("RightArm")]
    low = []
    for second in (PALMS_UP, PALMS_DOWN):
        turn, shift = arm[second * RATE, :3, :3], arm[second * RATE, :3, 3]
        on_arm = (measured.mesh(muscle, second).mean(axis=0) - shift) @ turn  # back in the frame of bind
        low.append(float((on_arm - shoulder) @ along))
    return low[1] - low[0]


def folds(measured: Case, second: int) -> tuple[Floats, Floats]:
    """Thickness of the straight belly muscle over that at bind: in its bellies, and at its intersections."""
    cuts = np.array(INTERSECTIONS["rectus abdominis"])
    t = ring_places(np.array([0.5]), RINGS)[0]
    between = np.array([0.5 * (a + b) for a, b in zip([0.2, *cuts[:-1]], cuts, strict=True)])
    ratios = [
        np.array(
            [
                measured.thickness(RECTUS, second, ring) / measured.thickness(RECTUS, BIND, ring)
                for ring in np.argmin(np.abs(t - places[:, None]), axis=1).tolist()
            ]
        )
        for places in (between, cuts)
    ]
    return ratios[0], ratios[1]


def apart(a: Floats, b: Floats) -> float:
    """How far two polylines are from one another at most, node to line [m]."""
    return max(float(_away(a, b).max()), float(_away(b, a).max()))


def _away(points: Floats, line: Floats) -> Floats:
    step = np.diff(line, axis=0)
    from_start = points[:, None] - line[:-1]
    share = np.clip((from_start * step).sum(axis=-1) / (step * step).sum(axis=-1), 0.0, 1.0)
    return np.asarray(np.linalg.norm(from_start - share[..., None] * step, axis=-1).min(axis=1))


def told(admissible: Case, elastic: Case) -> list[str]:
    """The figures, a sentence each."""
    said = [
        f"pronation: {muscle} {1000 * pulled_down(admissible, muscle):+.1f} mm down the arm, admissible;"
        f" {1000 * pulled_down(elastic, muscle):+.1f} mm, elastic"
        for muscle in BICEPS
    ]
    for what, second in (("sit-up", SIT_UP), ("bent back", BENT_BACK)):
        belly, cut = folds(admissible, second)
        said.append(
            f"{what}: {RECTUS} {admissible.length(RECTUS, second) / admissible.length(RECTUS, BIND):.2f}"
            f" times as long, bellies {_listed(belly)} times as thick, intersections {_listed(cut)}"
        )
    for muscle, seconds in ((TRICEPS, (ELBOWS_BENT, FLEXING)), (PECTORAL, (STANDING, ARMS_RAISED, FLEXING))):
        far = [1000 * apart(admissible.line(muscle, s), elastic.line(muscle, s)) for s in seconds]
        said.append(f"elastic against admissible: {muscle} {_listed(far, 1)} mm apart")
    for muscle in (QUADRICEPS, HAMSTRING):
        ratio = admissible.length(muscle, LEG_RAISED) / admissible.length(muscle, BIND)
        said.append(f"leg raise: {muscle} {ratio:.2f} times as long")
    ring = RINGS // 2
    for muscle in BICEPS:
        still, bent, tense = (
            admissible.thickness(muscle, *pose)
            for pose in ((BIND, ring), (FLEXING, ring), (FLEXING, ring, 1.0))
        )
        said.append(
            f"flexing: {muscle} {bent / still:.2f} times as thick by its length,"
            f" {tense / still:.2f} tensed too"
        )
    return [*said, *elastic.paths.unsettled]


def _listed(numbers: Sequence[float] | Floats, digits: int = 2) -> str:
    return ", ".join(f"{number:.{digits}f}" for number in numbers)


def draw_paths(path: Path, admissible: Case, elastic: Case) -> None:
    """The lines of triceps and pectoral by both models, from the front and from the right, in one picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = ((TRICEPS, ELBOWS_BENT), (PECTORAL, STANDING), (PECTORAL, ARMS_RAISED))
    figure, axes = plt.subplots(2, len(shown), figsize=(4 * len(shown), 8))
    for column, (muscle, second) in zip(axes.T, shown, strict=True):
        for axis, (x, sign, view) in zip(
            column, ((0, 1.0, "front"), (2, 1.0, "from the right")), strict=True
        ):
            mesh = admissible.mesh(muscle, second)
            axis.fill(*_outline(1000 * sign * mesh[:, x], 1000 * mesh[:, 1]), color="0.9")
            for model, colour in ((admissible, "tab:blue"), (elastic, "tab:red")):
                line = 1000 * model.line(muscle, second)
                label = "admissible" if model is admissible else "elastic"
                axis.plot(sign * line[:, x], line[:, 1], "o-", color=colour, markersize=3, label=label)
            axis.set_aspect("equal")
            axis.set_title(f"{muscle}\n{view}, mm", fontsize=9)
    axes[0, 1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _outline(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    from scipy.spatial import ConvexHull

    order = ConvexHull(np.stack([x, y], axis=1)).vertices
    return x[order], y[order]


def main(folder: Path, cases: list[str]) -> None:
    """Write the sheets of some cases into a folder and print the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    file = DATA / "human" / PEOPLE["muscular"]
    character = read_character(file)
    rig = create_rig(character, file, folder / "man.ecorche")
    motion = cases_motion(character)
    measured = {model: case(character, rig, model, motion) for model in ("admissible", "elastic")}
    for sentence in told(measured["admissible"], measured["elastic"]):
        print(sentence)
    draw_paths(folder / "paths.png", measured["admissible"], measured["elastic"])
    takes = {}
    models: tuple[PathModel, ...] = (
        ("admissible", "elastic") if set(cases) & set(BOTH_MODELS) else ("admissible",)
    )
    for model in models:
        changed, report = as_lines(rig, character, model)
        print("\n".join(report.lines()))
        takes[model] = perform(character, motion, rig=changed).take
    for name in cases:
        seconds, focus = PICTURES[name]
        for model in models if name in BOTH_MODELS else models[:1]:
            path = folder / (f"{name}-{model}.png" if name in BOTH_MODELS else f"{name}.png")
            print(f"{time.perf_counter() - started:6.1f} s  {path}", flush=True)
            frames = [second * RATE for second in seconds]
            render_layers(
                path, takes[model], layers=("muscles",), views=("front", "side"), frame=frames, focus=focus,
                colouring="activation",
            )  # fmt: skip


if __name__ == "__main__":
    out, names = asked(__doc__, "lines", {"cases": PICTURES})
    main(out, names["cases"])
