"""Muscles and patches of skin whose displacement can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.sections import Sections
from ecorche.skin.sliding_lanes import BRIDGED

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]


def one_muscle(**changed: Any) -> Sections:
    """A muscle 0.3 m long along +X that bulges along +Y, 4 cm thick in the belly, 1 cm at its ends."""
    half = np.array([0.01, 0.025, 0.04, 0.04])
    sections = Sections(
        origin=np.zeros((1, 3)),
        along=np.array([[1.0, 0.0, 0.0]]),
        out=np.array([[0.0, 1.0, 0.0]]),
        side=np.array([[0.0, 0.0, 1.0]]),
        length=np.array([0.3]),
        bulge=np.ones(1),
        scale=np.array([1.2]),
        belly=np.array([0.5]),
        thickness=np.stack([half, half[::-1]])[None],
        sweep=np.zeros((1, 2, 4, 2)),
        lines=None,
    )
    return replace(sections, **changed)


def together(*muscles: Sections) -> Sections:
    """Several straight muscles as one."""
    names = [n for n in Sections.__dataclass_fields__ if n != "lines"]
    joined: dict[str, Any] = {n: np.concatenate([getattr(m, n) for m in muscles]) for n in names}
    return Sections(**joined, lines=None)


def random_muscles(count: int, seed: int = 0, size: float = 1.0) -> Sections:
    """Muscles anywhere within ``size`` [m], with smooth thickness and sweep."""
    rng = np.random.default_rng(seed)
    along = normalise(rng.normal(size=(count, 3)))
    out = normalise(np.cross(along, rng.normal(size=(count, 3))))
    belly = rng.uniform(0.2, 0.8, count)

    def halves(control: Floats) -> Floats:
        """Control values (count, 7) as two cubics with one slope at the belly."""
        before, belly_value, slope = control[:, :2], control[:, 3], control[:, 2] - 0.03
        first = np.stack([*before.T, belly_value - slope * belly / 3, belly_value], axis=1)
        last = np.stack([belly_value, belly_value + slope * (1 - belly) / 3, *control[:, 5:].T], axis=1)
        return np.stack([first, last], axis=1)

    sweep = np.stack([halves(rng.uniform(0.0, 0.03, (count, 7))) for _ in range(2)], axis=-1)
    sweep[:, 0, 0] = sweep[:, 1, 3] = 0.0
    return Sections(
        origin=rng.uniform(-size, size, (count, 3)),
        along=along,
        out=out,
        side=np.cross(along, out),
        length=rng.uniform(0.1, 0.4, count),
        bulge=rng.uniform(1.0, 1.3, count),
        scale=rng.uniform(0.6, 1.6, count),
        belly=belly,
        thickness=halves(rng.uniform(0.01, 0.05, (count, 7))),
        sweep=sweep,
        lines=None,
    )


def moved(sections: Sections, rotation: Floats, shift: Floats) -> Sections:
    """Muscles turned and shifted as one body."""
    turned = {n: getattr(sections, n) @ rotation.T for n in ("along", "out", "side")}
    return replace(sections, origin=sections.origin @ rotation.T + shift, **turned)


def mirrored(sections: Sections) -> Sections:
    """The muscles of the other side, across x = 0."""
    mirror = np.array([-1.0, 1.0, 1.0])
    along, out = sections.along * mirror, sections.out * mirror
    return replace(
        sections,
        origin=sections.origin * mirror,
        along=along,
        out=out,
        side=np.cross(along, out),
        sweep=sections.sweep * np.array([1.0, -1.0]),
    )


def patch(height: float, x: Floats, z: Floats) -> Points:
    """A flat patch of skin at ``height`` over the muscle's line, points (len(x) · len(z), 3)."""
    grid_x, grid_z = np.meshgrid(x, z, indexing="ij")
    return np.stack([grid_x, np.full_like(grid_x, height), grid_z], -1).reshape(-1, 3).astype(np.float32)


def saturated(delta: Floats, limit: Floats | float) -> Floats:
    """δ (1 − 4/27 (δ/l)²), held at ±l from 3/2 l on; inwards the same with a lesser l."""
    most = np.where(delta < 0.0, BRIDGED, 1.0) * np.asarray(limit)
    part = np.clip(delta / most, -1.5, 1.5)
    return np.asarray(most * part * (1.0 - 4.0 / 27.0 * part**2))
