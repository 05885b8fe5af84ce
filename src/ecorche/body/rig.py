"""A rig for a character: created, and checked against the character it names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ecorche.base.names import suggestion
from ecorche.body.character import Character
from ecorche.body.identity import bind_shape, changes, identify
from ecorche.document.bind import BindShape
from ecorche.document.files import Rig
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import VERSION, CharacterRef, RigSpec, SkeletonSpec
from ecorche.document.text import spelled
from ecorche.errors import DocumentError, EcorcheError, MeshError, SkeletonError
from ecorche.skeleton.joint_values import joint_from_values
from ecorche.skeleton.joints import Joint
from ecorche.skeleton.naming.recognise import recognise


def create_rig(
    character: Character,
    character_path: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    muscles: bool = True,
    gains: Mapping[str, float] | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Rig:
    """A rig for a character, with the joint names that were recognised; nothing is written yet.

    A humanoid gets the muscles of the anatomical template, fitted under its body's skin; one that is none is
    refused. `body.place_muscles` does the same in two steps, with a report, and for other muscles.

    Args:
        character: The character.
        character_path: Its file.
        path: Where the rig file will be; the character is named relative to it.
        muscles: Whether it gets muscles.
        gains: How much of the muscles' effect on the skin is shown, by group; 1 where a group is not named.
        mapping: H-Anim names of joints by the character's own, where they are not recognised.
    """
    shape = bind_shape(character)
    naming = recognise(character.skeleton, mapping)
    pairs = zip(character.skeleton.names, naming.canonical, strict=True)
    with told_as_document_error(path):
        spec = RigSpec(
            version=VERSION,
            name=character.name,
            character=CharacterRef(path=relative_path(character_path, path), hash=identify(shape)),
            body=character.body().name,
            skeleton=SkeletonSpec(mapping={name: known for name, known in pairs if known is not None}),
        )
    rig = Rig(spec, shape, source=str(path))
    if not muscles:
        return rig
    from ecorche.body.place_muscles import template_placement, with_muscles

    return with_muscles(rig, character, template_placement(character, naming), gains=gains)[0]


def relative_path(file: str | os.PathLike[str], rig_path: str | os.PathLike[str]) -> str:
    """A file's path relative to a rig file, with forward slashes.

    Folders that are links are followed first: ``..`` leads out of the folder a link points to.
    """
    file = Path(file)
    try:
        relative = os.path.relpath(file.parent.resolve() / file.name, Path(rig_path).parent.resolve())
    except ValueError:
        raise DocumentError(
            f"the character {os.fspath(file)!r} is on another drive",
            where=rig_path,
            remedy="Put rig and character on one drive",
        ) from None
    return Path(relative).as_posix()


def check_rig(rig: Rig, character: Character) -> list[str]:
    """What does not fit between a rig and a character, a sentence each; empty when all does."""
    spec, shape = rig.spec, bind_shape(character)
    changed = changes(spec.character.hash, identify(shape))
    if changed:
        told = [_told(part, rig.bind, shape, character.skeleton.names) for part in changed]
        return [*told, "Run `ecorche rebind` to fit the rig to this character."]
    problems: list[str] = []
    joints = character.skeleton.names
    for field, names in (("mapping", spec.skeleton.mapping), ("joints", spec.skeleton.joints)):
        problems += [
            f"skeleton.{field} names a joint {name!r} that the character does not have."
            f" {suggestion(name, joints)}"
            for name in names
            if name not in joints
        ]
    problems += _joint_problems(rig, character)
    problems += _muscle_problems(rig, character)
    problems += _skin_problems(rig, character)
    problems += _blow_problems(rig, character)
    meshes = [m.name for m in character.meshes]
    if spec.body is not None and spec.body not in meshes:
        problems.append(
            f"body names a mesh {spec.body!r} that the character does not have."
            f" {suggestion(spec.body, meshes)}"
        )
    problems += [
        f"maps.{name} is painted on a mesh {ref.mesh!r} that the character does not have."
        f" {suggestion(ref.mesh, meshes)}"
        for name, ref in spec.maps.items()
        if ref.mesh not in meshes
    ]
    return problems


def _joint_problems(rig: Rig, character: Character) -> list[str]:
    """Canonical names and joint models that cannot be used."""
    skeleton, spec = character.skeleton, rig.spec.skeleton
    try:
        named = {j: c for j, c in spec.mapping.items() if j in skeleton.names}
        recognise(skeleton, named)
        joint_models(rig)
    except SkeletonError as error:
        return [f"skeleton.mapping: {error.what}. {error.remedy}"]
    except DocumentError as error:
        return [f"{str(error.where).removeprefix(f'{rig.source}, ')}: {error.what}. {error.remedy}"]
    return []


def _muscle_problems(rig: Rig, character: Character) -> list[str]:
    """Muscles and folds that cannot be put on the character, and maps of weights not on its body."""
    from ecorche.body.line_specs import fields_of, line_muscles_of
    from ecorche.body.lofted_specs import lofted_muscles_of
    from ecorche.body.muscle_specs import muscles_of
    from ecorche.body.wrinkles import folds_of
    from ecorche.muscles.lines.line_paths import require_order

    try:
        require_order(line_muscles_of(rig, character.skeleton), fields_of(rig, character.skeleton))
        muscles_of(rig, character.skeleton)
        lofted_muscles_of(rig, character.skeleton)
        folds_of(rig, character.skeleton)
    except EcorcheError as error:
        where = str(error.where or "muscles.lines").removeprefix(f"{rig.source}, ")
        return [f"{where}: {error.what}. {error.remedy}"]
    body, maps = rig.spec.body or character.body().name, rig.spec.maps
    return [
        f"{spelled((*place, 'influence', 'painted'))}: the map {painted!r} is painted on"
        f" {maps[painted].mesh!r}, the body is {body!r}. Paint it on the body"
        for place, muscle in rig.spec.muscles.each()
        if (painted := muscle.influence.painted) is not None and maps[painted].mesh != body
    ]


def _skin_problems(rig: Rig, character: Character) -> list[str]:
    """Regions and bones of the coupling that the character has not, and tissues of fat that nobody knows."""
    from ecorche.body.regions import by_joint
    from ecorche.fat.elasticity import tissue_named

    coupling, skeleton = rig.spec.coupling, character.skeleton
    meshes = [mesh.name for mesh in character.meshes]
    found = [
        f"coupling.bones: there is no mesh {name!r} of bones. {suggestion(name, meshes)}"
        for name in coupling.bones
        if name not in meshes
    ]
    try:
        skin = character.body(rig.spec.body).name
    except MeshError:
        skin = None  # told of the body
    if skin in coupling.bones:
        found.append(
            f"coupling.bones: {skin!r} is the skin itself, no bone beneath it."
            " Name meshes that lie under the skin"
        )
    try:
        named = {j: c for j, c in rig.spec.skeleton.mapping.items() if j in skeleton.names}
        by_joint(coupling.regions, None, skeleton, recognise(skeleton, named or None), "coupling.regions")
    except DocumentError as error:
        found.append(f"{error.where}: {error.what}. {error.remedy}")
    except SkeletonError:
        pass  # told of the mapping
    for name, region in rig.spec.fat.regions.items():
        try:
            tissue_named(region.material or "fat")
        except EcorcheError as error:
            found.append(f"{spelled(('fat', 'regions', name, 'material'))}: {error.what}. {error.remedy}")
    return found


def _blow_problems(rig: Rig, character: Character) -> list[str]:
    """Blows on joints that the character has not."""
    joints = character.skeleton.names
    return [
        f"{spelled(('springs', 'blows', name, 'joint'))}: there is no joint {blow.joint!r}."
        f" {suggestion(blow.joint, joints)}"
        for name, blow in rig.spec.springs.blows.items()
        if blow.joint not in joints
    ]


def require_bound(rig: Rig, character: Character, where: object) -> None:
    """Refuse a character other than the one the rig was made for, and edits of joints it lacks."""
    problems = check_rig(rig, character)
    if problems:
        raise DocumentError(" ".join(problems[:4]).removesuffix("."), where=where)


def joint_models(rig: Rig) -> dict[str, Joint]:
    """The joint models a person edited, by the character's joint name."""
    found: dict[str, Joint] = {}
    for name, values in rig.spec.skeleton.joints.items():
        try:
            found[name] = joint_from_values(values.model_dump())
        except SkeletonError as error:
            raise DocumentError(
                error.what,
                where=f"{rig.source}, {spelled(('skeleton', 'joints', name))}",
                remedy=error.remedy,
            ) from error
    return found


