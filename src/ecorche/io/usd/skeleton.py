"""Read a UsdSkel skeleton and the animations made for it.

A `Rig` is the skeleton in our space. With C the stage's conversion to metres and +Y up, W the
skeleton prim's transform, B and L its bind and local matrices, and S the uniform scale in C W,
the joints' matrices become C W B S⁻¹: positions are in metres while joint frames stay free of
the scale. Skinning matrices are the same either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pxr import UsdSkel

from ecorche.base import transforms
from ecorche.base.rotations import normalise
from ecorche.errors import ReadError, SkeletonError
from ecorche.io.usd.stage import Space, matrix_of, moving_ancestors, prim_title, world_from_prim
from ecorche.io.usd.values import steady_value
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton, local_from_world, parents_first

if TYPE_CHECKING:
    from ecorche.io.usd.shapes import Shape

Floats = npt.NDArray[np.float64]

ROUNDING = 1e-6
"""The last row of a matrix may be off by this much: Blender writes products in single precision."""

DrivenShapes: TypeAlias = "dict[str, list[tuple[str, Shape]]]"
"""Blend shape token to the meshes, by name, and shapes its weight drives."""


@dataclass(frozen=True, eq=False)
class Rig:
    """A skeleton prim, and the same skeleton in our space.

    Attributes:
        prim: The Skeleton prim, or None where the file has none.
        tokens: Joint paths in our order.
        skeleton: The skeleton, parents first, metres, +Y up.
        ours_from_skeleton: Matrix from the prim's own space at rest to ours, shape (4, 4).
        scale: The uniform scale in it.
        file_rest: Local rest matrices in the file's own units, shape (joints, 4, 4).
        space: The stage's units.
    """

    prim: Any
    tokens: tuple[str, ...]
    skeleton: Skeleton
    ours_from_skeleton: Floats
    scale: float
    file_rest: Floats
    space: Space

    def joint_numbers(self, tokens: list[str]) -> npt.NDArray[np.int64]:
        """Our number of each joint path; -1 where the skeleton lacks it."""
        known = {token: number for number, token in enumerate(self.tokens)}
        return np.array([known.get(token, -1) for token in tokens], np.int64)


def locals_in_metres(
    local: Floats, parents: npt.NDArray[np.int32], ours_from_skeleton: Floats, scale: float
) -> Floats:
    """Local matrices of the file (..., joints, 4, 4) in our space; the identity touches no bit."""
    result = local.copy()
    if scale != 1.0:
        result[..., :3, 3] *= scale
    if not np.array_equal(ours_from_skeleton, np.eye(4)):
        roots = parents < 0
        unscale = np.diag([1.0 / scale] * 3 + [1.0])
        result[..., roots, :, :] = ours_from_skeleton @ local[..., roots, :, :] @ unscale
    return result


def read_rig(prim: Any, space: Space, notes: list[str]) -> Rig:
    """The skeleton of a Skeleton prim."""
    where = f"skeleton {prim.GetPath()}"
    schema = UsdSkel.Skeleton(prim)
    file_tokens = [str(t) for t in steady_value(schema.GetJointsAttr()) or []]
    if not file_tokens:
        raise ReadError("it has no joints", where=where, remedy="Export the skeleton with its joints")
    _require_distinct(file_tokens, where)
    file_parents = _parents(file_tokens)
    order = parents_first(file_parents, file_tokens)
    place = {joint: number for number, joint in enumerate(order)}
    parents = np.array([place.get(file_parents[j], -1) for j in order], np.int32)
    tokens = [file_tokens[j] for j in order]

    rest = _matrices(schema.GetRestTransformsAttr(), order, tokens, where)
    bind = _matrices(schema.GetBindTransformsAttr(), order, tokens, where)
    if bind is None and rest is None:
        raise ReadError(
            "it has neither bind nor rest transforms",
            where=where,
            remedy="Export bindTransforms with one matrix a joint",
        )
    above = space.ours_from_stage @ world_from_prim(prim)
    scale = _uniform_scale(above)
    if bind is None:
        notes.append(f"{where} has no bind transforms: its rest pose is taken as bind")
    if rest is None:
        notes.append(f"{where} has no rest transforms: its bind pose is taken as rest")
    bind_local = None if bind is None else local_from_world(parents, bind)
    file_bind = bind_local if bind_local is not None else rest
    file_rest = rest if rest is not None else bind_local
    assert file_bind is not None
    assert file_rest is not None

    tails = np.full((len(order), 3), np.nan)
    stored = prim.GetAttribute("ecorche:tails").Get()
    if stored is not None and len(stored) == len(order):
        tails = np.array(stored, np.float64)[order] * scale
    skeleton = Skeleton(
        _names(schema, order, tokens),
        parents,
        locals_in_metres(file_bind, parents, above, scale),
        locals_in_metres(file_rest, parents, above, scale),
        tails,
    )
    return Rig(prim, tuple(tokens), skeleton, above, scale, file_rest, space)


def one_joint_rig(space: Space) -> Rig:
    """A rig of a single joint at the origin, for a posed cache without a skeleton."""
    still = np.eye(4)[None]
    skeleton = Skeleton(("root",), np.array([-1], np.int32), still, still, np.full((1, 3), np.nan))
    return Rig(None, ("root",), skeleton, np.eye(4), 1.0, still, space)


def _parents(tokens: list[str]) -> list[int]:
    """The nearest joint above each, by path, as UsdSkel finds it; -1 at a root."""
    known = {token: number for number, token in enumerate(tokens)}
    parents = []
    for token in tokens:
        parent = -1
        above = token.rpartition("/")[0]
        while above and parent < 0:
            parent = known.get(above, -1)
            above = above.rpartition("/")[0]
        parents.append(parent)
    return parents


def _names(schema: Any, order: list[int], tokens: list[str]) -> tuple[str, ...]:
    """The file's own joint names where it gives them, else the last part of each path if unique."""
    given = [str(n) for n in steady_value(schema.GetJointNamesAttr()) or []]
    if len(given) == len(order) and len(set(given)) == len(given) and all(given):
        return tuple(given[j] for j in order)
    leaves = [token.rpartition("/")[2] for token in tokens]
    names = [leaf if leaves.count(leaf) == 1 else token for leaf, token in zip(leaves, tokens, strict=True)]
    return tuple(names if len(set(names)) == len(names) else tokens)


