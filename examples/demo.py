"""Muscles under two skins in one run: the built-in écorché and a real person, flexed side by side.

    python examples/demo.py [OUTPUT_FOLDER]

Leaves characters, their rigs, a USD cache, a glTF file, a page for browsers, pictures and a film, and says
where.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import ecorche

EXAMPLES = Path(__file__).parent


def main(folder: Path) -> None:
    """Make everything in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()

    def done(path: Path, what: str) -> None:
        print(f"{time.perf_counter() - started:6.1f} s  {path}  {what}", flush=True)

    takes = {}
    for name, character in (("figure", ecorche.ecorche_figure()), ("man", ecorche.sample_human())):
        file = folder / f"{name}.glb"
        ecorche.write_take(file, ecorche.Take(character))
        done(file, "the built-in écorché" if name == "figure" else "a CC0 person, rigged and skinned")
        character = ecorche.read_character(file)  # as any later command finds it
        rig = ecorche.create_rig(character, file, folder / f"{name}.ecorche")
        ecorche.write_rig(folder / f"{name}.ecorche", rig)
        done(folder / f"{name}.ecorche", f"{len(rig.spec.muscles.named)} muscles fitted under the skin")
        curl = ecorche.read_keyframes(EXAMPLES / "curl.pose", character.skeleton)
        takes[name] = ecorche.perform(character, curl, rig=rig).take

    man = takes["man"]
    ecorche.write_take(folder / "curl.usdc", man)
    done(folder / "curl.usdc", "every frame of the man's skin, for Blender, Houdini, Maya")
    for note in ecorche.write_take(folder / "curl.glb", man).notes:
        print(f"          {note}")
    done(folder / "curl.glb", "the same for the web and for game engines")
    person, rig = man.character, man.rig
    moves = [ecorche.read_keyframes(EXAMPLES / f"{name}.pose", person.skeleton) for name in ("walk", "squat")]
    shown = [man, *(ecorche.perform(person, move, rig=rig).take for move in moves)]
    ecorche.write_web_page(folder / "web", shown)
    done(folder / "web" / "index.html", "him, or 25 of him, live in a browser with WebGPU")
    held = 48
    ecorche.render_layers(
        folder / "curl.png",
        takes,
        layers=("plain", "muscles", "result", "difference"),
        views=("three_quarter",),
        frame=held,
    )
    done(folder / "curl.png", "skinning alone, the muscles, the result, and what they changed")
    ecorche.render_layers(
        folder / "curl.mp4",
        takes,
        layers=("muscles", "result"),
        views=("three_quarter",),
        size=(320, 480),
        rate=15.0,
    )
    done(folder / "curl.mp4", "both flexing, side by side")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
