"""`ecorche sample`: a real person, or the built-in figure, to start with."""

from __future__ import annotations

from pathlib import Path

import typer

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError, WriteError

SAMPLES = ("human", "figure")
HUMAN = {"gender": 1.0, "muscle": 1.0, "weight": 0.5, "rig": "mixamo"}
"""The human's own options and their defaults."""


def sample(
    name: str = typer.Argument(help="What to make: human or figure."),
    output: Path = typer.Option(..., "-o", "--output", help="The file to write, such as man.glb."),
    gender: float = typer.Option(HUMAN["gender"], min=0.0, max=1.0, help="0 is female, 1 is male."),
    muscle: float = typer.Option(HUMAN["muscle"], min=0.0, max=1.0, help="0 is slack, 1 is an athlete."),
    weight: float = typer.Option(HUMAN["weight"], min=0.0, max=1.0, help="0 is thin, 1 is heavy."),
    rig: str = typer.Option(HUMAN["rig"], help="The rig's joint names: mixamo, cmu_mb or game_engine."),
) -> None:
    """Write a real CC0 person, rigged and skinned (downloaded once, then cached), or the built-in figure."""
    from ecorche.base.files import require_folder
    from ecorche.body.take import Take
    from ecorche.io.formats import module_for, write_take

    if name not in SAMPLES:
        raise EcorcheError(f"there is no sample {name!r}", remedy=suggestion(name, SAMPLES))
    require_folder(output)
    module_for(output, "write_take", WriteError)
    if name == "figure":
        from ecorche.body.figure import ecorche_figure

        if {"gender": gender, "muscle": muscle, "weight": weight, "rig": rig} != HUMAN:
            raise EcorcheError(
                "the figure is one man with one rig", remedy="Leave its options out, or make a human"
            )
        made = ecorche_figure()
    else:
        from ecorche.io.makehuman import sample_human

        made = sample_human(gender=gender, muscle=muscle, weight=weight, rig=rig)
    for note in write_take(output, Take(made)).notes:
        typer.echo(f"note: {note}")
    vertices = sum(m.mesh.vertex_count for m in made.meshes)
    typer.echo(f"{output}: {vertices:,} vertices, {made.skeleton.joint_count} joints")
