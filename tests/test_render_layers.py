"""Pictures of muscles: what each layer shows, in which colours, from where; and requests that must fail."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageSequence

from belly_muscle import belly_muscle
from characters import bending, tube
from conftest import ROOT
from ecorche.body.compile import compile_body
from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.body.frames import Frame, MemoryFrames
from ecorche.body.live_frames import LiveFrames
from ecorche.body.muscles import BodyMuscles
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.body.take import Take
from ecorche.cli import main as cli
from ecorche.document.files import write_rig
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_character
from ecorche.io.keyframes import read_keyframes
from ecorche.muscles.activation import Constant
from ecorche.muscles.musculature import musculature
from ecorche.render.camera import direction, facing
from ecorche.render.colour_bar import ColourBar, activation_bar, displacement_bar
from ecorche.render.focus import Focus, find_part
from ecorche.render.layer_sheet import render_layers
from ecorche.render.layers import Layers
from ecorche.render.pictures import render_picture
from ecorche.render.sheet import GAP, caption_height, text_font
from ecorche.render.tissue_colours import TissueColours
from ecorche.render.under_skin import FACING_OPACITY, OUTLINE_OPACITY, skin_opacity
from ecorche.skin.flesh_weights import SkinRound
from ecorche.skin.influence import influence
from ecorche.skin.sliding import SlidingSkin

Pixels = npt.NDArray[np.int64]

SMALL = (72, 144)
ONE = {"views": ("front",), "size": SMALL}
BELLY = (72, 36)
"""Row and column of the muscle's belly in a small picture from the front: the middle of the tube."""
FAR = (130, 36)
"""Skin below the muscle."""


@cache
def _muscled(activation: float = 1.0, frames: int = 1) -> Take:
    """A tube along +Y that bends, with one muscle below its front, +Z."""
    character = tube(rings=33, around=32)
    joined = musculature([belly_muscle()], character.skeleton)
    skin = character.meshes[0]
    assert skin.weights is not None
    still = joined.sections(np.zeros((2, 4, 4)))
    found = influence(skin.mesh.points, skin.weights, still, [(0, 1)])
    muscles = BodyMuscles(
        musculature=joined,
        skin=0,
        influences=found,
        sliding=SlidingSkin(skin.mesh.points, still, found),
        gains=np.ones(1),
        garments=(None,),
        skin_round=SkinRound(skin.mesh.points, skin.mesh.triangles(), skin.weights),
    )
    motion = bending(character, frames=max(frames, 2), angle=0.5).part(0, frames - 1)
    body = replace(compile_body(character), muscles=muscles, activation=Constant([activation]))
    return Take(character, motion, LiveFrames(body, motion))


def _shifted(millimetres: float) -> Layers:
    """A tube pushed outwards everywhere, and the plain one."""
    character = tube(rings=33, around=32)
    points = character.meshes[0].mesh.points
    outward = points * np.array([1.0, 0.0, 1.0], np.float32)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    plain = Take(character, None, MemoryFrames([Frame(0.0, (points,), (outward,))]))
    pushed = (points + np.float32(0.001 * millimetres) * outward).astype(np.float32)
    return Layers(Take(character, None, MemoryFrames([Frame(0.0, (pushed,), (outward,))])), plain)


def _drawn(path: Path, subjects: Any, **options: Any) -> Pixels:
    render_layers(path, subjects, **{**ONE, **options})
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(np.int64)


def test_difference_of_equal_takes_is_one_grey(tmp_path: Path) -> None:
    take = _muscled()
    layers = Layers(take, take)
    assert layers.greatest([0]) == 0.0
    picture = _drawn(tmp_path / "a.png", layers, layers=("difference",))
    tube_pixels = picture[20:130, 28:44]
    assert np.ptp(tube_pixels, axis=-1).max() <= 2  # no colour anywhere
    muscled = _drawn(tmp_path / "b.png", take, layers=("difference",))
    assert np.ptp(muscled[20:130, 28:44], axis=-1).max() > 60


