"""The built-in écorché: skeleton, bones, template muscles and a skin, made by code alone.

`ecorche_figure` gives the character that commands use when none is given. Its skin is
extracted from its écorché (`ecorche`, `skin.extract_skin`), and so are its skin weights. Everything is made
from numbers in this folder and in the muscle template; the same bytes every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.body.character import Character, Material, SkinnedMesh

if TYPE_CHECKING:
    from ecorche.skin.weights import SkinWeights

NAME = "figure"
SKIN, BONES = "skin", "bones"
"""Names of its meshes; the skin is the body."""
INFLUENCES = 4
"""Joints that move a vertex of its skin, at most."""


@cache
def ecorche_figure() -> Character:
    """The built-in figure: a man of 1.75 m with bones under his skin, bound with arms at 45 degrees.

    Muscles come with a rig, as on any character: `create_rig`.
    """
    from ecorche.body.figure.axial_bones import axial_bones
    from ecorche.body.figure.bone_mesh import bone_surface
    from ecorche.body.figure.ecorche import figure_ecorche, figure_skin
    from ecorche.body.figure.limb_bones import limb_bones
    from ecorche.body.figure.skeleton import figure_skeleton
    from ecorche.muscles.musculature import musculature
    from ecorche.muscles.template import TEMPLATE
    from ecorche.muscles.template.place import place
    from ecorche.skeleton.naming.recognise import recognise
    from ecorche.skin.weights import weights_from_table
    from ecorche.skin.weights_beneath import weights_beneath

    skeleton = figure_skeleton()
    placed = place(TEMPLATE, skeleton, recognise(skeleton))
    heads = dict(zip(skeleton.names, skeleton.bind_world[:, :3, 3], strict=True))
    tips = dict(zip(skeleton.names, skeleton.tail_positions(), strict=True))
    bone = bone_surface([*axial_bones(heads), *limb_bones(heads, tips)])

    def rigid(names: Sequence[str], what: str) -> SkinWeights:
        joints = np.array([skeleton.index(name) for name in names])[:, None]
        return weights_from_table(joints, np.ones_like(joints), skeleton.joint_count, what)

    beneath = figure_ecorche(skeleton, musculature(placed.muscles, skeleton, placed.scapulae), bone)
    skin = figure_skin(skeleton, beneath)
    carriers = [name for name, carries in zip(beneath.joints, beneath.carries, strict=True) if carries]
    weights = weights_beneath(
        skin,
        skeleton,
        beneath.points[beneath.carries],
        rigid(carriers, "the figure's écorché"),
        influences=INFLUENCES,
    )
    skin_mesh = Mesh(
        name=SKIN,
        points=skin.points.astype(np.float32),
        face_counts=np.full(len(skin.quads), 4, np.int32),
        face_indices=skin.quads.astype(np.int32).ravel(),
        material=0,
    )
    bone_mesh = Mesh(**{**vars(triangle_mesh(BONES, bone.points, bone.triangles)), "material": 1})
    return Character(
        name=NAME,
        skeleton=skeleton,
        meshes=(
            SkinnedMesh(skin_mesh, weights),
            SkinnedMesh(bone_mesh, rigid(bone.joints, "the figure's bones")),
        ),
        materials=(
            Material("skin", base_color=(0.61, 0.36, 0.26, 1.0), roughness=0.55),
            Material("bone", base_color=(0.80, 0.72, 0.55, 1.0), roughness=0.6),
        ),
        source="the built-in figure",
    )
