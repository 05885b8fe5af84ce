"""Write a character as UsdSkel: skeleton, joint influences, animation and blend shapes.

UsdSkel knows one bind pose a joint. A mesh bound in a pose of its own (`SkinnedMesh.own_bind`) gets
helper joints, children that stand exactly on its joints and whose bind is the mesh's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, UsdGeom, UsdSkel, Vt

from ecorche.base import transforms
from ecorche.body.character import SkinnedMesh
from ecorche.io.usd.skin import METHODS
from ecorche.io.usd.values import unique_names
from ecorche.io.usd.write_mesh import whole_numbers, write_bind_normals
from ecorche.io.usd.write_scene import Scene, shape_weights
from ecorche.io.usd.write_skeleton import TimeLine, without_scale, write_animation, write_skeleton
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skin.weights import SkinWeights

USD_METHODS = {ours: theirs for theirs, ours in METHODS.items()}


def write_skinned(
    stage: Any,
    scene: Scene,
    meshes: Sequence[SkinnedMesh],
    skeleton: Skeleton,
    motions: Sequence[Motion],
    line: TimeLine,
    notes: list[str],
) -> None:
    """Bind a scene's meshes to a skeleton and animate it; the first motion is the one that plays.

    Args:
        stage: The stage; its root is a SkelRoot.
        scene: The meshes at bind.
        meshes: The same meshes.
        skeleton: Their skeleton.
        motions: Clips on it.
        line: Seconds to time codes.
        notes: Told of what UsdSkel cannot say.
    """
    skeleton, motions, unscaled = without_scale(skeleton, motions)
    if unscaled:
        notes.append("the joints' bind scale is taken into their offsets: UsdSkel animates scale coarsely")
    skeleton, motions, meshes = _with_helpers(skeleton, motions, meshes, notes)
    schema = write_skeleton(stage, scene.skeleton, skeleton)
    names = unique_names([motion.name or "motion" for motion in motions])
    paths = [scene.skeleton.AppendChild(name) for name in names]
    for path, motion in zip(paths, motions, strict=True):
        weights = shape_weights(meshes, scene.tokens, motion)
        write_animation(stage, path, motion, line, weights, keep_matrices=False, notes=notes)
    if paths:
        UsdSkel.BindingAPI.Apply(schema.GetPrim()).CreateAnimationSourceRel().SetTargets(paths[:1])
    for number, mesh in enumerate(meshes):
        write_bind_normals(scene.schemas[number], mesh.mesh)
        if mesh.weights is not None or mesh.mesh.morphs:
            _bind_mesh(scene, number, mesh, notes)


def _bind_mesh(scene: Scene, number: int, mesh: SkinnedMesh, notes: list[str]) -> None:
    """Joint influences, skinning method and blend shapes of one mesh."""
    prim = scene.schemas[number].GetPrim()
    binding = UsdSkel.BindingAPI.Apply(prim)
    binding.CreateSkeletonRel().SetTargets([scene.skeleton])
    if mesh.weights is not None:
        joints, weights = mesh.weights.padded()
        width = joints.shape[1]
        binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))
        binding.CreateJointIndicesPrimvar(False, width).Set(whole_numbers(joints.reshape(-1)))
        binding.CreateJointWeightsPrimvar(False, width).Set(
            Vt.FloatArray.FromNumpy(np.ascontiguousarray(weights.reshape(-1)))
        )
        method = USD_METHODS.get(mesh.skinning or "linear")
        if method is None:
            notes.append(
                f"mesh {mesh.name!r}: USD does not know {mesh.skinning!r} skinning; linear is written"
            )
        elif mesh.skinning is not None:
            binding.CreateSkinningMethodAttr(method)
    if mesh.mesh.morphs:
        binding.CreateBlendShapesAttr(Vt.TokenArray(scene.tokens[number]))
        binding.CreateBlendShapeTargetsRel().SetTargets(scene.shapes[number])


def write_extents(
    stage: Any, scene: Scene, boxes: Sequence[npt.NDArray[np.float32]], codes: Sequence[float]
) -> None:
    """Say how large the character is in each frame: boxes (2, 3) [m]."""
    attribute = UsdGeom.Boundable(stage.GetPrimAtPath(scene.root)).CreateExtentAttr()
    for code, box in zip(codes, boxes, strict=True):
        attribute.Set(Vt.Vec3fArray.FromNumpy(box), code)


def _with_helpers(
    skeleton: Skeleton, motions: Sequence[Motion], meshes: Sequence[SkinnedMesh], notes: list[str]
) -> tuple[Skeleton, list[Motion], list[SkinnedMesh]]:
    """Add a helper joint for each joint that some mesh is bound to in a pose of its own."""
    origins: list[int] = []
    binds: list[npt.NDArray[np.float64]] = []
    known: dict[tuple[int, bytes], int] = {}
    changed: list[SkinnedMesh] = []
    for mesh in meshes:
        if mesh.own_bind is None or mesh.weights is None:
            changed.append(mesh)
            continue
        joints = mesh.weights.joints.copy()
        for joint in np.unique(joints):
            own = mesh.own_bind[joint]
            if np.abs(own - np.eye(4)).max() < 1e-9:
                continue
            key = (int(joint), own.tobytes())
            if key not in known:
                known[key] = skeleton.joint_count + len(origins)
                origins.append(int(joint))
                binds.append(transforms.inverse(own) @ skeleton.bind_world[joint])
            joints[mesh.weights.joints == joint] = known[key]
        changed.append(replace(mesh, weights=_sorted(mesh.weights, joints), own_bind=None))
    if not origins:
        return skeleton, list(motions), changed
    notes.append(
        f"{len(origins)} helper joints are added for meshes bound in a pose of their own, which UsdSkel"
        " cannot say otherwise"
    )
    still = np.tile(np.eye(4), (len(origins), 1, 1))
    parents = np.concatenate([skeleton.parents, np.array(origins, np.int32)])
    names = (*skeleton.names, *(f"{skeleton.names[o]}_bind_{n}" for n, o in enumerate(origins)))
    bigger = Skeleton(
        names,
        parents,
        local_from_world(parents, np.concatenate([skeleton.bind_world, np.stack(binds)])),
        np.concatenate([skeleton.rest_local, still]),
        np.concatenate([skeleton.tails, np.full((len(origins), 3), np.nan)]),
    )
    moved = [
        replace(
            m,
            skeleton=bigger,
            local=np.concatenate([m.local, np.tile(still, (m.frame_count, 1, 1, 1))], axis=1),
        )
        for m in motions
    ]
    return bigger, moved, changed


def _sorted(weights: SkinWeights, joints: npt.NDArray[np.int32]) -> SkinWeights:
    """The same weights on other joints, rising within a vertex again."""
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    order = np.lexsort((joints, vertex))
    return replace(weights, joints=joints[order], weights=weights.weights[order])
