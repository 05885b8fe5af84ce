"""Fit a rig to a character that changed, keep what a person edited, and say what moved.

Where a mesh kept its topology, vertex i is still vertex i: maps stay as they are (refit). Where
it did not, maps move over the surface (transfer). Joint edits and muscles follow their joints, also
when those were renamed; what belongs to a joint that is gone is set aside in the file, reported, and
comes back with the joint.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.body.alignment import Alignment, JointMatch, align, match_joints
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.identity import bind_shape, identify
from ecorche.body.rebind_muscles import CarriedMuscles, carried_muscles
from ecorche.body.rig import relative_path
from ecorche.body.transfer import plan_transfer
from ecorche.document.bind import BindMesh, BindShape
from ecorche.document.files import Rig
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import CharacterRef, RigSpec, SetAside, SkeletonSpec
from ecorche.errors import DocumentError
from ecorche.skeleton.skeleton import Skeleton

Maps = dict[str, npt.NDArray[np.generic]]

LEAST_MM = 0.001
"""What is less is rounding, and reported as nothing."""


def _mm(length: float) -> str:
    """A length in millimetres, as people write it."""
    if length < LEAST_MM:
        return "0 mm"
    return f"{length:,.0f} mm" if length >= 100.0 else f"{length:.3g} mm"


def _listed(label: str, names: Sequence[str]) -> list[str]:
    """A label and all names after it, in lines of at most 100 characters where names allow."""
    lines = [label]
    for number, name in enumerate(names, start=1):
        piece = f" {name}," if number < len(names) else f" {name}"
        if len(lines[-1]) + len(piece) > 100:
            lines.append(" ")
        lines[-1] += piece
    return lines


@dataclass(frozen=True)
class MeshChange:
    """What happened to one mesh.

    Attributes:
        old, new: Its name before and after.
        how: ``"unchanged"``; ``"refit"``: same topology, other points; ``"transfer"``: new topology.
        vertices: How many vertices it has now.
        mean_mm, max_mm: How far its vertices moved; after a transfer, how far they lie off the
            old surface once both characters stand in the same place.
        near: The joint nearest to where that is most.
        filled: New vertices that had no place on the old surface; their values come from their
            neighbours.
        maps: The maps it carries.
    """

    old: str
    new: str
    how: Literal["unchanged", "refit", "transfer"]
    vertices: int
    mean_mm: float
    max_mm: float
    near: str
    filled: int
    maps: tuple[str, ...]

    def line(self) -> str:
        """The change as a sentence."""
        name = f"mesh {self.new!r}" if self.old == self.new else f"mesh {self.new!r} (was {self.old!r})"
        carried = f" Maps carried: {', '.join(self.maps)}." if self.maps else ""
        if self.how == "unchanged":
            return f"{name}: unchanged.{carried}"
        figures = f"{_mm(self.mean_mm)} on average, {_mm(self.max_mm)} at most (near {self.near})"
        if self.how == "refit":
            return f"{name}: same topology; vertices moved by {figures}.{carried}"
        filled = (
            f" {self.filled:,} had no place there and took their neighbours' values." if self.filled else ""
        )
        return (
            f"{name}: new topology; {self.vertices:,} vertices lie off the old surface by {figures}."
            f"{filled}{carried}"
        )


@dataclass(frozen=True)
class RebindReport:
    """What a rebind did.

    Attributes:
        meshes: Each mesh that has a counterpart.
        meshes_missing, meshes_added: Those without one.
        joints_renamed: Old joint name to new.
        joints_missing, joints_added: Joints without a counterpart.
        joints_moved_mm: How far each joint that is still there moved, by its new name.
        edits_set_aside: Joints that were edited and are gone; the file keeps their edits aside.
        edits_restored: Joints that are back, and whose edits count again.
        muscles: How many muscles the rig has now.
        muscles_set_aside: Muscles on joints that are gone; the file keeps them aside.
        muscles_restored: Muscles whose joints are back.
        muscle_points_moved_mm: How far points of muscles moved on their bones, where bones changed.
        notes: What else a person should know.
    """

    meshes: tuple[MeshChange, ...]
    meshes_missing: tuple[str, ...]
    meshes_added: tuple[str, ...]
    joints_renamed: Mapping[str, str]
    joints_missing: tuple[str, ...]
    joints_added: tuple[str, ...]
    joints_moved_mm: Mapping[str, float]
    edits_set_aside: tuple[str, ...]
    edits_restored: tuple[str, ...]
    muscles: int
    muscles_set_aside: tuple[str, ...]
    muscles_restored: tuple[str, ...]
    muscle_points_moved_mm: tuple[float, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The report, a sentence a line; long lists of names go on in indented lines."""
        told = [mesh.line() for mesh in self.meshes]
        for label, names in (
            ("meshes no longer there", self.meshes_missing),
            ("new meshes", self.meshes_added),
            ("joints renamed", [f"{old} → {new}" for old, new in self.joints_renamed.items()]),
            ("joints no longer there", self.joints_missing),
            ("new joints", self.joints_added),
            ("edits set aside, their joint is gone", self.edits_set_aside),
            ("edits restored, their joint is back", self.edits_restored),
            ("muscles set aside, a joint of theirs is gone", self.muscles_set_aside),
            ("muscles restored, their joints are back", self.muscles_restored),
        ):
            if names:
                told += _listed(f"{label} ({len(names)}):" if len(names) > 1 else f"{label}:", names)
        if self.joints_moved_mm:
            moved = self.joints_moved_mm
            worst = max(moved, key=lambda name: moved[name])
            if moved[worst] >= LEAST_MM:
                mean = sum(moved.values()) / len(moved)
                told.append(f"joints moved by {_mm(mean)} on average, {worst} by {_mm(moved[worst])}")
        if self.muscles:
            told.append(f"{self.muscles} muscles went with their joints{self._muscle_points()}")
        return [*told, *self.notes]

    def _muscle_points(self) -> str:
        moved = self.muscle_points_moved_mm
        if max(moved, default=0.0) < LEAST_MM:
            return ""
        return (
            f"; where bones changed their length, {len(moved)} of their points moved along, by"
            f" {_mm(sum(moved) / len(moved))} on average, {_mm(max(moved))} at most"
        )


