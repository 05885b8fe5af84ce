"""`ecorche muscles`: list the muscles of a rig and edit them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    from ecorche.body.character import Character
    from ecorche.body.edited_rig import Edited
    from ecorche.document.files import Rig


def muscles(
    rig: Path = typer.Argument(help="A rig (.ecorche)."),
    remove: list[str] = typer.Option([], metavar="NAME", help="Take a muscle out; again for more."),
    keep: int | None = typer.Option(
        None, min=0, help="Keep this many of those found in the skin: by prominence times length."
    ),
    merge: tuple[str, str] | None = typer.Option(
        None, metavar="NAME NAME", help="Make two found muscles one that covers both."
    ),
    as_name: str | None = typer.Option(None, "--as", metavar="NAME", help="--merge: the new muscle's name."),
    mark: Path | None = typer.Option(
        None, metavar="MASK", help="Find a muscle where the skin is marked: .npy, .csv, or a painted file."
    ),
    attribute: str | None = typer.Option(None, help="--mark: the painted attribute's name; default: muscle."),
    name: str | None = typer.Option(None, help="--mark: the new muscle's name."),
    add: str | None = typer.Option(None, metavar="NAME", help="Draw a plain muscle under the skin."),
    between: tuple[str, str] | None = typer.Option(
        None, metavar="JOINT JOINT", help="--add: the joints whose bones it is attached to."
    ),
    radius: float | None = typer.Option(None, metavar="METRES", help="--add: of its thickest section."),
    towards: str | None = typer.Option(
        None, metavar="X,Y,Z", help="--add: the side it lies on, in world axes; default: the nearest skin."
    ),
    resize: tuple[str, float] | None = typer.Option(
        None, metavar="NAME FACTOR", help="Make a muscle so many times as thick."
    ),
    move_end: tuple[str, str, str] | None = typer.Option(
        None, metavar="NAME END JOINT", help="Attach the origin or insertion to another bone."
    ),
    mirror: list[str] = typer.Option(
        [], metavar="NAME", help="Put a muscle on the other side as it is on its own; again for more."
    ),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Write the edited rig there; default: in its place."
    ),
) -> None:
    """List a rig's muscles, or edit them: one edit at a time, the rig is written whole.

    Shapes, sizes and ends can as well be edited in the file itself.
    """
    from ecorche.body import edit_muscles as edit
    from ecorche.cli.subject import read_rigged
    from ecorche.document.files import require_rig_name, write_rig
    from ecorche.errors import WriteError

    edits = {
        "--remove": bool(remove),
        "--keep": keep is not None,
        "--merge": merge is not None,
        "--mark": mark is not None,
        "--add": add is not None,
        "--resize": resize is not None,
        "--move-end": move_end is not None,
        "--mirror": bool(mirror),
    }
    asked = [option for option, given in edits.items() if given]
    if len(asked) > 1:
        raise EcorcheError(f"{', '.join(asked)} are several edits", remedy="Give one at a time")
    for owner, option, given in (
        ("--merge", "--as", as_name),
        ("--mark", "--name", name),
        ("--mark", "--attribute", attribute),
        ("--add", "--between", between),
        ("--add", "--radius", radius),
        ("--add", "--towards", towards),
    ):
        if given is not None and asked != [owner]:
            raise EcorcheError(f"{option} belongs to {owner}", remedy=f"Give {owner} too, or leave it out")
    if output is not None:
        if not asked:
            raise EcorcheError("-o without an edit writes nothing new", remedy="Give an edit")
        require_rig_name(output, WriteError)
        if output.exists() and not (rig.exists() and output.samefile(rig)):
            raise WriteError(
                "is there already, and may hold edits", where=output, remedy="Give another name with -o"
            )
    character, held = read_rigged(rig)
    if remove:
        edited = edit.removed(held, remove)
    elif keep is not None:
        edited = edit.kept(held, character, keep)
    elif merge is not None:
        edited = edit.merged(held, character, *merge, as_name)
    elif mark is not None:
        edited = _marked(character, held, mark, attribute or "muscle", name)
    elif add is not None:
        if between is None or radius is None:
            raise EcorcheError(
                "--add needs to know where and how thick", remedy="Give --between JOINT JOINT --radius METRES"
            )
        edited = edit.added(held, character, add, between, radius, _direction(towards))
    elif resize is not None:
        edited = edit.resized(held, character, *resize)
    elif move_end is not None:
        of, end, joint = move_end
        edited = edit.moved_end(held, character, of, end, joint)
    elif mirror:
        from ecorche.body.mirror_muscles import mirrored

        edited = mirrored(held, character, mirror)
    else:
        _list(character, held)
        return
    target = output or rig
    write_rig(target, _beside(edited.rig, rig, target))
    for line in edited.lines:
        typer.echo(line)
    count = edited.rig.spec.muscles.count
    typer.echo(f"{target}: {count} muscles")


def _beside(rig: Rig, source: Path, target: Path) -> Rig:
    """The rig naming its character from where it is written to."""
    if target.parent.resolve() == source.parent.resolve():
        return rig
    from dataclasses import replace

    from ecorche.body.rig import relative_path

    path = relative_path(source.parent / rig.spec.character.path, target)
    reference = rig.spec.character.model_copy(update={"path": path})
    return replace(rig, spec=rig.spec.model_copy(update={"character": reference}))


def _marked(character: Character, rig: Rig, mark: Path, attribute: str, name: str | None) -> Edited:
    """The rig with a muscle in the region that a mask file, or an attribute of a character file, marks."""
    from dataclasses import replace

    from ecorche.body.edit_muscles import marked
    from ecorche.cli.painted import painted_in

    if name is None:
        raise EcorcheError("the new muscle has no name", where="--mark", remedy="Give it one: --name NAME")
    painted = painted_in(mark, attribute, character, rig)
    edited = marked(rig, character, painted.weights, name)
    return replace(edited, lines=(*edited.lines, f"note: {painted.note}")) if painted.note else edited


def _direction(text: str | None) -> list[float] | None:
    """``"0,0,1"`` as its numbers."""
    if text is None:
        return None
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 3:
        raise EcorcheError(f"{text!r} is no direction", where="--towards", remedy="Write it as 0,0,1")
    return numbers


def _list(character: Character, rig: Rig) -> None:
    """Every muscle, one a row: what it is, where it is attached, how long and thick it is."""
    from ecorche.cli.tables import text_console, text_table

    spec = rig.spec.muscles
    if spec.lines:
        typer.echo(f"{len(spec.lines)} muscles on action lines; list them: ecorche info {rig.source}")
    if not next(spec.each(), None):
        if not spec.lines:
            typer.echo(f"{rig.source}: no muscles")
        return
    console = text_console()
    with console.capture() as text:
        for kind, rows in (
            ("muscles", _named_rows(character, rig)),
            ("found in the skin", _found_rows(character, rig)),
        ):
            if not rows:
                continue
            console.print(f"{len(rows)} {kind}")
            table = text_table(
                "muscle", "lies there" if kind != "muscles" else "part of", "group", "from", "to",
                counts=("length mm", "half-axes mm", *(("stands out mm",) if kind != "muscles" else ())),
            )  # fmt: skip
            for row in rows:
                table.add_row(*row)
            console.print(table)
    typer.echo(text.get(), nl=False)


def _found_rows(character: Character, rig: Rig) -> list[list[str]]:
    from ecorche.body.lofted_specs import lofted_muscles_of
    from ecorche.muscles.root_curves import root_curves

    skeleton = character.skeleton
    found = lofted_muscles_of(rig, skeleton)
    if not found:
        return []
    lengths = root_curves(found, skeleton.joint_count).bind.lengths
    rows = []
    for muscle, length in zip(found, lengths, strict=True):
        axes = muscle.rings.half_axes[int(muscle.rings.half_axes.prod(axis=1).argmax())]
        row = _row(
            (muscle.name, "" if muscle.muscle == muscle.name else muscle.muscle, muscle.group),
            [skeleton.names[j] for j in muscle.joints],
            float(length),
            [float(a) for a in axes],
        )
        rows.append([*row, f"{1e3 * muscle.prominence:.1f}" if muscle.prominence else "–"])
    return rows


def _named_rows(character: Character, rig: Rig) -> list[list[str]]:
    import numpy as np

    from ecorche.body.muscle_specs import muscles_of

    muscles, _ = muscles_of(rig, character.skeleton)
    return [
        _row(
            (muscle.name, "" if muscle.muscle == muscle.name else muscle.muscle, muscle.group),
            [spec.path[0].joint, spec.path[-1].joint],
            float(np.linalg.norm(np.diff(muscle.positions, axis=0), axis=1).sum()),
            [float(muscle.scale * muscle.thickness[0, 3]), float(muscle.thickness[0, 3])],
        )
        for muscle, spec in zip(muscles, rig.spec.muscles.named.values(), strict=True)
    ]


def _row(words: tuple[str, str, str], ends: list[str], length: float, axes: list[float]) -> list[str]:
    from rich.markup import escape

    return [
        *(escape(word) for word in (*words, *ends)),
        f"{1e3 * length:.0f}",
        " × ".join(f"{1e3 * a:.0f}" for a in axes),
    ]
