"""MuJoCo models as characters: bodies are joints, skins and bone meshes hang on them.

The body tree comes from MuJoCo's own compiler, which knows all of MJCF's defaults, frames and
includes; it needs the package ``mujoco``. Rest is the model's reference pose (qpos0); bind is
where the skin's bones were when it was attached. Metres, +Z up, become +Y up: (x, z, −y).
A ``.skn`` file alone has no tree: the MJCF beside it that names it is used, else the skeleton is flat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from ecorche.base.confined import confined, require_within
from ecorche.base.mesh import Attribute, Mesh
from ecorche.base.names import suggestion, unique
from ecorche.base.transforms import compose, inverse, transform_points
from ecorche.body.character import Character, Material, SkinnedMesh
from ecorche.errors import EcorcheError, MissingPackageError, ReadError
from ecorche.io.skn import SknBone, SknSkin, parse_skn
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skin.weights import rigid_weights, weights_from_entries

Floats = npt.NDArray[np.float64]

Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1.0, 0], [0, -1.0, 0, 0], [0, 0, 0, 1.0]])
"""Takes points of a +Z up world to +Y up; a permutation with one sign, so no bit is lost."""

GREY = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's default colour

LEAST_WITHIN = 0.5
"""A mesh is a skin if so many of a model's bodies, as a share, are where it is."""
LARGEST_PART = 1 << 27
"""Elements of a texture, height field or table that a model may ask for."""


def read_character(path: Path) -> Character:
    """The character in an MJCF file (``.xml``) or a MuJoCo skin (``.skn``)."""
    path = Path(path)
    try:
        return _from_skn(path) if path.suffix.lower() == ".skn" else _from_mjcf(path)
    except (ReadError, MissingPackageError):
        raise
    except UnicodeDecodeError as error:
        raise ReadError(
            f"a name in it is not UTF-8 text ({error.reason})", where=path, remedy="Save the file as UTF-8"
        ) from error
    except EcorcheError as error:  # a mesh or skeleton refused: say which file it came from
        raise ReadError(error.what, where=path, remedy=error.remedy) from error


@dataclass(frozen=True, eq=False)
class _Tree:
    """Bodies without the world: names, parents (-1 at roots), rest pose in +Z up."""

    names: tuple[str, ...]
    parents: npt.NDArray[np.int32]
    rest_world: Floats


def _from_mjcf(path: Path) -> Character:
    notes: list[str] = []
    model = _compiled(path, notes)
    tree = _tree(model)
    skins = [
        (_name(model, "SKIN", i) or f"skin_{i}", _compiled_skin(model, i, tree)) for i in range(model.nskin)
    ]
    notes += [
        f"Skin {name!r} is inflated by {model.skin_inflate[i]:.3g} m in MuJoCo's pictures; here it is not."
        for i, (name, _) in enumerate(skins)
        if model.skin_inflate[i] != 0.0
    ]
    skeleton = _skeleton(tree, [bone for _, skin in skins for bone in skin.bones])
    looks = _Looks()
    used: set[str] = set()
    meshes = [
        _skinned(unique(name, used), skin, skeleton, looks.number(model.skin_rgba[i]), path, notes)
        for i, (name, skin) in enumerate(skins)
    ]
    meshes += _bone_meshes(model, skeleton, looks, used)
    made = Character(
        name=path.stem,
        skeleton=skeleton,
        meshes=tuple(meshes),
        materials=tuple(looks.materials),
        notes=tuple(notes),
        source=str(path),
        up_axis="Z",
    )
    return made if skins else _with_skin(made)