def rebind(
    rig: Rig,
    new: Character,
    character_path: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    meshes: Mapping[str, str] | None = None,
) -> tuple[Rig, RebindReport]:
    """Fit a rig to a new character; nothing is written yet.

    Args:
        rig: The rig; it holds the shape it was made for, so the old file is not needed.
        new: The character it shall fit.
        character_path: Its file.
        path: Where the rig file will be; the character is named relative to it.
        meshes: Old mesh name to new mesh name, where names and topology do not tell.
    """
    old, shape = rig.bind, bind_shape(new)
    match = match_joints(old, rig.spec.skeleton.mapping, new.skeleton)
    _require_joints_of_lines(rig, shape)
    partner = _match_meshes(rig, new, shape, meshes or {})
    alignment = align(old, new, match)
    maps: Maps = {}
    changed = [
        _carry(rig, old.mesh(name), new.mesh(partner[name]), shape.mesh(partner[name]), alignment, new, maps)
        for name in partner
    ]
    skeleton, lost, back = _carried_skeleton(rig.spec.skeleton, match)
    carried = carried_muscles(rig.spec.muscles, rig.spec.skeleton, old, new.skeleton, match, alignment)
    skeleton = _with_muscles_aside(skeleton, carried)
    with told_as_document_error(path):
        spec = rig.spec.model_copy(
            update={
                "character": CharacterRef(path=relative_path(character_path, path), hash=identify(shape)),
                "body": None if rig.spec.body is None else partner.get(rig.spec.body),
                "skeleton": skeleton,
                "muscles": rig.spec.muscles.model_copy(
                    update={"named": carried.muscles, "lofted": carried.lofted}
                ),
                "maps": {
                    name: ref.model_copy(update={"mesh": partner[ref.mesh]})
                    for name, ref in rig.spec.maps.items()
                },
                "arrays": None,
            }
        )
        spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked, and names are new
    report = RebindReport(
        meshes=tuple(changed),
        meshes_missing=tuple(m.name for m in old.meshes if m.name not in partner),
        meshes_added=tuple(m.name for m in shape.meshes if m.name not in partner.values()),
        joints_renamed=match.renamed,
        joints_missing=match.missing,
        joints_added=match.added,
        joints_moved_mm=_joints_moved(old, shape, match),
        edits_set_aside=tuple(sorted(lost)),
        edits_restored=tuple(sorted(back)),
        muscles=len(carried.muscles) + len(carried.lofted) + len(rig.spec.muscles.lines),
        muscles_set_aside=tuple(carried.set_aside),
        muscles_restored=tuple(carried.restored),
        muscle_points_moved_mm=tuple(carried.moved_mm),
        notes=(*_notes(rig, spec.body, alignment, changed), *carried.notes),
    )
    held = {name: maps[name] for name in rig.spec.maps}
    return Rig(spec, shape, held, str(path), rig.surfaces, rig.bones), report


