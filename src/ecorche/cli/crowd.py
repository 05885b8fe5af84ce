"""`ecorche crowd`: one character many times, as a film, a picture or USD."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.cli.bake import Feet
from ecorche.cli.options import DEVICE, Processor
from ecorche.errors import EcorcheError, WriteError

if TYPE_CHECKING:
    from ecorche.body.crowd import Crowd
    from ecorche.body.lod import Level
    from ecorche.render.crowd_pictures import CrowdShots, CrowdTimes

FILMS, USD = (".mp4", ".gif"), (".usd", ".usda", ".usdc", ".usdz")
OF_PICTURES = "--no-fade --view --camera --size --device"
OF_FILMS = "--seconds --rate"
OF_USD = "--influences --joints-per-muscle --no-instances"
FEWER = "Give fewer, or a character with fewer vertices"


class View(StrEnum):
    """Sides to look from."""

    three_quarter = "three_quarter"
    front = "front"
    side = "side"
    back = "back"


class Stand(StrEnum):
    """Where the camera stands."""

    whole = "whole"
    eye = "eye"


def crowd(
    context: typer.Context,
    rig: Path = typer.Argument(..., help="A rig (.ecorche): whose muscles and skin everybody has."),
    motions: Path = typer.Option(
        ...,
        "--motions",
        help="A folder of motions: BVH, glTF, USD, X3D, FBX (through Blender), .pose;"
        " its own folders are left.",
    ),
    output: Path = typer.Option(
        ..., "-o", "--output", help="A film (.mp4, .gif), a picture (.png), or UsdSkel instances (.usdc, …)."
    ),
    count: int = typer.Option(100, help="How many."),
    seed: int = typer.Option(0, help="Of all that is drawn: the same seed, the same crowd."),
    body_types: int = typer.Option(4, help="How many body types, 1 to 8; the first is the character's own."),
    seconds: float = typer.Option(4.0, help="How long."),
    rate: float = typer.Option(30.0, help="Frames a second."),
    in_place: bool = typer.Option(
        False, "--in-place", help="Stay in place, clips mixed; else everybody travels along a lane."
    ),
    feet: Feet = typer.Option(Feet.directions, help="Keep limb directions, or keep the feet planted."),
    lod: list[str] = typer.Option(
        [], "--lod", metavar="FILE@METRES", help="A coarser mesh on the same joints, from so far away on."
    ),
    no_fade: bool = typer.Option(
        False, "--no-fade", help="Show muscles even where they move skin by less than a pixel."
    ),
    view: View = typer.Option(View.three_quarter, help="The side to look from."),
    camera: Stand = typer.Option(Stand.whole, help="See everybody, or stand at eye level by the first row."),
    size: str | None = typer.Option(None, help="Pixels, such as 1280x720; on a sheet, of each picture."),
    sheet: int | None = typer.Option(
        None, min=2, max=100, help="For a picture: a contact sheet of that many moments."
    ),
    moment: float | None = typer.Option(None, "--time", min=0.0, help="For a picture: when, in seconds."),
    device: Processor = DEVICE,
    influences: int = typer.Option(8, min=1, max=64, help="USD: at most so many joints a vertex."),
    joints_per_muscle: int | None = typer.Option(
        None, min=1, max=16, help="USD: at most so many joints along a muscle on each limb."
    ),
    no_instances: bool = typer.Option(
        False, "--no-instances", help="USD: references without instancing, for programs such as Blender."
    ),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Fill a place with one character: everybody with a motion, phase, pace and body type of their own.

    A film or a picture shows skin over muscles; those too far away to be seen fade. A USD file holds a
    UsdSkel character of each body type, its muscles as joints, and an instance of it for everybody.
    """
    import time

    from ecorche.base.files import require_folder
    from ecorche.base.memory import require_memory
    from ecorche.body.crowd import BYTES_A_VERTEX, make_crowd
    from ecorche.cli.options import counted, picture_size, refuse_unused, working
    from ecorche.cli.subject import read_rigged, require_not_read
    from ecorche.io.motion_folder import may_move, read_motion_folder

    suffix = output.suffix.lower()
    _refuse_impossible(suffix, output, lod, sheet, moment)
    if suffix in USD:
        refuse_unused(context, OF_PICTURES, "a USD file has no picture for it", "Leave it out")
    else:
        refuse_unused(context, OF_USD, "is of a USD file", "Leave it out, or write .usdc")
    if suffix == ".png":
        of_films = OF_FILMS if sheet is None else "--rate"
        refuse_unused(context, of_films, "is of a film", "Leave it out, or write .mp4")
    if count < 1:
        raise EcorcheError(f"a crowd of {count} is none", where="--count", remedy="Give 1 or more")
    require_folder(output)
    pixels = None if size is None else picture_size(size)
    files = [_lod_file(text) for text in lod]
    character, own = read_rigged(rig)
    moves = (file for file in (motions.iterdir() if motions.is_dir() else ()) if may_move(file))
    require_not_read(output, character, rig, *(file for file, _ in files), *moves)
    if suffix not in USD and not lod:
        # with coarser meshes it is told later, when it is known how many are far away
        vertices = sum(mesh.mesh.vertex_count for mesh in character.meshes)
        what = f"{count:,} members of {vertices:,} vertices"
        require_memory(count * vertices * BYTES_A_VERTEX, what, where="--count", remedy=FEWER)
    found = read_motion_folder(motions, character.skeleton)
    started = time.perf_counter()
    with working("making the crowd"):
        made = make_crowd(
            character,
            own,
            found.motions,
            count=count,
            body_types=body_types,
            seed=seed,
            travelling=not in_place,
            feet=feet.value,
        )
        levels = _levels(made, files)
    notes = [f"skipped {line}" for line in found.skipped]
    notes += [note for clip in made.clips for note in clip.notes]
    if suffix in USD:
        notes += _write(output, made, seconds, rate, influences, joints_per_muscle, not no_instances)
        told = counted(max(1, round(seconds * rate)), "frame")
    else:
        from ecorche.gpu.choice import open_evaluator
        from ecorche.render.crowd_pictures import CrowdShots

        on_device = partial(open_evaluator, device=device.value)
        shots = CrowdShots(made, levels, not no_fade, view.value, camera.value, on_device)
        times = _draw(output, shots, seconds, rate, pixels, sheet, moment)
        notes.append(str(times))
        told = counted(len(times.drawn), "picture")
    if quiet:
        return
    for clip in made.clips:
        loop, (first, last) = clip.loop, clip.loop.frames
        typer.echo(
            f"{loop.motion.name}: frames {first}-{last} in a loop of {loop.length:.2f} s,"
            f" {loop.speed:.2f} m/s, joined where poses are {1e3 * loop.gap:.0f} mm apart"
        )
    for note in notes:
        typer.echo(f"note: {note}")
    typer.echo(
        f"{output}: {counted(count, 'member')}, {counted(len(made.rigs), 'body type')},"
        f" {counted(len(made.clips), 'clip')}, {told} in {time.perf_counter() - started:.1f} s,"
        f" {output.stat().st_size / 1e6:.1f} MB"
    )


