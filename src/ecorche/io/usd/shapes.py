"""Blend shapes of a USD mesh, with the in-between shapes that a face passes on its way.

UsdSkel leads a shape's weight from nothing at 0 over its in-betweens to the shape itself at 1, in
straight lines, and goes on straight beyond. So each in-between becomes a morph of its own, and the one
weight of the file becomes a weight for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, UsdSkel

from ecorche.base.mesh import Morph
from ecorche.errors import MeshError
from ecorche.io.usd.skin import MeshPrim
from ecorche.io.usd.values import floats3, integers, steady_value

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shape:
    """What one weight drives.

    Attributes:
        morphs: The in-betweens and the shape itself.
        peaks: The weight at which each morph stands alone; none is 0.
    """

    morphs: tuple[Morph, ...]
    peaks: tuple[float, ...]

    def weights(self, weight: Floats) -> Floats:
        """The weight of each morph (frames, morphs) for the file's weights (frames,)."""
        knots = np.sort([0.0, *self.peaks])
        below = np.clip(np.searchsorted(knots, weight, "right") - 1, 0, len(knots) - 2)
        share = (weight - knots[below]) / (knots[below + 1] - knots[below])
        frames = np.arange(len(weight))
        table = np.zeros((len(weight), len(knots)))
        table[frames, below] = 1.0 - share
        table[frames, below + 1] = share
        return table[:, np.searchsorted(knots, self.peaks)]


def read_shapes(source: MeshPrim, matrix: Floats, vertex_count: int, notes: list[str]) -> dict[str, Shape]:
    """Blend shapes by the token animations know them by.

    Args:
        source: The mesh.
        matrix: Takes the mesh's points to bind, shape (4, 4).
        vertex_count: How many points it has.
        notes: Told of what reads otherwise than it was written.
    """
    prim, where = source.prim, source.where
    kept = prim.GetAttribute("ecorche:bind:blendShapes").HasAuthoredValue()
    prefix = "ecorche:bind" if kept else "skel"
    names_attribute = prim.GetAttribute(f"{prefix}:blendShapes")
    targets_relation = prim.GetRelationship(f"{prefix}:blendShapeTargets")
    tokens = [str(t) for t in (names_attribute.Get() if names_attribute else None) or []]
    targets = targets_relation.GetForwardedTargets() if targets_relation else []
    if len(tokens) != len(targets):
        raise MeshError(
            f"it names {len(tokens)} blend shapes but has {len(targets)} targets",
            where=where,
            remedy="Export its blend shapes again",
        )
    found = {}
    for token, target in zip(tokens, targets, strict=True):
        schema = UsdSkel.BlendShape(prim.GetStage().GetPrimAtPath(Sdf.Path(target)))
        if not schema:
            raise MeshError(f"blend shape {token!r} has no target {target}", where=where)
        found[token] = _shape(schema, token, matrix[:3, :3], vertex_count, notes, where)
    return found


def _shape(schema: Any, token: str, linear: Floats, vertex_count: int, notes: list[str], where: str) -> Shape:
    prim = schema.GetPrim()
    title = str(prim.GetDisplayName() or token)
    offsets = floats3(steady_value(schema.GetOffsetsAttr()), f"offsets of {token!r}", where)
    chosen = steady_value(schema.GetPointIndicesAttr())
    vertices = np.arange(len(offsets), dtype=np.int32) if chosen is None else integers(chosen)
    if chosen is None and len(offsets) not in (0, vertex_count):
        raise MeshError(
            f"blend shape {token!r} has {len(offsets)} offsets for {vertex_count} vertices", where=where
        )
    if len(vertices) and (vertices.min() < 0 or vertices.max() >= vertex_count):
        raise MeshError(
            f"blend shape {token!r} has indices that do not fit", where=where, remedy="Export it again"
        )
    if schema.GetNormalOffsetsAttr().HasAuthoredValue():
        notes.append(f"{where}: normals of blend shape {token!r} are left out; they follow the surface")

    def morph(name: str, moved: npt.NDArray[np.float32], resting: float) -> Morph:
        if len(vertices) != len(moved):
            raise MeshError(
                f"blend shape {token!r} has indices that do not fit", where=where, remedy="Export it again"
            )
        if not np.array_equal(linear, np.eye(3)):
            moved = (moved @ linear.T).astype(np.float32)
        order = np.argsort(vertices, kind="stable")
        return Morph(name, vertices[order], moved[order], resting)

    resting = float(prim.GetAttribute("ecorche:restWeight").Get() or 0.0)
    morphs, peaks = [morph(title, offsets, resting)], [1.0]
    for between in schema.GetInbetweens():
        name, peak = str(between.GetAttr().GetName()).removeprefix("inbetweens:"), between.GetWeight()
        if peak is None or not np.isfinite(peak) or peak == 0.0 or peak in peaks:
            # OpenUSD passes over these as well
            notes.append(f"{where}: in-between {name!r} of {token!r} has no weight of its own; left out")
            continue
        moved = floats3(between.GetOffsets(), f"offsets of in-between {name!r}", where)
        morphs.append(morph(f"{title}.{name}", moved, 0.0))
        peaks.append(float(peak))
    if len(morphs) > 1:
        notes.append(
            f"{where}: the {len(morphs) - 1} in-between shapes of {token!r} became blend shapes of their own"
        )
    return Shape(tuple(morphs), tuple(peaks))
