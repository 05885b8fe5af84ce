"""How a USD mesh hangs on its skeleton: binding, skin weights, skinning method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import UsdGeom, UsdSkel

from ecorche.errors import MeshError
from ecorche.io.usd.skeleton import Rig
from ecorche.io.usd.stage import matrix_of
from ecorche.io.usd.values import integers, steady_value
from ecorche.skin.weights import SkinWeights, weights_from_entries, weights_from_table

Floats = npt.NDArray[np.float64]

METHODS = {"classicLinear": "linear", "dualQuaternion": "dual_quaternion"}
"""UsdSkel's skinning methods in our names."""


@dataclass(frozen=True, eq=False)
class MeshPrim:
    """What we know of a mesh prim before reading its arrays.

    Attributes:
        prim: The prim.
        name: Its name in the character, unique.
        skeleton: The Skeleton prim it is bound to, or None.
        under_root: Whether it stands under a SkelRoot, where USD skins it.
    """

    prim: Any
    name: str
    skeleton: Any
    under_root: bool

    @property
    def where(self) -> str:
        """The mesh in messages."""
        return f"mesh {self.prim.GetPath()}"

    @property
    def posed(self) -> bool:
        """Whether its points are sampled over time, or once beside a default, which is bind."""
        points = UsdGeom.Mesh(self.prim).GetPointsAttr()
        samples = points.GetNumTimeSamples()
        return bool(samples > 1 or (samples == 1 and points.Get() is not None))


def inherited(prim: Any, name: str) -> Any:
    """The nearest authored attribute of that name on the prim or above it, or None."""
    while prim and not prim.IsPseudoRoot():
        attribute = prim.GetAttribute(name)
        if attribute and attribute.HasAuthoredValue():
            return attribute
        prim = prim.GetParent()
    return None


def has_influences(prim: Any) -> bool:
    """Whether UsdSkel's joint indices and weights are authored on a prim or above it."""
    return (
        inherited(prim, "primvars:skel:jointIndices") is not None
        and inherited(prim, "primvars:skel:jointWeights") is not None
    )


def read_weights(source: MeshPrim, rig: Rig, vertex_count: int, notes: list[str]) -> SkinWeights | None:
    """Skin weights in UsdSkel's own primvars, or in our attributes on a posed mesh; else None."""
    prim, where = source.prim, source.where
    if prim.GetAttribute("ecorche:bind:influenceCounts").HasAuthoredValue():
        return _kept_weights(prim, rig, vertex_count, where)
    if not has_influences(prim):
        return None
    if not source.under_root and not source.posed:
        notes.append(
            f"{where} has joint weights but stands outside any SkelRoot, where USD does not skin it:"
            " it stands still"
        )
        return None
    joints_attribute = inherited(prim, "primvars:skel:jointIndices")
    weights_attribute = inherited(prim, "primvars:skel:jointWeights")
    primvar = UsdGeom.Primvar(joints_attribute)
    width = max(int(primvar.GetElementSize()), 1)
    joints = integers(steady_value(joints_attribute))
    weights = np.array(steady_value(weights_attribute), np.float64).reshape(-1)
    rows = 1 if str(primvar.GetInterpolation()) == "constant" else vertex_count
    if len(joints) != rows * width or len(weights) != rows * width:
        raise MeshError(
            f"it has {len(joints)} joint indices and {len(weights)} weights, but {rows} × {width} are needed",
            where=where,
            remedy="Export its skin weights again",
        )
    own = inherited(prim, "skel:joints")
    names = [str(t) for t in own.Get()] if own is not None else None
    file_joints = [str(t) for t in steady_value(UsdSkel.Skeleton(rig.prim).GetJointsAttr())]
    numbers = rig.joint_numbers(file_joints if names is None else names)
    table, weight = joints.reshape(rows, width).astype(np.int64), weights.reshape(rows, width)
    used = weight != 0.0
    outside = used & ((table < 0) | (table >= len(numbers)))
    if outside.any():
        vertex = int(np.argmax(outside.any(axis=1)))
        joint = int(table[vertex][outside[vertex]][0])
        raise MeshError(
            f"vertex {vertex} names joint {joint}, but only 0 to {len(numbers) - 1} exist",
            where=where,
            remedy="Export its skin weights again",
        )
    ours = numbers[np.where(used, table, 0)]
    if (used & (ours < 0)).any():
        assert names is not None
        lost = names[int(table[used & (ours < 0)][0])]
        raise MeshError(
            f"it is weighted to joint {lost!r}, which the skeleton lacks",
            where=where,
            remedy="Bind it to joints of its skeleton",
        )
    result = weights_from_table(
        np.tile(np.where(used, ours, 0), (vertex_count // rows, 1)),
        np.tile(weight, (vertex_count // rows, 1)),
        rig.skeleton.joint_count,
        where,
    )
    if result.normalised:
        notes.append(f"{where}: the weights of {result.normalised} vertices did not sum to one: normalised")
    return result


def _kept_weights(prim: Any, rig: Rig, vertex_count: int, where: str) -> SkinWeights:
    """Weights our writer left on a posed mesh."""
    counts = integers(prim.GetAttribute("ecorche:bind:influenceCounts").Get())
    joints = integers(prim.GetAttribute("ecorche:bind:joints").Get())
    weights = np.array(prim.GetAttribute("ecorche:bind:weights").Get(), np.float32).reshape(-1)
    if len(counts) != vertex_count or int(counts.sum()) != len(joints) or len(joints) != len(weights):
        raise MeshError(
            "its ecorche:bind attributes do not fit together", where=where, remedy="Bake the file again"
        )
    rows = np.repeat(np.arange(vertex_count), counts)
    return weights_from_entries(rows, joints, weights, vertex_count, rig.skeleton.joint_count, where)


def read_own_bind(prim: Any, rig: Rig | None) -> Floats | None:
    """The bind pose of its own that our writer left on a posed mesh, or None; see `SkinnedMesh`."""
    value = prim.GetAttribute("ecorche:bind:ownBind").Get()
    if value is None or rig is None or len(value) != rig.skeleton.joint_count:
        return None
    return matrix_of(value)


def read_method(prim: Any) -> str | None:
    """The skinning method the file asks for, in our names."""
    kept = prim.GetAttribute("ecorche:bind:skinning").Get()
    if kept is not None:
        return str(kept)
    attribute = inherited(prim, "primvars:skel:skinningMethod")
    return None if attribute is None else METHODS.get(str(attribute.Get()))
