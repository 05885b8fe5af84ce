"""How fast the studio is in a browser that draws by the processor alone: playing, and one change of pose.

The muscular man of 13,380 vertices with all muscles of the template walks, in headless Chromium with
software rendering, 1280 by 800. Times are taken in the page, from asking to the drawn picture. What other
programs do at the same time is in them; it is not in processor time, which server and browser worked.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.bodies import DATA
from benchmarks.muscle_people import rigged
from benchmarks.timing import by_turns, timing
from ecorche.body.compile import compile_body
from ecorche.body.kept_parts import KeptParts
from ecorche.document.files import Rig, write_rig

PERSON = DATA / "human" / "male_muscular_cmu_mb.glb"
WALK = DATA / "cmu" / "02_01.bvh"
TESTS = Path(__file__).resolve().parent.parent / "tests"
SECONDS, POSES = 10, 20
LOOKS = {"skin over its muscles": False, "and all muscles under translucent skin": True}


def section() -> str:
    """The section of the report."""
    if not PERSON.exists():
        return "## The studio\n\nNot measured: the data is not here."
    loads = [os.getloadavg()[0]]
    lines = [
        "## The studio",
        "",
        "The muscular man of 13,380 vertices with all muscles of the template, in headless Chromium that"
        " draws by the processor alone, 1280 by 800. Playing a walk: pictures a second, and what server"
        " and browser worked for one. A change of pose: from asking to the drawn picture, and of it the"
        " server's part.",
        "",
        "| shown | pictures/s | server works, ms | browser works, ms | pose shown, ms | of it server, ms |",
        "|---|---|---|---|---|---|",
    ]
    for name, muscles in LOOKS.items():
        found = _measured(muscles)
        change, server = timing(found["changes"]), timing(found["server"])
        lines.append(
            f"| {name} | {found['rate']:.1f} | {found['worked']:.1f} | {found['browser']:.0f} |"
            f" {change.median:.0f} ({change.fastest:.0f}–{change.slowest:.0f}) | {server.median:.1f} |"
        )
        loads.append(os.getloadavg()[0])
    lines += [
        "",
        f"The machine has {os.cpu_count()} cores, and its load was {min(loads):.1f} to {max(loads):.1f}"
        " meanwhile: above the number of cores, pictures a second and times to the screen wait for other"
        " programs, and on a machine of one's own are better. Pictures are drawn coarser, to half as many"
        " points across, where the browser does not keep up.",
        "",
        *_edits(),
    ]
    return "\n".join(lines)


def _measured(muscles: bool) -> dict[str, Any]:
    sys.path.insert(0, str(TESTS))
    try:
        from studio_pages import served, visited
    finally:
        sys.path.remove(str(TESTS))
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(PERSON, folder / "man.glb")
        shutil.copy(WALK, folder / "walk.bvh")
        write_rig(folder / "man.ecorche", _beside(rigged(PERSON)[1]))
        with served(folder / "man.ecorche") as server:
            given = {
                "file": "walk.bvh",
                "seconds": SECONDS,
                "poses": POSES,
                "muscles": muscles,
                "server": server.process.pid,
            }
            found: dict[str, Any] = visited("speed", server, folder, given)
    return found


def _beside(rig: Rig) -> Rig:
    """The rig with its character as man.glb beside it."""
    from dataclasses import replace

    character = rig.spec.character.model_copy(update={"path": "man.glb"})
    return replace(rig, spec=rig.spec.model_copy(update={"character": character}))


def _edits() -> list[str]:
    """What compiling after an edit of one muscle costs."""
    character, rig = rigged(PERSON)
    kept, name = KeptParts(), next(iter(rig.spec.muscles.named))
    compile_body(character, rig=rig, kept=kept)
    scales = iter(np.linspace(0.9, 1.1, 64).tolist())

    def edited() -> Rig:
        from dataclasses import replace

        muscles = rig.spec.muscles
        other = muscles.named[name].model_copy(update={"scale": next(scales)})
        named = muscles.model_copy(update={"named": {**muscles.named, name: other}})
        return replace(rig, spec=rig.spec.model_copy(update={"muscles": named}))

    found = by_turns(
        {
            "afresh": lambda: compile_body(character, rig=edited()),
            "kept": lambda: compile_body(character, rig=edited(), kept=kept),
        },
        8,
    )
    fresh, again = found["afresh"], found["kept"]
    return [
        f"An edit of one muscle: the body is compiled in {again.median:.0f} ms with what was kept of the"
        f" last, {fresh.median:.0f} ms afresh ({fresh.median / again.median:.1f} times as long), the same"
        " byte for byte.",
    ]


if __name__ == "__main__":
    begun = time.perf_counter()
    print(section())
    print(f"{time.perf_counter() - begun:.0f} s")
