"""`ecorche identify`: how muscles swell and flatten, found from dense markers or a few sculpted skins."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ecorche.cli.activation import ACTIVATION
from ecorche.errors import EcorcheError, MotionError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ecorche.biomech.marker_distances import Compared
    from ecorche.cli.identify_inputs import Given
    from ecorche.document.identified_spec import IdentifiedSpec

    Floats = npt.NDArray[np.float64]

OF_A_MODEL = "--markers --coordinates --forces --activations --rest --start --end --up"
OF_A_RIG = "--motion --clip --skin --skins --frames --activation"
"""Options of the one kind of subject and of the other."""
MARKERS_A_SEGMENT, VERTICES_A_SEGMENT = 8, 40
LASTING = 0.1
"""How much distances at rest count where there is a rest to tell them by."""
WORSE = (
    "here markers are farther from these shapes than from spindles that do not deform, so they do more harm"
    " than good. Identify them from more frames, in which lengths and tensions vary"
)
"""What is said of shapes that are worse than none."""
SHOWN = 6
"""Names of muscles that are listed; the document and the page have all."""


def identify(
    context: typer.Context,
    subject: Path = typer.Argument(help="A musculoskeletal model (.osim, MJCF), or a rig (.ecorche)."),
    output: Path | None = typer.Option(None, "-o", "--output", help="The identified muscles, .json."),
    report: Path | None = typer.Option(None, help="A page with tables and plots, .html."),
    markers: Path | None = typer.Option(None, help="Of a model: dense markers, .trc or .c3d."),
    coordinates: Path | None = typer.Option(None, help="Of a model: its poses, as `solve` writes them."),
    forces: Path | None = typer.Option(None, help="Of a model: tendon forces, as `solve` writes them."),
    activations: Path | None = typer.Option(None, help="In place of forces: activations (.sto, .csv)."),
    rest: str | None = typer.Option(
        None, metavar="FROM-TO", help="Seconds of the recording in which the body is still and slack."
    ),
    start: float | None = typer.Option(None, help="The first second of the markers that counts."),
    end: float | None = typer.Option(None, help="The last second of the markers that counts."),
    up: str = typer.Option("y", help="The axis of the recording that points up: y or z."),
    motion: Path | None = typer.Option(
        None,
        "-m",
        "--motion",
        help="Of a rig: BVH, glTF, USD, X3D, FBX (through Blender) or .pose; default: its own clip.",
    ),
    clip: str | None = typer.Option(None, help="Which clip, where a file has several."),
    skin: list[str] = typer.Option(
        [], metavar="FRAME=FILE", help="Of a rig: a sculpted or scanned skin of a frame; may be repeated."
    ),
    skins: Path | None = typer.Option(None, help="Of a rig: a skin a frame of the motion, .npz or .pc2."),
    frames: str | None = typer.Option(None, help="Of a rig: only these frames of the motion, such as 10-50."),
    activation: str | None = ACTIVATION,
    apply: Path | None = typer.Option(
        None, help="Muscles identified before: how well they do here is told, nothing is identified."
    ),
    size: float = typer.Option(1.0, min=0.01, max=100.0, help="With --apply: this body is so much larger."),
    fat: float = typer.Option(0.0, min=0.0, help="Between muscles and skin, in mm."),
    tendon_radius: float = typer.Option(10.0, min=0.01, help="Of muscles at their ends, in mm."),
    tendon: float = typer.Option(100.0, min=0.0, help="How much that radius counts."),
    per_segment: int | None = typer.Option(
        None, min=1, help="Markers that count on each quarter of a muscle; default: 8, of skins 40."
    ),
    workers: int | None = typer.Option(None, min=0, help="Processes; default: one a processor."),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Find how muscles change shape with length and tension, from markers or skins over them.

    Interrupted, it leaves no half-written file; the same command again goes on where it was.
    """
    import os

    from ecorche.base.files import require_folder, require_not_input
    from ecorche.biomech.fit_memory import FitMemory
    from ecorche.biomech.identification import Options
    from ecorche.biomech.identification import identify as identify_muscles
    from ecorche.biomech.identification_report import write_report
    from ecorche.biomech.marker_distances import compare
    from ecorche.biomech.spindle_cost import Cost
    from ecorche.cli.options import progress_bar, refuse_unused, report_to
    from ecorche.document.identified_spec import read_identified, write_identified

    _require_said(output, report, apply, size)
    inputs = (subject, markers, coordinates, forces, activations, motion, skins, apply)
    for file in (output, report):
        if file is not None:
            require_folder(file)
            require_not_input(file, *inputs, *(one.rpartition("=")[2] for one in skin))
    if subject.suffix.lower() == ".ecorche":
        refuse_unused(context, OF_A_MODEL, "a rig has no use for it", "Leave it out")
        given = _of_rig(subject, motion, clip, skin, skins, frames, activation, 1e-3 * fat)
    else:
        refuse_unused(context, OF_A_RIG, "a model has no use for it", "Leave it out")
        given = _of_model(
            subject, markers, coordinates, forces, activations, rest, (start, end), up, 1e-3 * fat
        )
    usual = MARKERS_A_SEGMENT if markers is not None else VERTICES_A_SEGMENT
    lasting = LASTING if given.at_rest is not None else Cost().lasting
    if not given.same:
        lasting = 1.0  # of places that are others in every frame none lasts
    options = Options(
        Cost(tendon=tendon, tendon_radius=1e-3 * tendon_radius, lasting=lasting),
        per_segment=per_segment or usual,
        workers=(os.cpu_count() or 1) if workers is None else workers,
    )
    tracks = given.moving.tracks
    if apply is not None:
        found = read_identified(apply)
        found = found if size == 1.0 else found.scaled(size)
    else:
        assert output is not None  # asked for
        memory = FitMemory(output.with_name(f".{output.stem}.identify"))
        with progress_bar() as bar:
            shown = report_to(bar)
            found = identify_muscles(
                tracks,
                given.markers,
                options,
                subject=subject.stem,
                at_rest=given.at_rest,
                joint_centres=given.moving.centres,
                joints=given.moving.joints,
                memory=memory,
                progress=lambda done, total, _: shown("muscles", done, total),
            )
    compared = compare(found, tracks, given.markers, options, at_rest=given.at_rest)
    if output is not None:
        write_identified(output, found)
    if report is not None:
        what = "This motion" if apply is not None else "The motion identified from"
        write_report(report, found, {what: compared})
    if apply is None:
        memory.forget()
    for note in given.notes:
        typer.echo(f"note: {note}")
    for line in _unused(found, given) if apply is not None else _left_out(found):
        typer.echo(f"note: {line}")
    if compared.gain < 0.0:
        typer.echo(f"note: {WORSE}")
    if quiet:
        return
    _tell(compared)
    for file in (output, report):
        if file is not None:
            typer.echo(f"{file}: written")