def test_difference_is_red_where_the_muscle_pushes_and_nowhere_else(tmp_path: Path) -> None:
    take = _muscled()
    front = _drawn(tmp_path / "a.png", take, layers=("difference",))
    red, _, blue = front[BELLY]
    assert red > 1.5 * blue
    assert np.ptp(front[FAR]) <= 2
    back = _drawn(tmp_path / "b.png", take, layers=("difference",), views=("back",))
    assert np.ptp(back[20:130, 30:42], axis=-1).max() <= 2


@pytest.mark.parametrize("millimetres", [-6.0, -2.0, 3.0, 6.0])
def test_displacement_is_outward_in_millimetres_and_has_the_bars_colour(
    tmp_path: Path, millimetres: float
) -> None:
    layers = _shifted(millimetres)
    np.testing.assert_allclose(layers.displacements(0)[0], millimetres, atol=1e-3)
    picture = _drawn(tmp_path / "a.png", layers, layers=("difference",), scale=8.0).astype(np.float64)
    shown, meant = picture[BELLY], displacement_bar(0.0, 8.0).colours(millimetres).astype(np.float64)
    # light makes it brighter or darker, and leaves the hue
    np.testing.assert_allclose(shown / shown.max(), meant / meant.max(), atol=0.06)
    assert 0.75 < shown.max() / meant.max() < 1.15


def test_differences_of_a_sheet_share_one_scale(tmp_path: Path) -> None:
    alone = _drawn(tmp_path / "a.png", _shifted(2.0), layers=("difference",))
    both = _drawn(tmp_path / "b.png", {"a": _shifted(2.0), "b": _shifted(10.0)}, layers=("difference",))

    def redness(pixel: Pixels) -> int:
        return int(pixel[0] - pixel[2])

    beside = (BELLY[0], BELLY[1] + SMALL[0] + GAP)
    assert redness(both[BELLY]) < 0.5 * redness(alone[BELLY])
    assert redness(both[beside]) > 1.5 * redness(both[BELLY])


def test_muscles_are_red_under_the_skin_with_pale_tendons(tmp_path: Path) -> None:
    take = _muscled()
    skin = _drawn(tmp_path / "a.png", take, layers=("result",))
    inside = _drawn(tmp_path / "b.png", take, layers=("muscles",))

    def redness(picture: Pixels, place: tuple[int, int]) -> float:
        return float(picture[place][0] / picture[place][1:].mean())

    assert redness(inside, BELLY) > 1.25 * redness(skin, BELLY)
    assert redness(inside, FAR) < 1.1 * redness(skin, FAR)  # no muscle there: the inside of the skin
    assert inside[BELLY].tolist() != inside[FAR].tolist()
    outline = np.abs(skin - inside).max(axis=-1)
    assert outline[:, :20].max() <= 2  # beside the tube nothing changed


def test_tendons_are_paler_than_the_belly() -> None:
    take = _muscled()
    assert isinstance(take.frames, LiveFrames)
    assert take.frames.body.muscles is not None
    shapes = EcorcheSurfaces(take.frames.body.muscles.musculature)
    height = shapes.points(np.zeros((2, 4, 4)), np.ones(1))[:, 1]
    colours = TissueColours(shapes).tissue().astype(np.int64)
    belly, ends = np.abs(height - 0.5) < 0.1, np.abs(height - 0.5) > 0.29
    assert colours[ends][:, 1:].min() > colours[belly][:, 1:].max() + 100
    full = TissueColours(shapes).activation(np.ones(1)).astype(np.int64)
    np.testing.assert_array_equal(full[belly], np.tile(activation_bar().colours(1.0), (belly.sum(), 1)))
    np.testing.assert_array_equal(full[ends].max(axis=0), colours[ends].max(axis=0))


