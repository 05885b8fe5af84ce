"""From what a rig says about springs to the masses and springs of a body.

Text 004, Table 1, gives four numbers without units or masses: springs between neighbours of the skin 10⁴ and
of a muscle's surface 10⁵, from a dynamic muscle to the quasi-static one 10², each times the size of polygons,
and from skin to muscle or bone 10⁷ divided by the distance. We keep the proportions of the first three and
what each is scaled by, and derive the rest from flesh, in SI, so that a body of another size jiggles as it
would:

- mass of a muscle's vertex: ρ A d, area A, depth d the muscle's volume over its surface, less at thin ends;
- what holds it where it is without dynamics: G A / d, G its shear modulus: √(G/ρ) / 2π d hertz;
- between neighbours on it: 10³ G A d / D², D = 1 cm on a person: the stiffness of a membrane d thick (A d the
  harmonic mean of both);
- mass of the skin's vertex: A (ρ 2 mm and half of the tissue between it and what lies beneath);
- between neighbours on it: 10² G A / D;
- from skin to all it is held by together: T A / r, T the shear modulus of the tissue, r the distance to the
  nearest surface, divided among them in inverse proportion to their distances, but for a share in all
  directions. Skin of head, hands and feet is taken to lie on bone, and is held in its place alone.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from ecorche.base.mesh import coincident_groups
from ecorche.body.bone_points import bone_points
from ecorche.body.character import SkinnedMesh
from ecorche.body.compile import Body, skinned_points
from ecorche.body.coupling_shares import LEFT_PLAIN
from ecorche.body.ecorche_surfaces import EcorcheSurfaces, surfaces_of
from ecorche.body.firm_parts import firm_parts
from ecorche.body.fit_for_muscles import require_size, times_a_person
from ecorche.body.garments import garment_transfers
from ecorche.body.regions import regions_by_any_name
from ecorche.body.skin_masses import (
    DEPTH,
    FIRM,
    MUSCLE,
    NEAREST,
    SkinMasses,
    in_patches,
    skin_masses,
)
from ecorche.body.skin_state import outward
from ecorche.body.spelled_joints import joint_number
from ecorche.body.spring_places import (
    edges_of,
    held_from_below,
    muscle_masses,
    strewn,
    thinned,
)
from ecorche.body.springs import Ball, Blow, BodySprings
from ecorche.document.files import Rig
from ecorche.document.springs_spec import BlowSpec, SpringsSpec
from ecorche.dynamics.springs import Springs, damping_of
from ecorche.errors import EcorcheError
from ecorche.skeleton.naming.recognise import Naming, recognise
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RINGS, SIDES = 12, 8
"""How finely muscles that are no meshes are divided."""
THINNEST = 0.003
"""No muscle is taken for thinner, on a person [m]."""
BONE = 0.012
"""Of bones one point in a cube of this edge holds skin, on a person [m]."""
HOLDING = 12
"""So many springs at most hold a vertex of the skin."""
CONTACT = 4e6
"""How hard skin is against balls, an area [Pa/m]."""
PATCH, STEP, LOOSER = 0.02, 0.45e-3, 0.05
"""In real time: how far the middles of patches of skin are apart on a person [m]; steps that are to be stable
[s]; and how stiff springs between neighbours on a muscle are, of what they are. Ten times less stiff muscles
move the calf by 6 % of its way, four times less stiff skin by 39 %: so the one gives way, and the other has
fewer masses instead."""


def compile_springs(body: Body, rig: Rig | None) -> BodySprings:
    """The masses and springs of a body, by what its rig says; without a rig, as usual."""
    character = body.character
    spec = SpringsSpec() if rig is None else rig.spec.springs
    if spec.damping == 0.0 and spec.ring == 0.0:
        raise EcorcheError(
            "nothing damps them, so they never rest",
            where=f"{character.source or character.name}, springs",
            remedy="Give damping or ring above 0",
        )
    mesh = character.body(None if rig is None else rig.spec.body)
    number = character.meshes.index(mesh)
    naming = recognise(character.skeleton, None if rig is None else rig.spec.skeleton.mapping or None)
    require_size(character, naming)
    size = times_a_person(character.skeleton, naming)
    still = np.zeros((character.skeleton.joint_count, 4, 4))
    bind = skinned_points(body.without_muscles(), still, (None,) * len(character.meshes))
    vertices = bind[number].astype(np.float64)
    triangles, state = outward(
        vertices,
        mesh.mesh.triangles().astype(np.int64),
        f"{character.source or character.name}, mesh {mesh.name!r}",
    )
    surfaces, muscles, thinner = _muscles(body, spec)
    firm = firm_parts(character, rig, naming)
    bones = bone_points(firm, BONE * size, character.skeleton.joint_count)
    welded = coincident_groups(vertices).astype(np.int64)
    first = np.unique(welded, return_index=True)[1]
    whole_skin = skin_masses(
        vertices[first],
        welded[triangles],
        _firm_share(mesh, character.skeleton, naming)[first],
        partial(_depth, surfaces=surfaces, muscles=muscles, bones=bones.at_bind),
        spec,
        size,
    )
    said = {name: _blow(name, blow, rig, character.skeleton, whole_skin) for name, blow in spec.blows.items()}
    masses_of_skin = whole_skin
    follows = sparse.csr_matrix((np.ones(len(first)), (np.arange(len(first)),) * 2))
    if spec.realtime:
        masses_of_skin, patches = in_patches(whole_skin, PATCH * size)
        said = {name: _on_patches(name, blow, patches.follows, rig) for name, blow in said.items()}
        # towards what goes with its bone the swing fades, so that no step is seen
        swinging = np.clip(1.0 - whole_skin.firmly / FIRM, 0.0, 1.0)
        first, follows = first[patches.centres], sparse.csr_matrix(sparse.diags(swinging) @ patches.follows)
    skin, edges = masses_of_skin.points, masses_of_skin.edges
    beneath = np.concatenate([muscles, bones.at_bind])
    vertex, point, length, _ = held_from_below(
        skin, masses_of_skin.normals, beneath, spec.reach * size, HOLDING
    )
    used = np.unique(point[point >= len(muscles)])
    renumbered = np.full(len(beneath), -1, np.int64)
    renumbered[: len(muscles)] = np.arange(len(muscles))
    renumbered[used] = len(muscles) + np.arange(len(used))
    held = np.stack([vertex, len(skin) + renumbered[point]], axis=1)

    usual = DEPTH * size
    k_skin = spec.skin * spec.muscle / usual * masses_of_skin.broad[edges].mean(axis=1)
    inverse = 1.0 / np.maximum(length, NEAREST * size)
    from_below = masses_of_skin.held - masses_of_skin.all_round
    k_held = (from_below / np.bincount(vertex, inverse, len(skin)))[vertex] * inverse

    held, k_held = held[k_held > 0.0], k_held[k_held > 0.0]
    masses, pairs, stiffness = [masses_of_skin.masses], [edges, held], [k_skin, k_held]
    own = np.zeros(len(skin) + len(muscles) + len(used))
    own[: len(skin)] = masses_of_skin.all_round
    muscle = np.zeros(0, np.int64)
    if surfaces is not None:
        muscle = surfaces.muscle.astype(np.int64)
        sides = surfaces.triangles.astype(np.int64)
        thinnest = THINNEST * size
        flesh, deep = muscle_masses(muscles, sides, muscle, surfaces.width, MUSCLE, thinnest)
        own[len(skin) : len(skin) + len(muscles)] = spec.muscle * flesh / (MUSCLE * deep**2)
        around = edges_of(sides)
        masses.append(flesh)
        pairs.append(around + len(skin))
        # by the lighter of the two, as it were: thin ends would swing too fast to follow
        lighter = 2.0 / (1.0 / flesh[around]).sum(axis=1)
        stretch = spec.surface * (LOOSER if spec.realtime else 1.0)
        stiffness.append(stretch * spec.muscle / (MUSCLE * usual**2) * lighter)
    masses.append(np.full(len(used), np.inf))
    whole, joined, firmness = np.concatenate(masses), np.concatenate(pairs), np.concatenate(stiffness)
    ratios = np.full(len(joined), spec.ring)
    ratios[len(edges) : len(edges) + len(held)] = spec.damping
    springs = Springs(
        whole,
        joined,
        firmness,
        damping_of(ratios, firmness, (1.0 / whole)[joined].sum(axis=1)),
        own,
        damping_of(spec.damping, own, 1.0 / whole),
        where="" if rig is None else str(rig.source),
    )
    notes = list(state.told(mesh.name))
    holding = bones.some(used - len(muscles))
    bind_places = np.concatenate([skin, muscles, holding.at_bind])
    if spec.realtime:
        before, springs = springs, springs.slowed(bind_places, STEP * size)
        free = np.isfinite(before.masses)
        more = 100.0 * (springs.masses[free].sum() / before.masses[free].sum() - 1.0)
        notes.append(
            f"springs in real time: {len(skin)} patches stand for {len(vertices)} vertices of the skin;"
            f" masses that would swing too fast are heavier, all together by {more:.1f} %"
        )
    contact = np.zeros(len(whole))
    contact[: len(skin)] = CONTACT / size * masses_of_skin.area
    return BodySprings(
        springs,
        bind_places,
        number,
        sparse.csr_matrix(follows[welded]),
        first,
        surfaces,
        thinner,
        holding,
        muscle,
        spec.tension,
        contact,
        tuple(said.values()),
        tuple(
            Ball(said.radius, keys[:, 0], keys[:, 1:])
            for said in spec.balls.values()
            for keys in (np.array(said.path),)
        ),
        spec.intensity,
        garment_transfers(character, number, bind),
        tuple(notes),
    )


def _muscles(
    body: Body, spec: SpringsSpec
) -> tuple[EcorcheSurfaces | None, Floats, sparse.csr_matrix | None]:
    """Surfaces of the muscles, their points at bind [m], and what makes them thinner."""
    if body.muscles is None and body.lofts is None and body.lines is None:
        return None, np.zeros((0, 3)), None
    surfaces = surfaces_of(body, rings=RINGS, sides=SIDES)
    still = np.zeros((body.character.skeleton.joint_count, 4, 4))
    meshes = None if body.lines is None else body.lines.points(still)
    points = surfaces.points(still, body.bulge(None), meshes).astype(np.float64)
    if spec.muscularity == 1.0:
        return surfaces, points, None
    starts = np.searchsorted(surfaces.muscle, np.arange(len(surfaces.names) + 1))
    thinner = thinned(points, starts, spec.muscularity)
    return surfaces, np.asarray(thinner @ points), thinner


def _firm_share(mesh: SkinnedMesh, skeleton: Skeleton, naming: Naming) -> Floats:
    """How far each vertex belongs to head, hands or feet, (vertices,): there skin is tight, over bones that
    few rigs know."""
    assert mesh.weights is not None  # body() gives skinned meshes only
    regions = regions_by_any_name(skeleton, naming)
    tight = np.array([region in LEFT_PLAIN for region in regions], np.float64)
    joints, shares = mesh.weights.padded()
    return np.asarray(np.clip(np.sum(tight[joints] * shares, axis=1), 0.0, 1.0))


def _depth(skin: Floats, *, surfaces: EcorcheSurfaces | None, muscles: Floats, bones: Floats) -> Floats:
    """How far each vertex of the skin is from the nearest muscle or bone [m], (vertices,)."""
    beneath = bones
    if surfaces is not None:
        beneath = np.concatenate([strewn(muscles, surfaces.triangles.astype(np.int64)), bones])
    return np.asarray(cKDTree(beneath).query(skin)[0])


def _blow(
    name: str,
    said: BlowSpec,
    rig: Rig | None,
    skeleton: Skeleton,
    skin: SkinMasses,
) -> Blow:
    """On which vertices of the skin a blow falls, and with what force."""
    assert rig is not None  # without a rig there are none
    joint = joint_number(rig, said.joint, skeleton.names, ("springs", "blows", name, "joint"))
    head, tip = skeleton.bind_world[joint, :3, 3], skeleton.tail_positions()[joint]
    force = np.asarray(said.force)
    strength = float(np.linalg.norm(force))
    along = force / max(strength, 1e-12)
    away = skin.points - (head + said.along * (tip - head))
    aside = np.linalg.norm(away - np.outer(away @ along, along), axis=1) / said.radius
    # the skin that is met first, on this side of the bone
    met = (aside < 1.0) & (skin.normals @ along < 0.0) & (np.linalg.norm(away, axis=1) < 4.0 * said.radius)
    if not met.any():
        raise EcorcheError(
            f"the blow {name!r} meets no skin",
            where=f"{rig.source}, springs.blows",
            remedy="Make it wider, or choose another place along the bone",
        )
    points = np.flatnonzero(met)
    weight = skin.area[points] * (1.0 - aside[points] ** 2) ** 2
    return Blow(points, (weight / weight.sum())[:, None] * force, said.start, said.seconds)


def _on_patches(name: str, blow: Blow, follows: sparse.csr_matrix, rig: Rig | None) -> Blow:
    """The same blow on patches of the skin."""
    forces = np.asarray(follows[blow.points].T @ blow.forces)
    points = np.flatnonzero(np.any(forces != 0.0, axis=1))
    if not len(points):
        raise EcorcheError(
            f"the blow {name!r} meets skin that goes with its bone in real time",
            where=f"{'' if rig is None else rig.source}, springs.blows",
            remedy="Choose a place off head, hands and feet, or leave out realtime",
        )
    return Blow(points, forces[points], blow.start, blow.seconds)
