"""Muscles of the template, drawn in the flesh they lie in: so they stay under the skin in any pose.

A spindle's path runs from bone to bone and knows nothing of the skin, which follows several joints at an
armpit or a groin: drawn on its path a pectoral stood out of the chest of raised arms by centimetres. What a
muscle does to the skin is told by its path and its thickness (text 000). Where it is *seen* is where the
flesh round it goes, which moves by the weights of the skin nearest to it: every point of its surface, with
the thickness it has in the pose, is carried from bind by these weights, as the skin itself is: linearly, in
the compiled call, or by another method of skinning that is given (`flesh_carrier`).

The volume is that of the surface as it is drawn (`ring_volume`): where flesh is pressed or drawn out a
section grows or shrinks on its inner sides, and the outmost point stays where it is. A frame is one compiled
call (`flesh_rings`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.base.quads import fours
from ecorche.base.threads import threads_for
from ecorche.errors import EcorcheError
from ecorche.muscles.centre_lines import STATIONS
from ecorche.muscles.even_rings import evened
from ecorche.muscles.flesh_carrier import Binding, Carrier
from ecorche.muscles.flesh_rings import FleshRings, draw, draw_carried, held, shape
from ecorche.muscles.flesh_shares import FleshShares, flesh_shares
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.spindle import curve
from ecorche.muscles.spindle_mesh import SpindleSurfaces, Stations
from ecorche.muscles.volume import MOVING, belly_rule

Floats = npt.NDArray[np.float64]

EVENED = 10
"""How often shares of flesh that is blended linearly are evened, along and round a muscle."""
EVENED_LITTLE, AT_RINGS = 3, 24
"""How often those of flesh that another method carries, at so many rings; over the same stretch of a muscle
however finely that is divided. Spread further its muscles would lag behind skin that twists."""


class SpindlesInFlesh:
    """Surfaces of muscles in the flesh, ready to be posed frame after frame.

    Args:
        musculature: The muscles.
        surfaces: Their surfaces.
        shares: How much each joint moves the flesh at places at bind [m], from (P, 3) to (P, joints).
        binding: Binds the flesh to the joints by the method that carries it; None blends linearly.
    """

    def __init__(
        self,
        musculature: Musculature,
        surfaces: SpindleSurfaces,
        shares: Callable[[Floats], Floats],
        binding: Binding | None = None,
    ) -> None:
        self._musculature = musculature
        # a muscle's length is known with any of its stations
        self._plan = musculature.plan(np.arange(STATIONS) < np.ones((len(musculature.muscles), 1)))
        self._kept, self._flesh, self._carrier = _kept(musculature, surfaces, shares, binding)
        joints = musculature.frames.paths.skeleton.joint_count - len(musculature.scapulae)
        still, rest = np.zeros((joints, 4, 4)), np.ones(len(musculature.muscles))
        self._lengths, change = musculature.contracted(self._plan, still, rest)
        self._volumes = np.empty(len(rest))
        held(self._kept, self._flesh, still.reshape(-1, 16), change, rest, self._volumes)

    def points(self, difference: Floats, bulge: Floats) -> Floats:
        """Vertices of the surfaces [m], (vertices, 3), for ``M − I`` of the joints and T of the muscles."""
        moved, tension = (np.ascontiguousarray(given, np.float64) for given in (difference, bulge))
        require_finite(moved, "row", "the joints' matrices of a pose", EcorcheError)
        lengths, change = self._musculature.contracted(self._plan, moved, tension)
        vertices, longer = np.empty((int(self._kept.vertices[-1]), 3)), lengths / self._lengths
        if self._carrier is not None:
            still = np.empty((len(tension) * (int(self._flesh.named[-1, -1]) + 1), 3), np.float32)
            with threads_for(len(still) // 16):
                shape(self._kept, self._flesh, change, tension, still)
                carried = self._carrier.apply(moved, still)
                draw_carried(
                    self._kept,
                    self._flesh,
                    self._volumes,
                    still,
                    carried,
                    change,
                    longer,
                    tension,
                    vertices,
                )
            return vertices
        with threads_for(len(self._flesh.shares) // 16):
            draw(
                self._kept,
                self._flesh,
                self._volumes,
                moved.reshape(-1, 16),
                change,
                longer,
                tension,
                vertices,
            )
        return vertices


def _kept(
    musculature: Musculature,
    surfaces: SpindleSurfaces,
    shares: Callable[[Floats], Floats],
    binding: Binding | None,
) -> tuple[FleshRings, FleshShares, Carrier | None]:
    """What no frame changes."""
    spindles, t, sides = musculature.spindles, surfaces.t, surfaces.sides
    joints = musculature.frames.paths.skeleton.joint_count - len(musculature.scapulae)
    frames, states = musculature.posed(np.zeros((joints, 4, 4)))
    stations = Stations(*frames.at(t))
    still = surfaces.ring_points(states, stations)
    angle, beside = 2.0 * np.pi * np.arange(sides) / sides, np.cross(stations.along, stations.out)
    sweep = spindles.sweep_at(t)
    rings = (
        stations.points + sweep[..., :1] * stations.out + sweep[..., 1:] * beside,
        stations.out,
        beside,
        spindles.thickness_at(t)[..., None],
        curve(np.broadcast_to(MOVING, spindles.thickness.shape), spindles.belly).at(t)[..., None],
        # nothing at the ends, which are attached
        (4.0 * t * (1.0 - t))[..., None],
    )
    rule = belly_rule(spindles, "exact")
    square = np.full(len(spindles), rule.square)
    kept = FleshRings(
        rings=np.concatenate(rings, axis=-1).reshape(-1, 12),
        muscles=np.stack([spindles.scale, rule.constant, rule.gradient, square], axis=1),
        cosines=fours(np.cos(angle)),
        sines=fours(np.sin(angle)),
        vertices=surfaces.vertex_starts.astype(np.int64),
        used=surfaces.used_rings,
    )
    # muscle by muscle: of all joints and all points together there would be much more, nearly all zero
    times = EVENED if binding is None else max(1, round(EVENED_LITTLE * (t.shape[1] / AT_RINGS) ** 2))
    round_each = (evened(shares(own.reshape(-1, 3)).reshape(*own.shape[:2], -1), times) for own in still)
    numbered = [_of_few_joints(own) for own in round_each]
    carrier = None if binding is None else binding(still.reshape(-1, 3), numbered)
    return kept, flesh_shares(t.shape[1], sides, numbered), carrier


def _of_few_joints(shares: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """The joints (n,) that have any of the shares (rings, sides, joints), and theirs, (rings, sides, n)."""
    joints = np.flatnonzero(shares.any(axis=(0, 1)))
    return joints, shares[..., joints]
