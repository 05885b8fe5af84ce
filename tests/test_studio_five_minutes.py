"""As a new user, with the page docs/studio.md alone: from a character without muscles to a flexing arm.

With ECORCHE_PICTURES naming a folder the handbook's pictures are left there: `make studio-pictures`.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from conftest import Figure
from ecorche.document.files import read_rig
from studio_pages import served, visited

FIVE_MINUTES = 300.0
"""[s]"""


def test_from_a_character_to_a_flexing_arm(data: Path, tmp_path: Path, figure: Figure) -> None:
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", tmp_path / "man.glb")
    pictures = os.environ.get("ECORCHE_PICTURES")
    given = {
        "pictures": pictures and str(Path(pictures).absolute()),
        "elbow": "RightForeArm",
        "muscle": "biceps brachii, long head, right",
    }
    with served(tmp_path / "man.glb") as server:
        seen = visited("five_minutes", server, tmp_path, given)
    assert seen["muscles"] == 160
    assert re.search(r"\d+°", seen["held"])
    assert seen["bent"] > 0.2
    assert 0.002 < seen["tense"] < 0.05
    figure("the studio: from a bare character to a flexing arm", seen["seconds"], FIVE_MINUTES, "s")
    # what the page saved is a rig as any
    assert read_rig(tmp_path / "man.ecorche").spec.muscles.count == 160
