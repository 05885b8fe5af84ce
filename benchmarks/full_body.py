"""The full body of myo-sim (416 muscles, MuJoCo) solved over a measured walk: fit, torques, time a frame."""

from __future__ import annotations

import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import plots
from benchmarks.bodies import DATA
from benchmarks.walking_muscles import opensim_in
from ecorche.base.recordings import ForceRecording, MarkerRecording
from ecorche.biomech.carried_markers import carried_markers
from ecorche.biomech.inverse_dynamics import JointMoments, inverse_dynamics
from ecorche.biomech.inverse_kinematics import MarkerMotion, inverse_kinematics
from ecorche.biomech.model import MusculoskeletalModel, upright_from
from ecorche.biomech.mujoco_model import MujocoModel
from ecorche.biomech.mujoco_scaling import scale_mujoco_to_subject
from ecorche.biomech.opensim_model import OpensimModel
from ecorche.biomech.scaling import Pair, ScaledSubject
from ecorche.biomech.solve import Solved, solve_muscles
from ecorche.biomech.tensions import TOLD
from ecorche.io.external_loads import read_external_loads
from ecorche.io.trc import read_trc

Floats = npt.NDArray[np.float64]

STANDS = 0.7
"""The second of the walk whose one frame the model is scaled to: there is no recording of standing."""
SPAN = (0.5, 1.75)
FIGURE = Path(__file__).resolve().parent / "figures" / "full_body.png"
SHOWN = [
    "soleus_r",
    "gasmed_r",
    "tibant_r",
    "vaslat_r",
    "recfem_r",
    "bflh_r",
    "semimem_r",
    "glmax2_r",
    "glmed2_r",
    "psoas_r",
]
"""Muscles of the right leg that are drawn, and compared with the walker's own model."""


def pairs() -> dict[str, list[Pair]]:
    """Of markers that measure bodies; legs and pelvis are measured by all of theirs.

    The trunk by its height and not by the width of the shoulders, arms from joint to joint, feet from heel to
    toe: markers on the upper arm and on the toes are too near together.
    """
    found: dict[str, list[Pair]] = {"torso": [("R.Shoulder", "R.PSIS"), ("L.Shoulder", "L.PSIS")]}
    for side, up in (("r", "R"), ("l", "L")):
        found[f"humerus_{side}"] = [(f"{up}.Shoulder", f"{up}.Elbow")]
        for bone in ("ulna", "radius"):
            found[f"{bone}_{side}"] = [(f"{up}.Elbow", f"{up}.Wrist")]
        for bone in ("calcn", "toes"):
            found[f"{bone}_{side}"] = [(f"{up}.Heel", f"{up}.Toe")]
    return found


def write_full_body(path: Path) -> None:
    """The model of the package as a file."""
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)  # unheard, the engine writes a log into the working folder
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from myo_sim.build.compose import build_spec, write_spec_xml

        write_spec_xml(build_spec("myofullbody"), path)
    mujoco.set_mju_user_warning(None)


def scaled_full_body(data: Path, folder: Path) -> tuple[Path, ScaledSubject]:
    """The full body as large as the walker, in a folder, with the markers of the walker's own model."""
    plain, subject = folder / "fullbody.xml", folder / "subject.xml"
    write_full_body(plain)
    model = MujocoModel(plain)
    places, _ = carried_markers(OpensimModel(data / "walk" / "subject_walk_scaled.osim"), model)
    still = markers_of(data, model, STANDS, STANDS)
    mass = sum(b.mass for b in OpensimModel(data / "walk" / "subject_walk_scaled.osim").bodies)
    made = scale_mujoco_to_subject(plain, still, subject, markers=places, pairs=pairs(), mass=mass)
    return subject, made


def markers_of(data: Path, model: MusculoskeletalModel, start: float, end: float) -> MarkerRecording:
    """Markers of the walk as the model's ground has them."""
    recorded = read_trc(data / "walk" / "markers_walk.trc").between(start, end)
    return recorded.turned(upright_from(model).T)