def _require_joints_of_lines(rig: Rig, new: BindShape) -> None:
    """Refuse joints that moved under meshes of muscles and bones: they were modelled where those stood."""
    muscles = len(rig.spec.muscles.lines)
    if not muscles and rig.bones is None:
        return
    meshes = f"{muscles} muscles that are meshes" if muscles else "meshes of bones"
    places = dict(zip(new.joint_names, new.joint_world, strict=True))
    for name, world in zip(rig.bind.joint_names, rig.bind.joint_world, strict=True):
        if name not in places or np.abs(places[name] - world).max() > 1e-6:
            raise DocumentError(
                f"joint {name!r} is {'elsewhere' if name in places else 'gone'}, and"
                f" {meshes} were modelled for the old joints",
                where=rig.source,
                remedy="Make the rig anew from meshes that fit: ecorche rig --anatomy FOLDER CHARACTER",
            )


def _carry(
    rig: Rig,
    old: BindMesh,
    skinned: SkinnedMesh,
    new: BindMesh,
    alignment: Alignment,
    character: Character,
    maps: Maps,
) -> MeshChange:
    """Bring the maps of one mesh over, and say how far it moved."""
    named = tuple(name for name, ref in rig.spec.maps.items() if ref.mesh == old.name)
    filled = 0
    how: Literal["unchanged", "refit", "transfer"]
    if old.same_topology(new):
        how = "unchanged" if np.array_equal(old.points, new.points) else "refit"
        distances = np.linalg.norm(new.points.astype(np.float64) - old.points, axis=1)
        maps.update({name: rig.maps[name] for name in named})
    elif len(old.face_counts) == 0 or len(new.points) == 0:
        if named:
            raise DocumentError(
                f"the map {named[0]!r} cannot move from mesh {old.name!r} to {new.name!r}:"
                " one of them is empty",
                where=rig.source or None,
                remedy="Remove the map from the rig file, or give the mesh faces",
            )
        how, distances = "transfer", np.zeros(len(new.points))
    else:
        how = "transfer"
        plan = plan_transfer(old, new, alignment.place(skinned, old.points))
        distances, filled = plan.distances, int((~plan.trusted).sum())
        for name in named:
            maps[name] = plan.carry(rig.maps[name], labels=rig.spec.maps[name].values == "labels")
    worst = int(np.argmax(distances)) if len(distances) else -1
    return MeshChange(
        old=old.name,
        new=new.name,
        how=how,
        vertices=len(new.points),
        mean_mm=1000.0 * float(distances.mean()) if len(distances) else 0.0,
        max_mm=1000.0 * float(distances.max(initial=0.0)),
        near=_nearest_joint(character.skeleton, new.points[worst]) if worst >= 0 else "",
        filled=filled,
        maps=named,
    )


def _nearest_joint(skeleton: Skeleton, point: npt.NDArray[np.float32]) -> str:
    heads = skeleton.bind_world[:, :3, 3]
    return skeleton.names[int(np.argmin(np.linalg.norm(heads - point, axis=1)))] if len(heads) else ""


