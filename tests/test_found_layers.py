"""Pictures of muscles found in the skin: their sections, ellipses, surfaces, and two skins in one place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.muscle_people import PEOPLE
from PIL import Image

from characters import tube
from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.body.frames import Frame, MemoryFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.body.take import Take
from ecorche.errors import EcorcheError
from ecorche.muscles.loft_frames import bind_axes
from ecorche.render.colour_bar import activation_bar
from ecorche.render.layer_sheet import render_layers
from ecorche.render.layers import Layers
from ecorche.render.muscle_colours import NO_MUSCLE, muscle_colours
from ecorche.render.section_lines import SMOOTH_SKIN, THICKNESS, SectionLines, section_colours
from ecorche.render.superimposed import ALIKE, PLAIN, WITH_MUSCLES, two_colours
from ecorche.render.tissue_colours import TissueColours
from ecorche.render.tubes import SIDES, Tubes
from extracted_people import both_skins, extracted, found_in, hybrid_body

Floats = npt.NDArray[np.float64]


def _man(data: Path) -> Path:
    return data / "human" / f"{PEOPLE['muscular man']}.glb"


def _take(data: Path) -> Take:
    frames = both_skins(_man(data), data, "curl")[0]
    return Take(frames.body.character, frames.motion, frames)


def test_tubes_have_their_radius_everywhere_and_closed_ones_no_end() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), 0.2 * np.sin(2.0 * angle)], axis=1)
    line = np.column_stack([np.linspace(2.0, 4.0, 15), np.zeros(15), np.linspace(0.0, 1.0, 15)])
    tubes = Tubes([40, 15], [True, False])
    points = tubes.points(np.concatenate([ring, line]), 0.01).astype(np.float64)
    assert len(points) == tubes.vertex_count == 55 * SIDES
    away = np.linalg.norm(points.reshape(55, SIDES, 3) - np.concatenate([ring, line])[:, None], axis=2)
    np.testing.assert_allclose(away, 0.01, atol=1e-6)
    closed = tubes.triangles[(tubes.triangles < 40 * SIDES).all(axis=1)]
    edges = np.sort(np.concatenate([closed[:, [0, 1]], closed[:, [1, 2]], closed[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()  # every edge has two sides
    # no ring is twisted against the next: triangles are about as large as a round tube's
    area = igl.doublearea(points[: 40 * SIDES], closed.astype(np.int64)).sum() / 2.0
    length = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1).sum()
    assert area == pytest.approx(length * 2.0 * np.pi * 0.01, rel=0.1)


def test_sections_lie_on_the_skin_in_every_pose(data: Path) -> None:
    frames = both_skins(_man(data), data, "curl")[0]
    lofts = hybrid_body(_man(data)).lofts
    assert lofts is not None
    mesh = frames.body.character.meshes[lofts.skin].mesh
    lines = SectionLines(found_in(_man(data)), lofts.lofts.muscles, mesh.points, mesh.triangles())
    radius = THICKNESS * float(np.ptp(mesh.points, axis=0).max())
    for skin in (mesh.points, frames[48].points[lofts.skin]):
        points = lines.points(skin).astype(np.float64)
        squared = igl.point_mesh_squared_distance(
            points[::7], skin.astype(np.float64), mesh.triangles().astype(np.int64)
        )[0]
        assert np.sqrt(squared).max() < 1.02 * radius + 1e-5


def test_bumps_have_their_muscles_colour_and_what_was_dropped_is_pale(data: Path) -> None:
    found, lofts = found_in(_man(data)), hybrid_body(_man(data)).lofts
    assert lofts is not None
    shown = lofts.lofts.muscles
    colours = section_colours(found, shown)
    starts = np.concatenate([[0], np.cumsum([len(cut.points) for cut in found.cuts])])
    own = muscle_colours([m.muscle for m in shown])
    tops = {}
    for number, bump in enumerate(found.bumps):
        tops[number] = colours[starts[bump.cut] + bump.top % len(found.cuts[bump.cut].points)]
    kept: set[int] = set()
    for muscle, track in zip(found.muscles, found.tracks, strict=True):
        number = [m.name for m in shown].index(muscle.name)
        kept.update(track.bumps)
        agree = [bool((tops[b] == own[number]).all()) for b in track.bumps]
        assert np.mean(agree) > 0.9  # two bumps of one section may share a point
    dropped = [n for n in tops if n not in kept]
    assert dropped
    assert all(tuple(tops[n]) != SMOOTH_SKIN for n in dropped)
    # a muscle taken out of the rig leaves its bumps behind, pale
    without = section_colours(found, shown[1:])
    gone = found.tracks[[m.name for m in found.muscles].index(shown[0].name)].bumps
    bump = found.bumps[gone[len(gone) // 2]]
    assert tuple(without[starts[bump.cut] + bump.top % len(found.cuts[bump.cut].points)]) == NO_MUSCLE


def test_both_sides_have_one_colour_and_others_another() -> None:
    colours = muscle_colours(["biceps, left", "triceps, left", "biceps, right", "arm_L front", "arm_R front"])
    assert (colours[0] == colours[2]).all()
    assert (colours[3] == colours[4]).all()
    assert len(np.unique(colours, axis=0)) == 3


def test_ellipses_are_the_rings_of_the_muscles_at_bind(data: Path) -> None:
    character, rig = extracted(_man(data))
    look = Layers(perform(character, rig=rig).take).layer("ellipses").look(0)
    assert look.muscles is not None
    lofts = hybrid_body(_man(data)).lofts
    assert lofts is not None
    drawn = look.muscles.astype(np.float64).reshape(-1, SIDES, 3).mean(axis=1)  # back to the lines
    first = 0
    for muscle in lofts.lofts.muscles:
        rings, axes = muscle.rings, bind_axes(muscle, muscle.rings.u)
        for number in range(len(rings.u)):
            line = drawn[first : first + 40] - axes.points[number]
            first += 40
            np.testing.assert_allclose(line @ axes.along[number], 0.0, atol=1e-5)
            x, y = line @ axes.out[number], line @ axes.side[number]
            cosine, sine = np.cos(rings.angle[number]), np.sin(rings.angle[number])
            x, y = x - rings.centre[number, 0], y - rings.centre[number, 1]
            a, b = rings.half_axes[number]
            on_circle = np.hypot((cosine * x + sine * y) / a, (cosine * y - sine * x) / b)
            np.testing.assert_allclose(on_circle, 1.0, atol=2e-3)
        first += 48  # the root curve
    assert first == len(drawn)


def test_muscles_of_both_kinds_are_shown_together(data: Path, tmp_path: Path) -> None:
    path = _man(data)
    character, found = extracted(path)
    both = create_rig(character, path, tmp_path / "man.ecorche")
    muscles = both.spec.muscles.model_copy(update={"lofted": found.spec.muscles.lofted})
    both = replace(both, spec=both.spec.model_copy(update={"muscles": muscles}))
    take = perform(character, rig=both).take
    layers = Layers(take, found=lambda: found_in(path))
    assert layers.names[-2:] == ("sections", "ellipses")
    body = take.frames.body  # type: ignore[union-attr]
    assert body.muscles is not None
    assert body.lofts is not None
    spindles, lofts = EcorcheSurfaces(body.muscles.musculature), EcorcheSurfaces(None, body.lofts.lofts)
    shapes = EcorcheSurfaces(body.muscles.musculature, body.lofts.lofts)
    assert shapes.vertex_count == spindles.vertex_count + lofts.vertex_count
    still = np.zeros((character.skeleton.joint_count, 4, 4))
    first, second = len(body.muscles.musculature.muscles), len(body.lofts.lofts.muscles)
    points = shapes.points(still, np.ones(first + second))
    assert (points[: spindles.vertex_count] == spindles.points(still, np.ones(first))).all()
    assert (points[spindles.vertex_count :] == lofts.points(still, np.ones(second))).all()
    # the last muscle alone is active, and coloured so
    active = np.zeros(first + second)
    active[-1] = 1.0
    coloured = TissueColours(shapes).activation(active).astype(int)
    full = activation_bar().colours([1.0])[0].astype(int)
    bright = np.flatnonzero(np.abs(coloured - full).max(axis=1) <= 1)
    assert len(bright) > 100
    assert bright.min() >= spindles.vertex_count
    look = layers.layer("muscles", colouring="activation").look(0)
    assert look.muscles is not None
    assert len(look.muscles) == shapes.vertex_count


def test_two_skins_are_grey_where_alike_and_coloured_where_apart() -> None:
    plain, muscled = two_colours(np.array([0.0, 0.1, -5.0, 5.0]), 1.75)
    np.testing.assert_array_equal(plain[:2], np.tile(ALIKE, (2, 1)))
    np.testing.assert_array_equal(muscled[:2], np.tile(ALIKE, (2, 1)))
    np.testing.assert_array_equal(plain[2:], np.tile(PLAIN, (2, 1)))
    np.testing.assert_array_equal(muscled[2:], np.tile(WITH_MUSCLES, (2, 1)))


@pytest.mark.parametrize(("millimetres", "on_top"), [(4.0, WITH_MUSCLES), (-4.0, PLAIN), (0.0, ALIKE)])
def test_the_outer_of_two_skins_is_seen(tmp_path: Path, millimetres: float, on_top: Floats) -> None:
    character = tube(rings=33, around=32)
    points = character.meshes[0].mesh.points
    outward = points * np.array([1.0, 0.0, 1.0], np.float32)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    pushed = (points + np.float32(0.001 * millimetres) * outward).astype(np.float32)
    plain, result = (
        Take(character, None, MemoryFrames([Frame(0.0, (p,), (outward,))])) for p in (points, pushed)
    )
    path = tmp_path / "both.png"
    render_layers(path, Layers(result, plain), layers=("superimposed",), views=("front",), size=(72, 144))
    with Image.open(path) as image:
        seen = np.asarray(image.convert("RGB")).astype(np.float64)[60:90, 32:40].mean(axis=(0, 1))
    # light changes how bright it is, not its hue
    np.testing.assert_allclose(seen / seen.sum(), on_top / on_top.sum(), atol=0.03)


def test_sections_and_ellipses_are_drawn_and_the_same_each_time(data: Path, tmp_path: Path) -> None:
    layers = Layers(_take(data), found=lambda: found_in(_man(data)))
    for name in ("a.png", "b.png"):
        render_layers(
            tmp_path / name,
            layers,
            layers=("sections", "ellipses"),
            views=("front",),
            frame=48,
            size=(90, 150),
            colouring="muscle",
        )
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    with Image.open(tmp_path / "a.png") as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert (np.ptp(pixels[:150, :90], axis=-1) > 90).sum() > 20  # colours that neither skin nor sky have


def test_a_body_whose_muscles_were_not_found_in_its_skin_has_no_sections(data: Path, tmp_path: Path) -> None:
    path = _man(data)
    character = extracted(path)[0]
    template = perform(character, rig=create_rig(character, path, tmp_path / "man.ecorche")).take
    for layers in (Layers(template), Layers(template, found=lambda: found_in(path))):
        assert not {"sections", "ellipses"} & set(layers.names)
        with pytest.raises(EcorcheError, match="without muscles that were found in its skin"):
            layers.layer("sections")
    assert "sections" not in Layers(_take(data)).names  # nobody says what they were found by
