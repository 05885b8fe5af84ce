"""Flesh goes with the method its skin is skinned by: a twisted limb's muscles stay as wide as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from benchmarks.muscle_people import PEOPLE, rigged

from belly_muscle import belly_muscle
from characters import tube
from conftest import Figure
from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_axis_angle
from ecorche.base.threads import at_most_threads
from ecorche.base.transforms import compose
from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.rig import create_rig
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.files import Rig
from ecorche.muscles.loft_mesh import LoftSurfaces, loft_surfaces
from ecorche.muscles.lofted import LoftedMuscle, Rings
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.musculature import musculature
from ecorche.muscles.spindle_mesh import spindle_surfaces
from ecorche.muscles.spindles_in_flesh import SpindlesInFlesh
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skin.flesh_binding import flesh_binding
from ecorche.skin.flesh_weights import SkinRound, flesh_round

Floats = npt.NDArray[np.float64]

LIMB = tube(rings=65, around=48)
RINGS, SIDES = 33, 24
OTHERS = ("dual_quaternion", "contour")
METHODS = ("linear", *OTHERS)
STILL = np.zeros((2, 4, 4))
RIGID = compose([0.3, -1.0, 2.0], normalise(np.array([0.3, -0.5, 0.2, 0.7])))


def skin_round(method: str) -> SkinRound:
    mesh = LIMB.meshes[0]
    assert mesh.weights is not None
    binding = flesh_binding(method, LIMB.skeleton)
    return SkinRound(mesh.mesh.points, mesh.mesh.triangles(), mesh.weights, binding=binding)


def spindles(method: str) -> SpindlesInFlesh:
    """A muscle of the template's kind below the front of a tube of two bones, in its flesh."""
    joined, skin = musculature([belly_muscle()], LIMB.skeleton), skin_round(method)
    surfaces = spindle_surfaces(joined.spindles, rings=RINGS, sides=SIDES)
    return SpindlesInFlesh(joined, surfaces, skin.shares, skin.binding)


def found(method: str) -> tuple[Lofts, LoftSurfaces]:
    """The same kind of muscle as one found in the skin."""
    u = np.linspace(0.2, 0.8, 7)
    swell = np.sin(np.pi * (u - 0.05) / 0.9)
    half, centre = (
        np.column_stack([0.03 * swell, 0.04 * swell]),
        np.column_stack([0.027 - 0.03 * swell, 0 * u]),
    )
    muscle = LoftedMuscle(
        "front",
        "front",
        "tube",
        (0, 1),
        np.array([[0.0, 0.1, 0.07], [0.0, 0.9, 0.07]]),
        np.array([0.0, 0.0, 1.0]),
        Rings(u, centre, half, np.zeros(7)),
        reach=(0, 1),
    )
    lofts = Lofts([muscle], LIMB.skeleton)
    flesh = flesh_round(skin_round(method), lofts)
    lofts = lofts.within(lambda: flesh)
    return lofts, loft_surfaces(lofts, rings=RINGS, sides=SIDES)


def twisted(degrees: float) -> Floats:
    """``M − I`` of the tube's joints, the upper one turned about the tube's axis."""
    turn = matrix_from_xyzw(xyzw_from_axis_angle(np.array([0.0, 1.0, 0.0]), np.radians(degrees)))
    moved = STILL.copy()
    moved[1, :3, :3] = turn - np.eye(3)
    return moved


