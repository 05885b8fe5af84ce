"""What `ecorche identify` is given: muscles over a motion and markers, or skins, over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ecorche.errors import EcorcheError, MotionError, ReadError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ecorche.base.recordings import MarkerRecording
    from ecorche.biomech.identification import AtRest
    from ecorche.biomech.markers_on_muscles import Markers
    from ecorche.biomech.model import MusculoskeletalModel
    from ecorche.biomech.model_tracks import Moving
    from ecorche.body.as_model import RigModel
    from ecorche.skeleton.motion import Motion

    Floats = npt.NDArray[np.float64]

PUSH = 1e-3
"""Tensions below zero by more than this are no rounding [N]."""
TOO_LARGE = 20.0
"""Markers that spread over so many times the length of the body are in another unit."""


class Given(NamedTuple):
    """Muscles and markers over the same frames.

    Attributes:
        moving: The muscles.
        markers: Over them.
        at_rest: The same of the body still and slack; None where nobody said when it was.
        same: Whether a marker is the same place of the skin in all frames.
        notes: What a person should know.
    """

    moving: Moving
    markers: Markers
    at_rest: AtRest | None
    same: bool
    notes: tuple[str, ...]


def of_model(
    path: Path,
    recorded: MarkerRecording,
    coordinates: Path,
    forces: Path | None,
    activations: Path | None,
    span: tuple[float | None, float | None],
    rest: tuple[float, float] | None,
    fat: float,
) -> Given:
    """A model's muscles by its results, and measured markers.

    Args:
        path: The model. recorded: All markers of the recording.
        coordinates: Its poses. forces, activations: One of them tells how hard muscles pull.
        span: First and last second that count; None for all there is.
        rest: Seconds between which the body is still and slack.
        fat: [m].
    """
    import numpy as np

    from ecorche.biomech.coordinate_tables import some_poses_from_columns
    from ecorche.biomech.markers_on_muscles import Markers
    from ecorche.biomech.model_tracks import model_tracks
    from ecorche.biomech.read_model import read_model
    from ecorche.io.opensim_storage import read_table

    model, table = read_model(path), read_table(coordinates)
    q, notes = some_poses_from_columns(model, table.columns, degrees=table.degrees, where=table.source)
    when, tensions, told = _tensions(
        model, forces, activations, (float(table.times[0]), float(table.times[-1]))
    )
    begins, ends = max(table.times[0], when[0]) - 1e-6, min(table.times[-1], when[-1]) + 1e-6
    common = (recorded.times >= begins) & (recorded.times <= ends)
    if not common.any():
        raise MotionError(
            f"markers from {recorded.times[0]:g} to {recorded.times[-1]:g} s and results from"
            f" {begins:g} to {ends:g} s have no frame in common",
            where=recorded.source,
            remedy="Give results of the same recording",
        )
    first, last = (np.inf * s if t is None else t for s, t in zip((-1.0, 1.0), span, strict=True))
    chosen = common & (recorded.times >= first - 1e-9) & (recorded.times <= last + 1e-9)
    if not chosen.any():
        raise MotionError("no frame is left", where=recorded.source, remedy="Widen --start and --end")
    outside = int(len(common) - common.sum())
    if outside:
        told.append(f"{outside} frames of markers lie outside the results and do not count")
    if not _same_times(recorded.times[chosen], table.times) or not _same_times(recorded.times[chosen], when):
        told.append("results are taken at the times of the markers, straight between their rows")
    gaps = recorded.gaps()
    if gaps:
        told.append(
            f"{len(gaps)} markers have gaps, {sum(gaps.values())} positions in all: these do not count"
        )

    def given(frames: npt.NDArray[np.bool_]) -> tuple[Moving, Markers]:
        times, places = recorded.times[frames], recorded.positions[frames]
        poses = np.stack([np.interp(times, table.times, column) for column in q.T], axis=1)
        pulls = {name: np.interp(times, when, values) for name, values in tensions.items()}
        return model_tracks(model, poses, pulls, fat=fat), Markers(
            places, np.asarray(np.isfinite(places).all(axis=2))
        )

    moving, markers = given(chosen)
    _require_unit(markers.positions, moving.span, recorded.source)
    resting = None
    if rest is not None:
        still = common & (recorded.times >= rest[0] - 1e-9) & (recorded.times <= rest[1] + 1e-9)
        if not still.any():
            raise MotionError("no frame is at rest", where="--rest", remedy="Choose seconds of the recording")
        there, then = given(still)
        resting = (there.tracks, then)
    return Given(moving, markers, resting, True, (*recorded.notes, *notes, *told))


def of_rig(
    model: RigModel,
    motion: Motion,
    activation: Floats,
    skins: Sequence[tuple[int, Floats]],
    bind: Floats,
    fat: float,
) -> Given:
    """A rig's muscles in some frames of a motion, and the skins that a person made, or scanned, for these.

    Args:
        model: The rig as a model. motion: Of its character.
        activation: Of its muscles over the motion, (F, muscles).
        skins: Frame and vertices [m], (V, 3), of each.
        bind: The character's own skin [m], (vertices, 3).
        fat: [m].
    """
    import numpy as np

    from ecorche.biomech.markers_on_muscles import Markers
    from ecorche.biomech.model_tracks import rig_tracks
    from ecorche.skeleton.motion import bind_pose

    frames = [frame for frame, _ in skins]
    part = replace(motion, times=np.arange(len(frames), dtype=np.float64), local=motion.local[frames])
    moving = rig_tracks(model, part, activation[frames], fat=fat)
    for _, points in skins:
        _require_unit(points[None], moving.span, "--skin")
    if all(len(points) == len(bind) for _, points in skins):
        still = rig_tracks(model, bind_pose(motion.skeleton), np.zeros((1, activation.shape[1])), fat=fat)
        rest = (still.tracks, Markers(bind[None]))
        return Given(moving, Markers(np.stack([points for _, points in skins])), rest, True, ())
    counts = [len(points) for _, points in skins]
    places, seen = np.zeros((len(skins), sum(counts), 3)), np.zeros((len(skins), sum(counts)), np.bool_)
    for row, (begin, (_, points)) in enumerate(zip(np.cumsum([0, *counts[:-1]]), skins, strict=True)):
        places[row, begin : begin + len(points)] = points
        seen[row, begin : begin + len(points)] = True
    note = (
        f"the skins have other vertices than the character ({len(bind)}): nothing says which place of one is"
        " which of another, so distances count as they are"
    )
    return Given(moving, Markers(places, seen), None, False, (note,))


def _tensions(
    model: MusculoskeletalModel,
    forces: Path | None,
    activations: Path | None,
    span: tuple[float, float],
) -> tuple[Floats, dict[str, Floats], list[str]]:
    """Times [s], tensions by muscle [N], and what was done."""
    import numpy as np

    from ecorche.io.opensim_storage import read_table

    if (forces is None) == (activations is None):
        raise EcorcheError(
            f"how hard muscles pull is said {'nowhere' if forces is None else 'twice'}",
            where="--forces, --activations",
            remedy="Give one of the two, as `ecorche solve` writes them",
        )
    if forces is not None:
        table = read_table(forces)
        columns = {name.strip("/").split("/")[-1]: values for name, values in table.columns.items()}
        known = [muscle.name for muscle in model.muscles if muscle.name in columns]
        for name in known:
            finite = np.isfinite(columns[name])
            if not finite.all():
                raise MotionError(
                    f"the tension of {name!r} has no number in row {int(np.argmin(finite)) + 1}",
                    where=forces,
                    remedy="Fill the gap first, or leave these rows out",
                )
            if (columns[name] < -PUSH).any():
                row = int(np.argmin(columns[name]))
                raise MotionError(
                    f"{name!r} pushes, by {-columns[name][row]:g} N in row {row + 1}: muscles pull",
                    where=forces,
                    remedy="Turn the sign of tensions: what pulls is above zero",
                )
        return table.times, {name: columns[name] for name in known}, []
    from ecorche.cli.recordings import read_model_activation

    assert activations is not None
    strength = {muscle.name: muscle.max_force for muscle in model.muscles}
    curves, notes = read_model_activation(activations, [*strength], *span)
    times = np.unique(np.concatenate([when for when, _ in curves.values()]))
    pulls = {name: strength[name] * np.interp(times, *curve) for name, curve in curves.items()}
    notes.append("tensions are activations times the greatest force: length and speed are left out")
    return times, pulls, notes


def _same_times(wanted: Floats, known: Floats) -> bool:
    import numpy as np

    at = np.clip(np.searchsorted(known, wanted - 1e-6), 0, len(known) - 1)
    return bool(np.abs(known[at] - wanted).max() < 1e-5)


def _require_unit(positions: Floats, span: float, where: str) -> None:
    """Refuse markers that are a thousand times as far apart as the body is long."""
    import numpy as np

    seen = positions[np.isfinite(positions).all(axis=-1)]
    if not len(seen):
        raise ReadError("no marker was seen in any frame", where=where, remedy="Give frames with markers")
    low, high = np.quantile(seen, (0.05, 0.95), axis=0)
    spread = float(np.linalg.norm(high - low))
    for what, factor in (("millimetres", 1000.0), ("centimetres", 100.0)):
        if spread > TOO_LARGE * span and spread > 0.3 * factor * span:
            raise ReadError(
                f"markers spread over {spread:.3g} m and muscles over {span:.3g} m: they are in {what}",
                where=where,
                remedy="Say the unit in the file's header, or scale it to metres",
            )
