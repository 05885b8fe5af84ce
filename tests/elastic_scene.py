"""Random limbs with elastic lines over their joint: two bones, a joint's ball, a pad that draws lines in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from ecorche.muscles.lines.elastic import DYNAMIC, ElasticLine
from ecorche.muscles.lines.fields import Field, FieldEllipsoid

Floats = npt.NDArray[np.float64]

JOINTS = 3
"""Of each limb: the upper bone, which rests, the lower one, and one that goes half the way."""


@dataclass(frozen=True, eq=False)
class Limbs:
    """Limbs, one line over each.

    Attributes:
        lines, fields: What they have.
        axes: That each bends about, (limbs, 3).
        reach: How far it bends [rad], (limbs,).
        phases: Where in its bending each begins [rad], (limbs,).
    """

    lines: list[ElasticLine]
    fields: list[Field]
    axes: Floats
    reach: Floats
    phases: Floats

    @property
    def joint_count(self) -> int:
        return JOINTS * len(self.axes)

    def moved(self, times: Floats) -> Floats:
        """Poses (F, joints, 4, 4) at times [s]: every limb bends and stretches once a second."""
        angle = self.reach * (1.0 - np.cos(2.0 * np.pi * times[:, None] + self.phases)) / 1.2
        poses = np.zeros((len(times), self.joint_count, 4, 4))
        for part, share in ((1, 1.0), (2, 0.5)):
            turn = Rotation.from_rotvec((share * angle[..., None] * self.axes).reshape(-1, 3)).as_matrix()
            poses[:, part::JOINTS, :3, :3] = turn.reshape(len(times), -1, 3, 3) - np.eye(3)
        return poses


def limbs(count: int, seed: int, nodes: int = 9) -> Limbs:
    """Limbs along z whose joint lies at the origin; each line has tendons at both ends and four fields."""
    rng = np.random.default_rng(seed)
    lines, fields = [], []
    side = 0.06 * np.where(rng.random(count) < 0.5, 1.0, -1.0)
    for n in range(count):
        origin = np.append(0.03 * rng.normal(size=2), rng.uniform(0.25, 0.35))
        insertion = np.append(0.025 * rng.normal(size=2), -rng.uniform(0.15, 0.25))
        origin[0] += side[n]
        insertion[0] += 0.7 * side[n]
        share = np.linspace(0.0, 1.0, nodes)[:, None]
        shapes = (
            ("ball", 0, 0.0, (0.05, 0.06, 0.05), "repel", 5000.0),
            ("upper", 0, 0.17, (0.035, 0.035, 0.16), "repel", 3000.0),
            ("lower", 1, -0.15, (0.03, 0.03, 0.14), "repel", 3000.0),
            ("pad", 2, 0.05, (0.09, 0.09, 0.2), "attract", 150.0),
        )
        for name, part, height, radii, kind, strength in shapes:
            size = np.array(radii) * (1.0 + 0.2 * rng.normal(size=3).clip(-1.0, 1.0))
            one = FieldEllipsoid(np.array([0.0, 0.0, height]), size, joint=JOINTS * n + part)
            how = "attract" if kind == "attract" else "repel"
            fields.append(Field(f"{name} {n}", (one,), kind=how, strength=strength))  # type: ignore[arg-type]
        tendon = np.zeros(nodes - 1, bool)
        tendon[[0, 1, -2, -1]] = True
        lines.append(
            ElasticLine(
                f"line {n}",
                origin * (1.0 - share) + insertion * share,
                [JOINTS * n, *[DYNAMIC] * (nodes - 2), JOINTS * n + 1],
                tendon.tolist(),
                [f"{name} {n}" for name, *_ in shapes],
            )
        )
    axes = np.array([0.0, 1.0, 0.0]) + 0.1 * rng.normal(size=(count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return Limbs(
        lines, fields, axes, np.radians(rng.uniform(40.0, 80.0, count)), rng.uniform(0.0, 6.28, count)
    )
