"""Pictures: framed, lit, grounded, the same every time; and requests that must fail."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from characters import tube
from ecorche.base.mesh import Attribute, FaceSubset, Mesh, triangle_mesh
from ecorche.base.rotations import xyzw_from_axis_angle
from ecorche.base.transforms import compose, transform_points
from ecorche.body.character import Character, Material, SkinnedMesh
from ecorche.body.character import Image as CharacterImage
from ecorche.body.frames import Frame, MemoryFrames
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, MissingPackageError, WriteError
from ecorche.io.formats import read_character
from ecorche.render.bones import BoneShapes
from ecorche.render.camera import FIELD_OF_VIEW, MARGIN, VIEWS, direction, facing, frame_subject
from ecorche.render.drawn_meshes import DrawnMeshes
from ecorche.render.ground import round_length
from ecorche.render.layers import Look
from ecorche.render.pictures import render_contact_sheet, render_film, render_picture
from ecorche.render.shadow import TEXELS, SurfaceSamples, darkness
from ecorche.render.sheet import caption_height
from ecorche.render.surface import smooth_normals
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.skeleton import Skeleton, local_from_world

SMALL = (96, 108)
RED, GREEN = Material("red", (0.6, 0.02, 0.02, 1.0)), Material("green", (0.02, 0.4, 0.02, 1.0))


def _egg(centre: tuple[float, float, float], radii: tuple[float, float, float]) -> Mesh:
    """An ellipsoid of 24 by 16 faces."""
    turn, rise = np.meshgrid(
        np.linspace(0, 2 * np.pi, 25)[:-1], np.linspace(-np.pi / 2, np.pi / 2, 17), indexing="ij"
    )
    unit = np.stack([np.cos(rise) * np.sin(turn), np.sin(rise), np.cos(rise) * np.cos(turn)], axis=-1)
    points = (unit * radii + centre).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(24), np.arange(16), indexing="ij")
    a, b = i * 17 + j, (i + 1) % 24 * 17 + j
    triangles = np.concatenate([np.stack([a, b, b + 1], -1), np.stack([a, b + 1, a + 1], -1)]).reshape(-1, 3)
    return replace(triangle_mesh("egg", points, triangles), material=0)


def _skeleton(scale: float = 1.0) -> Skeleton:
    """Hips with a bone up to the head, two hands: enough to tell left from right."""
    world = np.tile(np.eye(4), (3, 1, 1))
    world[:, :3, 3] = scale * np.array([[0, 0.3, 0], [0.25, 0.9, 0], [-0.25, 0.9, 0]])
    parents = np.array([-1, 0, 0], np.int32)
    local = local_from_world(parents, world)
    tails = np.full((3, 3), np.nan)
    tails[0] = (0.0, 1.3 * scale, 0.0)
    return Skeleton(("Hips", "hand_L", "hand_R"), parents, local, local, tails)


def _take(scale: float = 1.0, path: npt.ArrayLike = ((0.0, 0.0, 0.0),), rate: float = 30.0) -> Take:
    """An egg of a person's size that is moved along a path."""
    mesh = _egg((0.0, 0.9 * scale, 0.0), (0.3 * scale, 0.9 * scale, 0.15 * scale))
    skeleton = _skeleton(scale)
    normals = smooth_normals(mesh.points, mesh.triangles())
    offsets = scale * np.asarray(path, np.float32)
    times = np.arange(len(offsets)) / rate
    frames = [Frame(t, (mesh.points + o,), (normals,)) for t, o in zip(times, offsets, strict=True)]
    local = np.tile(skeleton.bind_local, (len(offsets), 1, 1, 1))
    local[:, 0, :3, 3] += offsets
    character = Character("egg", skeleton, (SkinnedMesh(mesh, None),), materials=(RED,))
    return Take(character, Motion("slide", skeleton, times, local), MemoryFrames(frames))


def _picture(take: Take, path: Path, **options: Any) -> npt.NDArray[np.int64]:
    render_picture(path, take, **{"size": SMALL, **options})
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(np.int64)


