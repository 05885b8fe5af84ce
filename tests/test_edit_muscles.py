"""Muscles found in a skin, edited by a person: removed, kept, merged, marked, drawn, resized, moved."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from ecorche.base.signed_pieces import SignedPieces
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.ecorche_surfaces import points_at_bind, surfaces_of
from ecorche.body.edit_muscles import added, kept, marked, merged, moved_end, removed, resized
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.body.muscle_summary import skin_moved_by
from ecorche.body.painting import with_weights
from ecorche.body.rig import check_rig, create_rig
from ecorche.body.under_skin import outside
from ecorche.cli.main import app
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.document.spec import RigSpec, SetAside
from ecorche.errors import DocumentError, EcorcheError
from ecorche.io.masks import write_mask
from ecorche.muscles.extraction.redrawn import enclosing_ellipse, space_rings_of, surface_of
from ecorche.muscles.loft import loft
from ecorche.muscles.loft_frames import bind_axes
from ecorche.muscles.lofted import LoftedMuscle
from extracted_people import extracted
from rigged_people import BICEPS, person, rigged

Floats = npt.NDArray[np.float64]

FRONT, BACK = "upper arm front, left", "upper arm back inner, left"
INNER, OUTER = "lower leg inner, left", "lower leg outer, left"


@pytest.fixture
def man(data: Path) -> Character:
    return person(data / "human" / "male_muscular_cmu_mb.glb")


@pytest.fixture
def rig(data: Path) -> Rig:
    return extracted(data / "human" / "male_muscular_cmu_mb.glb")[1]


def muscle_of(rig: Rig, man: Character, name: str) -> LoftedMuscle:
    return next(m for m in lofted_muscles_of(rig, man.skeleton) if m.name == name)


def radii(muscle: LoftedMuscle, points: Floats) -> Floats:
    """How far points (P, 3) lie from a muscle's middle in the best of the sections near them, 1 on it."""
    u = np.linspace(0.01, 0.99, 199)
    axes = bind_axes(muscle, u)
    stretch, centre = loft(muscle.rings).at(u)
    middle = axes.points + centre[:, :1] * axes.out + centre[:, 1:] * axes.side
    away = points[:, None] - middle
    flat = np.stack([np.sum(away * axes.out, axis=-1), np.sum(away * axes.side, axis=-1)], axis=-1)
    found = np.linalg.norm(np.linalg.solve(stretch, flat[..., None])[..., 0], axis=-1)
    step = np.linalg.norm(np.diff(axes.points, axis=0), axis=1).max()
    beside = np.abs(np.sum(away * axes.along, axis=-1)) < step
    return np.asarray(np.where(beside, found, np.inf).min(axis=1))


def test_a_removed_muscle_is_gone_with_its_map_and_its_gain(man: Character, rig: Rig) -> None:
    count = man.body().mesh.vertex_count
    painted = with_weights(rig, FRONT, np.full(count, 0.5), about="by hand")
    gains = painted.spec.muscles.model_copy(update={"gains": {"elbow flexors": 2.0}})
    painted = replace(painted, spec=painted.spec.model_copy(update={"muscles": gains}))
    edited = removed(painted, [FRONT, FRONT.replace("left", "right")])
    assert FRONT not in edited.rig.spec.muscles.lofted
    assert len(edited.rig.spec.muscles.lofted) == len(rig.spec.muscles.lofted) - 2
    assert edited.rig.spec.maps == edited.rig.maps == {}
    assert edited.rig.spec.muscles.gains == {}
    assert [line.split(":")[0] for line in edited.lines] == [
        "removed",
        "gains of groups without muscles went too",
        "painted maps that no other muscle has went too",
    ]
    assert check_rig(edited.rig, man) == []
    with pytest.raises(DocumentError, match="Did you mean 'upper arm front, left'"):
        removed(rig, ["upper arm frnt, left"])
    assert removed(rig, [FRONT, FRONT]).lines == (f"removed: {FRONT!r}",)


