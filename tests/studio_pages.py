"""The studio as a person meets it: a server process, and scenarios in a real browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conftest import ROOT, skip_or_fail

WEB = ROOT / "tests" / "web"


@contextmanager
def served(*arguments: object, environment: dict[str, str] | None = None) -> Iterator[Server]:
    """A studio on a free port."""
    server = Server(*arguments, environment=environment)
    try:
        yield server
    finally:
        server.stop()


class Server:
    """A studio in a process of its own.

    Attributes:
        address: Where it is.
        process: The process.
    """

    def __init__(self, *arguments: object, environment: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "ecorche", "studio", *map(str, arguments)]
        if "--port" not in command:
            command += ["--port", "0"]  # any that is free
        self.process = subprocess.Popen(
            [*command, "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})},
        )
        assert self.process.stdout is not None
        self.said: list[str] = []
        self.address = ""
        for line in self.process.stdout:
            self.said.append(line)
            found = re.search(r"https?://\S+", line)
            if found is not None:
                self.address = found.group().rstrip(";,.")
                break
        assert self.address, "".join(self.said)

    def stop(self) -> str:
        """End it as Ctrl-C does; what it said since it began to serve."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            rest, _ = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            rest, _ = self.process.communicate()
        return rest or ""

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self.process.kill()
        self.process.communicate()


def visited(
    scenario: str,
    server: Server,
    folder: Path,
    given: dict[str, Any] | None = None,
    *,
    webgpu: bool = False,
    size: tuple[int, int] = (1280, 800),
    ready: bool = True,
) -> Any:
    """What a scenario of tests/web/studio gives in a real browser; ``ready`` waits for what is open first."""
    browser = (
        os.environ.get("ECORCHE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    if browser is None:
        skip_or_fail("no Chromium: install it or set ECORCHE_CHROMIUM")
    if shutil.which("node") is None or not (WEB / "node_modules").is_dir():
        skip_or_fail("no Node.js or no tests/web/node_modules: run `npm ci` in tests/web")
    request = folder / f"{scenario}.json"
    told = {
        "browser": browser,
        "address": server.address,
        "scenario": scenario,
        "webgpu": webgpu,
        "size": size,
        "ready": ready,
        "given": given or {},
    }
    request.write_text(json.dumps(told))
    done = subprocess.run(
        ["node", "studio.mjs", str(request)], cwd=WEB, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(request.with_suffix(".result.json").read_text())


def for_the_handbook(picture: Path, name: str) -> None:
    """Leave a picture in the folder that ECORCHE_PICTURES names, if any: see `make studio-pictures`."""
    if "ECORCHE_PICTURES" in os.environ:
        shutil.copy(picture, Path(os.environ["ECORCHE_PICTURES"]) / f"studio-{name}.png")
