"""The action-line editor in a real browser, and what it asks: drags tried, rest kept, refusals told."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import xyzw_from_axis_angle
from ecorche.base.transforms import compose
from ecorche.body.as_lines import as_lines
from ecorche.body.character import Character
from ecorche.body.live_lines import LiveLines
from ecorche.document.files import Rig, write_rig
from ecorche.errors import EcorcheError
from ecorche.studio.answers import ANSWERS
from ecorche.studio.document import OpenDocument
from ecorche.studio.messages import REQUESTS
from ecorche.studio.messages.base import WithArrays
from ecorche.studio.session import Session
from rigged_people import person, rigged
from studio_pages import for_the_handbook, served, visited

LEFT = "biceps brachii, long head, left"
Asking = Callable[..., Any]


def arms(data: Path, model: Any) -> tuple[Character, Rig]:
    """A person with the heads of both biceps as meshes on lines, and nothing else."""
    source = data / "human" / "male_average_cmu_mb.glb"
    whole, man = rigged(source), person(source)
    names = [n for n in whole.spec.muscles.named if n.startswith("biceps brachii")]
    few = whole.spec.muscles.model_copy(
        update={"named": {n: whole.spec.muscles.named[n] for n in names}, "gains": {}}
    )
    return man, as_lines(replace(whole, spec=whole.spec.model_copy(update={"muscles": few})), man, model)[0]


@pytest.fixture
def page(data: Path) -> tuple[Session, Asking]:
    """A page's session on elastic arms with the elbow bent, and how it asks."""
    man, rig = arms(data, "elastic")
    session = Session(OpenDocument(man, rig), lambda _: None)
    local = session.local.copy()
    elbow = man.skeleton.index("LeftForeArm")
    local[elbow] = local[elbow] @ compose([0.0, 0.0, 0.0], xyzw_from_axis_angle([0.0, 1.0, 0.0], 1.2))
    session.local = local

    def ask(asked: str, /, **fields: Any) -> Any:
        return ANSWERS[asked](session, REQUESTS[asked].model_validate({"type": asked, **fields}))

    return session, ask


def nodes_of_others(live: LiveLines) -> npt.NDArray[np.float64]:
    """Where nodes of all lines but the edited one are."""
    paths = live.lines.musculature.paths
    line = paths.names.index(LEFT)
    return np.delete(live.posed.nodes[0], np.arange(paths.starts[line], paths.starts[line + 1]), axis=0)


def mesh(answer: WithArrays) -> npt.NDArray[Any]:
    return answer.arrays["mesh"]


def test_a_drag_is_tried_and_then_made(page: tuple[Session, Asking]) -> None:
    session, ask = page
    before = ask("lines.show", muscle=LEFT)
    first = next(line for line in before.reply.lines if line.muscle == LEFT).nodes[0]
    to = np.add(before.arrays["nodes"][first].astype(float), (0.01, 0.0, 0.0))
    given = {"muscle": LEFT, "line": 0, "node": 0, "to": to.tolist(), "posed": True, "gesture": "drag"}
    tried = ask("lines.show", muscle=LEFT, trial={"type": "lines.move_node", **given})
    assert tried.reply.trial
    assert [line.muscle for line in tried.reply.lines] == [LEFT]
    np.testing.assert_allclose(tried.arrays["nodes"][0], to, atol=1e-4)
    assert np.abs(mesh(tried) - mesh(before)).max() > 0.0005
    assert session.document.undo_label is None
    assert np.array_equal(mesh(ask("lines.show", muscle=LEFT)), mesh(before)), "a try changes nothing"
    for share in (0.5, 1.0):
        ask("lines.move_node", **given | {"to": (to - [0.01 * (1.0 - share), 0.0, 0.0]).tolist()})
    after = ask("lines.show", muscle=LEFT)
    np.testing.assert_allclose(mesh(after), mesh(tried), atol=2e-4)
    session.document.undo()  # one gesture, one step
    assert session.document.undo_label is None
    np.testing.assert_allclose(mesh(ask("lines.show", muscle=LEFT)), mesh(before), atol=2e-4)


def test_what_is_drawn_and_what_is_edited_rest_alike(page: tuple[Session, Asking]) -> None:
    session, ask = page
    shown = ask("lines.show", muscle=LEFT)
    frame = ask("view.frame")
    part = next(m for m in ask("view.scene").reply.muscles if m.name == LEFT)
    first, count = part.points
    np.testing.assert_allclose(frame.arrays["muscles"][first : first + count], mesh(shown), atol=2e-5)
    rested = session.lines
    assert rested is not None
    others = nodes_of_others(rested)
    ask("lines.path", muscle=LEFT, model="elastic", numbers={"stiffness": 500.0})
    after = session.lines
    assert after is not None
    assert after is not rested
    assert np.array_equal(nodes_of_others(after), others), "other lines are left where they rest"
    assert ask("lines.anew").lines
    fresh = session.lines
    assert fresh is not None
    assert fresh is not after


