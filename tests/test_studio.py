"""The studio's server without a browser: messages, the document's history, frames and what a ray meets."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT
from ecorche.body.compile import compile_body
from ecorche.body.edit_muscles import removed, resized
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.figure import ecorche_figure
from ecorche.body.payload import payload_type
from ecorche.body.rig import create_rig
from ecorche.document.files import read_rig
from ecorche.errors import EcorcheError
from ecorche.studio.answers import ANSWERS
from ecorche.studio.document import OpenDocument
from ecorche.studio.messages import EVENTS, REQUESTS
from ecorche.studio.messages.document import DocumentChanged
from ecorche.studio.serve import listening
from ecorche.studio.typescript import messages_typescript
from rigged_people import person, rigged
from studio_sessions import Pages, figure_document
from studio_sessions import pages as pages


def fresh() -> OpenDocument:
    document = figure_document()
    return OpenDocument(document.character, document.rig)


STEPS = 12
"""Of a history that is gone through to its beginning and back."""


def test_the_page_knows_the_same_messages() -> None:
    """`python -m ecorche.studio.typescript web/studio/src/messages.ts` writes it anew."""
    assert (ROOT / "web" / "studio" / "src" / "messages.ts").read_text() == messages_typescript()


def test_every_request_is_answered() -> None:
    assert set(ANSWERS) == set(REQUESTS)
    for name, kind in REQUESTS.items():
        assert kind.__doc__, name
        assert all(word.count(":") >= 0 and word.split()[0] for word in kind.reply.arrays.values())
    assert len(EVENTS) >= 1


def test_a_frame_is_what_evaluate_gives(pages: Pages) -> None:
    page = pages(fresh())
    document = page.session.document
    body = document.body
    _, arrays = page.ask("view.frame")
    at_bind = evaluate(body, Pose(document.character.skeleton.bind_local))
    assert np.array_equal(arrays["points"], np.concatenate(at_bind.points))
    assert np.array_equal(arrays["joints"], document.character.skeleton.bind_world.astype(np.float32))
    # worked by hand, muscles move the skin as they do by themselves
    name = next(name for name in body.muscle_names if name.startswith("biceps brachii, long head"))
    page.ask("view.activate", values={name: 1.0})
    told, arrays = page.ask("view.frame", colour="displacement", plain=True)
    assert body.activation is not None
    active = np.array(page.session.posed.live.activation)[0]
    assert active[body.muscle_names.index(name)] == 1.0
    local = document.character.skeleton.bind_local
    tense = evaluate(body, Pose(local, activation=active))
    assert np.array_equal(arrays["points"], np.concatenate(tense.points))
    plain = evaluate(body.without_muscles(), Pose(local))
    assert np.array_equal(arrays["plain"], np.concatenate(plain.points))
    low, high, unit = told["range"]
    moved = 1000.0 * np.linalg.norm(arrays["points"] - arrays["plain"], axis=1)
    assert unit == "mm"
    assert low <= 0.0 < high <= moved.max() + 1e-6
    assert arrays["values"].max() == pytest.approx(high)
    page.ask("view.rest")
    assert np.array_equal(page.ask("view.frame")[1]["points"], np.concatenate(at_bind.points))


def test_the_payload_is_that_of_the_vertex_program(pages: Pages) -> None:
    page = pages(fresh())
    told, arrays = page.ask("view.frame", payload=True)
    body = page.session.document.body
    kind = payload_type(body.character.skeleton.joint_count, len(body.muscle_names))
    assert "points" not in arrays
    assert arrays["payload"].nbytes == kind.itemsize
    assert np.array_equal(arrays["payload"].view(kind)["muscles"][0, :, 1], np.ones(len(body.muscle_names)))
    program, blobs = page.ask("view.program")
    carried = json.loads(program["carried"])
    assert program["revision"] == told["revision"]
    assert {str(view) for view in carried["program"]["constants"].values()} <= set(blobs)
    # what needs positions gets them
    assert "points" in page.ask("view.frame", payload=True, colour="displacement")[1]


def test_weights_of_joints_and_muscles(pages: Pages) -> None:
    page = pages(fresh())
    body = page.session.document.body
    skeleton = body.character.skeleton
    total = np.zeros(sum(mesh.mesh.vertex_count for mesh in body.character.meshes))
    for joint in skeleton.names:
        total += page.ask("view.frame", colour="weights", of=joint)[1]["values"]
    assert np.allclose(total, 1.0, atol=1e-4)
    some = body.muscle_names[0]
    values = page.ask("view.frame", colour="weights", of=some)[1]["values"]
    assert 0.0 < values.max() <= 1.0
    assert "no muscle or joint 'nobody'" in page.refused("view.frame", colour="weights", of="nobody")


def test_a_ray_meets_what_is_in_front(data: Path, pages: Pages) -> None:
    path = data / "human" / "male_muscular_cmu_mb.glb"
    page = pages(OpenDocument(person(path), rigged(path)))
    skeleton = page.session.document.character.skeleton
    ray = {"origin": (0.18, 0.75, 4.0), "direction": (0.0, 0.0, -2.0)}
    skin, _ = page.ask("view.pick", **ray, layers=("skin",))
    muscle, _ = page.ask("view.pick", **ray, layers=("muscles",))
    both, _ = page.ask("view.pick", **ray, layers=("muscles", "skin"))
    assert skin["kind"] == "skin"
    assert both == skin  # it is in front
    assert np.allclose(skin["point"], skin["bind"], atol=1e-5)  # in the bind pose
    assert skin["normal"][2] > 0.3
    assert muscle["kind"] == "muscles"
    assert muscle["name"] in page.session.document.body.muscle_names
    assert skin["distance"] < muscle["distance"] < skin["distance"] + 0.06
    assert {skin["joint"], muscle["joint"]} <= set(skeleton.names)
    # posed, the same place is found elsewhere
    hips = skeleton.names.index("Hips") if "Hips" in skeleton.names else 0
    turned = np.array(skeleton.bind_local)
    turned[hips, :3, 3] += (0.0, 0.0, 1.0)
    page.session.local = turned
    moved, _ = page.ask("view.pick", **ray, layers=("skin",))
    assert moved["point"][2] == pytest.approx(skin["point"][2] + 1.0, abs=1e-4)
    assert np.allclose(moved["bind"], skin["bind"], atol=1e-4)
    knee = skeleton.bind_world[skeleton.names.index("LeftLeg"), :3, 3]
    joint, _ = page.ask(
        "view.pick", origin=(*knee[:2], 6.0), direction=(0, 0, -1), layers=("skin", "skeleton")
    )
    assert (joint["kind"], joint["name"]) == ("skeleton", "LeftLeg")
    assert page.ask("view.pick", origin=(9, 9, 9), direction=(0, 1, 0), layers=("skin",))[0]["kind"] is None
    assert "no direction" in page.refused(
        "view.pick", origin=(0, 0, 0), direction=(0, 0, 0), layers=("skin",)
    )


def test_history_without_limit() -> None:
    document = fresh()
    told: list[DocumentChanged] = []
    document.listeners.append(told.append)
    name = next(iter(document.rig.spec.muscles.named))
    first, rigs = document.rig, [document.rig]
    for step in range(STEPS):
        document.edit(
            resized(document.rig, document.character, name, 1.001), f"step {step}", areas=("muscles",)
        )
        rigs.append(document.rig)
    assert document.undo_label == f"step {STEPS - 1}"
    assert document.dirty
    for rig in reversed(rigs[:-1]):
        document.undo()
        assert document.rig is rig
    assert document.rig is first
    with pytest.raises(EcorcheError, match="nothing to undo"):
        document.undo()
    for rig in rigs[1:]:
        document.redo()
        assert document.rig is rig
    with pytest.raises(EcorcheError, match="nothing to redo"):
        document.redo()
    revisions = [event.revision for event in told]
    assert revisions == sorted(set(revisions))
    assert len(told) == 3 * STEPS
    # a new edit leaves nothing to do again
    document.undo()
    document.edit(removed(document.rig, [name]), "delete", areas=("muscles",), names=(name,))
    assert document.redo_label is None
    assert told[-1].names == (name,)


def test_a_gesture_is_one_step() -> None:
    document = fresh()
    name, before = next(iter(document.rig.spec.muscles.named)), document.rig
    for _ in range(5):
        edited = resized(document.rig, document.character, name, 1.01)
        document.edit(edited, "drag", areas=("muscles",), names=(name,), gesture="one")
    after = document.rig
    document.edit(resized(after, document.character, name, 1.01), "drag", areas=("muscles",), gesture="two")
    document.undo()
    assert document.rig is after
    document.undo()
    assert document.rig is before


def test_an_edit_that_cannot_be_is_refused_whole(pages: Pages) -> None:
    page = pages(fresh())
    document = page.session.document
    broken = document.rig.spec.model_copy(update={"body": "nobody"})
    before, revision = document.rig, document.revision
    from dataclasses import replace

    with pytest.raises(EcorcheError, match="nobody"):
        document.edit(replace(document.rig, spec=broken), "break", areas=("muscles",))
    assert document.rig is before
    assert document.revision == revision
    assert page.heard == []


def test_saved_as_the_command_line_saves(tmp_path: Path, pages: Pages) -> None:
    figure = ecorche_figure()
    path = tmp_path / "figure.ecorche"
    document = OpenDocument(figure, create_rig(figure, tmp_path / "figure.glb", path))
    page = pages(document)
    assert "no file" in page.refused("document.save")
    document.save(path)
    assert not document.dirty
    name = next(iter(document.rig.spec.muscles.named))
    document.edit(removed(document.rig, [name]), "delete", areas=("muscles",))
    assert page.ask("document.get")[0]["dirty"]
    page.ask("document.save")
    assert not page.ask("document.get")[0]["dirty"]
    assert name not in read_rig(path).spec.muscles.named
    page.ask("document.undo")  # beyond a save too
    assert page.ask("document.get")[0]["dirty"]
    page.ask("document.save")
    assert read_rig(path).spec.muscles.named.keys() == document.rig.spec.muscles.named.keys()
    assert name in read_rig(path).spec.muscles.named
    compile_body(figure, rig=read_rig(path))
    assert page.heard[-1]["event"] == "document.changed"
    assert page.heard[-1]["areas"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is too deep"),
        ("[]", "is not a table"),
        ('{"id": "a"}', "no number"),
        ('{"id": 1, "type": "no.such"}', "no request 'no.such'"),
        ('{"id": 1, "type": 3}', "no request '3'"),
        ('{"id": 1, "type": "view.frame", "colour": "puce"}', "should be"),
        ('{"id": 1, "type": "view.frame", "more": 1}', "not permitted"),
        ('{"id": 1, "type": "view.activate", "values": {"nobody": 1}}', "nobody"),
        ('{"id": 1, "type": "view.activate", "values": {}, "id": null}', "no number"),
    ],
)
def test_wrong_messages_are_answered(text: str, said: str, pages: Pages) -> None:
    told, _ = pages(fresh()).send(text)
    assert said in told["error"]["what"]


def test_a_port_in_use_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(EcorcheError, match=rf"port {port} is not free.*--port"):
            listening("127.0.0.1", port)
