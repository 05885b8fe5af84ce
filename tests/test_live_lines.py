"""Elastic lines rest on while they are edited, and muscles that an edit left alone are not bound again."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import normalise, xyzw_from_axis_angle, xyzw_from_matrix
from ecorche.base.transforms import compose
from ecorche.body.as_lines import as_lines
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.edit_fields import added_field, placed_ellipsoid
from ecorche.body.edit_lines import moved_node
from ecorche.body.edit_muscle_lines import with_path_model
from ecorche.body.edit_muscles import removed
from ecorche.body.edit_segments import with_segments
from ecorche.body.edited_lines import Lines
from ecorche.body.kept_parts import KeptParts
from ecorche.body.lines import BodyLines, compile_lines
from ecorche.body.live_lines import LiveLines
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.skeleton.skeleton import Skeleton
from rigged_people import person, rigged

Floats = npt.NDArray[np.float64]
LEFT, SHORT = "biceps brachii, long head, left", "biceps brachii, short head, left"
RIGHT = "biceps brachii, long head, right"


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return person(data / "human" / "male_average_cmu_mb.glb")


@pytest.fixture(scope="module")
def arms(data: Path, man: Character) -> Rig:
    whole = rigged(data / "human" / "male_average_cmu_mb.glb")
    names = frozenset(n for n in whole.spec.muscles.named if n.startswith("biceps brachii"))
    return as_lines(whole, man, "elastic", only=names)[0]


def compiled(man: Character, rig: Rig, before: BodyLines | None = None) -> BodyLines:
    made = compile_lines(man, rig, before=before)
    assert made is not None
    assert not made.musculature.left_out
    return made


def bent(skeleton: Skeleton, degrees: float) -> Floats:
    """The elbows bent."""
    local = skeleton.bind_local.copy()
    for name in ("LeftForeArm", "RightForeArm"):
        joint = skeleton.index(name)
        local[joint] = local[joint] @ compose(
            [0.0, 0.0, 0.0], xyzw_from_axis_angle([0.0, 1.0, 0.0], np.radians(degrees))
        )
    return local


def nodes_of(live: LiveLines, name: str) -> Floats:
    paths = live.lines.musculature.paths
    line = paths.names.index(name)
    return np.asarray(live.posed.nodes[-1][paths.starts[line] : paths.starts[line + 1]])


def test_a_pose_in_one_leap_is_reached_as_by_a_motion(man: Character, arms: Rig) -> None:
    body = compiled(man, arms)
    live, slow = LiveLines(body, man.skeleton), LiveLines(body, man.skeleton)
    live.pose(bent(man.skeleton, 90.0))
    for degrees in range(10, 91, 10):
        slow.pose(bent(man.skeleton, float(degrees)))
    assert not live.posed.unsettled
    np.testing.assert_allclose(live.posed.nodes, slow.posed.nodes, atol=2e-5)
    again = live.posed.nodes.copy()
    live.pose(bent(man.skeleton, 90.0))
    assert np.array_equal(live.posed.nodes, again), "rest in, rest out"
    with pytest.raises(EcorcheError, match="is none of"):
        live.pose(man.skeleton.bind_local[:3])


def test_an_edit_leaves_the_rest_of_other_lines_as_it_was(man: Character, arms: Rig) -> None:
    body = compiled(man, arms)
    live = LiveLines(body, man.skeleton)
    live.pose(bent(man.skeleton, 80.0))
    before = {name: nodes_of(live, name).copy() for name in body.musculature.paths.names}
    place = Lines(arms, man).designed(LEFT, 0)
    edits = {
        "moved": moved_node(arms, man, LEFT, 0, 0, place[0] + [0.003, 0.0, 0.0]).rig,
        "finer": with_segments(arms, man, LEFT, 0, belly=17).rig,
        "stiffer": with_path_model(arms, man, LEFT, "elastic", stiffness=450.0).rig,
    }
    for rig in edits.values():
        after = live.taken_over(compiled(man, rig, body))
        assert not after.posed.unsettled
        for name in before:
            if name != LEFT:
                assert np.array_equal(nodes_of(after, name), before[name]), name
        # the edited line stays near where it lay: it does not begin again from bind
        old, new = before[LEFT], nodes_of(after, LEFT)
        fine = np.concatenate([a + np.linspace(0, 1, 50)[:, None] * (b - a) for a, b in pairwise(old)])
        assert np.linalg.norm(new[:, None] - fine, axis=-1).min(axis=1).max() < 0.006
        # and undone, it is back
        undone = after.taken_over(body)
        np.testing.assert_allclose(nodes_of(undone, LEFT), old, atol=5e-5)


def test_what_came_to_rest_on_one_side_stays_there(man: Character, arms: Rig) -> None:
    """A history that a fresh start from bind would lose: a bar carried through a line takes it along."""
    design = Lines(arms, man).designed(LEFT, 0)
    along = normalise(design[9] - design[7])
    off = design[8] - man.skeleton.bind_world[man.skeleton.index("LeftArm"), :3, 3]
    side = normalise(off - (off @ along) * along)  # away from the bone
    axes = np.stack([np.cross(along, side), along, side], axis=1)
    bar = added_field(
        arms, man, "bar", "LeftArm", design[8] - 0.05 * side, (0.1, 0.05, 0.02),
        turn=xyzw_from_matrix(axes).tolist(), lines=[(LEFT, 0)], strength=60000.0,
    )  # fmt: skip
    live, rig = LiveLines(compiled(man, bar.rig), man.skeleton), bar.rig
    for far in np.arange(-0.045, 0.012, 0.005):
        rig = placed_ellipsoid(rig, man, "bar", 0, centre=design[8] + far * side).rig
        live = live.taken_over(compiled(man, rig, live.lines))
    pushed = (nodes_of(live, LEFT) - design) @ side
    fresh = LiveLines(live.lines, man.skeleton)
    anew = (nodes_of(fresh, LEFT) - design) @ side
    assert pushed.max() > 0.02, "it is carried before the bar"
    assert anew.max() < 0.5 * pushed.max(), "from bind it would lie behind it"
    # an edit of another line does not let it slip
    other = moved_node(rig, man, RIGHT, 0, 0, Lines(rig, man).designed(RIGHT, 0)[0] + 0.001).rig
    kept = live.taken_over(compiled(man, other, live.lines))
    assert np.array_equal(nodes_of(kept, LEFT), nodes_of(live, LEFT))


def test_a_body_compiled_after_an_edit_is_the_same_as_one_compiled_anew(man: Character, arms: Rig) -> None:
    body = compiled(man, arms)
    for rig in (
        with_segments(arms, man, LEFT, 0, belly=17).rig,
        moved_node(arms, man, LEFT, 0, 0, Lines(arms, man).designed(LEFT, 0)[0] + 0.002).rig,
    ):
        quick, anew = compiled(man, rig, body), compiled(man, rig)
        bound = {m.name: m for m in body.musculature.meshes.muscles}
        again = {m.name: m for m in quick.musculature.meshes.muscles}
        assert again[LEFT] is not bound[LEFT]
        assert all(again[name].local is bound[name].local for name in bound if name != LEFT)
        local = bent(man.skeleton, 70.0)
        points = [LiveLines(one, man.skeleton) for one in (quick, anew)]
        for live in points:
            live.pose(local)
        activation = np.linspace(0.0, 1.0, len(body.designed))
        assert np.array_equal(points[0].points(activation), points[1].points(activation))


def test_a_body_keeps_its_lines_through_edits_of_other_things(man: Character, arms: Rig) -> None:
    kept = KeptParts()
    first = compile_body(man, rig=arms, kept=kept)
    names = [name for name in arms.spec.muscles.named if name.startswith("triceps")][:1]
    other = compile_body(man, rig=removed(arms, names).rig, kept=kept)
    assert other.lines is first.lines
    edited = with_segments(arms, man, LEFT, 0, belly=17).rig
    again = compile_body(man, rig=edited, kept=kept)
    assert again.lines is not None
    assert again.lines is not first.lines
    still = np.zeros_like(man.skeleton.bind_local)
    anew = compile_lines(man, edited)
    assert anew is not None
    assert np.array_equal(again.lines.points(still), anew.points(still))


def test_one_muscle_can_be_compiled_alone(man: Character, arms: Rig) -> None:
    alone = compile_lines(man, arms, only=[SHORT])
    assert alone is not None
    assert alone.names == (SHORT,)
    body = compiled(man, arms)
    local = bent(man.skeleton, 70.0)
    one, all_of = LiveLines(alone, man.skeleton), LiveLines(body, man.skeleton)
    one.pose(local)
    all_of.pose(local)
    np.testing.assert_allclose(nodes_of(one, SHORT), nodes_of(all_of, SHORT), atol=1e-9)
    assert compile_lines(man, arms, only=[]) is None