def _require_distinct(tokens: list[str], where: str) -> None:
    for number, token in enumerate(tokens):
        if token in tokens[:number]:
            raise SkeletonError(
                f"two joints have the path {token!r}", where=where, remedy="Rename one of them"
            )


def _matrices(attribute: Any, order: list[int], tokens: list[str], where: str) -> Floats | None:
    """One matrix a joint in our order, or None where the file gives none; bad ones are refused."""
    value = steady_value(attribute)
    if value is None or len(value) == 0:
        return None
    name = attribute.GetName()
    if len(value) != len(order):
        raise SkeletonError(
            f"{name} holds {len(value)} matrices for {len(order)} joints",
            where=where,
            remedy="Export one matrix a joint",
        )
    matrices = matrix_of(value)[order]
    for token, matrix in zip(tokens, matrices, strict=True):
        if not np.isfinite(matrix).all():
            raise SkeletonError(
                f"{name} of joint {token!r} is not finite", where=where, remedy="Export the skeleton again"
            )
        if np.abs(matrix[3] - [0.0, 0.0, 0.0, 1.0]).max() > ROUNDING:
            raise SkeletonError(
                f"{name} of joint {token!r} is not affine", where=where, remedy="Export the skeleton again"
            )
        if abs(np.linalg.det(matrix[:3, :3])) < 1e-18:
            raise SkeletonError(
                f"{name} of joint {token!r} cannot be inverted: it has zero scale",
                where=where,
                remedy="Give it a scale other than zero and export again",
            )
        matrix[3] = [0.0, 0.0, 0.0, 1.0]
    return matrices


def _uniform_scale(matrix: Floats) -> float:
    """The scale of a matrix where it is one in all directions, else 1."""
    gram = matrix[:3, :3].T @ matrix[:3, :3]
    square = float(np.trace(gram)) / 3.0
    if square <= 0.0 or not np.allclose(gram, square * np.eye(3), atol=1e-9 * square, rtol=0.0):
        return 1.0
    scale = float(np.sqrt(square))
    return round(scale, 12) if abs(scale - round(scale, 12)) < 1e-15 else scale


# --- animation -------------------------------------------------------------------------------


def bound_animation(rig: Rig) -> Any:
    """The SkelAnimation prim that drives the rig, or None."""
    if rig.prim is None:
        return None
    found = UsdSkel.BindingAPI(rig.prim).GetInheritedAnimationSource()
    return found if found and found.IsA(UsdSkel.Animation) else None


def animation_codes(rig: Rig, animation: Any) -> set[float]:
    """Time codes at which an animation, or the transform above the skeleton, has samples."""
    codes: set[float] = set()
    if animation is not None:
        schema = UsdSkel.Animation(animation)
        for attribute in (
            schema.GetTranslationsAttr(),
            schema.GetRotationsAttr(),
            schema.GetScalesAttr(),
            schema.GetBlendShapeWeightsAttr(),
        ):
            codes.update(attribute.GetTimeSamples())
    if rig.prim is not None:
        for xformable in moving_ancestors(rig.prim):
            codes.update(xformable.GetTimeSamples())
    return codes


def shape_tokens(animation: Any) -> list[str]:
    """The blend shapes an animation has weights for."""
    value = None if animation is None else steady_value(UsdSkel.Animation(animation).GetBlendShapesAttr())
    return [str(token) for token in value or []]


