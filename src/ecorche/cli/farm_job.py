"""`--split`, `--part`, `--stitch`: one shot as jobs of a farm."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from ecorche.cli.options import counted, frame_range, progress_bar, report_to
from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    from ecorche.body.take import Take


class FarmJob(NamedTuple):
    """What of a shot shall be done: ranges told, a part baked, or parts put together."""

    split: int | None
    part: tuple[int, int] | None
    stitch: bool

    def run(self, output: Path, take: Take, kept: tuple[int, int] | None, quiet: bool) -> None:
        """Tell ranges, or bake a part."""
        from ecorche.body.history import history
        from ecorche.farm.parts import bake_part, part_path, ranges_of

        ranges, remembered = ranges_of(take, kept), history(take)
        if self.split is not None:
            whole = self.split if not remembered else ranges.last + 1 - ranges.first
            for first, last in ranges.split(whole):
                typer.echo(f"{first}-{last}")
            for why in remembered:
                typer.echo(f"note: to be baked whole: {why}")
            return
        assert self.part is not None
        started = time.perf_counter()
        with progress_bar() as bar:
            fresh = bake_part(output, take, ranges, *self.part, report_to(bar))
        for why in remembered:
            typer.echo(f"note: computed from the shot's first frame on: {why}")
        if not quiet:
            path, count = part_path(output, *self.part), self.part[1] + 1 - self.part[0]
            took = f"in {time.perf_counter() - started:.2f} s" if fresh else "were there already"
            typer.echo(f"{path}: {counted(count, 'frame')} {took}")

    def stitched(
        self, output: Path, take: Take, kept: tuple[int, int] | None
    ) -> tuple[Take, tuple[str, ...]]:
        """The take with frames from its parts, and notes about them."""
        from ecorche.farm.parts import ranges_of, stitched

        return stitched(output, take, ranges_of(take, kept))

    def clear(self, output: Path) -> None:
        """Remove parts that have been put together."""
        from ecorche.farm.parts import parts_folder

        shutil.rmtree(parts_folder(output))


def farm_job(split: int | None, part: str | None, stitch: bool) -> FarmJob | None:
    """The job that was asked for; None for a bake as a whole."""
    asked = [
        name
        for name, yes in (("--split", split is not None), ("--part", part is not None), ("--stitch", stitch))
        if yes
    ]
    if len(asked) > 1:
        raise EcorcheError(f"{' and '.join(asked)} exclude each other", remedy="Give one of them")
    return FarmJob(split, frame_range(part, "--part"), stitch) if asked else None
