"""Hybrid skinning: limbs move the skin by any method, muscle joints where it is muscular.

Text 001, "Skin Deformation". With linear skinning it is linear skinning over more joints, nothing else. With
another method muscles that take their weight from the joint they hang on add ``Σ ω (M − M_parent) v`` to what
that method gives, so that muscles that do nothing leave it as it is; muscles that take from all joints alike
are blended with it, ``(1 − Σ ω) p + Σ ω M v``. All is computed as a difference from bind: at bind the mesh
comes back bit for bit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.errors import MeshError
from ecorche.muscles.lofted_posing import Lofts
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.active import ActiveSkinning
from ecorche.skin.hybrid_weights import MuscleWeights, hybrid_weights
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.methods import Skinning, make_skinning
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]


class HybridSkinning:
    """One mesh on a skeleton and its muscle joints, ready to be applied frame after frame.

    Args:
        points: Bind positions [m], shape (vertices, 3), float32.
        weights: Skin weights on the skeleton alone.
        muscles: What muscle joints take of them.
        parents: The joint of the skeleton each muscle joint hangs on, (K,).
        skeleton: The skeleton.
        method: How limbs move the skin, see `methods`.
        posed_with: The muscles, where `apply_active` is asked for.
        hybrid: The weights on all joints together, where they are not `hybrid_weights` of the above, such as
            `limited` ones; for linear skinning only.

    Attributes:
        weights: On the skeleton's joints and then on the muscle joints, where skinning by them is all there
            is to it, else None.
    """

    def __init__(
        self,
        points: Points,
        weights: SkinWeights,
        muscles: MuscleWeights,
        parents: npt.NDArray[np.int64],
        skeleton: Skeleton,
        method: str = "linear",
        hybrid: SkinWeights | None = None,
        *,
        posed_with: Lofts | None = None,
    ) -> None:
        self._points, self.parents = np.ascontiguousarray(points, np.float32), parents
        self._joint_count = skeleton.joint_count
        self._linear, self._from_parent = method == "linear", muscles.from_parent
        if hybrid is None:
            hybrid = hybrid_weights(weights, muscles, parents, skeleton.joint_count)
        elif not self._linear:
            raise MeshError(
                f"weights on all joints together were given for {method} skinning",
                remedy="Give them for linear skinning only",
            )
        self._posed_with, self._active = posed_with, None
        self.weights = hybrid if self._linear else None
        if self._linear:
            linear = LinearSkinning(points, hybrid)
            self._limbs: Skinning = linear
            if posed_with is not None:
                self._active = ActiveSkinning(linear, posed_with)
            return
        self._limbs = make_skinning(method, points, weights, skeleton)
        part = _muscle_part(hybrid, skeleton.joint_count)
        self._muscles = LinearSkinning(points, part)
        vertex = np.repeat(np.arange(part.vertex_count), np.diff(part.starts))
        taken = np.bincount(vertex, part.weights, minlength=part.vertex_count)
        self._taken = taken.astype(np.float32)[:, None]

    def apply_active(
        self,
        difference: Floats,
        activation: Floats | None,
        points: Points | None = None,
        out: Points | None = None,
    ) -> Points:
        """The same where muscles are so active: muscle joints need not be at hand.

        Args:
            difference: ``M − I`` of the skeleton's joints, (J, 4, 4).
            activation: Of the muscles, 0 to 1, (M,); None is at rest.
            points: Positions to use in place of the bind positions, such as morphed ones.
            out: Where to write; C-contiguous float32 (vertices, 3).
        """
        if self._active is not None:
            return self._active.apply(difference, activation, points, out)
        if self._posed_with is None:
            raise MeshError("its muscles are not known", remedy="Give muscle joints to `apply`")
        return self.apply(self._posed_with.extended(difference, activation), points, out)

    def apply(self, difference: Floats, points: Points | None = None, out: Points | None = None) -> Points:
        """Skinned positions [m], shape (vertices, 3): see `Skinning`.

        Args:
            difference: ``M − I`` of the skeleton's joints and then of the muscle joints, (J + K, 4, 4).
            points: Positions to use in place of the bind positions, such as morphed ones.
            out: Where to write; C-contiguous float32 (vertices, 3).
        """
        expected = self._joint_count + len(self.parents)
        if difference.shape != (expected, 4, 4):
            raise MeshError(
                f"joint matrices have shape {difference.shape}",
                remedy=f"Give {self._joint_count} of joints, then {len(self.parents)} of muscle joints",
            )
        if self._linear:
            return self._limbs.apply(difference, points, out)
        start = self._points if points is None else np.ascontiguousarray(points, np.float32)
        skinned = self._limbs.apply(difference[: self._joint_count], points, out)
        moves = difference[self._joint_count :]
        if self._from_parent:
            moves = moves - difference[self.parents]
        less = start - self._muscles.apply(moves, points)
        if not self._from_parent:
            less += self._taken * (skinned - start)
        # subtracted, so that a coordinate that is minus zero keeps its sign at bind
        skinned -= less
        return skinned


def _muscle_part(hybrid: SkinWeights, joint_count: int) -> SkinWeights:
    """What muscle joints have of the weights, numbered from 0; rows do not sum to one, and may be empty."""
    on_muscles = hybrid.joints >= joint_count
    counted = np.concatenate([[0], np.cumsum(on_muscles)])
    return SkinWeights(
        counted[hybrid.starts].astype(np.int32),
        (hybrid.joints[on_muscles] - joint_count).astype(np.int32),
        hybrid.weights[on_muscles],
    )
