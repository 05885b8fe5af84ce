"""Muscles of the template, drawn in the flesh they lie in: so they stay under the skin in any pose.

A spindle's path runs from bone to bone and knows nothing of the skin, which follows several joints at an
armpit or a groin: drawn on its path a pectoral stood out of the chest of raised arms by centimetres. What a
muscle does to the skin is told by its path and its thickness (text 000). Where it is *seen* is where the
flesh round it goes, which moves by the weights of the skin nearest to it: every point of its surface, with
the thickness it has in the pose, is carried from bind by these weights, as linear skinning carries skin.

The volume is that of the surface as it is drawn (`ring_volume`): where flesh is pressed or drawn out a
section grows or shrinks on its inner sides, and the outmost point stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ecorche.muscles.even_rings import evened
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.ring_volume import dilation_to, volume_within
from ecorche.muscles.spindle_mesh import SpindleSurfaces, Stations

Floats = npt.NDArray[np.float64]

EVENED = 10
"""How often the flesh's shares are evened, along and round a muscle."""


class SpindlesInFlesh:
    """Surfaces of muscles in the flesh, ready to be posed frame after frame.

    Args:
        musculature: The muscles.
        surfaces: Their surfaces.
        shares: How much each joint moves the flesh at places at bind [m], from (P, 3) to (P, joints).
    """

    def __init__(
        self, musculature: Musculature, surfaces: SpindleSurfaces, shares: Callable[[Floats], Floats]
    ) -> None:
        self._musculature, self._surfaces = musculature, surfaces
        joints = musculature.frames.paths.skeleton.joint_count - len(musculature.scapulae)
        frames, states = musculature.posed(np.zeros((joints, 4, 4)))
        self._stations = Stations(*frames.at(surfaces.t))
        still = surfaces.ring_points(states, self._stations)
        table = evened(shares(still.reshape(-1, 3)).reshape(*still.shape[:3], -1), EVENED)
        self._shares = table.reshape(-1, table.shape[-1])
        self._volumes, self._at_bind = volume_within(still), states.volumes()
        # nothing at the ends, which are attached
        self._swelling = (4.0 * surfaces.t * (1.0 - surfaces.t))[..., None, None]

    def points(self, difference: Floats, bulge: Floats) -> Floats:
        """Vertices of the surfaces [m], (vertices, 3), for ``M − I`` of the joints and T of the muscles."""
        _, states = self._musculature.posed(difference, bulge)
        rings = self._surfaces.ring_points(states, self._stations)
        carried = self._carried(difference, rings)
        by_dilation = self._swelling * (carried - carried[:, :, :1])  # from the outmost point of each ring
        wanted = self._volumes * (states.volumes() / self._at_bind)
        kappa = dilation_to(wanted, carried, by_dilation)
        return self._surfaces.of_rings(carried + kappa[:, None, None, None] * by_dilation)

    def _carried(self, difference: Floats, rings: Floats) -> Floats:
        """Points at bind (M, R, sides, 3) [m] where the flesh takes them."""
        rows = np.ascontiguousarray(difference[: self._shares.shape[1], :3]).reshape(-1, 12)
        moves = (self._shares @ rows).reshape(*rings.shape[:3], 3, 4)
        step = (moves[..., :3] @ rings[..., None])[..., 0]
        return np.asarray(rings + (step + moves[..., 3]))
