"""Energy, forces and stiffness of one bundle of elastic lines."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.lines.elastic import ElasticPlan
from ecorche.muscles.lines.fields import FieldLaws, field_terms

Floats = npt.NDArray[np.float64]

_SHORTEST = 1e-9  # a segment shorter than this [m] has no direction of its own


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def bundle_terms(
    plan: ElasticPlan,
    fields: FieldLaws,
    placed: Floats,
    bundle: int,
    x: Floats,
    force: Floats,
    diagonal: Floats,
    below: Floats,
    stiff: bool,
    exact: bool,
) -> float:
    """Energy [J] of a bundle; forces [N] of its moving points go to ``force`` (n, 3).

    Args:
        plan, fields: All lines and fields.
        placed: The ellipsoids in this pose, (E, PLACED).
        bundle: Which bundle.
        x: Its points [m], moving ones first.
        force: Where forces go.
        diagonal, below: Where stiffness [N/m] goes, if asked for, (n, 3, 3) and (blocks, 3, 3).
        stiff: Whether stiffness is asked for.
        exact: Whether that is the true one or only its parts that cannot be negative.
    """
    count, energy = len(force), 0.0
    force[:] = 0.0
    if stiff:
        diagonal[:] = 0.0
        below[:] = 0.0
    for s in range(plan.springs[bundle], plan.springs[bundle + 1]):
        a, b, block = plan.ends[s, 0], plan.ends[s, 1], plan.ends[s, 2]
        k, rest = plan.stretch[s, 0], plan.stretch[s, 1]
        dx, dy, dz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        length = np.sqrt(dx * dx + dy * dy + dz * dz)
        over = 1.0 / max(length, _SHORTEST)
        energy += 0.5 * k * (length - rest) ** 2
        pull = k * (length - rest) * over  # tension over length: stiffness across the segment
        if a < count:
            force[a, 0] += pull * dx
            force[a, 1] += pull * dy
            force[a, 2] += pull * dz
        if b < count:
            force[b, 0] -= pull * dx
            force[b, 1] -= pull * dy
            force[b, 2] -= pull * dz
        if stiff:
            across = pull if exact else max(pull, 0.0)
            along = (k - across) * over * over
            d = (dx, dy, dz)
            for i in range(3):
                for j in range(3):
                    h = along * d[i] * d[j]
                    if i == j:
                        h += across
                    if a < count:
                        diagonal[a, i, j] += h
                    if b < count:
                        diagonal[b, i, j] += h
                    if block >= 0:
                        below[block, i, j] -= h
    first = plan.rows[bundle]
    for n in range(count):
        for at in range(plan.acting_starts[first + n], plan.acting_starts[first + n + 1]):
            u, gx, gy, gz, xx, xy, xz, yy, yz, zz = field_terms(
                fields, placed, np.int64(plan.acting[at]), x[n, 0], x[n, 1], x[n, 2], exact
            )
            energy += u
            force[n, 0] -= gx
            force[n, 1] -= gy
            force[n, 2] -= gz
            if stiff:
                h = diagonal[n]
                h[0, 0] += xx
                h[0, 1] += xy
                h[1, 0] += xy
                h[0, 2] += xz
                h[2, 0] += xz
                h[1, 1] += yy
                h[1, 2] += yz
                h[2, 1] += yz
                h[2, 2] += zz
    return energy
