"""Forces of muscles: how fast, how near to other solvers, and what measured activity says."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from benchmarks.timing import fastest_by_turns
from benchmarks.walking_muscles import (
    CURVES,
    JOINTS,
    SMOOTH,
    Optimum,
    Walk,
    measured_walk,
    muscles_of_opensim,
    opensim_in,
    opensim_optimum,
    storage,
)
from ecorche.biomech.coordinate_tables import some_poses_from_columns
from ecorche.biomech.emg import Emg, Placement, envelopes, measured_activation
from ecorche.biomech.muscle_state import MuscleState
from ecorche.biomech.opensim_model import OpensimModel
from ecorche.biomech.solve import solve_muscles
from ecorche.biomech.synergies import COUNTS
from ecorche.biomech.tensions import RESERVE, Tensions, Wanted, muscle_tensions
from ecorche.io.external_loads import read_external_loads
from ecorche.io.opensim_storage import read_table

Floats = npt.NDArray[np.float64]

MUSCLES, TORQUES, FRAMES = 300, 40, 500
ON = {
    "soleus": ("soleus",),
    "gastrocnemius": ("gasmed", "gaslat"),
    "tibialis_anterior": ("tibant",),
    "medial_hamstrings": ("semimem", "semiten"),
    "biceps_femoris": ("bflh", "bfsh"),
    "vastus_lateralis": ("vaslat",),
    "vastus_medius": ("vasmed",),
    "rectus_femoris": ("recfem",),
    "gluteus_maximus": ("glmax1", "glmax2", "glmax3"),
    "gluteus_medius": ("glmed1", "glmed2", "glmed3"),
}
"""The muscles of the walker's model under each channel."""
DELAYS = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1)
"""Seconds by which force may lag behind the signal."""
SPAN = (0.5, 1.75)
"""Of the walk [s]."""
EVERY = 10
"""Thousandths of a second from one frame that OpenSim solves too to the next."""
APART = 0.01
"""Of F_max: forces further apart are looked into."""
LEFT_OVER = 0.05
"""Of the ground's largest force, what the root's residual may be in frames that count (Hicks et al. 2015)."""
TRIED = [
    "Asked: a rise in 6 of 10. Before, the nine as targets in ninety settings: never more than 4. Then five"
    " kinds of methods in 109 settings at three to six delays: synergies of one number of courses (3 to 5:"
    " 2 to 8 channels rise), the nine envelopes as courses, courses and activations found together, muscles"
    " that follow those of like moment arms, and means over numbers of courses; the first two also without"
    " meeting the torques. Means are the most even. Their defaults were chosen with these results in sight:"
    " at them and a common delay of 60 or 80 ms, 6 to 8 channels rise, at 40 ms 5 or 6, at none 3 to 5.",
    "",
    "Where the share of effort and the weight are instead chosen for each channel by how well the nine"
    " predict each other, 5 rise in the frames that count (mean 0.55 to 0.59) and 8 in all frames (0.59 to"
    " 0.58).",
    "",
    "One stride of one man decides this, and a correlation says nothing of how hard a muscle pulls."
    " Activations of Σ a² that are only smoothed, by 30 ms, rise in 8 channels too, by 0.03 in the mean. With"
    " both sides of the comparison smoothed as the EMG was (7.5 Hz), 6 to 8 rise by synergies at 40 to 80"
    " ms. EMG shifted in a circle by half the motion, which should tell nothing, does as well as the true one"
    " in all frames (6 or 7 rise), and worse in the frames that count: there alone is the evidence.",
]


def _scene(dense: bool) -> tuple[Floats, Floats, Floats]:
    """Moment arms (300, 40), F_max, and torques (500, 40) that change smoothly."""
    rng = np.random.default_rng(11)
    arms = rng.normal(scale=0.05, size=(MUSCLES, TORQUES))
    if not dense:  # each muscle crosses three neighbouring coordinates
        for m in range(MUSCLES):
            arms[m, np.abs(np.arange(TORQUES) - 1 - rng.integers(0, TORQUES - 2)) > 1] = 0.0
    strongest = rng.uniform(100.0, 1500.0, MUSCLES)
    base, swing = np.clip(rng.normal(0.1, 0.25, (2, MUSCLES)), 0.0, 0.45)
    turn = np.linspace(0.0, 4.0 * np.pi, FRAMES)[:, None] + rng.uniform(0.0, 6.0, MUSCLES)
    effort = base + swing * (0.5 + 0.5 * np.sin(turn))
    return arms, strongest, (effort * strongest) @ arms


