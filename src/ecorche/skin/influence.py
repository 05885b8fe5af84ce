"""Which muscles move a vertex of the skin, and how much: found at bind, with no painting.

Text 000, section 4.1. A vertex is projected onto a muscle's line; its neighbourhood template decides:

- ``"radial"``: within a given distance of the muscle's centre curve;
- ``"half_space"``: on the outer side of the plane through the line that S_d is normal to;
- ``"fitted"``: over the muscle itself, ``0 ≤ t ≤ 1, |a| < C_T, v > −b``.

Weights are ``"binary"`` or ``"spline"``, which is the muscle's local thickness over its greatest. What
this file changes: every border is faded with a continuous slope, as a function of bind coordinates
only; the fitted template ends before the muscle's rim, because a tensed muscle is narrower than a slack one
and would draw the skin over its old rim in, a furrow on either side as deep as the bulge; the greatest
thickness is taken over all control values, so that a weight never exceeds one; and only vertices whose skin
weight lies on the joints a muscle is concerned with are candidates, so that an arm hanging at
the side never claims the flank.

Skin that follows the very joints its part of the path rides on parts from the path only if the muscle makes
it. Skin between two limbs does so by skinning alone: in a deep bend linear blending and the path are
centimetres apart. So each influence has a share κ in how much the skin's moving off its bind place on the
muscle counts: all where one joint carries both, so that they overlap (`PathCarriers`) by `WITH_PATH`, none at
`APART_FROM_PATH`, where only the change of the muscle's height there moves the skin.

A skin shows nothing finer than its vertices are apart: a muscle that falls between them moves now this
vertex and now that, and leaves the skin jagged. And fat spreads what is pushed into it from below: a layer L
thick shows nothing much narrower than itself, so that no furrow opens between two heads of one muscle. So a
muscle is taken to be ``C = sqrt(C_T² + h² + f²)`` wide, h being how far from their neighbours vertices are
across it and f `SPREAD` times L_fat, at most `WIDEST` C_T: each vertex reads the muscle at ``a C_T / C`` in
place of a, in the pose too, and the borders move outwards by as much. A muscle with a C_T below h moves the
skin less, and below half of h not at all. At the ends the fade is at least as long as vertices are apart
along the muscle. On a fine skin h vanishes.

A muscle that is weak beside others over the same vertex adds work and nothing to see. So a weight w fades out
with what it is beside all of them, ``r = w / (Σ w⁴)^¼``, from `FULL_BESIDE` down to nothing at `GONE_BESIDE`:
smooth from vertex to vertex, so that no border appears. On two real people with all muscles tense this moves
no vertex by more than 1 mm. Weights a person has painted are taken as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_indices
from ecorche.base.smooth_step import smooth_step
from ecorche.errors import EcorcheError, MeshError
from ecorche.muscles.sections import SectionCoordinates, Sections
from ecorche.skin.found_before import FoundBefore
from ecorche.skin.path_carriers import PathCarriers
from ecorche.skin.spacing import spacing
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Reals = npt.NDArray[np.float32]
Template = Literal["radial", "half_space", "fitted"]
Weighting = Literal["binary", "spline"]

GONE_BESIDE, FULL_BESIDE = 0.3, 0.5
"""A weight below the first share of what all muscles of its vertex have is left out, from the second kept."""
APART_FROM_PATH, WITH_PATH = 0.5, 0.9
"""Overlap of a vertex's skin weights with the joints its part of the path rides on, see κ."""
NOT_SEEN, SEEN = 0.5, 1.0
"""C_T over how far apart vertices are across a muscle: up to the first it does not move them, from the second
on wholly."""
SPREAD, WIDEST = 3.0, 1.0
"""Fat over a muscle widens it by so many times its own thickness, up to so many of the muscle's C_T."""
_LEAST = 1e-6
"""Weights up to this are left out: they would move a vertex by less than a thousandth of a hair."""


@dataclass(frozen=True)
class Fades:
    """How wide the borders of an influence are; in each the weight rises from 0 to 1, smoothly.

    Attributes:
        ends: From t = 0 and from t = 1 inwards, in t.
        rim: From the border inwards, as a part of C_T (fitted) or of the radius (radial).
        depth: Fitted: from the muscle's under side upwards, in b. Half-space: from the plane upwards,
            in ``s_f`` times the greatest thickness. Radial: half the band round v = 0 in which the
            side σ passes from −1 to 1, in the same measure.
        limb: From full skin weight on the concerned joints downwards, in skin weight. Where skin follows
            other joints by a quarter it is centimetres away from the limb in a deep bend: no muscle's work.
        border: Fitted: where the influence ends, as a part of C_T.
    """

    ends: float = 0.2
    rim: float = 0.5
    depth: float = 1.0
    limb: float = 0.25
    border: float = 0.85


