"""The built-in figure as a file beside a rig that names it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ecorche.base.files import require_folder, whole_file
from ecorche.body.character import Character
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io.formats import read_character, write_take


@dataclass(frozen=True, eq=False)
class FigureFile:
    """The built-in figure as a file beside a rig that will name it; not written yet."""

    path: Path
    character: Character
    data: bytes

    def write(self) -> None:
        """Write it, unless it is there already."""
        if not self.path.exists():
            with whole_file(self.path) as partial:
                partial.write_bytes(self.data)


def figure_file(rig_path: Path) -> FigureFile:
    """The built-in figure for a rig; refused where another file has its name."""
    from ecorche.body.figure import ecorche_figure

    figure = ecorche_figure()
    target = rig_path.with_name(f"{figure.name}.glb")
    require_folder(target)
    with TemporaryDirectory() as folder:
        fresh = Path(folder) / target.name
        write_take(fresh, Take(figure))
        made = FigureFile(target, replace(read_character(fresh), source=str(target)), fresh.read_bytes())
    if target.exists() and target.read_bytes() != made.data:
        raise WriteError(
            "is there already, and is not the built-in figure",
            where=target,
            remedy="Give a character, or the rig another folder with -o",
        )
    return made