def test_branches_of_a_removed_muscle_stand_alone(man: Character, rig: Rig) -> None:
    lofted = dict(rig.spec.muscles.lofted)
    lofted[BACK] = lofted[BACK].model_copy(update={"joins": FRONT})
    muscles = rig.spec.muscles.model_copy(update={"lofted": lofted})
    branched = replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles}))
    edited = removed(branched, [FRONT])
    assert edited.rig.spec.muscles.lofted[BACK].joins is None
    assert edited.lines[1] == f"no longer branches of a muscle: {BACK!r}"


def test_so_many_are_kept_of_either_kind(data: Path, man: Character, rig: Rig) -> None:
    edited = kept(rig, man, 4)
    assert len(edited.rig.spec.muscles.lofted) == 4
    assert edited.lines[0].startswith(f"kept 4 of {len(rig.spec.muscles.lofted)} muscles found in the skin")
    # what a person drew comes first
    drawn = added(rig, man, "mine", ("LeftArm", "LeftForeArm"), 0.01).rig
    assert list(kept(drawn, man, 1).rig.spec.muscles.lofted) == ["mine"]
    average = data / "human" / "male_average_cmu_mb.glb"
    named = kept(rigged(average), person(average), 12)
    assert len(named.rig.spec.muscles.named) == 12
    assert {"rectus femoris, left", "rectus femoris, right"} <= set(named.rig.spec.muscles.named)
    assert kept(rig, man, 1000).rig is rig


def test_the_smallest_ellipse_round_points() -> None:
    random = np.random.default_rng(4)
    turn = 2.0 * np.pi * np.arange(40) / 40
    for _ in range(20):
        shape, middle = random.normal(size=(2, 2)), random.normal(size=2)
        on = middle + np.column_stack([np.cos(turn), np.sin(turn)]) @ shape.T
        inside = middle + 0.7 * random.uniform(-0.7, 0.7, (30, 2)) @ shape.T
        centre, form = enclosing_ellipse(np.concatenate([inside, on]))
        np.testing.assert_allclose(centre, middle, atol=1e-3 * np.abs(shape).max())
        np.testing.assert_allclose(form, shape @ shape.T, atol=5e-3 * np.abs(form).max())
    points = random.normal(size=(25, 2))
    centre, form = enclosing_ellipse(points)
    away = np.einsum("pi,ij,pj->p", points - centre, np.linalg.inv(form), points - centre)
    assert away.max() <= 1.0 + 1e-9
    assert (away > 1.0 - 1e-2).sum() >= 3


def test_a_merged_muscle_covers_both(man: Character, rig: Rig) -> None:
    edited = merged(rig, man, INNER, OUTER, "calf, left")
    lofted = edited.rig.spec.muscles.lofted
    assert "calf, left" in lofted
    assert not {INNER, OUTER} & set(lofted)
    assert len(lofted) == len(rig.spec.muscles.lofted) - 1
    one = muscle_of(edited.rig, man, "calf, left")
    both = [muscle_of(rig, man, name) for name in (INNER, OUTER)]
    assert one.max_force == pytest.approx(sum(m.max_force for m in both))
    assert one.actions
    for muscle in both:
        shown = surface_of(muscle, np.linspace(muscle.rings.u[0], muscle.rings.u[-1], 25), 16).reshape(-1, 3)
        assert np.quantile(radii(one, shown), 0.97) < 1.1
    assert check_rig(edited.rig, man) == []
    weight = skin_moved_by(compile_body(man, rig=edited.rig), "calf, left")
    before = compile_body(man, rig=rig)
    over = np.maximum(skin_moved_by(before, INNER), skin_moved_by(before, OUTER)) > 0.9
    assert (weight[over] > 0.5).mean() > 0.9
    with pytest.raises(EcorcheError, match="there is no muscle 'nobody'"):
        merged(rig, man, "nobody", "nobody")
    with pytest.raises(EcorcheError, match="is one muscle already"):
        merged(rig, man, INNER, INNER)
    with pytest.raises(DocumentError, match=r"there is a muscle .* already"):
        merged(rig, man, INNER, OUTER, FRONT)


