"""`ecorche render`: a film, a picture or a sheet of pictures."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.cli.activation import ACTIVATION, WITHOUT_MUSCLES
from ecorche.cli.coupling import COUPLING, require_rig_for, with_coupling
from ecorche.cli.dynamics import DYNAMICS, PREROLL, Swing
from ecorche.cli.model_results import ACTIVATIONS, COORDINATES, MODEL, MUSCLE_MAP, GivenResults, what_moves

if TYPE_CHECKING:
    from ecorche.body.take import Take
    from ecorche.render.focus import Focus
    from ecorche.render.layers import Layers


class Colouring(StrEnum):
    """What the colours of muscles show."""

    tissue = "tissue"
    activation = "activation"
    muscle = "muscle"


def render(
    context: typer.Context,
    file: Path | None = typer.Argument(
        None,
        help="A baked take, a character or a rig: .usdc, .glb, .ecorche, …; default: the built-in figure.",
    ),
    output: Path = typer.Option(..., "-o", "--output", help="A film (.mp4, .gif) or a picture (.png)."),
    motion: Path | None = typer.Option(
        None,
        "-m",
        "--motion",
        help="BVH, glTF, USD, X3D, FBX (through Blender) or .pose; default:"
        " the file's own clip or cache, else bind.",
    ),
    clip: str | None = typer.Option(None, help="Which clip, where a file has several."),
    frame: int | None = typer.Option(None, help="For a picture: which frame, from 0; -1 is the last."),
    sheet: int | None = typer.Option(
        None, min=2, max=400, help="For a picture: a contact sheet of that many frames."
    ),
    layers: str | None = typer.Option(
        None,
        help="plain, muscles, result, difference, perimeter, superimposed, and of muscles found in the skin"
        " sections and ellipses; or several: a row each, of one view side by side. A rig's; else only"
        " plain, and perimeter.",
    ),
    view: str = typer.Option(
        "three_quarter",
        help="three_quarter, front, side or back, or several such as front,side: a column each.",
    ),
    size: str | None = typer.Option(
        None, help="Pixels, such as 1280x720; on a sheet, of each picture. Default: what suits the subject."
    ),
    focus: str | None = typer.Option(
        None, help="Look at a joint from near, such as r_elbow, or between several: r_shoulder,r_elbow."
    ),
    radius: float | None = typer.Option(None, help="How much is seen round the focus, in metres."),
    colour: Colouring = typer.Option(
        Colouring.tissue,
        metavar="BY",
        help="Colour muscles by tissue, by activation, or each muscle in its own.",
    ),
    scale: float | None = typer.Option(
        None,
        help="End of the colour bar of difference or perimeter, in millimetres. Default: all of it.",
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
    skeleton: bool = typer.Option(False, "--skeleton", help="Draw the bones over the skin."),
) -> None:
    """Draw a take: a film as .mp4 or .gif, one frame or a sheet of frames, layers and views as .png.

    The frames are those of the motion, else those baked into the file, else its clip, else the bind pose.
    """
    from ecorche.base.files import require_folder
    from ecorche.body.perform import perform
    from ecorche.cli.options import listed, picture_size, refuse_unused
    from ecorche.cli.subject import line_notes, read_subject, skin_notes
    from ecorche.errors import EcorcheError

    _refuse_impossible(output, frame, sheet)
    if radius is not None and focus is None:
        raise EcorcheError("there is no focus", where="--radius", remedy="Name a joint with --focus too")
    require_folder(output)
    pixels = None if size is None else picture_size(size)
    views, asked = listed(view, "--view"), None if layers is None else listed(layers, "--layers")
    if asked is None and len(views) == 1:
        refuse_unused(context, "--colour --scale", "no layer shows it", "Give --layers too, or leave it out")
    from ecorche.render.focus import Focus

    part = None if focus is None else Focus(listed(focus, "--focus"), radius)
    subject = read_subject(file)
    results = GivenResults(model, coordinates, activations, muscle_map)
    moves = what_moves(subject, motion, clip, activation, results, without_muscles=without_muscles)
    rig = require_rig_for(coupling, subject.rig, without_muscles)
    rig = None if rig is None else with_coupling(rig, coupling, subject.character)
    take = perform(
        subject.character,
        moves.motion,
        rig=rig,
        source_mapping=moves.mapping,
        muscles=not without_muscles,
        activation=moves.activation,
        dynamics=dynamics.value,
        preroll=preroll,
    ).take
    if asked is None and len(views) == 1:
        from ecorche.body.finer_skin import with_finer_skin

        skin = take if without_muscles else with_finer_skin(take)
        _draw_skin(output, skin, frame, sheet, views[0], pixels, part, skeleton)
    else:
        from ecorche.render.layers import Layers

        shown = Layers(take)
        if rig is not None and rig.spec.muscles.lofted:
            from ecorche.body.extract_muscles import found_in_skin

            shown = Layers(take, found=lambda: found_in_skin(subject.character, rig))
        _draw_layers(output, shown, asked, frame, sheet, views, pixels, part, colour, scale, skeleton)
    for note in (*moves.notes, *line_notes(take), *skin_notes(take)):
        typer.echo(f"note: {note}")
    typer.echo(str(output))


def _refuse_impossible(output: Path, frame: int | None, sheet: int | None) -> None:
    """Refuse what no picture or film can be, before anything is read."""
    from ecorche.errors import EcorcheError, WriteError

    suffix = output.suffix.lower()
    if suffix not in (".png", ".mp4", ".gif"):
        raise WriteError(f"{suffix!r} is no picture or film", where=output, remedy="Use .png, .mp4 or .gif")
    if frame is not None and (sheet is not None or suffix != ".png"):
        raise EcorcheError(
            "one frame makes one picture",
            where="--frame",
            remedy="Leave it out, or write a .png without --sheet",
        )
    if sheet is not None and suffix != ".png":
        raise EcorcheError("a contact sheet is a picture", where="--sheet", remedy="Write a .png")


def _draw_skin(
    output: Path,
    take: Take,
    frame: int | None,
    sheet: int | None,
    view: str,
    size: tuple[int, int] | None,
    focus: Focus | None,
    skeleton: bool,
) -> None:
    """The skin as it is, from one side."""
    from ecorche.cli.options import progress_bar, report_to
    from ecorche.render.pictures import render_contact_sheet, render_film, render_picture

    with progress_bar() as bar:
        told = report_to(bar)
        if sheet is not None:
            render_contact_sheet(
                output,
                take,
                frames=sheet,
                size=size,
                view=view,
                skeleton=skeleton,
                focus=focus,
                progress=told,
            )
        elif output.suffix.lower() == ".png":
            render_picture(
                output, take, frame=frame or 0, size=size, view=view, skeleton=skeleton, focus=focus
            )
        else:
            size = size or (1280, 720)
            render_film(output, take, size=size, view=view, skeleton=skeleton, focus=focus, progress=told)


def _draw_layers(
    output: Path,
    subject: Layers,
    layers: tuple[str, ...] | None,
    frame: int | None,
    sheet: int | None,
    views: tuple[str, ...],
    size: tuple[int, int] | None,
    focus: Focus | None,
    colour: Colouring,
    scale: float | None,
    skeleton: bool,
) -> None:
    """Layers in rows, views and moments in columns."""
    from ecorche.cli.options import progress_bar, report_to
    from ecorche.render.layer_sheet import render_layers
    from ecorche.render.shots import spread_frames

    with progress_bar() as bar:
        render_layers(
            output,
            subject,
            layers=layers or ("result" if "result" in subject.names else "plain",),
            views=views,
            frame=frame or 0 if sheet is None else spread_frames(subject.frames.times, sheet),
            size=size,
            focus=focus,
            colouring=colour.value,
            scale=scale,
            skeleton=skeleton,
            progress=report_to(bar),
        )
