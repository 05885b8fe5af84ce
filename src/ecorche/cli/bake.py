"""`ecorche bake`: a character in motion, every frame of its skin in a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer


class Feet(StrEnum):
    """How a motion is carried to other proportions."""

    directions = "directions"
    planted = "planted"


class Method(StrEnum):
    """Skinning methods."""

    linear = "linear"
    dual_quaternion = "dual_quaternion"
    contour = "contour"


class UsdAs(StrEnum):
    """What a USD file holds."""

    points = "points"
    skeleton = "skeleton"


def bake(
    character: Path = typer.Argument(help="A character (glTF, USD, X3D, MJCF) or a rig (.ecorche)."),
    output: Path = typer.Option(..., "-o", "--output", help="The file to make: .usdc, .glb, .pc2, .npz, …"),
    motion: Path | None = typer.Option(
        None,
        "-m",
        "--motion",
        help="BVH, glTF, USD, X3D or .pose; default: the character's own clip or cache, else bind.",
    ),
    clip: str | None = typer.Option(None, help="Which clip, where the motion file has several."),
    feet: Feet = typer.Option(Feet.directions, help="Keep limb directions, or keep the feet planted."),
    frames: str | None = typer.Option(None, help="Only these frames, such as 10-50."),
    rate: float | None = typer.Option(
        None, min=0.1, max=10000.0, help="Resample to this many frames per second."
    ),
    limits: bool = typer.Option(False, "--limits", help="Keep joints within human limits, and report."),
    skinning: Method | None = typer.Option(
        None, help="Skinning method; default: the rig's or file's own, else linear."
    ),
    usd_as: UsdAs = typer.Option(
        UsdAs.points, "--usd-as", help="USD: point samples, or skeleton and blend shapes."
    ),
    morph_targets: int = typer.Option(32, min=0, max=256, help="glTF: at most this many morph targets."),
    mesh: str | None = typer.Option(None, help="PC2: which mesh; default: the body."),
    mapping: Path | None = typer.Option(None, help="JSON of the character's joint names to H-Anim names."),
    motion_mapping: Path | None = typer.Option(None, help="The same for the motion's joints."),
    threads: int | None = typer.Option(None, help="Threads to use; the bytes are the same for any number."),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Move a character and write every frame of its skin.

    Interrupted, it leaves no half-written file; the same command again resumes.
    """
    import time

    from ecorche.base.files import require_folder
    from ecorche.body.bake import bake as bake_take
    from ecorche.body.perform import perform
    from ecorche.cli.options import frame_range, joint_mapping, progress_bar, report_to, use_threads
    from ecorche.cli.subject import read_subject, subject_motion
    from ecorche.errors import WriteError
    from ecorche.io.formats import WriteOptions, module_for, write_take

    require_folder(output)
    module_for(output, "write_take", WriteError)
    use_threads(threads)
    subject = read_subject(character)
    chosen = subject_motion(subject.character, motion, clip)
    performance = perform(
        subject.character,
        chosen,
        feet=feet.value,
        rate=rate,
        frames=frame_range(frames),
        limits=limits or subject.limits,
        joints=subject.joints,
        skinning=None if skinning is None and subject.skinning is None else (skinning or subject.skinning),
        mapping=joint_mapping(mapping) or subject.mapping,
        source_mapping=joint_mapping(motion_mapping),
    )
    options = WriteOptions(usd_as=usd_as.value, morph_targets=morph_targets, mesh=mesh)
    started = time.perf_counter()
    with progress_bar() as bar:
        written = bake_take(
            output, performance.take, lambda path, take: write_take(path, take, options), report_to(bar)
        )
    seconds = time.perf_counter() - started
    if quiet:
        return
    if performance.retargeting is not None:
        typer.echo(str(performance.retargeting))
    if performance.limits is not None:
        typer.echo(str(performance.limits))
    for note in written.notes:
        typer.echo(note)
    count = len(performance.take.frames or ())
    typer.echo(f"{output}: {count} frames in {seconds:.2f} s ({count / max(seconds, 1e-9):.0f} frames/s)")