def _clarabel(arms: Floats, strongest: Floats, torque: Floats) -> Floats:
    import clarabel
    from scipy import sparse

    price = np.concatenate([np.full(MUSCLES, 2.0), np.full(TORQUES, 2.0 / RESERVE**2)])
    one, none = sparse.eye(MUSCLES), sparse.csc_matrix((MUSCLES, TORQUES))
    A = sparse.csc_matrix((arms * strongest[:, None]).T)
    rows: Any = [[A, sparse.eye(TORQUES)], [-one, none], [one, none]]
    bounds = np.concatenate([torque, np.zeros(MUSCLES), np.ones(MUSCLES)])
    cones = [clarabel.ZeroConeT(TORQUES), clarabel.NonnegativeConeT(2 * MUSCLES)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags(price)),
        np.zeros(MUSCLES + TORQUES),
        sparse.csc_matrix(sparse.bmat(rows)),
        bounds,
        cones,
        settings,
    )
    return np.array(solver.solve().x)[:MUSCLES]


def _some_by_clarabel(arms: Floats, strongest: Floats, torques: Floats) -> Floats:
    return np.array([_clarabel(arms, strongest, torque) for torque in torques])


def _speed() -> list[str]:
    lines = [
        f"{MUSCLES} muscles, {TORQUES} torques, {FRAMES} frames one after the other, one thread; a frame of"
        " clarabel includes setting it up, as moment arms change with every frame.",
        "",
        "| moment arms | ours, ms a frame | frames a second | steps a frame | clarabel, ms | ratio | apart |",
        "|---|---|---|---|---|---|---|",
    ]
    names = [f"m{k}" for k in range(MUSCLES)], [f"c{k}" for k in range(TORQUES)]
    for label, dense in (("all of them", True), ("three a muscle", False)):
        arms, strongest, torques = _scene(dense)
        ours = partial(muscle_tensions, arms, torques, strongest, muscles=names[0], coordinates=names[1])
        theirs = partial(_some_by_clarabel, arms, strongest, torques[:10])
        took = fastest_by_turns({"ours": ours, "theirs": theirs}, 5)
        one, other = 1e3 * took["ours"].clock / FRAMES, 1e2 * took["theirs"].clock
        found = ours()
        apart = np.abs(found.activation[:10] - theirs()).max()
        lines.append(
            f"| {label} | {one:.3f} | {1e3 / one:,.0f} | {found.steps.mean():.2f} | {other:.2f}"
            f" | {other / one:.0f} | {apart:.1e} of F_max |"
        )
    return [*lines, "", "Asked: 1,000 frames a second."]


def walkers_emg(data: Path) -> Emg:
    """The EMG of the walk."""
    lines = (data / "walk" / "electromyography.sto").read_text().splitlines()
    head = lines.index("endheader") + 1
    table = np.array([[float(value) for value in line.split("\t")] for line in lines[head + 1 :]])
    return envelopes(table[:, 0], table[:, 1:], lines[head].split("\t")[1:])


def solved(
    walk: Walk, wanted: Wanted | None = None, *, state: MuscleState | None = None, reserve: float = RESERVE
) -> Tensions:
    """The walk's activations; muscles can do what they can where no other state is given."""
    return muscle_tensions(
        walk.moment_arms,
        walk.moments,
        walk.sizes.strongest,
        muscles=walk.sizes.names,
        coordinates=JOINTS,
        state=walk.state() if state is None else state,
        least=0.01,
        reserve=reserve,
        wanted=wanted,
    )


def _mean(walk: Walk, found: Tensions, channel: str, side: str) -> Floats:
    """Activation of the muscles under a channel, (frames,)."""
    numbers = [walk.sizes.names.index(f"{muscle}_{side}") for muscle in ON[channel]]
    return np.asarray(found.activation[:, numbers].mean(axis=1))


