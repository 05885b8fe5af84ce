"""Muscles of the trunk: cutting surfaces, profiles against their base, and what they find on real bodies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.dog_muscles import dog_rows
from benchmarks.extraction import found as extraction_of
from benchmarks.extraction import person

from ecorche.body.character import Character
from ecorche.muscles.extraction.build import Extraction
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.cutting_surfaces import (
    CuttingSurfaces,
    fan_along,
    planes_along,
    spheres_about,
)
from ecorche.muscles.extraction.overlap import parted
from ecorche.muscles.extraction.profiles import profile_bumps, profile_ellipse, relief, smoothed
from ecorche.muscles.extraction.trunk_plan import TrunkPlan, plan_trunk
from ecorche.skeleton.naming import recognise

Floats = npt.NDArray[np.float64]

LONGEST, LEAST = 0.2, 0.005


def curve(flat: Floats, closed: bool) -> Cut:
    points = np.column_stack([flat, np.zeros(len(flat))])
    return Cut(0, 0, 0.0, np.zeros(3), np.eye(3), points, flat, closed)


def oval(a: float, b: float, share: float = 1.0, count: int = 400) -> Floats:
    """A part of an ellipse with even steps, counter-clockwise."""
    fine = np.linspace(0.0, 2.0 * np.pi * share, 20000)
    dense = np.column_stack([a * np.cos(fine), b * np.sin(fine)])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(dense, axis=0), axis=1))])
    at = np.linspace(0.0, length[-1], count, endpoint=share < 1.0)
    return np.stack([np.interp(at, length, dense[:, k]) for k in range(2)], axis=1)


def bulged(flat: Floats, at: float, width: float, height: float) -> Floats:
    """A curve about the origin with a smooth bump at an angle, so wide [rad] and high [m]."""
    angle = np.arctan2(flat[:, 1], flat[:, 0])
    away = np.abs((angle - at + np.pi) % (2.0 * np.pi) - np.pi) / width
    bell = np.where(away < 1.0, np.cos(0.5 * np.pi * np.minimum(away, 1.0)) ** 2, 0.0)
    radius = np.linalg.norm(flat, axis=1)
    return np.asarray(flat * (1.0 + height * bell / radius)[:, None])


def families() -> list[CuttingSurfaces]:
    one, two, three = np.array([0.1, 1.5, 0.0]), np.array([0.0, 1.4, 0.1]), np.array([0.3, 1.3, -0.1])
    fan = fan_along(one, two, three, 0.08)
    assert fan is not None
    return [planes_along(one, two, three), spheres_about(one, two - one, three), fan]


@pytest.mark.parametrize("number", range(3))
def test_a_value_rises_by_one_metre_a_metre_along_its_upward_direction(number: int) -> None:
    surfaces = families()[number]
    points = np.array([0.1, 1.4, 0.0]) + 0.3 * np.random.default_rng(1).normal(size=(500, 3))
    if number == 2:  # not on the far side of the hinge, where planes meet
        points = points[surfaces.beside(points) > 0.02]  # type: ignore[attr-defined]
    step = 1e-6
    upward = surfaces.upward(points)
    slope = (surfaces.values(points + step * upward) - surfaces.values(points - step * upward)) / (2.0 * step)
    away = np.ones(len(points))
    if number == 2:  # planes fan out: at the way they are as far apart as along it
        fan = surfaces
        out, on = (points - fan.hinge) @ fan.start, (points - fan.hinge) @ fan.along  # type: ignore[attr-defined]
        angle = np.arctan2(on, out)
        bent = (angle > 1e-3) & (angle < fan.turn - 1e-3)  # type: ignore[attr-defined]
        away = np.where(bent, fan.radius / np.hypot(out, on), 1.0)  # type: ignore[attr-defined]
        edge = (np.abs(angle) < 1e-3) | (np.abs(angle - fan.turn) < 1e-3)  # type: ignore[attr-defined]
        slope, away = slope[~edge], away[~edge]
    np.testing.assert_allclose(slope, away, rtol=1e-6)


@pytest.mark.parametrize("number", range(3))
def test_the_place_of_a_level_lies_on_it_with_a_right_handed_frame(number: int) -> None:
    surfaces = families()[number]
    for level in (0.03, 0.06, 0.1, 0.2):
        origin, frame = surfaces.place(level)
        assert surfaces.values(origin[None])[0] == pytest.approx(level, abs=1e-12)
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(frame) > 0.0
        np.testing.assert_allclose(surfaces.upward(origin[None])[0], frame[2], atol=1e-9)
        np.testing.assert_allclose(surfaces.flat(origin[None], level)[0], 0.0, atol=1e-9)


def test_unrolled_planes_and_fans_keep_distances_and_spheres_those_from_their_pole() -> None:
    rng = np.random.default_rng(2)
    for number, surfaces in enumerate(families()):
        level = 0.06
        origin, frame = surfaces.place(level)
        if number == 1:
            centre = origin - level * frame[2]
            way = frame[2] + 0.5 * rng.normal(size=(50, 3))
            points = centre + level * way / np.linalg.norm(way, axis=1)[:, None]
            arc = level * np.arccos(np.clip((points - centre) @ frame[2] / level, -1.0, 1.0))
            np.testing.assert_allclose(np.linalg.norm(surfaces.flat(points, level), axis=1), arc, atol=1e-9)
        else:
            flat = 0.1 * rng.normal(size=(50, 2))
            points = origin + flat @ frame[:2]
            np.testing.assert_allclose(surfaces.flat(points, level), flat, atol=1e-12)


def test_a_fan_before_and_after_its_bend_is_planes() -> None:
    before, corner, after = np.array([0.0, 1.0, 0.0]), np.zeros(3), np.array([1.0, 0.0, 0.0])
    fan = fan_along(before, corner, after, 0.1)
    assert fan is not None
    np.testing.assert_allclose(fan.hinge, [0.1, 0.1, 0.0], atol=1e-12)
    assert fan.values(np.array([[0.0, 0.5, 0.3]]))[0] == pytest.approx(-0.4)
    assert fan.values(np.array([[0.6, 0.0, 0.3]]))[0] == pytest.approx(0.1 * np.pi / 2 + 0.5)
    assert fan_along(before, corner, -before, 0.1) is None


@pytest.mark.parametrize("closed", [False, True])
def test_smoothing_leaves_lines_and_halves_waves_of_its_length(closed: bool) -> None:
    count = 400
    at = np.arange(count, dtype=np.float64)
    if not closed:
        line = np.column_stack([at, 3.0 - 0.01 * at])
        np.testing.assert_allclose(smoothed(line, 60.0, False), line, rtol=1e-9, atol=1e-9)
    wave = np.sin(2.0 * np.pi * at / 40.0)[:, None]
    smooth = smoothed(wave, 40.0, closed)
    np.testing.assert_allclose(smooth[120:280], 0.5 * wave[120:280], atol=5e-3)


@pytest.mark.parametrize(
    ("a", "b", "share"), [(0.15, 0.15, 1.0), (0.16, 0.12, 1.0), (0.15, 0.15, 0.5), (0.16, 0.12, 0.5)]
)
def test_a_smooth_body_has_no_bump(a: float, b: float, share: float) -> None:
    assert profile_bumps(curve(oval(a, b, share), share == 1.0), 0, LONGEST, LEAST) == []


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_a_bump_is_found_where_it_is_with_most_of_its_height(share: float) -> None:
    flat = bulged(oval(0.16, 0.12, share), 1.8, 0.45, 0.012)
    found = profile_bumps(curve(flat, share == 1.0), 3, LONGEST, LEAST)
    assert len(found) == 1
    bump = found[0]
    top = flat[bump.top % len(flat)]
    assert bump.cut == 3
    assert bump.prominence == pytest.approx(0.012, rel=0.3)
    assert abs(np.arctan2(top[1], top[0]) - 1.8) < 0.1
    assert bump.weights[bump.top - bump.first] == 1.0
    assert len(bump.weights) == bump.last - bump.first + 1


def test_two_bumps_with_a_furrow_between_are_two_and_a_shallow_furrow_does_not_part_them() -> None:
    round_ = oval(0.14, 0.14)
    two = bulged(bulged(round_, 1.2, 0.4, 0.012), 2.0, 0.4, 0.012)
    assert len(profile_bumps(curve(two, True), 0, LONGEST, LEAST)) == 2
    one = bulged(bulged(round_, 1.5, 0.4, 0.006), 1.7, 0.4, 0.006)
    assert len(profile_bumps(curve(one, True), 0, LONGEST, LEAST)) == 1


def test_where_a_closed_curve_begins_does_not_matter() -> None:
    flat = bulged(bulged(oval(0.15, 0.13), 0.1, 0.4, 0.012), 2.5, 0.4, 0.015)
    tops = []
    for shift in (0, 17, 200, 399):
        rolled = np.roll(flat, shift, axis=0)
        bumps = profile_bumps(curve(rolled, True), 0, LONGEST, LEAST)
        tops.append(sorted(round(float(rolled[b.top % 400][0]), 9) for b in bumps))
        assert all(0 <= b.first < 400 and b.first < b.top < b.last for b in bumps)
    assert tops[0] == tops[1] == tops[2] == tops[3]
    assert len(tops[0]) == 2


def test_the_ellipse_of_a_bump_follows_its_top_and_keeps_its_depth() -> None:
    flat = bulged(oval(0.14, 0.14), 1.5, 0.5, 0.015)
    cut = curve(flat, True)
    (bump,) = profile_bumps(cut, 0, LONGEST, LEAST)
    for deepest in (0.005, 0.03):
        ellipse = profile_ellipse(cut, bump, deepest)
        centre, half_axes, angle = ellipse.centre, ellipse.half_axes, ellipse.angle
        assert half_axes[1] <= max(deepest, 0.1 * half_axes[0]) + 1e-12
        outward = np.array([np.sin(angle), -np.cos(angle)])
        top = flat[bump.top % len(flat)]
        # under the top, and drawn in by half its depth at most
        assert -1.5 * half_axes[1] - 1e-9 <= (centre - top) @ outward <= -half_axes[1] + 1e-9
        assert abs((centre - top) @ [np.cos(angle), np.sin(angle)]) < 0.5 * half_axes[0]
        assert abs(np.linalg.norm(centre)) < np.linalg.norm(top)


def test_a_bump_stands_out_and_a_dent_does_not() -> None:
    round_ = oval(0.15, 0.15)
    for height, found in ((0.02, 1), (-0.02, 0)):
        flat = bulged(round_, 1.0, 0.3, height)
        bumps = profile_bumps(curve(flat, True), 0, LONGEST, LEAST)
        tops = [float(np.arctan2(*flat[b.top % len(flat)][::-1])) for b in bumps]
        assert sum(abs(t - 1.0) < 0.1 for t in tops) == found
    assert np.abs(relief(curve(round_, True), LONGEST)).max() < 1e-4


def test_of_two_groups_the_one_that_crosses_a_muscle_squarely_keeps_it() -> None:
    ridge = np.column_stack([np.zeros(20), np.linspace(0.0, 0.19, 20), np.zeros(20)])

    def cuts_with_normal(normal: Floats, region: int) -> tuple[list[Cut], list[Bump]]:
        aside = np.array([1.0, 0.0, 0.0])
        frame = np.stack([aside, np.cross(normal, aside), normal])
        across = np.linspace(-0.03, 0.03, 13)[:, None] * aside
        cuts = [
            Cut(region, n, n / 19.0, p, frame, p + across, across[:, :2], False) for n, p in enumerate(ridge)
        ]
        return cuts, [Bump(n, 0, 12, 6, 0.01, np.ones(13)) for n in range(20)]

    square, bumps = cuts_with_normal(np.array([0.0, 1.0, 0.0]), 0)
    slant, others = cuts_with_normal(np.array([0.0, 0.6, 0.8]), 1)
    both = [*bumps, *(Bump(20 + b.cut, 0, 12, 6, b.prominence, b.weights) for b in others)]
    tracks = [range(20, 40), range(20)]
    assert parted(tracks, both, [*square, *slant]) == ([(), tuple(range(20))], {0: 1})
    assert parted(tracks, both, [*square, *slant], (1, -1))[1] == {}  # left and right of the middle
    assert parted(tracks, both, [*square, *slant], (1, 0))[1] == {0: 1}
    far = [Cut(1, c.rank, c.along, c.origin, c.frame, c.points + 0.2, c.flat, False) for c in slant]
    assert parted(tracks, both, [*square, *far]) == ([tuple(range(20, 40)), tuple(range(20))], {})
    up = np.array([0.0, 0.09, 0.0])
    on = [Cut(1, c.rank, c.along, c.origin, c.frame, c.points + up, c.flat, False) for c in slant]
    kept, lost = parted(tracks, both, [*square, *on])  # nine sections go on where the other ends
    assert lost == {0: 1}
    assert kept == [tuple(range(31, 40)), tuple(range(20))]


@dataclass(frozen=True)
class Found:
    """What was found on a character."""

    character: Character
    plan: TrunkPlan
    extraction: Extraction

    def tops(self, number: int) -> Floats:
        """Where a muscle stands out most in each of its sections [m], (n, 3)."""
        cuts, bumps = self.extraction.cuts, self.extraction.bumps
        own = [bumps[b] for b in self.extraction.tracks[number].bumps]
        return np.stack([cuts[b.cut].points[b.top % len(cuts[b.cut].points)] for b in own])

    def middles(self, muscle: str) -> dict[str, Floats]:
        """The middle of each side's strongest muscle of that name [m]."""
        best: dict[str, tuple[float, Floats]] = {}
        for n, found in enumerate(self.extraction.muscles):
            middle = self.tops(n).mean(axis=0)
            side = "left" if (middle - self.plan.start) @ self.plan.left > 0.0 else "right"
            strength = self.extraction.tracks[n].prominence
            if found.muscle == muscle and strength > best.get(side, (0.0, middle))[0]:
                best[side] = strength, middle
        return {side: middle for side, (_, middle) in best.items()}


