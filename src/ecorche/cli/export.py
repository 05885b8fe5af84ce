"""`ecorche export`: a rig for programs that know nothing of muscles."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.cli.activation import ACTIVATION
from ecorche.cli.bake import Feet
from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ecorche.body.character import Character
    from ecorche.body.perform import Performance
    from ecorche.skeleton.motion import Motion


USD = (".usd", ".usda", ".usdc", ".usdz")
SUFFIXES = (".glb", ".gltf", *USD)
"""Formats of meshes that are skinned to joints."""
JOINTED = (*SUFFIXES, ".fbx")
"""Those whose joints dilate as well."""
OF_MOTION = "--motion --clip --feet --frames --rate --activation"
OF_JOINTS = "--influences --joints-per-muscle --drivers --error-plot"
OF_A_MODEL = "--specific-tension"
OF_A_PAGE = "--crowd"
"""Options that only some of what can be made has."""
POSES = 48
"""Poses that decide what is folded, and over which errors are told where there is no motion."""


class ExportAs(StrEnum):
    """What muscles become."""

    joints = "joints"
    model = "model"


def export(
    context: typer.Context,
    rig: Path | None = typer.Argument(None, help="A rig (.ecorche); default: the built-in figure's."),
    output: Path | None = typer.Option(
        None,
        "-o",
        "--output",
        help="The file to make: .glb, .gltf, .usdc, .usda, …; of a model .xml or .osim.",
    ),
    web: Path | None = typer.Option(
        None, metavar="FOLDER", help="In place of -o: a folder for a page that plays it in a browser."
    ),
    as_: ExportAs = typer.Option(
        ExportAs.joints, "--as", help="What muscles become: joints of a character, or those of a model."
    ),
    motions: list[Path] | None = typer.Option(
        None,
        "-m",
        "--motion",
        help="BVH, glTF, USD, X3D, FBX (through Blender) or .pose; default:"
        " the character's own clips. Several for --web.",
    ),
    clip: str | None = typer.Option(None, help="Only this clip, where a file has several."),
    feet: Feet = typer.Option(Feet.directions, help="Keep limb directions, or keep the feet planted."),
    frames: str | None = typer.Option(None, help="Only these frames, such as 10-50."),
    rate: float | None = typer.Option(
        None, min=0.1, max=10000.0, help="Resample to this many frames per second."
    ),
    activation: str | None = ACTIVATION,
    influences: int = typer.Option(4, min=1, max=64, help="At most so many joints a vertex; 4 or 8."),
    joints_per_muscle: int | None = typer.Option(
        None, min=1, max=16, help="At most so many joints along a muscle on each limb."
    ),
    drivers: Path | None = typer.Option(
        None, help="A folder for drivers: the table and how to evaluate it, for poses that no clip holds."
    ),
    error_plot: Path | None = typer.Option(None, help="A picture (.png) of what budgets of joints cost."),
    specific_tension: float = typer.Option(
        30.0, min=1.0, max=200.0, help="Of a model: newtons a cm² of cross-section, where a rig has no force."
    ),
    crowd: int = typer.Option(25, min=1, max=400, help="Of a page: so many figures when asked for a crowd."),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Write a rig for programs that know nothing of it.

    As joints: a character that plays in any program that skins a mesh. Every clip gets what the muscle joints
    do in it; with --drivers the pose itself moves them. As a model: bodies with masses and muscles on paths,
    for MuJoCo or OpenSim. With --web: a page whose muscles play in a browser, any two clips blended live.
    """
    from ecorche.cli.options import refuse_unused

    if web is not None:
        from ecorche.cli.export_web import WebExport, export_web

        of_others = f"--output {OF_JOINTS} {OF_A_MODEL}" + (" --as" if as_ is ExportAs.model else "")
        refuse_unused(context, of_others, "a page plays the muscles themselves", "Leave it out, or --web")
        asked = WebExport(web, tuple(motions or ()), clip, feet.value, frames, rate, activation, crowd)
        export_web(rig, asked, quiet)
        return
    refuse_unused(context, OF_A_PAGE, "there is no page for it", "Leave it out, or give --web FOLDER")
    if output is None:
        raise EcorcheError(
            "nothing to make was named", where="--output", remedy="Give -o FILE or --web FOLDER"
        )
    motion = _the_only(motions)
    if as_ is ExportAs.model:
        from ecorche.cli.export_model import export_model

        of_others = f"{OF_MOTION} {OF_JOINTS}"
        refuse_unused(
            context, of_others, "a model holds no motion and no skin", "Leave it out, or --as model"
        )
        export_model(rig, output, specific_tension, quiet)
        return
    refuse_unused(context, OF_A_MODEL, "joints pull nothing", "Leave it out, or give --as model")
    from dataclasses import replace

    from ecorche.base.files import require_folder
    from ecorche.body.as_joints import jointed_character, not_as_joints, require_jointable
    from ecorche.body.drivers.learn import learn_drivers
    from ecorche.body.drivers.package import require_package_folder, write_package
    from ecorche.body.joint_error import BUDGETS, half_scale_error, joint_errors
    from ecorche.body.perform import perform
    from ecorche.body.sample_poses import sample_poses
    from ecorche.body.take import Take
    from ecorche.cli.activation import activation_source
    from ecorche.cli.options import counted, frame_range
    from ecorche.cli.subject import read_subject, require_not_read
    from ecorche.errors import DocumentError, WriteError
    from ecorche.io.formats import WriteOptions, module_for, write_take
    from ecorche.render.joint_errors import plot_joint_errors, require_plot

    require_folder(output)
    module_for(output, "write_take", WriteError)
    if output.suffix.lower() not in JOINTED:
        raise WriteError(
            f"{output.suffix} files hold no joints that dilate",
            where=output,
            remedy=f"Use one of {', '.join(JOINTED)}",
        )
    if error_plot is not None:
        require_plot(error_plot)
    if drivers is not None:
        require_package_folder(drivers)
    subject = read_subject(rig)
    if subject.rig is None:
        raise DocumentError(
            "is a character without muscles", where=rig, remedy="Make a rig first: ecorche rig CHARACTER"
        )
    require_jointable(subject.rig)
    character = subject.character
    require_not_read(output, character, motion)
    clips = export_clips(character, motion, clip)
    require_clips(clips, {"--frames": frames, "--rate": rate, "--activation": activation})
    kept, source = frame_range(frames), activation_source(activation, subject)
    performances = [
        perform(character, one, feet=feet.value, rate=rate, frames=kept, rig=subject.rig, activation=source)
        for one in clips
    ]
    jointed = jointed_character(
        character, subject.rig, joints_per_muscle=joints_per_muscle, influences=influences
    )
    played = [played_motion(performance) for performance in performances]
    take = Take(replace(jointed.character, motions=tuple(jointed.motion(*one) for one in played)))
    written = write_take(output, take, WriteOptions(usd_as="skeleton", morph_targets=0))
    told = [str(p.retargeting) for p in performances if p.retargeting is not None]
    told += [f"note: {note}" for note in written.notes]
    method = subject.rig.spec.skinning.method or character.body(subject.body).skinning or "linear"
    if method != "linear":
        told.append(f"note: the skin is by {method} skinning; with joints for muscles it is linear")
    told += [f"note: {note}" for note in not_as_joints(subject.rig)]
    whole, active = _in_a_row(played, "the character's own clips, learnt from" if motion is None else "")
    if not quiet or error_plot is not None:
        poses = sample_poses(character, subject.rig, POSES)
        budgets = dict.fromkeys((influences, *BUDGETS))  # that of the file comes first
        errors = joint_errors(jointed, whole or poses, poses, budgets=[*budgets], activation=active)
        over = "drawn poses" if whole is None else "frames of " + counted(len(clips), "clip")
        told.append(f"measured over {(whole or poses).frame_count} {over}:")
        told += [str(error) for error in errors]
        if error_plot is not None:
            plot_joint_errors(error_plot, jointed, errors)
    if clips and output.suffix.lower() in USD:
        apart = max(half_scale_error(jointed, one) for one in take.character.motions)
        told.append(f"note: UsdSkel keeps scales in half precision: {1e3 * apart:.3f} mm at the skin at most")
    if drivers is not None:
        table = learn_drivers(jointed, subject.rig)
        told += write_package(drivers, jointed, table, subject.rig, whole)
    if quiet:
        return
    for line in told:
        typer.echo(line)
    typer.echo(
        f"{output}: {counted(len(jointed.muscles.joints.names), 'muscle joint')} beside"
        f" {counted(character.skeleton.joint_count, 'joint')}, {counted(len(clips), 'clip')},"
        f" {counted(0 if whole is None else whole.frame_count, 'frame')}"
    )