def _with_skin(character: Character) -> Character:
    """A character without skin: the mesh that most of its bodies lie in becomes it, with weights by heat."""
    from ecorche.body.automatic_weights import with_automatic_weights
    from ecorche.skin.heat_weights import bones_within

    heads = character.skeleton.bind_world[:, :3, 3]
    most, chosen = 0, -1
    for number, mesh in enumerate(character.meshes if len(heads) > 1 else ()):
        low, high = mesh.mesh.points.min(axis=0), mesh.mesh.points.max(axis=0)
        if ((heads > low) & (heads < high)).all(axis=1).mean() < LEAST_WITHIN:
            continue  # a bone, or something that stands about
        bones, _ = bones_within(character.skeleton, mesh.mesh.points, mesh.mesh.triangles())
        if len(bones) > most:
            most, chosen = len(bones), number
    if chosen < 0:
        raise ReadError(
            "the model has no skin, and no mesh that its bodies lie in",
            where=character.source,
            remedy="Add a <skin> element, or a mesh geometry round its bodies",
        )
    meshes, skin = list(character.meshes), character.meshes[chosen].mesh
    found = with_automatic_weights(replace(character, meshes=(SkinnedMesh(skin, None),)))
    (meshes[chosen],) = found.meshes
    return replace(found, meshes=tuple(meshes))


def _from_skn(path: Path) -> Character:
    try:
        skin = parse_skn(path.read_bytes(), path)
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror})", where=path) from error
    notes: list[str] = []
    beside = _mjcf_beside(path)
    if beside is not None:
        tree = _tree(_compiled(beside, notes))
        notes.append(f"The joint tree was read from {beside.name}.")
    else:
        tree = _flat(skin)
        notes.append("No MJCF file beside the skin names it: the joints have no parents.")
    skeleton = _skeleton(tree, skin.bones)
    looks = _Looks()
    mesh = _skinned(path.stem, skin, skeleton, looks.number(GREY), path, notes)
    return Character(
        name=path.stem,
        skeleton=skeleton,
        meshes=(mesh,),
        materials=tuple(looks.materials),
        notes=tuple(notes),
        source=str(path),
        up_axis="Z",
    )


def _mjcf_beside(path: Path) -> Path | None:
    """The first MJCF file in the skin's folder, by name, that mentions the skin's file name."""
    for file in sorted(path.parent.glob("*.xml")):
        text = file.read_bytes()
        if b"<mujoco" in text and path.name.encode() in text:
            return file
    return None


def _require_parts_within(path: Path) -> None:
    """Refuse a model whose meshes, textures or includes lie outside of the folder that reading keeps to."""
    files, elements = [path], []
    for file in files:
        try:
            found = list(ElementTree.parse(file).getroot().iter())
        except (ElementTree.ParseError, ValueError, LookupError, OSError) as error:
            raise ReadError(f"is not sound XML ({error})", where=path, remedy="Mend the model") from error
        elements += found
        for element in found:
            if element.tag in ("include", "model"):
                for folder in {path.parent, file.parent}:
                    part = folder / element.get("file", "")
                    require_within(part, path)
                    if part.is_file() and part not in files:
                        files.append(part)
    compilers = [element for element in elements if element.tag == "compiler"]
    for element in elements:
        kind = "texturedir" if element.tag in ("texture", "hfield") else "meshdir"
        # which of several counts is MuJoCo's affair: none may lead outside
        named = [c.get(kind, c.get("assetdir")) for c in compilers]
        folders = [path.parent / name for name in named if name] or [path.parent]
        names = [value for key, value in element.attrib.items() if key.startswith("file")]
        if element.tag not in ("include", "model"):
            for name in names:
                for folder in folders:
                    require_within(folder / name, path)


def _compiled(path: Path, notes: list[str]) -> Any:
    """The model as MuJoCo compiles it; its warnings become notes."""
    try:
        import mujoco
    except ImportError:
        raise MissingPackageError(
            "MuJoCo models need the package mujoco", where=path, remedy='Run: pip install "ecorche[mujoco]"'
        ) from None
    # MuJoCo would print its warnings, and write them to a file in the current folder
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda said: notes.append(f"MuJoCo: {' '.join(said.split())}"))
    if confined():
        _require_parts_within(path)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        _require_modest(spec, path)
        return spec.compile()
    except (ValueError, TypeError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split())
        raise ReadError(
            f"MuJoCo does not accept it ({reason})", where=path, remedy="Mend the model and try again"
        ) from error
    finally:
        mujoco.set_mju_user_warning(before)


