"""Action lines in muscles made by code: centre lines, how many, tendons, deflectors, mirror images."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from anatomy_shapes import ball, chain, joined, shuffled, straight, tube
from ecorche.base.signed_distance import SignedSurface
from ecorche.errors import EcorcheError, MeshError
from ecorche.muscles.anatomy.body_type import BodyType, thickened
from ecorche.muscles.anatomy.bones import bone_ellipsoids, deflectors_near
from ecorche.muscles.anatomy.centroid import centroid_curve, sweep
from ecorche.muscles.anatomy.folder import AnatomyFolder, AnatomyMesh, Bones, joints_of_bones
from ecorche.muscles.anatomy.mirror import mirror_pairs, mirrored_mesh, sagittal_plane
from ecorche.muscles.anatomy.musculature_from_folder import FolderMusculature, musculature_from_folder
from ecorche.muscles.anatomy.sites import matched_sites
from ecorche.muscles.anatomy.surface_fields import SurfaceFields

Floats = npt.NDArray[np.float64]


def arch(radius: float = 0.1, rings: int = 61) -> Floats:
    """A quarter of a circle in the xy plane."""
    angle = np.linspace(0.0, np.pi / 2.0, rings)
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(rings)], axis=1)


def ends_of(
    mesh: AnatomyMesh, rings: int, around: int = 24
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.arange(around), np.arange((rings - 1) * around, rings * around)


def held_at_both_ends(mesh: AnatomyMesh, *more: AnatomyMesh, length: float = 0.2) -> FolderMusculature:
    """A muscle along x between two flat bones; a third one far off leaves no left and right."""
    bones = (
        ball(np.array([-0.0052, 0.0, 0.0]), np.array([0.005, 0.05, 0.05]), "upper"),
        ball(np.array([length + 0.0052, 0.0, 0.0]), np.array([0.005, 0.05, 0.05]), "lower"),
        ball(np.array([0.07, 0.2, 0.15]), np.array([0.02, 0.03, 0.01]), "apart"),
    )
    skeleton = chain((-0.02, 0.0, 0.0), (length + 0.02, 0.0, 0.0))
    return musculature_from_folder(
        AnatomyFolder((mesh, *more), bones), skeleton, {"upper": 0, "lower": 1, "apart": 0}
    )


def test_centroids_of_a_bent_tube_lie_on_its_axis() -> None:
    mesh = tube(arch(), np.full(61, 0.012), np.full(61, 0.02))
    sections = sweep(SurfaceFields(mesh.points, mesh.triangles), *ends_of(mesh, 61))
    curve = centroid_curve(sections)
    # sections are planes through the circle's centre, their centroid the ellipse's own
    assert np.abs(np.linalg.norm(curve[:, :2], axis=1) - 0.1).max() < 0.02 * 0.02
    assert np.abs(curve[:, 2]).max() < 1e-6  # its triangles lean one way
    assert np.allclose(sections.area, np.pi * 0.012 * 0.02, rtol=0.03)


def test_a_field_on_a_straight_tube_is_the_way_along_it() -> None:
    mesh = tube(straight(), np.full(41, 0.01), np.full(41, 0.01), closed=False)
    field = sweep(SurfaceFields(mesh.points, mesh.triangles), *ends_of(mesh, 41)).field
    assert np.abs(field - mesh.points[:, 0] / 0.2).max() < 1e-9


@pytest.mark.parametrize("kind", ["open", "pieces", "fin"])
def test_open_torn_and_tangled_surfaces_have_a_line_too(kind: str) -> None:
    radius = np.full(21, 0.01)
    whole = tube(straight(), np.full(41, 0.01), np.full(41, 0.01), closed=kind != "open")
    mesh = whole
    if kind == "pieces":
        near, far = straight(0.095, 21), straight(0.095, 21, np.array([0.105, 0.0, 0.0]))
        mesh = joined("muscle", tube(near, radius, radius), tube(far, radius, radius))
    elif kind == "fin":  # a third triangle on an edge
        points = np.vstack([whole.points, [0.1, 0.02, 0.0]])
        mesh = AnatomyMesh("muscle", points, np.vstack([whole.triangles, [480, 481, len(points) - 1]]))
    built = held_at_both_ends(mesh)
    (muscle,) = built.muscles
    (line,) = muscle.lines
    assert np.linalg.norm(line.nodes[:, 1:], axis=1).max() < 0.004
    assert (np.diff(line.nodes[:, 0]) > 0.0).all()
    assert any("pieces" in told for told in muscle.report) == (kind == "pieces")


def test_a_round_muscle_needs_one_line_and_a_flat_one_several_side_by_side() -> None:
    ends = np.interp(np.linspace(0.0, 1.0, 41), [0.0, 0.1, 0.9, 1.0], [0.3, 1.0, 1.0, 0.3])
    round_one = held_at_both_ends(tube(straight(), 0.01 * ends, 0.01 * ends)).muscles[0]
    assert len(round_one.lines) == 1
    flat_mesh = tube(straight(), 0.04 * ends, 0.004 * ends, around=48)
    flat = held_at_both_ends(flat_mesh).muscles[0]
    assert len(flat.lines) >= 3
    middle = np.sort([line.nodes[len(line.nodes) // 2][2] for line in flat.lines])
    assert np.diff(middle).min() > 0.01  # apart from each other across the muscle
    assert np.allclose(middle, -middle[::-1], atol=0.003)  # and on both sides alike
    surface = SignedSurface(flat_mesh.points, flat_mesh.triangles)
    assert all(surface.depth(line.nodes[1:-1])[0].min() > 0.0 for line in flat.lines)


def test_thin_ends_are_tendon_and_a_fleshy_muscle_has_none() -> None:
    radius = np.interp(
        np.linspace(0.0, 1.0, 41), [0.0, 0.2, 0.3, 0.7, 0.8, 1.0], [2e-3, 2e-3, 1e-2, 1e-2, 2e-3, 2e-3]
    )
    line = held_at_both_ends(tube(straight(), radius, radius)).muscles[0].lines[0]
    middle = 0.5 * (line.nodes[1:, 0] + line.nodes[:-1, 0])
    assert line.tendon[middle < 0.19 * 0.2].all()
    assert line.tendon[middle > 0.81 * 0.2].all()
    assert not line.tendon[(middle > 0.3 * 0.2) & (middle < 0.7 * 0.2)].any()
    even = np.full(41, 0.01)
    fleshy = held_at_both_ends(tube(straight(), even, even)).muscles[0].lines[0]
    assert not fleshy.tendon.any()


def test_nodes_go_with_the_joints_of_their_ends_and_never_turn_back() -> None:
    even = np.full(41, 0.01)
    muscle = held_at_both_ends(tube(straight(), even, even)).muscles[0]
    line = muscle.lines[0]
    assert line.joints[0] == 0
    assert line.joints[-1] == 1
    assert (np.diff(line.joints) >= 0).all()
    assert line.held[[0, -1]].all()
    assert (line.origin_bone, line.insertion_bone) == ("upper", "lower")
    assert muscle.origin[0].vertices.tolist() == [*range(24), 41 * 24]  # the first ring and its cap


def test_an_ellipsoid_is_fitted_as_itself_and_a_shaft_as_several() -> None:
    radii = np.array([0.03, 0.02, 0.015])
    one = Bones((ball(np.array([0.1, 0.2, 0.3]), radii),), [4], 0.002)
    (fitted,) = bone_ellipsoids(one)
    assert np.allclose(fitted.centre, [0.1, 0.2, 0.3], atol=1e-4)
    assert np.allclose(fitted.radii, np.sort(radii), rtol=0.08)
    assert np.isclose(np.linalg.det(fitted.axes), 1.0)
    assert fitted.joint == 4
    assert fitted.coverage > 0.95
    shaft = tube(straight(), np.full(41, 0.01), np.full(41, 0.01), "shaft")
    pieces = bone_ellipsoids(Bones((shaft,), [0], 0.002))
    assert 4 <= len(pieces) <= 16
    assert all(piece.radii.max() < 0.06 for piece in pieces)


def test_deflectors_are_those_near_a_line_and_hold_none_of_it() -> None:
    bones = Bones(
        (
            ball(np.zeros(3), np.full(3, 0.02), "near"),
            ball(np.array([0.0, 0.5, 0.0]), np.full(3, 0.02), "far"),
        ),
        [0, 0],
        0.002,
    )
    nodes = straight(0.2, 9, np.array([-0.1, 0.016, 0.0]))  # cuts into the near one
    (kept,) = deflectors_near(bone_ellipsoids(bones), nodes)
    assert kept.bone == "near"
    assert kept.level(nodes).min() > 1.0
    assert kept.radii.max() > 0.01


def test_left_finds_right_by_shape_alone_and_what_is_missing_is_made() -> None:
    rng = np.random.default_rng(3)
    place = {name: rng.uniform(0.02, 0.1, 3) for name in "abc"}
    bones = [ball(at * [1, 1, 3], rng.uniform(0.01, 0.02, 3), name) for name, at in place.items()]
    plane_of = sagittal_plane(
        [*bones, *(AnatomyMesh("x", b.points * [1, 1, -1], b.triangles[:, ::-1]) for b in bones)]
    )
    assert abs(plane_of.normal[2]) > 1.0 - 1e-9
    assert abs(plane_of.offset) < 1e-9
    middle = ball(np.zeros(3), np.array([0.01, 0.02, 0.03]), "middle")
    images = [shuffled(mirrored_mesh(mesh, plane_of, "image"), f"image {mesh.name}") for mesh in bones[:2]]
    pairs = mirror_pairs([*bones, middle, *images], plane_of)
    assert pairs.partner.tolist() == [4, 5, -1, 3, 0, 1]


def test_an_image_faces_outwards() -> None:
    mesh = ball(np.array([0.1, 0.0, 0.1]), np.full(3, 0.02))
    image = mirrored_mesh(mesh, sagittal_plane([mesh]), "image")
    corners = image.points[image.triangles]
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert volume > 0.0


def test_bulk_thickens_the_belly_and_leaves_bind_and_attachments() -> None:
    mesh = tube(straight(), np.full(41, 0.01), np.full(41, 0.01))
    line, held = straight(), np.arange(24)
    assert np.array_equal(thickened(mesh.points, [line], held, BodyType()), mesh.points)
    grown = thickened(mesh.points, [line], held, BodyType(bulk=1.2))
    assert np.array_equal(grown[held], mesh.points[held])
    belly = np.abs(mesh.points[:, 0] - 0.1) < 0.03
    assert np.allclose(np.linalg.norm(grown[belly, 1:], axis=1), 0.012)
    assert np.allclose(grown[:, 0], mesh.points[:, 0])
    with pytest.raises(EcorcheError, match=r"bulk of 0\.0 is no body's"):
        BodyType(bulk=0.0)


def test_misspelt_sites_find_their_muscle_by_place() -> None:
    even = np.full(41, 0.01)
    left, right = (
        tube(straight(start=np.array([0.0, 0.0, z])), even, even, f"MUSCm.biceps_brachii_{side}")
        for side, z in (("L", -0.1), ("R", 0.1))
    )
    bones = Bones((ball(np.array([-0.02, 0.0, -0.1]), np.full(3, 0.0199), "BONEScapula_L"),), [0], 0.002)

    def site(name: str, z: float) -> AnatomyMesh:
        return ball(np.array([0.0, 0.0, z]), np.full(3, 0.002), name)

    sites = [
        site("SITEScapula_L=m_biceps_brachii_L", -0.1),
        site("SITEScapula_L=m_bicpes_brachii_R", -0.1),  # letters and side wrong
        site("SITEScapula_L=m_triceps_surae_L", -0.1),  # no such muscle
        site("SITEScapula_L=m_biceps_brachii_R", 0.5),  # nowhere near
    ]
    found, doubts = matched_sites(sites, [left, right], bones, 1.0)
    assert [(s.name, s.muscle, s.bone) for s in found] == [(sites[0].name, 0, 0), (sites[1].name, 0, 0)]
    told = " ".join(doubts)
    assert "'SITEScapula_L=m_bicpes_brachii_R' is taken for 'MUSCm.biceps_brachii_L'" in told
    assert "1 sites are for muscles that the folder does not hold: m_triceps_surae_L" in told
    assert "nobody takes it" in told


def test_bones_the_character_does_not_know_go_with_what_is_near_and_are_told() -> None:
    skeleton = chain((0.0, 0.0, 0.0), (0.3, 0.0, 0.0))
    known = ball(np.array([0.31, 0.0, 0.0]), np.full(3, 0.01), "BONEhand")
    beside = ball(np.array([0.31, 0.011, 0.0]), np.full(3, 0.005), "BONEpea")
    shaft = tube(straight(0.25), np.full(41, 0.01), np.full(41, 0.01), "shaft")
    joints, notes = joints_of_bones([known, beside, shaft], skeleton, {"hand": 1})
    assert joints.tolist() == [1, 1, 0]
    assert len(notes) == 2
    assert "nearest neighbour 'BONEhand'" in notes[0]


def test_bad_muscles_are_named_and_the_others_still_work() -> None:
    even = np.full(41, 0.01)
    good = tube(straight(), even, even)
    lost = tube(straight(start=np.array([0.0, -0.3, 0.0])), even, even, "lost")
    built = held_at_both_ends(good, lost)
    assert [muscle.name for muscle in built.muscles] == ["muscle"]
    assert "no bone is within" in built.left_out["lost"]
    with pytest.raises(MeshError, match="'torn': Vertex 3 is not a finite number"):
        AnatomyMesh(
            "torn", np.where(np.arange(len(good.points))[:, None] == 3, np.nan, good.points), good.triangles
        )
    with pytest.raises(MeshError, match="it has no triangle with an area"):
        AnatomyMesh("empty", good.points, good.triangles[:0])
    with pytest.raises(MeshError, match="the anatomy has no bones"):
        AnatomyFolder((good,), ())
