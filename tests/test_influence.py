"""Influence: what each template claims, smooth borders, and limbs that keep to themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from ecorche.errors import EcorcheError, MeshError
from ecorche.io.formats import read_character
from ecorche.muscles.sections import Sections
from ecorche.skin.influence import (
    FULL_BESIDE,
    GONE_BESIDE,
    Fades,
    Influences,
    Template,
    Weighting,
    influence,
)
from ecorche.skin.weights import rigid_weights, weights_from_table
from muscle_patches import Floats, Points, mirrored, one_muscle, patch, random_muscles, together

MUSCLE = one_muscle()
TEMPLATES: tuple[Template, ...] = get_args(Template)


def weights_at(
    points: Points | Floats,
    template: Template,
    weighting: Weighting = "binary",
    radius: float | None = None,
    fades: Fades | None = None,
) -> Floats:
    """The weight of the one muscle at every point."""
    skin = rigid_weights(len(points), 0)
    found = influence(
        points, skin, MUSCLE, [[0]], template=template, weighting=weighting, radius=radius, fades=fades
    )
    weights = np.zeros(len(points))
    weights[found.vertices()] = found.weights
    return weights


def test_fitted_claims_what_lies_over_the_muscle_and_nothing_else() -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform([-0.1, -0.1, -0.08], [0.4, 0.1, 0.08], (40_000, 3)).astype(np.float32)
    weights = weights_at(points, "fitted", fades=Fades(1e-3, 1e-3, 1e-3, 1e-3, border=1.0))
    x, y, z = points.T.astype(np.float64)
    # Bernstein polynomials, written out here once more; away from the rounded ends and rim
    t = np.clip(x / 0.3, 0.0, 1.0)
    s = np.where(t < 0.5, 2 * t, 2 - 2 * t)
    thickness = 0.01 * (1 - s) ** 3 + 0.025 * 3 * s * (1 - s) ** 2 + 0.04 * (3 * s * s * (1 - s) + s**3)
    height = 1.2 * np.sqrt(np.maximum(thickness**2 - z**2, 0.0))
    within = (x > 0.0) & (x < 0.3) & (np.abs(z) < thickness) & (y > -height)
    clear = (
        (np.abs(x - 0.15) < 0.13) & (np.abs(np.abs(z) / thickness - 1.0) > 0.12) & (np.abs(y + height) > 1e-3)
    )
    assert clear.sum() > 10_000
    assert within[clear].any()
    np.testing.assert_array_equal(weights[clear] > 0.5, within[clear])
    assert set(np.unique(weights[clear])) == {0.0, 1.0}


def test_half_space_claims_above_the_plane_and_radial_within_its_distance() -> None:
    rng = np.random.default_rng(2)
    points = rng.uniform([-0.1, -0.1, -0.1], [0.4, 0.1, 0.1], (20_000, 3)).astype(np.float32)
    x, y, z = points.T
    sharp = Fades(1e-3, 1e-3, 1e-3, 1e-3, border=1.0)
    inside = (x > 1e-3) & (x < 0.299)
    clear = np.minimum(np.abs(x), np.abs(x - 0.3)) > 1e-3
    upper = clear & (np.abs(y) > 1e-3)
    np.testing.assert_array_equal(
        weights_at(points, "half_space", fades=sharp)[upper] > 0.0, (inside & (y > 0.0))[upper]
    )
    distance = np.hypot(y, z)
    near = clear & (np.abs(distance - 0.06) > 1e-3)
    np.testing.assert_array_equal(
        weights_at(points, "radial", radius=0.06, fades=sharp)[near] > 0.0, (inside & (distance < 0.06))[near]
    )


def test_spline_weights_follow_the_thickness() -> None:
    points = patch(0.06, np.linspace(0.08, 0.22, 15), np.zeros(1))
    weights = weights_at(points, "fitted", "spline")
    at = MUSCLE.coordinates(0, points)
    np.testing.assert_allclose(weights, at.thickness / 0.04, atol=1e-6)
    assert weights[7] == pytest.approx(1.0)
    assert weights.max() <= 1.0


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("line", ["along", "across", "upwards"])
@pytest.mark.parametrize("weighting", get_args(Weighting))
def test_the_slope_of_a_weight_is_continuous_across_every_border(
    template: Template, line: str, weighting: Weighting
) -> None:
    """Second differences of a C1 function shrink with the square of the step, those of a crease do not."""

    def roughness(count: int) -> float:
        s = np.linspace(-1.0, 1.0, count)
        points = np.tile([0.15, 0.03, 0.006], (count, 1))
        axis = {"along": 0, "upwards": 1, "across": 2}[line]
        points[:, axis] += s * {"along": 0.2, "upwards": 0.15, "across": 0.15}[line]
        found = weights_at(points, template, weighting)
        assert found.max() > 0.5
        assert (found.min() == 0.0) or (template, line) == ("half_space", "across")
        return float(np.abs(np.diff(found, 2)).max())

    assert roughness(2001) <= 0.3 * roughness(1001)
    assert roughness(2001) < 1e-3


def test_the_weight_is_gone_before_the_root_is_steep() -> None:
    points = patch(0.06, np.array([0.15]), np.linspace(-0.05, 0.05, 401))
    weights = weights_at(points, "fitted")
    across = np.abs(points[:, 2]) / 0.04
    assert weights[across > 0.85].max() == 0.0
    assert weights[across < 0.34].min() == 1.0


def test_skin_weights_decide_who_is_a_candidate_and_fade_smoothly() -> None:
    points = np.tile(np.array([0.15, 0.06, 0.0], np.float32), (101, 1))
    share = np.linspace(0.0, 1.0, 101)
    skin = weights_from_table(np.tile([0, 1], (101, 1)), np.stack([1 - share, share], 1), 2, "test")
    found = influence(points, skin, MUSCLE, [[1]], weighting="binary", fades=Fades(limb=0.5))
    weights = np.zeros(101)
    weights[found.vertices()] = found.weights
    assert weights[:51].max() == 0.0
    assert weights[100] == pytest.approx(1.0)
    assert (np.diff(weights) >= 0.0).all()
    assert np.abs(np.diff(weights, 2)).max() < 3e-3
    both = influence(points, skin, MUSCLE, [[0, 1]], weighting="binary")
    np.testing.assert_allclose(both.weights, np.ones(101), atol=1e-6)


def test_rows_are_sorted_and_say_what_the_bind_is() -> None:
    muscles = random_muscles(30, size=0.2)
    points = np.random.default_rng(5).uniform(-0.3, 0.3, (3000, 3)).astype(np.float32)
    found = influence(points, rigid_weights(3000, 0), muscles, [[0]] * 30, template="radial")
    vertex = found.vertices()
    assert len(vertex) > 1000
    assert np.diff(found.starts).max() >= 3
    assert (np.diff(vertex * 30 + found.muscles) > 0).all()
    for entry in range(0, len(vertex), 97):
        at = muscles.coordinates(int(found.muscles[entry]), points[vertex[entry]][None])
        assert found.t[entry] == pytest.approx(at.t[0], abs=1e-6)
        assert found.a[entry] == pytest.approx(at.a[0], abs=1e-8)
        fat = at.v[0] - found.side[entry] * at.height[0]
        assert found.fat[entry] == pytest.approx(fat, abs=1e-7)
    assert (np.abs(found.side) <= 1.0).all()
    assert (found.side == 1.0).any()
    assert (found.side == -1.0).any()


def test_the_mirrored_body_has_the_mirrored_influence() -> None:
    muscles = random_muscles(10, seed=3, size=0.2)
    points = np.random.default_rng(6).uniform(-0.3, 0.3, (2000, 3)).astype(np.float32)
    skin = rigid_weights(2000, 0)
    left = influence(points, skin, muscles, [[0]] * 10)
    right = influence(points * np.array([-1, 1, 1], np.float32), skin, mirrored(muscles), [[0]] * 10)
    np.testing.assert_array_equal(left.muscles, right.muscles)
    np.testing.assert_array_equal(left.starts, right.starts)
    np.testing.assert_allclose(left.weights, right.weights, atol=1e-6)
    np.testing.assert_allclose(left.a, -right.a, atol=1e-8)


def test_an_arm_does_not_claim_the_flank(data: Path) -> None:
    """A muscle as wide as the chest, laid along the upper arm: it stays on the arm."""
    character = read_character(data / "human" / "male_average_cmu_mb.glb")
    body = max(character.meshes, key=lambda m: len(m.mesh.points))
    assert body.weights is not None
    skeleton = character.skeleton
    shoulder, elbow = (skeleton.bind_world[skeleton.index(n)][:3, 3] for n in ("LeftArm", "LeftForeArm"))
    length = float(np.linalg.norm(elbow - shoulder))
    along = (elbow - shoulder) / length
    out = np.cross(along, [0.0, 0.0, 1.0])
    out /= np.linalg.norm(out)
    out = -out if out[1] > 0.0 else out  # down, to where the flank is
    wide = one_muscle(
        origin=shoulder[None],
        along=along[None],
        out=out[None],
        side=np.cross(along, out)[None],
        length=np.array([length]),
        thickness=np.full((1, 2, 4), 0.5),
    )
    arm = [skeleton.index("LeftArm"), skeleton.index("LeftForeArm")]
    points = body.mesh.points
    everywhere = influence(points, body.weights, wide, [range(skeleton.joint_count)], template="half_space")
    on_arm = influence(points, body.weights, wide, [arm], template="half_space")
    joints, weights = body.weights.padded()
    share = (weights * np.isin(joints, arm)).sum(axis=1)
    claimed = np.unique(on_arm.vertices())
    assert len(claimed) > 100
    assert share[claimed].min() > 0.5
    strangers = np.unique(everywhere.vertices())
    assert (share[strangers] == 0.0).sum() > 100, "without the joints the flank would be claimed"


def test_painted_weights_take_the_place_of_those_found() -> None:
    muscles = random_muscles(6, seed=3, size=0.1)
    points = np.random.default_rng(6).uniform(-0.2, 0.2, (500, 3)).astype(np.float32)
    skin, joints = rigid_weights(500, 0), [[0]] * 6
    plain = influence(points, skin, muscles, joints, template="radial")
    paint = np.where(np.arange(500) % 3 == 0, np.linspace(0.0, 1.0, 500), 0.0)
    # joint 7 carries no skin: nothing would be found, and what is painted counts all the same
    painted = influence(points, skin, muscles, [*joints[:5], [7]], template="radial", painted={5: paint})
    of = painted.muscles == 5
    np.testing.assert_array_equal(painted.vertices()[of], np.flatnonzero(paint))
    np.testing.assert_allclose(painted.weights[of], paint[paint > 0.0], atol=1e-7)
    at = muscles.coordinates(5, points[paint > 0.0])
    np.testing.assert_allclose(painted.t[of], at.t, atol=1e-6)
    np.testing.assert_allclose(painted.a[of], at.a, atol=1e-7)
    np.testing.assert_allclose(painted.fat[of], at.v - painted.side[of] * at.height, atol=1e-7)
    # where nothing is painted the other muscles are as they were without this one
    without = influence(points, skin, muscles, [*joints[:5], [7]], template="radial")
    elsewhere = np.isin(without.vertices(), np.flatnonzero(paint == 0.0))
    others = ~of & np.isin(painted.vertices(), np.flatnonzero(paint == 0.0))
    assert elsewhere.sum() > 50
    np.testing.assert_array_equal(painted.weights[others], without.weights[elsewhere])
    assert len(plain.muscles) != len(painted.muscles)


def test_bad_paint_is_refused_naming_muscle_and_vertex() -> None:
    points, skin = patch(0.06, np.linspace(0, 0.3, 5), np.zeros(1)), rigid_weights(5, 0)
    with pytest.raises(MeshError, match=r"'biceps' have shape \(4,\), but the skin has 5 vertices"):
        influence(points, skin, MUSCLE, [[0]], painted={0: np.ones(4)}, names=["biceps"])
    for value, said in ((1.5, "1.5"), (-0.1, "-0.1"), (np.nan, "nan")):
        paint = np.ones(5)
        paint[3] = value
        with pytest.raises(MeshError, match=f"muscle 0 at vertex 3 is {said}"):
            influence(points, skin, MUSCLE, [[0]], painted={0: paint})
    with pytest.raises(EcorcheError, match="painted for muscle 1 of 1"):
        influence(points, skin, MUSCLE, [[0]], painted={1: np.ones(5)})


def test_weak_muscles_fade_out_beside_strong_ones_without_a_step() -> None:
    apart = [one_muscle(origin=np.array([[0.0, 0.0, z]])) for z in (0.0, 0.012, 0.05)]

    def weights(count: int, *muscles: Sections) -> Floats:
        z = np.linspace(-0.08, 0.14, count)
        points = np.stack([0.0 * z + 0.15, 0.0 * z + 0.05, z], axis=-1)
        joints = [[0]] * len(muscles)
        found = influence(points, rigid_weights(count, 0), together(*muscles), joints, weighting="binary")
        table = np.zeros((count, len(muscles)))
        table[found.vertices(), found.muscles] = found.weights
        return table

    fine = weights(4001, *apart)
    # each by itself keeps its weights, however small; together, only what is not weak beside the others
    whole = np.concatenate([weights(4001, muscle) for muscle in apart], axis=1)
    beside = whole / np.maximum((whole**4).sum(axis=1) ** 0.25, 1e-30)[:, None]
    u = np.clip((beside - GONE_BESIDE) / (FULL_BESIDE - GONE_BESIDE), 0.0, 1.0)
    np.testing.assert_allclose(fine, whole * u * u * (3.0 - 2.0 * u), atol=1e-6)
    assert (fine > 0.0).sum() < (whole > 0.0).sum() - 100
    coarse = weights(2001, *apart)
    assert np.abs(np.diff(fine, axis=0)).max() < 0.55 * np.abs(np.diff(coarse, axis=0)).max()


def test_fat_spreads_a_muscle_so_that_no_furrow_opens_beside_it() -> None:
    muscle = one_muscle()
    thickness = float(muscle.coordinates(0, np.array([[0.15, 0.1, 0.0]])).thickness[0])

    def weight(fat: float) -> float:
        # just beyond the border, fat above the muscle's height there
        point = np.array([[0.15, 0.0, 0.95 * thickness]])
        height = float(muscle.coordinates(0, point).height[0])
        above = point + np.array([0.0, height + fat, 0.0])
        found = influence(above, rigid_weights(1, 0), muscle, [[0]], squares=np.zeros((1, 3, 3)))
        return float(found.weights.sum())

    assert weight(0.0) == 0.0
    assert 0.0 < weight(0.2 * thickness) < weight(0.3 * thickness)
    # a thick layer does not spread it without end
    np.testing.assert_allclose(weight(2.0 * thickness), weight(thickness), rtol=1e-6)


def test_no_muscles_and_no_vertices_are_fine() -> None:
    none = together(MUSCLE)
    empty = replace(none, **{n: getattr(none, n)[:0] for n in none.__dataclass_fields__ if n != "lines"})
    found = influence(np.zeros((4, 3), np.float32), rigid_weights(4, 0), empty, [])
    assert isinstance(found, Influences)
    np.testing.assert_array_equal(found.starts, np.zeros(5))
    found = influence(np.zeros((0, 3), np.float32), rigid_weights(0, 0), MUSCLE, [[0]])
    assert found.vertex_count == 0


def test_bad_input_is_refused_in_words() -> None:
    points, skin = patch(0.06, np.linspace(0, 0.3, 5), np.zeros(1)), rigid_weights(5, 0)
    with pytest.raises(MeshError, match="5 vertices have weights"):
        influence(points[:4], skin, MUSCLE, [[0]])
    with pytest.raises(EcorcheError, match="no template 'round'"):
        influence(points, skin, MUSCLE, [[0]], template="round")  # type: ignore[arg-type]
    with pytest.raises(EcorcheError, match="lists of joints"):
        influence(points, skin, MUSCLE, [])
    with pytest.raises(EcorcheError, match=r"joint 0 is -1"):
        influence(points, skin, MUSCLE, [[-1]])
    with pytest.raises(EcorcheError, match="borders"):
        influence(points, skin, MUSCLE, [[0]], fades=Fades(ends=0.0))
    for name, value in (("length", 0.0), ("bulge", -1.0), ("bulge", np.nan), ("belly", 1.0), ("scale", 0.0)):
        with pytest.raises(EcorcheError, match=f"muscle 0: {name}"):
            one_muscle(**{name: np.array([value])})
    with pytest.raises(EcorcheError, match="shape"):
        one_muscle(sweep=np.zeros((1, 2, 4)))
