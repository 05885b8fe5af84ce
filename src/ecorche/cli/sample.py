"""`ecorche sample`: a real person to start with."""

from __future__ import annotations

from pathlib import Path

import typer

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError, WriteError

SAMPLES = ("human",)


def sample(
    name: str = typer.Argument(help="What to make: human."),
    output: Path = typer.Option(..., "-o", "--output", help="The file to write, such as man.glb."),
    gender: float = typer.Option(1.0, min=0.0, max=1.0, help="0 is female, 1 is male."),
    muscle: float = typer.Option(1.0, min=0.0, max=1.0, help="0 is slack, 1 is an athlete."),
    weight: float = typer.Option(0.5, min=0.0, max=1.0, help="0 is thin, 1 is heavy."),
    rig: str = typer.Option("mixamo", help="The rig's joint names: mixamo, cmu_mb or game_engine."),
) -> None:
    """Write a real CC0 person, rigged and skinned (downloaded once, then cached)."""
    from ecorche.base.files import require_folder
    from ecorche.body.take import Take
    from ecorche.io.formats import module_for, write_take

    if name not in SAMPLES:
        raise EcorcheError(f"there is no sample {name!r}", remedy=suggestion(name, SAMPLES))
    require_folder(output)
    module_for(output, "write_take", WriteError)
    from ecorche.io.makehuman import sample_human

    human = sample_human(gender=gender, muscle=muscle, weight=weight, rig=rig)
    for note in write_take(output, Take(human)).notes:
        typer.echo(f"note: {note}")
    vertices = sum(m.mesh.vertex_count for m in human.meshes)
    typer.echo(f"{output}: {vertices:,} vertices, {human.skeleton.joint_count} joints")