@dataclass(frozen=True, eq=False, repr=False)
class Influences:
    """Muscles of each vertex, in rows: vertex i owns entries ``starts[i]`` to ``starts[i+1]``.

    Within a vertex muscles are in rising order, each at most once.

    Attributes:
        starts: Row borders, shape (vertices + 1,), int32.
        muscles: Muscle numbers, shape (entries,), int32.
        weights: Weights w above 0 and up to 1, shape (entries,), float32.
        t: Place along the muscle at bind, shape (entries,), float32.
        place: Where between the stations of a bent muscle's line the vertex belongs (`CentreLines`); 0 for
            a straight one, shape (entries,), float32.
        a: Lateral coordinate at bind [m], shape (entries,), float32.
        fat: ``L_fat = v − σ b`` at bind, how far the skin is from the muscle [m], (entries,), float32.
        side: σ, 1 on the outer side and −1 on the inner, between them only in a narrow band of the
            radial template, shape (entries,), float32.
        follow: κ, how much the skin's moving off its bind place counts, 0 to 1, shape (entries,), float32.
        read: Lateral coordinate at which the muscle is read at bind [m]: ``a`` on a fine skin, nearer to the
            middle on a coarse one, shape (entries,), float32.
    """

    starts: npt.NDArray[np.int32]
    muscles: npt.NDArray[np.int32]
    weights: Reals
    t: Reals
    place: Reals
    a: Reals
    fat: Reals
    side: Reals
    follow: Reals
    read: Reals

    def __repr__(self) -> str:
        return f"Influences({self.vertex_count} vertices, {len(self.muscles)} entries)"

    @property
    def vertex_count(self) -> int:
        """How many vertices the skin has, influenced or not."""
        return len(self.starts) - 1

    def vertices(self) -> npt.NDArray[np.int64]:
        """The vertex of each entry, shape (entries,)."""
        return np.repeat(np.arange(self.vertex_count), np.diff(self.starts))