def test_muscles_that_lie_apart_are_not_merged(man: Character, rig: Rig) -> None:
    for other in (INNER, FRONT.replace("left", "right")):
        with pytest.raises(EcorcheError, match="mm apart"):
            merged(rig, man, FRONT, other)


def test_a_new_muscle_needs_a_name(man: Character, rig: Rig) -> None:
    with pytest.raises(EcorcheError, match="needs a name"):
        added(rig, man, " ", ("LeftArm", "LeftForeArm"), 0.01)
    with pytest.raises(EcorcheError, match="needs a name"):
        merged(rig, man, INNER, OUTER, "")


def test_muscles_do_not_branch_from_each_other_in_a_ring(rig: Rig) -> None:
    values = rig.spec.model_dump()
    for one, other in ((FRONT, BACK), (BACK, INNER), (INNER, FRONT)):
        values["muscles"]["lofted"][one]["joins"] = other
    with pytest.raises(ValidationError, match="from itself"):
        RigSpec.model_validate(values)
    values["muscles"]["lofted"][INNER]["joins"] = None
    RigSpec.model_validate(values)


def test_a_map_that_waits_with_a_muscle_set_aside_stays(man: Character, rig: Rig) -> None:
    painted = with_weights(rig, FRONT, np.full(man.body().mesh.vertex_count, 0.5))
    (name,) = painted.spec.maps
    aside = SetAside(lofted={"waiting": painted.spec.muscles.lofted[FRONT]})
    skeleton = painted.spec.skeleton.model_copy(update={"set_aside": aside})
    waiting = replace(painted, spec=painted.spec.model_copy(update={"skeleton": skeleton}))
    assert list(removed(waiting, [FRONT]).rig.spec.maps) == [name]


def test_merging_keeps_branches(man: Character, rig: Rig) -> None:
    lofted = dict(rig.spec.muscles.lofted)
    lofted[BACK] = lofted[BACK].model_copy(update={"joins": OUTER})
    muscles = rig.spec.muscles.model_copy(update={"lofted": lofted})
    branched = replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles}))
    assert merged(branched, man, INNER, OUTER).rig.spec.muscles.lofted[BACK].joins == INNER


def test_a_marked_region_gets_a_muscle_where_none_shows(data: Path) -> None:
    """The slim man's hamstrings do not stand out; marked, they are a muscle there and move that skin."""
    path = data / "human" / "male_slim_cmu_mb.glb"
    slim = person(path)
    bare = create_rig(slim, "man.glb", "man.ecorche", muscles=False)
    points = slim.body().mesh.points.astype(np.float64)
    heads = {n: slim.skeleton.bind_world[slim.skeleton.index(n), :3, 3] for n in ("LeftUpLeg", "LeftLeg")}
    bone = heads["LeftLeg"] - heads["LeftUpLeg"]
    along = (points - heads["LeftUpLeg"]) @ bone / (bone @ bone)
    away = points - heads["LeftUpLeg"] - along[:, None] * bone
    distance = np.linalg.norm(away, axis=1)
    mask = (abs(along - 0.5) < 0.25) & (distance < 0.12) & (away[:, 2] < -0.7 * distance)
    edited = marked(bare, slim, mask.astype(np.float64), "hamstring, left")
    assert edited.lines[0] == "'hamstring, left' was found in thigh, left"
    spec = edited.rig.spec.muscles.lofted["hamstring, left"]
    assert spec.prominence == 0.0
    assert spec.actions
    rings = space_rings_of(muscle_of(edited.rig, slim, "hamstring, left"))
    assert (rings.outward.mean(axis=0) @ [0.0, 0.0, -1.0]) > 0.8
    weight = skin_moved_by(compile_body(slim, rig=edited.rig), "hamstring, left")
    assert weight[mask].mean() > 0.6
    assert weight[mask].sum() > 0.5 * weight.sum()
    # all round the thigh is no muscle, and a hand has none
    with pytest.raises(EcorcheError, match="goes all round thigh, left"):
        marked(bare, slim, ((abs(along - 0.5) < 0.2) & (distance < 0.12)).astype(float), "all")
    hand = np.zeros(len(points))
    joints, weights = slim.body().weights.padded()  # type: ignore[union-attr]
    hands = [slim.skeleton.index(n) for n in ("LeftHand", "LeftFingerBase", "LeftHandFinger1")]
    hand[np.isin(joints[np.arange(len(joints)), weights.argmax(axis=1)], hands)] = 1.0
    with pytest.raises(EcorcheError, match=r"moves mostly with 'LeftHand.*', where no muscles are sought"):
        marked(bare, slim, hand, "palm")
    with pytest.raises(EcorcheError, match="nothing is marked"):
        marked(bare, slim, np.zeros(len(points)), "nothing")


