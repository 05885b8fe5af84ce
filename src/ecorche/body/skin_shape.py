"""A skin at bind over muscles that become thicker or thinner, and over more or less fat.

Over other muscles it rises as it does in a pose (`skin.over_ecorche`): by the difference of two membranes,
over the muscles as they were and as they are. Fat moves it on, by regions, and levels fine relief; how it
goes is told in `skin.grown_skin`. Fat that is lost is lost inwards, at most down to a membrane over the
muscles that bridges wide gaps, less what skin and fat have at least: so nothing that lay under the skin comes
out of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.ray_tree import RayTree
from ecorche.base.smooth_step import smooth_step
from ecorche.skin.evened import Evened, Spreading
from ecorche.skin.fascia import Fascia
from ecorche.skin.grown_skin import grown, outwards, place_normals, unfolded
from ecorche.skin.height_field import nearest_beneath
from ecorche.skin.over_ecorche import Reach, SkinOverEcorche
from ecorche.skin.two_rings import two_rings

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

# all of these are of a person [m]
THINNEST = 0.002
"""Fat and skin over muscles are nowhere made thinner."""
REACH = Reach(largest=0.06)
"""How skin and muscles belong together; muscles may become three times as thick."""
BRIDGED, DEEPEST, ROUNDS = 0.06, 0.03, 300
"""Half the width of gaps that fat fills also on a lean body, how deep it is between, and rounds to rest."""
STEP, EVENED, APART = 0.006, 0.012, 0.002
"""How far the skin goes at a time, over which stretch its normals are evened, how near it comes to skin."""
SMOOTH = 0.02
"""Over which stretch a layer of fat is evened."""
SOFT, SOFTER, FORM = 0.012, 0.5, 0.008
"""Relief finer than the first is levelled by fat, by no more than this share of the layer that came on; what
stands out or in by more than the last is no relief but a form, such as a breast or an armpit, and stays."""


@dataclass(frozen=True, eq=False, repr=False)
class Beneath:
    """Muscles at bind.

    Attributes:
        before, after: Their surfaces as they were and as they are [m], (vertices, 3).
        triangles: Of both, outwards, (triangles, 3).
        parts: The muscle each triangle is of, (triangles,).
    """

    before: Points
    after: Points
    triangles: Ints
    parts: Ints


class SkinShape:
    """One skin, as it was modelled.

    Args:
        points: At bind [m], (vertices, 3).
        triangles: Outwards, (triangles, 3).
        size: How many times the size of a person the body is.
    """

    def __init__(self, points: npt.ArrayLike, triangles: npt.ArrayLike, size: float) -> None:
        self.points = np.asarray(points, np.float64)
        self._faces, self._size = np.asarray(triangles, np.int64), size
        self._rings = two_rings(self.points, self._faces)
        self._speaker = self._rings.speakers()
        self._spreading = Spreading(self.points, self._faces, self._rings)
        self._even_normals = self._evened(EVENED)

    def normals(self, points: Floats) -> Points:
        """Unit normals of the vertices, by the areas round each, (vertices, 3)."""
        return place_normals(points, self._faces, self._rings)[self._rings.place]

    def volume(self, points: Floats) -> float:
        """Within the skin [m³]; where it is open, as if fans to the middle of all closed it."""
        a, b, c = (points - points.mean(axis=0))[self._faces].transpose(1, 0, 2)
        return float(np.einsum("ij,ij->", np.cross(a, b), c)) / 6.0

    def over_muscles(self, points: Floats, muscles: Beneath) -> Floats:
        """The vertices [m] (vertices, 3) when muscles have become what they are."""
        at, normals, all_of_it = points.astype(np.float32), self.normals(points), np.ones(len(points))
        over = SkinOverEcorche(
            at,
            normals,
            self._rings,
            muscles.before,
            muscles.triangles,
            muscles.parts,
            bridged=all_of_it,
            stiffness=all_of_it,
            reach=REACH.scaled(self._size),
        )
        return self._grown(points, over.correction(at, normals, muscles.after))

    def with_fat(self, points: Floats, fat: float, layer: Floats, muscles: Beneath | None) -> Floats:
        """The vertices [m] (vertices, 3) over so many units of fat more, of a layer (vertices,) [m] each."""
        even = abs(fat) * np.maximum(self._evened(SMOOTH).of(layer[self._speaker]), 0.0)
        if fat > 0.0:
            softened = self._softened(self._grown(points, even), even)
            return unfolded(points, softened, self._faces, self._rings)
        out = outwards(points, self._faces, self._rings, self._even_normals)
        if muscles is not None:
            even = np.minimum(even, self._to_lose(points, out, muscles))
        return np.asarray(points - (even[:, None] * out)[self._rings.place])

    def _evened(self, span: float) -> Evened:
        return self._spreading.over(span * self._size)

    def _grown(self, points: Floats, amount: npt.ArrayLike) -> Floats:
        return grown(
            points,
            self._faces,
            self._rings,
            amount,
            step=STEP * self._size,
            evened=self._even_normals,
            apart=APART * self._size,
        )

    def _softened(self, points: Floats, layer: Floats) -> Floats:
        """The vertices [m] (vertices, 3) after a layer that came on (places,) [m] has levelled the relief."""
        normals, here = place_normals(points, self._faces, self._rings), points[self._speaker]
        soft = self._evened(SOFT)
        out = ((soft.of(here) - here) * normals).sum(axis=1)
        out -= soft.of(soft.of(out))  # a limb keeps its girth
        out *= smooth_step(2.0 - 2.0 * np.abs(out) / (FORM * self._size))
        most = SOFTER * layer
        out = self._rings.smoothed(np.clip(out, -most, most).astype(np.float32), 0.5, 2)
        return np.asarray(points + (out[:, None] * normals)[self._rings.place])

    def _to_lose(self, points: Floats, out: Points, muscles: Beneath) -> Floats:
        """How much fat there is to lose along directions (places, 3) [m], (places,)."""
        tree = RayTree(muscles.after, muscles.triangles)
        below = nearest_beneath(
            points[self._speaker].astype(np.float32), out, tree, REACH.deepest * self._size
        )
        fat = Fascia(
            self._rings, span=BRIDGED * self._size, deepest=DEEPEST * self._size, rounds=ROUNDS
        ).depths(below.distances - np.float32(THINNEST * self._size))
        return np.maximum(fat.astype(np.float64), 0.0)