def _require_said(output: Path | None, report: Path | None, apply: Path | None, size: float) -> None:
    if output is None and apply is None:
        raise EcorcheError(
            "where to write the muscles is not said", where="--output", remedy="Give -o muscles.json"
        )
    if apply is None and size != 1.0:
        raise EcorcheError(
            "only muscles identified before have a size", where="--size", remedy="Give --apply"
        )
    for file, suffixes in ((output, (".json",)), (report, (".html", ".htm"))):
        if file is not None and file.suffix.lower() not in suffixes:
            raise EcorcheError(
                f"{file.suffix!r} is not {suffixes[0]}", where=file, remedy=f"Name it {suffixes[0]}"
            )
    named = {path.resolve() for path in (output, report, apply) if path is not None}
    if len(named) < sum(path is not None for path in (output, report, apply)):
        raise EcorcheError("one file is named twice", remedy="Give each a name of its own")


def _of_model(
    path: Path,
    markers: Path | None,
    coordinates: Path | None,
    forces: Path | None,
    activations: Path | None,
    rest: str | None,
    span: tuple[float | None, float | None],
    up: str,
    fat: float,
) -> Given:
    from ecorche.cli.identify_inputs import of_model
    from ecorche.cli.recordings import read_markers

    for name, value in (("--markers", markers), ("--coordinates", coordinates)):
        if value is None:
            raise EcorcheError("is not given", where=name, remedy="A model needs both, and --forces")
    assert markers is not None
    assert coordinates is not None
    recorded = read_markers(markers, up, None, None)
    return of_model(path, recorded, coordinates, forces, activations, span, _seconds(rest), fat)


def _of_rig(
    path: Path,
    motion: Path | None,
    clip: str | None,
    skin: list[str],
    skins: Path | None,
    frames: str | None,
    activation: str | None,
    fat: float,
) -> Given:
    import numpy as np

    from ecorche.body.as_model import rig_model
    from ecorche.body.muscles import rig_activation
    from ecorche.body.perform import perform
    from ecorche.cli.activation import activation_source, all_muscles
    from ecorche.cli.identify_inputs import of_rig
    from ecorche.cli.options import frame_range
    from ecorche.cli.subject import Subject, read_rigged, subject_motion

    if bool(skin) == (skins is not None):
        raise EcorcheError(
            f"the skins are said {'twice' if skin else 'nowhere'}",
            where="--skin, --skins",
            remedy="Give --skin FRAME=FILE for a few frames, or --skins FILE for all",
        )
    character, rig = read_rigged(path)
    subject = Subject(character, rig)
    chosen = subject_motion(character, motion, clip)
    if chosen is None:
        raise MotionError("there is no motion", where=path, remedy="Give one: --motion FILE")
    performed = perform(
        character, chosen, rig=rig, frames=frame_range(frames), mapping=subject.mapping, muscles=False
    ).take.motion
    assert performed is not None  # a motion was given
    source = activation_source(activation, subject) or rig_activation(character, rig, all_muscles(subject))
    model = rig_model(character, rig)
    body = model.body.character.body(rig.spec.body).mesh.points.astype(np.float64)
    count = performed.frame_count
    given = _sculpted(skin, count) if skins is None else _cached(skins, count, len(body))
    return of_rig(model, performed, source.over(performed), given, body, fat)


