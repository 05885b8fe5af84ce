"""Muscles identified from skin: the sigmoid spindles that fit dense markers over a motion best.

A. Murai and others, 2016, section 3.2. In: where muscles run, how long they are and how hard they pull, frame
by frame, and markers on the skin over them, or a few sculpted or scanned skins, whose vertices are markers.
Out: 27 numbers a spindle in a document that is saved, read again, and used on bodies of like build.

Changed here: the text's fat ratio β, which has the name of a coefficient, is a thickness of fat in metres
between spindle and marker, as bodies have it; each muscle is fitted on its own (`fit_spindle`), so muscles go
to processes of their own and the result does not depend on how many there are.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from threading import Event

import numpy as np

from ecorche.biomech.fit_memory import FitMemory
from ecorche.biomech.fit_spindle import SpindleFit, fit_spindle
from ecorche.biomech.markers_on_muscles import (
    PER_SEGMENT,
    Assigned,
    Markers,
    joint_on_path,
    markers_on_muscles,
)
from ecorche.biomech.spindle_cost import Cost, OverSpindle
from ecorche.document.identified_spec import CostSpec, IdentifiedSpec, IdentifiedSpindleSpec
from ecorche.errors import EcorcheError
from ecorche.muscles.around_path import PathFrames
from ecorche.muscles.sigmoid_spindle import QUANTITIES
from ecorche.muscles.spindle import Floats

LEAST_MARKERS = 27
"""Marker positions, all frames together, that 27 numbers need at least."""
LEAST_PLACES = 3
"""Different markers that a shape needs at least."""

Progress = Callable[[int, int, str], None]
"""Told after each muscle: how many are done, how many there are, and which it was."""


class Stopped(EcorcheError):
    """An identification was stopped before it was done."""


@dataclass(frozen=True, eq=False)
class Track:
    """One spindle over F frames: where it runs and how hard its muscle pulls.

    Attributes:
        name: Of the spindle; unique.
        path: Where it runs.
        tension: Of the muscle [N], shape (F,).
        muscle: The muscle it is of; empty for one of the same name. Thin spindles side by side share one.
        share: Its share in the muscle's tension.
        lengths: Of the muscle [m], shape (F,), where they are not those of the path.
        radius: A rough radius [m], to tell which muscle lies beneath a marker.
        fat: Between its surface and the markers [m].
    """

    name: str
    path: PathFrames
    tension: Floats
    muscle: str = ""
    share: float = 1.0
    lengths: Floats | None = None
    radius: float = 0.0
    fat: float = 0.0

    def __post_init__(self) -> None:
        where, shape = f"muscle {self.name!r}", (len(self.path),)
        for what, values in (("tension", self.tension), ("lengths", self.lengths)):
            if values is None:
                continue
            if values.shape != shape or not np.isfinite(values).all():
                raise EcorcheError(
                    f"its {what} is not one finite number a frame (shape {values.shape})",
                    where=where,
                    remedy=f"Give shape {shape}",
                )
        if self.lengths is not None and not (self.lengths > 0.0).all():
            raise EcorcheError("a length of it is not positive", where=where, remedy="Give metres above 0")
        if not (np.isfinite([self.radius, self.fat, self.share]).all() and min(self.radius, self.fat) >= 0.0):
            raise EcorcheError(
                f"its radius {self.radius}, fat {self.fat} or share {self.share} is not possible",
                where=where,
                remedy="Give 0 m or more of radius and fat",
            )
        if not 0.0 < self.share <= 1.0:
            raise EcorcheError(
                f"its share in the muscle's tension is {self.share}",
                where=where,
                remedy="Give above 0 and up to 1",
            )

    @property
    def length(self) -> Floats:
        """Length of the muscle [m], (F,)."""
        return self.path.lengths if self.lengths is None else self.lengths


AtRest = tuple[Sequence[Track], Markers]
"""The same muscles and markers of a body that is still and slack, over frames of their own."""


@dataclass(frozen=True)
class Options:
    """How muscles are identified.

    Attributes:
        cost: How the terms of the cost are weighed.
        per_segment: Markers of each segment of a path that count.
        reach: How far from a muscle's rough surface a marker may lie [m]; None: see `markers_on_muscles`.
        workers: Processes; 0 stays in this one.
    """

    cost: Cost = field(default_factory=Cost)
    per_segment: int = PER_SEGMENT
    reach: float | None = None
    workers: int = 0


def identify(
    tracks: Sequence[Track],
    markers: Markers,
    options: Options | None = None,
    *,
    subject: str = "",
    at_rest: AtRest | None = None,
    joint_centres: Floats | None = None,
    joints: Sequence[str] | None = None,
    memory: FitMemory | None = None,
    progress: Progress | None = None,
    stop: Event | None = None,
) -> IdentifiedSpec:
    """Find the spindles that lie best beneath the markers.

    A muscle that cannot be identified is left out by name with the reason; the others are.

    Args:
        tracks: The spindles over the frames.
        markers: Over the same frames.
        options: See there.
        subject: Whose muscles they are.
        at_rest: Tracks and the same markers of the body still and slack: what then lies between a marker and
            its muscle is no matter of how the muscle deforms.
        joint_centres: Of the body's joints [m], (F, J, 3): paths that run through one are left out.
        joints: Their names, for messages; numbered where none are given.
        memory: Where fits are kept that are done, and found again.
        progress: Told after each muscle.
        stop: Set from another thread, it ends the work; so does an interrupt.

    Raises:
        EcorcheError: There are no muscles, two have one name, frames differ, no marker lies on a muscle, or
            none of the muscles could be identified.
        Stopped: It was stopped.
    """
    options = Options() if options is None else options
    require_tracks(tracks, markers)
    if at_rest is not None:
        require_at_rest(at_rest, tracks, markers)
    assigned = assign(tracks, markers, options)
    if not len(assigned.spindle):
        raise EcorcheError(
            "no marker lies on any muscle",
            where=f"{markers.positions.shape[1]} markers, {len(tracks)} muscles",
            remedy="Check that markers and muscles are in one frame and unit (metres), or raise the reach",
        )
    left_out: dict[str, str] = {}
    known = _over_spindles(tracks, assigned, joint_centres, joints, left_out)
    if at_rest is not None:
        known = _with_rest(known, tracks, at_rest)
    if not known:
        reasons = ". ".join(f"{name}: {why}" for name, why in list(left_out.items())[:3])
        raise EcorcheError(
            f"none of the {len(tracks)} muscles could be identified ({reasons})",
            remedy="Give more markers, or a longer motion",
        )
    fits = _fitted(known, options, memory, progress, stop)
    by_name = {track.name: track for track in tracks}
    alone = len(assigned.alone)
    notes = (f"{alone} of {markers.positions.shape[1]} markers lie on no muscle.",) if alone else ()
    return IdentifiedSpec(
        subject=subject,
        frames=markers.frame_count,
        cost=CostSpec(**vars(options.cost)),
        spindles={
            over.name: _told(fit, over, by_name[over.name]) for fit, over in zip(fits, known, strict=True)
        },
        left_out=left_out,
        notes=notes,
    )


def assign(tracks: Sequence[Track], markers: Markers, options: Options) -> Assigned:
    """The markers on the spindles beneath them."""
    return markers_on_muscles(
        [track.path for track in tracks],
        markers,
        [track.radius for track in tracks],
        per_segment=options.per_segment,
        reach=options.reach,
    )


def require_tracks(tracks: Sequence[Track], markers: Markers) -> None:
    """Refuse no muscles at all, two of one name, and frames other than those of the markers."""
    if not tracks:
        raise EcorcheError("there are no muscles to identify", remedy="Give at least one")
    names = [track.name for track in tracks]
    double = next((name for name, count in Counter(names).items() if count > 1), None)
    if double is not None:
        raise EcorcheError(f"two muscles are called {double!r}", remedy="Give each a name of its own")
    for track in tracks:
        if len(track.path) != markers.frame_count:
            raise EcorcheError(
                f"its path has {len(track.path)} frames and the markers have {markers.frame_count}",
                where=f"muscle {track.name!r}",
                remedy="Give both over the same frames",
            )


def require_at_rest(at_rest: AtRest, tracks: Sequence[Track], markers: Markers) -> None:
    """Refuse a rest that lacks a muscle, or that has other markers."""
    resting, there = at_rest
    require_tracks(resting, there)
    names = {track.name for track in resting}
    missing = next((track.name for track in tracks if track.name not in names), None)
    if missing is not None:
        raise EcorcheError("at rest the muscle is missing", where=missing, remedy="Give every muscle")
    if there.positions.shape[1] != markers.positions.shape[1]:
        raise EcorcheError(
            f"at rest there are {there.positions.shape[1]} markers, else {markers.positions.shape[1]}",
            remedy="Give the same markers in the same order",
        )


def _with_rest(known: Sequence[OverSpindle], tracks: Sequence[Track], at_rest: AtRest) -> list[OverSpindle]:
    """What is known with the markers at rest appended, of those that lie on the spindle in motion."""
    resting = {track.name: track for track in at_rest[0]}
    moving = {track.name: track for track in tracks}
    there, made = at_rest[1], []
    seen = np.ones(there.positions.shape[:2], np.bool_) if there.seen is None else there.seen
    for over in known:
        track, own = resting[over.name], np.unique(over.marker)
        around = track.path.around(np.where(seen[..., None], there.positions, 0.0)[:, own])
        f, k = np.nonzero(seen[:, own])
        made.append(
            replace(
                over,
                lengths=np.append(over.lengths, track.length),
                tensions=np.append(over.tensions, track.tension * track.share),
                frame=np.append(over.frame, len(over.lengths) + f),
                marker=np.append(over.marker, own[k]),
                along=np.append(over.along, around.along[f, k]),
                theta=np.append(over.theta, around.theta[f, k]),
                distance=np.append(over.distance, around.distance[f, k] - moving[over.name].fat),
                rest=len(track.path),
            )
        )
    return made


def _over_spindles(
    tracks: Sequence[Track],
    assigned: Assigned,
    centres: Floats | None,
    joints: Sequence[str] | None,
    left_out: dict[str, str],
) -> list[OverSpindle]:
    """What is known of each spindle that can be identified; why others cannot goes to ``left_out``."""
    known = []
    edges = np.searchsorted(assigned.spindle, np.arange(len(tracks) + 1))
    for track, begin, end in zip(tracks, edges[:-1], edges[1:], strict=True):
        own = slice(int(begin), int(end))
        places = len(np.unique(assigned.marker[own]))
        through = None if centres is None else joint_on_path(track.path, centres)
        if through is not None:
            joint = through[1] if joints is None else repr(joints[through[1]])
            left_out[track.name] = (
                f"its path runs through the centre of joint {joint} in frame {through[0]}: on which side it"
                " lies is not defined"
            )
        elif end - begin < LEAST_MARKERS or places < LEAST_PLACES:
            left_out[track.name] = (
                f"too few markers lie on it: {places}, in {end - begin} positions over all frames; it needs"
                f" {LEAST_PLACES} and {LEAST_MARKERS}"
            )
        elif not (assigned.distance[own] > track.fat).all():
            left_out[track.name] = f"markers lie nearer to its path than its fat of {track.fat:g} m is thick"
        else:
            known.append(
                OverSpindle(
                    track.name,
                    track.length,
                    track.tension * track.share,
                    assigned.frame[own],
                    assigned.marker[own],
                    assigned.along[own],
                    assigned.theta[own],
                    assigned.distance[own] - track.fat,
                )
            )
    return known


def _fitted(
    known: Sequence[OverSpindle],
    options: Options,
    memory: FitMemory | None,
    progress: Progress | None,
    stop: Event | None,
) -> list[SpindleFit]:
    """The fits in the order of the spindles."""
    done: dict[int, SpindleFit] = {}

    def told(number: int, fit: SpindleFit, *, new: bool = True) -> None:
        done[number] = fit
        if memory is not None and new:
            memory.keep(known[number], options.cost, fit)
        if progress is not None:
            progress(len(done), len(known), fit.name)

    def require_going() -> None:
        if stop is not None and stop.is_set():
            raise Stopped(f"stopped after {len(done)} of {len(known)} muscles")

    for number, over in enumerate(known):
        kept = None if memory is None else memory.find(over, options.cost)
        if kept is not None:
            told(number, kept, new=False)
    left = [number for number in range(len(known)) if number not in done]
    if options.workers < 1:
        for number in left:
            require_going()
            told(number, fit_spindle(known[number], options.cost))
    elif left:
        with _pool(min(options.workers, len(left))) as pool:
            with _one_thread_each():  # processes start as work is handed in
                waiting = {pool.submit(fit_spindle, known[n], options.cost): n for n in left}
            while waiting:
                require_going()
                ready, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in sorted(ready, key=lambda one: waiting[one]):
                    told(waiting.pop(future), future.result())
    return [done[number] for number in range(len(known))]


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that are gone when the block is left, by an interrupt too: what has not begun never does."""
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started in the block compute on one thread: matrices this small lose by more."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _told(fit: SpindleFit, over: OverSpindle, track: Track) -> IdentifiedSpindleSpec:
    rows = zip(QUANTITIES, fit.coefficients.tolist(), fit.undeformed.tolist(), strict=True)
    told = list(rows)
    return IdentifiedSpindleSpec(
        muscle=track.muscle or track.name,
        share=track.share,
        coefficients={name: (a, b, c) for name, (a, b, c), _ in told},  # type: ignore[misc]
        undeformed={name: value for name, _, value in told},  # type: ignore[misc]
        turn=fit.turn,
        undeformed_turn=fit.undeformed_turn,
        fat=track.fat,
        lengths=(float(over.lengths.min()), float(over.lengths.max())),
        tensions=(float(over.tensions.min()), float(over.tensions.max())),
        markers=int(over.moving.sum()),
        before=fit.before,
        after=fit.after,
        bare_before=fit.bare_before,
        bare_after=fit.bare_after,
        volume_deviation=fit.volume,
        seam=fit.seam,
        notes=fit.notes,
    )
