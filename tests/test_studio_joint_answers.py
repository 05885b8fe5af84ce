"""The joint editor's messages, answered on a real person: what the page asks, without a browser."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecorche.body.rig import create_rig
from ecorche.document.files import write_rig
from ecorche.errors import EcorcheError, ReadError, SkeletonError, WriteError
from ecorche.io.formats import read_character
from ecorche.studio.answers import ANSWERS
from ecorche.studio.document import OpenDocument
from ecorche.studio.messages import REQUESTS
from ecorche.studio.messages.joints import JointNow
from ecorche.studio.opening import opened
from ecorche.studio.session import Session
from ecorche.studio.wire import Numbered, request_of

ARM, ELBOW, OTHER = "mixamorig:LeftArm", "mixamorig:LeftForeArm", "mixamorig:RightForeArm"


@pytest.fixture(scope="module")
def file(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rig")
    shutil.copy(data / "human/male_slim_cmu_mb.glb", folder / "slim.glb")
    shutil.copy(data / "human/male_muscular_mixamo.glb", folder / "man.glb")
    character = read_character(folder / "man.glb")
    rig = create_rig(character, folder / "man.glb", folder / "man.ecorche", muscles=False)
    write_rig(folder / "man.ecorche", rig)
    return folder / "man.ecorche"


@pytest.fixture
def session(file: Path) -> Session:
    return Session(opened(file), lambda _: None)


def ask(session: Session, kind: str, **fields: Any) -> Any:
    return ANSWERS[kind](session, REQUESTS[kind].model_validate({"type": kind, **fields}))


def angle(now: JointNow, name: str) -> float:
    return next(a.degrees for a in now.angles if a.name == name)


def test_turns_of_one_gesture_begin_at_one_pose(session: Session) -> None:
    """A ring that is dragged tells how far it is from where it was taken hold of, not from a moment ago."""
    turn = (0.0, np.sin(np.radians(10)), 0.0, np.cos(np.radians(10)))
    for _ in range(3):
        ask(session, "joint.pose", joint=ARM, turn=turn, gesture="a")
    once = ask(session, "joint.get", joint=ARM).now.turns
    session.rest()
    ask(session, "joint.pose", joint=ARM, turn=turn)
    np.testing.assert_allclose(ask(session, "joint.get", joint=ARM).now.turns, once, atol=1e-9)
    ask(session, "joint.pose", joint=ARM, turn=turn, gesture="b")
    assert not np.allclose(ask(session, "joint.get", joint=ARM).now.turns, once, atol=1.0)


def test_a_limb_stops_and_says_so(session: Session) -> None:
    told = ask(session, "joint.pose", joint=ELBOW, angles={"flexion": 171.0})
    assert told.held == pytest.approx(21.0, abs=1e-9)
    assert told.lines == (f"{ELBOW!r} stopped at its limit, 21.0° short of what was asked",)
    assert angle(told.now, "flexion") == pytest.approx(150.0, abs=1e-9)
    free = ask(session, "joint.pose", joint=ELBOW, angles={"flexion": 171.0}, limits=False)
    assert free.now.beyond == pytest.approx(21.0, abs=1e-9)
    broken = ask(session, "limits.check")
    assert (broken.motion, [row.joint for row in broken.rows]) == (None, [ELBOW])
    assert ask(session, "pose.within").lines == (f"{ELBOW!r} was turned back, by at most 21.0°",)
    assert ask(session, "limits.check").rows == ()
    ask(session, "joint.rest", joint=ARM, below=True)
    np.testing.assert_array_equal(session.local, session.document.character.skeleton.bind_local)
    with pytest.raises(SkeletonError, match="in no way, or in several"):
        ask(session, "joint.pose", joint=ELBOW, turns=(0, 0, 0), angles={"flexion": 1.0})


def test_a_preview_changes_nothing_and_an_edit_is_one_step(session: Session) -> None:
    before = ask(session, "joint.get", joint=ARM).now
    rig, body = session.document.rig, session.document.body
    centre, radius = np.array(before.limits.centre), before.limits.radius
    to = tuple(centre + 3.0 * (np.array(before.limits.corners[2]) - centre) + 0.2 * radius)
    shown = ask(session, "joint.corner", joint=ARM, corner=2, to=to, preview=True).now
    assert session.document.rig is rig
    assert not np.allclose(shown.limits.corners[2], before.limits.corners[2], atol=0.02 * radius)
    done = ask(session, "joint.corner", joint=ARM, corner=2, to=to)
    np.testing.assert_allclose(done.now.limits.corners, shown.limits.corners, atol=1e-9)
    # it lies where the pointer is, as seen from the joint
    away = np.array(to) - centre
    np.testing.assert_allclose(
        done.now.limits.corners[2], centre + radius * away / np.linalg.norm(away), atol=1e-9
    )
    assert done.now.origin == "rig"
    assert session.document.body is body  # no body is made of limits
    assert ask(session, "document.undo").lines == (f"undone: corner of {ARM}",)
    assert ask(session, "joint.get", joint=ARM).now == before


def test_frames_offsets_types_and_limits(session: Session) -> None:
    ask(session, "joint.pose", joint=ARM, turns=(10.0, 20.0, 60.0))
    frame = ask(session, "joint.get", joint=ARM).now.limits.frame
    turned = ask(session, "joint.frame", joint=ARM, frame=(0.5, 0.5, 0.5, 0.5)).now
    np.testing.assert_allclose(np.abs(turned.limits.frame), 0.5, atol=1e-9)
    assert not np.allclose(frame, turned.limits.frame)
    aligned = ask(session, "joint.align", joint=ARM, axis="z", segment="child").now
    offset = ask(session, "joint.offset", joint=ARM).now
    np.testing.assert_allclose(offset.offset, (10.0, 20.0, 60.0), atol=1e-9)
    np.testing.assert_allclose([a.degrees for a in offset.angles], 0.0, atol=1e-9)
    np.testing.assert_allclose(offset.limits.canonical, offset.limits.limb, atol=1e-9)
    numbers = ask(session, "joint.offset", joint=ARM, turns=(0.0, 0.0, 90.0), carry=False).now
    np.testing.assert_allclose(numbers.offset, (0.0, 0.0, 90.0), atol=1e-9)
    more = ask(session, "joint.add_corner", joint=ARM, side=0).now
    assert len(more.swings) == len(aligned.swings) + 1
    assert len(ask(session, "joint.remove_corner", joint=ARM, corner=1).now.swings) == len(aligned.swings)
    swung = ask(
        session, "joint.corner", joint=ARM, corner=0, swing=(*np.add(more.swings[0], (1.5, -2.0)),)
    ).now
    np.testing.assert_allclose(swung.swings[0], np.add(more.swings[0], (1.5, -2.0)), atol=1e-9)
    keys = len(swung.values.limits.twist_keys)
    added = ask(session, "joint.twist_key", joint=ARM, key=None, values=(3.0, 4.0, -5.0, 6.0)).now
    assert added.values.limits.twist_keys[-1] == (3.0, 4.0, -5.0, 6.0)
    taken = ask(session, "joint.twist_key", joint=ARM, key=keys, values=None).now
    assert len(taken.values.limits.twist_keys) == keys
    hinge = ask(session, "joint.type", joint=ELBOW, model="revolute").now
    assert hinge.values.limits.range == (-10.0, 150.0)
    narrow = ask(session, "joint.ranges", joint=ELBOW, values={"range": (0.0, 90.0), "play": 3.0}).now
    assert (narrow.values.limits.range, narrow.values.limits.play) == ((0.0, 90.0), 3.0)
    with pytest.raises(SkeletonError, match="no key was named"):
        ask(session, "joint.twist_key", joint=ARM, key=None, values=None)


def test_copies_mirror_images_and_what_is_kept(session: Session) -> None:
    ask(session, "joint.ranges", joint=ELBOW, values={"flexion": (0.0, 100.0), "twist": (-20.0, 50.0)})
    copy = ask(session, "joint.get", joint=ELBOW).now.values.model_dump()
    assert ask(session, "joint.get", joint=ELBOW).now.partner == OTHER
    ask(session, "joint.mirror", joint=ELBOW)
    over = ask(session, "joint.get", joint=OTHER).now
    assert (over.values.limits.flexion, over.values.limits.twist) == ((0.0, 100.0), (-50.0, 20.0))
    pasted = ask(session, "joint.paste", joint=OTHER, model=copy, limits_only=True).now
    assert pasted.values.limits.twist == (-20.0, 50.0)
    assert pasted.values.anatomical_frame == over.values.anatomical_frame
    assert ask(session, "joint.reset", joint=OTHER).now.origin == "human"
    kept = ask(session, "limits.keep", kept=True)
    assert kept.lines == ("motion is kept within the joints' limits",)
    assert session.document.rig.spec.skeleton.limits == "enforce"


def test_a_motion_is_judged_and_posing_leaves_it(session: Session, file: Path) -> None:
    (file.parent / "bent.pose").write_text("clip bent\nat 0\n l_elbow 0 0 0\nat 1\n l_elbow -140 0 0\n")
    ask(session, "motion.load", file="bent.pose")
    told = ask(session, "limits.check")
    assert told.motion == "bent"
    (row,) = told.rows
    assert (row.joint, row.at) == (ELBOW, 1.0)
    assert row.spans[0][1] == 1.0
    ask(session, "motion.seek", time=row.at)
    assert ask(session, "joint.get", joint=ELBOW).now.beyond == pytest.approx(row.worst, abs=1e-6)
    ask(session, "joint.pose", joint=ELBOW, angles={"flexion": 20.0})
    assert not ask(session, "motion.get").shown
    assert angle(ask(session, "joint.get", joint=ELBOW).now, "flexion") == pytest.approx(20.0, abs=1e-9)


def test_poses_stay_in_the_folder_of_the_rig(session: Session, file: Path, tmp_path: Path) -> None:
    ask(session, "joint.pose", joint=ELBOW, angles={"flexion": 80.0})
    assert ask(session, "pose.save", name="bend").lines == ("saved bend.pose",)
    with pytest.raises(WriteError, match="a pose of that name already"):
        ask(session, "pose.save", name="bend")
    ask(session, "pose.save", name="bend", replace=True)
    assert "bend" in ask(session, "pose.list").names
    posed = session.local
    session.rest()
    ask(session, "pose.load", name="bend")
    np.testing.assert_allclose(session.local, posed, atol=1e-8)
    text = ask(session, "pose.write").text
    session.rest()
    assert ask(session, "pose.read", name="mine.pose", text=text).lines == ("loaded mine.pose",)
    np.testing.assert_allclose(session.local, posed, atol=1e-8)
    with pytest.raises(ReadError, match=r"mine\.pose, line 2: 'l_elbow' needs three numbers"):
        ask(session, "pose.read", name="mine.pose", text="at 0\n l_elbow 3 x\n")
    with pytest.raises(ReadError, match=r"bnd\.pose: there is no such pose.*bend"):
        ask(session, "pose.load", name="bnd")
    for name in ("../up", "a/b", "/etc/x", "c:x", ".hidden", ""):
        with pytest.raises(Numbered):
            request_of(f'{{"id": 1, "type": "pose.save", "name": "{name}"}}')
    outside = tmp_path / "outside.pose"
    outside.write_text(text)
    (file.parent / "link.pose").symlink_to(outside)
    assert "link" not in ask(session, "pose.list").names
    for kind in ("pose.load", "pose.save"):
        with pytest.raises(EcorcheError, match="leads out of the rig's folder"):
            ask(session, kind, name="link")
    assert outside.read_text() == text


def test_a_rig_without_a_file_keeps_poses_by_download(file: Path) -> None:
    document = opened(file)
    session = Session(OpenDocument(document.character, document.rig), lambda _: None)
    assert ask(session, "pose.list").names is None
    with pytest.raises(WriteError, match="Save the rig first, or download"):
        ask(session, "pose.save", name="bend")
    assert "zero bind" in ask(session, "pose.write").text
