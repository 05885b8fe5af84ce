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
    file: Path = typer.Argument(help="A baked take or a character."),
    output: Path = typer.Option(..., "-o", "--output", help="A film (.mp4) or a picture (.png)."),
    frame: int | None = typer.Option(None, help="For a picture: which frame."),
    sheet: int | None = typer.Option(
        None, min=2, max=60, help="For a picture: a contact sheet of that many frames."
    ),
    view: View = typer.Option(View.three_quarter, help="Where the camera stands."),
    size: str = typer.Option("1280x720", help="Width x height in pixels."),
    clip: str | None = typer.Option(None, help="Which clip, where the file has several."),
    skeleton: bool = typer.Option(False, "--skeleton", help="Show the joints through the skin."),
) -> None:
    """Draw a take: a film as .mp4, one frame or a contact sheet as .png."""
    from ecorche.base.files import require_folder
    from ecorche.body.perform import perform
    from ecorche.cli.options import picture_size, progress_bar, report_to
    from ecorche.cli.subject import subject_motion
    from ecorche.errors import WriteError
    from ecorche.io.formats import read_character

    require_folder(output)
    pixels = picture_size(size)
    character = read_character(file)
    take = perform(character, subject_motion(character, None, clip)).take
    from ecorche.render.pictures import render_contact_sheet, render_film, render_picture

    suffix = output.suffix.lower()
    if suffix == ".png" and sheet is not None:
        render_contact_sheet(output, take, frames=sheet, view=view.value, skeleton=skeleton)
    elif suffix == ".png":
        render_picture(output, take, frame=frame or 0, size=pixels, view=view.value, skeleton=skeleton)
    elif suffix == ".mp4":
        with progress_bar() as bar:
            render_film(
                output, take, size=pixels, view=view.value, skeleton=skeleton, progress=report_to(bar)
            )
    else:
        raise WriteError(f"{suffix!r} is no picture or film", where=output, remedy="Use .mp4 or .png")
    typer.echo(str(output))