def _match_meshes(rig: Rig, new: Character, shape: BindShape, given: Mapping[str, str]) -> dict[str, str]:
    """Old mesh name to new mesh name: as given, else of one name, one topology, or both the body."""
    partner: dict[str, str] = {}
    for old_name, new_name in given.items():
        rig.bind.mesh(old_name, rig.source)
        partner[old_name] = new.mesh(new_name).name
    names = {m.name for m in shape.meshes}

    def pair(old_name: str, new_name: str) -> None:
        if old_name not in partner and new_name not in partner.values():
            partner[old_name] = new_name

    for mesh in rig.bind.meshes:
        if mesh.name in names:
            pair(mesh.name, mesh.name)
    for mesh in rig.bind.meshes:
        for other in shape.meshes:
            if mesh.same_topology(other):
                pair(mesh.name, other.name)
    if rig.spec.body is not None:
        pair(rig.spec.body, new.body().name)
    elif len(rig.bind.meshes) == 1:
        pair(rig.bind.meshes[0].name, new.body().name)
    for name, ref in rig.spec.maps.items():
        if ref.mesh not in partner:
            raise DocumentError(
                f"the map {name!r} is painted on mesh {ref.mesh!r}, and nothing in the new character takes"
                " its place",
                where=rig.source or None,
                remedy=f"Say which mesh does (--mesh {ref.mesh}=NEW), or take the map out of the rig file."
                f" {suggestion(ref.mesh, sorted(names))}",
            )
    return {m.name: partner[m.name] for m in rig.bind.meshes if m.name in partner}


def _carried_skeleton(spec: SkeletonSpec, match: JointMatch) -> tuple[SkeletonSpec, set[str], set[str]]:
    """The skeleton's edits under their joints' new names; which were set aside, which came back."""
    aside = spec.set_aside or SetAside()
    back = {j for j in [*aside.mapping, *aside.joints] if j in match.added}
    gone = set(match.missing)
    mapping = {
        match.pairs.get(joint, joint): name for joint, name in spec.mapping.items() if joint not in gone
    }
    returned = {joint: name for joint, name in aside.mapping.items() if joint in back}
    mapping = {j: n for j, n in mapping.items() if n not in returned.values()} | returned
    used = set(mapping.values())
    mapping |= {j: c for j, c in match.canonical.items() if j not in mapping and c not in used}
    joints = {match.pairs.get(joint, joint): edit for joint, edit in spec.joints.items() if joint not in gone}
    joints |= {joint: edit for joint, edit in aside.joints.items() if joint in back}
    lost_names = {j: n for j, n in spec.mapping.items() if j in gone and j in match.by_hand}
    lost_joints = {j: edit for j, edit in spec.joints.items() if j in gone}
    still = SetAside(
        mapping={j: n for j, n in aside.mapping.items() if j not in back} | lost_names,
        joints={j: edit for j, edit in aside.joints.items() if j not in back} | lost_joints,
    )
    carried = spec.model_copy(
        update={
            "mapping": mapping,
            "joints": joints,
            "set_aside": still,
        }
    )
    return carried, set(lost_names) | set(lost_joints), back


def _with_muscles_aside(spec: SkeletonSpec, carried: CarriedMuscles) -> SkeletonSpec:
    """The skeleton with the virtual scapulae that are left, and with what waits for its joints."""
    assert spec.set_aside is not None
    aside = spec.set_aside.model_copy(
        update={
            "virtual_scapulae": carried.aside_scapulae,
            "muscles": carried.aside_muscles,
            "lofted": carried.aside_lofted,
        }
    )
    return spec.model_copy(
        update={
            "virtual_scapulae": carried.scapulae,
            "set_aside": None if aside == SetAside() else aside,
        }
    )


def _joints_moved(old: BindShape, new: BindShape, match: JointMatch) -> dict[str, float]:
    before = {name: old.joint_world[i, :3, 3] for i, name in enumerate(old.joint_names)}
    after = {name: new.joint_world[i, :3, 3] for i, name in enumerate(new.joint_names)}
    return {n: 1000.0 * float(np.linalg.norm(after[n] - before[o])) for o, n in match.pairs.items()}


def _notes(rig: Rig, body: str | None, alignment: Alignment, changed: list[MeshChange]) -> tuple[str, ...]:
    notes = []
    moved = any(mesh.how == "transfer" for mesh in changed)
    if moved and alignment.joints is None:
        notes.append(
            "The skeletons share fewer than three joints: the characters were aligned by their height"
            " and standing place alone. Complete skeleton.mapping for a better transfer."
        )
    notes += [
        f"Most of mesh {mesh.new!r} has no place on the old surface: the two are too different, and its maps"
        " are guesses. Paint them again."
        for mesh in changed
        if mesh.maps and 2 * mesh.filled > mesh.vertices
    ]
    if rig.spec.body is not None and body is None:
        notes.append(f"The body mesh {rig.spec.body!r} is gone: the body is chosen by coverage again.")
    return tuple(notes)