def _require_modest(spec: Any, path: Path) -> None:
    """Refuse sizes that MuJoCo would spend minutes and all memory on before anybody sees the model."""
    sizes = {f"texture {t.name!r}": int(t.width) * int(t.height) for t in spec.textures}
    sizes |= {f"height field {h.name!r}": int(h.nrow) * int(h.ncol) for h in spec.hfields}
    sizes |= {name: int(getattr(spec, name)) for name in dir(spec) if name.startswith(("nuser_", "nkey"))}
    sizes["memory"] = int(spec.memory) // 16
    for what, size in sizes.items():
        if size > LARGEST_PART:
            raise ReadError(
                f"its {what} asks for {size:,} elements", where=path, remedy="Mend this number and try again"
            )


def _name(model: Any, kind: str, number: int) -> str:
    import mujoco

    return mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), number) or ""


def _tree(model: Any) -> _Tree:
    import mujoco

    state = mujoco.MjData(model)  # starts at qpos0
    mujoco.mj_kinematics(model, state)
    used: set[str] = set()
    names = tuple(unique(_name(model, "BODY", i) or f"body_{i}", used) for i in range(1, model.nbody))
    world = compose(state.xpos[1:], state.xquat[1:][:, [1, 2, 3, 0]])
    return _Tree(names, (model.body_parentid[1:] - 1).astype(np.int32), world)


def _flat(skin: SknSkin) -> _Tree:
    names = tuple(bone.body for bone in skin.bones)
    return _Tree(names, np.full(len(names), -1, np.int32), np.stack([_bind(bone) for bone in skin.bones]))


def _bind(bone: SknBone) -> Floats:
    """``world_from_body`` at bind, in +Z up."""
    return compose(bone.position, bone.rotation_wxyz[[1, 2, 3, 0]])


def _skeleton(tree: _Tree, bones: Sequence[SknBone]) -> Skeleton:
    """Joints in +Y up; bodies that are no bone of the skin keep their place under their parent."""
    rest_world = Y_UP @ tree.rest_world
    rest_local = local_from_world(tree.parents, rest_world)
    bind_of = {bone.body: Y_UP @ _bind(bone) for bone in reversed(bones)}  # the first skin decides
    for body in bind_of:
        if body not in tree.names:
            raise ReadError(
                f"the skin has a bone {body!r} that is no body", remedy=suggestion(body, tree.names)
            )
    bind_world = np.empty_like(rest_world)
    for joint, (name, parent) in enumerate(zip(tree.names, tree.parents, strict=True)):
        above = bind_world[parent] if parent >= 0 else np.eye(4)
        bind_world[joint] = bind_of.get(name, above @ rest_local[joint])
    bind_local = local_from_world(tree.parents, bind_world)
    tails = np.full((len(tree.names), 3), np.nan)
    return Skeleton(tree.names, tree.parents, bind_local, rest_local, tails)


def _compiled_skin(model: Any, number: int, tree: _Tree) -> SknSkin:
    """A skin of a compiled model, in the shape its file has."""
    first, count = int(model.skin_vertadr[number]), int(model.skin_vertnum[number])
    face, faces = int(model.skin_faceadr[number]), int(model.skin_facenum[number])
    uv = np.zeros((0, 2), np.float32)
    if model.skin_texcoordadr[number] >= 0:
        start = int(model.skin_texcoordadr[number])
        uv = np.array(model.skin_texcoord[start : start + count], np.float32)
    bones = []
    start = int(model.skin_boneadr[number])
    for bone in range(start, start + int(model.skin_bonenum[number])):
        at, size = int(model.skin_bonevertadr[bone]), int(model.skin_bonevertnum[bone])
        body = int(model.skin_bonebodyid[bone]) - 1
        if body < 0:
            raise ReadError("the skin has the world as a bone", remedy="Bind these vertices to a body")
        bones.append(
            SknBone(
                tree.names[body],
                np.array(model.skin_bonebindpos[bone], np.float64),
                np.array(model.skin_bonebindquat[bone], np.float64),
                np.array(model.skin_bonevertid[at : at + size], np.int32),
                np.array(model.skin_bonevertweight[at : at + size], np.float32),
            )
        )
    return SknSkin(
        np.array(model.skin_vert[first : first + count], np.float32),
        uv,
        np.array(model.skin_face[face : face + faces], np.int32),
        tuple(bones),
    )


