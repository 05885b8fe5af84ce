"""A picture of what muscles as joints cost: how many vertices are how far off, and which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_folder, whole_file
from ecorche.base.mesh import Mesh
from ecorche.body.as_joints import JointedCharacter
from ecorche.body.joint_error import JointError
from ecorche.body.transfer import vertex_normals
from ecorche.errors import MissingPackageError, WriteError


def plot_joint_errors(path: Path, jointed: JointedCharacter, errors: Sequence[JointError]) -> None:
    """Draw the errors of budgets of influences to a .png file.

    Left, for each budget, the share of the vertices that muscles move that is never off by more than so much;
    right, the vertices from before and behind, coloured by how far each is off at most by the first budget.
    """
    matplotlib = require_plot(path)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (curves, front, back) = plt.subplots(1, 3, figsize=(13, 5.2), width_ratios=(1.3, 1, 1), dpi=110)
    for error in errors:
        worst = np.sort(error.worst[error.worst > 1e-6]) * 1e3
        budget = "all influences" if error.influences is None else f"{error.influences} influences"
        curves.plot(worst, np.linspace(0.0, 100.0, len(worst)), label=budget)
    curves.set_xlabel("largest distance from the muscles' own skin over the motion [mm]")
    curves.set_ylabel("share of the vertices that muscles move [%]")
    curves.grid(alpha=0.3)
    curves.legend(loc="lower right")
    skinned = [
        mesh.mesh
        for mesh, weights in zip(jointed.character.meshes, jointed.unlimited, strict=True)
        if weights is not None
    ]
    points = np.concatenate([mesh.points for mesh in skinned])
    facing = np.concatenate([_normals(mesh) for mesh in skinned])[:, 2]
    largest = 1e3 * float(errors[0].worst.max(initial=1e-6))
    scale = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(0.0, largest), "viridis")
    for axes, name, side in ((front, "front", 1.0), (back, "back", -1.0)):
        near = np.flatnonzero(side * facing > 0.0)
        order = near[np.argsort(errors[0].worst[near], kind="stable")]
        axes.scatter(
            side * points[order, 0],
            points[order, 1],
            c=scale.to_rgba(1e3 * errors[0].worst[order]),
            s=3,
            linewidths=0,
        )
        axes.set_title(name)
        axes.set_aspect("equal")
        axes.set_axis_off()
    budget = "all influences" if errors[0].influences is None else f"{errors[0].influences} influences"
    figure.colorbar(scale, ax=back, label=f"{budget}, largest distance [mm]")
    figure.tight_layout()
    with whole_file(path) as partial:
        figure.savefig(partial, format="png", metadata={"Software": None})
    plt.close(figure)


def _normals(mesh: Mesh) -> npt.NDArray[np.float64]:
    """Unit normals at bind, (vertices, 3)."""
    points = mesh.points.astype(np.float64)
    return vertex_normals(points, mesh.triangles(), np.arange(len(points), dtype=np.int32))


def require_plot(path: Path) -> Any:
    """Refuse what cannot be plotted to, before anything is computed; the package that plots."""
    if path.suffix.lower() != ".png":
        raise WriteError(f"{path.suffix!r} is no picture to plot to", where=path, remedy="Use .png")
    require_folder(path)
    try:
        import matplotlib
        import matplotlib.cm
        import matplotlib.colors
    except ImportError as missing:
        raise MissingPackageError(
            "plots need the package matplotlib", remedy="Install it: pip install 'ecorche[render]'"
        ) from missing
    return matplotlib