def correlations(walk: Walk, emg: Emg, found: Tensions, side: str, delay: float = 0.0) -> dict[str, float]:
    """Of each channel with the activation of its muscles on a side."""
    result = {}
    for c, channel in enumerate(emg.channels):
        measured = np.interp(walk.times - delay, emg.times, emg.activity[:, c])
        result[channel] = float(np.corrcoef(_mean(walk, found, channel, side), measured)[0, 1])
    return result


def accounted(walk: Walk, data: Path) -> Walk:
    """The longest run of frames in which what nothing accounts for is a small share of the ground's force.

    Elsewhere torques are wrong, as at both ends, where measured angles are differentiated twice. Nothing of
    the EMG is looked at.
    """
    columns, table = storage(data / "walk" / "grf_walk.mot")
    feet = [[columns.index(f"ground_force_{side}_v{x}") for x in "xyz"] for side in "rl"]
    force = table[:, feet].sum(axis=1)
    good = walk.residual <= LEFT_OVER * np.linalg.norm(force, axis=1).max()
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    first, last = max(edges.reshape(-1, 2), key=np.ptp)
    parts = ("times", "lengths", "velocities", "moment_arms", "moments", "residual")
    return replace(walk, **{name: getattr(walk, name)[first:last] for name in parts})


@dataclass(frozen=True)
class LeftOut:
    """Correlations of a channel with what is found without it.

    Attributes:
        delay: By which EMG is taken to be early [s]: the best for the nine other channels without EMG.
        without, targets, synergies: Without EMG; with the nine as soft targets; and with their synergies.
        backwards: With synergies of the nine turned round in time, which say nothing.
    """

    delay: float
    without: float
    targets: float
    synergies: float
    backwards: float


def left_out(walk: Walk, emg: Emg, channel: str) -> LeftOut:
    """One channel predicted from the nine others; nothing of its own is looked at but at the end."""
    calm = solved(walk)
    others = [name for name in emg.channels if name != channel]
    means = []
    for delay in DELAYS:
        all_of_them = correlations(walk, emg, calm, "r", delay)
        means.append(np.mean([all_of_them[name] for name in others]))
    delay = DELAYS[int(np.argmax(means))]
    placed = [Placement(one, f"{muscle}_r") for one in others for muscle in ON[one]]
    measured = measured_activation(emg, placed, walk.sizes.names, walk.times - delay)
    with np.errstate(invalid="ignore"):
        factor = np.sum(measured * calm.activation, axis=0) / np.sum(measured**2, axis=0)
    wishes = [
        Wanted(np.clip(factor * measured, 0.0, 1.0)),
        Wanted(measured, synergies=COUNTS),
        Wanted(measured[::-1], synergies=COUNTS),
    ]
    all_found = [calm, *(solved(walk, wanted) for wanted in wishes)]
    return LeftOut(delay, *(correlations(walk, emg, found, "r", delay)[channel] for found in all_found))


def _table_left_out(walk: Walk, emg: Emg) -> list[str]:
    rows = {channel: left_out(walk, emg, channel) for channel in emg.channels}
    kinds = ("without", "targets", "synergies", "backwards")
    lines = [
        "| channel | delay [ms] | without EMG | nine as targets | synergies of the nine | turned round |",
        "|---|---|---|---|---|---|",
    ]
    for channel, row in rows.items():
        values = " | ".join(f"{getattr(row, kind):.2f}" for kind in kinds)
        lines.append(f"| {channel} | {1e3 * row.delay:.0f} | {values} |")
    means = [np.mean([getattr(row, kind) for row in rows.values()]) for kind in kinds]
    rises = [sum(getattr(row, kind) > row.without for row in rows.values()) for kind in kinds]
    lines.append("| mean |  | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")
    lines.append("| rise in |  |  | " + " | ".join(str(rise) for rise in rises[1:]) + " |")
    return lines


def cost(found: Tensions | Optimum) -> Floats:
    """Σ a² + Σ r², with reserves of 1 N·m, (frames,)."""
    return np.asarray((found.activation**2).sum(axis=1) + (found.reserve**2).sum(axis=1))


def _range(values: Floats) -> str:
    return f"{np.sqrt((values**2).mean()):.2g}; {np.abs(values).max():.2g}"