@lru_cache(maxsize=8)
def found_on(path: Path) -> Found:
    character = person(path)
    body = character.body()
    assert body.weights is not None
    joints, weights = body.weights.padded()
    points = body.mesh.points.astype(np.float64)
    dominant = joints[np.arange(len(joints)), weights.argmax(axis=1)].astype(np.int64)
    plan = plan_trunk(character.skeleton, recognise(character.skeleton), points, dominant)
    assert isinstance(plan, TrunkPlan)
    return Found(character, plan, extraction_of(path))


@pytest.mark.parametrize(
    "muscle", ["pectoralis major", "deltoid", "trapezius", "rectus abdominis", "sternocleidomastoid"]
)
def test_found_on_both_sides_of_the_muscular_man_at_one_height(data: Path, muscle: str) -> None:
    sides = found_on(data / "human" / "male_muscular_cmu_mb.glb").middles(muscle)
    assert set(sides) == {"left", "right"}
    assert abs(sides["left"][1] - sides["right"][1]) < 0.02
    assert np.linalg.norm(sides["left"] * [-1.0, 1.0, 1.0] - sides["right"]) < 0.02


def test_pectoral_and_deltoid_lie_where_an_anatomist_looks_for_them(data: Path) -> None:
    man = found_on(data / "human" / "male_muscular_cmu_mb.glb")
    shoulder = man.character.skeleton.bind_world[man.character.skeleton.index("LeftArm"), :3, 3]
    pectoral, deltoid = man.middles("pectoralis major")["left"], man.middles("deltoid")["left"]
    assert pectoral[2] > shoulder[2] + 0.05  # in front of the shoulder,
    assert 0.03 < pectoral[0] < shoulder[0]  # between it and the breastbone,
    assert shoulder[1] - 0.2 < pectoral[1] < shoulder[1]  # below it
    assert deltoid[0] > shoulder[0] + 0.03  # outside the shoulder
    assert abs(deltoid[1] - shoulder[1]) < 0.1
    moved = {m.muscle: m.joints for m in man.extraction.muscles if m.name.endswith("left")}
    for muscle in ("pectoralis major", "deltoid"):  # from the trunk to the upper arm
        assert man.character.skeleton.index("LeftArm") in moved[muscle]
        assert len(set(moved[muscle])) == 2


