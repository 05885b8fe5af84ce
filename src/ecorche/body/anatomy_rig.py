"""Muscles for a rig from a folder of meshes: every muscle on its action lines, bones in their way.

What the folder says is turned into what a person edits: lines of nodes, fields, attachments. A muscle that
cannot be built is left out by name with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.names import unique
from ecorche.base.rotations import normalise
from ecorche.base.signed_pieces import SignedPieces
from ecorche.base.threads import at_most_threads
from ecorche.body.bones import bone_surfaces
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.spelled_lines import new_line_specs
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.files import Rig
from ecorche.document.line_spec import BodyTypeSpec
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.errors import MeshError
from ecorche.muscles.anatomy.anatomy_muscle import AnatomyMuscle
from ecorche.muscles.anatomy.body_type import BodyType
from ecorche.muscles.anatomy.bones import NEAR, BoneEllipsoid, deflectors_near
from ecorche.muscles.anatomy.folder import AnatomyFolder
from ecorche.muscles.anatomy.musculature_from_folder import FolderMusculature, musculature_from_folder
from ecorche.muscles.anatomy.sites import SIDE
from ecorche.muscles.bone import Bone
from ecorche.muscles.line_actions import line_actions
from ecorche.muscles.line_muscle import ActionLine, End, LineAttachment, LineMuscle
from ecorche.muscles.line_musculature import LineMusculature
from ecorche.muscles.lines.admissible import BoundNode, line_through
from ecorche.muscles.lines.admissible_plan import joints_between
from ecorche.muscles.lines.attached import Attached
from ecorche.muscles.lines.fields import Field, FieldEllipsoid
from ecorche.muscles.lines.muscle_on_lines import END_REACH
from ecorche.muscles.lines.room import LEAST
from ecorche.muscles.spindle_lines import surface_name
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Side = Literal["left", "right", "middle", ""]

STRENGTH = 3e5
"""Force of a muscle by the area of its thickest section [N/m²], within what physiologists measure."""
REACH, THICK = 0.35, 3.0
"""How far from an attachment flesh follows its bone partly: `END_REACH` of the mean line's length; more in a
stout muscle, which needs the way to turn in, so many radii of its thickest sections up to this share."""
ASTRAY = 0.5
"""A muscle further from the bones than this share of their extent belongs to no body of theirs."""
NAMED = 4
"""So many names are told of a doubt that many share; the rig holds all."""


COVER = CouplingSpec(everywhere="fascia", seconds=0.09)
"""How the skin is bound where nobody says otherwise. A creature's leg that is drawn far back sweeps over its
ribs, whose skin is at rest: the filter in time is longer than a person's, so that it does not leap."""


@dataclass(frozen=True, eq=False)
class AnatomyReport:
    """What came of a folder, in sentences.

    Attributes:
        muscles: How many there are now, and of how many lines.
        lines: See ``muscles``.
        left_out: Why each of the others is not, by name.
        doubts: What was not certain about each muscle, by name.
        notes: What was guessed about bones and sites, and how meshes were bound.
        covered: Whether the skin was bound to a fascia over them.
        unread: Which of the notes are of files that could not be used.
    """

    muscles: int
    lines: int
    left_out: Mapping[str, str]
    doubts: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]
    covered: bool = False
    unread: tuple[str, ...] = ()

    def told(self) -> list[str]:
        """The report: counted, with names; the rig's notes hold the rest."""
        told = [f"{self.muscles} muscles on {self.lines} action lines"]
        if self.covered:
            told.append("the skin lies over them by a fascia, unless --coupling says otherwise")
        told += [f"left out: {name}: {why}" for name, why in self.left_out.items()]
        told += list(self.unread)
        by_doubt: dict[str, list[str]] = {}
        for name, doubts in self.doubts.items():
            for doubt in doubts:
                if doubt.startswith("of that one"):  # told of the muscle that this one mirrors
                    continue
                by_doubt.setdefault(re.sub(r"'[^']*'|\d+(?:\.\d+)?", "…", doubt), []).append(name)
        for doubt, names in sorted(by_doubt.items(), key=lambda pair: -len(pair[1])):
            named = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
            told.append(f"doubt, {len(names)} muscles: {doubt} ({named})")
        others = [note for note in self.notes if note not in self.unread]
        if others:
            told.append(f"{len(others)} notes on bones, sites and meshes are in the rig; such as:")
            told += [f"  {note}" for note in others[:NAMED]]
        return told


