"""The built-in écorché: skeleton, bones, template muscles and a first skin, made by code alone.

`ecorche_figure` gives the character that commands use when none is given. Its skin is a smooth surface over
soft solids and the template's muscles (`skin`, `flesh`); its skin weights come from its bones
(`skin_weights`). Everything is made from numbers in this folder and in the muscle template;
the same bytes every time.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ecorche.base.mesh import Mesh, triangle_mesh
from ecorche.body.character import Character, Material, SkinnedMesh

NAME = "figure"
SKIN, BONES = "skin", "bones"
"""Names of its meshes; the skin is the body."""


@cache
def ecorche_figure() -> Character:
    """The built-in figure: a man of 1.75 m with bones under his skin, bound with arms at 45 degrees.

    Muscles come with a rig, as on any character: `create_rig`.
    """
    from ecorche.body.figure.axial_bones import axial_bones
    from ecorche.body.figure.bone_mesh import bone_surface
    from ecorche.body.figure.flesh import soft_sources
    from ecorche.body.figure.limb_bones import limb_bones
    from ecorche.body.figure.make_skin import figure_skin
    from ecorche.body.figure.skeleton import figure_skeleton
    from ecorche.body.figure.skin_weights import figure_weights
    from ecorche.muscles.musculature import musculature
    from ecorche.muscles.template import TEMPLATE
    from ecorche.muscles.template.place import place
    from ecorche.skeleton.naming.recognise import recognise
    from ecorche.skin.weights import weights_from_table

    skeleton = figure_skeleton()
    placed = place(TEMPLATE, skeleton, recognise(skeleton))
    skin = figure_skin(skeleton, musculature(placed.muscles, skeleton, placed.scapulae))
    heads = dict(zip(skeleton.names, skeleton.bind_world[:, :3, 3], strict=True))
    tips = dict(zip(skeleton.names, skeleton.tail_positions(), strict=True))
    bone = bone_surface([*axial_bones(heads), *limb_bones(heads, tips)])
    soft, soft_joints = soft_sources()
    weights = figure_weights(
        skin, skeleton, np.concatenate([bone.points, soft]), [*bone.joints, *soft_joints]
    )
    skin_mesh = Mesh(
        name=SKIN,
        points=skin.points.astype(np.float32),
        face_counts=np.full(len(skin.quads), 4, np.int32),
        face_indices=skin.quads.astype(np.int32).ravel(),
        material=0,
    )
    bone_joints = np.array([skeleton.index(name) for name in bone.joints])[:, None]
    bone_mesh = Mesh(**{**vars(triangle_mesh(BONES, bone.points, bone.triangles)), "material": 1})
    rigid = weights_from_table(
        bone_joints, np.ones_like(bone_joints), skeleton.joint_count, "the figure's bones"
    )
    return Character(
        name=NAME,
        skeleton=skeleton,
        meshes=(SkinnedMesh(skin_mesh, weights), SkinnedMesh(bone_mesh, rigid)),
        materials=(
            Material("skin", base_color=(0.61, 0.36, 0.26, 1.0), roughness=0.55),
            Material("bone", base_color=(0.80, 0.72, 0.55, 1.0), roughness=0.6),
        ),
        source="the built-in figure",
    )
