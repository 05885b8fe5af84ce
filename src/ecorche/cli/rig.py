"""`ecorche rig`: a rig file for a character, with muscles under its skin."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

from ecorche.cli.coupling import COUPLING, with_coupling
from ecorche.errors import EcorcheError, WriteError


class Muscles(StrEnum):
    """Where a rig's muscles come from."""

    template = "template"
    extract = "extract"
    both = "template+extract"


class PathModel(StrEnum):
    """How action lines find their way."""

    admissible = "admissible"
    elastic = "elastic"


def rig(
    character: Path | None = typer.Argument(
        None,
        help="A character: glTF, USD, X3D, FBX or MJCF; default: the built-in figure,"
        " written beside the rig.",
    ),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="The rig file; default: beside the character."
    ),
    muscles: Muscles = typer.Option(
        Muscles.template,
        help="The anatomical ones; those that show in the skin, of any creature; or the anatomical ones"
        " adjusted to what the skin shows.",
    ),
    keep: int | None = typer.Option(
        None, min=1, help="Of the muscles found in the skin, keep this many: by prominence times length."
    ),
    without_muscles: bool = typer.Option(
        False, "--without-muscles", help="Joint names and skin only; any creature."
    ),
    gain: list[str] = typer.Option(
        [],
        "--gain",
        metavar="GROUP=NUMBER",
        help='How much of a group\'s effect is shown, such as "elbow flexors=1.5"; again for more groups.',
    ),
    template: Path | None = typer.Option(
        None,
        help="Take the muscles of this rig (.ecorche), human or creature, instead of the anatomical ones.",
    ),
    as_lines: PathModel | None = typer.Option(
        None,
        help="Make the anatomical muscles meshes on action lines: drawn tight over bones (admissible), or"
        " springs (elastic). They move the skin by --coupling fascia or height_field.",
    ),
    anatomy: Path | None = typer.Option(
        None,
        metavar="FOLDER",
        help="Take the muscles from meshes: a folder with muscles/, bones/ and perhaps sites/ in the"
        " character's frame and unit. The skin lies over them by --coupling fascia unless you say otherwise.",
    ),
    bulk: float | None = typer.Option(
        None, min=0.3, max=3.0, help="How muscular, 1 as modelled; the skin follows."
    ),
    fat: float | None = typer.Option(
        None, min=-1.0, max=3.0, help="How fat: 0 as modelled, -1 lean, 1 some 15 litres more on an adult."
    ),
    coupling: list[str] = COUPLING,
    joint_map: Path | None = typer.Option(
        None, help="JSON of the template's joint names to this character's, where names do not tell."
    ),
    mapping: Path | None = typer.Option(None, help="JSON of joint names to H-Anim names."),
) -> None:
    """Give a character muscles: writes the rig file (.ecorche) you edit and keep under version control.

    A humanoid gets the muscles of the anatomical template, fitted under its skin. Other creatures take
    those that show in their skin (--muscles extract), those of a rig (--template), meshes of muscles
    (--anatomy), or none (--without-muscles).
    """
    import time

    from ecorche.body.rig import create_rig
    from ecorche.cli.options import joint_mapping, working
    from ecorche.cli.subject import character_in, weights_found
    from ecorche.document.files import read_rig, require_rig_name, write_rig
    from ecorche.io.figure_file import figure_file

    target = output or (Path("figure.ecorche") if character is None else character.with_suffix(".ecorche"))
    require_rig_name(target, WriteError)
    if target.exists() and (character is None or character.suffix != ".ecorche"):
        named = "CHARACTER" if character is None else character.name
        raise WriteError(
            "is there already, and may hold edits",
            where=target,
            remedy=f"Fit it to a changed character: ecorche rebind {target.name} {named}."
            " Or give another name with -o",
        )
    gains = muscle_gains(gain)
    _require_no_contradiction(muscles, keep, without_muscles, bool(gain), template, joint_map)
    _require_anatomy_alone(
        anatomy,
        character,
        muscles is not Muscles.template or without_muscles or bool(gain or template or as_lines),
    )
    if as_lines is not None and (muscles is not Muscles.template or without_muscles):
        raise EcorcheError(
            "the options contradict each other",
            remedy="--as-lines changes the anatomical muscles: take --muscles template",
        )
    given = None if template is None else read_rig(template)
    started = time.perf_counter()
    names, figure = joint_mapping(mapping), None
    if character is None:
        figure = figure_file(target)
        character, subject = figure.path, figure.character
    else:
        subject = character_in(character)
    made = create_rig(subject, character, target, muscles=False, mapping=names)
    told = [f"note: {note}" for note in weights_found(subject)]
    if anatomy is not None:
        from ecorche.body.anatomy_rig import with_anatomy
        from ecorche.io.anatomy_folder import bones_of_character, read_anatomy_folder

        with working("reading the anatomy"):
            folder = read_anatomy_folder(anatomy, subject.up_axis, subject.metres_per_unit)
        with working(f"building {len(folder.muscles)} muscles on action lines"):
            made, built = with_anatomy(made, subject, folder, bones_of_character(subject), bulk=bulk or 1.0)
        told += built.told()
    elif muscles is not Muscles.extract and not without_muscles:
        from ecorche.body.place_muscles import (
            rig_placement,
            template_placement,
            with_manner_of,
            with_muscles,
        )
        from ecorche.skeleton.naming import recognise

        naming = recognise(subject.skeleton, names)
        if given is None:
            placement = template_placement(subject, naming)
        else:
            placement = rig_placement(given, subject, naming, joint_mapping(joint_map))
            made = with_manner_of(made, given)
            if given.spec.muscles.lofted:
                told.append(
                    f"not taken over, each skin shows its own: {len(given.spec.muscles.lofted)} muscles found"
                    f" in the skin of {given.spec.name!r}"
                )
            if given.spec.muscles.lines:
                told.append(
                    "not taken over, they are made for one body:"
                    f" {len(given.spec.muscles.lines)} muscles of {given.spec.name!r} on action lines"
                )
        with working("fitting muscles under the skin"):
            made, report = with_muscles(made, subject, placement, gains=gains)
        told += report.lines()
        if as_lines is not None:
            from ecorche.body.as_lines import as_lines as with_lines

            with working("giving the muscles meshes and action lines"):
                made, changed = with_lines(made, subject, as_lines.value, bulk=bulk or 1.0)
            told += changed.lines()
    if muscles is Muscles.extract and not without_muscles:
        from ecorche.body.extract_muscles import with_extracted_muscles

        with working("finding muscles in the skin"):
            made, found = with_extracted_muscles(made, subject, gains=gains, keep=keep)
        told += found.lines()
    elif muscles is Muscles.both and not without_muscles:
        from ecorche.body.adjust_template import with_adjusted_muscles

        with working("finding muscles in the skin"):
            made, adjusted = with_adjusted_muscles(made, subject, keep=keep)
        told += adjusted.lines()
    made = with_coupling(made, coupling, subject)
    if coupling:
        from ecorche.body.skin_state import skin_state

        skin = subject.body(made.spec.body)
        told += skin_state(skin.mesh.points, skin.mesh.triangles()).told(skin.name)
    if bulk is not None or fat is not None:
        from ecorche.body.body_type import shaped, with_type

        made = with_type(made, bulk=bulk, fat=fat)
        with working("giving the skin its shape"):
            told += shaped(subject, made).lines()
    if figure is not None:
        figure.write()
        typer.echo(f"{figure.path}: the built-in figure")
    spec = write_rig(target, made)
    for line in told:
        typer.echo(line)
    typer.echo(
        f"{target}: {len(spec.skeleton.mapping)} of {len(made.bind.joint_names)} joints have canonical names,"
        f" {spec.muscles.count} muscles,"
        f" {time.perf_counter() - started:.1f} s"
    )
    if spec.arrays is not None:
        typer.echo(f"{target.with_name(spec.arrays.file)}: its arrays; keep the two together")
    if spec.muscles.lofted:
        typer.echo(f"list, mark, merge or remove them: ecorche muscles {target}")
    if spec.muscles.lines:
        if spec.coupling.everywhere == "muscles":
            typer.echo("muscles that are meshes move the skin with --coupling fascia, here or in a bake")
        typer.echo(f"list them: ecorche info {target}")
    if spec.muscles.count:
        typer.echo(f"see it: ecorche render {target} --layers muscles -o {target.with_suffix('.png')}")
    typer.echo(f"move it: ecorche bake {target} --motion MOTION -o {target.with_suffix('.usdc')}")


