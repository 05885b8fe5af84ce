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

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from ecorche.base.mesh import coincident_groups
from ecorche.base.rotations import normalise
from ecorche.body.character import SkinnedMesh
from ecorche.body.compile import Body, skinned_points
from ecorche.body.coupling_shares import LEFT_PLAIN
from ecorche.body.ecorche_surfaces import EcorcheSurfaces, surfaces_of
from ecorche.body.firm_parts import firm_parts
from ecorche.body.fit_for_muscles import require_size, times_a_person
from ecorche.body.garments import garment_transfers
from ecorche.body.regions import regions_by_any_name
from ecorche.body.skin_state import outward
from ecorche.body.spelled_joints import joint_number
from ecorche.body.spring_places import (
    areas_with_none_empty,
    edges_of,
    held_from_below,
    muscle_masses,
    one_a_cell,
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
MUSCLE, SKIN, FAT = 1060.0, 1100.0, 920.0
"""Densities [kg/m³]."""
SKIN_THICKNESS, DEEPEST, NEAREST = 0.002, 0.04, 0.004
"""Of a person [m]: the skin; how much tissue at most moves with it; no tissue is taken for thinner."""
DEPTH, THINNEST = 0.01, 0.003
"""Of a person [m]: depth of a usual muscle; no muscle is taken for thinner."""
BONE = 0.012
"""Of bones one point in a cube of this edge holds skin, on a person [m]."""
ALL_ROUND = 0.15
"""Share of what holds skin that holds it in all directions, at its own place: springs to few points, as over
the end of a bone, would let it slip aside or turn inside out."""
HOLDING = 12
"""So many springs at most hold a vertex of the skin."""
CONTACT = 4e6
"""How hard skin is against balls, an area [Pa/m]."""


def compile_springs(body: Body, rig: Rig | None) -> BodySprings:
    """The masses and springs of a body, by what its rig says; without a rig, as usual."""
    character = body.character
    spec = SpringsSpec() if rig is None else rig.spec.springs
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
    welded = coincident_groups(vertices).astype(np.int64)
    first = np.unique(welded, return_index=True)[1]
    skin, faces = vertices[first], welded[triangles]
    surfaces, muscles, thinner = _muscles(body, spec)
    firm = firm_parts(character, rig, naming)
    bones = one_a_cell(firm.points, BONE * size)
    beneath = np.concatenate([muscles, firm.points[bones]])
    vertex, point, length, _ = held_from_below(
        skin, _normals(skin, faces), beneath, spec.reach * size, HOLDING
    )
    firmly = _firm_share(mesh, character.skeleton, naming)[first]
    depth = _depth(skin, surfaces, muscles, firm.points)
    depth += firmly * (np.minimum(depth, NEAREST * size) - depth)
    used = np.unique(point[point >= len(muscles)])
    renumbered = np.full(len(beneath), -1, np.int64)
    renumbered[: len(muscles)] = np.arange(len(muscles))
    renumbered[used] = len(muscles) + np.arange(len(used))
    held = np.stack([vertex, len(skin) + renumbered[point]], axis=1)

    area = areas_with_none_empty(skin, faces, np.zeros(len(skin), np.int64))
    tissue = np.clip(depth - SKIN_THICKNESS * size, 0.0, DEEPEST * size)
    mass = area * (SKIN * SKIN_THICKNESS * size + 0.5 * FAT * tissue)
    edges = edges_of(faces)
    usual = DEPTH * size
    k_skin = spec.skin * spec.muscle / usual * area[edges].mean(axis=1)
    inverse = 1.0 / np.maximum(length, NEAREST * size)
    all_of_it = spec.tissue * area / np.maximum(depth, NEAREST * size)
    all_round = ALL_ROUND + (1.0 - ALL_ROUND) * firmly
    k_held = ((1.0 - all_round) * all_of_it / np.bincount(vertex, inverse, len(skin)))[vertex] * inverse

    held, k_held = held[k_held > 0.0], k_held[k_held > 0.0]
    masses, pairs, stiffness = [mass], [edges, held], [k_skin, k_held]
    own = np.zeros(len(skin) + len(muscles) + len(used))
    own[: len(skin)] = all_round * all_of_it
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
        stiffness.append(spec.surface * spec.muscle / (MUSCLE * usual**2) * lighter)
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
    if spec.cap is not None:
        springs, share = springs.capped(spec.cap)
        notes.append(f"springs: {100.0 * share:.0f} % of them are softer than they should be, by the cap")
    contact = np.zeros(len(whole))
    contact[: len(skin)] = CONTACT / size * area
    return BodySprings(
        springs,
        np.concatenate([skin, muscles, firm.points[bones[used - len(muscles)]]]),
        number,
        welded,
        first,
        surfaces,
        thinner,
        firm,
        bones[used - len(muscles)],
        muscle,
        spec.tension,
        contact,
        tuple(
            _blow(name, said, rig, character.skeleton, skin, _normals(skin, faces), area)
            for name, said in spec.blows.items()
        ),
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


def _depth(skin: Floats, surfaces: EcorcheSurfaces | None, muscles: Floats, bones: Floats) -> Floats:
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
    skin: Floats,
    normals: Floats,
    area: Floats,
) -> Blow:
    """On which masses of the skin a blow falls, and with what force."""
    assert rig is not None  # without a rig there are none
    joint = joint_number(rig, said.joint, skeleton.names, ("springs", "blows", name, "joint"))
    head, tip = skeleton.bind_world[joint, :3, 3], skeleton.tail_positions()[joint]
    force = np.asarray(said.force)
    strength = float(np.linalg.norm(force))
    along = force / max(strength, 1e-12)
    away = skin - (head + said.along * (tip - head))
    aside = np.linalg.norm(away - np.outer(away @ along, along), axis=1) / said.radius
    # the skin that is met first, on this side of the bone
    met = (aside < 1.0) & (normals @ along < 0.0) & (np.linalg.norm(away, axis=1) < 4.0 * said.radius)
    if not met.any():
        raise EcorcheError(
            f"the blow {name!r} meets no skin",
            where=f"{rig.source}, springs.blows",
            remedy="Make it wider, or choose another place along the bone",
        )
    points = np.flatnonzero(met)
    weight = area[points] * (1.0 - aside[points] ** 2) ** 2
    return Blow(points, (weight / weight.sum())[:, None] * force, said.start, said.seconds)


def _normals(points: Floats, triangles: Ints) -> Floats:
    """Unit normals a vertex, (vertices, 3)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    total = np.stack(
        [np.bincount(triangles.ravel(), np.repeat(area[:, x], 3), len(points)) for x in range(3)], axis=1
    )
    return np.asarray(normalise(total))