def with_anatomy(
    rig: Rig,
    character: Character,
    folder: AnatomyFolder,
    known: Mapping[str, int],
    *,
    bulk: float = 1.0,
    complete: bool = True,
) -> tuple[Rig, AnatomyReport]:
    """A rig with the muscles of an anatomy folder, in place of those on action lines that it had.

    Meshes move the skin by what the skin is coupled to alone: where the rig has not said anything about that
    and the character has a skin, it is a fascia.

    Args:
        rig: The rig; muscles of other kinds stay as they are.
        character: Its character.
        folder: The surfaces, in the character's frame at bind.
        known: Joints of bones that the character carries, by the bone's name.
        bulk: How muscular the body is, 1 as modelled.
        complete: Whether a muscle that one side lacks is made as the image of the other's.

    Raises:
        MeshError: No muscle could be built.
    """
    body = BodyType(bulk=bulk)
    astray = _astray(folder)
    if len(astray) == len(folder.muscles):
        raise _nothing_built(character, astray)
    if astray:  # what counts as near is a share of the whole, which these would stretch
        folder = replace(folder, muscles=tuple(m for m in folder.muscles if m.name not in astray))
    found = musculature_from_folder(folder, character.skeleton, known, complete=complete)
    fields = _fields(found.ellipsoids)
    taken, surfaces = {*rig.spec.muscles.named, *rig.spec.muscles.lofted}, set[str]()
    with at_most_threads(1):  # thousands of small questions: waking a thread takes longer than each
        designed = [
            _line_muscle(muscle, found, fields, taken, surfaces, character.skeleton)
            for muscle in found.muscles
        ]
    designed = _under_skin(designed, character, known)
    compiled = LineMusculature(character.skeleton, designed, fields, body)
    left_out = {**astray, **found.left_out, **compiled.left_out}
    if not compiled.muscles:
        raise _nothing_built(character, left_out)
    acting = line_actions(compiled, character.skeleton)
    muscles = [replace(m, actions=a) for m, a in zip(compiled.muscles, acting, strict=True)]
    report = AnatomyReport(
        len(muscles),
        sum(len(muscle.lines) for muscle in muscles),
        left_out,
        {muscle.name: muscle.doubts for muscle in muscles if muscle.doubts},
        (*found.notes, *(note for note in compiled.notes if "is left out" not in note)),
        covered=rig.spec.coupling == CouplingSpec() and bool(_skins(character, known)),
        unread=tuple(folder.notes),
    )
    bones = [
        Bone(mesh.name, int(joint), mesh.points, mesh.triangles.astype(np.int32))
        for mesh, joint in zip(found.bones.meshes, found.bones.joints, strict=True)
    ]
    held = replace(rig, bones=bone_surfaces(bones, character.skeleton))
    return _with_lines(held, character, muscles, fields, bulk, report), report


def _astray(folder: AnatomyFolder) -> dict[str, str]:
    """The muscles further from all bones than half these bones' extent, by name, with the reason."""
    places = np.concatenate([bone.points for bone in folder.bones])
    low, high = places.min(axis=0), places.max(axis=0)
    found = {}
    for muscle in folder.muscles:
        away = np.clip(muscle.points, low, high) - muscle.points
        far = float(np.linalg.norm(away, axis=1).min())
        if far > ASTRAY * float(np.linalg.norm(high - low)):
            found[muscle.name] = f"no bone is in reach: it lies {far:.2g} m from all of them"
    return found


def _nothing_built(character: Character, left_out: Mapping[str, str]) -> MeshError:
    reasons = ". ".join(f"{name}: {why}" for name, why in list(left_out.items())[:3])
    return MeshError(
        f"no muscle of the folder could be built ({reasons})",
        where=character.source or character.name,
        remedy="Check that its meshes are in the character's frame and unit",
    )


def _with_lines(
    rig: Rig,
    character: Character,
    muscles: Sequence[LineMuscle],
    fields: Mapping[str, Field],
    bulk: float,
    report: AnatomyReport,
) -> Rig:
    with told_as_document_error(rig.source):
        lines, bent, surfaces = new_line_specs(muscles, fields, character.skeleton)
        spec = rig.spec.model_copy(
            update={
                "body_type": BodyTypeSpec(bulk=bulk, fat=rig.spec.body_type.fat),
                "muscles": rig.spec.muscles.model_copy(update={"lines": lines, "fields": bent}),
                "coupling": COVER if report.covered else rig.spec.coupling,
                "notes": (
                    *rig.spec.notes,
                    *(f"Left out: {name}: {why}" for name, why in report.left_out.items()),
                    *report.notes,
                ),
            }
        )
        spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked
    return replace(rig, spec=spec, surfaces=surfaces)


def _under_skin(
    muscles: Sequence[LineMuscle], character: Character, known: Mapping[str, int]
) -> list[LineMuscle]:
    """The muscles with the room they have under the character's skin; as they are where it has none.

    Rounded as the rig file keeps it.
    """
    skins = _skins(character, known)
    if not skins:
        return list(muscles)
    skin = replace(character, meshes=skins).body().mesh
    solid = SignedPieces(skin.points, skin.triangles())
    depth, outward = solid.depth(np.concatenate([muscle.points for muscle in muscles]))
    room = (np.maximum(depth, LEAST)[:, None] * outward).astype(np.float32).astype(np.float64)
    ends = np.cumsum([len(muscle.points) for muscle in muscles])
    return [replace(m, room=part) for m, part in zip(muscles, np.split(room, ends[:-1]), strict=True)]


def _skins(character: Character, known: Mapping[str, int]) -> tuple[SkinnedMesh, ...]:
    """Skinned meshes that are no bones."""
    return tuple(mesh for mesh in character.meshes if mesh.weights is not None and mesh.name not in known)


