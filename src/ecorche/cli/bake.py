"""`ecorche bake`: a character in motion, every frame of its skin in a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

from ecorche.cli.activation import ACTIVATION, WITHOUT_MUSCLES
from ecorche.cli.coupling import COUPLING, require_rig_for, with_coupling
from ecorche.cli.dynamics import DYNAMICS, PREROLL, Swing
from ecorche.cli.model_results import ACTIVATIONS, COORDINATES, MODEL, MUSCLE_MAP, GivenResults, what_moves
from ecorche.cli.options import DEVICE, MESH, MORPH_TARGETS, TANGENTS, USD_AS, Processor, UsdAs


class Feet(StrEnum):
    """How a motion is carried to other proportions."""

    directions = "directions"
    planted = "planted"


class Method(StrEnum):
    """Skinning methods."""

    linear = "linear"
    dual_quaternion = "dual_quaternion"
    contour = "contour"


def bake(
    character: Path | None = typer.Argument(
        None,
        help="A character (glTF, USD, X3D, FBX, MJCF) or a rig (.ecorche); default: the built-in figure.",
    ),
    output: Path = typer.Option(..., "-o", "--output", help="The file to make: .usdc, .glb, .pc2, .npz, …"),
    motion: Path | None = typer.Option(
        None,
        "-m",
        "--motion",
        help="BVH, glTF, USD, X3D, FBX (through Blender) or .pose; default:"
        " the character's own clip or cache, else bind.",
    ),
    clip: str | None = typer.Option(None, help="Which clip, where a file has several."),
    feet: Feet = typer.Option(Feet.directions, help="Keep limb directions, or keep the feet planted."),
    frames: str | None = typer.Option(None, help="Only these frames, such as 10-50."),
    rate: float | None = typer.Option(
        None, min=0.1, max=10000.0, help="Resample to this many frames per second."
    ),
    limits: bool = typer.Option(False, "--limits", help="Keep joints within human limits, and report."),
    skinning: Method | None = typer.Option(
        None,
        metavar="METHOD",
        help="linear, dual_quaternion or contour; default: the rig's or file's own, else linear, or"
        " contour under a height field or fascia.",
    ),
    activation: str | None = ACTIVATION,
    model: Path | None = MODEL,
    coordinates: Path | None = COORDINATES,
    activations: Path | None = ACTIVATIONS,
    muscle_map: Path | None = MUSCLE_MAP,
    without_muscles: bool = WITHOUT_MUSCLES,
    coupling: list[str] = COUPLING,
    dynamics: Swing = DYNAMICS,
    preroll: float = PREROLL,
    samples: int = typer.Option(1, min=1, max=64, help="Moments a frame, for motion blur."),
    with_muscles: bool = typer.Option(
        False,
        "--with-muscles",
        help="USD points, Alembic, NPZ: write muscles, and bones and fat if any, as meshes beside the skin.",
    ),
    usd_as: UsdAs = USD_AS,
    usd_clips: int = typer.Option(
        0, min=0, help="USD points: value clips of so many frames each, in a folder beside; 0: one file."
    ),
    morph_targets: int = MORPH_TARGETS,
    tangents: bool = TANGENTS,
    mesh: str | None = MESH,
    mapping: Path | None = typer.Option(None, help="JSON of the character's joint names to H-Anim names."),
    motion_mapping: Path | None = typer.Option(None, help="The same for the motion's joints."),
    device: Processor = DEVICE,
    threads: int | None = typer.Option(None, help="Threads to use; the bytes are the same for any number."),
    split: int | None = typer.Option(
        None, min=1, help="Bake nothing; tell the ranges for --part, of so many frames each."
    ),
    part: str | None = typer.Option(None, help="Bake these frames alone, such as 10-29, for --stitch."),
    stitch: bool = typer.Option(False, "--stitch", help="Put baked parts together: the bytes of one bake."),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Move a character and write every frame of its skin.

    Interrupted, it leaves no half-written file; the same command again resumes. For farms: --split, --part
    and --stitch; exit code 1 means that parts are missing, 2 bad input.
    """
    import time

    from ecorche.base.files import require_folder
    from ecorche.body.bake import bake as bake_take
    from ecorche.body.cover_report import worn_through
    from ecorche.body.live_frames import LiveFrames
    from ecorche.body.perform import perform
    from ecorche.cli.farm_job import farm_job
    from ecorche.cli.options import counted, frame_range, joint_mapping, progress_bar, report_to, use_threads
    from ecorche.cli.subject import (
        line_notes,
        read_subject,
        require_not_read,
        skin_notes,
        weights_found,
    )
    from ecorche.errors import WriteError
    from ecorche.io.formats import WriteOptions, module_for, write_take

    require_folder(output)
    module_for(output, "write_take", WriteError)
    if usd_clips and output.suffix.lower() not in (".usd", ".usda", ".usdc"):
        raise WriteError("only USD has clips", where="--usd-clips", remedy="Write .usdc or .usda")
    if with_muscles:
        _require_room_for_muscles(output, usd_as, without_muscles)
    job = farm_job(split, part, stitch)
    use_threads(threads)
    kept = frame_range(frames)
    names, motion_names = joint_mapping(mapping), joint_mapping(motion_mapping)
    subject = read_subject(character)
    require_not_read(output, subject.character, motion)
    results = GivenResults(model, coordinates, activations, muscle_map)
    moves = what_moves(subject, motion, clip, activation, results, without_muscles=without_muscles)
    rig = require_rig_for(coupling, subject.rig, without_muscles)
    rig = None if rig is None else with_coupling(rig, coupling, subject.character)
    performance = perform(
        subject.character,
        moves.motion,
        feet=feet.value,
        rate=rate,
        frames=kept,
        rig=rig,
        limits=limits or None,
        skinning=None if skinning is None else skinning.value,
        mapping=names,
        source_mapping=motion_names or moves.mapping,
        muscles=not without_muscles,
        activation=moves.activation,
        dynamics=dynamics.value,
        preroll=preroll,
        samples=samples,
    )
    take = performance.take
    if device is not Processor.cpu:
        from ecorche.gpu.choice import played_on

        take = played_on(take, device.value)
    beneath: tuple[str, ...] = ()
    if with_muscles:
        from ecorche.body.muscle_meshes import with_muscle_meshes

        take, beneath = with_muscle_meshes(take)
    if not without_muscles:
        from ecorche.body.finer_skin import with_finer_skin

        take = with_finer_skin(take)
    options = WriteOptions(
        usd_as=usd_as.value,
        morph_targets=morph_targets,
        mesh=mesh or subject.body,
        tangents=tangents,
        usd_clips=usd_clips,
    )
    started = time.perf_counter()
    if job is not None and not job.stitch:
        job.run(output, take, kept, quiet)
        return
    stitching: tuple[str, ...] = ()
    if job is not None:
        take, stitching = job.stitched(output, take, kept)
    with progress_bar() as bar:
        shown, put_away = report_to(bar), list[int]()

        def told(stage: str, done: int, total: int) -> None:
            if stage == "anew":
                put_away.append(done)
            else:
                shown(stage, done, total)

        if job is None:
            written = bake_take(output, take, lambda path, take: write_take(path, take, options), told)
        else:
            written = write_take(output, take, options)
            job.clear(output)
    seconds = time.perf_counter() - started
    notes: tuple[str, ...] = (
        *stitching,
        *weights_found(subject.character),
        *line_notes(performance.take),
        *skin_notes(performance.take),
    )
    if preroll and dynamics is Swing.off:
        notes += ("nothing swings, so before its first frame the motion is only told otherwise to filters",)
    for note in notes:
        typer.echo(f"note: {note}")
    for count in put_away:
        left = counted(count, "frame")
        typer.echo(f"note: {left} of an interrupted bake with other settings could not be used: begun anew")
    if quiet:
        return
    if subject.character.notes:
        noted = counted(len(subject.character.notes), "note")
        typer.echo(f"note: reading gave {noted}; see them with: ecorche info {character or ''}".rstrip())
    if subject.rig is None and character is not None and character.with_suffix(".ecorche").exists():
        beside = character.with_suffix(".ecorche")
        typer.echo(f"note: skinned without muscles; its rig lies beside it: ecorche bake {beside} …")
    for note in (*moves.notes, *beneath):
        typer.echo(f"note: {note}")
    for report in (performance.retargeting, performance.limits):
        if report is not None:
            typer.echo(str(report))
    for note in written.notes:
        typer.echo(f"note: {note}")
    if isinstance(performance.take.frames, LiveFrames):
        for worn in worn_through(performance.take.frames):
            typer.echo(f"cover: {worn}")
    count = len(performance.take.frames or ())
    typer.echo(
        f"{output}: {counted(count, 'frame')} in {seconds:.2f} s"
        + (f" ({count / max(seconds, 1e-9):.0f} frames/s)" if count > 1 else "")
    )


def _require_room_for_muscles(output: Path, usd_as: UsdAs, without: bool) -> None:
    """Refuse files that cannot hold meshes that move point by point beside the skin."""
    from ecorche.errors import EcorcheError

    suffix = output.suffix.lower()
    if without:
        remedy = "Leave out --without-muscles"
    elif suffix not in (".usd", ".usda", ".usdc", ".usdz", ".npz", ".abc"):
        remedy = "Write .usdc, .abc or .npz"
    elif suffix not in (".npz", ".abc") and usd_as is not UsdAs.points:
        remedy = "Leave out --usd-as: muscles are written as points"
    else:
        return
    raise EcorcheError("there is no room for muscles", where="--with-muscles", remedy=remedy)
