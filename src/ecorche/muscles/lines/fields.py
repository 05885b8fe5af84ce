"""Force fields of ellipsoids that bend an elastic line: it is drawn to them or pushed off.

Thesis sections 4.4.1, 4.5.2 and 4.5.3; text 003. Which force acts at which distance is printed nowhere. Ours
has an energy, so that a line comes to rest, is C1 in place and zero far away. With a measure m of how far a
node lies from an ellipsoid, strength k [N/m], reach ℓ and rounding h [m], the pull ``U'(m)`` is

- *repel*: 0 for ``m ≥ h``, ``−k (h − m)² / 4h`` between, ``k m`` for ``m ≤ −h``: a spring to the surface that
  only pushes, its onset rounded;
- *attract, orthogonal*: ``k m (1 − (m/ℓ)²)²`` within ``|m| < ℓ``, else 0: a spring to the surface from
  outside and inside; it pulls hardest at ``ℓ/√5``;
- *attract, radial*: the same towards the centre, ``k r (1 − (r/ℓ)²)²`` at distance r from it.

The measure is, *orthogonal*, the signed distance, whose gradient is the surface's normal: a node slides
freely along the surface. *Radial* forces point along the line to the centre; an energy can do so only if it
depends on r alone, so to repel ``m = (r² − R²) / 2R`` with R the geometric mean of the radii (a ball keeps
its own), which is smooth at the centre too, and to attract ``m = r² / 2ℓ``.

*Grouped* ellipsoids are one field, of which the nearest acts. Where the choice switches its force would jump;
instead the group's measure is the smooth least ``−b log Σ exp(−mᵢ / b)``, so forces are C1 there as well. A
few b away from the switch the nearest acts alone; where n are equally near, the measure is ``b log n`` less.

One place remains where a force jumps: inside an ellipsoid, on the flat disc whose points are equally near to
both sides, an orthogonal force turns over. It points away from that disc, so nothing comes to rest there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.ellipsoid import distance_to_second_order, require_radii
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

REPEL: Final = 0
ATTRACT: Final = 1
REPEL_RADIAL: Final = 2
ATTRACT_RADIAL: Final = 3

# columns of a posed ellipsoid: the rows of its axes (from world to its own frame), centre, radii
AXES, CENTRE, RADII, PLACED = 0, 9, 12, 15

_FORGOTTEN = 30.0  # widths by which an ellipsoid farther off than the nearest has no say: exp(−30)


@dataclass(frozen=True, eq=False)
class FieldEllipsoid:
    """One ellipsoid of a field, at bind, carried by a joint or by a line.

    Attributes:
        centre: At bind [m], shape (3,).
        radii: Along its axes [m], shape (3,).
        axes: Unit axes as columns, at bind, shape (3, 3).
        joint: Number of the joint that carries it, or None.
        line: Name of the line that carries it, or None.
        place: Where along that line: node number plus a share of the segment that follows.
    """

    centre: Floats
    radii: Floats
    axes: Floats = field(default_factory=lambda: np.eye(3))
    joint: int | None = None
    line: str | None = None
    place: float = 0.0

    def require_place(self, where: str) -> None:
        """Refuse an ellipsoid that is nowhere, without extent, or turned by no rotation."""
        require_radii(self.radii, where)
        axes = np.asarray(self.axes, np.float64)
        if not (np.isfinite(self.centre).all() and np.abs(axes.T @ axes - np.eye(3)).max() < 1e-6):
            raise EcorcheError(
                "its centre or axes are no place and no rotation",
                where=where,
                remedy="Give a finite centre, and three unit axes square to each other as columns",
            )


@dataclass(frozen=True, eq=False)
class Field:
    """A force field that lines may name.

    Attributes:
        name: Of the field.
        ellipsoids: One or several; of several the nearest acts.
        kind: Whether nodes are drawn to the ellipsoid or pushed off it.
        mode: Squarely to the surface, or along the line to the centre.
        strength: Of its spring [N/m].
        reach: Beyond this distance nothing is attracted [m]; None: twice the largest radius.
        rounding: Width over which pushing sets in, to either side of the surface [m].
        blend: Width over which the choice of the nearest is blended [m].
    """

    name: str
    ellipsoids: tuple[FieldEllipsoid, ...]
    kind: Literal["attract", "repel"] = "repel"
    mode: Literal["orthogonal", "radial"] = "orthogonal"
    strength: float = 3000.0
    reach: float | None = None
    rounding: float = 0.001
    blend: float = 0.002

    def checked(self) -> Field:
        """This field; what makes no field is refused."""
        where = f"field '{self.name}'"
        if not self.ellipsoids:
            raise EcorcheError("it has no ellipsoid", where=where, remedy="Give it at least one")
        for number, one in enumerate(self.ellipsoids):
            spot = f"{where}, ellipsoid {number}"
            one.require_place(spot)
            if (one.joint is None) == (one.line is None):
                raise EcorcheError(
                    "it is carried by neither or both of a joint and a line",
                    where=spot,
                    remedy="Name the one thing that carries it",
                )
        for what, value in (("strength", self.strength), ("rounding", self.rounding), ("blend", self.blend)):
            if not (np.isfinite(value) and value > 0.0):
                raise EcorcheError(f"its {what} is {value}", where=where, remedy="Give a number above zero")
        if self.reach is not None and not (np.isfinite(self.reach) and self.reach > 0.0):
            raise EcorcheError(f"its reach is {self.reach}", where=where, remedy="Give metres above zero")
        for what, chosen, choices in (
            ("kind", str(self.kind), ("attract", "repel")),
            ("mode", str(self.mode), ("orthogonal", "radial")),
        ):
            if chosen not in choices:
                raise EcorcheError(
                    f"its {what} is '{chosen}'", where=where, remedy=f"Choose {' or '.join(choices)}"
                )
        return self

    def law(self) -> int:
        """Which law acts."""
        return {
            ("repel", "orthogonal"): REPEL,
            ("attract", "orthogonal"): ATTRACT,
            ("repel", "radial"): REPEL_RADIAL,
            ("attract", "radial"): ATTRACT_RADIAL,
        }[self.kind, self.mode]

    def numbers(self) -> tuple[float, float, float, float]:
        """Strength, reach, rounding and blend."""
        reach = self.reach
        if reach is None:
            reach = 2.0 * max(float(np.max(one.radii)) for one in self.ellipsoids)
        return self.strength, reach, self.rounding, self.blend


class FieldLaws(NamedTuple):
    """The laws of G fields.

    Attributes:
        laws: `REPEL` and so on, shape (G,).
        numbers: Strength [N/m], reach, rounding and blend [m], shape (G, 4).
        starts: Borders of each field's ellipsoids, shape (G + 1,).
    """

    laws: Ints
    numbers: Floats
    starts: Ints


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def pull(law: int, numbers: Floats, g: int, m: float) -> Any:
    """Energy [J], its slope [N] and that one's slope [N/m] at measure m of a group."""
    k, reach, h = numbers[g, 0], numbers[g, 1], numbers[g, 2]
    if law in (REPEL, REPEL_RADIAL):
        if m >= h:
            return 0.0, 0.0, 0.0
        if m <= -h:
            return 0.5 * k * m * m + k * h * h / 6.0, k * m, k
        left = h - m
        return k * left**3 / (12.0 * h), -k * left * left / (4.0 * h), 0.5 * k * left / h
    full = k * reach * reach / 6.0
    if law == ATTRACT:
        share = m / reach
        left = 1.0 - share * share
        if left <= 0.0:
            return full, 0.0, 0.0
        return full * (1.0 - left**3), k * m * left * left, k * left * (left - 4.0 * share * share)
    left = 1.0 - 2.0 * m / reach
    if left <= 0.0:
        return full, 0.0, 0.0
    return full * (1.0 - left**3), k * reach * left * left, -4.0 * k * left


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _measure(law: int, reach: float, e: Floats, x: float, y: float, z: float) -> Any:
    """Measure, gradient and second derivative at a place in an ellipsoid's own frame."""
    a, b, c = e[RADII], e[RADII + 1], e[RADII + 2]
    if law in (REPEL, ATTRACT):
        return distance_to_second_order(x, y, z, a, b, c)
    square = x * x + y * y + z * z
    mean = reach
    m = 0.5 * square / reach
    if law == REPEL_RADIAL:
        mean = (a * b * c) ** (1.0 / 3.0)
        m = 0.5 * (square / mean - mean)
    over = 1.0 / mean
    return m, x * over, y * over, z * over, over, 0.0, 0.0, over, 0.0, over


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def field_terms(fields: FieldLaws, placed: Floats, g: int, x: float, y: float, z: float, exact: bool) -> Any:
    """Energy [J], gradient [N] and second derivative [N/m] of a field at a place in the world.

    Ten numbers: energy, three of the gradient, xx xy xz yy yz zz. With ``exact`` the second derivative is the
    true one, which may be negative along some direction; else only its parts that cannot be.
    """
    law, numbers = fields.laws[g], fields.numbers
    reach, blend = numbers[g, 1], numbers[g, 3]
    first, end = fields.starts[g], fields.starts[g + 1]
    widest = reach
    if law in (REPEL, REPEL_RADIAL):
        widest = numbers[g, 2]
    elif law == ATTRACT_RADIAL:
        widest = 0.5 * reach
    if end - first > 1:
        widest += _FORGOTTEN * blend
    least, total = np.inf, 0.0
    gx, gy, gz = 0.0, 0.0, 0.0
    hxx, hxy, hxz, hyy, hyz, hzz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    cxx, cxy, cxz, cyy, cyz, czz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for n in range(first, end):
        e = placed[n]
        dx, dy, dz = x - e[CENTRE], y - e[CENTRE + 1], z - e[CENTRE + 2]
        px = e[0] * dx + e[1] * dy + e[2] * dz
        py = e[3] * dx + e[4] * dy + e[5] * dz
        pz = e[6] * dx + e[7] * dy + e[8] * dz
        if law in (REPEL, ATTRACT):
            # a blown-up copy of the ellipsoid is nowhere nearer to it than at its smallest radius
            qx, qy, qz = px / e[RADII], py / e[RADII + 1], pz / e[RADII + 2]
            thinnest = min(e[RADII], e[RADII + 1], e[RADII + 2])
            if (np.sqrt(qx * qx + qy * qy + qz * qz) - 1.0) * thinnest >= widest:
                continue
        m, mx, my, mz, mxx, mxy, mxz, myy, myz, mzz = _measure(law, reach, e, px, py, pz)
        if m >= widest:
            continue
        # into the world, by the rows of the axes
        wx = e[0] * mx + e[3] * my + e[6] * mz
        wy = e[1] * mx + e[4] * my + e[7] * mz
        wz = e[2] * mx + e[5] * my + e[8] * mz
        weight = 1.0
        if least == np.inf:
            least = m
        elif m < least:
            fade = np.exp((m - least) / blend)
            total, gx, gy, gz = total * fade, gx * fade, gy * fade, gz * fade
            hxx, hxy, hxz, hyy, hyz, hzz = (
                hxx * fade, hxy * fade, hxz * fade, hyy * fade, hyz * fade, hzz * fade,
            )  # fmt: skip
            cxx, cxy, cxz, cyy, cyz, czz = (
                cxx * fade, cxy * fade, cxz * fade, cyy * fade, cyz * fade, czz * fade,
            )  # fmt: skip
            least = m
        else:
            weight = np.exp((least - m) / blend)
        total += weight
        gx, gy, gz = gx + weight * wx, gy + weight * wy, gz + weight * wz
        for i in range(3):  # M times the rows, then the rows' transposed times that
            a0, a1, a2 = e[i], e[3 + i], e[6 + i]
            t0 = weight * (mxx * a0 + mxy * a1 + mxz * a2)
            t1 = weight * (mxy * a0 + myy * a1 + myz * a2)
            t2 = weight * (mxz * a0 + myz * a1 + mzz * a2)
            if i == 0:
                hxx += e[0] * t0 + e[3] * t1 + e[6] * t2
                hxy += e[1] * t0 + e[4] * t1 + e[7] * t2
                hxz += e[2] * t0 + e[5] * t1 + e[8] * t2
            elif i == 1:
                hyy += e[1] * t0 + e[4] * t1 + e[7] * t2
                hyz += e[2] * t0 + e[5] * t1 + e[8] * t2
            else:
                hzz += e[2] * t0 + e[5] * t1 + e[8] * t2
        cxx, cxy, cxz = cxx + weight * wx * wx, cxy + weight * wx * wy, cxz + weight * wx * wz
        cyy, cyz, czz = cyy + weight * wy * wy, cyz + weight * wy * wz, czz + weight * wz * wz
    if least == np.inf:
        far = 0.0 if law in (REPEL, REPEL_RADIAL) else numbers[g, 0] * reach * reach / 6.0
        return far, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    m, over = least - blend * np.log(total), 1.0 / total
    energy, slope, bend = pull(law, numbers, g, m)
    gx, gy, gz = over * gx, over * gy, over * gz
    # second derivative: U'' g gᵀ + U' (Σ w M − (Σ w g gᵀ − g gᵀ) / b)
    curved, spread = over * slope, slope / blend
    if law == ATTRACT_RADIAL:
        if not exact:
            # the second slope takes no more than the first gives
            bend = max(bend, -slope / max(reach * (gx * gx + gy * gy + gz * gz), 1e-300))
    elif not exact:
        bend, curved = max(bend, 0.0), max(curved, 0.0)
    if not exact:
        spread = min(spread, 0.0)
    mixed, alone = -spread * over, bend + spread
    return (
        energy, slope * gx, slope * gy, slope * gz,
        curved * hxx + mixed * cxx + alone * gx * gx,
        curved * hxy + mixed * cxy + alone * gx * gy,
        curved * hxz + mixed * cxz + alone * gx * gz,
        curved * hyy + mixed * cyy + alone * gy * gy,
        curved * hyz + mixed * cyz + alone * gy * gz,
        curved * hzz + mixed * czz + alone * gz * gz,
    )  # fmt: skip