def influence(
    points: npt.NDArray[np.floating],
    weights: SkinWeights,
    bind: Sections,
    joints: Sequence[Sequence[int]],
    *,
    template: Template | Sequence[Template] = "fitted",
    weighting: Weighting | Sequence[Weighting] = "spline",
    radius: npt.ArrayLike | None = None,
    fades: Fades | None = None,
    painted: Mapping[int, npt.ArrayLike] | None = None,
    names: Sequence[str] = (),
    carriers: PathCarriers | None = None,
    squares: Floats | None = None,
    found_before: FoundBefore | None = None,
) -> Influences:
    """Find the vertices each muscle moves, from the skin and the muscles at bind.

    Args:
        points: Bind positions of the skin [m], shape (vertices, 3).
        weights: Skin weights of those vertices.
        bind: The M muscles at bind.
        joints: For each muscle the joints whose skin it may move.
        template: The neighbourhood template, one for all muscles or one each.
        weighting: The weighting system, likewise.
        radius: Reach of the radial template [m], one for all or shape (M,); by default one and a half
            times the greatest half-axis of the muscle.
        fades: Widths of the borders.
        painted: Weights 0 … 1 of every vertex that take the place of those found, by muscle number.
        names: What the muscles are called, for messages.
        carriers: The joints each part of each path rides on; without them κ is 1 everywhere.
        squares: How far apart the vertices are (`edge_squares`), shape (vertices, 3, 3); without them the
            skin is taken to be fine.
        found_before: Where what is found for a muscle is kept, and taken from if nothing has changed for it.
    """
    count = len(bind)
    if points.shape != (weights.vertex_count, 3):
        raise MeshError(
            f"{weights.vertex_count} vertices have weights, but the points have shape {points.shape}",
            remedy="Give one point a vertex",
        )
    templates = _one_each(template, count, get_args(Template), "template")
    weightings = _one_each(weighting, count, get_args(Weighting), "weighting")
    if len(joints) != count:
        raise EcorcheError(
            f"{count} muscles have {len(joints)} lists of joints", remedy="Give one list a muscle"
        )
    fades = _checked(fades or Fades())
    greatest = bind.thickness.max(axis=(1, 2), initial=0.0)
    if radius is None:
        radius = 1.5 * greatest * np.maximum(bind.scale, 1.0)
    reach = np.broadcast_to(np.asarray(radius, np.float64), (count,))

    joint_count = int(weights.joints.max(initial=-1)) + 1
    entry_vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    by_hand = _checked_paint(painted or {}, count, weights.vertex_count, names)
    if found_before is not None:
        found_before.begin((points, weights.starts, weights.joints, weights.weights, squares), fades, count)
    found = []
    for muscle in range(count):
        key = b""
        if found_before is not None:
            asked = (sorted(joints[muscle]), templates[muscle], weightings[muscle], reach[muscle].item())
            key = found_before.key(bind, muscle, asked, by_hand.get(muscle), carriers)
            known = found_before.found(key)
            if known is not None:
                found.append((known[0], np.full(len(known[0]), muscle), known[1]))
                continue
        if muscle in by_hand:
            vertices = np.flatnonzero(by_hand[muscle] > 0.0)
            weight = by_hand[muscle][vertices]
        else:
            allowed = _allowed(joints[muscle], joint_count, muscle)
            on_limb = np.bincount(
                entry_vertex, weights.weights * allowed[weights.joints], minlength=weights.vertex_count
            )
            vertices = np.flatnonzero(on_limb > 1.0 - fades.limb)
            # skin weights sum to one only to rounding: what is full stays full
            weight = smooth_step((np.minimum(on_limb[vertices], 1.0) - 1.0 + fades.limb) / fades.limb)
        at = bind.coordinates(muscle, points[vertices])
        read, seen, ends = at, np.ones(len(vertices)), np.full(len(vertices), fades.ends)
        if squares is not None and muscle not in by_hand:
            fitted = templates[muscle] == "fitted"
            here = points[vertices].astype(np.float64)
            read, seen, apart = _as_seen(bind, muscle, here, at, squares[vertices], fitted)
            ends = np.clip(apart / bind.length[muscle], fades.ends, 0.5)
        half_height = bind.scale[muscle] * greatest[muscle]
        fade, side = _template_fade(templates[muscle], read, half_height, reach[muscle], fades)
        if muscle not in by_hand:
            weight *= smooth_step(at.t / ends) * smooth_step((1.0 - at.t) / ends) * fade * seen
            if weightings[muscle] == "spline":
                weight *= np.clip(at.thickness / max(greatest[muscle], 1e-30), 0.0, 1.0)
        kept = weight > (0.0 if muscle in by_hand else _LEAST)
        follow = np.ones(len(vertices))
        if carriers is not None:
            overlap = carriers.overlap(muscle, at, weights, vertices)
            follow = smooth_step((overlap - APART_FROM_PATH) / (WITH_PATH - APART_FROM_PATH))
        fat = at.v - side * at.height
        columns = np.stack([weight, at.t, at.place, at.a, fat, side, follow, read.a])[:, kept]
        vertices = vertices[kept]
        found.append((vertices, np.full(len(vertices), muscle), columns))
        if found_before is not None:
            found_before.keep(key, vertices, columns)
    return _in_rows(found, weights.vertex_count, np.isin(np.arange(count), list(by_hand)))


def _as_seen(
    bind: Sections,
    muscle: int,
    points: Floats,
    at: SectionCoordinates,
    squares: Floats,
    fitted: bool,
) -> tuple[SectionCoordinates, Floats, Floats]:
    """Where points of a skin read a muscle, how much of it they see, and how far apart they are along it [m].

    Only the fitted template has a width to compare with.
    """
    line = None if bind.lines is None else bind.lines.line_of(muscle)
    if bind.lines is None or line is None:
        out, side = bind.out[muscle], bind.side[muscle]
    else:
        _, _, out, side = bind.lines.places(line, points, at.place)
    apart = spacing(squares, np.cross(out, side))
    if not fitted:
        return at, np.ones(len(points)), apart
    width = np.maximum(at.thickness, 1e-30)
    across = spacing(squares, side) / width
    above = np.clip(SPREAD * (at.v - at.height) / width, 0.0, WIDEST)
    aside = at.a * (1.0 - 1.0 / np.sqrt(1.0 + across**2 + above**2))
    read = bind.coordinates(muscle, points - aside[:, None] * side, at.place)
    seen = smooth_step((1.0 / np.maximum(across, 1e-30) - NOT_SEEN) / (SEEN - NOT_SEEN))
    return read, seen, apart


