"""The gallery: a picture of every example, drawn by running it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from handbook.darkroom import ROOT, Darkroom

MAN = (
    "ecorche sample human --muscle 0.9 --rig cmu_mb -o man.glb",
    "ecorche rig man.glb",
)
"""What examples that are motions are shown on."""
HELPERS = {"picture_options.py"}
"""What examples share; no example itself."""


@dataclass(frozen=True)
class Shown:
    """One example and how its picture is made.

    Attributes:
        example: A file of `examples/`.
        caption: What the picture shows.
        commands: What makes it.
        picture: The file they leave.
        page: Where to read on, from the handbook's root.
        data: Folders of the real data that it needs.
    """

    example: str
    caption: str
    commands: tuple[str, ...]
    picture: str
    page: str
    data: tuple[str, ...] = ()


def _pose(name: str, caption: str, options: str) -> Shown:
    draw = f"ecorche render man.ecorche -m examples/{name}.pose {options} -o {name}.png"
    return Shown(f"{name}.pose", caption, (*MAN, draw), f"{name}.png", "keyframes.md")


GALLERY = (
    Shown(
        "demo.py",
        "The built-in écorché and a real person, flexed side by side: skinning alone, the muscles, the"
        " result, and how far they moved the skin.",
        ("python examples/demo.py demo",),
        "demo/curl.png",
        "tutorial.md",
    ),
    _pose(
        "curl",
        "Both elbows bend with the palms up.",
        "--frame 48 --layers plain,muscles,result,difference --view side --focus r_shoulder,r_elbow"
        " --size 260x280",
    ),
    _pose(
        "flex",
        "A motion that begins and ends in the bind pose.",
        "--sheet 4 --layers result --view three_quarter --size 240x340",
    ),
    _pose(
        "raise",
        "Arms raised: shoulder blades turn along.",
        "--frame 63 --layers muscles,result --view front,back --size 300x340",
    ),
    _pose(
        "squat",
        "A deep squat: calf and thigh meet.",
        "--frame 60 --layers muscles,result --view side,three_quarter --size 260x300",
    ),
    _pose(
        "fist",
        "A fist and a bent wrist: what the forearm does.",
        "--frame 40 --layers muscles,result --view three_quarter --focus r_elbow,r_radiocarpal --radius 0.2"
        " --size 320x280",
    ),
    _pose(
        "walk",
        "A step of a walk that goes on and on.",
        "--sheet 6 --layers result --view side --size 180x320",
    ),
    _pose(
        "line_cases",
        "The movements that mesh muscles are tried with.",
        "--sheet 4 --layers result --view three_quarter --size 240x340",
    ),
    Shown(
        "line_cases.py",
        "Biceps and pronators as meshes on action lines, palms up and down, coloured by activation.",
        ("python examples/line_cases.py lines --cases pronation",),
        "lines/pronation.png",
        "action_lines.md",
        ("human",),
    ),
    Shown(
        "line_pictures.py",
        "A dog's elbow through its range: bones, mesh muscles and the skin over them.",
        ("python examples/line_pictures.py ranges --who dog --what elbow",),
        "ranges/dog-elbow.png",
        "action_lines.md",
        ("dog", "leg"),
    ),
    Shown(
        "extraction_pictures.py",
        "Muscles found in the skin of a muscular man: sections with their bumps, ellipses, muscles.",
        ("python examples/extraction_pictures.py found --who muscular --what found",),
        "found/muscular.png",
        "extraction.md",
        ("human",),
    ),
    Shown(
        "skin_pictures.py",
        "A bent elbow: skinning alone, over muscles, over a fascia and with fat.",
        ("python examples/skin_pictures.py skin --what elbow",),
        "skin/elbow.png",
        "skin.md",
        ("human", "dog", "leg"),
    ),
    Shown(
        "muscle_pictures.py",
        "A slim man's upper arm in a curl, muscles coloured by activation.",
        ("python examples/muscle_pictures.py people --people slim --poses curl",),
        "people/curl-slim-upper-arm.png",
        "muscles.md",
        ("human", "cmu"),
    ),
    Shown(
        "fat_pictures.py",
        "A woman jumps: skinning alone, and with fat that swings.",
        ("python examples/fat_pictures.py fat --who woman",),
        "fat/woman.png",
        "fat.md",
        ("human", "cmu"),
    ),
    Shown(
        "co_contraction.py",
        "An arm that tenses against itself. It writes files for `ecorche solve`; its page shows the rest.",
        ("python examples/co_contraction.py",),
        "",
        "musculoskeletal.md",
    ),
)


def gallery_page(room: Darkroom | None, assets: Path) -> str:
    """The page in Markdown; pictures are copied to a folder ``gallery`` of the site.

    Args:
        room: Where examples are run; None leaves their pictures out.
        assets: The folder that pages are staged in.
    """
    lines = [
        "# Gallery",
        "",
        "Every file of `examples/`, and what it makes, drawn for this page.",
        "",
    ]
    for shown in GALLERY:
        title = shown.example
        lines += [f"## {title}", "", f"{shown.caption} [Read on]({shown.page}).", ""]
        lines += [_picture(shown, room, assets), ""]
        lines += ["```console", *(f"$ {command}" for command in shown.commands), "```", ""]
    return "\n".join(lines)


def _picture(shown: Shown, room: Darkroom | None, assets: Path) -> str:
    """The picture of an example, or why there is none."""
    if not shown.picture:
        return ""
    data = Path(os.environ.get("ECORCHE_DATA", ROOT.parent / "shared" / "data"))
    if absent := [name for name in shown.data if not (data / name).is_dir()]:
        return f"*Not drawn here: it needs {' and '.join(absent)} of the project's data.*"
    if room is None:
        return "*Pictures were left out of this build.*"
    print(f"gallery: {shown.example}", flush=True)
    given = [ROOT / "examples" / shown.example, ROOT / "examples" / "picture_options.py"]
    name = shown.example.replace(".", "-")
    made = room.run(name, shown.commands, given) / shown.picture
    target = assets / "gallery" / f"{name}.png"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(made.read_bytes())
    return f"![{shown.caption}](gallery/{name}.png)"
