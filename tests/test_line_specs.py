"""Muscles on action lines in the rig file and in a body: kept as they are, posed, left out by name."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from characters import bending, tube
from ecorche.body.bake import bake
from ecorche.body.compile import compile_body
from ecorche.body.line_specs import fields_of, line_muscles_of
from ecorche.body.muscle_meshes import with_muscle_meshes
from ecorche.body.muscle_summary import summarise_muscles
from ecorche.body.perform import perform
from ecorche.body.rebind import rebind
from ecorche.body.rig import check_rig, create_rig
from ecorche.body.spelled_lines import field_specs, line_specs
from ecorche.document import text
from ecorche.document.files import Rig, read_rig, spec_from_text, write_rig
from ecorche.document.line_spec import OnLineSpec
from ecorche.document.surfaces import arrays_from_surfaces, surfaces_from_arrays
from ecorche.errors import DocumentError, EcorcheError
from ecorche.io.formats import WriteOptions, write_take
from tube_document import FIXTURE, refusal

ONE, TWO, THREE = "mesh one, left", "mesh two, left", "mesh three, left"


def _one(document: dict[str, Any]) -> Any:
    return document["muscles"]["lines"][ONE]


def _bone(document: dict[str, Any]) -> Any:
    return document["muscles"]["fields"]["bone"]


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda d: _bone(d)["ellipsoids"][0].update(radii=[0.0, 0.1, 0.1]), ["radii[0]", "above 0"]),
        (lambda d: _bone(d)["ellipsoids"][0].update(joint=None), ["neither or both of a joint and a line"]),
        (lambda d: _bone(d)["ellipsoids"][0].update(turn=[0.0, 0.0, 0.0, 2.0]), ["is no rotation"]),
        (lambda d: _one(d)["lines"][0].update(tendon=[True]), ["tendon", "1 values for 6 nodes", "Give 5"]),
        (lambda d: _one(d)["lines"][0].update(tendon=[True] * 5), ["nothing of the line is belly"]),
        (lambda d: _one(d)["lines"][0].update(fields=["bome"]), ["no field 'bome'", "Did you mean 'bone'?"]),
        (
            lambda d: d["muscles"]["lines"][TWO]["lines"][0]["nodes"].pop(0),
            ["a free node stands at the end", "nodes[0]"],
        ),
        (lambda d: _one(d)["lines"][0]["nodes"][3].update(low=10.0), ["10, 0 and 90 do not rise"]),
        (lambda d: _one(d)["lines"][0]["nodes"][1].update(kind="fre"), ["nodes[1]", "'free'"]),
        (lambda d: _one(d).update(path={"model": "elastic"}), ["an elastic line cannot have a mobile node"]),
        (lambda d: _one(d).update(lines=[]), ["lines"]),
        (lambda d: _one(d).update(volum="exact"), ["unknown field 'volum'", "Did you mean 'volume'?"]),
        (lambda d: d["body_type"].update(bulk=9.0), ["body_type.bulk", "at most 3"]),
        (
            lambda d: d["muscles"]["fields"]["pulley"]["ellipsoids"][0]["on_line"].update(muscle=ONE),
            [f"there is no muscle {ONE!r} with elastic lines"],
        ),
        (
            lambda d: d["muscles"]["lines"].update({"flexor, left": _one(d)}),
            ["two muscles are called 'flexor, left'"],
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_field(
    change: Callable[[dict[str, Any]], object], parts: list[str]
) -> None:
    message = refusal(change)
    for part in parts:
        assert part in message


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    """The tube's rig with the fixture's muscles on action lines."""
    made = create_rig(tube(), tmp_path / "tube.glb", tmp_path / "tube.ecorche", muscles=False)
    kept = read_rig(FIXTURE)
    muscles = kept.spec.muscles.model_copy(update={"named": {}, "lofted": {}, "gains": {}})
    spec = made.spec.model_copy(update={"muscles": muscles, "body_type": kept.spec.body_type})
    return replace(made, spec=spec, surfaces=kept.surfaces)


def changed(rig: Rig, change: Callable[[dict[str, Any]], object]) -> Rig:
    document = json.loads(rig.spec.model_dump_json())
    change(document)
    return replace(rig, spec=spec_from_text(text.layout(document), "tube.ecorche"))


def test_file_and_arrays_come_back_as_they_were(rig: Rig, tmp_path: Path) -> None:
    written = write_rig(tmp_path / "tube.ecorche", rig)
    back = read_rig(tmp_path / "tube.ecorche")
    assert back.spec == written
    for name, surface in rig.surfaces.items():
        for part in ("points", "triangles", "attached"):
            assert np.array_equal(getattr(back.surfaces[name], part), getattr(surface, part))
            assert getattr(back.surfaces[name], part).dtype == getattr(surface, part).dtype


def test_muscles_and_fields_come_back_from_their_spec(rig: Rig) -> None:
    skeleton = tube().skeleton
    specs, surfaces = line_specs(line_muscles_of(rig, skeleton), skeleton)
    assert list(specs) == [ONE, TWO, THREE]
    fields = field_specs(fields_of(rig, skeleton), skeleton, {THREE: OnLineSpec(muscle=THREE)})
    for mine, theirs in ((specs, rig.spec.muscles.lines), (fields, rig.spec.muscles.fields)):
        for name, spec in theirs.items():
            assert _close(mine[name].model_dump(), spec.model_dump()), name
    assert np.array_equal(surfaces["spindle"].attached, rig.surfaces["spindle"].attached)


def _close(one: Any, other: Any) -> bool:
    """Equal, numbers to rounding."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(_close(one[k], other[k]) for k in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_close, one, other))
    return one == pytest.approx(other, abs=1e-12) if isinstance(one, float) else one == other


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda s: replace(s, points=np.where(np.arange(len(s.points))[:, None] == 3, np.nan, s.points)),
         "the position of vertex 3 is not a number"),
        (lambda s: replace(s, triangles=s.triangles[:0]), "it has no triangles"),
        (lambda s: replace(s, triangles=s.triangles + 9), "vertices that do not exist"),
        (lambda s: replace(s, attached=s.attached + 1), "sit on attachment 2, but there are 2"),
    ],
)  # fmt: skip
def test_meshes_that_are_none_are_not_written(
    rig: Rig, tmp_path: Path, spoil: Callable[[Any], Any], told: str
) -> None:
    with pytest.raises(DocumentError, match=told):
        write_rig(tmp_path / "t.ecorche", replace(rig, surfaces={"spindle": spoil(rig.surfaces["spindle"])}))
    assert list(tmp_path.iterdir()) == []