def _the_only(motions: list[Path] | None) -> Path | None:
    if motions is not None and len(motions) > 1:
        raise EcorcheError(
            f"{len(motions)} motions were given", where="--motion", remedy="Give one, or several with --web"
        )
    return motions[0] if motions else None


def export_clips(character: Character, motion: Path | None, clip: str | None) -> list[Motion]:
    """The motions to perform: of a file, or those of the character itself."""
    from ecorche.cli.subject import subject_motion

    own = [one for one in character.motions if clip in (None, one.name)]
    if motion is None and (own or clip is None):
        return own
    chosen = subject_motion(character, motion, clip)
    return [] if chosen is None else [chosen]


def require_clips(clips: list[Motion], options: dict[str, object]) -> None:
    """Refuse what is said of a motion where there is none, or of one where there are several."""
    for option, given in options.items():
        if given is None:
            continue
        if not clips:
            raise EcorcheError("there is no motion", where=option, remedy="Give one: --motion FILE")
        if option == "--frames" and len(clips) > 1:
            names = ", ".join(repr(one.name) for one in clips)
            raise EcorcheError(
                f"there are {len(clips)} clips", where=option, remedy=f"Choose one with --clip: {names}"
            )


def played_motion(performance: Performance) -> tuple[Motion, npt.NDArray[np.float64] | None]:
    """A motion on the character's own skeleton, and how active its muscles are."""
    from ecorche.body.live_frames import LiveFrames

    motion, frames = performance.take.motion, performance.take.frames
    assert motion is not None  # of a performance
    return motion, frames.activation if isinstance(frames, LiveFrames) else None


def _in_a_row(
    played: list[tuple[Motion, npt.NDArray[np.float64] | None]], name: str
) -> tuple[Motion | None, npt.NDArray[np.float64] | None]:
    """All clips as one, to measure over; None where there is none."""
    import numpy as np

    from ecorche.skeleton.motion import Motion

    if not played:
        return None, None
    first = played[0][0]
    local = np.concatenate([motion.local for motion, _ in played])
    active = [activation for _, activation in played if activation is not None]
    whole = Motion(name or first.name, first.skeleton, np.arange(len(local), dtype=np.float64), local)
    return whole, np.concatenate(active) if active else None
