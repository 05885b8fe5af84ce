"""Markers of one model on another: the same bodies, each as much larger as its joints are further apart.

Models of one family name their bodies alike and stand in the same frames; what differs is size. A marker goes
to the body of the same name, its place times

    factor = Σ |d_here| |d_there| / Σ |d_there|²

over the ways d from the body's origin to those of the bodies that hang on it in both models. A body without
any takes the factor of the one it hangs on. Where such a way points elsewhere in the other model by more than
`LARGEST_TURN`, frames differ, and places would be wrong: that is refused.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed
from ecorche.biomech.model import MusculoskeletalModel
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Places = dict[str, tuple[str, tuple[float, float, float]]]
"""Body and place on it [m], by the name of a marker."""

LARGEST_TURN = 35.0
"""Degrees."""
LEAST_WAY = 0.05
"""Ways that are shorter [m] say nothing about a body's size."""


def carried_markers(
    other: MusculoskeletalModel, model: MusculoskeletalModel
) -> tuple[Places, tuple[str, ...]]:
    """Markers of another model for this one, and notes on those that it has no body for."""
    there, here = (_frames(one) for one in (other, model))
    shared = [body.name for body in other.bodies if body.name in here]
    parents = {body.name: body.parent for body in other.bodies}
    factors: dict[str, float] = {}
    places: Places = {}
    left: list[str] = []
    for marker in other.markers:
        if marker.body not in shared:
            left.append(marker.name)
            continue
        size = _factor(marker.body, parents, shared, there, here, factors, (other.name, model.name))
        x, y, z = (size * value for value in marker.place)
        places[marker.name] = marker.body, (x, y, z)
    if not places:
        raise EcorcheError(
            f"has no marker on a body of {model.name!r}",
            where=other.name,
            remedy="Give a table of markers: marker,body,x,y,z",
        )
    sizes = ", ".join(f"{body} {size:.2f}" for body, size in sorted(factors.items()))
    notes = [f"{len(places)} markers of {other.name} are taken over, by the size of bodies: {sizes}."]
    if left:
        notes.append(f"There is no body here for the markers {listed(left, 6)}.")
    return places, tuple(notes)


def _frames(model: MusculoskeletalModel) -> dict[str, Floats]:
    return dict(zip([b.name for b in model.bodies], model.body_transforms(model.defaults()), strict=True))


def _factor(
    body: str,
    parents: dict[str, str | None],
    shared: list[str],
    there: dict[str, Floats],
    here: dict[str, Floats],
    found: dict[str, float],
    names: tuple[str, str],
) -> float:
    """How much larger a body is here; what is found is kept."""
    if body in found:
        return found[body]
    ways = []
    for child in shared:
        if parents[child] == body:
            theirs, ours = (
                frames[body][:3, :3].T @ (frames[child][:3, 3] - frames[body][:3, 3])
                for frames in (there, here)
            )
            lengths = float(np.linalg.norm(theirs)), float(np.linalg.norm(ours))
            if min(lengths) < LEAST_WAY:
                continue
            turn = float(np.degrees(np.arccos(np.clip(theirs @ ours / (lengths[0] * lengths[1]), -1.0, 1.0))))
            if turn > LARGEST_TURN:
                raise EcorcheError(
                    f"{child!r} lies {turn:.0f} degrees off as {body!r} sees it: frames are not the same",
                    where=f"{names[0]} and {names[1]}",
                    remedy="Give a table of markers: marker,body,x,y,z",
                )
            ways.append(lengths)
    above = parents[body]
    if ways:
        found[body] = sum(a * b for a, b in ways) / sum(a * a for a, _ in ways)
    elif above in shared and above is not None:
        found[body] = _factor(above, parents, shared, there, here, found, names)
    else:
        found[body] = 1.0
    return found[body]