def _subject(picture: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Pixels of the red egg: the stage itself is grey."""
    return picture[..., 0] > picture[..., 2] + 25


def _box(mask: npt.NDArray[np.bool_]) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(rows[0]), int(rows[-1]), int(columns[0]), int(columns[-1])


def test_subject_fills_the_frame_and_stands_in_its_middle(tmp_path: Path) -> None:
    picture = _picture(_take(), tmp_path / "a.png")
    assert picture.shape == (108, 96, 3)
    top, bottom, left, right = _box(_subject(picture))
    assert 2 <= top <= 12
    assert 96 <= bottom <= 106
    assert abs(left + right - 95) <= 4


def test_size_of_the_subject_does_not_matter(tmp_path: Path) -> None:
    pictures = [_picture(_take(scale), tmp_path / f"{scale}.png") for scale in (0.01, 1.0, 100.0)]
    for other in (pictures[0], pictures[2]):
        assert (np.abs(other - pictures[1]).max(axis=-1) > 24).mean() < 0.02


def test_views_show_front_and_side_of_a_turned_character(tmp_path: Path) -> None:
    def width(view: str) -> int:
        _, _, left, right = _box(_subject(_picture(_take(), tmp_path / f"{view}.png", view=view)))
        return right - left

    assert width("front") == pytest.approx(width("back"), abs=1)
    assert width("side") < 0.65 * width("front")
    assert width("side") < width("three_quarter") < width("front")


def test_key_light_models_the_form_and_nothing_is_burnt_out(tmp_path: Path) -> None:
    picture = _picture(_take(), tmp_path / "a.png", view="front")
    inside = _subject(picture)
    red = np.where(inside, picture[..., 0], -1)
    row = red[54]
    seen = row[row >= 0]
    assert seen[: len(seen) // 3].mean() > 1.15 * seen[-len(seen) // 3 :].mean()  # key from the left
    assert picture.max() < 254
    assert np.percentile(red[inside], 95) > 120


def test_contact_with_the_ground_is_seen(tmp_path: Path) -> None:
    """The same egg a quarter of its height above the ground leaves less shadow at its foot."""
    standing = _picture(_take(), tmp_path / "a.png", view="front")
    _, bottom, left, right = _box(_subject(standing))
    middle = (left + right) // 2
    below = standing[bottom + 2, middle - 3 : middle + 4].mean()
    far = standing[bottom + 2, 4:10].mean()
    assert below < far - 25
    flying = _picture(_take(path=[(0, 0, 0), (0, 0.45, 0)]), tmp_path / "b.png", frame=1, view="front")
    _, bottom, left, right = _box(_subject(flying))
    assert flying[min(bottom + 2, 107), (left + right) // 2].mean() > below + 10


def test_edges_are_smooth(tmp_path: Path) -> None:
    """Along the outline there are pixels between subject and background, not steps only."""
    picture = _picture(_take(), tmp_path / "a.png", view="front").astype(np.float64)
    redness = picture[..., 0] - picture[..., 2]
    row = redness[40]
    half_way = (row > 0.15 * row.max()) & (row < 0.5 * row.max())
    assert half_way[: len(row) // 2].any() or half_way[len(row) // 2 :].any()


def test_same_take_same_bytes(tmp_path: Path) -> None:
    take = _take(path=[(0, 0, 0), (0.2, 0, 0), (0.4, 0, 0)])
    for name in ("a", "b"):
        render_picture(tmp_path / f"{name}.png", take, size=SMALL)
        render_film(tmp_path / f"{name}.mp4", take, size=SMALL)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_bones_are_drawn_over_the_skin(tmp_path: Path) -> None:
    plain = _picture(_take(), tmp_path / "a.png", view="front")
    bones = _picture(_take(), tmp_path / "b.png", view="front", skeleton=True)
    changed = np.abs(plain - bones).max(axis=-1) > 20
    top, bottom, left, right = _box(changed & _subject(plain))
    assert bottom - top > 30  # from the hips up to the hands
    assert left < 48 < right
    assert bones[changed][:, 1].mean() > plain[changed][:, 1].mean() + 30  # bright, not red


def test_faces_have_their_own_materials_and_still_takes_stand_at_bind(tmp_path: Path) -> None:
    mesh = _egg((0.0, 0.9, 0.0), (0.3, 0.9, 0.3))
    upper = np.flatnonzero(mesh.points[mesh.triangles()].mean(axis=1)[:, 1] > 0.9).astype(np.int32)
    mesh = replace(mesh, subsets=(FaceSubset("hat", upper, 1),))
    character = Character("egg", _skeleton(), (SkinnedMesh(mesh, None),), materials=(RED, GREEN))
    picture = _picture(Take(character), tmp_path / "a.png", view="front")
    assert picture[30, 48].argmax() == 1
    assert picture[80, 48].argmax() == 0


def _textured(data: bytes) -> Take:
    """An egg whose picture is blue in its upper half, by UVs that run upwards."""
    mesh = _egg((0.0, 0.9, 0.0), (0.3, 0.9, 0.3))
    uv = np.stack([np.full(mesh.vertex_count, 0.5), mesh.points[:, 1] / 1.8], axis=1).astype(np.float32)
    mesh = replace(mesh, uv=Attribute("st", uv))
    paint = replace(RED, base_color=(1.0, 1.0, 1.0, 1.0), base_color_image=0)
    image = CharacterImage("paint", "image/png", data)
    return Take(
        Character("egg", _skeleton(), (SkinnedMesh(mesh, None),), materials=(paint,), images=(image,))
    )


def test_meshes_of_one_look_are_drawn_as_one_and_look_as_they_did() -> None:
    whole = tube()
    skin = whole.meshes[0]
    rings = [
        replace(skin, mesh=replace(skin.mesh, name=f"ring {n}", points=skin.mesh.points * np.float32(0.5**n)))
        for n in range(1, 4)
    ]
    rings[1] = replace(rings[1], mesh=replace(rings[1].mesh, material=0))
    empty = replace(skin, mesh=triangle_mesh("empty", np.zeros((2, 3)), np.zeros((0, 3), np.int32)))
    materials = (Material("red", base_color=(1.0, 0.0, 0.0, 1.0)),)
    character = replace(whole, meshes=(skin, rings[0], empty, *rings[1:]), materials=materials)
    drawn = DrawnMeshes(character)
    assert [m.vertex_count for m in drawn.meshes] == [108, 216, 108]
    assert drawn.body is skin.mesh
    assert [m.material for m in drawn.meshes] == [None, None, 0]
    points = tuple(m.mesh.points for m in character.meshes)
    paint = tuple(np.full((len(p), 3), n, np.uint8) for n, p in enumerate(points))
    seen = drawn.look(Look(Frame(0.0, points, (None,) * 5), paint))
    assert seen.paint is not None
    np.testing.assert_array_equal(seen.paint[1][:, 0], np.repeat([1, 4], 108))
    corners = seen.frame.points[1][drawn.meshes[1].triangles()]
    apart = [character.meshes[n].mesh.points[character.meshes[n].mesh.triangles()] for n in (1, 4)]
    np.testing.assert_array_equal(corners, np.concatenate(apart))


def test_textures_are_shown_the_right_way_up(tmp_path: Path) -> None:
    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[:32] = (20, 20, 200)
    pixels[32:] = (200, 20, 20)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    picture = _picture(_textured(file.getvalue()), tmp_path / "a.png", view="front")
    assert picture[30, 48].argmax() == 2
    assert picture[80, 48].argmax() == 0


def test_a_damaged_texture_is_named(tmp_path: Path) -> None:
    with pytest.raises(EcorcheError, match="image 'paint': the texture cannot be decoded"):
        _picture(_textured(b"no picture"), tmp_path / "a.png")


def test_real_person_dog_and_horse(data: Path, tmp_path: Path) -> None:
    for file in ("human/male_average_cmu_mb.glb", "dog/dog_skin.skn", "mesh2motion/horse-animations.glb"):
        picture = _picture(Take(read_character(data / file)), tmp_path / "a.png")
        outline = np.abs(np.diff(picture.sum(axis=-1), axis=1)) > 60
        top, bottom, left, right = _box(outline)
        assert bottom - top > 75 or right - left > 70


def _decoded(path: Path) -> tuple[str, npt.NDArray[np.int64]]:
    """What ffmpeg says of a film, and its pictures (frames, height, width, 3)."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    pictures = np.frombuffer(done.stdout, np.uint8).reshape(-1, SMALL[1], SMALL[0], 3)
    return done.stderr.decode(), pictures.astype(np.int64)


def test_film_plays_in_real_time_in_every_player(tmp_path: Path) -> None:
    take = _take(path=[(0.01 * i, 0, 0) for i in range(61)], rate=120.0)
    told: list[tuple[str, int, int]] = []
    render_film(tmp_path / "a.mp4", take, size=SMALL, progress=lambda *a: told.append(a))
    about, pictures = _decoded(tmp_path / "a.mp4")
    stream = next(line for line in about.splitlines() if "Video: h264" in line)
    for word in ("yuv420p(tv, bt709", "96x108", "30 fps"):
        assert word in stream
    assert len(pictures) == 16  # half a second, both ends shown
    assert _box(_subject(pictures[15]))[2] != _box(_subject(pictures[0]))[2]  # it moves
    assert told == [("render", i, 16) for i in range(1, 17)]


def test_gif(tmp_path: Path) -> None:
    render_film(tmp_path / "a.gif", _take(path=[(0.1 * i, 0, 0) for i in range(4)]), size=SMALL, rate=10.0)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.size == SMALL


def test_camera_follows_a_long_way_and_stays_for_a_short_one(tmp_path: Path) -> None:
    def height(**options: Any) -> int:
        render_film(tmp_path / "a.mp4", take, size=SMALL, view="side", rate=2.0, **options)
        first = _decoded(tmp_path / "a.mp4")[1][0]
        top, bottom, _, _ = _box(_subject(first))
        return bottom - top

    take = _take(path=[(0, 0, 0.5 * i) for i in range(9)], rate=2.0)
    assert height() == height(camera="follow") > 2 * height(camera="fixed")
    take = _take(path=[(0.5 * i, 0, 0) for i in range(9)], rate=2.0)  # from afar towards the camera
    assert height() == height(camera="follow")
    take = _take(path=[(0, 0, 0.01 * i) for i in range(5)], rate=2.0)
    assert height() == height(camera="fixed")


def test_contact_sheet_has_a_place_for_every_moment(tmp_path: Path) -> None:
    take = _take(path=[(0, 0.1 * i, 0) for i in range(9)])
    render_contact_sheet(tmp_path / "a.png", take, frames=6, columns=3, size=SMALL)
    with Image.open(tmp_path / "a.png") as image:
        strip = caption_height(108)
        assert image.size == (3 * 96 + 8, 2 * (108 + strip) + 4)
        sheet = np.asarray(image.convert("RGB")).astype(np.int64)
    corners = [(r, c) for r in (0, 112 + strip) for c in (0, 100, 200)]
    tops = [_box(_subject(sheet[r : r + 108, c : c + 96]))[0] for r, c in corners]
    assert tops == sorted(tops, reverse=True)  # it rises, and the camera does not hide it
    assert tops[0] > tops[-1] + 10
    for r, c in corners:  # dark on white, below the picture and not on it
        caption = sheet[r + 108 : r + 108 + strip, c : c + 96]
        assert caption.max() == 255
        assert caption.min() < 80


def test_without_a_size_the_picture_has_the_subjects_shape(tmp_path: Path) -> None:
    turn = compose(np.zeros(3), xyzw_from_axis_angle((0.0, 0.0, 1.0), np.pi / 2))
    tall = _take()
    assert tall.frames is not None
    lying = transform_points(turn, tall.frames[0].points[0]).astype(np.float32)
    wide = replace(tall, frames=MemoryFrames([Frame(0.0, (lying,), (None,))]))
    sizes = []
    for name, take in (("tall", tall), ("wide", wide)):
        render_contact_sheet(tmp_path / f"{name}.png", take, frames=1, view="front")
        with Image.open(tmp_path / f"{name}.png") as image:
            sizes.append(image.size)
    assert sizes[0][1] > 1.3 * sizes[0][0]
    assert sizes[1][0] > 1.3 * sizes[1][1]


def test_interrupted_film_leaves_nothing(tmp_path: Path) -> None:
    def stop(_stage: str, done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render_film(tmp_path / "a.mp4", _take(path=[(0, 0, 0)] * 9), size=SMALL, progress=stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("function", "name", "options", "message"),
    [
        (render_picture, "a.png", {"frame": 1}, "there is no frame 1. Give a number from 0 to 0"),
        (render_picture, "a.png", {"view": "sid"}, "there is no view 'sid'. Did you mean 'side'?"),
        (render_picture, "a.png", {"size": (8, 100)}, "a picture of 8 x 100 pixels is asked for"),
        (render_picture, "a.jpg", {}, "'.jpg' is no picture suffix. Use .png"),
        (render_picture, "none/a.png", {}, "does not exist. Create it first"),
        (render_film, "a.avi", {}, "'.avi' is no film suffix. Use one of .mp4, .gif"),
        (render_film, "a.mp4", {"size": (97, 108)}, "a film of 97 x 108 pixels cannot be encoded"),
        (render_film, "a.mp4", {"rate": 0.0}, "0.0 pictures a second are asked for. Give 1 to 240"),
        (render_film, "a.mp4", {"camera": "drone"}, "there is no camera 'drone'"),
        (render_contact_sheet, "a.png", {"frames": 0}, "0 moments are asked for"),
        (render_contact_sheet, "a.png", {"columns": 99}, "99 columns are asked for. Give 1 to 12"),
    ],
)
def test_impossible_requests_are_refused(
    tmp_path: Path, function: Any, name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(EcorcheError) as caught:
        function(tmp_path / name, _take(), **options)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_bones_of_unknown_joints_are_refused(tmp_path: Path) -> None:
    take = replace(_take(), motion=None)
    with pytest.raises(EcorcheError, match="nobody knows where the joints of this take are"):
        render_picture(tmp_path / "a.png", take, skeleton=True)


def test_a_character_without_surface_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EcorcheError, match="there is no surface to show"):
        render_picture(tmp_path / "a.png", Take(Character("bare", _skeleton(), ())))


@pytest.mark.parametrize("missing", ["pyvista", "imageio_ffmpeg"])
def test_missing_packages_are_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingPackageError, match=r'Run: pip install "ecorche\[render\]"'):
        render_film(tmp_path / "a.mp4", _take(), size=SMALL)
    assert list(tmp_path.iterdir()) == []


def test_an_encoder_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "/bin/false" if Path("/bin/false").exists() else sys.executable)
    with pytest.raises(WriteError, match="ffmpeg could not write the film"):
        render_film(tmp_path / "a.mp4", _take(path=[(0, 0, 0)] * 3), size=SMALL)
    assert list(tmp_path.iterdir()) == []