def test_a_rig_keeps_the_room_of_muscles_under_the_skin(rig: Rig, tmp_path: Path) -> None:
    surface = rig.surfaces["spindle"]
    room = np.linspace(0.0, 0.01, surface.points.size, dtype=np.float32).reshape(-1, 3)
    write_rig(tmp_path / "t.ecorche", replace(rig, surfaces={"spindle": replace(surface, room=room)}))
    back = read_rig(tmp_path / "t.ecorche").surfaces["spindle"].room
    assert back is not None
    assert back.dtype == np.float32
    assert (back == room).all()
    arrays = arrays_from_surfaces({"spindle": replace(surface, room=room[1:])})
    with pytest.raises(DocumentError, match="its room is not one direction a vertex"):
        surfaces_from_arrays(arrays, ["spindle"], "t.npz")
    spoilt = replace(surface, room=np.where(room == room[4], np.nan, room))
    with pytest.raises(DocumentError, match="the room of vertex 4 is not a number"):
        write_rig(tmp_path / "u.ecorche", replace(rig, surfaces={"spindle": spoilt}))


def test_unknown_joints_are_told_by_check(rig: Rig) -> None:
    assert check_rig(rig, tube()) == []
    for change, field in (
        (lambda d: _one(d)["attachments"][1].update(joint="uper"), "attachments[1].joint"),
        (lambda d: _one(d)["lines"][0]["nodes"][0].update(joint="uper"), "lines[0].nodes[0].joint"),
        (lambda d: _bone(d)["ellipsoids"][1].update(joint="uper"), "ellipsoids[1].joint"),
    ):
        (problem,) = check_rig(changed(rig, change), tube())
        assert field in problem
        assert "there is no joint 'uper'" in problem


