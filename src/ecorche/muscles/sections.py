"""A muscle's cross-sections in one frame, and where a point lies in them.

Text 000, section 3.1 and equations (10) to (12), as corrected in `docs/concepts/bulge.md`: at parameter t
along the line from origin to insertion a section is an ellipse round P(t), of half-axis ``C_T s_f T``
outwards and ``C_T / T`` sideways. Above the lateral coordinate a its surface has the height
``b = s_f T sqrt(max(0, C_T² − (aT)²))``.

Two places where that function has a crease are rounded, so that skin that slides across them stays
smooth whatever the muscle does in between: t is clamped to [0, 1] by a parabola within `ENDS` of
either end, and the root, whose slope is infinite at the rim, leaves the ellipse for a parabola where
``1 − (aT/C_T)²`` is below `RIM`, and is zero from −3 `RIM` on. Skin that a pose brings over a muscle's rim,
where it did not lie at bind, thus meets a slope and no cliff. Everywhere else the equations hold to the
letter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.centre_lines import STATIONS, CentreLines, centre_lines
from ecorche.muscles.packed_sections import (
    BELLY,
    COLUMNS,
    STATION_ALONG,
    STATION_COLUMNS,
    STATION_OUT,
    STATION_POINT,
    STATION_T,
    PackedSections,
    pack_muscles,
)
from ecorche.muscles.posing import CHANGE, FRAME, LENGTH, PosedTables
from ecorche.muscles.posing_plan import PosingPlan
from ecorche.muscles.section_frames import PosedFrames
from ecorche.muscles.spindle import Spindles
from ecorche.muscles.volume import MOVING, SpindleStates

Floats = npt.NDArray[np.float64]

ENDS = 0.05
"""Within so much of t = 0 and t = 1 the clamp is a parabola."""
RIM = 0.4
"""Where ``1 − (aT/C_T)²`` is below this, a parabola that ends level takes the root's place."""

# two Bézier cubics, control values origin half first, as polynomials in the local parameter that runs from
# the belly outwards: one column a coefficient, in the order of `Sections.curves`
_FROM_BELLY = np.array(
    [
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 3.0, -3.0, 0.0, 0.0, 0.0],
        [0.0, 3.0, -6.0, 3.0, 0.0, 0.0, 0.0],
        [1.0, -3.0, 3.0, -1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, -3.0, 3.0, -1.0],
        [0.0, 0.0, 0.0, 0.0, 3.0, -6.0, 3.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, -3.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ]
)
_SHAPES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("origin", "along", "out", "side"), (3,)),
    **dict.fromkeys(("length", "bulge", "scale", "belly"), ()),
    "thickness": (2, 4),
    "sweep": (2, 4, 2),
}
_POWERS = np.array([0, 1, 2, 3, 1, 2, 3])
_IS_ORIGIN_HALF = np.array([True, True, True, True, False, False, False])