def test_a_mark_over_a_found_muscle_gives_it_again(man: Character, rig: Rig) -> None:
    body = compile_body(man, rig=rig)
    mask = skin_moved_by(body, FRONT)
    edited = marked(rig, man, mask, "biceps again")
    assert any(FRONT in line and "already" in line for line in edited.lines)
    old, new = muscle_of(rig, man, FRONT), muscle_of(edited.rig, man, "biceps again")
    assert new.muscle == old.muscle == "biceps brachii"
    assert new.joints == old.joints
    size = old.rings.half_axes.max()
    between = [np.median(space_rings_of(m).centre, axis=0) for m in (old, new)]
    assert np.linalg.norm(between[0] - between[1]) < size
    far = mask.copy()
    far[skin_moved_by(body, INNER) > 0.9] = 1.0
    assert any("2 pieces" in line for line in marked(rig, man, far, "two").lines)


@pytest.mark.parametrize(
    ("joints", "radius", "towards"),
    [
        (("LeftArm", "LeftForeArm"), 0.015, None),
        (("LeftArm", "LeftForeArm"), 0.015, (0.0, 0.0, -1.0)),
        (("LeftUpLeg", "LeftLeg"), 0.03, (0.0, 0.0, 1.0)),
        (("Spine", "RightArm"), 0.008, (0.0, 0.0, 1.0)),
    ],
)
def test_a_drawn_muscle_lies_under_the_skin(
    man: Character,
    rig: Rig,
    joints: tuple[str, str],
    radius: float,
    towards: tuple[float, float, float] | None,
) -> None:
    edited = added(rig, man, "mine", joints, radius, towards)
    muscle = muscle_of(edited.rig, man, "mine")
    assert tuple(man.skeleton.names[j] for j in muscle.joints) == joints
    assert muscle.rings.half_axes.max() == pytest.approx(radius, rel=0.05)
    assert muscle.actions
    if towards is not None:
        assert muscle.outward @ np.array(towards) > 0.5
    skin = SignedPieces(man.body().mesh.points, man.body().mesh.triangles())
    shown = surface_of(muscle, np.linspace(muscle.rings.u[0], muscle.rings.u[-1], 21), 24)
    assert float(skin.depth(shown)[0].min()) > 0.001
    assert check_rig(edited.rig, man) == []
    compile_body(man, rig=edited.rig)


def test_a_drawn_muscle_without_room_is_told_how_thick_it_may_be(man: Character, rig: Rig) -> None:
    with pytest.raises(EcorcheError, match="a radius of 1000 mm has no room under the skin"):
        added(rig, man, "mine", ("LeftArm", "LeftForeArm"), 1.0)
    with pytest.raises(EcorcheError, match="a radius of 90 mm has no room under the skin") as caught:
        added(rig, man, "mine", ("LeftArm", "LeftForeArm"), 0.09)
    most = float(str(caught.value).split("Give ")[1].split(" m")[0])
    assert 0.015 < most < 0.05
    added(rig, man, "mine", ("LeftArm", "LeftForeArm"), most)
    with pytest.raises(EcorcheError, match="Did you mean 'LeftForeArm'"):
        added(rig, man, "mine", ("LeftArm", "LeftForearm"), 0.01)
    with pytest.raises(EcorcheError, match="would never change its length"):
        added(rig, man, "mine", ("LeftArm", "LeftArm"), 0.01)


