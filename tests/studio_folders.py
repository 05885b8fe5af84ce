"""A folder as the studio opens it, with a small character and its rig."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from characters import tube
from ecorche.body.rig import create_rig
from ecorche.body.take import Take
from ecorche.document.files import Rig, write_rig
from ecorche.io.formats import read_character, write_take
from ecorche.studio.folder import Folder

SECRET = "what the studio must never show"


@dataclass(frozen=True)
class Scene:
    """A folder inside another one that holds a secret."""

    outside: Path
    root: Path
    folder: Folder
    rig: Rig

    def names(self) -> set[str]:
        """All that is in it, hidden files too."""
        return {p.relative_to(self.root).as_posix() for p in self.root.rglob("*")}


def tube_scene(base: Path) -> Scene:
    """``tube.glb`` and ``tube.ecorche`` in a folder, and ``secret.ecorche`` above it."""
    root = base / "opened"
    root.mkdir()
    (base / "secret.ecorche").write_text(SECRET)
    write_take(root / "tube.glb", Take(tube(rings=5, around=6)))
    rig = create_rig(
        read_character(root / "tube.glb"), root / "tube.glb", root / "tube.ecorche", muscles=False
    )
    write_rig(root / "tube.ecorche", rig)
    return Scene(base, root, Folder(root), rig)


def noted(rig: Rig, *notes: str) -> Rig:
    """The rig after an edit that can be told apart."""
    from dataclasses import replace

    return replace(rig, spec=rig.spec.model_copy(update={"notes": notes}))
