"""`ecorche render`: a film, a picture or a contact sheet."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer


class View(StrEnum):
    """Where the camera stands."""

    three_quarter = "three_quarter"
    front = "front"
    side = "side"
    back = "back"


def render(
    file: Path = typer.Argument(help="A baked take, a character or a rig: .usdc, .glb, .ecorche, …"),
    output: Path = typer.Option(..., "-o", "--output", help="A film (.mp4, .gif) or a picture (.png)."),
    frame: int | None = typer.Option(None, help="For a picture: which frame, from 0; -1 is the last."),
    sheet: int | None = typer.Option(
        None, min=2, max=400, help="For a picture: a contact sheet of that many frames."
    ),
    view: View = typer.Option(View.three_quarter, metavar="VIEW", help="three_quarter, front, side or back."),
    size: str | None = typer.Option(
        None, help="Pixels, such as 1280x720; on a sheet, of each picture. Default: what suits the subject."
    ),
    clip: str | None = typer.Option(None, help="Which clip, where the file has several."),
    skeleton: bool = typer.Option(False, "--skeleton", help="Draw the bones over the skin."),
) -> None:
    """Draw a take: a film as .mp4 or .gif, one frame or a contact sheet as .png.

    The frames are those baked into the file, else its clip, else the bind pose.
    """
    from ecorche.base.files import require_folder
    from ecorche.body.perform import perform
    from ecorche.cli.options import picture_size, progress_bar, report_to
    from ecorche.cli.subject import clip_note, read_subject, subject_motion
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
    require_folder(output)
    pixels = None if size is None else picture_size(size)
    subject = read_subject(file)
    motion = subject_motion(subject.character, None, clip)
    take = perform(
        subject.character,
        motion,
        rig=subject.rig,
    ).take
    from ecorche.render.pictures import render_contact_sheet, render_film, render_picture

    with progress_bar() as bar:
        told = report_to(bar)
        if sheet is not None:
            render_contact_sheet(
                output, take, frames=sheet, size=pixels, view=view.value, skeleton=skeleton, progress=told
            )
        elif suffix == ".png":
            render_picture(output, take, frame=frame or 0, size=pixels, view=view.value, skeleton=skeleton)
        else:
            render_film(
                output, take, size=pixels or (1280, 720), view=view.value, skeleton=skeleton, progress=told
            )
    for note in clip_note(subject.character, motion, clip):
        typer.echo(f"note: {note}")
    typer.echo(str(output))