def _skinned(
    name: str, skin: SknSkin, skeleton: Skeleton, material: int, path: Path, notes: list[str]
) -> SkinnedMesh:
    joints = np.array([skeleton.index(bone.body) for bone in skin.bones])
    weights = weights_from_entries(
        np.concatenate([bone.vertices for bone in skin.bones]),
        np.repeat(joints, [len(bone.vertices) for bone in skin.bones]),
        np.concatenate([bone.weights for bone in skin.bones]),
        len(skin.points),
        skeleton.joint_count,
        path,
    )
    if weights.normalised:
        notes.append(
            f"The weights of {weights.normalised} vertices of {name!r} were brought to a sum of one."
        )
    mesh = Mesh(
        name=name,
        points=_y_up(skin.points),
        face_counts=np.full(len(skin.triangles), 3, np.int32),
        face_indices=skin.triangles.reshape(-1),
        uv=Attribute("st", _lower_left(skin.uv)) if len(skin.uv) else None,
        material=material,
    )
    return SkinnedMesh(mesh, weights, _own_bind(skin, joints, skeleton))


def _own_bind(skin: SknSkin, joints: npt.NDArray[np.int64], skeleton: Skeleton) -> Floats | None:
    """``bind_world · inverse_bind`` where a second skin was attached in another pose; else None."""
    own = np.tile(np.eye(4), (skeleton.joint_count, 1, 1))
    for joint, bone in zip(joints, skin.bones, strict=True):
        own[joint] = skeleton.bind_world[joint] @ inverse(Y_UP @ _bind(bone))
    return own if np.abs(own - np.eye(4)).max() > 1e-6 else None


def _bone_meshes(model: Any, skeleton: Skeleton, looks: _Looks, used: set[str]) -> list[SkinnedMesh]:
    """Mesh geometries, each fixed to its body's joint; those of the world stand still."""
    import mujoco

    found = []
    for geom in np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_MESH).tolist():
        number, joint = int(model.geom_dataid[geom]), int(model.geom_bodyid[geom]) - 1
        first, count = int(model.mesh_vertadr[number]), int(model.mesh_vertnum[number])
        face, faces = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
        placed = compose(model.geom_pos[geom], model.geom_quat[geom][[1, 2, 3, 0]])
        placed = (Y_UP if joint < 0 else skeleton.bind_world[joint]) @ placed
        name = unique(_name(model, "GEOM", geom) or _name(model, "MESH", number) or f"geom_{geom}", used)
        triangles = np.array(model.mesh_face[face : face + faces], np.int32)
        mesh = Mesh(
            name=name,
            points=transform_points(placed, model.mesh_vert[first : first + count]).astype(np.float32),
            face_counts=np.full(faces, 3, np.int32),
            face_indices=triangles.reshape(-1),
            material=looks.number(model.geom_rgba[geom]),
        )
        found.append(SkinnedMesh(mesh, None if joint < 0 else rigid_weights(count, joint)))
    return found


class _Looks:
    """One material a colour, in order of first use."""

    def __init__(self) -> None:
        self.materials: list[Material] = []

    def number(self, rgba: Sequence[float] | npt.NDArray[np.floating]) -> int:
        colour = tuple(float(np.float32(c)) for c in rgba)
        red, green, blue, opacity = colour
        for number, material in enumerate(self.materials):
            if material.base_color == colour:
                return number
        self.materials.append(Material(f"colour_{len(self.materials)}", (red, green, blue, opacity)))
        return len(self.materials) - 1


def _y_up(points: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)


def _lower_left(uv: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Texture coordinates from MuJoCo's origin, the upper left, to ours."""
    return np.stack([uv[:, 0], 1.0 - uv[:, 1]], axis=1)
