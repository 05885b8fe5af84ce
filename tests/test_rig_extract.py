"""Rigs whose muscles are found in the skin, and template muscles adjusted to what the skin shows."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from benchmarks.muscle_people import Pair, motion_file
from benchmarks.muscles_outside import HELD, outside
from typer.testing import CliRunner

from conftest import Figure
from ecorche.base.mesh import triangle_mesh
from ecorche.base.signed_pieces import SignedPieces
from ecorche.body.adjust_template import AdjustmentReport, with_adjusted_muscles
from ecorche.body.compile import compile_body
from ecorche.body.extract_muscles import found_in_skin, most_telling, with_extracted_muscles
from ecorche.body.live_frames import LiveFrames
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.perform import perform
from ecorche.body.rig import check_rig, create_rig
from ecorche.cli.main import app
from ecorche.document.files import Rig, read_rig
from ecorche.errors import DocumentError, EcorcheError
from ecorche.io.formats import read_motion
from ecorche.muscles.fit import TISSUE
from ecorche.muscles.musculature import musculature
from ecorche.muscles.root_curves import root_curves
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.skin.weights import weights_from_table
from extracted_people import extraction_report
from rigged_people import person, rigged
from test_extraction_bad_input import posed


def muscular(data: Path) -> Path:
    return data / "human" / "male_muscular_cmu_mb.glb"


@cache
def adjusted(path: Path) -> tuple[Rig, AdjustmentReport]:
    return with_adjusted_muscles(rigged(path), person(path))


def told(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def test_a_rig_holds_what_was_found(data: Path) -> None:
    man = person(muscular(data))
    rig, report = extraction_report(muscular(data))
    found = report.extraction.muscles
    assert list(rig.spec.muscles.lofted) == [m.name for m in found]
    assert rig.spec.muscles.named == {}
    assert check_rig(rig, man) == []
    for muscle, track in zip(found, report.extraction.tracks, strict=True):
        assert muscle.prominence == track.prominence > 0.0
        assert rig.spec.muscles.lofted[muscle.name].prominence == pytest.approx(track.prominence, abs=1e-6)
    assert sum(report.regions.values()) == len(found)
    assert {"upper arm, left", "thigh, right"} <= set(report.regions)
    assert report.lines()[0] == f"{len(found)} muscles found in the skin"
    assert any("LeftHand" in line and "plain skinning" in line for line in report.lines())
    body = compile_body(man, rig=rig)
    assert body.lofts is not None
    assert body.lofts.lofts.names == tuple(m.name for m in found)


def test_a_skin_in_two_meshes_is_told_to_be_joined(data: Path) -> None:
    man = person(muscular(data))
    body = man.body()
    assert body.weights is not None
    joints, weights = body.weights.padded()
    points, triangles = body.mesh.points, body.mesh.triangles()
    below = (points[:, 1] < 0.7)[triangles].any(axis=1)
    pieces = []
    for name, faces in (("legs", triangles[below]), ("rest", triangles[~below])):
        used, corners = np.unique(faces, return_inverse=True)
        mesh = triangle_mesh(name, points[used].astype(np.float64), corners.reshape(-1, 3))
        table = weights_from_table(joints[used], weights[used], man.skeleton.joint_count, name)
        pieces.append(replace(body, mesh=mesh, weights=table))
    cut = replace(man, meshes=tuple(pieces))
    report = with_extracted_muscles(create_rig(cut, "man.glb", "man.ecorche", muscles=False), cut)[1]
    assert report.lines()[-1].startswith("Muscles were sought in 'rest' alone, which has no skin of LeftLeg,")
    assert report.lines()[-1].endswith("join it with the meshes that have ('legs').")
    assert not any("sought" in line for line in extraction_report(muscular(data))[1].lines())
    dressed = person(data / "human" / "male_dressed_mixamo.glb")
    bare = create_rig(dressed, "dressed.glb", "dressed.ecorche", muscles=False)
    assert not any("sought" in note for note in found_in_skin(dressed, bare).notes)


def test_a_skin_that_crosses_itself_is_told_with_the_muscle(data: Path) -> None:
    """Arms bound through the trunk; by winding numbers, which that does not mislead, nothing is outside."""
    into = {"LeftArm": np.array([0.0, 0.0, -1.1]), "RightArm": np.array([0.0, 0.0, 1.1])}
    man = posed(person(muscular(data)), into)
    report = with_extracted_muscles(create_rig(man, "man.glb", "man.ecorche", muscles=False), man)[1]
    (note,) = (line for line in report.lines() if line.startswith("The skin crosses itself at"))
    assert "'shoulder back, left'" in note or "'forearm outer, left'" in note
    for path in (muscular(data), data / "human" / "male_slim_cmu_mb.glb", data / "dog" / "dog.xml"):
        assert not any("crosses itself" in line for line in extraction_report(path)[1].lines())


def test_where_nothing_shows_every_region_says_why(data: Path) -> None:
    man = person(muscular(data))
    body = man.body()
    torn = body.mesh.triangles()[np.random.default_rng(3).random(len(body.mesh.triangles())) > 0.5]
    mesh = triangle_mesh(body.name, body.mesh.points.astype(np.float64), torn)
    tatters = replace(man, meshes=(replace(body, mesh=mesh),))
    with pytest.raises(EcorcheError, match="no muscles show in the skin") as refused:
        with_extracted_muscles(create_rig(tatters, "man.glb", "man.ecorche", muscles=False), tatters)
    for region in ("LeftHand", "upper arm, left", "thigh, right", "left shoulder", "right abdomen"):
        assert region in str(refused.value)
    assert str(refused.value).count("too short for muscles") == 1


def test_a_region_whose_skin_follows_a_muscle_found_beside_it_says_so(data: Path) -> None:
    """A man's hip that the top of his buttock reaches into, and a dog's thigh under the cap of its hip."""
    for path, region, muscle in (
        (muscular(data), "left hip", "abdomen back, left"),
        (data / "dog" / "dog.xml", "upper_leg_L", "hip cap side, left"),
    ):
        lines = extraction_report(path)[1].lines()
        nothing = [line for line in lines if line.endswith("no muscle shows there")]
        assert not any(region in re.split("[:;] ", line) for line in nothing)
        (told_of,) = (line for line in lines if line.startswith(f"{region}: no muscle shows in these"))
        assert repr(muscle) in told_of
    slim = extraction_report(data / "human" / "male_slim_cmu_mb.glb")[1].lines()
    assert any("thigh, left" in line and line.endswith("no muscle shows there") for line in slim)


def test_the_most_telling_are_kept(data: Path) -> None:
    man = person(muscular(data))
    _, report = extraction_report(muscular(data))
    found = report.extraction.muscles
    kept = most_telling(found, man.skeleton, 6)
    lengths = root_curves(found, man.skeleton.joint_count).bind.lengths
    telling = {m.name: m.prominence * length for m, length in zip(found, lengths, strict=True)}
    worst = min(telling[m.name] for m in kept)
    assert len(kept) == 6
    assert all(telling[m.name] <= worst for m in found if m.name not in {k.name for k in kept})
    assert [m.name for m in kept] == [m.name for m in found if m.name in {k.name for k in kept}]
    assert [m.name for m in most_telling(found, man.skeleton, 1000)] == [m.name for m in found]
    with pytest.raises(EcorcheError, match="cannot be kept"):
        most_telling(found, man.skeleton, -1)


def test_the_command_writes_the_same_rig_twice(data: Path, tmp_path: Path) -> None:
    horse = str(data / "mesh2motion" / "horse-animations.glb")
    first, second = tmp_path / "a.ecorche", tmp_path / "b" / "a.ecorche"
    second.parent.mkdir()
    text = told("rig", horse, "--muscles", "extract", "--keep", "8", "-o", str(first))
    assert "muscles found in the skin, the 8 kept for which prominence times length is greatest" in text
    assert "8 muscles," in text
    told("rig", horse, "--muscles", "extract", "--keep", "8", "-o", str(second))
    one, other = (read_rig(path).spec.muscles for path in (first, second))
    assert one == other
    assert len(one.lofted) == 8
    listed = told("muscles", str(first))
    assert all(name in listed for name in one.lofted)


def test_options_that_contradict_each_other_are_refused(data: Path, tmp_path: Path) -> None:
    man, output = str(muscular(data)), str(tmp_path / "a.ecorche")
    for options, why in (
        (["--keep", "3"], "--keep chooses among muscles found in the skin"),
        (["--muscles", "extract", "--without-muscles"], "--without-muscles excludes --muscles"),
        (["--muscles", "extract", "--template", "other.ecorche"], "--template gives muscles of another rig"),
    ):
        refused = CliRunner().invoke(app, ["rig", man, *options, "-o", output])
        assert refused.exit_code == 2
        assert why in refused.output
    refused = CliRunner().invoke(
        app, ["rig", str(data / "mesh2motion" / "horse-animations.glb"), "-o", output]
    )
    assert refused.exit_code == 2
    assert "--muscles extract" in refused.output
    assert not list(tmp_path.iterdir())


def test_template_muscles_are_adjusted_to_the_skin(data: Path, figure: Figure) -> None:
    before, (after, report) = rigged(muscular(data)), adjusted(muscular(data))
    was, now = before.spec.muscles.named, after.spec.muscles.named
    assert list(was) == list(now)
    assert after.spec.muscles.lofted == {}
    changed = {a.muscle for a in report.result.adjustments}
    assert {n for n in was if was[n] != now[n]} <= changed
    for side in ("left", "right"):
        assert {f"biceps brachii, short head, {side}", f"rectus femoris, {side}"} <= changed
    for a in report.result.adjustments:
        assert now[a.muscle].path == was[a.muscle].path
        assert abs(a.belly[1] - a.belly[0]) <= 0.12 + 1e-9
        assert a.off[1] <= a.off[0]
        assert now[a.muscle].belly == pytest.approx(a.belly[1], abs=1e-6)
    off = np.array([a.off for a in report.result.adjustments])
    left = float(off[:, 1].mean() / off[:, 0].mean())
    figure("outer faces of template muscles off those found, of what they were", left, 0.8, "")
    assert left < 0.8
    lines = report.lines()
    assert f"{len(changed)} of the template's were adjusted" in lines[0]
    assert all(name in " ".join(lines) for name in report.result.alone[:3])
    assert set(lines) <= set(after.spec.notes)


def test_the_trunks_muscles_are_adjusted_too(data: Path, figure: Figure) -> None:
    """Its swellings are flat, and the template's muscles lie under them, not in them."""
    _, report = adjusted(muscular(data))
    done = {a.muscle: a for a in report.result.adjustments}
    assert report.result.alone == ()
    for side in ("left", "right"):
        for muscle in (
            "deltoid, posterior", "pectoralis major, sternal", "pectoralis major, abdominal",
            "latissimus dorsi, lower", "trapezius, upper", "rectus abdominis", "gluteus maximus, upper",
        ):  # fmt: skip
            a = done[f"{muscle}, {side}"]
            assert a.off[1] < 0.95 * a.off[0]
            assert 0.7 < a.thickness[1] * a.width[1] / (a.thickness[0] * a.width[0]) < 1.6
    chest = done["pectoralis major, sternal, left"].off
    figure("outer face of the sternal pectoral off that found, of what it was", chest[1] / chest[0], 0.5, "")
    assert chest[1] < 0.5 * chest[0]


