"""As a new user, with the page docs/studio.md alone: from a character without muscles to a flexing arm."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from conftest import Figure
from ecorche.document.files import read_rig
from studio_pages import for_the_handbook, served, visited

FIVE_MINUTES = 300.0
"""[s]"""


def test_from_a_character_to_a_flexing_arm(data: Path, tmp_path: Path, figure: Figure) -> None:
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", tmp_path / "man.glb")
    given = {"out": str(tmp_path), "elbow": "RightForeArm", "muscle": "biceps brachii, long head, right"}
    with served(tmp_path / "man.glb") as server:
        seen = visited("five_minutes", server, tmp_path, given)
    for name in ("view", "joints", "muscles"):
        for_the_handbook(tmp_path / f"{name}.png", name)
    assert seen["muscles"] == 160
    assert re.search(r"\d+°", seen["held"])
    assert seen["bent"] > 0.2
    assert 0.002 < seen["tense"] < 0.05
    figure("the studio: from a bare character to a flexing arm", seen["seconds"], FIVE_MINUTES, "s")
    # what the page saved is a rig as any
    assert read_rig(tmp_path / "man.ecorche").spec.muscles.count == 160
