"""`ecorche skin`: a new skin over bones and muscles of real rigs, closed, even, outside them, and moving."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from benchmarks.line_muscle_bodies import RangedBody, dog, leg
from typer.testing import CliRunner

from ecorche import Character, Motion, Rig, create_rig, perform, read_character, read_keyframes
from ecorche.base.signed_distance import SignedSurface
from ecorche.body.compile import compile_body
from ecorche.body.ecorche_surfaces import points_at_bind, surfaces_of
from ecorche.body.laid_skin import LaidSkin, lay_skin
from ecorche.cli.main import app
from ecorche.document.files import write_rig
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]
EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def man(data: Path) -> tuple[Character, Rig]:
    path = data / "human" / "male_muscular_cmu_mb.glb"
    character = read_character(path)
    return character, create_rig(character, path, path.with_suffix(".ecorche"))


@pytest.fixture(scope="module")
def manly(man: tuple[Character, Rig]) -> LaidSkin:
    return lay_skin(*man)


@pytest.fixture(scope="module")
def calf(data: Path) -> RangedBody:
    assert (data / "leg").is_dir()
    return leg(frozenset({"soleus"}))


@pytest.fixture(scope="module")
def calved(calf: RangedBody) -> LaidSkin:
    return lay_skin(calf.character, calf.rig)


@pytest.fixture(scope="module")
def canine(data: Path) -> tuple[RangedBody, LaidSkin]:
    """The dog with the muscles of its upper arms."""
    assert (data / "dog").is_dir()
    body = dog(frozenset({"triceps", "brachialis"}))
    return body, lay_skin(body.character, body.rig, edge=0.012)


def _surface(laid: LaidSkin, points: npt.NDArray[np.floating] | None = None) -> trimesh.Trimesh:
    mesh = laid.skin.mesh
    return trimesh.Trimesh(
        (mesh.points if points is None else points).astype(float), mesh.triangles(), process=False
    )


def _require_skin(laid: LaidSkin) -> None:
    """One closed surface, even, wholly outside bones and muscles, with weights that sum to one."""
    surface, skin = _surface(laid), laid.skin
    pairs = np.sort(surface.edges, axis=1)
    assert (np.unique(pairs, axis=0, return_counts=True)[1] == 2).all()  # every edge has two faces
    assert surface.is_winding_consistent
    assert surface.body_count == 1
    assert surface.volume > 0.0
    quads = skin.mesh.points[skin.mesh.face_indices.reshape(-1, 4)]
    length = np.linalg.norm(quads - np.roll(quads, 1, axis=1), axis=2)
    low, middle, high = np.percentile(length, (2.5, 50.0, 97.5))
    assert low > 0.4 * middle
    assert high < 2.5 * middle
    beneath = laid.beneath
    wound = igl.fast_winding_number(beneath.points, beneath.triangles, skin.mesh.points.astype(float))
    assert wound.max() < 0.5  # no vertex in a muscle or a bone
    assert skin.weights is not None
    sums = np.add.reduceat(skin.weights.weights, skin.weights.starts[:-1])
    assert sums == pytest.approx(1.0, abs=1e-5)
    assert np.diff(skin.weights.starts).max() <= 4


def _stretches(laid: LaidSkin, local: Floats) -> Floats:
    """How many times as long edges of the skin are in a pose, (edges,)."""
    frames = perform(laid.character, _held(laid.character, local)).take.frames
    assert frames is not None
    edges = _surface(laid).edges_unique
    now, before = (
        np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
        for points in (frames[1].points[0], laid.skin.mesh.points)
    )
    return np.asarray(now / before)


def _held(character: Character, local: Floats) -> Motion:
    return Motion(
        "held", character.skeleton, np.arange(2.0), np.stack([character.skeleton.bind_local, local])
    )


def test_a_man_gets_a_skin_over_the_template_s_muscles(man: tuple[Character, Rig], manly: LaidSkin) -> None:
    _require_skin(manly)
    body = compile_body(man[0], rig=man[1])
    surfaces = surfaces_of(body)
    muscles = points_at_bind(surfaces, body).astype(float)
    inside = igl.fast_winding_number(
        muscles, surfaces.triangles.astype(np.int64), manly.skin.mesh.points.astype(float)
    )
    assert inside.max() < 0.5
    own = man[0].body().mesh
    surface = _surface(manly)
    assert surface.extents == pytest.approx(np.ptp(own.points, axis=0), rel=0.05)
    # his own skin was not looked at; the new one lies near it all the same
    apart = np.abs(SignedSurface(own.points, own.triangles()).depth(manly.skin.mesh.points)[0])
    assert np.median(apart) < 0.012
    assert "those of the built-in figure" in manly.notes[0]
    assert "Head, LeftHand" in manly.notes[1]


def test_it_moves_as_skin_does(man: tuple[Character, Rig], manly: LaidSkin) -> None:
    curl = read_keyframes(EXAMPLES / "curl.pose", man[0].skeleton)
    local = perform(man[0], curl).take.motion
    assert local is not None
    stretched = _stretches(manly, local.local[48])
    assert np.percentile(stretched, (0.5, 99.5)) == pytest.approx([1.0, 1.0], abs=0.8)
    assert (np.abs(stretched - 1.0) < 0.02).mean() > 0.6  # legs and trunk stand still
    # what is far from the elbow follows its bone wholly
    skin, skeleton = manly.skin, man[0].skeleton
    assert skin.weights is not None
    joints, weights = skin.weights.padded()
    shank = np.where(joints == skeleton.index("LeftLeg"), weights, 0.0).sum(axis=1)
    knee, ankle = (skeleton.bind_world[skeleton.index(n), 1, 3] for n in ("LeftLeg", "LeftFoot"))
    height = (skin.mesh.points[:, 1] - ankle) / (knee - ankle)
    middle = (height > 0.3) & (height < 0.7)
    assert np.maximum(shank, 1.0 - (skin.mesh.points[:, 0] > 0.0))[middle].min() > 0.99


def test_mri_muscles_of_a_leg(calf: RangedBody, calved: LaidSkin) -> None:
    _require_skin(calved)
    assert calved.notes[0] == "Bones: 5 bones of the rig."
    # fat is as thick as asked for where the calf bulges: the skin lies that far out
    thicker = lay_skin(calf.character, calf.rig, fat={"": 0.002, "knee": 0.008})
    own, thick = (np.median(_over_muscle(laid)) for laid in (calved, thicker))
    assert own == pytest.approx(0.004 * 0.85 / 1.75, abs=1e-3)  # of a person, as the leg is long
    assert thick == pytest.approx(0.008, abs=1e-3)


def _over_muscle(laid: LaidSkin) -> Floats:
    """How far skin over muscles is from what is beneath [m]."""
    surface = SignedSurface(laid.beneath.points, laid.beneath.triangles)
    return -surface.depth(laid.skin.mesh.points[laid.over_muscle])[0]


def test_a_dog_s_ribs_are_filled_and_what_has_no_muscles_is_told(
    canine: tuple[RangedBody, LaidSkin],
) -> None:
    body, laid = canine
    _require_skin(laid)
    assert laid.notes[0] == "Bones: 172 bones of the rig; viscera fill those of torso."
    assert "over bones alone, as no muscle is there: torso" in laid.notes[1]
    kept = {mesh.name for mesh in laid.character.meshes}
    assert len(kept) == 163  # 162 meshes of bones
    stretched = _stretches(laid, body.posed({"elbow": 1.0}))
    assert np.percentile(stretched, (0.5, 99.5)) == pytest.approx([1.0, 1.0], abs=0.9)


def test_a_skin_laid_in_a_pose_comes_back_to_it(man: tuple[Character, Rig]) -> None:
    character, rig = man
    raised = read_keyframes(EXAMPLES / "raise.pose", character.skeleton)
    motion = perform(character, raised).take.motion
    assert motion is not None
    local = motion.local[15]
    assert np.abs(difference_from_bind(character.skeleton, local)).max() > 0.1
    laid = lay_skin(character, rig, local=local, edge=0.03)
    assert _surface(laid, laid.posed).is_watertight
    frames = perform(laid.character, _held(laid.character, local)).take.frames
    assert frames is not None
    assert frames[1].points[0] == pytest.approx(laid.posed, abs=2e-6)


def test_the_command_writes_what_others_read(
    man: tuple[Character, Rig], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", "man.glb")
    write_rig(Path("bare.ecorche"), create_rig(man[0], Path("man.glb"), Path("bare.ecorche"), muscles=False))
    said = _ran({"bare.ecorche": "-o x.glb"}, code=2)
    assert "has no muscles" in said
    assert "ecorche rig" in said
    write_rig(Path("man.ecorche"), create_rig(man[0], Path("man.glb"), Path("man.ecorche")))
    options = "--fat-offset 3 --fat-offset thighs=9 --edge 40"
    told = _ran({"man.ecorche": f"-o new.glb {options}"})
    assert "those of the built-in figure" in told
    assert "Meshes left out: Body" in told
    assert not _ran({"man.ecorche": f"-o new.usdc {options} -q"})
    found = [read_character(Path(name)).body("skin") for name in ("new.glb", "new.usdc")]
    assert found[0].mesh.vertex_count == found[1].mesh.vertex_count
    assert found[0].mesh.points == pytest.approx(found[1].mesh.points, abs=1e-6)
    for wrong, word in (
        ("-o new.glb --fat-offset hip", "no thickness"),
        ("-o new.glb --fat-offset wing=3", "no region and no joint 'wing'"),
        ("-o new.npz", "no skin with its weights"),
        ("-o man.glb", "would be written over"),
        ("-o new.glb --edge 0.5", "Ask for longer edges"),
    ):
        assert word in _ran({"man.ecorche": wrong}, code=2)


def _ran(about: Mapping[str, str], code: int = 0) -> str:
    ((rig, options),) = about.items()
    done = CliRunner().invoke(app, ["skin", rig, *options.split()])
    assert done.exit_code == code, done.output
    return done.output
