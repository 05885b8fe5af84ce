"""Plots of the results, all of one look."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def panels(rows: int, columns: int, size: tuple[float, float], **shared: Any) -> tuple[Any, Any]:
    """A figure of so many inches and its axes, drawn without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=size, layout="constrained", **shared)


def save(figure: Any, path: Path) -> None:
    """Write a figure, the same bytes each time, with a faint grid and no box around it."""
    import matplotlib.pyplot as plt

    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)
