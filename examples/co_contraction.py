"""An arm that is held still while biceps and triceps tense against each other: files for `ecorche solve`.

    python examples/co_contraction.py
    ecorche solve arm26.osim --coordinates hold.mot --emg emg.sto --emg-table emg.csv -o tensed

The activity is made up here: two bursts, as text 004 shows them of a body builder's pose (figure 5), of one
channel on the biceps and one on the triceps; no signal of a person is among the files. Coordinates are those
of OpenSim's arm26.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from ecorche.io.opensim_storage import write_table

SECONDS, RATE = 3.0, 60.0
ELBOW, SHOULDER = 45.0, -10.0
"""Where the arm is held [degrees]."""
TABLE = """channel,muscle,side
biceps,BIClong,
biceps,BICshort,
triceps,TRIlong,
triceps,TRIlat,
triceps,TRImed,
"""


def activity(times: np.ndarray) -> dict[str, np.ndarray]:
    """Normalised envelopes, 0 to 1: rest, a half effort, a full one, rest."""

    def burst(begin: float, end: float, height: float) -> np.ndarray:
        rise = np.clip(np.minimum(times - begin, end - times) / 0.35, 0.0, 1.0)
        return height * rise * rise * (3.0 - 2.0 * rise)

    both = burst(0.4, 1.4, 0.5) + burst(1.5, 2.8, 1.0)
    return {"biceps": both, "triceps": 0.85 * both}


def main(folder: Path) -> None:
    """Write hold.mot, emg.sto and emg.csv."""
    times = np.arange(round(SECONDS * RATE) + 1) / RATE
    held = {
        "r_shoulder_elev": np.full(len(times), SHOULDER),
        "r_elbow_flex": np.full(len(times), ELBOW),
    }
    write_table(folder / "hold.mot", "Coordinates", times, held, degrees=True)
    write_table(folder / "emg.sto", "Electromyography", times, activity(times))
    (folder / "emg.csv").write_text(TABLE, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
