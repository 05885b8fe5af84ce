"""`ecorche scale`: a musculoskeletal model made as large as its subject."""

from __future__ import annotations

from pathlib import Path

import typer

from ecorche.cli.marker_places import MARKER_PLACES
from ecorche.errors import EcorcheError


def scale(
    model: Path = typer.Argument(help="The model, an .osim or MJCF file."),
    static: Path = typer.Option(..., help="Markers of the subject standing still, .trc or .c3d."),
    output: Path = typer.Option(..., "-o", "--output", help="The file to write, of the same kind."),
    marker_places: Path | None = MARKER_PLACES,
    mass: float | None = typer.Option(None, help="What the subject weighs, in kg."),
    pair: list[str] = typer.Option(
        [], help="Markers to measure a body by, as femur_r=R.ASIS,R.Knee; may be repeated."
    ),
    keep: list[str] = typer.Option([], help="A marker to leave where the model has it; may be repeated."),
    start: float | None = typer.Option(None, help="The first second of the recording to use."),
    end: float | None = typer.Option(None, help="The last second of the recording to use."),
    up: str = typer.Option("y", help="The axis of the recording that points up: y or z."),
) -> None:
    """Scale a model to its subject: segments by marker distances, muscles, masses and markers with them."""
    from ecorche.base.files import require_not_input
    from ecorche.biomech.model import upright_from
    from ecorche.biomech.read_model import MUJOCO, OPENSIM, read_model
    from ecorche.cli import marker_places as given
    from ecorche.cli.recordings import read_markers

    kinds = OPENSIM if model.suffix.lower() in OPENSIM else MUJOCO
    for file in (model, output):
        if file.suffix.lower() not in kinds:
            raise EcorcheError(
                f"a {file.suffix or 'file without suffix'} cannot be scaled"
                + ("" if file is model else f" from a {model.suffix}"),
                where=file,
                remedy=f"Give one of {', '.join((*OPENSIM, *MUJOCO) if file is model else kinds)}",
            )
    require_not_input(output, model, static, marker_places)
    markers = read_markers(static, up, start, end)
    places, told = given.marker_places(model, marker_places)
    if kinds == OPENSIM:
        from ecorche.biomech.opensim_scaling import scale_to_subject

        made = scale_to_subject(model, markers, output, pairs=_pairs(pair), mass=mass, keep=keep)
    else:
        from ecorche.biomech.mujoco_scaling import scale_mujoco_to_subject

        turned = markers.turned(upright_from(read_model(model)).T)
        made = scale_mujoco_to_subject(
            model, turned, output, markers=places, pairs=_pairs(pair), mass=mass, keep=keep
        )
    typer.echo(f"{'segment':<16}{'factor':>8}  measured by")
    for one in made.scales:
        how = f"as {one.taken_from}" if one.taken_from else _told(one.pairs)
        typer.echo(f"{one.body:<16}{one.factor:>8.4f}  {how}")
    for note in (*told, *markers.notes, *made.notes):
        typer.echo(f"note: {note}")
    worst = int(made.errors.argmax())
    typer.echo(f"mass: {made.mass_before:.2f} to {made.mass:.2f} kg")
    typer.echo(
        f"markers: {made.rms_before * 1e3:.1f} mm rms unscaled, {made.rms * 1e3:.1f} mm scaled, at most "
        f"{made.errors[worst] * 1e3:.1f} mm ({made.markers[worst]}); then {len(made.placed)} were placed"
    )
    typer.echo(f"{output}: written")


def _pairs(given: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Options like ``femur_r=R.ASIS,R.Knee`` by body."""
    found: dict[str, list[tuple[str, str]]] = {}
    for text in given:
        body, _, markers = text.partition("=")
        names = [name.strip() for name in markers.split(",")]
        if not body.strip() or len(names) != 2 or not all(names):
            raise EcorcheError(
                f"--pair {text!r} names no body and two markers", remedy="Write it as femur_r=R.ASIS,R.Knee"
            )
        found.setdefault(body.strip(), []).append((names[0], names[1]))
    return found


def _told(pairs: tuple[tuple[str, str], ...]) -> str:
    shown = ", ".join(f"{a}–{b}" for a, b in pairs[:3])
    return shown if len(pairs) <= 3 else f"{shown} and {len(pairs) - 3} more pairs"