class SectionCoordinates(NamedTuple):
    """Where points lie in a muscle's sections; every array (points,).

    Attributes:
        place: Of a bent muscle: where between its stations the point belongs, see `CentreLines`; else 0.
        t: Place along the muscle, 0 at the origin and 1 at the insertion, not clamped.
        a: Distance from the section's centre along ``side`` [m].
        v: Distance from the section's centre along ``out`` [m].
        thickness: ``C_T`` at the clamped t [m].
        height: How high the muscle's surface is over the section's middle at a, ``b`` [m].
    """

    place: Floats
    t: Floats
    a: Floats
    v: Floats
    thickness: Floats
    height: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Sections:
    """The shape of M muscles in one frame, along straight lines or, where they are given, bent ones.

    Attributes:
        origin: Where each muscle begins [m], shape (M, 3).
        along: Unit direction from origin to insertion, shape (M, 3). This and the next two are of the first
            station where the muscle is bent.
        out: Unit direction S_d in which it bulges, perpendicular to ``along``, shape (M, 3).
        side: Unit direction S = ``along × out``, shape (M, 3). A mirrored muscle has the mirror's
            ``along`` and ``out``, so its ``side`` is *minus* the mirrored one.
        length: From origin to insertion, along the line [m], shape (M,).
        bulge: T, 1 at rest, shape (M,).
        scale: s_f, the section's height over its width at rest, shape (M,).
        belly: t_c, where the two halves meet, shape (M,).
        thickness: Bézier control values of C_T, origin and insertion half [m], shape (M, 2, 4).
        sweep: Control offsets of P from the line along (out, side) [m], shape (M, 2, 4, 2).
        lines: The centre lines of bent muscles, which have their sections across them and t by arc length;
            None where every muscle is straight.
    """

    origin: Floats
    along: Floats
    out: Floats
    side: Floats
    length: Floats
    bulge: Floats
    scale: Floats
    belly: Floats
    thickness: Floats
    sweep: Floats
    lines: CentreLines | None

    def __post_init__(self) -> None:
        count = len(self.origin)
        for name, tail in _SHAPES.items():
            values = np.require(getattr(self, name), np.float64, ["C", "W"])
            shape = (count, *tail)
            if values.shape != shape:
                raise EcorcheError(
                    f"{name} of {count} muscles has shape {values.shape}",
                    remedy=f"Give an array of shape {shape}",
                )
            finite = np.isfinite(values)
            if not finite.all():
                by_muscle = np.asarray(finite.reshape(count, -1).all(axis=1))
                _require(by_muscle, f"{name} is not finite")
            object.__setattr__(self, name, values)
        if self.lines is not None and (self.lines.muscles >= count).any():
            raise EcorcheError(
                f"{count} muscles have a centre line of muscle {self.lines.muscles.max()}",
                remedy="Give the lines of these muscles",
            )
        _require(self.length > 0.0, "length is not positive")
        _require(self.bulge > 0.0, "bulge is not positive")
        _require(self.scale > 0.0, "scale is not positive")
        _require((self.belly > 0.0) & (self.belly < 1.0), "belly does not lie between 0 and 1")

    def __len__(self) -> int:
        return len(self.origin)

    def __repr__(self) -> str:
        return f"Sections({len(self)} muscles)"

    @cached_property
    def line_rows(self) -> npt.NDArray[np.int32]:
        """The row of each muscle's centre line, −1 for straight muscles, shape (M,)."""
        rows = np.full(len(self), -1, np.int32)
        if self.lines is not None:
            rows[self.lines.muscles] = np.arange(len(self.lines.muscles))
        return rows

    @cached_property
    def packed(self) -> PackedSections:
        """The muscles as the skin's kernel reads them."""
        table = np.zeros((len(self), COLUMNS), np.float32)
        vectors = np.stack([self.origin, self.along, self.out, self.side])
        numbers = np.stack([self.length, self.bulge, self.scale, self.belly])
        pack_muscles(vectors, numbers, self.thickness, self.sweep, table)
        table[self.line_rows >= 0, :BELLY] = 0.0  # where a bent muscle is, only its stations say
        lines = self.lines
        if lines is None:
            return PackedSections(table, np.zeros((0, STATIONS, STATION_COLUMNS), np.float32))
        side = np.cross(lines.along, lines.out)
        rest = np.zeros((*lines.t.shape, STATION_COLUMNS - STATION_T - 1))
        columns = (lines.points, lines.along, lines.out, side, lines.t[..., None], rest)
        return PackedSections(table, np.concatenate(columns, axis=-1).astype(np.float32))

    @cached_property
    def curves(self) -> Floats:
        """C_T, then P along out and side, as polynomials about the belly, shape (M, 3, 7).

        With ``x = t − t_c``, ``m = min(x, 0)`` and ``p = max(x, 0)`` a curve is
        ``c0 + m (c1 + m (c2 + m c3)) + p (c4 + p (c5 + p c6))``: no branch, and no cancellation for a
        belly near one end.
        """
        control = np.concatenate([self.thickness[:, None], np.moveaxis(self.sweep, 3, 1)], axis=1)
        local = np.einsum("mkc,cp->mkp", control.reshape(len(self), 3, 8), _FROM_BELLY)
        widths = np.where(_IS_ORIGIN_HALF, -self.belly[:, None], 1.0 - self.belly[:, None])
        coefficients: Floats = local / (widths**_POWERS)[:, None]
        return coefficients

    def coordinates(
        self, muscle: int, points: npt.ArrayLike, place: Floats | None = None
    ) -> SectionCoordinates:
        """Where points [m], shape (points, 3), lie in the sections of one muscle.

        Args:
            muscle: Which muscle.
            points: The points [m].
            place: Where along a bent muscle they belong, as found at bind, shape (points,); without it
                this is the bind, and the places are found.
        """
        points = np.asarray(points, np.float64)
        line = None if self.lines is None else self.lines.line_of(muscle)
        if self.lines is not None and line is not None:
            place = self.lines.find(line, points) if place is None else place
            t, foot, out, side = self.lines.places(line, points, place)
            offset = points - foot
        else:
            place = np.zeros(len(points))
            offset = points - self.origin[muscle]
            t = offset @ self.along[muscle] / self.length[muscle]
            out, side = self.out[muscle], self.side[muscle]
        x = soft_clamp(t) - self.belly[muscle]
        m, p = np.minimum(x, 0.0), np.maximum(x, 0.0)
        thickness, centre_out, centre_side = (
            c[0] + m * (c[1] + m * (c[2] + m * c[3])) + p * (c[4] + p * (c[5] + p * c[6]))
            for c in self.curves[muscle]
        )
        a = np.sum(offset * side, axis=-1) - centre_side
        v = np.sum(offset * out, axis=-1) - centre_out
        bulge = self.bulge[muscle]
        inside = 1.0 - (a * bulge) ** 2 / np.maximum(thickness**2, 1e-30)
        height = self.scale[muscle] * bulge * np.maximum(thickness, 0.0) * round_root(inside)
        return SectionCoordinates(place, t, a, v, thickness, height)