def test_what_no_bake_could_do_is_told_by_check(rig: Rig) -> None:
    def circle(document: Any) -> None:
        muscles = document["muscles"]
        muscles["lines"][TWO]["path"] = {"model": "elastic"}
        on_itself = {"muscle": TWO, "line": 0, "place": 1.0}
        ball = {"on_line": on_itself, "centre": [0.0, 0.0, 0.0], "radii": [0.01, 0.01, 0.01]}
        muscles["fields"]["its own"] = {"ellipsoids": [ball]}
        muscles["lines"][TWO]["lines"][0]["fields"] = ["its own"]

    belly = {"place": "belly", "material": "jelly"}
    for change, told in (
        (circle, f"muscles.lines: lines bend each other in a circle: '{TWO}' bends '{TWO}' by field"),
        (lambda d: d.update(coupling={"bones": ["rib"]}), "coupling.bones: there is no mesh 'rib' of bones"),
        (lambda d: d.update(coupling={"regions": {"tail": "plain"}}), "coupling.regions: there is no region"),
        (lambda d: d.update(fat={"regions": {"b": belly}}), "fat.regions.b.material: there is no tissue"),
    ):
        (problem,) = check_rig(changed(rig, change), tube())
        assert problem.startswith(told)


def test_bind_is_exact_and_every_kind_of_line_bends(rig: Rig) -> None:
    character = tube()
    body = compile_body(character, rig=rig)
    assert body.lines is not None
    meshes = body.lines.musculature.meshes
    assert body.lines.names == (ONE, TWO, THREE)
    still = np.zeros((2, 4, 4))
    assert np.array_equal(body.lines.points(still, np.zeros(3)), meshes.bind)
    modelled = rig.surfaces["spindle"].points
    thick = meshes.bind[: len(modelled)]
    assert np.array_equal(thick[[0, 16, 20]], modelled[[0, 16, 20]])  # bulk leaves attachments where they are
    assert np.abs(thick - modelled).max() > 0.001
    live = perform(character, bending(character), rig=rig).take.frames
    posed = live.line_points(4)  # type: ignore[union-attr]
    assert np.isfinite(posed).all()
    assert np.abs(posed - meshes.bind).max() > 0.1
    # what sits on the upper bone goes with it, on each of the three muscles
    moved = live.motion.local[4, 0] @ live.motion.local[4, 1] @ character.skeleton.bind_inverse[1]  # type: ignore[union-attr]
    for first in meshes.starts[:-1]:
        at = meshes.bind[first + 16 : first + 20]
        assert np.abs(posed[first + 16 : first + 20] - (at @ moved[:3, :3].T + moved[:3, 3])).max() < 1e-9


def test_muscles_on_lines_move_the_skin_by_coupling_alone(rig: Rig) -> None:
    character = tube()
    as_modelled = changed(rig, lambda d: d.update(body_type={"bulk": 1.0, "fat": 0.0}))
    plain, muscled = (perform(character, bending(character), rig=r).take.frames for r in (None, as_modelled))
    assert plain is not None
    assert muscled is not None
    assert np.array_equal(plain[3].points[0], muscled[3].points[0])


def test_a_muscle_that_cannot_be_compiled_is_named_and_the_others_work(rig: Rig) -> None:
    attracting = changed(rig, lambda d: _bone(d).update(kind="attract"))
    body = compile_body(tube(), rig=attracting)
    assert body.lines is not None
    assert body.lines.names == (TWO, THREE)
    (note,) = [n for n in body.lines.musculature.notes if "left out" in n]
    assert ONE in note
    assert "the field 'bone' attracts" in note
    assert np.isfinite(body.lines.points(np.zeros((2, 4, 4)), np.full(3, 0.5))).all()


