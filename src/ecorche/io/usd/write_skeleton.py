"""Write a skeleton and its animations as UsdSkel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, UsdSkel, Vt

from ecorche.base import transforms
from ecorche.io.usd.values import unique_names
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

EXACT_ENOUGH = 1e-6
"""Translation, rotation and scale as USD rounds them may differ from a matrix by this much."""

WORTH_A_NOTE = 1e-5
"""A difference above this is told, where the exact matrices cannot be kept."""


@dataclass(frozen=True)
class TimeLine:
    """How seconds become time codes: ``code = seconds · rate``, whole numbers where frames are even."""

    rate: float

    def codes(self, times: Floats) -> list[float]:
        """Time codes of seconds, without rounding dust."""
        codes = times * self.rate
        if len(codes) > 1:
            even = codes[0] + np.arange(len(codes))
            if np.abs(codes - even).max() < 1e-6:
                codes = even
        whole = np.round(codes)
        return [float(w) if abs(w - c) < 1e-6 else float(c) for w, c in zip(whole, codes, strict=True)]


def time_line(times: Floats, samples: int = 1) -> TimeLine:
    """The time line whose rate is that of the frames, of so many samples each; 24 where there is but one."""
    if len(times) < 2:
        return TimeLine(24.0)
    rate = (len(times) - 1) / float(times[-1] - times[0]) / samples
    whole = round(rate)
    return TimeLine(float(whole) if whole > 0 and abs(rate - whole) < 1e-9 * whole else rate)


def joint_tokens(skeleton: Skeleton) -> tuple[list[str], bool]:
    """Joint paths as UsdSkel wants them, and whether a joint had to be renamed for it."""
    leaves = unique_names(list(skeleton.names))
    tokens: list[str] = []
    for leaf, parent in zip(leaves, skeleton.parents, strict=True):
        tokens.append(leaf if parent < 0 else f"{tokens[parent]}/{leaf}")
    return tokens, leaves != list(skeleton.names)


def usd_matrices(matrices: Floats) -> Any:
    """Matrices on columns (n, 4, 4) as USD's on rows."""
    return Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(np.swapaxes(matrices, -1, -2)))


def write_skeleton(stage: Any, path: Any, skeleton: Skeleton) -> Any:
    """Define a Skeleton prim at bind and rest."""
    schema = UsdSkel.Skeleton.Define(stage, path)
    tokens, renamed = joint_tokens(skeleton)
    schema.CreateJointsAttr(Vt.TokenArray(tokens))
    if renamed:
        schema.CreateJointNamesAttr(Vt.TokenArray(list(skeleton.names)))
    schema.CreateBindTransformsAttr(usd_matrices(skeleton.bind_world))
    schema.CreateRestTransformsAttr(usd_matrices(skeleton.rest_local))
    schema.CreatePurposeAttr("guide")
    if np.isfinite(skeleton.tails).any():
        kept = schema.GetPrim().CreateAttribute("ecorche:tails", Sdf.ValueTypeNames.Double3Array, True)
        kept.Set(Vt.Vec3dArray.FromNumpy(np.ascontiguousarray(skeleton.tails)))
    return schema


