"""``--dynamics`` and ``--preroll``: how flesh lags behind the bones, said on the command line."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import typer


class Swing(StrEnum):
    """How flesh lags behind the bones."""

    off = "off"
    oscillation = "oscillation"
    fat = "fat"
    springs = "springs"


DYNAMICS: Any = typer.Option(
    Swing.off,
    help="oscillation: muscles that are meshes swing after the bones; fat: fat swings under the skin; "
    "springs: muscles and skin jiggle as masses on springs. Frames then depend on all before.",
)
PREROLL: Any = typer.Option(
    0.0,
    min=0.0,
    max=60.0,
    help="Seconds before the first frame, from bind into its pose: what swings comes to rest.",
)