def test_lines_that_bend_each_other_in_a_ring_are_refused_by_name(rig: Rig) -> None:
    def ring(d: dict[str, Any]) -> None:
        ellipsoid = copy.deepcopy(d["muscles"]["fields"]["pulley"]["ellipsoids"][0])
        ellipsoid["on_line"]["muscle"] = TWO
        d["muscles"]["fields"]["back"] = {"ellipsoids": [ellipsoid]}
        d["muscles"]["lines"][THREE]["lines"][0]["fields"] = ["back"]

    with pytest.raises(EcorcheError) as caught:
        compile_body(tube(), rig=changed(rig, ring))
    assert TWO in str(caught.value)
    assert THREE in str(caught.value)


def test_oscillation_lags_behind_and_a_part_is_cut_from_the_whole(rig: Rig) -> None:
    character = tube()
    motion = bending(character, 25)
    off = perform(character, motion, rig=rig).take.frames
    swinging = perform(character, motion, rig=rig, dynamics="oscillation").take.frames
    part = perform(character, motion, rig=rig, dynamics="oscillation", frames=(10, 20)).take.frames
    apart = [np.abs(off.line_points(f) - swinging.line_points(f)).max() for f in (0, 12)]  # type: ignore[union-attr]
    assert apart[0] < 1e-12
    assert 1e-5 < apart[1] < 0.05
    assert np.array_equal(part.line_points(3), swinging.line_points(13))  # type: ignore[union-attr]
    with pytest.raises(EcorcheError, match="there is no dynamics 'oscilation'"):
        perform(character, motion, rig=rig, dynamics="oscilation")


@pytest.mark.parametrize("suffix", [".usda", ".npz"])
def test_baked_beside_the_skin(rig: Rig, tmp_path: Path, suffix: str) -> None:
    character = tube()
    take, _ = with_muscle_meshes(perform(character, bending(character), rig=rig).take)
    path = tmp_path / f"tube{suffix}"
    bake(path, take, lambda file, whole: write_take(file, whole, WriteOptions()))
    assert take.frames is not None
    wanted = take.frames[3].points[1]
    if suffix == ".npz":
        with np.load(path) as arrays:
            assert np.array_equal(arrays[f"Muscles/{ONE}/points"][3], wanted)
            assert arrays["points"].shape[1] == character.meshes[0].mesh.vertex_count
        return
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))
    scope = stage.GetPrimAtPath("/tube/Muscles")
    assert scope.GetTypeName() == "Scope"
    meshes = [UsdGeom.Mesh(prim) for prim in scope.GetChildren()]
    assert len(meshes) == 3
    times = meshes[0].GetPointsAttr().GetTimeSamples()
    assert len(times) == 5
    assert np.array_equal(np.array(meshes[0].GetPointsAttr().Get(times[3])), wanted)


def test_told_in_numbers(rig: Rig) -> None:
    character = tube()
    told = summarise_muscles(character, rig, bending(character, 9))
    assert told is not None
    one, two, _ = told.muscles
    assert (one.lines, one.attachments, one.doubts) == (1, "femur → tibia", 1)
    assert one.length == one.shortest < one.longest  # it lies outside the bend
    assert two.volume_cm3 > 500.0
    assert two.volume_error < 1e-6  # exact; the first goes by the thesis's rule and is not held


def test_a_rebind_keeps_them_where_joints_stand_and_refuses_where_they_moved(
    rig: Rig, tmp_path: Path
) -> None:
    same, report = rebind(rig, tube(), tmp_path / "tube.glb", tmp_path / "tube.ecorche")
    assert same.spec.muscles.lines == rig.spec.muscles.lines
    assert report.muscles == 3
    assert list(same.surfaces) == ["spindle"]
    with pytest.raises(DocumentError, match="joint 'upper' is elsewhere, and 3 muscles that are meshes"):
        rebind(rig, tube(length=2.0), tmp_path / "tube.glb", tmp_path / "tube.ecorche")
