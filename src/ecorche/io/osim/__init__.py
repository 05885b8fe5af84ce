"""OpenSim models (`.osim`): where muscles run, how long they are, and their moment arms.

model = read_osim("arm26.osim")
muscle_lengths(model, {"r_elbow_flex": 1.2})["BRA"]
"""

from __future__ import annotations

from ecorche.io.osim.lengths import muscle_lengths, muscle_moment_arms, muscle_path
from ecorche.io.osim.model import OsimModel
from ecorche.io.osim.read import read_osim

__all__ = ["OsimModel", "muscle_lengths", "muscle_moment_arms", "muscle_path", "read_osim"]
