"""Skin plain, over muscles, over fascia and with fat, side by side; and skins laid over bones and muscles.

    PYTHONPATH=. python examples/skin_pictures.py [OUTPUT_FOLDER] [--what elbow,squat,raise,foreleg,laid]

The data is the folder named by ECORCHE_DATA, else ../shared/data beside the project. A muscular man bends his
elbow, squats and raises his arms; a dog bends its foreleg and draws it back; a second sheet shows what is
beneath the skin. The built-in figure, whose skin is laid over its bones and muscles, is seen from four sides,
and so are a man, a dog and a leg with skins that were laid over theirs without a look at their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks.line_muscle_bodies import RangedBody, dog, leg
from picture_options import DATA, HERE, asked

from ecorche import (
    Character,
    Focus,
    Motion,
    Rig,
    Take,
    create_rig,
    ecorche_figure,
    perform,
    read_character,
    read_keyframes,
    render_layers,
)
from ecorche.body.laid_skin import lay_skin
from ecorche.document.coupling_spec import Coupling, CouplingSpec
from ecorche.document.fat_spec import FatRegionSpec, FatSpec
from ecorche.document.spec import MapRef

MAN = "human/male_muscular_cmu_mb.glb"
KINDS: tuple[Coupling, ...] = ("plain", "muscles", "fascia")
SIDES = ("front", "side", "back", "three_quarter")


@dataclass(frozen=True)
class Bent:
    """A pose of the man, the frame in which it is held, the part to look at, and from where."""

    file: str
    frame: int
    focus: Focus
    views: tuple[str, ...] = ("front", "side")


BENT = {
    "elbow": Bent("curl.pose", 48, Focus(("r_shoulder", "r_elbow"), 0.24), ("side", "three_quarter")),
    "squat": Bent("squat.pose", 60, Focus(("r_hip", "r_knee"), 0.42), ("side", "three_quarter")),
    "raise": Bent("raise.pose", 63, Focus(("r_shoulder",), 0.3), ("front", "back")),
}
FORELEG = {"flexed": {"shoulder": -1.0, "elbow": -1.0}, "drawn-back": {"shoulder": 0.5, "elbow": 0.5}}
"""Shares of the ranges of a dog's joints."""


def main(folder: Path, what: list[str]) -> None:
    """Write some of the sheets into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()

    def told(name: str) -> Path:
        print(f"{time.perf_counter() - started:6.1f} s  {name}.png", flush=True)
        return folder / f"{name}.png"

    for name in what:
        if name in BENT:
            draw_bent(told(name), BENT[name])
        elif name == "foreleg":
            draw_foreleg(told)
        else:
            draw_laid(told)


def layered(character: Character, rig: Rig, motion: Motion) -> dict[str, Take]:
    """A motion by plain skinning, over muscles, over fascia, and with fat that swings between."""
    rigs = {
        kind: replace(rig, spec=rig.spec.model_copy(update={"coupling": CouplingSpec(everywhere=kind)}))
        for kind in KINDS
    }
    takes: dict[str, Take] = {kind: perform(character, motion, rig=one).take for kind, one in rigs.items()}
    takes["fat"] = perform(character, motion, rig=rigs["fascia"], dynamics="fat", preroll=0.5).take
    return takes


def draw_bent(path: Path, bent: Bent) -> None:
    """The man in a pose."""
    character, rig = _man()
    takes = layered(character, rig, read_keyframes(HERE / bent.file, character.skeleton))
    for layer in ("result", "muscles"):
        render_layers(
            path if layer == "result" else path.with_stem(f"{path.stem}-beneath"),
            takes,
            layers=(layer,),
            views=bent.views,
            frame=bent.frame,
            focus=bent.focus,
            size=(440, 440),
        )


def draw_foreleg(told: Callable[[str], Path]) -> None:
    """The dog's foreleg at both ends of its range; what mesh muscles do to the skin is the coupling's."""
    body = dog()
    rig = _with_fat_at_shoulders(body)
    for name, shares in FORELEG.items():
        ramp = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 16))
        local = np.stack([body.posed({joint: s * end for joint, end in shares.items()}) for s in ramp])
        motion = Motion(name, body.character.skeleton, np.arange(16) / 30.0, local)
        takes = layered(body.character, rig, motion)
        for layer in ("result", "muscles"):
            render_layers(
                told(f"foreleg-{name}" + ("" if layer == "result" else "-beneath")),
                takes,
                layers=(layer,),
                views=("side", "three_quarter"),
                frame=-1,
                focus=Focus(("scapula_L", "lower_arm_L"), 0.28),
                size=(440, 440),
            )


def _with_fat_at_shoulders(body: RangedBody) -> Rig:
    """The dog's rig with two centimetres of fat at its shoulders, which nobody measured."""
    character, rig = body.character, body.rig
    mesh = character.body(rig.spec.body)
    assert mesh.weights is not None  # of a body
    joints, weights = mesh.weights.padded()
    named = [character.skeleton.index(f"{part}_{side}") for part in ("scapula", "upper_arm") for side in "LR"]
    mask = np.where(np.isin(joints, named), weights, 0.0).sum(axis=1).astype(np.float32)
    shoulders = FatRegionSpec(mask="shoulders", thickness=0.02, least=0.01)
    spec = rig.spec.model_copy(
        update={
            "fat": FatSpec(regions={"shoulders": shoulders}),
            "maps": {**rig.spec.maps, "shoulders": MapRef(mesh=mesh.name, about="shoulders")},
        }
    )
    return replace(rig, spec=spec, maps={**rig.maps, "shoulders": np.clip(mask, 0.0, 1.0)})


def draw_laid(told: Callable[[str], Path]) -> None:
    """Skins that were laid over bones and muscles, from four sides."""
    render_layers(told("figure"), Take(ecorche_figure()), layers=("plain",), views=SIDES, size=(560, 840))
    bodies: dict[str, Callable[[], tuple[Character, Rig]]] = {
        "man": _man,
        "dog": lambda: _of(dog()),
        "leg": lambda: _of(leg()),
    }
    for name, made in bodies.items():
        laid = lay_skin(*made())
        shown = replace(laid.character, meshes=(laid.skin,))
        render_layers(told(f"laid-{name}"), Take(shown), layers=("plain",), views=SIDES, size=(560, 560))


def _of(body: RangedBody) -> tuple[Character, Rig]:
    return body.character, body.rig


def _man() -> tuple[Character, Rig]:
    character = read_character(DATA / MAN)
    return character, create_rig(character, DATA / MAN, (DATA / MAN).with_suffix(".ecorche"))


if __name__ == "__main__":
    out, names = asked(__doc__, "skin", {"what": [*BENT, "foreleg", "laid"]}, ("human", "dog", "leg"))
    main(out, names["what"])
