"""`ecorche report`: results of a motion as a page with the body, its muscles, EMG and moments together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.cli.coupling import COUPLING, require_rig_for, with_coupling
from ecorche.cli.dynamics import DYNAMICS, PREROLL, Swing
from ecorche.cli.model_results import MUSCLE_MAP
from ecorche.cli.recordings import require_table
from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ecorche.base.recordings import ForceRecording
    from ecorche.biomech.gait import GaitCycle, GaitEvent
    from ecorche.biomech.model import MusculoskeletalModel
    from ecorche.biomech.result_panels import ResultTables
    from ecorche.render.plot_svg import TimeAxis

    Floats = npt.NDArray[np.float64]

SAMPLES = 101
"""Moments that curves are shown at: of a walking cycle, every hundredth."""


def report(
    results: Path = typer.Argument(help="A folder of results, as `ecorche solve` writes it."),
    output: Path = typer.Option(..., "-o", "--output", help="The page to make, .html."),
    model: Path = typer.Option(..., help="The musculoskeletal model the results are of: .osim, or MJCF."),
    character: Path | None = typer.Option(
        None, help="Whom to show them on: a rig (.ecorche); default: the built-in figure."
    ),
    forces: Path | None = typer.Option(
        None, help="Ground forces (.xml of external loads, .c3d): the page then shows a walking cycle."
    ),
    emg: Path | None = typer.Option(None, help="Measured activity to show over activations, .sto or .c3d."),
    emg_table: Path | None = typer.Option(None, help="Its channels: a CSV with channel,muscle,side."),
    muscle_map: Path | None = MUSCLE_MAP,
    seconds: bool = typer.Option(False, "--seconds", help="Show all of it over seconds, no walking cycle."),
    threshold: float = typer.Option(20.0, min=0.0, help="Vertical force of a foot that is down [N]."),
    layers: str = typer.Option("result,muscles", help="What pictures show, as `ecorche render` has it."),
    view: str = typer.Option("three_quarter", help="three_quarter, front, side or back."),
    focus: str | None = typer.Option(None, help="Look at a joint from near, or between: r_shoulder,r_elbow."),
    radius: float | None = typer.Option(None, help="How much is seen round the focus, in metres."),
    pictures: int = typer.Option(36, min=2, max=120, help="Moments that pictures show."),
    size: str | None = typer.Option(None, help="Pixels of each picture, such as 400x640."),
    up: str = typer.Option("y", help="The axis of .c3d forces that points up: y or z."),
    coupling: list[str] = COUPLING,
    dynamics: Swing = DYNAMICS,
    preroll: float = PREROLL,
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Make one HTML file that shows body, activations, EMG, moments and errors together."""
    import numpy as np

    from ecorche.base.files import require_folder
    from ecorche.biomech.gait import gait_cycle, gait_events
    from ecorche.biomech.read_model import read_model
    from ecorche.biomech.result_panels import checks, joint_sections, muscle_sections, trust_section
    from ecorche.body.perform import perform
    from ecorche.cli.model_results import GivenResults, model_results
    from ecorche.cli.options import listed, picture_size, progress_bar, report_to
    from ecorche.cli.recordings import read_ground_forces, read_measured_activation
    from ecorche.cli.subject import line_notes, read_subject, skin_notes
    from ecorche.render.focus import Focus
    from ecorche.render.layers import Layers
    from ecorche.render.report import Report, filmstrips, write_report

    if output.suffix.lower() not in (".html", ".htm"):
        raise EcorcheError(f"{output.suffix!r} is no page", where=output, remedy="Use .html")
    if radius is not None and focus is None:
        raise EcorcheError("there is no focus", where="--radius", remedy="Name a joint with --focus too")
    require_folder(output)
    require_table(emg, emg_table)
    if not results.is_dir():
        raise EcorcheError("is no folder", where=results, remedy="Make one: ecorche solve MODEL -o FOLDER")
    read = read_model(model)
    ground, about_forces, _ = read_ground_forces(forces, up)
    first, last = _span(results)
    events = gait_events(ground, threshold)
    cycle = None if seconds else gait_cycle(events, first, last)
    times = np.linspace(*((first, last) if cycle is None else (cycle.start, cycle.end)), SAMPLES)
    measured: dict[str, Floats] = {}
    notes = [*about_forces]
    names = [muscle.name for muscle in read.muscles]
    if emg is not None and emg_table is not None:
        found = read_measured_activation(emg, emg_table, names, times)
        notes += found.notes
        notes.append(
            "r is the correlation of activation and EMG in the time shown; where this EMG drew activations"
            " (solve --emg) it is no test of them"
        )
        measured = {
            name: found.activation[:, k]
            for k, name in enumerate(names)
            if np.isfinite(found.activation[:, k]).any()
        }
    tables, missing = _tables(results, read, times, measured, ground)
    notes += missing
    if events:
        notes.append(f"feet are down while the vertical force on them is above {threshold:g} N")
    if forces is not None and cycle is None and not seconds:
        notes.append("no foot strikes twice within the results, so the page shows seconds, no walking cycle")

    subject = read_subject(character)
    files = GivenResults(model, results / "coordinates.sto", results / "activations.sto", muscle_map)
    solved = model_results(files, subject, {}, others="rest")
    assert solved is not None
    rig = require_rig_for(coupling, subject.rig, False)
    rig = None if rig is None else with_coupling(rig, coupling, subject.character)
    take = perform(
        subject.character,
        solved.motion,
        feet="planted" if read.root else "directions",
        rig=rig,
        source_mapping=solved.mapping,
        activation=solved.activation,
        dynamics=dynamics.value,
        preroll=preroll,
    ).take
    when = np.linspace(times[0], times[-1], pictures)
    part = None if focus is None else Focus(listed(focus, "--focus"), radius)
    with progress_bar() as bar:
        strips = filmstrips(
            Layers(take),
            when,
            layers=listed(layers, "--layers"),
            view=view,
            focus=part,
            size=None if size is None else picture_size(size),
            progress=report_to(bar),
        )
    trust = trust_section(read, tables)
    sections = [*muscle_sections(tables), *joint_sections(read, tables), *([trust] if trust else [])]
    notes += [*solved.notes, *line_notes(take), *skin_notes(take)]
    page = Report(
        f"{results.resolve().name}: body, muscles and EMG",
        _subtitle(read, subject.character.name, times, cycle, bool(measured)),
        times,
        when,
        _axis(read, tables, events, cycle),
        strips,
        tuple(checks(read, tables)),
        tuple(sections),
        tuple(notes),
    )
    write_report(output, page)
    if not quiet:
        for check in page.checks:
            typer.echo(f"{'ok' if check.fine else 'look'}: {check.said}")
        size_told = output.stat().st_size / 1e6
        typer.echo(f"{output}: {sum(len(s.panels) for s in sections)} plots, {size_told:.1f} MB")


