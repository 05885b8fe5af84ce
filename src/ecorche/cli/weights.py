"""`ecorche weights`: see, paint and take back which skin a muscle moves."""

from __future__ import annotations

from pathlib import Path

import typer


def weights(
    rig: Path = typer.Argument(help="A rig (.ecorche)."),
    muscle: str = typer.Argument(help="A muscle's name, as `ecorche info RIG` lists it."),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="Write its weights: .npy, .csv, or a character file with an attribute."
    ),
    painted: Path | None = typer.Option(
        None,
        "--from",
        help="Take painted weights: .npy, .csv, or a glTF or USD file with an attribute.",
    ),
    attribute: str | None = typer.Option(
        None, help="The attribute's name; default: the one this command writes."
    ),
    found: bool = typer.Option(False, "--found", help="Forget painted weights; they are found again."),
) -> None:
    """Show, write, paint or forget a muscle's weights on the skin; painted ones are kept in the rig."""
    from ecorche.body.compile import compile_body
    from ecorche.body.muscle_summary import skin_moved_by
    from ecorche.body.painting import (
        attribute_name,
        painted_on,
        require_weights,
        with_attribute,
        with_weights,
        without_weights,
    )
    from ecorche.body.take import Take
    from ecorche.cli.options import counted
    from ecorche.cli.subject import character_in, read_subject
    from ecorche.document.files import write_rig
    from ecorche.errors import EcorcheError
    from ecorche.io.formats import write_take
    from ecorche.io.masks import SUFFIXES, read_mask, write_mask

    if sum((output is not None, painted is not None, found)) > 1:
        raise EcorcheError("-o, --from and --found exclude each other", remedy="Give one of them")
    subject = read_subject(rig)
    if subject.rig is None:
        raise EcorcheError(
            "is no rig", where=rig, remedy="Make one: ecorche rig CHARACTER, and give the .ecorche file"
        )
    name = attribute or attribute_name(muscle)
    body = subject.character.body(subject.rig.spec.body)
    if found:
        write_rig(rig, without_weights(subject.rig, muscle))
        typer.echo(f"{rig}: the weights of {muscle!r} are found again")
        return
    if painted is not None:
        if painted.suffix.lower() in SUFFIXES:
            values, note = read_mask(painted, body.mesh.vertex_count), ""
            require_weights(values, painted)
        else:
            brought = painted_on(character_in(painted), name, subject.rig.bind.mesh(body.name))
            values, note = brought.weights, brought.note
        write_rig(rig, with_weights(subject.rig, muscle, values, about=f"painted in {painted.name}"))
        if note:
            typer.echo(f"note: {note}")
        typer.echo(f"{rig}: {muscle!r} moves {counted(int((values > 0.0).sum()), 'vertex')} as painted")
        return
    without_weights(subject.rig, muscle)  # refuses a muscle the rig does not have
    painted_map = next(m.influence.painted for (*_, n), m in subject.rig.spec.muscles.each() if n == muscle)
    values = skin_moved_by(compile_body(subject.character, rig=subject.rig), muscle)
    if output is None:
        typer.echo(
            f"{muscle!r} moves {int((values > 0.0).sum()):,} of {len(values):,} vertices,"
            f" weights up to {values.max():.2f}" + (" (painted)" if painted_map is not None else "")
        )
    elif output.suffix.lower() in SUFFIXES:
        write_mask(output, values)
        typer.echo(f"{output}: weights of {muscle!r}")
    else:
        shown = with_attribute(subject.character, body.name, name, values)
        for note in write_take(output, Take(shown)).notes:
            typer.echo(f"note: {note}")
        typer.echo(
            f"{output}: paint the attribute {name!r}, then: ecorche weights {rig} {muscle!r} --from {output}"
        )
