"""Musculoskeletal models by the suffix of their file."""

from __future__ import annotations

import os
from pathlib import Path

from ecorche.base.files import require_file
from ecorche.biomech.carried_markers import Places
from ecorche.biomech.model import MusculoskeletalModel
from ecorche.errors import ReadError

MUJOCO, OPENSIM = (".xml", ".mjcf"), (".osim",)


def read_model(path: str | os.PathLike[str], markers: Places | None = None) -> MusculoskeletalModel:
    """A model of OpenSim (.osim) or MuJoCo (.xml, .mjcf); to the latter markers may be added."""
    file = require_file(Path(path))
    suffix = file.suffix.lower()
    if suffix in OPENSIM:
        from ecorche.biomech.opensim_model import OpensimModel

        return OpensimModel(file)
    if suffix in MUJOCO:
        from ecorche.biomech.mujoco_model import MujocoModel

        return MujocoModel(file, markers)
    raise ReadError(
        f"{suffix or 'a file without suffix'} is no musculoskeletal model we know",
        where=file,
        remedy=f"Give one of {', '.join((*OPENSIM, *MUJOCO))}",
    )