def test_skin_is_thin_where_it_faces_the_camera_and_thick_at_its_outline() -> None:
    normals = np.array([[0, 0, 1], [0, 0, 1.000001], [0, 0.6, 0.8], [0, 1, 0]], np.float32)
    share = skin_opacity(np.zeros((4, 3), np.float32), normals, np.array([0.0, 0.0, 5.0]))
    np.testing.assert_allclose(share[[0, 1, 3]], [FACING_OPACITY, FACING_OPACITY, OUTLINE_OPACITY])
    assert share[0] < share[2] < share[3]


def test_muscles_are_coloured_by_activation(tmp_path: Path) -> None:
    at_rest, active = (
        _drawn(tmp_path / "a.png", _muscled(a), layers=("muscles",), colouring="activation")[BELLY]
        for a in (0.0, 1.0)
    )
    assert active[0] > active[2] + 60  # warm
    assert at_rest[2] >= at_rest[0] - 12  # cool
    assert active.sum() > at_rest.sum() + 80


def _side_by_side(sheet: Pixels) -> tuple[Pixels, Pixels]:
    """Two pictures in a row, without their captions."""
    return sheet[: SMALL[1], : SMALL[0]], sheet[: SMALL[1], SMALL[0] + GAP :]


def test_layers_of_one_take_are_seen_from_one_place(tmp_path: Path) -> None:
    """The same take as plain and as result gives the same pixels; with a muscle at work it does not."""
    still = _muscled()
    sheet = _drawn(tmp_path / "a.png", Layers(still, still), layers=("plain", "result"))
    assert sheet.shape[:2] == (SMALL[1] + caption_height(SMALL[1]), 2 * SMALL[0] + GAP)
    plain, result = _side_by_side(sheet)
    np.testing.assert_array_equal(plain, result)
    plain, result = _side_by_side(_drawn(tmp_path / "b.png", still, layers=("plain", "result")))
    changed = np.abs(plain - result).max(axis=-1) > 8
    rows = np.flatnonzero(changed.any(axis=1))
    assert 20 < rows.min() < rows.max() < 130  # over the muscle, not along the outline of everything


def test_sheet_has_layers_side_by_side_unless_there_are_more_moments_and_views(tmp_path: Path) -> None:
    """Each picture of a sheet is the one drawn alone with the same camera, at its place."""
    take, layers, views = _muscled(), ("plain", "muscles", "result"), ("front", "back")
    step = (SMALL[1] + caption_height(SMALL[1]) + GAP, SMALL[0] + GAP)

    def cell(sheet: Pixels, row: int, column: int) -> Pixels:
        top, left = row * step[0], column * step[1]
        return sheet[top : top + SMALL[1], left : left + SMALL[0]]

    alone = {
        view: _drawn(tmp_path / f"{view}.png", take, layers=layers, views=(view,))
        for view in (*views, "side")
    }
    wide = _drawn(tmp_path / "wide.png", take, layers=layers, views=views)
    assert wide.shape[:2] == (2 * step[0] - GAP, 3 * step[1] - GAP)
    for row, view in enumerate(views):
        for column in range(3):
            np.testing.assert_array_equal(cell(wide, row, column), cell(alone[view], 0, column))
    more = ("front", "side", "back")
    turned = _drawn(tmp_path / "turned.png", take, layers=layers[:2], views=more)
    assert turned.shape[:2] == (2 * step[0] - GAP, 3 * step[1] - GAP)
    for row in range(2):
        for column, view in enumerate(more):
            np.testing.assert_array_equal(cell(turned, row, column), cell(alone[view], 0, row))


def test_a_focus_takes_the_scale_from_what_it_looks_at(tmp_path: Path) -> None:
    """Over the muscle's belly the bar holds its bulge; where it does not reach, nothing, and says so."""
    take = _muscled()
    greatest = Layers(take).greatest([0])
    far = displacement_bar(greatest, displacement_bar(0.0).high)
    assert far.numbers()[-1] == "≥ +1.0"
    bars = {Focus(("upper",), 0.2): displacement_bar(greatest), Focus(("lower",), 0.1): far}
    for focus, expected in bars.items():
        picture = _drawn(tmp_path / "a.png", take, layers=("difference",), focus=focus)
        bar = expected.drawn(2 * caption_height(SMALL[1]))
        np.testing.assert_array_equal(picture[-bar.shape[0] :, : bar.shape[1]], bar)


