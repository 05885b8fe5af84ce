"""The package as people get it: archives that install, extras that are named, a version that is told once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT
from ecorche.errors import MissingPackageError
from ecorche.version import __version__

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SOURCES = ROOT / "src" / "ecorche"


def _run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command says that succeeds, without this run's own paths."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**clean, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as file:
        return {name for name in file.namelist() if "/dist/" not in name and "dist-info" not in name}


def _build(source: Path, kind: str, target: Path, **environment: str) -> Path:
    """A wheel or sdist of a source folder, by the tools of this environment."""
    tools = ("--no-isolation", "--skip-dependency-check")
    _run(sys.executable, "-m", "build", *tools, f"--{kind}", "-o", target, source, cwd=target, **environment)
    (made,) = target.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


def test_the_wheel_installs_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    """Only what needs no other package is tried alone; then with the packages of this environment."""
    environment = tmp_path / "empty"
    _run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=tmp_path)
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    _run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", wheel, cwd=tmp_path)
    told = _run(
        python,
        "-c",
        "import ecorche, ecorche.errors, pathlib\n"
        "home = pathlib.Path(ecorche.__file__).parent\n"
        "print(ecorche.__version__, home, (home / 'py.typed').is_file(), len(dir(ecorche)))",
        cwd=tmp_path,
    ).split()
    assert told[0] == __version__
    assert Path(told[1]).is_relative_to(environment)
    assert told[2] == "True"
    assert int(told[3]) > 20
    # packages it needs, without copying gigabytes: a line that names where they are; such lines found there
    # are not followed, so that no other Ecorche comes along
    purelib = Path(told[1]).parent
    (purelib / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    program = "import ecorche.io.formats as f; m = f.read_mesh('a.obj'); print(f.__file__, m.vertex_count)"
    told = _run(python, "-c", program, cwd=tmp_path).split()
    assert Path(told[0]).is_relative_to(environment)
    assert told[1] == "3"
    listed = _run(scripts / "ecorche", "--help", cwd=tmp_path)
    assert all(verb in listed for verb in ("rig", "bake", "render"))
    with zipfile.ZipFile(wheel) as file:  # pages are built with it
        built = {"ecorche/web/dist/index.html", "ecorche/studio/dist/index.html"}
        assert built <= {*file.namelist()}


def test_the_source_archive_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    sdist = _build(ROOT, "sdist", tmp_path)
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    source = tmp_path / sdist.name.removesuffix(".tar.gz")
    for needed in ("LICENSE", "README.md", "CHANGELOG.md", "docs/guide.md", "tests/conftest.py"):
        assert (source / needed).is_file(), needed
    (tmp_path / "again").mkdir()
    again = _build(source, "wheel", tmp_path / "again", HATCH_BUILD_NO_HOOKS="true")
    assert _files(again) == _files(wheel)
    # all that lies in the package is in the wheel: shaders, pages and other data too
    ours = {
        str(Path("ecorche") / path.relative_to(SOURCES))
        for path in SOURCES.rglob("*")
        if path.is_file() and not {"__pycache__", "dist"} & set(path.parts) and path.suffix != ".pyc"
    }
    assert ours <= _files(wheel)


def test_the_version_is_semantic_and_told_the_same_everywhere() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?", __version__)
    assert PROJECT["version"] == __version__
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__


def _read(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from ecorche import read_character

        (folder / name).write_bytes(b"x")
        return read_character(folder / name)

    return read


def _picture(folder: Path) -> object:
    from ecorche.render.studio import require_pyvista

    return require_pyvista()


def _film(folder: Path) -> object:
    from ecorche.render.film import _ffmpeg

    return _ffmpeg()


def _pillow(folder: Path) -> object:
    from ecorche.render.sheet import require_pillow

    return require_pillow()


def _plot(folder: Path) -> object:
    from ecorche.render.joint_errors import require_plot

    return require_plot(folder / "a.png")


def _device(folder: Path) -> object:
    from ecorche.gpu.device import open_device

    return open_device()


def _trial(folder: Path) -> object:
    from ecorche.io.c3d import read_c3d

    (folder / "a.c3d").write_bytes(b"x")
    return read_c3d(folder / "a.c3d")


def _opensim(folder: Path) -> object:
    from ecorche.biomech.opensim_model import opensim_package

    return opensim_package()


def _mujoco(folder: Path) -> object:
    from ecorche.biomech.mujoco_model import mujoco_package

    return mujoco_package()


def _cluster(folder: Path) -> object:
    from ecorche.farm.cluster import Cluster

    return Cluster(lambda job: (), address=None, folder=folder)


def _studio(folder: Path) -> object:
    from ecorche.cli.studio import studio

    studio(None, host="127.0.0.1", port=0, browser=False)
    return None


NEEDS: list[tuple[str, str, Callable[[Path], object]]] = [
    ("usd", "pxr", _read("a.usdc")),
    ("mujoco", "mujoco", _read("a.xml")),
    ("mujoco", "mujoco", _mujoco),
    ("biomech", "ezc3d", _trial),
    ("opensim", "opensim", _opensim),
    ("gpu", "wgpu", _device),
    ("render", "pyvista", _picture),
    ("render", "imageio_ffmpeg", _film),
    ("render", "PIL", _pillow),
    ("render", "matplotlib", _plot),
    ("farm", "distributed", _cluster),
    ("studio", "starlette", _studio),
    ("studio", "uvicorn", _studio),
]
"""An extra, a package of it, and what cannot be done without."""


@pytest.mark.parametrize(("extra", "package", "attempt"), NEEDS, ids=[f"{n[0]}-{n[1]}" for n in NEEDS])
def test_what_needs_an_extra_names_it(
    extra: str,
    package: str,
    attempt: Callable[[Path], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # modules of ours that import it at their top, were they imported before
    holders = ("ecorche.io.usd", "ecorche.studio.app", "ecorche.studio.serve")
    for loaded in [*sys.modules]:
        if loaded.split(".")[0] == package or loaded.startswith(holders):
            monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"pip install [\"']ecorche\[{extra}\][\"']"):
        attempt(tmp_path)


def test_without_usd_a_wrong_suffix_is_still_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ecorche import EcorcheError, read_character

    for loaded in [*sys.modules]:
        if loaded.split(".")[0] == "pxr" or loaded.startswith("ecorche.io.usd"):
            monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, "pxr", None)
    (tmp_path / "a.fbz").write_bytes(b"x")
    with pytest.raises(EcorcheError, match=r"the suffix '\.fbz' is none that Ecorche knows") as told:
        read_character(tmp_path / "a.fbz")
    assert ".usdc" not in str(told.value)


def test_every_extra_is_named_by_a_message_and_every_message_names_an_extra() -> None:
    extras = {*PROJECT["optional-dependencies"]} - {"all"}
    named = {
        extra
        for file in SOURCES.rglob("*.py")
        for extra in re.findall(r"""pip install ["']ecorche\[(\w+)\]["']""", file.read_text())
    }
    assert named == extras