def _template_fade(
    template: str, at: SectionCoordinates, half_height: float, radius: float, fades: Fades
) -> tuple[Floats, Floats]:
    """The weight a template's own borders leave to each point, and its side σ."""
    band = max(fades.depth * half_height, 1e-30)
    if template == "half_space":
        return smooth_step(at.v / band), np.ones_like(at.v)
    if template == "radial":
        distance = np.hypot(at.a, at.v) / radius
        # through v = 0 the side turns without a step: both sides of a thickening muscle part smoothly
        return smooth_step((1.0 - distance) / fades.rim), 2.0 * smooth_step(0.5 + 0.5 * at.v / band) - 1.0
    across = np.abs(at.a) / np.maximum(at.thickness, 1e-30)
    above = (at.v + at.height) / np.maximum(fades.depth * at.height, 1e-30)
    return smooth_step((fades.border - across) / fades.rim) * smooth_step(above), np.ones_like(at.v)


def _in_rows(
    found: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]],
    vertex_count: int,
    by_hand: npt.NDArray[np.bool_],
) -> Influences:
    """Entries found muscle by muscle, the weak ones faded out, brought to the order of vertices."""
    vertices = np.concatenate([np.zeros(0, np.int64), *(v for v, _, _ in found)])
    muscles = np.concatenate([np.zeros(0, np.int64), *(m for _, m, _ in found)])
    columns = np.concatenate([np.zeros((8, 0)), *(c for _, _, c in found)], axis=1)
    beside = columns[0] / np.bincount(vertices, columns[0] ** 4, minlength=vertex_count)[vertices] ** 0.25
    fading = smooth_step((beside - GONE_BESIDE) / (FULL_BESIDE - GONE_BESIDE))
    columns[0] *= np.where(by_hand[muscles], 1.0, fading)
    strong = np.flatnonzero(by_hand[muscles] | (columns[0] > _LEAST))
    order = strong[np.argsort(vertices[strong], kind="stable")]
    starts = np.searchsorted(vertices[order], np.arange(vertex_count + 1)).astype(np.int32)
    return Influences(starts, muscles[order].astype(np.int32), *columns[:, order].astype(np.float32))


def _checked_paint(
    painted: Mapping[int, npt.ArrayLike], count: int, vertex_count: int, names: Sequence[str]
) -> dict[int, Floats]:
    """The painted weights, if they are weights of these muscles and vertices."""
    checked = {}
    for muscle, given in painted.items():
        if not 0 <= muscle < count:
            raise EcorcheError(
                f"weights are painted for muscle {muscle} of {count}", remedy="Paint a muscle that is there"
            )
        name = repr(names[muscle]) if names else str(muscle)
        values = np.array(given, np.float64)
        if values.shape != (vertex_count,):
            raise MeshError(
                f"the painted weights of muscle {name} have shape {values.shape},"
                f" but the skin has {vertex_count} vertices",
                remedy="Paint them on this very mesh, one number a vertex",
            )
        bad = ~((values >= 0.0) & (values <= 1.0))
        if bad.any():
            vertex = int(np.argmax(bad))
            raise MeshError(
                f"the painted weight of muscle {name} at vertex {vertex} is {values[vertex]}"
                f" ({int(bad.sum())} such vertices)",
                remedy="Give numbers from 0 to 1",
            )
        checked[muscle] = values
    return checked


def _allowed(joints: Sequence[int], joint_count: int, muscle: int) -> npt.NDArray[np.bool_]:
    """Whether a muscle may move the skin of each joint; joints beyond those with skin are harmless."""
    numbers = np.asarray(joints, np.int64)
    size = max(joint_count, int(numbers.max(initial=-1)) + 1)
    require_indices(numbers, size, f"muscle {muscle}: joint", None, EcorcheError)
    allowed = np.zeros(size, np.bool_)
    allowed[numbers] = True
    return allowed


def _one_each(given: str | Sequence[str], count: int, known: tuple[str, ...], what: str) -> list[str]:
    """One word a muscle, each of them known."""
    words = [given] * count if isinstance(given, str) else list(given)
    if len(words) != count:
        raise EcorcheError(f"{count} muscles have {len(words)} words for {what}", remedy="Give one each")
    for word in words:
        if word not in known:
            raise EcorcheError(f"there is no {what} {word!r}", remedy=f"Take one of {', '.join(known)}")
    return words


def _checked(fades: Fades) -> Fades:
    """The fades, if each of them can be drawn."""
    if not (0.0 < fades.ends <= 0.5 and 0.0 < fades.limb <= 1.0):
        raise EcorcheError(
            f"the influence borders {fades} do not fit", remedy="Keep ends up to 0.5 and limb up to 1"
        )
    if not 0.0 < fades.rim <= fades.border <= 1.0:
        raise EcorcheError(
            f"the influence borders {fades} do not fit", remedy="Keep rim up to border, and border up to 1"
        )
    if not fades.depth > 0.0:
        raise EcorcheError("the border's depth is not positive", remedy="Give a number above 0")
    return fades
