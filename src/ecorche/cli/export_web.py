"""`ecorche export --web`: a rig as a page whose muscles play in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import typer

from ecorche.errors import DocumentError


class WebExport(NamedTuple):
    """What was asked for.

    Attributes:
        folder: For the page.
        motions: Files; none takes the character's own clips, and where it has none, the bind pose.
        clip: Only this one, where a file has several.
        feet, frames, rate, activation: As for any export.
        crowd: So many figures.
    """

    folder: Path
    motions: tuple[Path, ...]
    clip: str | None
    feet: str
    frames: str | None
    rate: float | None
    activation: str | None
    crowd: int


def export_web(rig: Path | None, asked: WebExport, quiet: bool) -> None:
    """Write the page, and say what it shows."""
    from ecorche.body.compile import compile_body
    from ecorche.body.perform import perform
    from ecorche.body.vertex_program import vertex_program
    from ecorche.cli.activation import activation_source
    from ecorche.cli.export import export_clips, played_motion, require_clips
    from ecorche.cli.options import counted, frame_range
    from ecorche.cli.subject import read_subject, require_not_read
    from ecorche.skeleton.motion import bind_pose
    from ecorche.web.carried import Clip
    from ecorche.web.page import FIGURE, PAGE, require_page_folder, write_page

    require_page_folder(asked.folder)
    subject = read_subject(rig)
    if subject.rig is None:
        raise DocumentError(
            "is a character without muscles", where=rig, remedy="Make a rig first: ecorche rig CHARACTER"
        )
    character = subject.character
    for motion in asked.motions or (None,):
        require_not_read(asked.folder / FIGURE, character, motion)
    source = activation_source(asked.activation, subject)
    # what cannot be played is refused before motions are read
    program = vertex_program(compile_body(character, rig=subject.rig, activation=source))
    motions = [one for file in asked.motions or (None,) for one in export_clips(character, file, asked.clip)]
    require_clips(motions, {"--frames": asked.frames, "--rate": asked.rate})
    kept = frame_range(asked.frames)
    performances = [
        perform(
            character,
            one,
            feet=asked.feet,
            rate=asked.rate,
            frames=kept,
            rig=subject.rig,
            activation=source,
        )
        for one in motions or [bind_pose(character.skeleton)]
    ]
    clips = [Clip(*played_motion(performance)) for performance in performances]
    notes = write_page(asked.folder, program, clips, crowd=asked.crowd)
    if quiet:
        return
    for performance in performances:
        if performance.retargeting is not None:
            typer.echo(str(performance.retargeting))
    for note in notes:
        typer.echo(f"note: {note}")
    if not motions:
        typer.echo("note: there is no motion: the page shows the bind pose; --motion FILE adds some")
    typer.echo(
        f"{asked.folder / PAGE}: {counted(program.muscle_count, 'muscle')}, {counted(len(clips), 'clip')},"
        f" {counted(asked.crowd, 'figure')} in a crowd; open it in a browser with WebGPU"
    )
