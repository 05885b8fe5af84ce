"""What every USD file we write has: root, materials, meshes at bind, names of blend shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pxr import Kind, Sdf, Usd, UsdGeom

from ecorche.body.character import SkinnedMesh
from ecorche.body.take import Take
from ecorche.io.usd.materials import write_materials
from ecorche.io.usd.values import unique_names, valid_name
from ecorche.io.usd.write_mesh import write_mesh
from ecorche.skeleton.motion import Motion


class Scene:
    """A character at bind on a stage.

    Attributes:
        root: Path of the root prim.
        rig: Path kept free for a SkelRoot below it.
        skeleton: Path kept free for a Skeleton below it.
        schemas: The UsdGeomMesh of each mesh.
        shapes: Paths of each mesh's blend shapes.
        tokens: What animations call them.

    Args:
        stage: The stage.
        take: Whose character.
        root_type: ``"Xform"`` or ``"SkelRoot"``.
        texture: The asset path of an image, by its number.
        notes: Told of what USD cannot hold.
        at: Path of the root prim; None is the stage's default prim, named after the character.
    """

    def __init__(
        self,
        stage: Any,
        take: Take,
        root_type: str,
        texture: Callable[[int], str],
        notes: list[str],
        *,
        at: Any = None,
    ) -> None:
        character = take.character
        own = Sdf.Path.absoluteRootPath.AppendChild(valid_name(character.name or "character"))
        self.root = own if at is None else at
        root = stage.DefinePrim(self.root, root_type)
        if self.root.name != character.name:
            root.SetDisplayName(character.name)
        if at is None:
            stage.SetDefaultPrim(root)
        Usd.ModelAPI(root).SetKind(Kind.Tokens.component)
        if character.images:
            kept = root.CreateAttribute("ecorche:images", Sdf.ValueTypeNames.AssetArray, True)
            kept.Set(Sdf.AssetPathArray([Sdf.AssetPath(texture(n)) for n in range(len(character.images))]))
        scopes = list(dict.fromkeys(mesh.scope for mesh in character.meshes if mesh.scope is not None))
        above = 3 + len(scopes)
        names = unique_names(
            ["Rig", "Skeleton", "Materials", *scopes, *(mesh.name for mesh in character.meshes)]
        )
        self.rig, self.skeleton = self.root.AppendChild(names[0]), self.root.AppendChild(names[1])
        folders: dict[str | None, Any] = {None: self.root}
        for scope, name in zip(scopes, names[3:above], strict=True):
            folders[scope] = self.root.AppendChild(name)
            prim = stage.DefinePrim(folders[scope], "Scope")
            Usd.ModelAPI(prim).SetKind(Kind.Tokens.subcomponent)
            # what lies beneath the skin is there to be looked at: no renderer shall draw it unasked
            UsdGeom.Imageable(prim).CreatePurposeAttr(UsdGeom.Tokens.guide)
        self.mesh_paths = [
            folders[mesh.scope].AppendChild(name)
            for mesh, name in zip(character.meshes, names[above:], strict=True)
        ]
        materials = write_materials(stage, self.root.AppendChild(names[2]), character, texture, notes)
        doubles = [material.double_sided for material in character.materials]
        self.schemas: list[Any] = []
        self.shapes: list[list[Any]] = []
        for path, mesh in zip(self.mesh_paths, character.meshes, strict=True):
            schema, shapes = write_mesh(stage, path, mesh.mesh, materials, doubles, notes)
            self.schemas.append(schema)
            self.shapes.append(shapes)
        self.tokens = shape_tokens(character.meshes)
        for mesh, shapes, tokens in zip(character.meshes, self.shapes, self.tokens, strict=True):
            for morph, shape, token in zip(mesh.mesh.morphs, shapes, tokens, strict=True):
                if token != morph.name:
                    stage.GetPrimAtPath(shape).SetDisplayName(morph.name)


def shape_tokens(meshes: Sequence[SkinnedMesh]) -> list[list[str]]:
    """What animations call each blend shape: its name, with its mesh's where several meshes share it."""
    uses = Counter(morph.name for mesh in meshes for morph in mesh.mesh.morphs)
    return [
        [morph.name if uses[morph.name] == 1 else f"{mesh.name}_{morph.name}" for morph in mesh.mesh.morphs]
        for mesh in meshes
    ]


def shape_weights(
    meshes: Sequence[SkinnedMesh], tokens: list[list[str]], motion: Motion
) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """The weight of every blend shape over a motion, by token; resting where the motion is silent."""
    return {
        token: motion.morph_weights.get(
            f"{mesh.name}/{morph.name}", np.full(motion.frame_count, float(morph.weight))
        )
        for mesh, names in zip(meshes, tokens, strict=True)
        for token, morph in zip(names, mesh.mesh.morphs, strict=True)
    }