def test_sheet_has_rows_of_layers_columns_of_moments_and_views_and_bars_below(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    take = _muscled(frames=3)
    picture = _drawn(
        tmp_path / "a.png",
        take,
        layers=("plain", "muscles", "difference"),
        views=("front", "side"),
        frame=(0, -1),
        colouring="activation",
        progress=lambda *a: told.append(a),
    )
    strip = caption_height(SMALL[1])
    sheet_height = 3 * (SMALL[1] + strip + GAP) - GAP
    assert picture.shape[1] >= 4 * (SMALL[0] + GAP) - GAP
    assert told == [("render", n, 12) for n in range(1, 13)]
    bars = picture[sheet_height:]
    assert bars.shape[0] in (2 * strip + GAP, 2 * (2 * strip + GAP))  # beside or below one another
    assert (np.abs(bars - np.array(activation_bar().colours(1.0))).max(axis=-1) <= 1).any()
    assert (np.abs(bars - np.array(displacement_bar(1.0).colours(-1.0))).max(axis=-1) <= 1).any()
    for row in range(3):  # captions: dark on white, and none runs into the next
        top = SMALL[1] + row * (SMALL[1] + strip + GAP)
        for column in range(4):
            left = column * (SMALL[0] + GAP)
            assert picture[top : top + strip, left : left + SMALL[0]].min() < 160
            assert picture[top : top + strip, left + SMALL[0] - 2 : left + SMALL[0]].min() == 255


def test_bars_say_what_they_show() -> None:
    assert activation_bar().label == "activation α"
    assert activation_bar().numbers() == ["0.00", "0.25", "0.50", "0.75", "1.00"]
    assert displacement_bar(11.3).label == "outward displacement [mm]"
    assert displacement_bar(11.3).numbers() == ["−12", "−6", "0", "+6", "+12"]
    assert displacement_bar(0.0).numbers() == ["−1.0", "−0.5", "0.0", "+0.5", "+1.0"]
    assert displacement_bar(11.3, 5.0).numbers() == ["≤ −5.0", "−2.5", "0.0", "+2.5", "≥ +5.0"]
    for value in (0.02, 0.4, 3.1, 14.7, 99.0, 1234.0):
        bar = displacement_bar(value)
        assert value <= bar.high <= 1.7 * value
        assert bar.low == -bar.high
    np.testing.assert_array_equal(displacement_bar(3.0).colours(0.0), [230, 230, 230])


def test_drawn_bars_have_label_ramp_and_numbers() -> None:
    empty = ColourBar("", 0.0, 1.0, ((255, 255, 255), (255, 255, 255)), ticks=2).drawn(50)
    for bar in (activation_bar(), displacement_bar(9.0)):
        drawn = bar.drawn(50).astype(np.int64)
        assert drawn.shape == empty.shape
        assert (drawn[:18] < 100).any()  # the label
        ramp = drawn[24]
        ends = np.flatnonzero((ramp != 255).any(axis=-1))[[0, -1]]
        np.testing.assert_array_equal(ramp[ends], bar.colours([bar.low, bar.high]))
        ink = (drawn[34:] < 100).all(axis=-1).any(axis=0)
        groups = np.flatnonzero(np.diff(np.flatnonzero(ink)) > 30)
        assert len(groups) == 4  # five numbers apart from each other
    font = text_font(20.0)
    missing = bytes(font.getmask("\uffff"))
    for sign in "α−≤≥…":
        assert bytes(font.getmask(sign)) != missing


def test_one_layer_from_one_side_is_one_picture(tmp_path: Path) -> None:
    take = _muscled()
    assert _drawn(tmp_path / "a.png", take, layers=("result",)).shape == (SMALL[1], SMALL[0], 3)
    render_picture(tmp_path / "b.png", take, size=SMALL, view="front")
    assert (
        np.abs(_drawn(tmp_path / "a.png", take, layers=("result",)) - _opened(tmp_path / "b.png")).max() <= 48
    )
    with_bar = _drawn(tmp_path / "c.png", take, layers=("difference",))
    assert with_bar.shape[0] > SMALL[1]


def _opened(path: Path) -> Pixels:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(np.int64)


def test_films_of_layers_move_and_have_even_sides(tmp_path: Path) -> None:
    take = _muscled(frames=4)
    options: dict[str, Any] = {"layers": ("muscles", "difference"), "views": ("front", "side"), "rate": 3.0}
    render_layers(tmp_path / "a.gif", take, size=(41, 83), **options)
    with Image.open(tmp_path / "a.gif") as film:
        pages = [np.asarray(page.convert("RGB")).astype(np.int64) for page in ImageSequence.Iterator(film)]
    assert len(pages) == 4
    assert pages[0].shape[0] % 2 == pages[0].shape[1] % 2 == 0
    assert (np.abs(pages[3] - pages[0]).max(axis=-1) > 40).mean() > 0.01
    render_layers(tmp_path / "a.mp4", take, size=(40, 80), **options)
    assert (tmp_path / "a.mp4").stat().st_size > 1000


def test_focus_brings_a_joint_to_the_middle_and_near(tmp_path: Path) -> None:
    take = _muscled(frames=3)
    assert take.motion is not None

    def width(**options: Any) -> int:
        render_picture(tmp_path / "a.png", take, frame=2, size=(90, 90), view="front", **options)
        row = _opened(tmp_path / "a.png")[45]
        return int((row[:, 0] > row[:, 2]).sum())  # skin is warm, the stage is cool

    whole, near = width(), width(focus=Focus(("upper",), 0.2))
    nearer = width(focus=Focus(("upper",), 0.15))
    assert nearer > 1.2 * near > 1.5 * whole
    # 0.2 m of tube, between the tangents of a sphere of 0.15 m
    assert nearer == pytest.approx(90 * 0.1 / 0.15, rel=0.15)


def test_a_right_arm_is_seen_from_its_own_side(data: Path) -> None:
    character = read_character(data / "human" / "male_average_cmu_mb.glb")
    front = facing(Take(character))
    right, left, spine = (
        find_part(Focus((name,)), character.skeleton, front) for name in ("r_elbow", "LeftForeArm", "vl5")
    )
    assert (right.right, left.right, spine.right) == (True, False, False)
    assert 0.15 < right.radius < 0.3
    assert right.radius == pytest.approx(left.radius, rel=1e-3)
    place = character.skeleton.bind_world[right.joints[0], :3, 3]
    assert direction("side", front, from_right=True) @ place > 0.2  # the camera is on the arm's side
    both = find_part(Focus(("r_shoulder", "r_elbow")), character.skeleton, front)
    assert both.joints[1] == right.joints[0]
    with pytest.raises(EcorcheError, match=r"there is no joint 'r_elbo'. Did you mean 'r_elbow'\?"):
        find_part(Focus(("r_elbo",)), character.skeleton, front)


def test_a_body_without_muscles_has_only_its_plain_skin(tmp_path: Path) -> None:
    character = tube()
    plain = perform(character).take
    assert Layers(plain).names == ("plain",)
    assert Layers(_muscled()).names == ("plain", "muscles", "result", "difference", "superimposed")
    assert _shifted(1.0).names == ("plain", "result", "difference", "superimposed")
    for layer in ("muscles", "result", "difference"):
        with pytest.raises(EcorcheError, match="ecorche rig"):
            render_layers(tmp_path / "a.png", plain, layers=(layer,))
    assert _drawn(tmp_path / "a.png", plain, layers=("plain",)).shape == (SMALL[1], SMALL[0], 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": ("skin", "result")}, "there is no layer 'skin'"),
        ({"layers": ("resul",)}, "Did you mean 'result'?"),
        ({"layers": ()}, "no layer is asked for"),
        ({"layers": ("plain", "plain")}, "'plain' is asked for twice"),
        ({"views": ("front", "top")}, "there is no view 'top'"),
        ({"views": ()}, "no view is asked for"),
        ({"frame": 1}, "there is no frame 1. Give a number from 0 to 0"),
        ({"frame": ()}, "no frame is asked for"),
        ({"frame": (0,) * 101}, "404 pictures on one sheet are asked for"),
        ({"colouring": "force"}, "muscles cannot be coloured by 'force'"),
        ({"scale": 0.0}, "a scale of 0 mm is asked for"),
        ({"scale": float("nan")}, "a scale of nan mm is asked for"),
        ({"focus": Focus(("middle",))}, "there is no joint 'middle'"),
        ({"size": (8, 8)}, "a picture of 8 x 8 pixels is asked for"),
    ],
)
def test_impossible_requests_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(EcorcheError) as caught:
        render_layers(tmp_path / "a.png", _muscled(), **{"views": ("front",), "size": SMALL, **options})
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_impossible_focus_and_other_plain_takes_are_refused() -> None:
    with pytest.raises(EcorcheError, match="a radius of -1 m is asked for"):
        Focus(("r_elbow",), -1.0)
    with pytest.raises(EcorcheError, match="no joint is named"):
        Focus(())
    with pytest.raises(EcorcheError, match="other meshes or frames"):
        Layers(_muscled(), _muscled(frames=3))
    with pytest.raises(EcorcheError, match="other meshes or frames"):
        Layers(_muscled(), Take(tube()))


