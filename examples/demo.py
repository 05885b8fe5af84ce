"""The whole ground in one run: a person read, moved, skinned, baked and shown.

    python examples/demo.py [OUTPUT_FOLDER]

Leaves a character, a USD cache, a glTF file, a contact sheet, a picture and a film, and says where.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import ecorche


def main(folder: Path) -> None:
    """Make everything in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()

    def done(path: Path, what: str) -> None:
        print(f"{time.perf_counter() - started:6.1f} s  {path}  {what}", flush=True)

    man = ecorche.sample_human()
    ecorche.write_take(folder / "man.glb", ecorche.Take(man))
    done(folder / "man.glb", "a CC0 person, rigged and skinned")

    walk = ecorche.read_keyframes(Path(__file__).parent / "walk.pose", man.skeleton)
    take = ecorche.perform(man, walk, skinning="dual_quaternion").take
    ecorche.write_take(folder / "walk.usdc", take)
    done(folder / "walk.usdc", f"{len(walk.times)} frames of skin, for Blender, Houdini, Maya")
    for note in ecorche.write_take(folder / "walk.glb", take).notes:
        print(f"          {note}")
    done(folder / "walk.glb", "the same for the web and for game engines")
    ecorche.render_picture(folder / "walk.png", take, frame=len(walk.times) // 4)
    done(folder / "walk.png", "a picture")
    cycle = ecorche.perform(man, walk, frames=(0, 36), skinning="dual_quaternion").take
    ecorche.render_contact_sheet(folder / "walk-sheet.png", cycle, frames=6, columns=6, size=(240, 400))
    done(folder / "walk-sheet.png", "a contact sheet, the README's picture")
    ecorche.render_film(folder / "walk.mp4", take)
    done(folder / "walk.mp4", "a film")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
