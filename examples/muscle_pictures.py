"""Five people in eight poses: plain, muscles under translucent skin, result and difference, from three sides.

    python examples/muscle_pictures.py [OUTPUT_FOLDER] [--people slim,woman] [--poses curl,run]

The data is the folder named by ECORCHE_DATA, else ../shared/data beside the project. For every person and
pose there is a sheet of the whole body, and one of each part that works, its muscles coloured by activation;
for every pose a sheet of all people, with one scale of displacement.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from picture_options import DATA, HERE, asked

from ecorche import (
    Character,
    Focus,
    Motion,
    Rig,
    Take,
    create_rig,
    perform,
    read_character,
    read_keyframes,
    read_motion,
    render_layers,
)
from ecorche.base.transforms import nearest_rotation
from ecorche.render.layers import Layers

PEOPLE = {
    "muscular": "male_muscular_cmu_mb.glb",
    "average": "male_average_cmu_mb.glb",
    "slim": "male_slim_cmu_mb.glb",
    "woman": "female_average_cmu_mb.glb",
    "dressed": "male_dressed_mixamo.glb",
}


@dataclass(frozen=True)
class Shown:
    """A motion, and the parts of the body its close-ups look at."""

    file: Path
    parts: dict[str, Focus] = field(default_factory=dict)


THIGH, CALF = Focus(("r_hip", "r_knee"), 0.3), Focus(("r_knee", "r_talocrural"), 0.28)
SHOULDER = Focus(("r_shoulder",), 0.25)
POSES = {
    "curl": Shown(HERE / "curl.pose", {"upper arm": Focus(("r_shoulder", "r_elbow"), 0.22)}),
    "squat": Shown(HERE / "squat.pose", {"thigh": THIGH, "calf": CALF, "shoulder": SHOULDER}),
    "raise": Shown(HERE / "raise.pose", {"shoulder": SHOULDER}),
    "fist": Shown(
        HERE / "fist.pose",
        {"forearm": Focus(("r_elbow", "r_radiocarpal"), 0.2), "hand": Focus(("r_radiocarpal",), 0.14)},
    ),
    "walk": Shown(DATA / "cmu" / "02_01.bvh", {"calf": CALF}),
    "run": Shown(DATA / "cmu" / "02_03.bvh", {"thigh": THIGH}),
    "jump": Shown(DATA / "cmu" / "13_13.bvh", {"thigh": THIGH}),
    "second jump": Shown(DATA / "cmu" / "13_39.bvh", {"shoulder": SHOULDER}),
}


def main(folder: Path, people: list[str], poses: list[str]) -> None:
    """Write the sheets of some people in some poses into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    rigged = {name: _rigged(DATA / "human" / PEOPLE[name], folder) for name in people}
    for pose in poses:
        takes: dict[str, Take] = {}
        for name, (character, rig) in rigged.items():
            takes[name] = perform(character, _motion(POSES[pose].file, character), rig=rig).take
        frame = _most_bent(takes)
        stem = pose.replace(" ", "-")
        for name, take in takes.items():
            _say(started, folder / f"{stem}-{name}.png")
            render_layers(folder / f"{stem}-{name}.png", take, frame=frame)
            for part, focus in POSES[pose].parts.items():
                close = folder / f"{stem}-{name}-{part.replace(' ', '-')}.png"
                _say(started, close)
                views = ("front", "three_quarter", "side", "back")
                render_layers(close, take, frame=frame, views=views, focus=focus, colouring="activation")
        if len(takes) > 1:
            for layer in ("result", "difference"):
                _say(started, folder / f"{stem}-people-{layer}.png")
                render_layers(folder / f"{stem}-people-{layer}.png", takes, frame=frame, layers=(layer,))
        for name, take in takes.items():
            print(f"          {pose}, {name}: {_told(Layers(take), frame)}")


def _rigged(file: Path, folder: Path) -> tuple[Character, Rig]:
    """A person, and a rig with the template's muscles under the skin."""
    character = read_character(file)
    return character, create_rig(character, file, folder / f"{file.stem}.ecorche")


def _motion(file: Path, character: Character) -> Motion:
    return read_keyframes(file, character.skeleton) if file.suffix == ".pose" else read_motion(file)


def _most_bent(takes: dict[str, Take]) -> int:
    """The frame in which the joints of the first person are turned most; of a held pose its middle."""
    take = next(iter(takes.values()))
    assert take.motion is not None
    bind = take.character.skeleton.bind_local[:, :3, :3]
    turned = nearest_rotation(take.motion.local[..., :3, :3]) @ np.swapaxes(nearest_rotation(bind), -1, -2)
    cosine = 0.5 * (np.trace(turned, axis1=-2, axis2=-1) - 1.0)
    # the root only says which way the person faces
    angles = np.arccos(np.clip(cosine, -1.0, 1.0))[:, take.character.skeleton.parents >= 0].sum(axis=1)
    held = np.flatnonzero(angles > angles.max() - 1e-3)
    return int(held[len(held) // 2])


def _told(layers: Layers, frame: int) -> str:
    values = np.concatenate(layers.displacements(frame))
    return f"frame {frame}, outward displacement {values.min():+.1f} to {values.max():+.1f} mm"


def _say(started: float, path: Path) -> None:
    print(f"{time.perf_counter() - started:6.1f} s  {path}", flush=True)


if __name__ == "__main__":
    out, names = asked(__doc__, "pictures", {"people": PEOPLE, "poses": POSES}, ("human", "cmu"))
    main(out, names["people"], names["poses"])
