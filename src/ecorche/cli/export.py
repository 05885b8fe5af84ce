"""`ecorche export`: a rig for programs that know nothing of muscles."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.cli.activation import ACTIVATION
from ecorche.cli.bake import Feet

if TYPE_CHECKING:
    from ecorche.body.as_joints import JointedCharacter
    from ecorche.document.files import Rig
    from ecorche.skeleton.motion import Motion


USD = (".usd", ".usda", ".usdc", ".usdz")
SUFFIXES = (".glb", ".gltf", *USD)
"""Formats whose joints dilate and whose meshes are skinned to them."""
POSES = 48
"""Poses that decide what is folded, and over which errors are told where there is no motion."""


class ExportAs(StrEnum):
    """What muscles become."""

    joints = "joints"


def export(
    rig: Path | None = typer.Argument(None, help="A rig (.ecorche); default: the built-in figure's."),
    output: Path = typer.Option(..., "-o", "--output", help="The file to make: .glb, .gltf, .usdc, .usda, …"),
    as_: ExportAs = typer.Option(ExportAs.joints, "--as", help="What muscles become."),  # noqa: ARG001
    motion: Path | None = typer.Option(
        None, "-m", "--motion", help="BVH, glTF, USD, X3D or .pose; default: the character's own clip."
    ),
    clip: str | None = typer.Option(None, help="Which clip, where a file has several."),
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
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Write a character whose muscles are joints: it plays in any program that skins a mesh.

    Every clip gets what the muscle joints do in it; with --drivers the pose itself moves them.
    """
    from ecorche.base.files import require_folder
    from ecorche.body.as_joints import jointed_character
    from ecorche.body.evaluate import LiveFrames
    from ecorche.body.joint_error import half_scale_error, joint_errors
    from ecorche.body.perform import perform
    from ecorche.body.sample_poses import sample_poses
    from ecorche.body.take import Take
    from ecorche.cli.activation import activation_source
    from ecorche.cli.options import counted, frame_range
    from ecorche.cli.subject import read_subject, subject_motion
    from ecorche.errors import DocumentError, WriteError
    from ecorche.io.formats import WriteOptions, module_for, write_take
    from ecorche.render.joint_errors import plot_joint_errors, require_plot

    require_folder(output)
    module_for(output, "write_take", WriteError)
    if output.suffix.lower() not in SUFFIXES:
        raise WriteError(
            f"{output.suffix} files hold no joints that dilate",
            where=output,
            remedy=f"Use one of {', '.join(SUFFIXES)}",
        )
    if error_plot is not None:
        require_plot(error_plot)
    if drivers is not None:
        require_folder(drivers)
    subject = read_subject(rig)
    if subject.rig is None:
        raise DocumentError(
            "is a character without muscles", where=rig, remedy="Make a rig first: ecorche rig CHARACTER"
        )
    character = subject.character
    jointed = jointed_character(
        character, subject.rig, joints_per_muscle=joints_per_muscle, influences=influences
    )
    chosen, report, played, active = subject_motion(character, motion, clip), None, None, None
    if chosen is not None:
        performance = perform(
            character,
            chosen,
            feet=feet.value,
            rate=rate,
            frames=frame_range(frames),
            rig=subject.rig,
            activation=activation_source(activation, subject),
        )
        report, played = performance.retargeting, performance.take.motion
        if isinstance(performance.take.frames, LiveFrames):
            active = performance.take.frames.activation
    take = Take(jointed.character, None if played is None else jointed.motion(played, active))
    written = write_take(output, take, WriteOptions(usd_as="skeleton", morph_targets=0))
    told = [*([] if report is None else [str(report)]), *(f"note: {note}" for note in written.notes)]
    if not quiet or error_plot is not None:
        poses = sample_poses(character, subject.rig, POSES)
        errors = joint_errors(jointed, played or poses, poses, activation=active)
        told += [str(error) for error in errors]
        if error_plot is not None:
            plot_joint_errors(error_plot, jointed, errors)
    if take.motion is not None and output.suffix.lower() in USD:
        apart = half_scale_error(jointed, take.motion)
        told.append(f"note: UsdSkel keeps scales in half precision: {1e3 * apart:.3f} mm at the skin at most")
    if drivers is not None:
        told += write_drivers(drivers, jointed, subject.rig, played)
    if quiet:
        return
    for line in told:
        typer.echo(line)
    typer.echo(
        f"{output}: {counted(len(jointed.muscles.joints.names), 'muscle joint')} beside"
        f" {counted(character.skeleton.joint_count, 'joint')},"
        f" {counted(0 if played is None else played.frame_count, 'frame')}"
    )


def write_drivers(folder: Path, jointed: JointedCharacter, rig: Rig, motion: Motion | None) -> list[str]:
    """The table of drivers and its evaluators, in a folder; what there is to tell of it."""
    from ecorche.body.drivers.learn import learn_drivers
    from ecorche.body.drivers.package import write_package

    table = learn_drivers(jointed, rig)
    return write_package(folder, jointed, table, motion)
