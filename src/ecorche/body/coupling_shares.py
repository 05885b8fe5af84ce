"""Which coupling holds where: of each region as much as its joints move a vertex."""

from __future__ import annotations

from typing import get_args

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character
from ecorche.body.regions import by_joint, regions_by_any_name
from ecorche.document.coupling_spec import Coupling, CouplingSpec
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

LEFT_PLAIN = ("head", "hands", "feet")
"""Regions that a height field leaves to plain skinning unless they are named."""


def coupling_shares(
    spec: CouplingSpec, character: Character, naming: Naming, weights: SkinWeights, where: object
) -> dict[Coupling, Floats]:
    """How much of each coupling every vertex has, together 1, each (vertices,)."""
    skeleton, said = character.skeleton, dict(spec.regions)
    if spec.everywhere in ("height_field", "fascia"):
        there = regions_by_any_name(skeleton, naming)
        for region in LEFT_PLAIN:
            if region in there:
                said.setdefault(region, "plain")
    kinds = np.array(by_joint(said, spec.everywhere, skeleton, naming, where))
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    each: dict[Coupling, Floats] = {
        kind: _sums(vertex, weights.weights * (kinds[weights.joints] == kind), weights.vertex_count)
        for kind in get_args(Coupling)
    }
    total = np.maximum(sum(each.values()), 1e-12)
    return {kind: share / total for kind, share in each.items()}


def _sums(index: npt.NDArray[np.intp], values: npt.NDArray[np.floating], count: int) -> Floats:
    return np.asarray(np.bincount(index, values, count), np.float64)