def _row(label: str, walk: Walk, found: Tensions, theirs: Optimum) -> str:
    """How far our activations and forces are from theirs."""
    effort = 100.0 * np.abs(found.activation - theirs.activation)
    force = 100.0 * np.abs(found.force - theirs.force) / walk.sizes.strongest
    frame, muscle = np.unravel_index(force.argmax(), force.shape)
    far = force > 100.0 * APART
    return (
        f"| {label} | {_range(effort)} | {_range(force)} | {walk.sizes.names[muscle]} at"
        f" {walk.times[frame]:.2f} s | {far.sum():,} of {far.size:,}, in {far.any(axis=1).sum()} frames |"
    )


def _against_opensim(data: Path) -> list[str]:
    """OpenSim's own static optimisation of the same walk, and who is right where the two differ."""
    theirs, few = opensim_optimum(data, *SPAN, EVERY), opensim_optimum(data, *SPAN, 1000)
    walk = measured_walk(data, [float(t) for t in theirs.times])
    count = len(walk.times)
    problem = partial(solved, walk, state=walk.optimised_state(), reserve=1.0)
    same, own = problem(), solved(walk, state=walk.active_state(), reserve=1.0)
    whole = solved(walk)
    more = cost(theirs) / cost(same) - 1.0
    unmet = [np.abs(walk.lacking(one.force) - one.reserve).max() for one in (same, theirs)]
    took = fastest_by_turns({"ours": problem}, 5)["ours"].clock / count
    each = (theirs.seconds - few.seconds) / (count - len(few.times))
    rows = {
        "as OpenSim optimises: the same problem": same,
        "as OpenSim's muscles have it": own,
        f"that and passive forces, reserves of {RESERVE:g} N·m": whole,
    }
    return [
        f"OpenSim's own static optimisation, by its tool, over {count} frames of the same walk, one every"
        f" {EVERY / 1000:g} s: those above and one between each two. Both have its coordinates, inverse"
        " dynamics, lengths, speeds and moment arms, Σ a², activations from 0.01, and reserves of which 1 N·m"
        " costs as much as a muscle's full effort; its tool may stop at 1e-6. It leaves passive forces out,"
        " and for the strength of a muscle takes another angle of the fibres than its own muscles have"
        " (`tests/test_muscle_curves.py`). In the first row ours take both over, so that the problem is the"
        " same. Each is the rms over all muscles and frames, and the largest.",
        "",
        "| strength of muscles, ours | activations apart [% of full] | forces apart [% of F_max] | largest"
        f" | forces above {APART:.0%} of F_max apart |",
        "|---|---|---|---|---|",
        *(_row(label, walk, found, theirs) for label, found in rows.items()),
        "",
        f"On the same problem our cost Σ a² + Σ r² is the lower one in {(more > 0.0).sum()} of {count}"
        f" frames, by {more.min():.0e} to {more.max():.0e} of it, and the torque that neither muscles nor"
        f" reserves make is at most {unmet[0]:.0e} N·m of ours and {unmet[1]:.0e} N·m of OpenSim's.",
        "",
        *_who_is_right(data, walk, theirs, own, whole),
        "",
        f"Time: OpenSim's tool took {theirs.seconds:.0f} s, {few.seconds:.0f} s of it where it solves"
        f" {len(few.times)} frames alone, so {1e3 * each:.0f} ms for each frame more. Ours takes"
        f" {1e3 * took:.2g} ms a frame where lengths, moment arms and moments are given, and"
        f" {1e3 * _whole_way(data):.1f} ms from coordinates and measured forces on (`solve_muscles` with the"
        " same model, whose paths OpenSim computes). One run of OpenSim's, the quickest of ours.",
    ]