def _require_no_contradiction(
    muscles: Muscles,
    keep: int | None,
    without_muscles: bool,
    gains: bool,
    template: Path | None,
    joint_map: Path | None,
) -> None:
    """Refuse options that exclude each other."""
    if without_muscles and (gains or template or keep is not None or muscles is not Muscles.template):
        remedy = "--without-muscles excludes --muscles, --keep, --gain and --template"
    elif joint_map and template is None:
        remedy = "--joint-map needs --template"
    elif template and muscles is Muscles.extract:
        remedy = "--template gives muscles of another rig: take --muscles template or template+extract"
    elif keep is not None and muscles is Muscles.template:
        remedy = "--keep chooses among muscles found in the skin: add --muscles extract or template+extract"
    else:
        return
    raise EcorcheError("the options contradict each other", remedy=remedy)


def _require_anatomy_alone(anatomy: Path | None, character: Path | None, other: bool) -> None:
    """Refuse what --anatomy leaves no room for, and what it needs."""
    if anatomy is None:
        return
    if other:
        raise EcorcheError(
            "the options contradict each other",
            remedy="--anatomy excludes --muscles, --keep, --gain, --template, --as-lines and"
            " --without-muscles",
        )
    if character is None:
        raise EcorcheError(
            "an anatomy needs the character it was modelled for", where="--anatomy", remedy="Name its file"
        )


def muscle_gains(texts: list[str]) -> dict[str, float]:
    """``["elbow flexors=1.5"]`` as gains by group."""
    found: dict[str, float] = {}
    for text in texts:
        group, _, number = text.rpartition("=")
        try:
            gain = float(number)
        except ValueError:
            gain = -1.0
        if not group or not 0.0 <= gain <= 10.0:
            raise EcorcheError(
                f"{text!r} is no group with a number from 0 to 10",
                where="--gain",
                remedy='Write it as "elbow flexors=1.5"; 1 is as it is, 0 shows nothing',
            )
        found[group.strip()] = gain
    return found