def _fields(ellipsoids: Sequence[BoneEllipsoid]) -> dict[str, Field]:
    """A field for every piece of a bone, by the bone's name and a number."""
    fields: dict[str, Field] = {}
    count: dict[str, int] = {}
    for one in ellipsoids:
        count[one.bone] = count.get(one.bone, 0) + 1
        name = f"{one.bone} {count[one.bone]}"
        fields[name] = Field(name, (FieldEllipsoid(one.centre, one.radii, one.axes, one.joint),))
    return fields


def _line_muscle(
    muscle: AnatomyMuscle,
    found: FolderMusculature,
    fields: Mapping[str, Field],
    taken: set[str],
    surfaces: set[str],
    skeleton: Skeleton,
) -> LineMuscle:
    name = unique(muscle.name, taken)
    surface = surface_name(muscle.name, surfaces)
    length = float(np.mean([line.length for line in muscle.lines]))
    radius = float(np.sqrt(sum(line.area.max() for line in muscle.lines) / np.pi))
    reach = float(np.clip(THICK * radius, END_REACH * length, REACH * length))
    ends: tuple[End, ...] = ("origin", "insertion", "between")
    holds = zip(ends, (muscle.origin, muscle.insertion, muscle.between), strict=True)
    return LineMuscle(
        name=name,
        points=np.asarray(muscle.mesh.points, np.float64),
        triangles=np.asarray(muscle.mesh.triangles, np.int32),
        lines=tuple(_line(muscle, k, found.ellipsoids, fields, skeleton) for k in range(len(muscle.lines))),
        surface=surface,
        muscle=_spoken(muscle.name),
        side=_side(muscle, found),
        attachments=tuple(
            LineAttachment(Attached(held.vertices, held.joint, reach), end, held.bone, held.source)
            for end, held_by in holds
            for held in held_by
        ),
        max_force=STRENGTH * float(sum(line.area.max() for line in muscle.lines)),
        doubts=muscle.report,
    )


def _line(
    muscle: AnatomyMuscle,
    number: int,
    ellipsoids: Sequence[BoneEllipsoid],
    fields: Mapping[str, Field],
    skeleton: Skeleton,
) -> ActionLine:
    line = muscle.lines[number]
    low, high = line.nodes.min(axis=0), line.nodes.max(axis=0)
    flesh = float(np.sqrt(line.area.max() / np.pi))
    # no further from the line's box than counts at all
    maybe = {
        name: one
        for name, one in zip(fields, ellipsoids, strict=True)
        if np.linalg.norm(one.centre - np.clip(one.centre, low, high))
        <= (1.0 + NEAR) * one.radii.max() + flesh
    }
    passed = joints_between(int(line.joints[0]), int(line.joints[-1]), skeleton)[1:-1]
    close = deflectors_near(list(maybe.values()), line.nodes, flesh, passed)
    near = {one.centre.tobytes() for one in close}
    named = tuple(name for name, one in maybe.items() if one.centre.tobytes() in near)
    designed = line_through(
        muscle.name,
        line.nodes,
        line.joints.tolist(),
        line.held.tolist(),
        deflectors=[one for name in named for one in fields[name].ellipsoids],
    )
    tendon = tuple(bool(flag) for flag in line.tendon)
    nodes = list(designed.nodes)
    for k in np.flatnonzero(line.above >= 0).tolist():
        part, above = float(line.share[k]), int(line.above[k])
        nodes[k] = BoundNode(line.nodes[k], int(line.joints[k]), part, part, relative_to=above)
    return ActionLine(
        tuple(nodes),
        () if all(tendon) else tendon,  # a line of nothing but tendon could not change its length
        named,
        outward=_thin_way(muscle.mesh.points, line.nodes),
        flesh=flesh,
    )


def _thin_way(points: Floats, nodes: Floats) -> Floats:
    """The direction across a line in which the muscle is thinnest, unit, (3,)."""
    along = normalise(nodes[-1] - nodes[0])
    centred = points - points.mean(axis=0)
    centred = centred - np.outer(centred @ along, along)
    _, axes = np.linalg.eigh(centred.T @ centred)
    # the least of all is along the line itself, where nothing is left
    across = axes[:, 1] - (axes[:, 1] @ along) * along
    first = normalise(nodes[1] - nodes[0])
    if np.linalg.norm(np.cross(across, first)) < 0.2:
        across = np.cross(first, axes[:, 2])
    return np.asarray(normalise(across))


def _spoken(name: str) -> str:
    """What a muscle is called without side and kind: ``MUSCm.biceps_brachii_L`` → ``biceps brachii``."""
    bare = re.sub(r"^(?:MUSC|muscle_)?(?:[Mm]{1,2}[._ ]+)?", "", SIDE.sub("", name))
    return re.sub(r"[_\s]+", " ", bare).strip() or name


def _side(muscle: AnatomyMuscle, found: FolderMusculature) -> Side:
    told = SIDE.search(muscle.name)
    if told is not None:
        return "left" if told.group().upper() == "L" else "right"
    if found.plane is not None:
        beside = found.plane.side(muscle.mesh.points)
        if beside.min() * beside.max() < 0.0:
            return "middle"
    return ""
