"""`ecorche info`: what is in a character file or a rig."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.cli.tables import text_console, text_table
from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    from rich.table import Table

    from ecorche.body.muscle_summary import MusclesSummary, MuscleSummary
    from ecorche.cli.subject import Subject


def info(
    file: Path | None = typer.Argument(
        None,
        help="A character (glTF, USD, X3D, FBX, MJCF) or a rig (.ecorche); default: the built-in figure.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for programs."),
    mapping: Path | None = typer.Option(None, help="JSON of joint names to H-Anim names."),
    motion: Path | None = typer.Option(
        None,
        "-m",
        "--motion",
        help="Rigs: tell the muscles' lengths over this motion; default: over the joints' limits.",
    ),
    muscle: str | None = typer.Option(
        None, metavar="TEXT", help="Rigs: only the muscles with this in their name, muscle or group."
    ),
) -> None:
    """Show a character's joints by canonical name, meshes, weights, size, units and problems.

    Of a rig also its muscles: length and range, volume error, vertices moved, force; of those that are meshes
    their action lines and the bones they are attached to.
    """
    from ecorche.body.summary import summarise
    from ecorche.cli.options import joint_mapping
    from ecorche.cli.subject import read_subject

    names = joint_mapping(mapping)
    subject = read_subject(file)
    summary = summarise(subject.character, names or subject.mapping)
    muscles = _muscles(subject, motion, muscle)
    if as_json:
        told = summary.as_dict() | ({} if muscles is None else {"muscles": muscles.as_dict()})
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return

    from rich.markup import escape

    console = text_console()
    with console.capture() as text:
        name = "the built-in figure" if file is None else escape(file.name)
        console.print(f"[bold]{name}[/]  {summary.size_text}, {summary.units_text}")
        meshes = text_table("mesh", "influences", counts=("vertices", "faces", "morphs", "materials"))
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
        joints = text_table("joint", "canonical", "role", counts=("vertices",))
        for joint in summary.joints:
            joints.add_row(
                escape("  " * joint.depth + joint.name),
                joint.canonical or "–",
                joint.role,
                f"{joint.vertices:,}",
            )
        console.print(joints)
        if muscles is not None:
            for kind, rows in (
                ("muscles", [m for m in muscles.muscles if not m.found and not m.lines]),
                ("muscles found in the skin", [m for m in muscles.muscles if m.found]),
                ("muscles on action lines", [m for m in muscles.muscles if m.lines]),
            ):
                if rows:
                    console.print(f"\n{len(rows)} {kind}; ranges over {escape(muscles.over)}")
                    console.print(_line_table(rows) if rows[0].lines else _muscle_table(rows))
            for line in muscles.notes:
                console.print(f"note: {escape(line)}")
        if summary.baked_frames:
            console.print(f"baked skin: {summary.baked_frames} frames")
        for clip in summary.motions:
            console.print(escape(f"motion {clip.name!r}: {clip.frames} frames, {clip.seconds:.2f} s"))
        for line in summary.notes:
            console.print(f"note: {escape(line)}")
        for line in summary.problems:
            console.print(f"[yellow]problem:[/] {escape(line)}")
    typer.echo(text.get(), nl=False)


def _muscles(subject: Subject, motion: Path | None, about: str | None) -> MusclesSummary | None:
    """The muscles of a rig, over a motion where one is given, and only those asked for."""
    if subject.rig is None or subject.rig.spec.muscles.count == 0:
        for option, given, what in (
            ("--motion", motion, "whose lengths a motion could change"),
            ("--muscle", about, "to choose among"),
        ):
            if given is not None:
                raise EcorcheError(
                    f"there are no muscles {what}",
                    where=option,
                    remedy="Give a rig with muscles: ecorche rig CHARACTER makes one",
                )
        return None
    from ecorche.body.muscle_summary import summarise_muscles
    from ecorche.body.perform import perform
    from ecorche.cli.subject import subject_motion

    moved = None
    if motion is not None:
        read = subject_motion(subject.character, motion, None)
        moved = perform(subject.character, read, rig=subject.rig, muscles=False).take.motion
    summary = summarise_muscles(subject.character, subject.rig, moved)
    return summary if summary is None or about is None else summary.about(about)


def _line_table(muscles: Sequence[MuscleSummary]) -> Table:
    """A row a muscle that is a mesh: its bones, lines, length and range, and how well it keeps its volume."""
    from rich.markup import escape

    counts = ("lines", "length mm", "range", "volume cm³", "volume error", "vertices", "F_max N", "doubts")
    table = text_table("muscle", "origin → insertion", counts=counts)
    for m in muscles:
        table.add_row(
            escape(m.name),
            escape(m.attachments),
            str(m.lines),
            f"{1000.0 * m.length:.0f}",
            f"{1000.0 * m.shortest:.0f}–{1000.0 * m.longest:.0f}",
            f"{m.volume_cm3:.1f}" if m.volume_cm3 else "open",
            f"{100.0 * m.volume_error:.2f} %" + (f", held {100.0 * m.held:.0f} %" if m.held else ""),
            f"{m.vertices:,}",
            f"{m.max_force:.0f}",
            str(m.doubts or "–"),
        )
    return table


def _muscle_table(muscles: Sequence[MuscleSummary]) -> Table:
    """A row a muscle: its length and range, how well it keeps its volume, what it moves.

    Of muscles found in the skin also what lies there on a human, and how far they stand out.
    """
    from rich.markup import escape

    found = any(m.found for m in muscles)
    counts = ("length mm", "range", "volume cm³", "volume error", "vertices", "F_max N")
    table = text_table(
        "muscle",
        *(("lies there",) if found else ()),
        "group",
        counts=(*counts, "stands out mm") if found else counts,
    )
    for m in muscles:
        low, high = (100.0 * (length / m.length - 1.0) for length in (m.shortest, m.longest))
        table.add_row(
            escape(m.name),
            *((escape("" if m.muscle == m.name else m.muscle),) if found else ()),
            escape(m.group if m.gain == 1.0 else f"{m.group} ×{m.gain:g}"),
            f"{1000.0 * m.length:.0f}",
            f"{1000.0 * m.shortest:.0f}–{1000.0 * m.longest:.0f} ({low:+.0f} … {high:+.0f} %)",
            f"{m.volume_cm3:.1f}",
            f"{100.0 * m.volume_error:.2f} %" + (f", held {100.0 * m.held:.0f} %" if m.held else ""),
            f"{m.vertices:,}",
            f"{m.max_force:.0f}",
            *((f"{1000.0 * m.prominence:.1f}" if m.prominence else "–",) if found else ()),
        )
    return table
