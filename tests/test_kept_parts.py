"""A body compiled again after an edit, with what was kept, is the body compiled afresh."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.kept_parts import KeptParts
from ecorche.document.files import Rig
from rigged_people import BICEPS, edited, person, rigged


def fingerprint(body: Body) -> bytes:
    """All that its muscles do, and one frame of it."""
    told: list[bytes] = []
    assert body.muscles is not None
    body.muscles.feed(told.append)
    rng = np.random.default_rng(3)
    local = body.character.skeleton.bind_local.copy()
    local[:, :3, 3] += 0.01 * rng.standard_normal(local[:, :3, 3].shape)
    frame = evaluate(body, Pose(local, activation=np.full(len(body.muscle_names), 0.5)))
    return b"".join([*told, *(points.tobytes() for points in frame.points)])


@pytest.mark.parametrize("file", ["male_muscular_cmu_mb.glb", "male_dressed_mixamo.glb"])
def test_an_edited_rig_is_compiled_as_if_afresh(data: Path, file: str) -> None:
    path = data / "human" / file
    character, first = person(path), rigged(path)
    kept = KeptParts()
    body = compile_body(character, rig=first, kept=kept)
    start = fingerprint(body)
    assert start == fingerprint(compile_body(character, rig=first))
    thicker = edited(first, BICEPS, scale=1.4)
    longer = edited(thicker, BICEPS, path=moved_insertion(first))
    unpainted = {"joints": first.spec.muscles.named[BICEPS].influence.joints, "weighting": "binary"}
    edits = [thicker, longer, edited(longer, BICEPS, influence=unpainted), first]
    seen = {start}
    for rig in edits[:-1]:
        again = compile_body(character, rig=rig, kept=kept)
        assert fingerprint(again) == fingerprint(compile_body(character, rig=rig))
        assert fingerprint(again) not in seen
        seen.add(fingerprint(again))
        # what no muscle changes is the very same
        assert again.normals is body.normals
        assert again.skinnings is body.skinnings
    assert fingerprint(compile_body(character, rig=edits[-1], kept=kept)) == start


def test_another_muscle_gone_leaves_the_others(data: Path) -> None:
    """Numbers of muscles shift; what was found for each goes with it."""
    from ecorche.body.edit_muscles import removed

    path = data / "human" / "male_muscular_cmu_mb.glb"
    kept = KeptParts()
    compile_body(person(path), rig=rigged(path), kept=kept)
    fewer = removed(rigged(path), [next(iter(rigged(path).spec.muscles.named))]).rig
    assert fingerprint(compile_body(person(path), rig=fewer, kept=kept)) == fingerprint(
        compile_body(person(path), rig=fewer)
    )


def test_another_skinning_or_character_is_not_taken_for_the_same(data: Path) -> None:
    man, slim = (data / "human" / f"male_{kind}_cmu_mb.glb" for kind in ("muscular", "slim"))
    kept = KeptParts()
    for path, skinning in ((man, None), (man, "contour"), (slim, "contour"), (man, None)):
        rig: Rig = rigged(path)
        body = compile_body(person(path), rig=rig, skinning=skinning, kept=kept)
        assert fingerprint(body) == fingerprint(compile_body(person(path), rig=rig, skinning=skinning))


def moved_insertion(rig: Rig) -> tuple[object, ...]:
    """The biceps' path with its last point half a centimetre farther."""
    path: list[object] = [point.model_dump() for point in rig.spec.muscles.named[BICEPS].path]
    last = rig.spec.muscles.named[BICEPS].path[-1]
    path[-1] = {**last.model_dump(), "at": (last.at[0] + 0.005, *last.at[1:])}
    return tuple(path)