def test_threads_draw_at_once_and_nothing_is_said_on_the_error_stream(tmp_path: Path) -> None:
    """A machine without a screen is normal: no complaint about it."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_render as t; from pathlib import Path;"
        "from concurrent.futures import ThreadPoolExecutor as Pool;"
        "draw = lambda n: t.render_picture(Path(sys.argv[2]) / n, t._take(), size=t.SMALL);"
        "list(Pool(3).map(draw, ['a.png', 'b.png', 'c.png']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert len({file.read_bytes() for file in tmp_path.glob("*.png")}) == 1


def test_facing_follows_left_and_right() -> None:
    still = _take()
    np.testing.assert_allclose(facing(still), (0.0, 0.0, 1.0), atol=1e-12)
    quarter = compose(np.zeros(3), xyzw_from_axis_angle((0.0, 1.0, 0.0), np.pi / 2))
    skeleton = still.character.skeleton
    local = skeleton.bind_local.copy()
    local[0] = quarter @ local[0]
    turned = replace(still, motion=Motion("turned", skeleton, np.zeros(1), local[None]))
    np.testing.assert_allclose(facing(turned), (1.0, 0.0, 0.0), atol=1e-12)
    swung = skeleton.bind_local.copy()
    swung[1, 2, 3], swung[2, 2, 3] = 0.4, -0.4  # one hand forward and one back turns nobody
    np.testing.assert_allclose(
        facing(replace(still, motion=Motion("swung", skeleton, np.zeros(1), swung[None]))), (0.0, 0.0, 1.0)
    )
    nameless = replace(skeleton, names=("a", "b", "c"))
    anonymous = Take(replace(still.character, skeleton=nameless), bind_pose(nameless))
    np.testing.assert_allclose(facing(anonymous), (0.0, 0.0, 1.0))


@pytest.mark.parametrize("follow", [False, True])
@pytest.mark.parametrize("view", sorted(VIEWS))
def test_camera_frames_all_points_and_no_more(view: str, follow: bool) -> None:
    rng = np.random.default_rng(3)
    outlines = rng.normal(size=(20, 60, 3)) * (0.4, 0.9, 0.3) + np.linspace(0, 5, 20)[:, None, None] * (
        1,
        0,
        0.5,
    )
    towards, aspect = direction(view, np.array([0.0, 0.0, 1.0])), 1.6
    camera = frame_subject(outlines, np.linspace(0, 2, 20), towards, aspect, follow=follow, smoothing=0.4)
    right = np.cross((0.0, 1.0, 0.0), towards)
    right /= np.linalg.norm(right)
    up = np.cross(towards, right)
    seen = outlines - (camera.targets + camera.offset)[:, None]
    depth = -(seen @ towards)
    high = np.tan(np.radians(FIELD_OF_VIEW) / 2)
    across, above = (seen @ right) / depth / (high * aspect), (seen @ up) / depth / high
    assert (depth > 0).all()
    furthest = max(np.abs(across).max(), np.abs(above).max())
    assert furthest == pytest.approx(1 / MARGIN, rel=1e-3)
    for spread in (across, above):
        assert abs(spread.min() + spread.max()) < 0.03


def test_shadow_lies_under_the_thing_and_away_from_the_light() -> None:
    mesh = _egg((0.0, 1.0, 0.0), (0.3, 0.9, 0.3))
    samples = SurfaceSamples([mesh])
    points = samples.at((mesh.points,))
    light = np.array([-0.6, 0.8, 0.0])
    shade = darkness(points, samples.area_each, np.zeros(2), 3.0, 0.1, light)
    assert 0.0 <= shade.min() <= shade.max() <= 1.0
    middle, texel = TEXELS // 2, 6.0 / TEXELS
    row = shade[middle]
    assert row[middle] > 0.3  # contact
    assert row[middle + round(0.6 / texel)] > 0.1  # thrown to +x, away from the light
    assert row[middle - round(0.6 / texel)] < 0.02
    moved = darkness(
        points + np.array([7, 0, -3], np.float32), samples.area_each, np.array([7.0, -3.0]), 3.0, 0.1, light
    )
    assert np.abs(moved - shade).max() < 0.05
    np.testing.assert_allclose(shade, shade[::-1], atol=0.08)  # the egg is symmetric in z


def test_samples_ride_on_the_surface() -> None:
    mesh = _egg((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    samples = SurfaceSamples([mesh])
    at_bind = samples.at((mesh.points,))
    assert np.abs(np.linalg.norm(at_bind, axis=1) - 0.99).max() < 0.025
    assert np.abs(at_bind.mean(axis=0)).max() < 0.01  # evenly spread
    turn = compose((1.0, 2.0, 3.0), xyzw_from_axis_angle((0.0, 0.0, 1.0), 0.7))
    moved = samples.at((transform_points(turn, mesh.points).astype(np.float32),))
    np.testing.assert_allclose(moved, transform_points(turn, at_bind), atol=1e-5)


def test_bone_shapes_reach_from_joint_to_child_and_move_rigidly() -> None:
    skeleton = _skeleton()
    shapes = BoneShapes(skeleton)
    points = shapes.points(skeleton.bind_world).reshape(-1, 6, 3)
    heads, tails = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    assert list(shapes.joints) == [0, 0, 1, 2]  # the hips to both hands, each hand to its tip
    np.testing.assert_allclose(points[:, 0], heads[shapes.joints], atol=1e-6)
    np.testing.assert_allclose(points[:, 5], [heads[1], heads[2], tails[1], tails[2]], atol=1e-6)
    assert list(BoneShapes(skeleton, anchors={0}).joints) == [1, 2]
    turn = compose((1.0, 2.0, 3.0), xyzw_from_axis_angle((0.0, 0.0, 1.0), 0.7))
    moved = shapes.points(turn @ skeleton.bind_world).reshape(-1, 6, 3)
    np.testing.assert_allclose(moved, transform_points(turn, points), atol=1e-5)
    corners = points.reshape(-1, 3)[shapes.triangles].astype(np.float64)
    volumes = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert (volumes.reshape(-1, 8).sum(axis=1) > 0).all()  # faces look outwards


@pytest.mark.parametrize(("length", "expected"), [(0.44, 0.5), (0.012, 0.01), (170.0, 200.0), (1.3, 1.0)])
def test_grid_lines_are_at_round_distances(length: float, expected: float) -> None:
    assert round_length(length) == pytest.approx(expected)