def forces_of(data: Path, model: MusculoskeletalModel) -> tuple[ForceRecording, ...]:
    """Ground forces of the walk as the model's ground has them."""
    turn = upright_from(model).T
    return tuple(force.turned(turn) for force in read_external_loads(data / "walk" / "grf_walk.xml").forces)


@dataclass(frozen=True, eq=False)
class Walked:
    """A model solved over the walk.

    Attributes:
        model: The model.
        motion: Poses from markers.
        solved: What muscles do.
        took: Milliseconds of the processor a frame, by stage.
    """

    model: MusculoskeletalModel
    motion: MarkerMotion
    solved: Solved
    took: dict[str, float]


def walked(data: Path, model: MusculoskeletalModel, start: float, end: float) -> Walked:
    """Poses, moments and activations of a model over the walk."""
    markers, forces = markers_of(data, model, start, end), forces_of(data, model)
    count = len(markers.times)
    begin = time.process_time()
    motion = inverse_kinematics(model, markers)
    posed = time.process_time()
    inverse_dynamics(model, motion.times, motion.q, forces)
    moved = time.process_time()
    ends: dict[str, float] = {}
    solve_muscles(model, motion.times[:8], motion.q[:8], cutoff=None)  # compiles
    again = time.process_time()
    solved = solve_muscles(
        model,
        motion.times,
        motion.q,
        forces,
        progress=lambda stage, *_: ends.__setitem__(stage, time.process_time()),
    )
    spans = {
        "poses from markers": posed - begin,
        "joint moments": moved - posed,
        "lengths and moment arms": ends["paths"] - again - (moved - posed),
        "tensions": ends["muscles"] - ends["paths"],
    }
    return Walked(model, motion, solved, {name: 1e3 * span / count for name, span in spans.items()})


def is_finger(coordinate: str) -> bool:
    """Whether a coordinate of the full body is of fingers or thumbs, on which there are no markers."""
    return coordinate.startswith(("cmc_", "mp_", "ip_", "mcp", "pm", "md"))


def shares(body: Walked) -> dict[str, float]:
    """The largest reserve of each coordinate but the root's over its largest torque."""
    names = [c.name for c in body.model.coordinates if not c.locked]
    found = zip(names, body.solved.tensions.share.tolist(), strict=True)
    return {name: share for name, share in found if name not in body.model.root}


def _moments(body: Walked) -> JointMoments:
    return body.solved.moments


def _compared(full: Walked, own: Walked) -> list[str]:
    lines = [
        "| of the right leg | largest moment, full body | walker's own model | apart, rms |",
        "|---|---|---|---|",
    ]
    inside = slice(10, -10)
    for name in ("hip_flexion_r", "hip_adduction_r", "knee_angle_r", "ankle_angle_r"):
        one, other = _moments(full).of(name)[inside], _moments(own).of(name)[inside]
        apart = np.sqrt(((one - other) ** 2).mean())
        lines.append(
            f"| {name} | {np.abs(one).max():.0f} N·m | {np.abs(other).max():.0f} N·m | {apart:.1f} N·m |"
        )
    return lines


def _activation(body: Walked, muscle: str) -> Floats:
    names = [one.name for one in body.model.muscles]
    return np.asarray(body.solved.tensions.activation[:, names.index(muscle)])


def _drawn(full: Walked, own: Walked) -> dict[str, float]:
    """Correlations of activations, and their picture."""
    figure, axes = plots.panels(5, 2, (10.0, 11.0), sharex=True, sharey=True)
    found = {}
    for axis, name in zip(axes.ravel(), SHOWN, strict=True):
        one, other = _activation(full, name), _activation(own, name)
        found[name] = float(np.corrcoef(one, other)[0, 1])
        axis.plot(full.motion.times, one, label="full body, 416 muscles (MuJoCo)")
        axis.plot(own.motion.times, other, label="walker's own model, 80 muscles (OpenSim)")
        axis.set_title(name)
    axes[0, 0].set_ylim(0.0, 1.0)
    axes[0, 0].legend(fontsize=8)
    figure.supxlabel("seconds")
    figure.supylabel("activation")
    plots.save(figure, FIGURE)
    return found


