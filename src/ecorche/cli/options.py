"""Options that several verbs share, and how their text is read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ecorche.base.files import require_file
from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID


class UsdAs(StrEnum):
    """What a USD file holds."""

    points = "points"
    skeleton = "skeleton"
    override = "override"


class Processor(StrEnum):
    """What computes the skin."""

    cpu = "cpu"
    gpu = "gpu"
    auto = "auto"


# what a file format lets one choose; the verbs that write files share these
USD_AS: Any = typer.Option(
    UsdAs.points,
    "--usd-as",
    help="USD: point samples, skeleton and blend shapes, or point samples over the character's own USD file.",
)
MORPH_TARGETS: Any = typer.Option(32, min=0, max=256, help="glTF: at most this many morph targets.")
TANGENTS: Any = typer.Option(
    False, "--tangents", help="glTF, USD, NPZ: write tangents too, where a mesh has texture coordinates."
)
MESH: Any = typer.Option(None, help="PC2, NPZ: which mesh; default: the body. NPZ takes '*' for all of them.")
DEVICE: Any = typer.Option(
    Processor.cpu,
    "--device",
    help="What computes the skin; auto: a GPU if there is one.",
)


def refuse_unused(context: typer.Context, options: str, what: str, remedy: str) -> None:
    """Refuse options, as a person writes them with blanks between, that were given and would not count."""
    names = set(options.split())
    for parameter in context.command.params:
        found = names.intersection(parameter.opts)
        source = context.get_parameter_source(parameter.name or "")
        if found and source is not None and source.name == "COMMANDLINE":
            raise EcorcheError(what, where=found.pop(), remedy=remedy)


def counted(count: int, noun: str) -> str:
    """``1 frame``, ``1,200 frames``, ``3 vertices``."""
    many = f"{noun[:-2]}ices" if noun.endswith("ex") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def frame_range(text: str | None, where: str = "--frames") -> tuple[int, int] | None:
    """``"10-50"`` or ``"10"`` as first and last frame."""
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", text)
    if found is None:
        raise EcorcheError(
            f"{text!r} is not a range of frames", where=where, remedy="Write it as 10-50, or 10 for one"
        )
    first = int(found[1])
    return first, first if found[2] is None else int(found[2])


def listed(text: str, where: str) -> tuple[str, ...]:
    """``"front, side"`` as its names."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise EcorcheError(f"{text!r} is not a list of names", where=where, remedy="Write it as one,another")
    return names


def picture_size(text: str) -> tuple[int, int]:
    """``"1280x720"`` as width and height in pixels."""
    found = re.fullmatch(r"\s*(\d{2,5})\s*[x×]\s*(\d{2,5})\s*", text)
    if found is None:
        raise EcorcheError(f"{text!r} is not a size", where="--size", remedy="Write it as 1280x720")
    return int(found[1]), int(found[2])


def joint_mapping(path: Path | None) -> dict[str, str] | None:
    """A JSON file of joint names to H-Anim names."""
    if path is None:
        return None
    try:
        mapping = json.loads(require_file(path).read_text(encoding="utf-8-sig"))
    except (ValueError, UnicodeDecodeError) as error:
        raise EcorcheError(
            f"is not JSON ({error})", where=path, remedy='Write {"MyHip": "l_hip", …}'
        ) from error
    if not isinstance(mapping, dict) or not all(isinstance(v, str) for v in mapping.values()):
        raise EcorcheError("is not a table of names", where=path, remedy='Write {"MyHip": "l_hip", …}')
    return mapping


def mesh_pairs(texts: list[str]) -> dict[str, str]:
    """``["Old=New"]`` as old mesh name to new mesh name."""
    for text in texts:
        if not re.fullmatch(r"[^=]+=[^=]+", text):
            raise EcorcheError(f"{text!r} is no pair of meshes", where="--mesh", remedy="Write it as Old=New")
    return {old: new for old, _, new in (text.partition("=") for text in texts)}


def use_threads(count: int | None) -> None:
    """Use that many threads for the kernels; the result is the same for any number."""
    if count is None:
        return
    import numba

    limit = numba.config.NUMBA_NUM_THREADS
    if not 1 <= count <= limit:
        raise EcorcheError(
            f"{count} threads were asked for", where="--threads", remedy=f"Choose 1 to {limit}"
        )
    numba.set_num_threads(count)


@contextmanager
def working(what: str) -> Iterator[Callable[[str], object]]:
    """A word on the error stream while something takes long; nothing where nobody watches.

    Gives a function that changes the word.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(what) as status:
        yield status.update


def progress_bar() -> Bar:
    """A bar on stderr with rate and time left; silent where nobody watches."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:.0f} frames/s")

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description:>6}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


def report_to(bar: Bar) -> Callable[[str, int, int], None]:
    """A progress callback that keeps one line of the bar a stage."""
    lines: dict[str, TaskID] = {}

    def told(stage: str, done: int, total: int) -> None:
        if stage not in lines:
            lines[stage] = bar.add_task(stage, total=total)
        bar.update(lines[stage], completed=done)

    return told