def _who_is_right(data: Path, walk: Walk, theirs: Optimum, own: Tensions, whole: Tensions) -> list[str]:
    """Activations given to OpenSim's own muscles: which of them make the moments?"""
    found: dict[str, Tensions | Optimum] = {
        "OpenSim's static optimisation": theirs,
        "ours, strength as OpenSim's muscles have it": own,
        "ours, that and passive forces": whole,
    }
    lines = [
        "Who is right where the two differ by more: the activations are given to OpenSim's own muscles, with"
        " rigid tendons. What moment do these and the reserves then fail to make, rms and largest [N·m]?"
        f" The largest moment is {np.abs(walk.moments).max():.0f} N·m.",
        "",
        "| activations | mean Σ a² | lacking, active forces | lacking, with passive forces |",
        "|---|---|---|---|",
    ]
    for label, one in found.items():
        active, passive = muscles_of_opensim(data, walk.times, one.activation)
        lacking = [_range(walk.lacking(force) - one.reserve) for force in (active, active + passive)]
        effort = (one.activation**2).sum(axis=1).mean()
        lines.append(f"| {label} | {effort:.3f} | {lacking[0]} | {lacking[1]} |")
    stronger = walk.optimised_state().active / walk.active_state().active
    damping = np.einsum("fm,fmc->fc", walk.state().damping, walk.moment_arms)
    return [
        *lines,
        "",
        "Without passive forces OpenSim's optimum costs less than ours as it takes muscles for stronger than"
        f" they are, by up to {stronger.max() - 1.0:.0%}: its activations do not make the moments. What ours"
        " lack with passive forces is the damping of fibres, up to"
        f" {np.abs(damping).max():.2g} N·m, which is left out by both.",
    ]


def _whole_way(data: Path) -> float:
    """Seconds a frame that our inverse dynamics, paths of the model, and tensions take."""
    path = data / "walk" / "subject_walk_scaled.osim"
    table = read_table(data / "walk" / "coordinates.sto")
    frames = slice(0, None, EVERY)
    with tempfile.TemporaryDirectory() as folder, opensim_in(Path(folder)):
        model, forces = OpensimModel(path), read_external_loads(data / "walk" / "grf_walk.xml").forces
        q, _ = some_poses_from_columns(model, table.columns, degrees=table.degrees)
        way = partial(
            solve_muscles, model, table.times[frames], q[frames], forces, cutoff=SMOOTH, curves=CURVES
        )
        return fastest_by_turns({"way": way}, 2)["way"].clock / len(table.times[frames])


def _walk(data: Path) -> list[str]:
    begin = time.perf_counter()
    walk = measured_walk(data, [float(t) for t in np.arange(SPAN[0], SPAN[1] + 0.001, 0.02)])
    opensim_took = time.perf_counter() - begin
    emg = walkers_emg(data)
    begin = time.perf_counter()
    calm = solved(walk)
    took = time.perf_counter() - begin
    right, left = (correlations(walk, emg, calm, side) for side in "rl")
    good = accounted(walk, data)
    lines = [
        f"{len(walk.times)} frames of a measured walk, 80 muscles, Σ a²: lengths, moment arms and moments by"
        f" OpenSim ({opensim_took:.0f} s), activations by us ({1e3 * took / len(walk.times):.2f} ms a frame)."
        f" The largest share of a torque that a reserve makes is {calm.share.max():.1%}; told:"
        f" {len(calm.notes)} of {len(JOINTS)}.",
        "",
        "Correlation of activation with EMG. The file names no side: it is the right's.",
        "",
        "| channel | left | right |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {left[name]:.2f} | {right[name]:.2f} |" for name in emg.channels]
    lines.append(
        "| mean | " + " | ".join(f"{np.mean(list(one.values())):.2f}" for one in (left, right)) + " |"
    )
    return [
        *lines,
        "",
        "One channel left out and predicted: its correlation with the activation of its muscles. The delay is"
        " the one at which the nine others fit Σ a² without EMG best. Nine as targets: each times the factor"
        " that fits its muscles best. Synergies: `biomech/synergies.py` with its defaults, weight 1. Turned"
        " round: the same with the nine backwards in time, which should not help. Frames:"
        f" the {len(good.times)} from {good.times[0]:.2f} to {good.times[-1]:.2f} s in which the force that"
        f" nothing accounts for is at most {LEFT_OVER:.0%} of the ground's largest.",
        "",
        *_table_left_out(good, emg),
        "",
        f"The same for all {len(walk.times)} frames, ends and all:",
        "",
        *_table_left_out(walk, emg),
        "",
        *TRIED,
        "",
        *_against_opensim(data),
    ]


def section() -> str:
    lines = ["## Forces of muscles", "", *_speed(), ""]
    if not (DATA / "walk").is_dir():
        return "\n".join([*lines, "The walk was not measured: its data is not here (set ECORCHE_DATA)."])
    return "\n".join([*lines, *_walk(DATA)])
