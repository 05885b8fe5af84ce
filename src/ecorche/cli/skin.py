"""`ecorche skin`: a new skin over a rig's bones and muscles."""

from __future__ import annotations

from pathlib import Path

import typer

from ecorche.cli.export import SUFFIXES


def skin(
    rig: Path = typer.Argument(help="A rig (.ecorche) with muscles."),
    output: Path = typer.Option(
        ..., "-o", "--output", help="The character to make: .glb, .gltf, .usdc, .usda, …"
    ),
    pose: Path | None = typer.Option(
        None,
        help="Lay it in the last frame of this motion (.pose, BVH, …), in which limbs should be apart;"
        " default: bind.",
    ),
    fat_offset: list[str] = typer.Option(
        [],
        "--fat-offset",
        metavar="[REGION=]MM",
        help="How thick fat and skin are, everywhere or in a region or from a joint on, such as thighs=9;"
        " again for more. Default: a lean person's.",
    ),
    bridge: list[str] = typer.Option(
        [],
        "--bridge",
        metavar="[REGION=]MM",
        help="Half the width of the gaps between bones and muscles that it bridges, said likewise.",
    ),
    edge: float | None = typer.Option(
        None, min=0.5, max=1000.0, help="How long its edges are [mm]; default: 15 on a person."
    ),
    influences: int = typer.Option(4, min=1, max=64, help="At most so many joints a vertex."),
    quiet: bool = typer.Option(False, "-q", "--quiet", help="Print problems only."),
) -> None:
    """Lay a skin over a rig's bones and muscles: closed, even, with fat by region and skin weights.

    The character is written with its joints, the new skin and its bones. Its old skin is not looked at.
    """
    import time

    import numpy as np

    from ecorche.base.files import require_folder
    from ecorche.body.laid_skin import lay_skin
    from ecorche.body.take import Take
    from ecorche.cli.options import counted, working
    from ecorche.cli.subject import read_rigged, require_not_read
    from ecorche.errors import WriteError
    from ecorche.io.formats import WriteOptions, module_for, write_take

    require_folder(output)
    module_for(output, "write_take", WriteError)
    if output.suffix.lower() not in SUFFIXES:
        raise WriteError(
            f"{output.suffix} files hold no skin with its weights",
            where=output,
            remedy=f"Use one of {', '.join(SUFFIXES)}",
        )
    fat, bridged = _lengths(fat_offset, "--fat-offset"), _lengths(bridge, "--bridge")
    started = time.perf_counter()
    character, document = read_rigged(rig)
    require_not_read(output, character, pose)
    local = None
    if pose is not None:
        from ecorche.body.perform import perform
        from ecorche.cli.subject import subject_motion

        motion = perform(
            character, subject_motion(character, pose, None), rig=document, muscles=False
        ).take.motion
        assert motion is not None  # of a performance
        local = motion.local[-1]
    with working("reading the rig") as told:
        laid = lay_skin(
            character,
            document,
            local=local,
            fat=fat,
            bridge=bridged,
            edge=None if edge is None else 1e-3 * edge,
            influences=influences,
            working=told,
        )
    written = write_take(output, Take(laid.character), WriteOptions(usd_as="skeleton", morph_targets=0))
    if quiet:
        return
    for note in (*laid.notes, *written.notes):
        typer.echo(f"note: {note}")
    mesh = laid.skin.mesh
    edges = mesh.points[mesh.face_indices.reshape(-1, 4)]
    length = np.linalg.norm(edges - np.roll(edges, 1, axis=1), axis=2)
    low, middle, high = 1e3 * np.percentile(length, (2.5, 50.0, 97.5))
    typer.echo(
        f"{output}: {counted(mesh.vertex_count, 'vertex')}, edges of {middle:.1f} mm"
        f" ({low:.1f} to {high:.1f}), {time.perf_counter() - started:.1f} s"
    )
    typer.echo(f"its muscles again: ecorche rebind {rig} {output} -o {output.with_suffix('.ecorche')}")


def _lengths(texts: list[str], option: str) -> dict[str, float]:
    """``["4", "thighs=9"]`` as metres by region; ``""`` is everywhere else."""
    from ecorche.errors import EcorcheError

    found: dict[str, float] = {}
    for text in texts:
        region, _, number = text.rpartition("=")
        try:
            length = float(number)
        except ValueError:
            length = -1.0
        if not 0.0 <= length <= 200.0:
            raise EcorcheError(
                f"{text!r} is no thickness from 0 to 200 mm",
                where=option,
                remedy="Write it as 4, or as thighs=9 for a region or a joint and all below it",
            )
        found[region.strip()] = 1e-3 * length
    return found
