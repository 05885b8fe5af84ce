"""Sliding skin: exact at bind, on the muscle's surface when posed, smooth, and the same in a mirror."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from ecorche.base.mesh import Mesh
from ecorche.base.rotations import normalise
from ecorche.base.threads import at_most_threads
from ecorche.body.character import Character
from ecorche.errors import EcorcheError, MeshError
from ecorche.io.formats import read_character
from ecorche.muscles.paths import paths_at
from ecorche.muscles.section_frames import section_frames
from ecorche.muscles.sections import ENDS, RIM, Sections, path_sections
from ecorche.muscles.spindle import Spindles
from ecorche.muscles.volume import contract
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.influence import Fades, Influences, influence
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.path_carriers import PathCarriers
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.sliding_lanes import BRIDGED
from ecorche.skin.weights import rigid_weights, weights_from_table
from muscle_patches import (
    Floats,
    Points,
    mirrored,
    moved,
    one_muscle,
    patch,
    random_muscles,
    saturated,
    together,
)

FULL = Fades(ends=0.01, rim=0.01, depth=0.01, limb=0.01, border=1.0)
"""Borders so narrow that all of a patch well within the muscle has weight one."""


def bernstein(control: Floats, belly: float, t: Floats) -> Floats:
    """A curve of two Bézier cubics, control (2, 4), as the text writes it."""
    half = (t > belly).astype(int)
    s = np.where(half == 1, (t - belly) / (1 - belly), t / belly)[:, None]
    basis = np.concatenate([(1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s * s * (1 - s), s**3], axis=1)
    return np.asarray((control[half] * basis).sum(axis=1))


def surface(muscles: Sections, m: int, points: Floats, side: Floats, rounded: bool = True) -> Floats:
    """``σ b − v`` of points in muscle m, straight from the equations, with or without the rounding."""
    offset = points - muscles.origin[m]
    t = offset @ muscles.along[m] / muscles.length[m]
    if rounded:
        for mirror in (False, True):
            t = 1 - t if mirror else t
            t = np.where(t < -ENDS, 0.0, np.where(t < ENDS, (t + ENDS) ** 2 / (4 * ENDS), t))
            t = 1 - t if mirror else t
    t = np.clip(t, 0.0, 1.0)
    thickness = bernstein(muscles.thickness[m], muscles.belly[m], t)
    v = offset @ muscles.out[m] - bernstein(muscles.sweep[m, ..., 0], muscles.belly[m], t)
    a = offset @ muscles.side[m] - bernstein(muscles.sweep[m, ..., 1], muscles.belly[m], t)
    bulge, scale = muscles.bulge[m], muscles.scale[m]
    inside = thickness**2 - (a * bulge) ** 2
    root = np.sqrt(np.maximum(0.0, inside))
    if rounded:
        x = inside / thickness**2
        parabola = np.sqrt(RIM) * (np.maximum(x + 3 * RIM, 0.0) / (4 * RIM)) ** 2
        root = np.where(x < RIM, thickness * parabola, root)
    return np.asarray(side * scale * bulge * root - v)


def reference(bind: Sections, posed: Sections, at_bind: Points, points: Points, found: Influences) -> Floats:
    """Displaced points in float64, muscle by muscle."""
    vertex = found.vertices()
    top, below = np.zeros((len(points), 3)), np.zeros(len(points))
    for m in range(len(bind)):
        of = found.muscles == m
        here, w, side = vertex[of], found.weights[of].astype(float), found.side[of].astype(float)
        rest = surface(bind, m, at_bind[here].astype(float), side)
        limit = bind.scale[m] * bind.coordinates(m, at_bind[here]).thickness
        delta = saturated(surface(posed, m, points[here].astype(float), side) - rest, limit)
        top[here] += (w * w * delta)[:, None] * posed.out[m]
        below[here] += w
    return points + top / np.where(below > 0, below, 1.0)[:, None]


def contracted(muscles: Sections, seed: int) -> Sections:
    """Muscles of another length, thickness, bulge and place, a little turned."""
    rng = np.random.default_rng(seed)
    turn = Rotation.from_rotvec([0.1, -0.2, 0.15]).as_matrix()
    other = moved(muscles, turn, np.array([0.02, -0.01, 0.03]))
    return replace(
        other,
        length=muscles.length * rng.uniform(0.7, 1.2, len(muscles)),
        bulge=rng.uniform(1.0, 1.3, len(muscles)),
        thickness=muscles.thickness * rng.uniform(0.8, 1.3, (len(muscles), 1, 1)),
    )


def random_body(muscles: int = 40, vertices: int = 4000) -> tuple[Sections, Points, Influences]:
    bind = replace(random_muscles(muscles, seed=4, size=0.25), bulge=np.ones(muscles))
    points = np.random.default_rng(8).uniform(-0.3, 0.3, (vertices, 3)).astype(np.float32)
    points[::7, 0] = -0.0
    templates = (["fitted", "radial", "half_space"] * muscles)[:muscles]
    found = influence(
        points,
        rigid_weights(vertices, 0),
        bind,
        [[0]] * muscles,
        template=templates,  # type: ignore[arg-type]
    )
    return bind, points, found


def on_muscle(points: Points, muscles: Sections, **more: object) -> SlidingSkin:
    """The patch fully influenced by every muscle."""
    found = influence(
        points,
        rigid_weights(len(points), 0),
        muscles,
        [[0]] * len(muscles),
        weighting="binary",
        **({"fades": FULL} | more),  # type: ignore[arg-type]
    )
    return SlidingSkin(points, muscles, found)


def test_bind_comes_back_bit_for_bit() -> None:
    bind, points, found = random_body()
    rng = np.random.default_rng(0)
    for weights in (found.weights, rng.random(len(found.weights)).astype(np.float32)):
        skin = SlidingSkin(points, bind, replace(found, weights=weights))
        assert skin.apply(bind, points).tobytes() == points.tobytes()


def test_the_kernel_equals_the_equations() -> None:
    bind, points, found = random_body()
    assert np.diff(found.starts).max() >= 3
    posed = contracted(bind, 1)
    turn = Rotation.from_rotvec([0.12, -0.2, 0.13]).as_matrix()
    skinned = (points @ turn.T + [0.02, -0.015, 0.03]).astype(np.float32)
    displaced = SlidingSkin(points, bind, found).apply(posed, skinned)
    expected = reference(bind, posed, points, skinned, found)
    assert np.abs(expected - skinned).max() > 5e-3
    np.testing.assert_allclose(displaced, expected, atol=2e-6)
    untouched = np.diff(found.starts) == 0
    assert untouched.any()
    assert displaced[untouched].tobytes() == skinned[untouched].tobytes()


def test_inside_the_rim_the_equations_hold_to_the_letter() -> None:
    """Away from ends and rim rounding changes nothing."""
    muscle = one_muscle(bulge=np.array([1.3]))
    points = patch(0.05, np.linspace(0.02, 0.28, 40), np.linspace(-0.008, 0.008, 9)).astype(float)
    ones = np.ones(len(points))
    plain = surface(muscle, 0, points, ones, rounded=False)
    np.testing.assert_allclose(surface(muscle, 0, points, ones), plain, atol=1e-15)
    at = muscle.coordinates(0, points)
    np.testing.assert_allclose(at.height - at.v, plain, atol=1e-15)


def test_the_same_bytes_on_any_number_of_threads_in_place_and_again() -> None:
    bind, points, found = random_body(60, 40_000)
    posed = contracted(bind, 2)
    skin = SlidingSkin(points, bind, found)
    once = skin.apply(posed, points)
    with at_most_threads(1):
        assert skin.apply(posed, points).tobytes() == once.tobytes()
    given = points.copy()
    assert skin.apply(posed, given, given) is given
    assert given.tobytes() == once.tobytes()
    out = np.empty_like(points)
    skin.apply(posed, points, out)
    assert out.tobytes() == once.tobytes()


def test_a_shortened_muscle_raises_a_flat_patch_by_the_growth_of_its_belly() -> None:
    muscle = one_muscle()
    points = patch(0.06, np.array([0.15]), np.linspace(-0.015, 0.015, 7))
    skin = on_muscle(points, muscle)
    # thickness grows by 20 % and the length shrinks about the belly
    short = one_muscle(
        origin=np.array([[0.05, 0.0, 0.0]]), length=np.array([0.2]), thickness=1.2 * muscle.thickness
    )
    z = points[:, 2].astype(float)
    belly = 0.04
    raised = 1.2 * (np.sqrt((1.2 * belly) ** 2 - z**2) - np.sqrt(belly**2 - z**2))
    displaced = skin.apply(short, points)
    np.testing.assert_allclose(displaced[:, 1] - points[:, 1], saturated(raised, 1.2 * belly), atol=1e-7)
    assert displaced[:, [0, 2]].tobytes() == points[:, [0, 2]].tobytes()
    # tension alone: higher by T in the middle, narrower by T at the sides
    tense = one_muscle(bulge=np.array([1.25]))
    raised = 1.2 * (1.25 * np.sqrt(belly**2 - (1.25 * z) ** 2) - np.sqrt(belly**2 - z**2))
    moved = skin.apply(tense, points)[:, 1] - points[:, 1]
    np.testing.assert_allclose(moved, saturated(raised, 1.2 * belly), atol=1e-7)
    assert raised[3] == pytest.approx(0.25 * 1.2 * belly)


@pytest.mark.parametrize("shift", [-0.03, 0.02, 0.05])
def test_skin_moved_along_the_muscle_stays_on_its_surface(shift: float) -> None:
    """Skin that lies on the muscle slides: it follows the shape below it and is not dragged along."""
    muscle = one_muscle()
    points = patch(0.0, np.linspace(0.08, 0.2, 25), np.linspace(-0.01, 0.01, 5))
    points[:, 1] = muscle.coordinates(0, points).height
    skin = on_muscle(points, muscle)
    slid = points + np.array([shift, 0.004, 0.0], np.float32)
    displaced = skin.apply(muscle, slid)
    at, before = muscle.coordinates(0, displaced), muscle.coordinates(0, slid)
    limit = muscle.scale * muscle.coordinates(0, points).thickness
    missing = before.height - before.v - saturated(before.height - before.v, limit)
    np.testing.assert_allclose(at.v, at.height - missing, atol=2e-7)
    assert np.abs(displaced - slid).max() > 3e-3
    assert displaced[:, [0, 2]].tobytes() == slid[:, [0, 2]].tobytes()


@pytest.mark.parametrize("template", ["fitted", "radial", "half_space"])
@pytest.mark.parametrize("line", ["along", "across", "around"])
def test_there_is_no_crease_anywhere(template: str, line: str) -> None:
    """Halving the step quarters the second differences of the displacement: its slope is continuous.

    The posed muscle is shorter, thicker, tense and displaced, so that skin crosses the posed muscle's ends
    and rim where its bind weight is well above zero.
    """
    muscle = one_muscle()
    posed = one_muscle(
        origin=np.array([[0.06, 0.0, 0.004]]),
        length=np.array([0.19]),
        bulge=np.array([1.3]),
        thickness=1.1 * muscle.thickness,
    )

    def roughness(count: int) -> float:
        s = np.linspace(-1.0, 1.0, count)
        points = np.tile([0.15, 0.055, 0.003], (count, 1))
        if line == "along":
            points[:, 0] += 0.2 * s
        elif line == "across":
            points[:, 2] += 0.06 * s
        else:
            points[:, 1:] = 0.055 * np.stack([np.cos(np.pi * s), np.sin(np.pi * s)], axis=1)
        # in float64: float32 has rounding of the size of the second differences
        found = influence(
            points,
            rigid_weights(count, 0),
            muscle,
            [[0]],
            template=template,  # type: ignore[arg-type]
            weighting="binary",
        )
        w, side = np.zeros(count), np.zeros(count)
        w[found.vertices()], side[found.vertices()] = found.weights, found.side
        delta = w * (surface(posed, 0, points, side) - surface(muscle, 0, points, side))
        assert np.abs(delta).max() > 4e-3
        return float(np.abs(np.diff(delta, 2)).max())

    assert roughness(4001) < 0.35 * roughness(2001)


def test_two_overlapping_muscles_blend_without_a_crease() -> None:
    first = one_muscle()
    tilt = Rotation.from_rotvec([0.5, 0.3, 0.0]).as_matrix()
    second = moved(one_muscle(), tilt, np.array([0.0, 0.0, 0.03]))
    bind = together(first, second)
    posed = replace(bind, thickness=bind.thickness * np.array([1.3, 1.15])[:, None, None])

    def displacement(count: int) -> Floats:
        points = patch(0.06, np.array([0.14]), np.linspace(-0.08, 0.1, count))
        found = influence(points, rigid_weights(count, 0), bind, [[0], [0]], weighting="binary")
        assert (np.diff(found.starts) == 2).any()
        return reference(bind, posed, points, points, found) - points

    coarse, fine = displacement(1001), displacement(2001)
    assert np.abs(fine).max() > 5e-3
    assert np.abs(np.diff(fine, 2, axis=0)).max() < 0.35 * np.abs(np.diff(coarse, 2, axis=0)).max()


def test_one_muscle_twice_moves_the_skin_as_once() -> None:
    points = patch(0.06, np.linspace(0.0, 0.3, 40), np.linspace(-0.04, 0.04, 15))
    once, tense = one_muscle(), one_muscle(bulge=np.array([1.2]))
    single = on_muscle(points, once, fades=Fades()).apply(tense, points)
    double = on_muscle(points, together(once, once), fades=Fades()).apply(together(tense, tense), points)
    np.testing.assert_allclose(double, single, atol=1e-7)


def test_the_mirrored_body_is_displaced_to_the_mirror_image() -> None:
    bind, points, found = random_body()
    posed, mirror = contracted(bind, 3), np.array([-1, 1, 1], np.float32)
    left = SlidingSkin(points, bind, found).apply(posed, points)
    # the mirrored muscles' lateral coordinate has the other sign, and everything else is alike
    right = SlidingSkin(points * mirror, mirrored(bind), replace(found, a=-found.a, read=-found.read))
    np.testing.assert_allclose(right.apply(mirrored(posed), points * mirror), left * mirror, atol=1e-6)


def test_moving_everything_as_one_body_moves_the_result() -> None:
    bind, points, found = random_body()
    posed = contracted(bind, 5)
    skin = SlidingSkin(points, bind, found)
    turn, shift = Rotation.from_rotvec([1.0, -2.0, 0.5]).as_matrix(), np.array([0.5, 1.0, -0.7])
    carried = (points @ turn.T + shift).astype(np.float32)
    expected = skin.apply(posed, points) @ turn.T + shift
    np.testing.assert_allclose(skin.apply(moved(posed, turn, shift), carried), expected, atol=3e-6)
    # and the bind carried about is not displaced, to rounding
    np.testing.assert_allclose(skin.apply(moved(bind, turn, shift), carried), carried, atol=3e-6)


def test_no_vertex_moves_by_more_than_the_muscle_is_thick() -> None:
    """Muscles torn away from under their skin: δ grows without bound, the displacement does not."""
    bind, points, found = random_body()
    skin = SlidingSkin(points, bind, found)
    vertex = found.vertices()
    limit = np.zeros(len(points))
    for m in range(len(bind)):
        of = found.muscles == m
        own = bind.scale[m] * bind.coordinates(m, points[vertex[of]]).thickness
        np.maximum.at(limit, vertex[of], own)
    for far in (0.05, 0.2, 3.0):
        torn = replace(bind, origin=bind.origin + far * bind.out, bulge=1.3 * bind.bulge)
        moved = np.linalg.norm(skin.apply(torn, points) - points.astype(float), axis=1)
        assert (moved <= limit + 1e-6).all()
    assert (moved[vertex] > 0.3 * limit[vertex]).any()


def test_gains_multiply_what_each_muscle_does() -> None:
    bind, points, found = random_body()
    posed, count = contracted(bind, 6), len(bind)
    once = SlidingSkin(points, bind, found).apply(posed, points) - points.astype(float)
    assert (
        SlidingSkin(points, bind, found, np.zeros(count)).apply(posed, points).tobytes() == points.tobytes()
    )
    twice = SlidingSkin(points, bind, found, np.full(count, 2.0)).apply(posed, points) - points.astype(float)
    np.testing.assert_allclose(twice, 2.0 * once, atol=1e-6)
    only = np.zeros(count)
    only[::2] = 1.5
    one_by_one = np.zeros_like(once)
    for muscle in np.flatnonzero(only):
        gain = np.zeros(count)
        gain[muscle] = only[muscle]
        one_by_one += SlidingSkin(points, bind, found, gain).apply(posed, points) - points.astype(float)
    together_moved = SlidingSkin(points, bind, found, only).apply(posed, points) - points.astype(float)
    np.testing.assert_allclose(together_moved, one_by_one, atol=2e-6)
    for bad, said in (
        (np.ones(3), r"gains of shape \(3,\)"),
        (np.full(count, -1.0), "gain of muscle 0 is -1"),
    ):
        with pytest.raises(EcorcheError, match=said):
            SlidingSkin(points, bind, found, bad)
    with pytest.raises(EcorcheError, match="nan"):
        SlidingSkin(points, bind, found, np.full(count, np.nan))


def test_what_does_not_fit_is_refused_in_words() -> None:
    bind, points, found = random_body(5, 200)
    skin = SlidingSkin(points, bind, found)
    with pytest.raises(EcorcheError, match="5"):
        skin.apply(random_muscles(4), points)
    with pytest.raises(MeshError, match="Give 200 points"):
        skin.apply(bind, points[:-1])
    with pytest.raises(MeshError, match="float64"):
        skin.apply(bind, points, np.empty((200, 3)))  # type: ignore[arg-type]
    with pytest.raises(EcorcheError, match="name muscle"):
        SlidingSkin(points, random_muscles(1), replace(found, muscles=found.muscles + np.int32(1)))


def test_skin_without_muscles_stays_as_it_is() -> None:
    points = patch(0.3, np.linspace(1.0, 2.0, 5), np.zeros(1))
    skin = on_muscle(points, one_muscle())
    assert skin.apply(one_muscle(bulge=np.array([1.3])), points).tobytes() == points.tobytes()


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return read_character(data / "human" / "male_average_cmu_mb.glb")


def girth(points: Points, mesh: Mesh, keep: npt.NDArray[np.bool_], centre: Floats, normal: Floats) -> float:
    """Length [m] of the cut of a plane through the faces whose vertices are all kept."""
    import trimesh

    triangles = mesh.triangles()
    faces = triangles[keep[triangles].all(axis=1)]
    cut = trimesh.intersections.mesh_plane(trimesh.Trimesh(points, faces, process=False), normal, centre)
    return float(np.linalg.norm(cut[:, 1] - cut[:, 0], axis=1).sum())


def test_a_biceps_on_a_real_arm_swells_as_the_elbow_bends(man: Character) -> None:
    skeleton, body = man.skeleton, man.meshes[0]
    points, skin_weights = body.mesh.points, body.weights
    assert skin_weights is not None
    arm, forearm, hand = (skeleton.index(n) for n in ("LeftArm", "LeftForeArm", "LeftHand"))
    shoulder, elbow, wrist = (skeleton.bind_world[j][:3, 3] for j in (arm, forearm, hand))
    down = normalise(elbow - shoulder)
    front = normalise(np.array([0.0, 0.0, 1.0]) - down * down[2])
    ends = (shoulder + 0.03 * down + 0.023 * front, elbow + 0.04 * normalise(wrist - elbow) + 0.015 * front)
    paths = paths_at(skeleton, [[(arm, ends[0]), (forearm, ends[1])]])
    frames = section_frames(paths, front[None])
    half = np.array([0.006, 0.012, 0.026, 0.026])
    shape = Spindles(
        thickness=np.stack([half, half[::-1]])[None],
        sweep=np.zeros((1, 2, 4, 2)),
        belly=np.array([0.5]),
        scale=np.ones(1),
        bind_length=paths.bind.lengths,
    )

    def muscle(difference: Floats, bulge: float) -> Sections:
        posed = frames.moved(difference)
        return path_sections(posed, contract(shape, posed.path.lengths, bulge=bulge))

    at_rest = muscle(difference_from_bind(skeleton, skeleton.bind_local), 1.0)
    found = influence(points, skin_weights, at_rest, [[arm]], weighting="binary")
    sliding = SlidingSkin(points, at_rest, found)
    assert sliding.apply(at_rest, points).tobytes() == points.tobytes()

    local = skeleton.bind_local.copy()
    bend = Rotation.from_rotvec(np.radians(45.0) * np.cross(down, front)).as_matrix()
    turn = skeleton.bind_world[forearm][:3, :3]
    local[forearm, :3, :3] = local[forearm, :3, :3] @ (turn.T @ bend @ turn)
    difference = difference_from_bind(skeleton, local)
    plain = LinearSkinning(points, skin_weights).apply(difference)
    bent = muscle(difference, 1.15)
    assert bent.length[0] < 0.95 * at_rest.length[0]
    flexed = sliding.apply(bent, plain)

    outwards = (flexed - plain) @ bent.out[0]
    highest = int(np.argmax(outwards))
    (where,) = np.flatnonzero(found.vertices() == highest)
    assert 0.25 < found.t[where] < 0.65, "the largest displacement lies over the belly"
    assert 0.004 < outwards[highest] < 0.026
    assert outwards.min() > -0.002
    behind = (points - shoulder) @ front < -0.01
    assert flexed[behind].tobytes() == plain[behind].tobytes(), "the triceps side is left alone"

    joints, weights = skin_weights.padded()
    keep = (weights * np.isin(joints, [arm])).sum(axis=1) > 0.3
    centre = shoulder + 0.5 * (elbow - shoulder)
    before, after = (girth(p, body.mesh, keep, centre, down) for p in (plain, flexed))
    assert 0.2 < before < 0.45
    assert 1.02 < after / before < 1.10


def test_skin_that_follows_other_joints_than_the_path_takes_the_change_of_height_only() -> None:
    """The path comes up by 5 mm, the muscle tenses: skin on its joints does both, other skin the second."""
    bind = one_muscle()
    points = patch(0.05, np.linspace(0.1, 0.2, 9), np.linspace(-0.01, 0.01, 5))
    both = PathCarriers(np.zeros((1, 9, 2), np.int64), np.linspace(0.0, 1.0, 9)[None])
    raised = replace(bind, origin=bind.origin + np.array([0.0, 0.005, 0.0]))
    tense = replace(raised, bulge=np.full(1, 1.1))
    moved_by = {}
    for name, joint in (("same", 0), ("other", 1)):
        weights = rigid_weights(len(points), joint)
        found = influence(points, weights, bind, [[0, 1]], weighting="binary", fades=FULL, carriers=both)
        assert len(found.muscles) == len(points)
        skin = SlidingSkin(points, bind, found)
        moved_by[name] = [(skin.apply(posed, points) - points)[:, 1] for posed in (raised, tense)]
    np.testing.assert_allclose(moved_by["same"][0], 0.005, rtol=2e-2)
    np.testing.assert_allclose(moved_by["other"][0], 0.0, atol=1e-7)
    grown = (
        bind.coordinates(0, points).height - replace(bind, bulge=tense.bulge).coordinates(0, points).height
    )
    np.testing.assert_allclose(moved_by["other"][1], -grown, atol=1e-4)
    assert (moved_by["same"][1] > moved_by["other"][1] + 0.004).all()


def test_skin_and_path_overlap_where_one_joint_carries_both_and_less_between_two() -> None:
    carriers = PathCarriers(np.tile([0, 1], (1, 9, 1)), np.linspace(0.0, 1.0, 9)[None])
    bind = one_muscle()
    points = patch(0.05, np.linspace(0.05, 0.25, 21), np.zeros(1))
    at = bind.coordinates(0, points)
    alike = weights_from_table(np.tile([0, 1], (21, 1)), np.stack([1.0 - at.t, at.t], axis=1), 2, "skin")
    # as alike as can be, and yet halfway they part in a bend
    halfway = carriers.overlap(0, at, alike, np.arange(21))
    np.testing.assert_allclose(halfway, (1.0 - at.t) ** 2 + at.t**2, atol=1e-6)
    assert halfway.min() == pytest.approx(0.5, abs=1e-6)
    first = rigid_weights(21, 0)
    np.testing.assert_allclose(carriers.overlap(0, at, first, np.arange(21)), (1.0 - at.t) ** 2, atol=1e-6)
    stranger = rigid_weights(21, 5)
    np.testing.assert_array_equal(carriers.overlap(0, at, stranger, np.arange(21)), 0.0)
    some = np.array([3, 17])
    picked = type(at)(*(column[some] for column in at))
    np.testing.assert_allclose(carriers.overlap(0, picked, first, some), (1.0 - at.t[some]) ** 2, atol=1e-6)


def test_inwards_skin_bridges_sooner_than_it_is_pushed_outwards() -> None:
    bind = one_muscle()
    points = patch(0.05, np.linspace(0.14, 0.16, 5), np.zeros(1))
    skin = on_muscle(points, bind)
    far = [replace(bind, origin=bind.origin + np.array([0.0, dy, 0.0])) for dy in (0.5, -0.5)]
    up, down = ((skin.apply(posed, points) - points)[:, 1] for posed in far)
    np.testing.assert_allclose(-down, BRIDGED * up, rtol=1e-5)
    near = [replace(bind, origin=bind.origin + np.array([0.0, dy, 0.0])) for dy in (1e-4, -1e-4)]
    up, down = ((skin.apply(posed, points) - points)[:, 1] for posed in near)
    np.testing.assert_allclose(-down, up, rtol=1e-2)