def _refuse_impossible(
    suffix: str, output: Path, lod: list[str], sheet: int | None, moment: float | None
) -> None:
    """Refuse what no file can be, before anything is read."""
    if suffix not in (*FILMS, ".png", *USD):
        raise WriteError(
            f"{suffix!r} is no film, picture or USD file",
            where=output,
            remedy="Use .mp4, .gif, .png or .usdc",
        )
    if lod and suffix in USD:
        raise EcorcheError(
            "a USD file has no camera that distances could be told from",
            where="--lod",
            remedy="Leave it out, or write a film or picture",
        )
    if (sheet is not None or moment is not None) and suffix != ".png":
        where = "--time" if sheet is None else "--sheet"
        raise EcorcheError("is of a picture", where=where, remedy="Write a .png")
    if sheet is not None and moment is not None:
        raise EcorcheError("a sheet shows many moments", where="--time", remedy="Leave one of the two out")


def _lod_file(text: str) -> tuple[Path, float]:
    """``FILE@METRES`` as its two parts."""
    file, _, metres = text.rpartition("@")
    try:
        beyond = float(metres)
    except ValueError:
        file = ""
    if not file:
        raise EcorcheError(
            f"{text!r} is no mesh with a distance", where="--lod", remedy="Write it as coarse.glb@15"
        )
    return Path(file), beyond


def _levels(crowd: Crowd, files: list[tuple[Path, float]]) -> list[Level]:
    from ecorche.body.lod import Level, lod_programs, require_distances
    from ecorche.cli.subject import character_in

    require_distances([beyond for _, beyond in files])
    return [
        Level(file.name, beyond, lod_programs(crowd.character, crowd.rigs, character_in(file)))
        for file, beyond in files
    ]


def _draw(
    output: Path,
    shots: CrowdShots,
    seconds: float,
    rate: float,
    pixels: tuple[int, int] | None,
    sheet: int | None,
    moment: float | None,
) -> CrowdTimes:
    from ecorche.cli.options import progress_bar, report_to
    from ecorche.render.crowd_pictures import (
        SHEET_SIZE,
        SIZE,
        render_crowd_film,
        render_crowd_picture,
        render_crowd_sheet,
    )

    with progress_bar() as bar:
        told = report_to(bar)
        if sheet is not None:
            return render_crowd_sheet(
                output, shots, frames=sheet, seconds=seconds, size=pixels or SHEET_SIZE, progress=told
            )
        if output.suffix.lower() == ".png":
            return render_crowd_picture(output, shots, time=moment or 0.0, size=pixels or SIZE)
        return render_crowd_film(
            output, shots, seconds=seconds, rate=rate, size=pixels or SIZE, progress=told
        )


def _write(
    output: Path,
    crowd: Crowd,
    seconds: float,
    rate: float,
    influences: int,
    joints_per_muscle: int | None,
    instanced: bool,
) -> list[str]:
    """Write UsdSkel characters; what a person should know of them."""
    from ecorche.base.memory import require_memory
    from ecorche.body.as_joints import not_as_joints
    from ecorche.body.crowd_frames import moments
    from ecorche.cli.options import progress_bar, report_to
    from ecorche.io.usd.write_crowd import animation_bytes, jointed_types, write_crowd

    times = moments(seconds, rate)
    jointed = jointed_types(crowd, influences=influences, joints_per_muscle=joints_per_muscle)
    what = f"{len(crowd):,} members in {len(times):,} frames"
    needed = 2 * animation_bytes(jointed, len(crowd), len(times))
    require_memory(needed, what, where="--count", remedy="Give fewer, or fewer seconds")
    with progress_bar() as bar:
        written = write_crowd(output, crowd, jointed, times, instanced=instanced, progress=report_to(bar))
    joints = jointed[0].character.skeleton.joint_count
    return [
        *written.notes,
        *not_as_joints(crowd.rigs[0]),
        f"everybody has {joints - crowd.skeleton.joint_count} muscle joints beside"
        f" {crowd.skeleton.joint_count} joints; `ecorche export` tells how near they come to the muscles",
    ]
