"""Action lines, edited: every change gives a rig that compiles, and changes what it says and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from characters import tube
from ecorche.body.as_lines import as_lines
from ecorche.body.character import Character
from ecorche.body.edit_fields import (
    added_ellipsoid,
    added_field,
    changed_field,
    ellipsoid_at_bind,
    placed_ellipsoid,
    removed_ellipsoid,
    removed_field,
    with_fields_on_line,
)
from ecorche.body.edit_lines import (
    changed_line,
    moved_node,
    with_adherence,
    with_freedom,
    with_node_kind,
)
from ecorche.body.edit_muscle_lines import added_line, removed_line, with_path_model
from ecorche.body.edit_muscles import removed
from ecorche.body.edit_segments import segment_counts, with_segments
from ecorche.body.edited_lines import Lines
from ecorche.body.edited_rig import Edited
from ecorche.body.line_specs import fields_of
from ecorche.body.lines import compile_lines
from ecorche.body.mirror_lines import mirrored_muscle
from ecorche.body.rig import create_rig
from ecorche.body.shown_lines import dragged_to_bind, line_weights, shown_ellipsoids, shown_lines
from ecorche.document.files import Rig, read_rig
from ecorche.document.line_spec import BoundNodeSpec, MobileNodeSpec, OnLineSpec
from ecorche.errors import EcorcheError
from ecorche.skeleton.kinematics import difference_from_bind
from rigged_people import person, rigged
from tube_document import FIXTURE

ONE, TWO, THREE = "mesh one, left", "mesh two, left", "mesh three, left"
LEFT, RIGHT = "biceps brachii, long head, left", "biceps brachii, long head, right"


@pytest.fixture(scope="module")
def tubes() -> Character:
    return tube()


@pytest.fixture(scope="module")
def rig(tubes: Character, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    """The tube's rig with the fixture's muscles on action lines, which have nodes of every kind."""
    folder = tmp_path_factory.mktemp("tube")
    made = create_rig(tubes, folder / "tube.glb", folder / "tube.ecorche", muscles=False)
    kept = read_rig(FIXTURE)
    muscles = kept.spec.muscles.model_copy(update={"named": {}, "lofted": {}, "gains": {}})
    spec = made.spec.model_copy(update={"muscles": muscles, "body_type": kept.spec.body_type})
    return replace(made, spec=spec, surfaces=kept.surfaces)


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return person(data / "human" / "male_average_cmu_mb.glb")


@pytest.fixture(scope="module", params=["admissible", "elastic"])
def arms(request: pytest.FixtureRequest, data: Path, man: Character) -> Rig:
    """The heads of both biceps as meshes on lines."""
    whole = rigged(data / "human" / "male_average_cmu_mb.glb")
    names = frozenset(n for n in whole.spec.muscles.named if n.startswith("biceps brachii"))
    return as_lines(whole, man, request.param, only=names)[0]


def places(edited: Edited | Rig, character: Character, muscle: str, line: int = 0) -> np.ndarray[Any, Any]:
    return Lines(edited.rig if isinstance(edited, Edited) else edited, character).designed(muscle, line)


# nodes


def test_a_node_moves_to_where_it_is_put_and_the_file_says_so(arms: Rig, man: Character) -> None:
    before = places(arms, man, LEFT)
    for row in (0, 5, len(before) - 1):
        to = before[row] + [0.004, -0.003, 0.002]
        edited = moved_node(arms, man, LEFT, 0, row, to)
        np.testing.assert_allclose(places(edited, man, LEFT)[row], to, rtol=0.0, atol=1e-8)
        assert "moved by 5.4 mm" in edited.lines[0]
        assert compile_lines(man, edited.rig, only=[LEFT]).names == (LEFT,)  # type: ignore[union-attr]
        others = {n: m for n, m in edited.rig.spec.muscles.lines.items() if n != LEFT}
        assert others == {n: m for n, m in arms.spec.muscles.lines.items() if n != LEFT}


def test_a_node_keeps_its_place_whatever_it_becomes(rig: Rig, tubes: Character) -> None:
    before = places(rig, tubes, ONE)
    kinds = [node.kind for node in rig.spec.muscles.lines[ONE].lines[0].nodes]
    assert {"bound", "free", "mobile"} <= set(kinds)
    for row in range(1, len(kinds) - 1):
        for kind in ("bound", "free", "mobile"):
            edited = with_node_kind(rig, tubes, ONE, 0, row, kind)
            node = Lines(edited.rig, tubes).node(ONE, 0, row)
            assert node.kind == kind
            np.testing.assert_allclose(places(edited, tubes, ONE), before, rtol=0.0, atol=1e-8)
    with pytest.raises(EcorcheError, match="the end of a line cannot be free"):
        with_node_kind(rig, tubes, ONE, 0, 0, "free")
    elastic = with_path_model(rig, tubes, ONE, "elastic").rig
    with pytest.raises(EcorcheError, match="an elastic line cannot have a mobile node"):
        with_node_kind(elastic, tubes, ONE, 0, 2, "mobile")


def test_mobile_nodes_have_places_at_their_extremes(rig: Rig, tubes: Character) -> None:
    row = next(k for k, n in enumerate(rig.spec.muscles.lines[ONE].lines[0].nodes) if n.kind == "mobile")
    node = Lines(rig, tubes).node(ONE, 0, row)
    assert isinstance(node, MobileNodeSpec)
    lines = Lines(rig, tubes)
    to = places(rig, tubes, ONE)[row] + [0.0, 0.0, 0.02]
    edited = moved_node(rig, tubes, ONE, 0, row, to, "high")
    after = Lines(edited.rig, tubes).node(ONE, 0, row)
    assert isinstance(after, MobileNodeSpec)
    assert (after.at_rest, after.at_low) == (node.at_rest, node.at_low)
    np.testing.assert_allclose(after.at_high, lines.local(node.joint, to), rtol=0.0, atol=1e-8)
    led = with_freedom(edited.rig, tubes, ONE, 0, row, axis=(0, 0, 2), degrees=(-10, 0, 45), shape="linear")
    after = Lines(led.rig, tubes).node(ONE, 0, row)
    assert isinstance(after, MobileNodeSpec)
    assert (after.low, after.rest, after.high, after.shape) == (-10.0, 0.0, 45.0, "linear")
    np.testing.assert_allclose(after.freedom.frame[:2], 0.0, atol=1e-9)  # z is the axis
    with pytest.raises(EcorcheError, match="do not rise"):
        with_freedom(rig, tubes, ONE, 0, row, degrees=(10, 0, 45))
    with pytest.raises(EcorcheError, match="node 0 is bound, not mobile"):
        with_freedom(rig, tubes, ONE, 0, 0, degrees=(0, 0, 45))


def test_adherence_is_a_share_of_swing_and_twist(rig: Rig, tubes: Character) -> None:
    joint = tubes.skeleton.names[0]
    edited = with_adherence(rig, tubes, ONE, 0, 0, 0.5, 0.25, axis=(0, 1, 0), relative_to=joint)
    node = Lines(edited.rig, tubes).node(ONE, 0, 0)
    assert isinstance(node, BoundNodeSpec)
    assert (node.swing, node.twist, node.axis, node.relative_to) == (0.5, 0.25, (0.0, 1.0, 0.0), joint)
    with pytest.raises(EcorcheError, match="at most 1"):
        with_adherence(rig, tubes, ONE, 0, 0, 1.5, 0.0)
    elastic = with_path_model(edited.rig, tubes, ONE, "elastic")
    assert any("are bound wholly now" in line for line in elastic.lines)
    node = Lines(elastic.rig, tubes).node(ONE, 0, 0)
    assert isinstance(node, BoundNodeSpec)
    assert (node.swing, node.twist) == (1.0, 1.0)


# segments


@pytest.mark.parametrize("wanted", [(0, 3, 0), (1, 1, 1), (4, 20, 1), (2, 11, 5)])
def test_segments_are_laid_along_the_line_as_it_lay(
    arms: Rig, man: Character, wanted: tuple[int, int, int]
) -> None:
    origin, belly, insertion = wanted
    before = Lines(arms, man).lying(LEFT, 0)
    edited = with_segments(arms, man, LEFT, 0, origin=origin, belly=belly, insertion=insertion)
    line = Lines(edited.rig, man).line(LEFT, 0)
    after = places(edited, man, LEFT)
    assert segment_counts(line) == wanted
    assert len(after) == sum(wanted) + 1
    np.testing.assert_allclose(after[[0, -1]], before[[0, -1]], rtol=0.0, atol=1e-8)
    fine = np.concatenate([a + np.linspace(0, 1, 200)[:, None] * (b - a) for a, b in pairwise(before)])
    away = np.linalg.norm(after[:, None] - fine, axis=-1).min(axis=1)
    assert away.max() < 1e-3
    assert compile_lines(man, edited.rig, only=[LEFT]).names == (LEFT,)  # type: ignore[union-attr]


def test_what_the_line_says_of_nodes_is_carried_over(rig: Rig, tubes: Character) -> None:
    line = rig.spec.muscles.lines[ONE].lines[0]
    count = len(line.nodes)
    scales = tuple((1.0 + 0.1 * k, 1.0) for k in range(count))
    scaled = changed_line(rig, tubes, ONE, 0, {"isometric": scales}).rig
    before = segment_counts(line)
    edited = with_segments(scaled, tubes, ONE, 0, belly=2 * before[1])
    after = Lines(edited.rig, tubes).line(ONE, 0)
    x = [row[0] for row in after.isometric]
    assert x == sorted(x)
    np.testing.assert_allclose([x[0], x[-1]], [1.0, scales[-1][0]])
    kept = [n for n in line.nodes[1:-1] if n.kind != "free"]
    assert [n for n in after.nodes[1:-1] if n.kind != "free"] == kept
    with pytest.raises(EcorcheError, match="Give a belly of at least 1"):
        with_segments(rig, tubes, ONE, 0, belly=0)


def test_what_an_elastic_line_carries_stays_where_it_was(rig: Rig, tubes: Character) -> None:
    name, field = next(
        (n, f) for n, f in rig.spec.muscles.fields.items() if any(e.on_line for e in f.ellipsoids)
    )
    on = field.ellipsoids[0].on_line
    assert on is not None
    fine = with_segments(rig, tubes, on.muscle, on.line, belly=9).rig
    was, now = places(rig, tubes, on.muscle, on.line), places(fine, tubes, on.muscle, on.line)
    carried = fine.spec.muscles.fields[name].ellipsoids[0].on_line
    assert carried is not None
    at = [np.interp(p, range(len(x)), x[:, 1]) for p, x in ((on.place, was), (carried.place, now))]
    assert at[0] == pytest.approx(at[1], abs=1e-6)


# lines


def test_lines_are_added_beside_and_removed_again(arms: Rig, man: Character) -> None:
    edited = added_line(arms, man, LEFT)
    two = compile_lines(man, edited.rig, only=[LEFT])
    assert two is not None
    weights = line_weights(two, LEFT)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (weights.max(axis=0) > 0.9).all(), "each line has a region of its own"
    assert 0.15 < weights[:, 1].mean() < 0.85
    back = removed_line(edited.rig, man, LEFT, 1)
    assert back.rig.spec == arms.spec
    with pytest.raises(EcorcheError, match="has no other line"):
        removed_line(arms, man, LEFT, 0)
    ends = places(arms, man, LEFT)[[0, -1]] + [[0.01, 0, 0], [0, 0, 0.01]]
    put = added_line(arms, man, LEFT, ends=(ends[0], ends[1]))
    np.testing.assert_allclose(places(put, man, LEFT, 1)[[0, -1]], ends, atol=1e-8)


def test_a_muscle_is_taken_out_with_its_mesh(arms: Rig, man: Character) -> None:
    edited = removed(arms, [LEFT])
    left = edited.rig.spec.muscles.lines
    assert edited.lines == (f"removed: {LEFT!r}",)
    assert {*arms.spec.muscles.lines} - {*left} == {LEFT}
    assert {*edited.rig.surfaces} == {muscle.surface for muscle in left.values()}
    assert len(edited.rig.surfaces) == len(arms.surfaces) - 1
    body = compile_lines(man, edited.rig)
    assert body is not None
    assert [muscle.name for muscle in body.designed] == [*left]
    # what carries fields of others is not taken away from under them
    field = next(iter(arms.spec.muscles.fields))
    ellipsoid = (
        arms.spec.muscles.fields[field]
        .ellipsoids[0]
        .model_copy(update={"joint": None, "on_line": OnLineSpec(muscle=LEFT)})
    )
    fields = {**arms.spec.muscles.fields, "carried": arms.spec.muscles.fields[field].model_copy(
        update={"ellipsoids": (ellipsoid,)}
    )}  # fmt: skip
    muscles = arms.spec.muscles.model_copy(update={"fields": fields})
    carrying = replace(arms, spec=arms.spec.model_copy(update={"muscles": muscles}))
    with pytest.raises(EcorcheError, match=r"no muscle .* with elastic lines"):
        removed(carrying, [LEFT])


def test_a_line_says_how_it_runs(rig: Rig, tubes: Character) -> None:
    names = tubes.skeleton.names
    changes = {"curved": False, "references": (names[0], names[1]), "blend": 0.3, "flesh": 0.01}
    edited = changed_line(rig, tubes, ONE, 0, changes)
    line = Lines(edited.rig, tubes).line(ONE, 0)
    assert {name: getattr(line, name) for name in changes} == changes
    for slip, told in (
        ({"nodes": ()}, "a line has no 'nodes' to change"),
        ({"references": ("nobody", names[0])}, "there is no joint 'nobody'"),
        ({"isometric": [[1.0, 1.0]]}, "1 values for"),
        ({"fields": ["bome"]}, "there is no field 'bome'"),
    ):
        with pytest.raises(EcorcheError, match=told):
            changed_line(rig, tubes, ONE, 0, slip)


def test_the_model_of_a_muscle_changes_there_and_back(arms: Rig, man: Character) -> None:
    model = arms.spec.muscles.lines[LEFT].path.model
    other = "elastic" if model == "admissible" else "admissible"
    edited = with_path_model(arms, man, LEFT, other)  # type: ignore[arg-type]
    assert edited.rig.spec.muscles.lines[LEFT].path.model == other
    np.testing.assert_allclose(places(edited, man, LEFT), places(arms, man, LEFT), atol=1e-8)
    body = compile_lines(man, edited.rig)
    assert body is not None
    assert not body.musculature.left_out
    if other == "elastic":
        stiff = with_path_model(edited.rig, man, LEFT, "elastic", stiffness=500.0)
        assert stiff.rig.spec.muscles.lines[LEFT].path.stiffness == 500.0  # type: ignore[union-attr]
    with pytest.raises(EcorcheError):
        with_path_model(arms, man, LEFT, "elastic", stiffness=-1.0)


# fields


def test_fields_are_added_placed_and_removed(rig: Rig, tubes: Character) -> None:
    joint, other = tubes.skeleton.names[:2]
    at, turn = np.array([0.02, 0.3, 0.01]), np.array([0.0, np.sin(0.4), 0.0, np.cos(0.4)])
    made = added_field(
        rig,
        tubes,
        "ball",
        joint,
        at,
        (0.01, 0.02, 0.03),
        turn=turn.tolist(),
        lines=[(ONE, 0)],
        strength=800.0,
    )
    assert "ball" in Lines(made.rig, tubes).line(ONE, 0).fields
    centre, axes = ellipsoid_at_bind(made.rig, tubes, "ball", 0)
    np.testing.assert_allclose(centre, at, atol=1e-8)
    carried = placed_ellipsoid(made.rig, tubes, "ball", 0, carrier=other)
    for one, before in zip(ellipsoid_at_bind(carried.rig, tubes, "ball", 0), (centre, axes), strict=True):
        np.testing.assert_allclose(one, before, atol=1e-7)
    assert carried.rig.spec.muscles.fields["ball"].ellipsoids[0].joint == other
    sized = placed_ellipsoid(made.rig, tubes, "ball", 0, centre=at + 0.01, radii=(0.02, 0.02, 0.02))
    np.testing.assert_allclose(ellipsoid_at_bind(sized.rig, tubes, "ball", 0)[0], at + 0.01, atol=1e-8)
    two = added_ellipsoid(made.rig, tubes, "ball", other, at, (0.01, 0.01, 0.01))
    assert removed_ellipsoid(two.rig, tubes, "ball", 1).rig.spec == made.rig.spec
    acts = changed_field(made.rig, tubes, "ball", {"mode": "radial", "strength": 10.0})
    assert acts.rig.spec.muscles.fields["ball"].mode == "radial"
    assert removed_field(made.rig, tubes, "ball").rig.spec == rig.spec
    slips: list[tuple[Callable[[], Edited], str]] = [
        (lambda: removed_ellipsoid(made.rig, tubes, "ball", 0), "has no other ellipsoid"),
        (lambda: added_field(made.rig, tubes, "ball", joint, at, (1, 1, 1)), "a field 'ball' already"),
        (lambda: placed_ellipsoid(made.rig, tubes, "ball", 0, radii=(0.0, 1.0, 1.0)), "above 0"),
        (lambda: placed_ellipsoid(made.rig, tubes, "ball", 0, carrier="nobody"), "no joint 'nobody'"),
        (lambda: changed_field(made.rig, tubes, "ball", {"kind": "attract"}), "attracts"),
        (lambda: changed_field(made.rig, tubes, "ball", {"ellipsoids": ()}), "no 'ellipsoids' to change"),
        (lambda: with_fields_on_line(rig, tubes, ONE, 0, ["bome"]), "there is no field 'bome'"),
    ]
    for slip, told in slips:
        with pytest.raises(EcorcheError, match=told):
            slip()


def test_an_ellipsoid_may_ride_on_an_elastic_line(rig: Rig, tubes: Character) -> None:
    middle = places(rig, tubes, THREE).mean(axis=0)
    made = added_field(
        rig, tubes, "ring", OnLineSpec(muscle=THREE, place=1.5), middle, (0.01, 0.01, 0.01), kind="attract"
    )
    assert made.rig.spec.muscles.fields["ring"].ellipsoids[0].on_line is not None
    with pytest.raises(EcorcheError, match="no muscle 'mesh one, left' with elastic lines"):
        placed_ellipsoid(made.rig, tubes, "ring", 0, carrier=OnLineSpec(muscle=ONE))


# mirror


def test_the_mirror_image_is_the_other_side(arms: Rig, man: Character) -> None:
    wider = moved_node(arms, man, LEFT, 0, 5, places(arms, man, LEFT)[5] + [0.01, 0.0, 0.0]).rig
    with pytest.raises(EcorcheError, match=f"a muscle '{RIGHT}' already"):
        mirrored_muscle(wider, man, LEFT)
    edited = mirrored_muscle(wider, man, LEFT, instead=True)
    left, right = places(edited, man, LEFT), places(edited, man, RIGHT)
    np.testing.assert_allclose(right * [-1, 1, 1], left, atol=2e-4)  # the man is as even as his file
    one, other = (edited.rig.surfaces[edited.rig.spec.muscles.lines[n].surface] for n in (LEFT, RIGHT))
    assert np.array_equal(one.triangles, other.triangles[:, ::-1])
    body = compile_lines(man, edited.rig)
    assert body is not None
    local = man.skeleton.bind_local.copy()
    still = body.points(np.zeros_like(local))
    np.testing.assert_array_equal(still, body.musculature.meshes.bind)
    twice = mirrored_muscle(edited.rig, man, RIGHT, instead=True).rig
    np.testing.assert_allclose(places(twice, man, LEFT), left, atol=1e-7)


# what is drawn


def test_lines_and_ellipsoids_are_shown_where_they_are(rig: Rig, tubes: Character) -> None:
    body = compile_lines(tubes, rig)
    assert body is not None
    moved = np.zeros((tubes.skeleton.joint_count, 4, 4))
    posed = body.musculature.paths.posed(moved[None])
    shown = shown_lines(body, moved, posed)
    assert [(one.muscle, one.number) for one in shown] == [(ONE, 0), (TWO, 0), (THREE, 0)]
    for one, muscle in zip(shown, body.musculature.muscles, strict=True):
        assert len(one.curve) == 8 * (len(one.nodes) - 1) + 1
        np.testing.assert_allclose(one.curve[::8], one.nodes, atol=1e-9)
        assert one.kinds == tuple(n.kind for n in rig.spec.muscles.lines[muscle.name].lines[0].nodes)
    fields = fields_of(rig, tubes.skeleton)
    at_bind = {(e.field, e.number): e for e in shown_ellipsoids(body, fields, moved, posed)}
    assert len(at_bind) == sum(len(f.ellipsoids) for f in fields.values())
    shifted = moved.copy()
    shifted[:, :3, 3] = [0.0, 0.1, 0.0]
    posed = body.musculature.paths.posed(shifted[None])
    for ball in shown_ellipsoids(body, fields, shifted, posed):
        before = at_bind[ball.field, ball.number]
        np.testing.assert_allclose(ball.centre - before.centre, np.array([0, 0.1, 0]), atol=1e-5)
        np.testing.assert_allclose(ball.radii, before.radii)


def test_a_node_dragged_in_a_pose_is_where_it_was_dropped(rig: Rig, tubes: Character) -> None:
    local = tubes.skeleton.bind_local.copy()
    angle = np.radians(50.0)
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    local[-1] = local[-1] @ turn
    moved = difference_from_bind(tubes.skeleton, local)
    body = compile_lines(tubes, rig)
    assert body is not None
    posed = body.musculature.paths.posed(moved[None])
    starts = body.musculature.frames.starts
    for muscle, first in ((ONE, starts[0]), (TWO, starts[1])):
        row = next(
            k for k, n in enumerate(rig.spec.muscles.lines[muscle].lines[0].nodes)
            if k > 0 and isinstance(n, BoundNodeSpec) and n.swing == n.twist == 1.0
        )  # fmt: skip
        to = posed.nodes[-1][first + row] + [0.003, 0.002, -0.004]
        at = dragged_to_bind(body, moved, posed, muscle, 0, row, to)
        after = compile_lines(tubes, moved_node(rig, tubes, muscle, 0, row, at).rig)
        assert after is not None
        now = after.musculature.paths.posed(moved[None]).nodes[-1][first + row]
        np.testing.assert_allclose(now, to, atol=2e-4)


def test_names_that_are_none_are_told(rig: Rig, tubes: Character) -> None:
    calls: list[tuple[Callable[[], Edited], str]] = [
        (lambda: moved_node(rig, tubes, "mesh on", 0, 0, (0, 0, 0)), "no muscle 'mesh on'.*Did you mean"),
        (lambda: moved_node(rig, tubes, ONE, 4, 0, (0, 0, 0)), "has no line 4"),
        (lambda: moved_node(rig, tubes, ONE, 0, 99, (0, 0, 0)), "has no node 99"),
        (lambda: moved_node(rig, tubes, ONE, 0, 0, (0, 0, np.nan)), "not three finite numbers"),
    ]
    for call, told in calls:
        with pytest.raises(EcorcheError, match=told):
            call()