def test_the_slim_man_has_at_most_half_as_many_muscles(data: Path) -> None:
    muscular = found_on(data / "human" / "male_muscular_cmu_mb.glb").extraction
    slim = found_on(data / "human" / "male_slim_cmu_mb.glb").extraction
    assert len(slim.muscles) <= len(muscular.muscles) // 2


def test_the_dog_has_masses_at_neck_upper_arm_and_thigh(data: Path) -> None:
    """Each broad and long, standing out by most of a centimetre, beside its joints and from bone to bone."""
    dog = found_on(data / "dog" / "dog.xml")
    found = {m.name: n for n, m in enumerate(dog.extraction.muscles)}
    skeleton = dog.character.skeleton
    for side, letter in (("left", "L"), ("right", "R")):
        for part, bones, near in (
            ("neck to shoulder side", ("skull", f"scapula_{letter}"), {"C_4": 0.07}),
            (
                "shoulder cap front",
                (f"scapula_{letter}", f"upper_arm_{letter}"),
                {f"upper_arm_{letter}": 0.065},
            ),
            (
                "hip cap side",
                ("pelvis", f"upper_leg_{letter}"),
                {f"upper_leg_{letter}": 0.05, f"lower_leg_{letter}": 0.05},  # from hip to stifle
            ),
        ):
            n = found[f"{part}, {side}"]
            muscle, tops = dog.extraction.muscles[n], dog.tops(n)
            assert tuple(skeleton.names[j] for j in muscle.joints) == bones
            assert dog.extraction.tracks[n].prominence > 0.0075
            assert np.linalg.norm(tops[-1] - tops[0]) > 0.07
            assert muscle.rings.half_axes.max() > 0.03
            for joint, most in near.items():
                place = skeleton.bind_world[skeleton.index(joint), :3, 3]
                assert np.linalg.norm(tops - place, axis=1).min() < most, (side, part, joint)


