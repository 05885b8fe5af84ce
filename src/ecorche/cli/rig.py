"""`ecorche rig`: a rig file for a character, with muscles under its skin."""

from __future__ import annotations

from pathlib import Path

import typer


def rig(
    character: Path = typer.Argument(help="A character: glTF, USD, X3D or MJCF."),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="The rig file; default: beside the character."
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
    mapping: Path | None = typer.Option(None, help="JSON of joint names to H-Anim names."),
) -> None:
    """Give a character muscles: writes the rig file (.ecorche) you edit and keep under version control."""
    import time

    from ecorche.body.rig import create_rig
    from ecorche.cli.options import joint_mapping
    from ecorche.cli.subject import character_in
    from ecorche.document.files import require_rig_name, write_rig
    from ecorche.errors import WriteError

    target = output or character.with_suffix(".ecorche")
    require_rig_name(target, WriteError)
    if target.exists() and character.suffix != ".ecorche":
        raise WriteError(
            "is there already, and may hold edits",
            where=target,
            remedy=f"Fit it to a changed character: ecorche rebind {target.name} {character.name}."
            " Or give another name with -o",
        )
    gains = muscle_gains(gain)
    started = time.perf_counter()
    subject, names = character_in(character), joint_mapping(mapping)
    made = create_rig(subject, character, target, muscles=False, mapping=names)
    told: list[str] = []
    if not without_muscles:
        from ecorche.body.place_muscles import template_placement, with_muscles
        from ecorche.skeleton.naming import recognise

        placement = template_placement(subject, recognise(subject.skeleton, names))
        made, report = with_muscles(made, subject, placement, gains=gains)
        told = report.lines()
    spec = write_rig(target, made)
    for line in told:
        typer.echo(line)
    typer.echo(
        f"{target}: {len(spec.skeleton.mapping)} of {len(made.bind.joint_names)} joints have canonical names,"
        f" {len(spec.muscles.named)} muscles, {time.perf_counter() - started:.1f} s"
    )
    if spec.arrays is not None:
        typer.echo(f"{target.with_name(spec.arrays.file)}: its arrays; keep the two together")
    typer.echo(f"move it: ecorche bake {target} --motion walk.bvh -o walk.usdc")


def muscle_gains(texts: list[str]) -> dict[str, float]:
    """``["elbow flexors=1.5"]`` as gains by group."""
    from ecorche.errors import EcorcheError

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
