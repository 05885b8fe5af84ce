"""`ecorche activation`: how active the muscles are through a motion, as curves in a file a person edits."""

from __future__ import annotations

from pathlib import Path

import typer

from ecorche.cli.activation import activation_source, all_muscles
from ecorche.errors import EcorcheError

DECIMALS = 4
"""Of activations in the file, so that a person can read them."""


def activation(
    rig: Path = typer.Argument(help="A rig (.ecorche) with muscles of any kind."),
    output: Path = typer.Option(..., "-o", "--output", help="The curves: .csv, or .sto for OpenSim."),
    motion: Path | None = typer.Option(
        None,
        "-m",
        "--motion",
        help="BVH, glTF, USD, X3D, FBX (through Blender) or .pose; default: the character's own clip.",
    ),
    clip: str | None = typer.Option(None, help="Which clip, where a file has several."),
    activation: str = typer.Option(
        "motion",
        metavar="HOW",
        help="motion (how joints move), joints, anticipating, a number 0 to 1, or curves (.csv, .sto).",
    ),
    only: str | None = typer.Option(
        None, metavar="TEXT", help="Muscles whose name, or group, has this text in it."
    ),
    gain: float = typer.Option(1.0, min=0.0, max=100.0, help="So many times as active, never above 1."),
    shift: float = typer.Option(0.0, metavar="SECONDS", help="So much later; earlier below 0."),
    tolerance: float = typer.Option(
        0.01, min=0.0, max=1.0, help="How far curves may be off so as to have few keys; 0 keys every frame."
    ),
    mapping: Path | None = typer.Option(None, help="JSON of the motion's joint names to H-Anim names."),
) -> None:
    """Write the muscles' activation through a motion as curves, to edit and to bake with (bake --activation).

    Curves read with --activation FILE are written too: so a table becomes OpenSim's storage, and back.
    """
    from ecorche.base.files import require_folder
    from ecorche.body.perform import perform
    from ecorche.cli.options import counted, joint_mapping
    from ecorche.cli.subject import Subject, read_rigged, require_not_read, subject_motion
    from ecorche.errors import MotionError
    from ecorche.io.activation import write_activation
    from ecorche.muscles.edit_curves import curves_of, scaled, shifted

    require_folder(output)
    character, read = read_rigged(rig)
    subject = Subject(character, read)
    muscles = all_muscles(subject)
    wanted = [m for m, one in enumerate(muscles) if only is None or only in f"{one.name}\n{one.group}"]
    if not wanted:
        raise EcorcheError(
            f"no muscle's name or group has {only!r} in it" if only else "the rig has no muscles",
            where=rig,
            remedy=f"List them: ecorche info {rig}",
        )
    require_not_read(output, character, motion)
    chosen = subject_motion(character, motion, clip)
    if chosen is None:
        raise MotionError("there is no motion", where=rig, remedy="Give one: --motion FILE")
    performed = perform(
        character,
        chosen,
        rig=read,
        mapping=subject.mapping,
        source_mapping=joint_mapping(mapping),
        muscles=False,
    ).take.motion
    assert performed is not None  # a motion was given
    source = activation_source(activation, subject)
    assert source is not None  # a way was given
    found = curves_of(
        [muscles[m].name for m in wanted], performed.times, source.over(performed)[:, wanted], tolerance
    )
    edited = {}
    for name, curve in found.items():
        times, values = shifted(scaled(curve, gain), shift)
        edited[name] = times, values.round(DECIMALS)
    write_activation(output, edited)
    keys = sum(len(times) for times, _ in edited.values())
    active = sum(1 for _, values in edited.values() if values.max() > tolerance)
    typer.echo(
        f"{output}: {counted(len(edited), 'curve')} of {counted(keys, 'key')} for"
        f" {counted(performed.frame_count, 'frame')}; {active} muscles work"
    )
    typer.echo(f"bake with it: ecorche bake {rig} --motion MOTION --activation {output} -o OUT.usdc")