def _sculpted(texts: list[str], count: int) -> list[tuple[int, Floats]]:
    """Frames and vertices [m] of ``12=raised.obj``."""
    import numpy as np

    from ecorche.io.formats import read_mesh

    found: dict[int, Floats] = {}
    for text in texts:
        frame, _, file = text.partition("=")
        if not frame.strip().isdigit() or not file:
            raise EcorcheError(
                f"{text!r} is no frame and file", where="--skin", remedy="Write it as 12=raised.obj"
            )
        if int(frame) >= count or int(frame) in found:
            raise MotionError(
                f"frame {int(frame)} is {'named twice' if int(frame) in found else 'not one of the motion'}",
                where="--skin",
                remedy=f"Choose each from 0 to {count - 1} once",
            )
        found[int(frame)] = np.asarray(read_mesh(Path(file)).points, np.float64)
    return sorted(found.items())


def _cached(path: Path, count: int, vertices: int) -> list[tuple[int, Floats]]:
    """All frames of a cache."""
    import numpy as np

    from ecorche.io import npz, pc2

    if path.suffix.lower() not in (".npz", ".pc2"):
        raise EcorcheError(
            "is no cache of skins", where=path, remedy="Give .npz or .pc2, or --skin FRAME=FILE"
        )
    cache = npz.read_frames(path) if path.suffix.lower() == ".npz" else pc2.read_frames(path)
    if len(cache) != count:
        raise MotionError(
            f"it has {len(cache)} frames and the motion {count}",
            where=path,
            remedy="Give the motion it was made of, or a part of it with --frames",
        )
    made = [(n, np.asarray(cache[n].points[0], np.float64)) for n in range(count)]
    if len(made[0][1]) != vertices:
        raise MotionError(
            f"it has {len(made[0][1])} vertices and the character's body {vertices}",
            where=path,
            remedy="Give a cache of this body",
        )
    return made


def _seconds(text: str | None) -> tuple[float, float] | None:
    """``"0-0.5"`` as its numbers."""
    if text is None:
        return None
    first, _, last = text.partition("-")
    try:
        found = float(first), float(last)
    except ValueError:
        found = (1.0, 0.0)
    if found[0] > found[1]:
        raise EcorcheError(f"{text!r} is no span of time", where="--rest", remedy="Write it as 0-0.5")
    return found


def _left_out(found: IdentifiedSpec) -> list[str]:
    """Muscles that were not identified, by reason, and what else was noted."""
    told = list(found.notes)
    reasons: dict[str, list[str]] = {}
    for name, why in found.left_out.items():
        reasons.setdefault(why.split(":")[0].split(" in frame")[0], []).append(name)
    for why, names in reasons.items():
        more = ", …" if len(names) > SHOWN else ""
        told.append(f"not identified, {len(names)}: {why} ({', '.join(names[:SHOWN])}{more})")
    for note, count in Counter(note for one in found.spindles.values() for note in one.notes).items():
        told.append(f"{count} of {len(found.spindles)} muscles: {note}")
    return told


def _unused(found: IdentifiedSpec, given: Given) -> list[str]:
    """Of muscles identified before, what this body or motion has not."""
    here = {track.name: track for track in given.moving.tracks}
    told = []
    absent = [name for name in found.spindles if name not in here]
    if absent:
        told.append(f"{len(absent)} identified muscles are not in this body, such as {absent[0]!r}")
    beyond = [
        name
        for name, one in found.spindles.items()
        if name in here
        and not (
            one.lengths[0] * 0.98 <= here[name].length.min()
            and here[name].length.max() <= one.lengths[1] * 1.02
        )
    ]
    if beyond:
        told.append(
            f"{len(beyond)} muscles are shorter or longer here than they were seen, such as {beyond[0]!r}:"
            " their shapes are guesses there"
        )
    return told


def _tell(compared: Compared) -> None:
    """The table by which an identification is judged."""
    import numpy as np

    typer.echo(f"{'markers from muscles [mm]':<28}{'mean':>8}{'sd':>8}")
    for what, away in (("undeformed", compared.undeformed), ("identified", compared.identified)):
        size = 1e3 * np.abs(away)
        typer.echo(f"{what:<28}{size.mean():>8.2f}{size.std():>8.2f}")
    typer.echo(
        f"{compared.told}: {len(compared.names)} muscles,"
        f" {len(np.unique(compared.assigned.marker))} markers, {len(compared.assigned.frame)} positions in"
        f" {len(np.unique(compared.assigned.frame))} frames"
    )
    held = compared.held.any(axis=0)
    if held.any():
        typer.echo(f"note: {int(held.sum())} muscles had to be held within their bounds in some frames")
