"""Importing and asking for help are instant; nothing heavy is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("numpy", "numba", "scipy", "pxr", "pygltflib", "trimesh", "pyvista", "pydantic", "mujoco")


def _imported_after(statement: str) -> set[str]:
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert not _imported_after("import ecorche") & set(HEAVY)


def test_the_command_line_imports_nothing_heavy_until_a_verb_runs() -> None:
    assert not _imported_after("import ecorche.cli.main") & set(HEAVY)


def test_every_public_name_is_there() -> None:
    import ecorche

    for name in ecorche.__all__:
        assert getattr(ecorche, name) is not None