def _told(part: str, old: BindShape, new: BindShape, joints: tuple[str, ...]) -> str:
    """How one part of a character differs from what the rig was made for."""
    if part == "topology":
        counts = [sum(len(m.points) for m in shape.meshes) for shape in (old, new)]
        return f"The topology changed: {counts[0]:,} vertices then, {counts[1]:,} now."
    if part == "joints":
        missing = [n for n in old.joint_names if n not in joints]
        added = [n for n in joints if n not in old.joint_names]
        if missing or added:
            return f"The joints changed: {_listed(missing)} no longer there, {_listed(added)} new."
        now = new.joint_world[[joints.index(n) for n in old.joint_names], :3, 3]
        moved = 1000.0 * np.linalg.norm(now - old.joint_world[:, :3, 3], axis=1)
        worst = int(np.argmax(moved))
        return (
            f"The joints changed: {old.joint_names[worst]!r} moved by {moved[worst]:.3g} mm, others by less."
        )
    same = [(a, b) for a, b in zip(old.meshes, new.meshes, strict=False) if len(a.points) == len(b.points)]
    if len(same) == len(old.meshes) == len(new.meshes) and same:
        far = max(float(np.linalg.norm(b.points - a.points, axis=1).max(initial=0.0)) for a, b in same)
        return f"The bind points changed, by up to {1000.0 * far:.3g} mm."
    return "The bind points changed."


def _listed(names: list[str]) -> str:
    return (
        ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "") if names else "none"
    )
