"""`ecorche export --as model`: a rig as a model for MuJoCo or OpenSim, read again and compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.errors import DocumentError, MissingPackageError, WriteError

if TYPE_CHECKING:
    from ecorche.body.as_model import RigModel
    from ecorche.cli.subject import Subject

MUJOCO, OPENSIM = (".xml", ".mjcf"), (".osim",)
POSES = 200
"""Drawn poses in which lengths are compared."""
AGREE = 1e-4
"""By how much lengths may differ to be called the same [m]."""
NAMED = 40
"""Muscles that differ are told one by one up to so many, the farthest first."""


def export_model(rig: Path | None, output: Path, specific_tension: float, quiet: bool) -> None:
    """Write the model, read it again, and say how its muscles' lengths compare with the rig's own."""
    from ecorche.base.files import require_folder
    from ecorche.body.as_model import rig_model
    from ecorche.cli.options import counted
    from ecorche.cli.subject import read_subject, require_not_read
    from ecorche.io.mjcf import write_mjcf
    from ecorche.io.osim.write import write_osim

    require_folder(output)
    suffix = output.suffix.lower()
    if suffix not in (*MUJOCO, *OPENSIM):
        raise WriteError(
            f"{suffix or 'a file without suffix'} is no musculoskeletal model",
            where=output,
            remedy="Name it .xml for MuJoCo or .osim for OpenSim",
        )
    subject = read_subject(rig)
    if subject.rig is None:
        raise DocumentError(
            "is a character without muscles", where=rig, remedy="Make a rig first: ecorche rig CHARACTER"
        )
    require_not_read(output, subject.character, None)
    model = rig_model(subject.character, subject.rig, specific_tension=1e4 * specific_tension)
    (write_mjcf if suffix in MUJOCO else write_osim)(output, model)
    if quiet:
        return
    for note in (*model.notes, *_compared(output, model, subject)):
        typer.echo(f"note: {note}")
    count = sum(muscle.wrap is not None for muscle in model.muscles)
    typer.echo(
        f"{output}: {len(model.bodies)} bodies, {counted(len(model.muscles), 'muscle')},"
        f" {count} of them round spheres or cylinders"
    )


def _compared(output: Path, model: RigModel, subject: Subject) -> tuple[str, ...]:
    """How lengths of the written model's muscles compare with the rig's own."""
    import numpy as np

    from ecorche.biomech.read_model import read_model
    from ecorche.body.sample_poses import sample_poses
    from ecorche.skeleton.kinematics import difference_from_bind

    try:
        read = read_model(output)
    except MissingPackageError as error:
        return (f"lengths were not compared: {error.what}",)
    place = {name: k for k, name in enumerate(model.coordinates)}
    order = [place[coordinate.name] for coordinate in read.coordinates]
    named = {muscle.name: k for k, muscle in enumerate(read.muscles)}
    ours = [named[muscle.name] for muscle in model.muscles]
    skeleton, apart = subject.character.skeleton, []
    for local in sample_poses(subject.character, subject.rig, POSES).local:
        moved = difference_from_bind(skeleton, local)
        there = read.muscle_lengths(model.pose(moved)[order])[ours]
        apart.append(np.abs(there - model.lengths(moved)))
    worst = np.max(apart, axis=0)
    same = int((worst < AGREE).sum())
    told = [
        f"{same} of {len(worst)} muscles are as long as the rig's within 0.1 mm in {len(apart)} drawn poses"
    ]
    if same < len(worst):
        far = [int(k) for k in np.argsort(-worst) if worst[k] >= AGREE]
        agree = 100.0 * np.mean(np.array(apart) < AGREE, axis=0)
        one_by_one = [
            f"{model.muscles[k].name} {1e3 * worst[k]:.1f} mm ({agree[k]:.1f} %)" for k in far[:NAMED]
        ]
        if len(far) > NAMED:
            one_by_one.append(f"and {len(far) - NAMED} more, none of them farther")
        told.append(
            f"the others agree in {agree[far].mean():.0f} % of the poses; how far off each is at worst, and"
            f" in what share of poses it agrees: {', '.join(one_by_one)}. Paths that a joint draws across its"
            " centre or out of its plane, and mesh muscles that give way to bones, are told otherwise"
        )
    return tuple(told)