def test_joints_nobody_knows_cannot_be_looked_at(tmp_path: Path) -> None:
    with pytest.raises(EcorcheError, match="nobody knows where the joints of this take are"):
        render_layers(tmp_path / "a.png", _shifted(1.0), layers=("result",), focus=Focus(("upper",), 0.1))


def test_same_take_same_bytes(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        render_layers(tmp_path / name, _muscled(), **ONE)  # type: ignore[arg-type]
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["ecorche", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        cli.run()
    return int(stop.value.code or 0)


def test_command_draws_the_layers_of_a_rig(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = data / "human" / "male_average_cmu_mb.glb"
    character = read_character(file)
    write_rig(tmp_path / "man.ecorche", create_rig(character, file, tmp_path / "man.ecorche"))
    curl = ROOT / "examples" / "curl.pose"
    held = len(read_keyframes(curl, character.skeleton).times) // 2
    render = ("render", tmp_path / "man.ecorche", "--motion", curl, "--frame", held, "--size", "96x120")
    sheet = tmp_path / "sheet.png"
    layers = ("--layers", "plain,muscles,result,difference", "--view", "front,back")
    assert _run(monkeypatch, *render, *layers, "-o", sheet) == 0
    picture, step = _opened(sheet), 96 + GAP
    plain, muscles, result, difference = (picture[:120, n * step : n * step + 96] for n in range(4))

    def redder(cell: Pixels) -> int:
        return int((cell[..., 0] > 1.8 * cell[..., 1]).sum())

    assert redder(muscles) > 300 > 10 * redder(plain)
    assert (np.abs(plain - result).max(axis=-1) > 6).any()
    assert (np.ptp(difference, axis=-1) > 50).any()
    capsys.readouterr()
    near = ("--focus", "r_shoulder,r_elbow", "--radius", "0.2", "--layers", "difference", "--scale", "5")
    assert _run(monkeypatch, *render, *near, "--without-muscles", "-o", tmp_path / "none.png") == 2
    assert "body without muscles" in capsys.readouterr().err
    assert _run(monkeypatch, *render, *near, "-o", tmp_path / "near.png") == 0
    assert _opened(tmp_path / "near.png").shape[0] > 120
    assert _run(monkeypatch, *render, "--radius", "1", "-o", tmp_path / "none.png") == 2
    assert "--focus" in capsys.readouterr().err
    assert _run(monkeypatch, *render, "--layers", "plain,", "-o", tmp_path / "none.png") == 2
    assert not (tmp_path / "none.png").exists()
