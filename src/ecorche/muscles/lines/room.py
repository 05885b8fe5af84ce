"""Where a muscle has room to swell: flesh close under the skin swells less, and the rest the more.

Text 002 swells a section evenly about its middle, as if nothing were around it. A calf that lies a
millimetre under the skin then leaves it. A vertex here moves away from the middle of its section by

    w = 1 / (1 + γ (g · o)₊ / (o · o))

of what an even swelling would move it, where g is its way from the middle and o its way to the nearest place
of the skin at bind. One that swells by γ of its distance from the middle or less so never goes further than
the skin, one that swells sideways or inwards is free. The factor that holds the volume makes good for what is
kept back: the muscle grows broader and deeper instead. It costs nothing in a pose.

Limit: what counts is the skin at bind. It does not follow these muscles; once it does, what lies under it
may swell freely again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SWELLS = 0.35
"""γ: the growth of a section, as a share, up to which nothing leaves the room it has."""
LEAST = 1e-5
"""What lies on the skin or outside of it has so much room [m]: none, but it is known which way."""


def swelling_share(growth: Floats, room: Floats) -> Floats:
    """How much of an even swelling each vertex takes part in, (V,), 0 to 1.

    Args:
        growth: From the middle of its section to each vertex [m], (V, 3).
        room: From each vertex to the nearest place of what bounds it [m], (V, 3); zeros: nothing does.
    """
    towards = np.maximum(np.sum(growth * room, axis=1), 0.0)
    apart = np.sum(room * room, axis=1)
    bounded = apart > 0.0
    share = np.ones(len(room))
    share[bounded] = 1.0 / (1.0 + SWELLS * towards[bounded] / np.maximum(apart[bounded], LEAST**2))
    return share
