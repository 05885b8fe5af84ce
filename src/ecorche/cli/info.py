"""`ecorche info`: what is in a character file."""

from __future__ import annotations

import json
from pathlib import Path

import typer


def info(
    file: Path = typer.Argument(help="A character: glTF, USD, X3D or MJCF."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for programs."),
    mapping: Path | None = typer.Option(None, help="JSON of joint names to H-Anim names."),
) -> None:
    """Show a character's joints by canonical name, meshes, weights, size, units and problems."""
    from ecorche.body.summary import summarise
    from ecorche.cli.options import joint_mapping
    from ecorche.io.formats import read_character

    summary = summarise(read_character(file), joint_mapping(mapping))
    if as_json:
        typer.echo(json.dumps(summary.as_dict(), indent=2, ensure_ascii=False))
        return

    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # a file or a pipe has no edge to fit
    console.print(f"[bold]{file.name}[/]  {summary.size_text}, {summary.units_text}")
    meshes = Table("mesh", "vertices", "faces", "influences", "morphs", "materials", box=None, pad_edge=False)
    for mesh in summary.meshes:
        meshes.add_row(
            f"{mesh.name} (body)" if mesh.is_body else mesh.name,
            f"{mesh.vertices:,}",
            f"{mesh.faces:,}",
            mesh.influences,
            str(mesh.morphs),
            str(mesh.materials),
        )
    console.print(meshes)
    console.print(f"\n{len(summary.joints)} joints, names: {summary.convention}")
    joints = Table("joint", "canonical", "role", "vertices", box=None, pad_edge=False)
    for joint in summary.joints:
        joints.add_row(
            "  " * joint.depth + joint.name, joint.canonical or "–", joint.role, f"{joint.vertices:,}"
        )
    console.print(joints)
    for motion in summary.motions:
        console.print(f"motion {motion.name!r}: {motion.frames} frames, {motion.seconds:.2f} s")
    for line in summary.notes:
        console.print(f"note: {line}", highlight=False)
    for line in summary.problems:
        console.print(f"[yellow]problem:[/] {line}", highlight=False)