def widths(points: Floats) -> tuple[Floats, Floats]:
    """How far the inner half of a muscle's rings reach from the tube's axis, and how long they are [m]."""
    rings = points[1:-1].reshape(-1, SIDES, 3)
    rings = rings[len(rings) // 4 : -len(rings) // 4]
    girth = np.linalg.norm(rings - np.roll(rings, 1, axis=1), axis=2).sum(axis=1)
    return np.linalg.norm(rings[..., [0, 2]], axis=2).max(axis=1), girth


@pytest.mark.parametrize("kind", ["template", "found"])
def test_a_twisted_limb_keeps_the_width_of_its_muscles(kind: str, figure: Figure) -> None:
    lost = {}
    for method in METHODS:
        if kind == "template":
            drawn = spindles(method)
            straight, turned = (drawn.points(twisted(a), np.ones(1)) for a in (0.0, 150.0))
        else:
            lofts, surfaces = found(method)
            straight, turned = (surfaces.points(lofts.posed(twisted(a))) for a in (0.0, 150.0))
        (reach, girth), (reach_then, girth_then) = widths(straight), widths(turned)
        lost[method] = 1.0 - min((reach_then / reach).min(), (girth_then / girth).min())
        grown = max((reach_then / reach).max(), (girth_then / girth).max()) - 1.0
        if method != "linear":
            figure(f"width lost by a {kind} muscle twisted by 150°, {method}", 100 * lost[method], 3.0, "%")
            assert lost[method] < 0.03
            assert grown < 0.03
    assert lost["linear"] > 0.5


@pytest.mark.parametrize("method", OTHERS)
def test_bind_is_exact_and_a_moved_body_moves_its_muscles(method: str) -> None:
    linear, drawn = spindles("linear"), spindles(method)
    everywhere = np.tile(RIGID - np.eye(4), (2, 1, 1))
    for tension in (np.ones(1), np.full(1, 1.3)):
        at_bind = drawn.points(STILL, tension)
        assert np.array_equal(at_bind, linear.points(STILL, tension))
        moved = at_bind @ RIGID[:3, :3].T + RIGID[:3, 3]
        np.testing.assert_allclose(drawn.points(everywhere, tension), moved, atol=2e-6)
    (lofts, surfaces), (by_lines, same) = found(method), found("linear")
    at_bind = surfaces.points(lofts.posed(STILL))
    assert np.array_equal(at_bind, same.points(by_lines.posed(STILL)))
    moved = at_bind @ RIGID[:3, :3].T + RIGID[:3, 3]
    np.testing.assert_allclose(surfaces.points(lofts.posed(everywhere)), moved, atol=2e-6)
    places = np.linspace(0.1, 0.9, 5)
    still, there = (lofts.posed(joints).axes(0, places) for joints in (STILL, everywhere))
    assert np.array_equal(still.points, by_lines.posed(STILL).axes(0, places).points)
    np.testing.assert_allclose(there.points, still.points @ RIGID[:3, :3].T + RIGID[:3, 3], atol=2e-6)
    np.testing.assert_allclose(there.out, still.out @ RIGID[:3, :3].T, atol=2e-6)


@pytest.mark.parametrize("method", METHODS)
def test_frames_do_not_depend_on_those_before_nor_on_threads(method: str) -> None:
    poses, tension = (twisted(150.0), twisted(-40.0)), np.full(1, 1.2)
    lofts, surfaces = found(method)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    for pose in poses:
        fresh, again = found(method)
        assert np.array_equal(surfaces.points(lofts.posed(pose)), again.points(fresh.posed(pose)))
        # one muscle by itself is as all together
        one = lofts.posed(pose).rings(0, surfaces.u[0], angle)
        assert np.array_equal(one, fresh.posed(pose).rings(0, surfaces.u[0], angle))
        np.testing.assert_allclose(one.reshape(-1, 3), surfaces.points(lofts.posed(pose))[1:-1], atol=1e-6)
        drawn = spindles(method)
        points = drawn.points(pose, tension)
        with at_most_threads(1):
            assert np.array_equal(points, drawn.points(pose, tension))


def test_muscle_joints_bulge_the_flesh_of_any_method() -> None:
    """A third joint, which hangs on the first, moves a place of the flesh by its share of what it moves."""
    places = np.array([[0.0, 0.1, 0.05], [0.0, 0.9, 0.05]])
    shares = [(np.array([0, 1, 2]), np.array([[0.6, 0.0, 0.4], [0.0, 1.0, 0.0]]))]
    moved = np.zeros((3, 4, 4))
    moved[2, 2, 3] = 0.01
    for method in OTHERS:
        binding = flesh_binding(method, LIMB.skeleton, np.array([0]))
        assert binding is not None
        carrier = binding(places, shares)
        step = carrier.apply(moved, places.astype(np.float32)) - places
        np.testing.assert_allclose(step, [[0.0, 0.0, 0.004], [0.0, 0.0, 0.0]], atol=1e-7)


def _coupled(tmp_path: Path) -> tuple[Character, Rig]:
    """A tube whose skin keeps its distance to a bone within."""
    bone = replace(tube(rings=9, around=12, radius=0.03).meshes[0])
    bone = replace(bone, mesh=replace(bone.mesh, name="bone"))
    character = replace(LIMB, meshes=(*LIMB.meshes, bone))
    rig = create_rig(character, tmp_path / "tube.glb", tmp_path / "tube.ecorche", muscles=False)
    coupling = CouplingSpec(everywhere="height_field", bones=("bone",), contact=False)
    spec = rig.spec.model_copy(update={"coupling": coupling, "body": "tube"})
    return character, replace(rig, spec=spec)


def test_skin_that_keeps_its_distance_is_skinned_by_contour_unless_somebody_says_otherwise(
    tmp_path: Path,
) -> None:
    character, rig = _coupled(tmp_path)

    def method(body: Body) -> str:
        return type(body.skinnings[0]).__name__

    assert method(compile_body(character, rig=rig)) == "ContourSkinning"
    assert method(compile_body(character, rig=rig, skinning="linear")) == "LinearSkinning"
    asked = rig.spec.skinning.model_copy(update={"method": "dual_quaternion"})
    told = replace(rig, spec=rig.spec.model_copy(update={"skinning": asked}))
    assert method(compile_body(character, rig=told)) == "DualQuaternionSkinning"
    in_file = replace(character, meshes=tuple(replace(m, skinning="linear") for m in character.meshes))
    assert method(compile_body(in_file, rig=rig)) == "LinearSkinning"
    alone = replace(rig, spec=rig.spec.model_copy(update={"coupling": CouplingSpec()}))
    assert method(compile_body(character, rig=alone)) == "LinearSkinning"


def test_a_twisted_forearm_keeps_its_girth_over_its_muscles(data: Path, figure: Figure) -> None:
    character, rig = rigged(data / "human" / f"{PEOPLE['muscular man']}.glb")
    rig = replace(rig, spec=rig.spec.model_copy(update={"coupling": CouplingSpec(everywhere="fascia")}))
    skeleton, naming = character.skeleton, recognise(character.skeleton)
    elbow, wrist = (naming.joint(name) for name in ("r_elbow", "r_radiocarpal"))
    assert elbow is not None
    assert wrist is not None
    heads, body = skeleton.bind_world[:, :3, 3], compile_body(character, rig=rig)
    along = heads[wrist] - heads[elbow]
    turn = matrix_from_xyzw(xyzw_from_axis_angle(normalise(along), np.radians(150.0)))
    local, frame = skeleton.bind_local.copy(), skeleton.bind_world[wrist, :3, :3]
    local[wrist, :3, :3] = local[wrist, :3, :3] @ (frame.T @ turn @ frame)
    skin = character.meshes[0]
    assert skin.weights is not None
    triangles = skin.mesh.triangles()
    limb = _limb_share(character, (elbow, *skeleton.children[elbow]))
    of_limb = triangles[(limb[triangles] > 0.3).all(axis=1)]

    def girths(pose: Floats) -> Floats:
        mesh = trimesh.Trimesh(evaluate(body, Pose(pose)).points[0], of_limb, process=False)
        sections = (
            mesh.section(plane_origin=heads[elbow] + share * along, plane_normal=along)
            for share in np.linspace(0.15, 0.9, 12)
        )
        return np.array([max(e.length(s.vertices) for e in s.entities) for s in sections])

    changed = np.abs(girths(local) / girths(skeleton.bind_local) - 1.0).max()
    figure("girth of a forearm twisted by 150°, over its muscles by fascia", 100.0 * changed, 3.0, "%")
    assert changed < 0.03


def _limb_share(character: Character, joints: tuple[int, ...]) -> Floats:
    """How much of each vertex some joints move, (vertices,)."""
    weights = character.meshes[0].weights
    assert weights is not None
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    own = np.isin(weights.joints, joints)
    found = np.bincount(vertex[own], weights.weights[own], minlength=weights.vertex_count)
    return np.asarray(found, np.float64)
