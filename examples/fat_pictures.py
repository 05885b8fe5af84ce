"""Fat in a captured jump: a woman and a heavy man, by skinning alone and with fat that swings.

    PYTHONPATH=. python examples/fat_pictures.py [OUTPUT_FOLDER] [--who woman,heavy]

The data is the folder named by ECORCHE_DATA, else ../shared/data beside the project. A sheet shows moments
of the jump: crouched, taking off, in the air, landed; a film of it lies beside it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from picture_options import DATA, asked

from ecorche import Focus, create_rig, perform, read_character, read_motion, render_layers
from ecorche.body.body_type import with_type


@dataclass(frozen=True)
class Jumper:
    """Who jumps: the file, how heavy, and where to look."""

    file: str
    fat: float
    focus: Focus


EVERYBODY = {
    "woman": Jumper("female_average_cmu_mb", 0.0, Focus(("vt7",), 0.28)),
    "heavy": Jumper("male_average_cmu_mb", 2.5, Focus(("vl5", "vt7"), 0.45)),
}
MOMENTS = (20, 41, 46, 57)
"""Frames of the jump, of 30 a second."""


def main(folder: Path, who: list[str]) -> None:
    """Write the sheets of some people into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    for name in who:
        print(f"{time.perf_counter() - started:6.1f} s  {name}", flush=True)
        draw(folder, name, EVERYBODY[name])


def draw(folder: Path, name: str, jumper: Jumper) -> None:
    """A sheet and a film of one person."""
    path = DATA / "human" / f"{jumper.file}.glb"
    character, motion = read_character(path), read_motion(DATA / "cmu" / "13_39.bvh")
    rig = with_type(create_rig(character, path, path.with_suffix(".ecorche")), fat=jumper.fat)
    takes = {
        said: perform(
            character, motion, rig=rig, rate=30.0, frames=(1, 80), dynamics=dynamics, preroll=1.0
        ).take
        for said, dynamics in (("without", "off"), ("fat", "fat"))
    }
    for suffix, pixels in (("png", 420), ("mp4", 540)):
        render_layers(
            folder / f"{name}.{suffix}",
            takes,
            layers=("result",),
            views=("three_quarter",),
            frame=MOMENTS,
            focus=jumper.focus,
            size=(pixels, pixels),
        )


if __name__ == "__main__":
    out, names = asked(__doc__, "fat", {"who": EVERYBODY}, ("human", "cmu"))
    main(out, names["who"])