def _span(folder: Path) -> tuple[float, float]:
    """The first and the last second [s] of a folder's motion."""
    from ecorche.io.opensim_storage import read_table

    for name in ("coordinates.sto", "activations.sto"):
        if not (folder / name).is_file():
            raise EcorcheError(
                f"has no {name}", where=folder, remedy="Give a folder that `ecorche solve` wrote"
            )
    times = read_table(folder / "coordinates.sto").times
    if len(times) < 2:
        raise EcorcheError("one frame is no motion", where=folder / "coordinates.sto", remedy="Solve more")
    return float(times[0]), float(times[-1])


def _tables(
    folder: Path,
    model: MusculoskeletalModel,
    times: Floats,
    measured: dict[str, Floats],
    ground: tuple[ForceRecording, ...],
) -> tuple[ResultTables, list[str]]:
    """A folder's results at some times, and what it does not have."""
    import numpy as np

    from ecorche.biomech.coordinate_tables import some_poses_from_columns
    from ecorche.biomech.result_panels import ResultTables
    from ecorche.cli.recordings import read_model_activation
    from ecorche.io.opensim_storage import read_table

    def optional(name: str, ending: str) -> dict[str, Floats]:
        path = folder / name
        if not path.is_file():
            missing.append(f"{folder.name} has no {name}: it is not shown")
            return {}
        table = read_table(path)
        return {
            column.removesuffix("_force").removesuffix(ending): np.interp(times, table.times, values)
            for column, values in table.columns.items()
        }

    missing: list[str] = []
    moved = read_table(folder / "coordinates.sto")
    poses, notes = some_poses_from_columns(model, moved.columns, degrees=moved.degrees, where=moved.source)
    q = np.stack([np.interp(times, moved.times, column) for column in poses.T], axis=1)
    curves, _ = read_model_activation(
        folder / "activations.sto", [m.name for m in model.muscles], float(times[0]), float(times[-1])
    )
    active = {name: np.interp(times, *keys) for name, keys in curves.items()}
    errors = optional("marker_errors.sto", "")
    return (
        ResultTables(
            times,
            q,
            active,
            measured,
            optional("moments.sto", "_moment"),
            optional("reserves.sto", "_reserve"),
            errors.get("marker_error_RMS"),
            errors.get("marker_error_max"),
            _under_feet(ground, times),
        ),
        [*notes, *missing],
    )


def _under_feet(ground: tuple[ForceRecording, ...], times: Floats) -> dict[str, Floats]:
    """Vertical force under each foot [N], (samples,)."""
    import numpy as np

    found: dict[str, Floats] = {}
    for force in ground:
        foot = force.body or force.name
        found[foot] = found.get(foot, 0.0) + np.interp(times, force.times, force.force[:, 1])
    return found


def _axis(
    model: MusculoskeletalModel,
    tables: ResultTables,
    events: tuple[GaitEvent, ...],
    cycle: GaitCycle | None,
) -> TimeAxis:
    """Per cent of a walking cycle, or seconds, with the feet's events and what is unsure."""
    from ecorche.biomech.muscle_names import side_of
    from ecorche.biomech.result_panels import unsure_spans
    from ecorche.render.plot_svg import TimeAxis

    begin, end = float(tables.times[0]), float(tables.times[-1])

    def shown(time: float) -> float:
        return time if cycle is None else 100.0 * (time - begin) / (end - begin)

    marks = tuple(
        (shown(e.time), f"{side_of(e.foot)[1][:1].upper()}{'HS' if e.kind == 'heel strike' else 'TO'}")
        for e in events
        if begin + 1e-6 < e.time < end - 1e-6
    )
    unsure = tuple((shown(a), shown(b)) for a, b in unsure_spans(model, tables))
    if cycle is None:
        return TimeAxis("time [s]", begin, end, marks, unsure)
    side = side_of(cycle.foot)[1] or cycle.foot
    return TimeAxis(f"gait cycle, {side} [%]", 0.0, 100.0, marks, unsure)


def _subtitle(
    model: MusculoskeletalModel, body: str, times: Floats, cycle: GaitCycle | None, measured: bool
) -> str:
    what = "all" if cycle is None else f"one walking cycle, heel strike to heel strike of {cycle.foot},"
    return (
        f"{model.name} on {body}: {what} from {times[0]:.2f} to {times[-1]:.2f} s;"
        f" {len(model.muscles)} muscles{', measured activity over them' if measured else ''}"
    )
