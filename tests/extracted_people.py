"""Real people with the muscles that show in their skin, found once, and both skins of a motion."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from benchmarks.muscle_people import motion_file

from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body
from ecorche.body.extract_muscles import ExtractionReport, with_extracted_muscles
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.io.formats import read_motion
from ecorche.muscles.extraction.build import Extraction
from rigged_people import person


@cache
def extraction_report(path: Path) -> tuple[Rig, ExtractionReport]:
    """A rig of a person with the muscles found in its skin, and what is told of them."""
    bare = create_rig(person(path), path, path.with_suffix(".ecorche"), muscles=False)
    return with_extracted_muscles(bare, person(path))


def extracted(path: Path) -> tuple[Character, Rig]:
    """A person, and a rig with the muscles found in its skin."""
    return person(path), extraction_report(path)[0]


def found_in(path: Path) -> Extraction:
    """What the muscles of that rig were found by."""
    return extraction_report(path)[1].extraction


@cache
def hybrid_body(path: Path) -> Body:
    character, rig = extracted(path)
    return compile_body(character, rig=rig)


@cache
def both_skins(path: Path, data: Path, name: str) -> tuple[LiveFrames, LiveFrames]:
    """A motion with the muscles found in the skin, and by plain skinning."""
    character, rig = extracted(path)
    motion = perform(character, read_motion(motion_file(data, name)), rig=rig, muscles=False).take.motion
    assert motion is not None
    body = hybrid_body(path)
    return LiveFrames(body, motion), LiveFrames(body.without_muscles(), motion)
