"""Mesh muscles on action lines while joints go through their range: a dog's arms, a man's calf.

    PYTHONPATH=. python examples/line_pictures.py [OUTPUT_FOLDER] [--who dog,leg] [--what shoulder,ankle]

The data is the folder named by ECORCHE_DATA, else ../shared/data beside the project. For every joint there
is a sheet of its lowest angle, bind and its highest, from the front and from the side: bones, muscles
coloured by activation, and the skin over them, translucent.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.line_muscle_bodies import RangedBody, dog, leg
from picture_options import asked

from ecorche import Focus, Motion, perform, render_layers

EVERYBODY: dict[str, Callable[[], RangedBody]] = {"dog": dog, "leg": leg}
LOOKED_AT = {
    "shoulder": Focus(("scapula_L", "lower_arm_L"), 0.26),
    "elbow": Focus(("upper_arm_L", "hand_L"), 0.24),
    "wrist": Focus(("lower_arm_L", "hand_L"), 0.2),
    "ankle": Focus(("knee", "ankle"), 0.33),
}
ENDS = {"lowest": -1.0, "bind": 0.0, "highest": 1.0}


def main(folder: Path, who: list[str], what: list[str]) -> None:
    """Write the sheets of some joints of some bodies into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    for name in who:
        body = EVERYBODY[name]()
        for joint in body.ranges:
            if joint in what:
                path = folder / f"{name}-{joint}.png"
                print(f"{time.perf_counter() - started:6.1f} s  {path}", flush=True)
                draw(path, body, joint)


def draw(path: Path, body: RangedBody, joint: str) -> None:
    """One joint at both ends of its range and at bind, coloured by the activation it takes."""
    takes = {}
    for name, share in ENDS.items():
        local = np.stack([body.posed({}), body.posed({joint: share})])
        motion = Motion(name, body.character.skeleton, np.arange(2.0), local)
        takes[f"{joint}, {name}"] = perform(body.character, motion, rig=body.rig).take
    render_layers(
        path,
        takes,
        layers=("muscles",),
        views=("front", "side"),
        frame=-1,
        focus=LOOKED_AT[joint],
        colouring="activation",
        size=(520, 520),
    )


if __name__ == "__main__":
    out, names = asked(__doc__, "ranges", {"who": EVERYBODY, "what": LOOKED_AT}, ("dog", "leg"))
    main(out, names["who"], names["what"])