def write_animation(
    stage: Any,
    path: Any,
    motion: Motion,
    line: TimeLine,
    shapes: Mapping[str, npt.NDArray[np.floating]],
    *,
    keep_matrices: bool,
    notes: list[str],
) -> Any:
    """Define a SkelAnimation of a motion.

    Args:
        stage: The stage.
        path: Where to define it.
        motion: The motion.
        line: Seconds to time codes.
        shapes: Blend shape token to its weight over time, shape (frames,).
        keep_matrices: Keep the exact matrices beside the animation where USD's parts cannot say them.
        notes: Told how far USD's parts are from the matrices.
    """
    schema = UsdSkel.Animation.Define(stage, path)
    if path.name != motion.name:
        schema.GetPrim().SetDisplayName(motion.name)
    schema.CreateJointsAttr(Vt.TokenArray(joint_tokens(motion.skeleton)[0]))
    moves, turns, scales = transforms.decompose(motion.local)
    turns = _continuous(turns)
    parts = (
        (schema.CreateTranslationsAttr(), Vt.Vec3fArray, moves.astype(np.float32)),
        (schema.CreateRotationsAttr(), Vt.QuatfArray, turns.astype(np.float32)),
        (schema.CreateScalesAttr(), Vt.Vec3hArray, scales.astype(np.float16)),
    )
    codes = line.codes(motion.times)
    for attribute, maker, values in parts:
        _write_samples(stage, attribute, maker, values, codes)
    if shapes:
        schema.CreateBlendShapesAttr(Vt.TokenArray(list(shapes)))
        table = np.stack(list(shapes.values()), axis=1).astype(np.float32)
        _write_samples(stage, schema.CreateBlendShapeWeightsAttr(), Vt.FloatArray, table, codes)

    said = transforms.compose(*(values.astype(np.float64) for _, _, values in parts))
    apart = float(np.abs(said - motion.local).max())
    if keep_matrices:
        if apart > EXACT_ENOUGH:
            kept = schema.GetPrim().CreateAttribute(
                "ecorche:localMatrices", Sdf.ValueTypeNames.Matrix4dArray, True
            )
            for code, local in zip(codes, motion.local, strict=True):
                kept.Set(usd_matrices(local), code)
    elif apart > WORTH_A_NOTE:
        notes.append(
            f"motion {motion.name!r}: UsdSkel holds scale in half precision and no shear; its joint"
            f" matrices are off by up to {apart:.1e}"
        )
    return schema


def _write_samples(
    stage: Any, attribute: Any, maker: Any, values: npt.NDArray[np.generic], codes: Sequence[float]
) -> None:
    """Set an array attribute over time; once, where it never changes."""
    if len(values) > 1 and (values == values[0]).all():
        attribute.Set(maker.FromNumpy(np.ascontiguousarray(values[0])))
        # the clip keeps its length even where nothing but the pose is said
        if attribute.GetName() != "rotations":
            return
    layer, path = stage.GetRootLayer(), attribute.GetPath()
    for code, value in zip(codes, values, strict=True):
        layer.SetTimeSample(path, code, maker.FromNumpy(np.ascontiguousarray(value)))


def _continuous(turns_xyzw: Floats) -> Floats:
    """Quaternions (frames, joints, 4) with signs chosen so that each is near the one before."""
    dots = np.sum(turns_xyzw[1:] * turns_xyzw[:-1], axis=-1)
    signs = np.cumprod(np.where(dots < 0.0, -1.0, 1.0), axis=0)
    result = turns_xyzw.copy()
    result[1:] *= signs[..., None]
    return result


def without_scale(skeleton: Skeleton, motions: Sequence[Motion]) -> tuple[Skeleton, list[Motion], bool]:
    """The same skeleton and motions with each joint's uniform bind scale taken out of its frame.

    ``world · σ⁻¹`` moves the skin exactly as ``world`` does, when bind is treated alike; a constant
    scale such as an armature's 0.01 then does not have to pass through half precision.
    """
    linear = skeleton.bind_world[:, :3, :3]
    size = np.cbrt(np.abs(np.linalg.det(linear)))
    if np.abs(size - 1.0).max() < WORTH_A_NOTE:
        return skeleton, list(motions), False
    undo = np.zeros((skeleton.joint_count, 4, 4))
    undo[:, [0, 1, 2], [0, 1, 2]] = 1.0 / size[:, None]
    undo[:, 3, 3] = 1.0
    above = np.tile(np.eye(4), (skeleton.joint_count, 1, 1))
    has_parent = skeleton.parents >= 0
    above[has_parent] = transforms.inverse(undo)[skeleton.parents[has_parent]]
    plain = Skeleton(
        skeleton.names,
        skeleton.parents,
        above @ skeleton.bind_local @ undo,
        above @ skeleton.rest_local @ undo,
        skeleton.tails * size[:, None],
    )
    moved = [Motion(m.name, plain, m.times, above @ m.local @ undo, m.morph_weights) for m in motions]
    return plain, moved, True