def read_motion_at(
    rig: Rig, animation: Any, codes: list[float], shapes: DrivenShapes, notes: list[str]
) -> Motion:
    """The rig's joints over time.

    Args:
        rig: The skeleton.
        animation: A SkelAnimation prim, or None where only the transform above moves.
        codes: Time codes to sample at; empty for an animation that holds a single pose.
        shapes: What each blend shape's weight drives.
        notes: Told of joints that do not fit.
    """
    name = "motion" if animation is None else prim_title(animation)
    local = np.tile(rig.file_rest, (max(len(codes), 1), 1, 1, 1))
    weights: dict[str, Floats] = {}
    if animation is not None:
        _animate(rig, animation, codes, local, notes)
        weights = _shape_weights(animation, codes, shapes)
    if rig.prim is not None and codes and moving_ancestors(rig.prim):
        stood = rig.space.ours_from_stage
        above = np.stack([stood @ world_from_prim(rig.prim, code) for code in codes])[:, None]
    else:
        above = rig.ours_from_skeleton
    local = locals_in_metres(local, rig.skeleton.parents, above, rig.scale)
    times = rig.space.seconds(codes) if codes else np.zeros(1)
    return Motion(name, rig.skeleton, times, local, weights)


def _animate(rig: Rig, animation: Any, codes: list[float], local: Floats, notes: list[str]) -> None:
    """Replace the matrices (frames, joints, 4, 4) of the joints an animation moves."""
    schema = UsdSkel.Animation(animation)
    where = f"animation {animation.GetPath()}"
    tokens = [str(t) for t in steady_value(schema.GetJointsAttr()) or []]
    numbers = rig.joint_numbers(tokens)
    if (numbers < 0).any():
        lost = [token for token, number in zip(tokens, numbers, strict=True) if number < 0]
        notes.append(f"{where} moves {len(lost)} joints the skeleton lacks, such as {lost[0]!r}")
    kept = np.flatnonzero(numbers >= 0)
    if not len(kept):
        return
    joints = numbers[kept]
    exact = animation.GetAttribute("ecorche:localMatrices")
    if exact and exact.HasAuthoredValue():  # our writer keeps matrices that parts cannot say
        for frame, code in enumerate(codes):
            local[frame, joints] = matrix_of(exact.Get(code))[kept]
        return
    rest = transforms.decompose(local[:, joints])
    parts = []
    for attribute, width, fallback in (
        (schema.GetTranslationsAttr(), 3, rest[0]),
        (schema.GetRotationsAttr(), 4, rest[1]),
        (schema.GetScalesAttr(), 3, rest[2]),
    ):
        samples = _samples(attribute, codes, len(tokens), width, where)
        if samples is None and attribute.GetName() != "scales":
            notes.append(f"{where} has no {attribute.GetName()}: those of the rest pose are kept")
        parts.append(fallback if samples is None else samples[:, kept])
    # OpenUSD keeps a quaternion's real part last in memory: NumPy sees xyzw
    local[:, joints] = transforms.compose(parts[0], normalise(parts[1]), parts[2])


def _samples(attribute: Any, codes: list[float], count: int, width: int, where: str) -> Floats | None:
    """An array attribute at each time code, shape (frames, count, width), or None if it has none."""
    if not attribute.HasAuthoredValue():
        return None
    name = attribute.GetName()
    values = [attribute.Get(c) for c in codes] if codes else [steady_value(attribute)]
    result = np.empty((len(values), count, width) if width else (len(values), count))
    for number, value in enumerate(values):
        array = np.array([] if value is None else value, np.float64)
        if array.shape != result.shape[1:]:
            raise ReadError(
                f"{name} has {len(array)} values for {count} names at time code"
                f" {codes[number] if codes else 'default'}",
                where=where,
                remedy="Export the animation again",
            )
        if not np.isfinite(array).all():
            raise ReadError(
                f"{name} holds a value that is not a finite number at time code"
                f" {codes[number] if codes else 'default'}",
                where=where,
                remedy="Export the animation again",
            )
        result[number] = array
    return result


def _shape_weights(animation: Any, codes: list[float], shapes: DrivenShapes) -> dict[str, Floats]:
    tokens = shape_tokens(animation)
    attribute = UsdSkel.Animation(animation).GetBlendShapeWeightsAttr()
    samples = _samples(attribute, codes, len(tokens), 0, f"animation {animation.GetPath()}")
    if samples is None:
        return {}
    found = {}
    for number, token in enumerate(tokens):
        for mesh, shape in shapes.get(token, []):
            weights = shape.weights(samples[:, number])
            for morph, curve in zip(shape.morphs, weights.T, strict=True):
                found[f"{mesh}/{morph.name}"] = curve.copy()
    return found