def path_sections(frames: PosedFrames, states: SpindleStates) -> Sections:
    """The sections of muscles in one pose, across the bent lines of those that have via points.

    Args:
        frames: Where the muscles run and which way they bulge; one pose.
        states: Their shapes in that pose.
    """
    spindles, lines = states.spindles, centre_lines(frames)
    along, out = frames.along.copy(), frames.out.copy()
    along[lines.muscles], out[lines.muscles] = lines.along[:, 0], lines.out[:, 0]
    return Sections(
        origin=frames.path.origins,
        along=along,
        out=out,
        side=np.cross(along, out),
        length=frames.path.lengths,
        bulge=states.bulge,
        scale=spindles.scale,
        belly=spindles.belly,
        thickness=states.thickness,
        sweep=spindles.sweep,
        lines=lines,
    )


class PosedSections(Sections):
    """Sections that the kernel has posed: checked and packed already; the rest is unpacked when asked for."""

    _spindles: Spindles
    _posed: PosedTables

    def __len__(self) -> int:
        return len(self.line_rows)

    def __getattr__(self, name: str) -> Any:
        if name not in Sections.__dataclass_fields__:
            raise AttributeError(name)
        self.__dict__.update(self._unpacked())
        return self.__dict__[name]

    def _unpacked(self) -> dict[str, Any]:
        numbers, stations = self._posed.numbers, self._posed.stations
        bent = np.flatnonzero(self.line_rows >= 0)
        numbers[bent, FRAME:LENGTH] = stations[:, 0, STATION_POINT:STATION_T]
        vectors = {
            name: numbers[:, FRAME + 3 * n : FRAME + 3 * n + 3]
            for n, name in enumerate(("origin", "along", "out", "side"))
        }
        lines = CentreLines(
            muscles=bent,
            points=stations[..., STATION_POINT : STATION_POINT + 3],
            along=stations[..., STATION_ALONG : STATION_ALONG + 3],
            out=stations[..., STATION_OUT : STATION_OUT + 3],
            t=stations[..., STATION_T],
            length=numbers[bent, LENGTH],
        )
        return vectors | {
            "length": numbers[:, LENGTH],
            "scale": self._spindles.scale,
            "belly": self._spindles.belly,
            "thickness": self._spindles.thickness + numbers[:, CHANGE, None, None] * MOVING,
            "sweep": self._spindles.sweep,
            "lines": lines,
        }


def posed_sections(spindles: Spindles, plan: PosingPlan, bulge: Floats, posed: PosedTables) -> Sections:
    """The sections of a frame that the kernel has posed.

    Args:
        spindles: The shapes at bind.
        plan: What was posed.
        bulge: T of each muscle, shape (M,).
        posed: The frame.
    """
    sections = object.__new__(PosedSections)
    sections.__dict__.update(
        bulge=bulge,
        line_rows=plan.line_rows,
        packed=PackedSections(posed.table, posed.lines),
        _spindles=spindles,
        _posed=posed,
    )
    return sections


def soft_clamp(t: Floats) -> Floats:
    """T clamped to [0, 1] without a crease; exact between `ENDS` and 1 − `ENDS`."""
    return _ramp(t) - _ramp(t - 1.0)


def _ramp(x: Floats) -> Floats:
    """``max(x, 0)`` with a parabola in place of the corner."""
    return np.clip(x + ENDS, 0.0, 2.0 * ENDS) ** 2 / (4.0 * ENDS) + np.maximum(x - ENDS, 0.0)


def round_root(x: Floats) -> Floats:
    """``sqrt(x)`` with a parabola below `RIM` that ends level at −3 `RIM`; the slope is continuous."""
    s = np.maximum(x + 3.0 * RIM, 0.0) / (4.0 * RIM)
    root: Floats = np.where(s < 1.0, np.sqrt(RIM) * s * s, np.sqrt(np.maximum(x, 0.0)))
    return root


def _require(good: npt.NDArray[np.bool_], what: str) -> None:
    if not good.all():
        raise EcorcheError(
            f"muscle {int(np.argmin(good))}: {what} ({int((~good).sum())} such muscles)",
            remedy="Correct the muscle's attachments, shape or activation",
        )
