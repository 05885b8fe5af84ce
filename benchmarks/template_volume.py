"""How well the muscles of fitted people keep their volume between half and one and a half lengths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from benchmarks.muscle_people import PEOPLE, Floats, rigged
from benchmarks.spindle_volume import true_volume
from ecorche.body.muscle_specs import muscles_of
from ecorche.muscles.musculature import musculature
from ecorche.muscles.spindle import Spindles
from ecorche.muscles.volume import VolumeRule, contract, two_cone_volume

LENGTHS: Floats = np.linspace(0.5, 1.5, 41)


@dataclass(frozen=True, eq=False)
class TemplateDrift:
    """True volumes over all lengths against bind.

    Attributes:
        worst: Largest |V / V0 − 1| of each muscle, (M,).
        held: Muscles too long somewhere to keep their volume, (M,).
        miss: |two-cone volume / true volume − 1| at bind, (M,).
        isometric: Largest relative change of a section's area by the largest bulge, at any length.
    """

    worst: Floats
    held: npt.NDArray[np.bool_]
    miss: Floats
    isometric: float


def drift(spindles: Spindles, rule: VolumeRule) -> TemplateDrift:
    """What becomes of the volumes of a person's muscles."""
    lengths = spindles.bind_length * LENGTHS[:, None]
    states = contract(spindles, lengths, volume=rule)
    bind = spindles.thickness, spindles.belly, spindles.scale, spindles.bind_length
    volume = true_volume(*bind)
    posed = true_volume(states.thickness, spindles.belly, spindles.scale, lengths)
    t = np.linspace(0.05, 0.95, 19)
    out, side = states.half_axes(t)
    wide, narrow = contract(spindles, lengths, bulge=1.3, volume=rule).half_axes(t)
    return TemplateDrift(
        worst=np.abs(posed / volume - 1.0).max(axis=0),
        held=np.asarray(states.held.any(axis=0)),
        miss=np.abs(two_cone_volume(*bind) / volume - 1.0),
        isometric=float(np.abs(wide * narrow / (out * side) - 1.0).max()),
    )


def person(path: Path) -> tuple[TemplateDrift, TemplateDrift]:
    """The drifts of a fitted person's muscles: exact rule, two cones."""
    character, rig = rigged(path)
    muscles, scapulae = muscles_of(rig, character.skeleton)
    spindles = musculature(muscles, character.skeleton, scapulae).spindles
    return drift(spindles, "exact"), drift(spindles, "two_cone")


def section() -> str:
    """The results as markdown."""
    rows = [
        "| person | muscles | exact: largest drift | two cones miss: mean; largest | two cones' drift: mean;"
        " largest | within the text's 1 % | held: exact; two cones | bulge changes a section's area by |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, file in PEOPLE.items():
        exact, cones = person(DATA / "human" / f"{file}.glb")
        miss, worst = 100.0 * cones.miss, 100.0 * cones.worst
        rows.append(
            f"| {name} | {len(miss)} | {100.0 * exact.worst.max():.0e} % | {miss.mean():.0f} %;"
            f" {miss.max():.0f} % | {worst.mean():.1f} %; {worst.max():.1f} % |"
            f" {(worst <= 1.0).sum()} | {exact.held.sum()}; {cones.held.sum()} |"
            f" {100.0 * exact.isometric:.0e} % |"
        )
    table = "\n".join(rows)
    return f"""## Volume of the template's muscles between 50 % and 150 % of their length

All muscles of fitted people at {len(LENGTHS)} lengths; the true volume is by quadrature, apart from the code
under test. The text claims that two cones miss the volume by 10 % and let it drift by 1 %; fitted muscles are
fuller than cones, and both figures are several times that. The exact rule, which is the default, keeps it.

{table}
"""


if __name__ == "__main__":
    print(section())