@pytest.mark.parametrize("name", ["horse-animations.glb", "human-male.glb"])
def test_other_peoples_rigs_run_and_what_is_left_out_has_a_reason(data: Path, name: str) -> None:
    found = found_on(data / "mesh2motion" / name).extraction
    assert any("neck" in m.name or "shoulder" in m.name for m in found.muscles)
    assert all(region and len(reason) > 10 for region, reason in found.left_out)


@pytest.mark.parametrize("name", ["dog/dog.xml", "mesh2motion/horse-animations.glb"])
def test_creatures_have_as_many_muscles_on_both_sides(data: Path, name: str) -> None:
    names = [m.name for m in found_on(data / name).extraction.muscles]
    mirror = {"left": "right", "right": "left", "_L": "_R", "_R": "_L", "_l": "_r", "_r": "_l"}
    mirrored = [re.sub(r"left$|right$|_[LRlr]\b", lambda side: mirror[side[0]], n) for n in names]
    assert sorted(mirrored) == sorted(names)
    assert all(a != b for a, b in zip(names, mirrored, strict=True))


def test_every_muscle_of_the_trunk_is_whole(data: Path) -> None:
    for name in ("human/male_muscular_cmu_mb.glb", "dog/dog.xml"):
        found = found_on(data / name)
        size = float(np.linalg.norm(found.plan.end - found.plan.start))
        for muscle in found.extraction.muscles:
            rings = muscle.rings
            assert len(rings.u) >= 3, muscle.name
            assert (np.diff(rings.u) > 0.0).all(), muscle.name
            assert 0.0 < rings.u[0] < rings.u[-1] < 1.0, muscle.name
            assert (rings.half_axes > 0.0).all(), muscle.name
            assert (rings.half_axes < 0.5 * size).all(), muscle.name
            assert muscle.joints[0] != muscle.joints[1], muscle.name


def test_the_dogs_large_muscles_of_neck_and_upper_arm_are_covered(data: Path) -> None:
    rows = {row.muscle: row for row in dog_rows(data / "dog")}
    for muscle, least, part in (
        ("brachiocephalicus", 0.4, "neck"),
        ("sternocephalicus", 0.6, "neck"),
        ("triceps brachii lateral", 0.3, "shoulder"),
    ):
        assert rows[muscle].covered > least
        assert rows[muscle].by[0][0].startswith(part)
