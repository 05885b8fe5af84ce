"""`ecorche solve`: what every muscle of a model did, from markers or joint angles, ground forces and EMG."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.cli.marker_places import MARKER_PLACES
from ecorche.cli.recordings import require_table
from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ecorche.biomech.inverse_kinematics import MarkerMotion
    from ecorche.biomech.model import MusculoskeletalModel
    from ecorche.biomech.solve import Solved

    Floats = npt.NDArray[np.float64]

FILES = ("coordinates.sto", "moments.sto", "forces.sto", "activations.sto", "reserves.sto")
"""What is written: poses in radians, joint moments, tendon forces, activations, what muscles lack."""
MARKER_ERRORS = "marker_errors.sto"
"""And of markers, their distance from the model's over time [m], with the columns that OpenSim's has."""


FAR_OFF = 0.04
"""A marker so far from its place [m] makes names be looked at; OpenSim's guide for a good fit is the same."""


class CostOf(StrEnum):
    """What muscles share the work by."""

    activation = "activation"
    tension = "tension"


def solve(
    context: typer.Context,
    model: Path = typer.Argument(help="A musculoskeletal model: .osim, or MJCF."),
    output: Path = typer.Option(..., "-o", "--output", help="A folder for the results, made if needed."),
    markers: Path | None = typer.Option(None, help="Measured markers, .trc or .c3d."),
    marker_places: Path | None = MARKER_PLACES,
    coordinates: Path | None = typer.Option(None, help="In place of markers: joint angles, .mot or .sto."),
    forces: Path | None = typer.Option(
        None, help="Ground forces: OpenSim's .xml of external loads, or .c3d."
    ),
    plate: list[str] = typer.Option([], help="Of .c3d: a plate and the body it pushes, as 1=calcn_r."),
    emg: Path | None = typer.Option(None, help="Muscle activity, raw or enveloped, .sto or .c3d."),
    emg_table: Path | None = typer.Option(None, help="Its channels: a CSV with channel,muscle,side."),
    emg_weight: float = typer.Option(1.0, min=0.0, help="How much it counts against the least effort."),
    emg_delay: float = typer.Option(
        0.0, min=0.0, max=0.3, help="Seconds by which force lags behind it; 0.04 to 0.08 is usual."
    ),
    emg_synergies: str = typer.Option(
        "", help="Draw muscles without EMG to so many of its time courses; a mean over some, as 3,4,5,6."
    ),
    weight: list[str] = typer.Option([], help="Of a marker, as R.Heel=5; 0 leaves it out."),
    cost: CostOf = typer.Option(CostOf.activation, help="Least activation, or the least tension."),
    power: float = typer.Option(2.0, min=1.0, help="Of the activation in its cost."),
    cutoff: float = typer.Option(6.0, min=0.0, help="Of coordinates [Hz]; 0 takes them as they are."),
    force_cutoff: float = typer.Option(0.0, min=0.0, help="Of ground forces [Hz]; 0 takes them as they are."),
    start: float | None = typer.Option(None, help="The first second to solve."),
    end: float | None = typer.Option(None, help="The last second to solve."),
    up: str = typer.Option("y", help="The axis of the recording that points up: y or z."),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Find poses, joint moments and the work of every muscle, and write them as OpenSim reads them."""
    import numpy as np

    from ecorche.base.files import require_not_input
    from ecorche.biomech.inverse_kinematics import inverse_kinematics
    from ecorche.biomech.marker_labels import wrong_labels
    from ecorche.biomech.misfit import FAR_FROM_POSED, require_near
    from ecorche.biomech.model import upright_from
    from ecorche.biomech.read_model import read_model
    from ecorche.biomech.solve import solve_muscles
    from ecorche.biomech.tensions import Wanted
    from ecorche.cli import marker_places as given
    from ecorche.cli.options import progress_bar, refuse_unused, report_to
    from ecorche.cli.recordings import read_ground_forces, read_markers, read_measured_activation

    _require_said(markers, coordinates, emg, emg_table, output)
    for owner, its_file, options in (
        ("--markers", markers, "--weight"),
        ("--forces", forces, "--plate --force-cutoff"),
        ("--emg", emg, "--emg-weight --emg-delay --emg-synergies"),
    ):
        if its_file is None:
            refuse_unused(context, options, f"there is no {owner} for it", f"Leave it out, or give {owner}")
    if cost is CostOf.tension:
        refuse_unused(context, "--power", "--cost tension has no activations", "Leave out one of the two")
    places, about_places = given.marker_places(model, marker_places)
    read = read_model(model, places)
    ground, about_forces, of_forces = read_ground_forces(forces, up)
    for name in (*FILES, MARKER_ERRORS):
        require_not_input(
            output / name, model, marker_places, markers, coordinates, emg, emg_table, *of_forces
        )
    told: list[str] = [*read.notes, *about_places, *about_forces]
    motion: MarkerMotion | None = None
    from_upright = upright_from(read).T
    ground = tuple(one.turned(from_upright) for one in ground)
    if markers is not None:
        recorded = read_markers(markers, up, start, end).turned(from_upright)
        counted = _numbers(weight, "--weight") or None
        motion = inverse_kinematics(read, recorded, weights=counted)
        require_near(read, recorded, motion, FAR_FROM_POSED)
        times, q = motion.times, motion.q
        told += _of_markers(motion)
        if motion.worst.max() > FAR_OFF:
            told += [str(wrong) for wrong in wrong_labels(read, recorded, motion, counted)]
    else:
        assert coordinates is not None  # one of the two is required
        times, q, notes = _from_table(read, coordinates, start, end)
        told += notes
    wanted = None
    if emg is not None and emg_table is not None:
        muscles = [muscle.name for muscle in read.muscles]
        measured = read_measured_activation(emg, emg_table, muscles, times - emg_delay)
        wanted = Wanted(measured.activation, emg_weight, _counts(emg_synergies))
        told += measured.notes
    with progress_bar() as bar:
        solved = solve_muscles(
            read,
            times,
            q,
            ground,
            bodies={name: body for name, _, body in (text.partition("=") for text in plate)} or None,
            cutoff=cutoff or None,
            force_cutoff=force_cutoff or None,
            cost=cost.value,
            power=power,
            wanted=wanted,
            progress=report_to(bar),
        )
    _write(output, read, solved, motion)
    for note in (*told, *solved.notes):
        typer.echo(f"note: {note}")
    if quiet:
        return
    active = solved.tensions.activation
    top = np.argsort(-active.max(axis=0))[:5]
    hardest = ", ".join(f"{read.muscles[k].name} {active[:, k].max():.2f}" for k in top)
    typer.echo(f"most active: {hardest}")
    files = (*FILES, *((MARKER_ERRORS,) if motion is not None else ()))
    typer.echo(f"{output}: {len(times)} frames of {len(read.muscles)} muscles in {', '.join(files)}")
    typer.echo(f"see it: ecorche report {output} --model {model} --character RIG -o report.html")


def _require_said(
    markers: Path | None,
    coordinates: Path | None,
    emg: Path | None,
    table: Path | None,
    output: Path,
) -> None:
    if (markers is None) == (coordinates is None):
        raise EcorcheError(
            "how the body moves is said " + ("twice" if markers else "nowhere"),
            where="--markers, --coordinates",
            remedy="Give one of the two",
        )
    require_table(emg, table)
    if output.exists() and not output.is_dir():
        raise EcorcheError("is a file", where=output, remedy="Name a folder")


def _numbers(texts: list[str], option: str) -> dict[str, float]:
    found = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise EcorcheError(f"{text!r} is no name and number", where=option, remedy="Write it as R.Heel=5")
    return found


def _counts(text: str) -> tuple[int, ...]:
    """Numbers of time courses, of a text such as 3,4,5,6."""
    parts = [part.strip() for part in text.split(",")] if text else []
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise EcorcheError(f"{text!r} is no list of numbers", where="--emg-synergies", remedy="Write 3,4,5,6")
    return tuple(int(part) for part in parts)


def _of_markers(motion: MarkerMotion) -> list[str]:
    """How well poses fit, and what was said about markers."""
    worst = int(motion.worst.argmax())
    told = (
        f"markers are {1e3 * motion.rms.mean():.1f} mm rms from the model's, at most"
        f" {1e3 * motion.worst[worst]:.1f} mm ({motion.worst_marker[worst]}, {motion.times[worst]:.2f} s)"
    )
    return [told, *motion.notes]


def _from_table(
    model: MusculoskeletalModel, path: Path, start: float | None, end: float | None
) -> tuple[Floats, Floats, tuple[str, ...]]:
    import numpy as np

    from ecorche.biomech.coordinate_tables import some_poses_from_columns
    from ecorche.io.opensim_storage import read_table

    table = read_table(path)
    q, notes = some_poses_from_columns(model, table.columns, degrees=table.degrees, where=table.source)
    first = -np.inf if start is None else start
    kept = (table.times >= first) & (table.times <= (np.inf if end is None else end))
    if kept.sum() < 3:
        raise EcorcheError("fewer than three frames are left", where=path, remedy="Widen --start and --end")
    return table.times[kept], q[kept], notes


def _write(folder: Path, model: MusculoskeletalModel, solved: Solved, motion: MarkerMotion | None) -> None:
    """All results as tables of OpenSim's."""
    import numpy as np

    from ecorche.biomech.coordinate_tables import columns_from_poses
    from ecorche.io.activation import write_activation
    from ecorche.io.opensim_storage import write_table

    folder.mkdir(parents=True, exist_ok=True)
    times, moments, tensions = solved.moments.times, solved.moments, solved.tensions
    names = [muscle.name for muscle in model.muscles]
    write_table(folder / FILES[0], "Coordinates", times, columns_from_poses(model, moments.q))
    called = [
        f"{name}_{'moment' if unit == 'N m' else 'force'}"
        for name, unit in zip(moments.names, moments.units, strict=True)
    ]
    write_table(
        folder / FILES[1], "Inverse Dynamics", times, dict(zip(called, moments.moments.T, strict=True))
    )
    write_table(folder / FILES[2], "Tendon forces", times, dict(zip(names, tensions.force.T, strict=True)))
    curves = {name: (times, tensions.activation[:, k].clip(0.0, 1.0)) for k, name in enumerate(names)}
    write_activation(folder / FILES[3], curves)
    free = [coordinate.name for coordinate in model.coordinates if not coordinate.locked]
    lacking = {
        f"{name}_reserve": tensions.reserve[:, k] for k, name in enumerate(free) if name not in model.root
    }
    write_table(folder / FILES[4], "Reserves", times, lacking)
    if motion is None:
        # of an earlier run they would be taken for this one's
        (folder / MARKER_ERRORS).unlink(missing_ok=True)
    else:
        count = np.isfinite(motion.errors).sum(axis=1)
        errors = {
            "total_squared_error": count * motion.rms**2,
            "marker_error_RMS": motion.rms,
            "marker_error_max": motion.worst,
        }
        write_table(folder / MARKER_ERRORS, "Marker errors", motion.times, errors)
