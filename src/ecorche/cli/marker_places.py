"""`--marker-places`: markers on a model that has none of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    from ecorche.biomech.carried_markers import Places

MARKER_PLACES: Any = typer.Option(
    None,
    help="Markers of an MJCF model: a .csv of marker,body,x,y,z in metres, an OpenSim marker set (.xml),"
    " or a model with the same bodies (.osim), whose markers go along with their size.",
)


def marker_places(model: Path, file: Path | None) -> tuple[Places | None, tuple[str, ...]]:
    """Places of markers on a model, and notes; None where no file is given."""
    from ecorche.biomech.read_model import MUJOCO, OPENSIM, read_model

    if file is None:
        return None, ()
    if model.suffix.lower() not in MUJOCO:
        raise EcorcheError(
            "an .osim model has its own markers", where="--marker-places", remedy="Put them into the model"
        )
    if file.suffix.lower() in OPENSIM:
        from ecorche.biomech.carried_markers import carried_markers

        return carried_markers(read_model(file), read_model(model))
    from ecorche.io.marker_places import read_marker_places

    return read_marker_places(file), ()
