"""A whole musculature from a folder: every muscle with its lines, left and right alike, bones as deflectors.

A muscle that crosses the sagittal plane and mirrors itself is taken as two halves. Of two muscles that mirror
each other the one with more sites decides and the other gets its mirror image, on its own surface; so a site
that one side lacks is made good by the other. The same holds of halves. A muscle of which one side is missing
is made as the image of the other. One that cannot be built is left out by name with the reason; the others
are built.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.base.names import unique
from ecorche.errors import EcorcheError
from ecorche.muscles.anatomy.anatomy_muscle import AnatomyLine, AnatomyMuscle, Attachment
from ecorche.muscles.anatomy.bones import BoneEllipsoid, bone_ellipsoids
from ecorche.muscles.anatomy.build_muscle import Surroundings, build_muscle
from ecorche.muscles.anatomy.folder import TOUCHING, AnatomyFolder, AnatomyMesh, Bones, joints_of_bones
from ecorche.muscles.anatomy.mirror import (
    SagittalPlane,
    limb_joints,
    mirror_pairs,
    mirrored_mesh,
    sagittal_plane,
)
from ecorche.muscles.anatomy.sites import SIDE, Site, matched_sites
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SYMMETRIC = 0.004
"""A body whose mirror image misses it by more than this share of its extent has no sagittal plane."""


@dataclass(frozen=True, eq=False, repr=False)
class FolderMusculature:
    """All that came out of a folder.

    Attributes:
        muscles: In the folder's order, those made as mirror images last.
        left_out: The reason for each muscle that could not be built, by name.
        bones: The bones with their joints.
        ellipsoids: The bones as deflectors.
        plane: The sagittal plane, or None where left and right are not alike.
        notes: What was guessed about bones and sites, a sentence each.
    """

    muscles: tuple[AnatomyMuscle, ...]
    left_out: Mapping[str, str]
    bones: Bones
    ellipsoids: tuple[BoneEllipsoid, ...]
    plane: SagittalPlane | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        lines = sum(len(muscle.lines) for muscle in self.muscles)
        return f"FolderMusculature({len(self.muscles)} muscles, {lines} lines, {len(self.left_out)} left out)"


def musculature_from_folder(
    folder: AnatomyFolder, skeleton: Skeleton, known: Mapping[str, int], *, complete: bool = True
) -> FolderMusculature:
    """Build every muscle of a folder on a character's joints.

    Args:
        folder: The surfaces, in the character's frame at bind.
        skeleton: The character's joints.
        known: The joints of bones that the character itself carries, by the bone's name.
        complete: Whether a muscle that one side lacks is made as the image of the other's.
    """
    joints, notes = joints_of_bones(folder.bones, skeleton, known)
    extent = folder.extent
    bones = Bones(folder.bones, joints, TOUCHING * extent)
    sites, doubts = matched_sites(folder.sites, folder.muscles, bones, extent)
    found_plane = sagittal_plane(folder.bones)
    plane = found_plane if found_plane.misfit < SYMMETRIC * extent else None
    limbs: tuple[int, ...] = ()
    if plane is not None:
        limbs = tuple(limb_joints(skeleton.bind_world[:, :3, 3], skeleton.parents, plane, extent))
    around = Surroundings(bones, skeleton, limbs)
    partner = np.full(len(folder.muscles), -1)
    if plane is not None:
        partner = mirror_pairs(folder.muscles, plane).partner
    image = None if plane is None else _Image(plane, bones)
    of_muscle: list[list[Site]] = [[] for _ in folder.muscles]
    for site in sites:
        of_muscle[site.muscle].append(site)
    built: dict[int, AnatomyMuscle] = {}
    left_out: dict[str, str] = {}
    # where a muscle has an image with more sites, that one is built before it
    order = sorted(range(len(of_muscle)), key=lambda number: (-len(of_muscle[number]), number))
    for number in order:
        mesh, own, other = folder.muscles[number], of_muscle[number], int(partner[number])
        try:
            if image is not None and other == number:
                built[number] = _in_halves(mesh, own, around, image)
            elif image is not None and other in built:
                built[number] = image.of(
                    built[other], mesh, f"has the lines of {built[other].name!r}, mirrored"
                )
            else:
                built[number] = build_muscle(mesh, own, around)
        except EcorcheError as error:
            left_out[mesh.name] = error.what
    made = _missing(folder, built, partner, image) if image is not None and complete else []
    muscles = (*(built[number] for number in sorted(built)), *made)
    return FolderMusculature(
        muscles, left_out, bones, bone_ellipsoids(bones), plane, (*folder.notes, *notes, *doubts)
    )


class _Image:
    """The mirror image of bones, joints and muscles."""

    def __init__(self, plane: SagittalPlane, bones: Bones) -> None:
        self.plane = plane
        partner = mirror_pairs(bones.meshes, plane).partner
        self._bones = {
            name: bones.names[partner[row]] if partner[row] >= 0 else name
            for row, name in enumerate(bones.names)
        }
        self._joints: dict[int, int] = {}
        for row in np.flatnonzero(partner >= 0):
            self._joints.setdefault(int(bones.joints[row]), int(bones.joints[partner[row]]))

    def of(self, muscle: AnatomyMuscle, mesh: AnatomyMesh, *told: str) -> AnatomyMuscle:
        """A muscle's image on the surface that mirrors it."""
        tree = cKDTree(mesh.points)
        images = self.plane.mirrored(muscle.mesh.points)

        def held(attachments: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
            return tuple(
                Attachment(
                    self._bones[hold.bone],
                    self._joints.get(hold.joint, hold.joint),
                    self.plane.mirrored(hold.place),
                    np.unique(np.asarray(tree.query(images[hold.vertices])[1], np.int64)),
                    hold.source,
                )
                for hold in attachments
            )

        return AnatomyMuscle(
            mesh.name,
            mesh,
            tuple(self.line(line) for line in muscle.lines),
            held(muscle.origin),
            held(muscle.insertion),
            held(muscle.between),
            (*told, *(f"of that one: it {doubt}" for doubt in muscle.report)),
        )

    def line(self, line: AnatomyLine) -> AnatomyLine:
        """A line's image."""
        return replace(
            line,
            nodes=self.plane.mirrored(line.nodes),
            joints=np.array([self._joints.get(int(joint), int(joint)) for joint in line.joints]),
            above=np.array([self._joints.get(int(joint), int(joint)) for joint in line.above]),
            origin_bone=self._bones[line.origin_bone],
            insertion_bone=self._bones[line.insertion_bone],
        )


def _in_halves(mesh: AnatomyMesh, sites: list[Site], around: Surroundings, image: _Image) -> AnatomyMuscle:
    """A muscle across the plane: the half with more sites is built, the other is its image."""
    beside = image.plane.side(mesh.points[mesh.triangles].mean(axis=1))
    own = {
        side: [site for site in sites if side * image.plane.side(site.place) > -2.0 * site.radius]
        for side in (1.0, -1.0)
    }
    side = max(own, key=lambda side: len(own[side]))
    kept, triangles = np.unique(mesh.triangles[side * beside > 0.0], return_inverse=True)
    half = AnatomyMesh(mesh.name, mesh.points[kept], triangles.reshape(-1, 3))
    one = build_muscle(half, own[side], around)
    other = image.of(one, mesh)

    def both(here: tuple[Attachment, ...], there: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
        return (*(replace(hold, vertices=np.sort(kept[hold.vertices])) for hold in here), *there)

    seam = np.intersect1d(mesh.triangles[beside > 0.0], mesh.triangles[beside <= 0.0])
    return AnatomyMuscle(
        mesh.name,
        mesh,
        (*one.lines, *other.lines),
        (*both(one.origin, other.origin), *_raphe(mesh, seam, one.origin, other.origin)),
        both(one.insertion, other.insertion),
        both(one.between, other.between),
        ("crosses the sagittal plane: taken as two halves", *one.report),
    )


def _raphe(
    mesh: AnatomyMesh, seam: Ints, one: tuple[Attachment, ...], other: tuple[Attachment, ...]
) -> list[Attachment]:
    """Where two halves meet (n,) they are held by the bone in the plane that both begin at: they are one
    there, and neither half pulls the seam across the plane."""
    central = [here for here, there in zip(one, other, strict=True) if here.joint == there.joint]
    if not central or len(central) < len(one):
        return []
    apart = np.linalg.norm(mesh.points[seam, None] - np.array([hold.place for hold in central]), axis=2)
    nearest = apart.argmin(axis=1)
    return [
        replace(
            hold, vertices=seam[nearest == number], place=mesh.points[seam[nearest == number]].mean(axis=0)
        )
        for number, hold in enumerate(central)
        if (nearest == number).any()
    ]


def _missing(
    folder: AnatomyFolder, built: dict[int, AnatomyMuscle], partner: Ints, image: _Image
) -> list[AnatomyMuscle]:
    """The images of muscles that stand on one side alone."""
    taken = {mesh.name for mesh in folder.muscles}
    made = []
    for number, muscle in sorted(built.items()):
        side = image.plane.side(muscle.mesh.points)
        if partner[number] >= 0 or side.min() * side.max() < 0.0:
            continue
        mesh = mirrored_mesh(muscle.mesh, image.plane, unique(_other_side(muscle.name), taken))
        made.append(image.of(muscle, mesh, f"was missing: made as the image of {muscle.name!r}"))
    return made


def _other_side(name: str) -> str:
    """The name of the other side's muscle: its side letter changed, else told in words."""
    changed = SIDE.sub(lambda found: "R" if found.group().upper() == "L" else "L", name)
    return changed if changed != name else f"{name} mirrored"