def test_adjusted_muscles_move_the_skin_as_much_and_leave_it_no_more(data: Path) -> None:
    man, was, (now, report) = person(muscular(data)), rigged(muscular(data)), adjusted(muscular(data))
    squat = read_motion(motion_file(data, "squat"))
    moves = perform(man, squat, rig=was, muscles=False).take.motion
    assert moves is not None
    worst, most = [], []
    for rig in (was, now):
        body = compile_body(man, rig=rig)
        pair = Pair(LiveFrames(body, moves), LiveFrames(replace(body, muscles=None), moves))
        gaps = dict(zip(pair.muscles.musculature.names, outside(pair, HELD["squat"]), strict=True))
        worst.append(max(gaps[a.muscle].max() for a in report.result.adjustments))
        with_muscles, without = pair.skins(HELD["squat"])
        most.append(float(np.linalg.norm(with_muscles - without, axis=1).max()))
    assert worst[1] < worst[0] + 5e-4
    assert worst[1] < 2e-3
    assert most[1] == pytest.approx(most[0], rel=0.2)


def test_left_and_right_are_adjusted_alike(data: Path) -> None:
    """The man is symmetric to a fraction of a millimetre, so what is done to him should be."""
    _, report = adjusted(muscular(data))
    sides = {a.muscle: a for a in report.result.adjustments}
    pairs = [(a, sides.get(n.replace("left", "right"))) for n, a in sides.items() if n.endswith("left")]
    both = [(a, b) for a, b in pairs if b is not None]
    assert len(both) >= 0.9 * len(pairs)
    for a, b in both:
        assert a.thickness[1] == pytest.approx(b.thickness[1], rel=0.25)


def test_adjusted_muscles_stay_under_the_skin(data: Path) -> None:
    man = person(muscular(data))
    rig, report = adjusted(muscular(data))
    changed = {a.muscle for a in report.result.adjustments} - {name for name, _ in report.result.exposed}
    muscles, scapulae = muscles_of(rig, man.skeleton)
    joined = musculature([m for m in muscles if m.name in changed], man.skeleton, scapulae)
    surfaces = spindle_surfaces(joined.spindles)
    frames, states = joined.posed(np.zeros((man.skeleton.joint_count, 4, 4)))
    points = surfaces.points(states, Stations(*frames.at(surfaces.t)))
    skin = SignedPieces(man.body().mesh.points, man.body().mesh.triangles())
    assert float(skin.depth(points)[0].min()) > TISSUE - 2e-4


def test_a_rig_without_template_muscles_has_nothing_to_adjust(data: Path) -> None:
    rig, _ = extraction_report(muscular(data))
    with pytest.raises(DocumentError, match="has no template muscles to adjust"):
        with_adjusted_muscles(rig, person(muscular(data)))
