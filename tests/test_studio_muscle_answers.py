"""The muscle builder's messages, answered on a real person: what the page asks, without a browser."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.body.edit_spindles import one_spindle
from ecorche.body.muscle_in_pose import at_bind, muscle_in_pose
from ecorche.document.files import Rig
from ecorche.errors import DocumentError, EcorcheError, ReadError
from ecorche.studio.answers import ANSWERS
from ecorche.studio.document import OpenDocument
from ecorche.studio.messages import REQUESTS
from ecorche.studio.messages.base import WithArrays
from ecorche.studio.session import Session
from extracted_people import extracted
from rigged_people import BICEPS, person, rigged

MAN = "male_average_cmu_mb.glb"


@pytest.fixture
def session(data: Path) -> Session:
    return Session(OpenDocument(person(data / "human" / MAN), rigged(data / "human" / MAN)), lambda _: None)


def ask(session: Session, kind: str, **fields: Any) -> Any:
    answer = ANSWERS[kind](session, REQUESTS[kind].model_validate({"type": kind, **fields}))
    return answer.reply if isinstance(answer, WithArrays) else answer


def bent_elbow(session: Session) -> None:
    skeleton = session.document.character.skeleton
    local = np.array(skeleton.bind_local)
    joint = skeleton.names.index("RightForeArm")
    turn = matrix_from_xyzw(xyzw_from_axis_angle(np.array([0.0, 1.0, 0.0]), np.radians(70.0)))
    local[joint, :3, :3] = local[joint, :3, :3] @ turn
    session.local = local


def test_a_point_dragged_in_a_pose_is_there_in_the_pose(session: Session) -> None:
    bent_elbow(session)
    before = ask(session, "muscle.places", name=BICEPS)
    assert before.length < 0.98 * ask_bind_length(session) or before.length > 1.02 * ask_bind_length(session)
    to = np.add(before.points[-1], [0.004, -0.006, 0.01])
    last = len(before.points) - 1
    ask(session, "muscle.move_point", name=BICEPS, number=last, to=tuple(to), gesture="a")
    ask(session, "muscle.move_point", name=BICEPS, number=last, to=tuple(to + 0.002), gesture="a")
    after = ask(session, "muscle.places", name=BICEPS)
    np.testing.assert_allclose(after.points[-1], to + 0.002, atol=1e-7)
    np.testing.assert_allclose(after.points[:-1], before.points[:-1], atol=1e-12)
    undone = ask(session, "document.undo").lines  # one gesture, one step
    assert undone == (f"undone: move the insertion of {BICEPS}",)
    assert session.document.undo_label is None
    np.testing.assert_allclose(ask(session, "muscle.places", name=BICEPS).points, before.points, atol=1e-12)


def ask_bind_length(session: Session) -> float:
    one = one_spindle(session.document.rig, session.document.character, BICEPS)
    return float(one.frames.paths.bind.lengths[0])


def test_bind_and_back_with_a_virtual_shoulder_blade(session: Session) -> None:
    bent_elbow(session)
    session.local[session.document.character.skeleton.names.index("RightArm"), :3, :3] @= matrix_from_xyzw(
        xyzw_from_axis_angle(np.array([0.0, 0.0, 1.0]), np.radians(60.0))
    )
    document = session.document
    rig, man = document.rig, document.character
    there = muscle_in_pose(rig, man, BICEPS, session.local)
    bind = muscle_in_pose(rig, man, BICEPS, man.skeleton.bind_local)
    joints = [p.joint for p in rig.spec.muscles.named[BICEPS].path]
    assert any(joint.startswith("virtual scapula") for joint in joints)
    for joint, posed, still in zip(joints, there.points, bind.points, strict=True):
        np.testing.assert_allclose(at_bind(rig, man, joint, posed, session.local), still, atol=1e-9)


def test_the_bulge_is_turned_in_the_pose(session: Session) -> None:
    bent_elbow(session)
    before = ask(session, "muscle.places", name=BICEPS)
    ask(session, "muscle.outward", name=BICEPS, towards=before.outward)
    again = ask(session, "muscle.places", name=BICEPS)
    np.testing.assert_allclose(again.outward, before.outward, atol=0.02)


def test_every_edit_is_one_step_of_history(session: Session) -> None:
    edits: list[tuple[str, dict[str, Any]]] = [
        ("muscle.add_via", {"name": BICEPS, "after": 0}),
        ("muscle.remove_via", {"name": BICEPS, "number": 1}),
        ("muscle.thickness", {"name": BICEPS, "half": 0, "number": 2, "value": 0.012}),
        ("muscle.sweep", {"name": BICEPS, "half": 0, "number": 3, "outwards": 0.004, "sideways": 0.0}),
        ("muscle.set", {"name": BICEPS, "belly": 0.4, "scale": 1.1, "max_force": 700.0, "group": "mine"}),
        ("muscle.outward", {"name": BICEPS}),
        ("muscle.influence", {"name": BICEPS, "neighbourhood": "half_space"}),
        ("muscle.set_joint", {"name": "brachialis, right", "number": 0, "joint": "RightShoulder"}),
        ("muscle.duplicate", {"name": BICEPS}),
        ("muscle.rename", {"name": BICEPS, "to": "<img src=x onerror=alert(1)>"}),
        ("muscle.mirror", {"names": ["brachialis, right"]}),
        ("muscle.remove", {"names": [f"{BICEPS}.2"]}),
        ("muscle.add_template", {"names": [BICEPS]}),
    ]
    rigs: list[Rig] = [session.document.rig]
    for number, (kind, fields) in enumerate(edits):
        answer = ask(session, kind, **fields)
        assert answer.lines, kind
        assert session.document.revision == number + 1, kind
        rigs.append(session.document.rig)
    for rig in reversed(rigs[:-1]):
        ask(session, "document.undo")
        assert session.document.rig is rig
    with pytest.raises(EcorcheError, match="nothing to undo"):
        ask(session, "document.undo")


def test_new_muscles_are_named_in_the_answer(session: Session) -> None:
    assert ask(session, "muscle.duplicate", name=BICEPS).names == (f"{BICEPS}.2",)
    ask(session, "muscle.remove", names=[BICEPS, "brachialis, right"])
    assert set(ask(session, "muscle.template").names) == {BICEPS, "brachialis, right"}
    assert ask(session, "muscle.add_template", names=[BICEPS]).names == (BICEPS,)
    assert "brachialis, right" in ask(session, "muscle.mirror", names=["brachialis, left"]).names


def test_numbers_for_the_panel(session: Session) -> None:
    told = ask(session, "muscle.get", name=BICEPS)
    assert told.kind == "named"
    assert told.spindle is not None
    assert told.joints[0] in told.carriers
    rows = ask(session, "muscle.volume", name=BICEPS, shares=[0.5, 1.0, 1.5], activation=1.0).rows
    assert [row.share for row in rows] == [0.5, 1.0, 1.5]
    with pytest.raises(DocumentError, match="Did you mean"):
        ask(session, "muscle.get", name=BICEPS[1:])
    with pytest.raises(EcorcheError, match="1 to 200"):
        ask(session, "muscle.volume", name=BICEPS, shares=[])


def test_a_muscle_found_in_the_skin_is_dragged_and_bent(data: Path) -> None:
    man, rig = extracted(data / "human" / "male_muscular_cmu_mb.glb")
    session = Session(OpenDocument(man, rig), lambda _: None)
    name = "upper arm front, left"
    before = ask(session, "muscle.places", name=name)
    to = np.add(before.points[1], [0.0, 0.004, 0.0])
    ask(session, "muscle.move_point", name=name, number=1, to=tuple(to))
    np.testing.assert_allclose(ask(session, "muscle.places", name=name).points[1], to, atol=1e-7)
    ask(session, "muscle.wrap", name=name, shape="sphere", radius=0.02)
    told = ask(session, "muscle.get", name=name)
    assert (told.wrap.shape, told.wrap.radius) == ("sphere", 0.02)
    centre = np.add(ask(session, "muscle.places", name=name).wrap, [0.002, 0.0, 0.0])
    ask(session, "muscle.wrap", name=name, centre=tuple(centre))
    np.testing.assert_allclose(ask(session, "muscle.places", name=name).wrap, centre, atol=1e-7)
    assert told.spindle is None
    with pytest.raises(DocumentError, match="neither via points nor curves"):
        ask(session, "muscle.thickness", name=name, half=0, number=1, value=0.01)


def test_a_file_that_is_no_muscle_is_refused_and_nothing_changed(session: Session) -> None:
    text = base64.b64encode(b"solid no\nendsolid no\n").decode()
    for file, data, what in (
        ("a.exe", text, "is no surface"),
        ("a.stl", "§", "did not arrive whole"),
        ("a.stl", text, "a.stl"),
        ("../../etc/a.stl", text, "a.stl"),
    ):
        with pytest.raises((ReadError, EcorcheError), match=what) as told:
            ask(session, "muscle.add_mesh", file=file, data=data)
        assert "/tmp" not in str(told.value)
        assert "etc" not in str(told.value)
    assert session.document.revision == 0
