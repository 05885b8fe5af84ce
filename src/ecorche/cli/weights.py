"""`ecorche weights`: see, paint and take back which skin a muscle moves."""

from __future__ import annotations

from pathlib import Path

import typer


def weights(
    rig: Path = typer.Argument(
        metavar="RIG", help="A rig (.ecorche); or a character, to find its skin weights anew."
    ),
    muscle: str | None = typer.Argument(None, help="A muscle's name, as `ecorche info RIG` lists it."),
    output: Path | None = typer.Option(
        None,
        "-o",
        "--output",
        help="Write its weights: .npy, .csv, or a character file with an attribute; of a character, the file"
        " to make.",
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
    map_name: str | None = typer.Option(
        None, "--map", metavar="NAME", help="Instead of a muscle's: a map that fields of the rig may name."
    ),
) -> None:
    """Show, write, paint or forget a muscle's weights on the skin; painted ones are kept in the rig.

    With --map the same for a map of any name, which fat and coupling in the rig file may then name.

    `ecorche weights CHARACTER -o OUT.glb` writes a character whose skin weights are found anew, by heat from
    the bones that lie in it.
    """
    from ecorche.body.compile import compile_body
    from ecorche.body.muscle_summary import skin_moved_by
    from ecorche.body.painting import attribute_name, with_attribute, with_weights, without_weights
    from ecorche.body.take import Take
    from ecorche.cli.options import counted
    from ecorche.cli.painted import painted_in
    from ecorche.cli.subject import read_rigged, require_not_read
    from ecorche.document.files import write_rig
    from ecorche.errors import EcorcheError
    from ecorche.io.formats import write_take
    from ecorche.io.masks import SUFFIXES, write_mask

    if map_name is not None:
        _map(rig, map_name, muscle, output, painted, attribute, found)
        return
    if muscle is None:
        _found_anew(rig, output, alone=painted is None and attribute is None and not found)
        return
    if sum((output is not None, painted is not None, found)) > 1:
        raise EcorcheError("-o, --from and --found exclude each other", remedy="Give one of them")
    character, held = read_rigged(rig)
    name = attribute or attribute_name(muscle)
    if found:
        write_rig(rig, without_weights(held, muscle))
        typer.echo(f"{rig}: the weights of {muscle!r} are found again")
        return
    if painted is not None:
        brought = painted_in(painted, name, character, held)
        write_rig(rig, with_weights(held, muscle, brought.weights, about=f"painted in {painted.name}"))
        if brought.note:
            typer.echo(f"note: {brought.note}")
        moved = counted(int((brought.weights > 0.0).sum()), "vertex")
        typer.echo(f"{rig}: {muscle!r} moves {moved} as painted")
        return
    without_weights(held, muscle)  # refuses a muscle the rig does not have
    painted_map = next(m.influence.painted for (*_, n), m in held.spec.muscles.each() if n == muscle)
    if output is not None:
        require_not_read(output, character)
    values = skin_moved_by(compile_body(character, rig=held), muscle)
    if output is None:
        typer.echo(
            f"{muscle!r} moves {int((values > 0.0).sum()):,} of {len(values):,} vertices,"
            f" weights up to {values.max():.2f}" + (" (painted)" if painted_map is not None else "")
        )
    elif output.suffix.lower() in SUFFIXES:
        write_mask(output, values)
        typer.echo(f"{output}: weights of {muscle!r}")
    else:
        shown = with_attribute(character, character.body(held.spec.body).name, name, values)
        for note in write_take(output, Take(shown)).notes:
            typer.echo(f"note: {note}")
        typer.echo(
            f"{output}: paint the attribute {name!r}, then: ecorche weights {rig} {muscle!r} --from {output}"
        )


def _map(
    rig: Path,
    name: str,
    muscle: str | None,
    output: Path | None,
    painted: Path | None,
    attribute: str | None,
    forget: bool,
) -> None:
    """Show, write, paint or forget a map of a rig."""
    from ecorche.body.painting import map_values, with_attribute, with_map, without_map
    from ecorche.body.take import Take
    from ecorche.cli.options import counted
    from ecorche.cli.painted import painted_in
    from ecorche.cli.subject import read_rigged, require_not_read
    from ecorche.document.files import write_rig
    from ecorche.errors import EcorcheError
    from ecorche.io.formats import write_take
    from ecorche.io.masks import SUFFIXES, write_mask

    if sum((muscle is not None, output is not None, painted is not None, forget)) > 1:
        raise EcorcheError(
            "a muscle, -o, --from and --found exclude each other", where="--map", remedy="Give one of them"
        )
    character, held = read_rigged(rig)
    if painted is not None:
        brought = painted_in(painted, attribute or name, character, held)
        write_rig(rig, with_map(held, name, brought.weights, about=f"painted in {painted.name}"))
        if brought.note:
            typer.echo(f"note: {brought.note}")
        typer.echo(f"{rig}: the map {name!r} is there; name it in a field of coupling or fat")
        return
    if forget:
        write_rig(rig, without_map(held, name))
        typer.echo(f"{rig}: the map {name!r} is gone")
        return
    values = map_values(held, name)
    if output is None:
        above = counted(int((values > 0.0).sum()), "vertex")
        typer.echo(f"the map {name!r} is above 0 at {above} of {len(values):,}, up to {values.max():.2f}")
        return
    require_not_read(output, character)
    if output.suffix.lower() in SUFFIXES:
        write_mask(output, values)
    else:
        mesh = held.spec.maps[name].mesh
        for note in write_take(
            output, Take(with_attribute(character, mesh, attribute or name, values))
        ).notes:
            typer.echo(f"note: {note}")
    typer.echo(f"{output}: the map {name!r}")


def _found_anew(source: Path, output: Path | None, *, alone: bool) -> None:
    """Write a character with skin weights found by heat."""
    from ecorche.body.automatic_weights import reweighted
    from ecorche.body.take import recorded_take
    from ecorche.cli.subject import character_in, require_not_read
    from ecorche.errors import EcorcheError
    from ecorche.io.formats import write_take

    if source.suffix.lower() == ".ecorche":
        raise EcorcheError("which muscle?", where=source, remedy="Name one; `ecorche info RIG` lists them")
    if output is None or not alone:
        raise EcorcheError(
            "of a character all skin weights are found anew",
            where=source,
            remedy="Say where to write it: ecorche weights CHARACTER -o OUT.glb",
        )
    character = character_in(source)
    require_not_read(output, character)
    made = reweighted(character)
    for note in (made.notes[-1], *write_take(output, recorded_take(made)).notes):
        typer.echo(f"note: {note}")
    typer.echo(f"{output}: {made.name} with skin weights found by heat")