def test_a_resized_muscle_keeps_its_outer_face(data: Path, man: Character, rig: Rig) -> None:
    thin = muscle_of(resized(rig, man, FRONT, 0.5).rig, man, FRONT)
    old = muscle_of(rig, man, FRONT)
    np.testing.assert_allclose(thin.rings.half_axes, 0.5 * old.rings.half_axes, atol=1e-6)
    np.testing.assert_allclose(space_rings_of(thin).top, space_rings_of(old).top, atol=1e-5)
    path = data / "human" / "male_average_cmu_mb.glb"
    spec = resized(rigged(path), person(path), BICEPS, 0.8).rig.spec.muscles.named[BICEPS]
    before = rigged(path).spec.muscles.named[BICEPS]
    np.testing.assert_allclose(spec.thickness, 0.8 * np.array(before.thickness), atol=1e-6)

    def outer(m: object) -> float:
        return m.scale * m.thickness[0][3] + (0.0 if m.sweep is None else m.sweep[0][3][0])  # type: ignore[attr-defined, no-any-return]

    assert outer(spec) == pytest.approx(outer(before), abs=1e-6)
    with pytest.raises(EcorcheError, match="cannot be 0 times as thick"):
        resized(rig, man, FRONT, 0.0)


def test_an_end_moves_and_the_belly_stays(man: Character, rig: Rig) -> None:
    edited = moved_end(rig, man, FRONT, "insertion", "LeftHand")
    old, new = muscle_of(rig, man, FRONT), muscle_of(edited.rig, man, FRONT)
    assert man.skeleton.names[new.joints[1]] == "LeftHand"
    np.testing.assert_allclose(new.ends[0], old.ends[0], atol=1e-6)
    assert (radii(old, space_rings_of(new).centre) < 0.2).all()
    areas = [np.prod(m.rings.half_axes, axis=1).max() for m in (old, new)]
    assert areas[1] == pytest.approx(areas[0], rel=0.15)
    assert {"LeftArm", "LeftForeArm", "LeftHand"} & {a.joint for a in new.actions}
    assert check_rig(edited.rig, man) == []
    with pytest.raises(EcorcheError, match="would never change its length"):
        moved_end(rig, man, FRONT, "insertion", "LeftShoulder")
    with pytest.raises(EcorcheError, match="Choose origin or insertion"):
        moved_end(rig, man, FRONT, "middle", "LeftHand")


def test_only_a_muscle_that_is_drawn_outside_is_said_to_leave_the_skin(man: Character, rig: Rig) -> None:
    """Its bare ellipses, blended on to far bones, leave the skin by centimetres where nothing is drawn."""
    skin = SignedPieces(man.body().mesh.points.astype(np.float64), man.body().mesh.triangles())
    for edited in (
        moved_end(rig, man, FRONT, "insertion", "LeftHand"),
        resized(rig, man, FRONT, 3.0),
        merged(rig, man, INNER, OUTER),
    ):
        name = next(n for n in (FRONT, INNER) if n in " ".join(edited.lines))
        bare = surface_of(muscle_of(edited.rig, man, name), np.linspace(0.05, 0.95, 31), 24)
        assert float(skin.depth(bare)[0].min()) < -0.005
        body = compile_body(man, rig=edited.rig)
        surfaces = surfaces_of(body)
        drawn = points_at_bind(surfaces, body)[
            surfaces.muscle == list(edited.rig.spec.muscles.lofted).index(name)
        ]
        out = -float(skin.depth(drawn.astype(np.float64))[0].min())
        assert outside(edited.rig, man, name) == pytest.approx(max(out, 0.0), abs=1e-6)
        assert out < 0.001
        assert not any("leaves the skin" in line for line in edited.lines)


def test_template_muscles_are_told_where_they_are_edited(data: Path) -> None:
    path = data / "human" / "male_average_cmu_mb.glb"
    with pytest.raises(DocumentError, match="is a muscle of the template"):
        moved_end(rigged(path), person(path), BICEPS, "origin", "Spine")