def section() -> str:
    title = ["## A full body over a walk", ""]
    if not (DATA / "walk").is_dir():
        return "\n".join([*title, "Not measured: the walk's data is not here (set ECORCHE_DATA)."])
    with tempfile.TemporaryDirectory() as name, opensim_in(Path(name)):
        folder = Path(name)
        path, made = scaled_full_body(DATA, folder)
        full = walked(DATA, MujocoModel(path), *SPAN)
        own = walked(DATA, OpensimModel(DATA / "walk" / "subject_walk_scaled.osim"), *SPAN)
        like = _drawn(full, own)
    share = shares(full)
    large = {name: part for name, part in share.items() if not is_finger(name)}
    fingers = [name for name in share if is_finger(name)]
    names = [c.name for c in full.model.coordinates if not c.locked]
    tensions = full.solved.tensions
    most = max(np.abs(tensions.reserve[:, names.index(name)]).max() for name in fingers)
    active = tensions.activation
    short = [name for name in large if large[name] > TOLD]
    count = len(full.motion.times)
    return "\n".join(
        [
            *title,
            f"myo-sim's full body, {len(full.model.muscles)} muscles and {len(names)} coordinates, over"
            f" {count} frames of the walk at 100 Hz."
            " Markers are those of the walker's own model, carried over by the size of bodies; the model was"
            f" scaled to one frame of the walk ({STANDS} s), as nobody stood still for it:"
            f" {1e3 * made.rms_before:.1f} mm rms before, {1e3 * made.rms:.1f} mm scaled, then markers were"
            " placed on that frame, which lies within the walk, and those of the walker's own model were not:"
            " their errors do not say which model is better. Muscles pull by MuJoCo's own curves.",
            "",
            "| | full body | walker's own model |",
            "|---|---|---|",
            f"| markers, rms over the walk | {1e3 * full.motion.rms.mean():.1f} mm |"
            f" {1e3 * own.motion.rms.mean():.1f} mm |",
            f"| worst marker | {1e3 * full.motion.worst.max():.0f} mm |"
            f" {1e3 * own.motion.worst.max():.0f} mm |",
            f"| left at the root, rms | {_moments(full).residual_force:.0f} N,"
            f" {_moments(full).residual_moment:.1f} N·m | {_moments(own).residual_force:.0f} N,"
            f" {_moments(own).residual_moment:.1f} N·m |",
            *(
                f"| {stage}, ms a frame | {full.took[stage]:.1f} | {own.took[stage]:.1f} |"
                for stage in own.took
            ),
            "",
            f"Torques: of {len(large)} coordinates of legs, trunk, arms and wrists"
            f" {len(large) - len(short)} are"
            f" met by muscles within their bounds, the largest share of a reserve being"
            f" {max(large.values()):.2%}. On fingers and thumbs there are no markers, so they stay as"
            " the model"
            f" has them; there {sum(share[name] > TOLD for name in fingers)} of {len(fingers)}"
            " reserves are above"
            f" {TOLD:.0%}, at most {most:.3f} N·m. {int((active.max(axis=0) > 0.99).sum())}"
            " muscles are at times"
            " fully active: deep ones of the back and an oblique.",
            "",
            *_compared(full, own),
            "",
            "Correlation of activations with those of the walker's own model (rigid tendons,"
            " Millard's curves),"
            f" drawn in {FIGURE.parent.name}/{FIGURE.name}: "
            + ", ".join(f"{name} {value:.2f}" for name, value in like.items())
            + ".",
            "",
            "Times are those of the processor, one run, a machine that others use too.",
        ]
    )
