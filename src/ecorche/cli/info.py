"""`ecorche info`: what is in a character file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.table import Table


def info(
    file: Path = typer.Argument(help="A character (glTF, USD, X3D, MJCF) or a rig (.ecorche)."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for programs."),
    mapping: Path | None = typer.Option(None, help="JSON of joint names to H-Anim names."),
) -> None:
    """Show a character's joints by canonical name, meshes, weights, size, units and problems."""
    from ecorche.body.summary import summarise
    from ecorche.cli.options import joint_mapping
    from ecorche.cli.subject import read_subject

    names = joint_mapping(mapping)
    subject = read_subject(file)
    summary = summarise(subject.character, names or subject.mapping)
    if as_json:
        typer.echo(json.dumps(summary.as_dict(), indent=2, ensure_ascii=False))
        return

    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(width=200, highlight=False)  # a file or a pipe has no edge to fit
    with console.capture() as text:
        console.print(f"[bold]{escape(file.name)}[/]  {summary.size_text}, {summary.units_text}")
        meshes = _table("mesh", "influences", counts=("vertices", "faces", "morphs", "materials"))
        for mesh in summary.meshes:
            meshes.add_row(
                escape(f"{mesh.name} (body)" if mesh.is_body else mesh.name),
                mesh.influences,
                f"{mesh.vertices:,}",
                f"{mesh.faces:,}",
                str(mesh.morphs),
                str(mesh.materials),
            )
        console.print(meshes)
        console.print(f"\n{len(summary.joints)} joints, names: {summary.convention}")
        joints = _table("joint", "canonical", "role", counts=("vertices",))
        for joint in summary.joints:
            joints.add_row(
                escape("  " * joint.depth + joint.name),
                joint.canonical or "–",
                joint.role,
                f"{joint.vertices:,}",
            )
        console.print(joints)
        if summary.baked_frames:
            console.print(f"baked skin: {summary.baked_frames} frames")
        for motion in summary.motions:
            console.print(escape(f"motion {motion.name!r}: {motion.frames} frames, {motion.seconds:.2f} s"))
        for line in summary.notes:
            console.print(f"note: {escape(line)}")
        for line in summary.problems:
            console.print(f"[yellow]problem:[/] {escape(line)}")
    typer.echo(text.get(), nl=False)


def _table(*words: str, counts: tuple[str, ...]) -> Table:
    """Columns of words and of numbers; on a narrow terminal words go on in the next line, none is cut."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for word in words:
        table.add_column(word, overflow="fold")
    for count in counts:
        table.add_column(count, justify="right", overflow="fold")
    return table