def test_the_command_edits_the_file(data: Path, rig: Rig, man: Character, tmp_path: Path) -> None:
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", tmp_path / rig.spec.character.path)
    file = tmp_path / "man.ecorche"
    write_rig(file, rig)

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["muscles", str(file), *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    listed = run()
    assert f"{len(rig.spec.muscles.lofted)} found in the skin" in listed
    assert all(name in listed for name in rig.spec.muscles.lofted)
    write_mask(tmp_path / "mask.npy", skin_moved_by(compile_body(man, rig=rig), FRONT))
    run("--remove", FRONT, "--remove", BACK)
    assert "was found in upper arm, left" in run("--mark", str(tmp_path / "mask.npy"), "--name", "my biceps")
    run("--merge", INNER, OUTER, "--as", "calf, left")
    run("--add", "mine", "--between", "LeftArm", "LeftForeArm", "--radius", "0.01", "--towards", "0,0,-1")
    run("--resize", "mine", "0.5")
    run("--move-end", "calf, left", "origin", "LeftUpLeg")
    now = read_rig(file).spec.muscles.lofted
    assert set(now) == (set(rig.spec.muscles.lofted) - {FRONT, BACK, INNER, OUTER}) | {
        "my biceps",
        "calf, left",
        "mine",
    }
    run("--keep", "3", "-o", str(tmp_path / "few.ecorche"))
    assert len(read_rig(tmp_path / "few.ecorche").spec.muscles.lofted) == 3
    assert read_rig(file).spec.muscles.lofted == now
    for arguments, why in (
        (["--keep", "3", "--remove", "mine"], "one at a time"),
        (["--mark", str(tmp_path / "mask.npy")], "--name NAME"),
        (["--add", "x"], "--between JOINT JOINT --radius METRES"),
        (["--as", "x"], "--as belongs to --merge"),
        (["--attribute", "x"], "--attribute belongs to --mark"),
        (["--keep", "2", "-o", str(tmp_path / "few.ecorche")], "may hold edits"),
        (
            ["--add", "x", "--between", "LeftArm", "LeftForeArm", "--radius", "0.01", "--towards", "up"],
            "0,0,1",
        ),
    ):
        refused = CliRunner().invoke(app, ["muscles", str(file), *arguments])
        assert refused.exit_code == 2
        assert why in refused.output
    assert read_rig(file).spec.muscles.lofted == now
    assert len(read_rig(tmp_path / "few.ecorche").spec.muscles.lofted) == 3


def test_found_muscles_of_a_template_stay_with_its_skin(data: Path, rig: Rig, tmp_path: Path) -> None:
    average, woman = data / "human" / "male_average_cmu_mb.glb", data / "human" / "female_average_cmu_mb.glb"

    def given(template: Rig, name: str) -> tuple[int, str]:
        write_rig(tmp_path / f"{name}.ecorche", template)
        template_file, made = tmp_path / f"{name}.ecorche", tmp_path / f"{name}_woman.ecorche"
        done = CliRunner().invoke(app, ["rig", str(woman), "--template", str(template_file), "-o", str(made)])
        return done.exit_code, done.output

    both = added(rigged(average), person(average), "mine", ("LeftArm", "LeftForeArm"), 0.01).rig
    code, said = given(both, "both")
    assert code == 0, said
    assert "each skin shows its own: 1 muscles" in said
    made = read_rig(tmp_path / "both_woman.ecorche").spec.muscles
    assert made.lofted == {}
    assert len(made.named) > 150
    code, said = given(rig, "found")
    assert code == 2
    assert "--muscles extract" in said


def test_no_command_writes_over_the_character(data: Path, rig: Rig, tmp_path: Path) -> None:
    character, file = tmp_path / "man.glb", tmp_path / "man.ecorche"
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", character)
    before = character.read_bytes()
    beside = rig.spec.character.model_copy(update={"path": character.name})
    write_rig(file, replace(rig, spec=rig.spec.model_copy(update={"character": beside})))
    for arguments in (["weights", str(file), FRONT], ["bake", str(file)], ["export", str(file)]):
        refused = CliRunner().invoke(app, [*arguments, "-o", str(character)])
        assert refused.exit_code == 2
        assert "written over" in refused.output
    assert character.read_bytes() == before
