"""Muscles found in the skin of people and creatures: how they were found, and what they do to the skin.

    python examples/extraction_pictures.py [OUTPUT_FOLDER] [--who muscular,dog] [--what found,elbow]

The data is the folder named by ECORCHE_DATA, else ../shared/data beside the project. Of everybody there is a
sheet of what was found, from three sides: sections with the bumps of each muscle in its colour, the ellipses,
the muscles. Of people there are close-ups of bent joints: plain skinning, hybrid skinning, both superimposed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from picture_options import DATA, HERE, asked

from ecorche import (
    Character,
    Focus,
    Motion,
    Rig,
    create_rig,
    perform,
    read_character,
    read_keyframes,
    render_layers,
)
from ecorche.body.extract_muscles import with_extracted_muscles
from ecorche.muscles.extraction.build import Extraction
from ecorche.render.layers import Layers

EVERYBODY = {
    "muscular": "human/male_muscular_cmu_mb.glb",
    "average": "human/male_average_cmu_mb.glb",
    "slim": "human/male_slim_cmu_mb.glb",
    "woman": "human/female_average_cmu_mb.glb",
    "man": "mesh2motion/human-male.glb",
    "dog": "dog/dog.xml",
    "horse": "mesh2motion/horse-animations.glb",
}
CREATURES = ("dog", "horse")
FOUND = ("sections", "ellipses", "muscles")


@dataclass(frozen=True)
class Bent:
    """A pose, the frame in which it is held, and the part to look at."""

    file: str
    frame: int
    focus: Focus


BENT = {
    "elbow": Bent("curl.pose", 48, Focus(("r_shoulder", "r_elbow"), 0.22)),
    "shoulder": Bent("raise.pose", 63, Focus(("r_shoulder",), 0.27)),
    "knee": Bent("squat.pose", 60, Focus(("r_hip", "r_knee"), 0.32)),
    "calf": Bent("squat.pose", 60, Focus(("r_knee", "r_talocrural"), 0.28)),
    "neck": Bent("look.pose", 20, Focus(("vc7",), 0.24)),
}
LOOK = """
clip look
rate 30
zero standing
interpolation smooth
at 0
    neck       0    0    0
at 0.5
    neck      25   45   10
at 1
    neck      25   45   10
"""
"""The neck bent and turned."""


def main(folder: Path, who: list[str], what: list[str]) -> None:
    """Write the pictures of some people and creatures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "look.pose").write_text(LOOK)
    started = time.perf_counter()
    for name in who:
        character, rig, found = _extracted(DATA / EVERYBODY[name], folder)
        print(f"{time.perf_counter() - started:6.1f} s  {name}: {len(found.muscles)} muscles", flush=True)
        if "found" in what:
            _draw_found(folder / f"{name}.png", _layers(character, rig, found))
        for part, bent in BENT.items():
            if part in what and name not in CREATURES:
                file = (folder if bent.file == "look.pose" else HERE) / bent.file
                layers = _layers(character, rig, found, read_keyframes(file, character.skeleton))
                _draw_bent(folder / f"{name}-{part}.png", layers, bent)


def _extracted(file: Path, folder: Path) -> tuple[Character, Rig, Extraction]:
    """A character, a rig with the muscles found in its skin, and what they were found by."""
    character = read_character(file)
    rig = create_rig(character, file, folder / f"{file.stem}.ecorche", muscles=False)
    rig, report = with_extracted_muscles(rig, character)
    return character, rig, report.extraction


def _layers(character: Character, rig: Rig, found: Extraction, motion: Motion | None = None) -> Layers:
    return Layers(perform(character, motion, rig=rig).take, found=lambda: found)


def _draw_found(path: Path, layers: Layers) -> None:
    print(f"          {path}", flush=True)
    render_layers(path, layers, layers=FOUND, colouring="muscle")


def _draw_bent(path: Path, layers: Layers, bent: Bent) -> None:
    print(f"          {path}", flush=True)
    shown = ("plain", "result", "superimposed", "muscles", "difference")
    render_layers(path, layers, layers=shown, frame=bent.frame, focus=bent.focus, size=(420, 420))


if __name__ == "__main__":
    out, names = asked(__doc__, "extraction", {"who": EVERYBODY, "what": ["found", *BENT]})
    main(out, names["who"], names["what"])
