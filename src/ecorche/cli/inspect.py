"""What `ecorche check` looks at in each kind of file."""

from __future__ import annotations

from pathlib import Path

from ecorche.base.files import require_file
from ecorche.errors import ReadError
from ecorche.io import formats


def problems_in(path: Path) -> list[str]:
    """A sentence for each problem of a file that can be read; an error for one that cannot."""
    require_file(path)
    if path.suffix.lower() == ".ecorche":
        return _rig_problems(path)
    module = formats.module_for(path, "__name__", ReadError)
    found: list[str] = []
    if hasattr(module, "compliance_problems"):
        found += module.compliance_problems(path)
    if hasattr(module, "read_character"):
        from ecorche.body.problems import problems

        return found + problems(module.read_character(path))
    if hasattr(module, "read_mesh"):
        module.read_mesh(path)
    elif hasattr(module, "read_motion"):
        module.read_motion(path, None)
    else:
        frames = module.read_frames(path)
        for index in range(len(frames)):
            frames[index]
    return found


def _rig_problems(path: Path) -> list[str]:
    from ecorche.body.dynamic_problems import dynamic_problems
    from ecorche.body.problems import skin_problems
    from ecorche.body.rig import check_rig
    from ecorche.cli.subject import read_rig_and_character

    rig, character = read_rig_and_character(path)
    found = check_rig(rig, character)
    if not found:  # what does not fit would be told twice
        found = [*skin_problems(character, rig.spec.body), *dynamic_problems(rig, character)]
    return found