def test_every_edit_of_the_panel_is_taken(page: tuple[Session, Asking]) -> None:
    session, ask = page
    told = ask("lines.get", muscle=LEFT)
    assert told.path.model == "elastic"
    assert told.path.numbers["tension"] is None
    assert told.image == "biceps brachii, long head, right"
    where = {"muscle": LEFT, "line": 0}
    ask("lines.path", muscle=LEFT, model="admissible")
    ask("lines.segments", **where, belly=8)
    ask("lines.node_kind", **where, node=3, kind="mobile")
    ask("lines.freedom", **where, node=3, degrees=(-20.0, 0.0, 80.0), shape="linear")
    ask("lines.move_node", **where, node=3, to=(0.25, 1.35, 0.05), extreme="high")
    ask("lines.node_kind", **where, node=5, kind="bound", joint="LeftArm")
    ask("lines.adherence", **where, node=5, swing=0.5, twist=0.25)
    ask("lines.change", **where, curved=False, references=("LeftArm", "LeftForeArm"), blend=0.4)
    ask("lines.add", muscle=LEFT)
    ask("fields.add", name="ball", muscle=LEFT, line=1)
    ask("fields.change", field="ball", mode="radial", strength=700.0)
    ask("fields.add_ellipsoid", field="ball")
    ask("fields.place", field="ball", number=1, radii=(0.01, 0.02, 0.03), joint="LeftForeArm")
    ask("fields.place", field="ball", number=1, centre=(0.4, 1.2, 0.1), turn=(0, 0, 1, 0), posed=True)
    shown = ask("lines.show", muscle=LEFT)
    ball = next(e for e in shown.reply.ellipsoids if (e.field, e.number) == ("ball", 1))
    matrix = np.array(ball.matrix).reshape(4, 4)
    np.testing.assert_allclose(matrix[:3, 3], [0.4, 1.2, 0.1], atol=1e-6)
    np.testing.assert_allclose(np.abs(np.diag(matrix)[:3]), [0.01, 0.02, 0.03], atol=1e-6)
    first, count = next(line for line in shown.reply.lines if line.muscle == LEFT).nodes
    assert set(shown.arrays["kinds"][first : first + count].tolist()) == {0, 1, 2, 3}
    np.testing.assert_allclose(shown.arrays["weights"].sum(axis=1), 1.0, atol=1e-6)
    told = ask("lines.get", muscle=LEFT)
    line = told.lines[0]
    assert (line.curved, line.references, line.blend) == (False, ("LeftArm", "LeftForeArm"), 0.4)
    assert line.segments[1] == 8
    led = line.nodes[3].led
    assert led is not None
    assert (led.degrees, led.shape) == ((-20.0, 0.0, 80.0), "linear")
    np.testing.assert_allclose(led.places[2], (0.25, 1.35, 0.05), atol=1e-8)
    assert [field.name for field in told.fields if field.mode == "radial"] == ["ball"]
    ask("lines.fields", muscle=LEFT, line=1, fields=())
    ask("fields.remove_ellipsoid", field="ball", number=0)
    ask("fields.remove", field="ball")
    ask("lines.remove", muscle=LEFT, line=1)
    ask("lines.mirror", muscle=LEFT, instead=True)
    mirrored = ask("lines.get", muscle="biceps brachii, long head, right").lines[0]
    assert [node.kind for node in mirrored.nodes] == [node.kind for node in line.nodes]
    steps = 0
    while session.document.undo_label is not None:
        session.document.undo()
        steps += 1
    assert steps == 19
    for kind, fields, what in (
        ("lines.get", {"muscle": "nobody"}, "no muscle 'nobody'"),
        ("lines.move_node", {**where, "node": 99, "to": (0, 0, 0)}, "no node 99"),
        ("fields.place", {"field": "ball", "number": 0}, "no field 'ball'"),
    ):
        with pytest.raises(EcorcheError, match=what):
            ask(kind, **fields)
    assert session.document.undo_label is None


def test_lines_are_edited_in_the_page(data: Path, tmp_path: Path) -> None:
    _, rig = arms(data, "admissible")
    shutil.copy(data / "human" / "male_average_cmu_mb.glb", tmp_path / "man.glb")
    reference = rig.spec.character.model_copy(update={"path": "man.glb"})
    write_rig(
        tmp_path / "man.ecorche", replace(rig, spec=rig.spec.model_copy(update={"character": reference}))
    )
    given = {"muscle": LEFT, "elbow": "LeftForeArm", "out": str(tmp_path / "lines")}
    with served(tmp_path / "man.ecorche") as server:
        seen = visited("lines", server, tmp_path, given, size=(1400, 900))
    for_the_handbook(tmp_path / "lines-nodes.png", "lines")
    before, drawn, after, undone = (
        np.array(seen[name]) for name in ("before", "drawnInDrag", "after", "undone")
    )
    assert np.abs(drawn - before).max() > 0.001, "the mesh follows while a node is dragged"
    assert seen["undoInDrag"] is None
    np.testing.assert_allclose(after, drawn, atol=1e-3)
    assert seen["undo"] == f"move a node of {LEFT}"
    np.testing.assert_allclose(undone, before, atol=1e-6)
    assert seen["finer"] > seen["nodes"]
    assert len(seen["regions"]) == 2
    assert min(seen["regions"]) > 0.1
    assert seen["field"] == "radial"
    assert seen["refused"] == "change the field <b>ball</b>"
