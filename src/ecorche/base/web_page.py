"""Web pages that need nothing beside themselves: one HTML file with its pictures within."""

from __future__ import annotations

import base64
import html
import os
from pathlib import Path

from ecorche.base.files import whole_file


def data_uri(content: bytes, kind: str) -> str:
    """A file's bytes as an address within the page; ``kind`` such as ``"image/png"``."""
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def write_page(path: str | os.PathLike[str], title: str, head: str, body: str) -> None:
    """Write a page in UTF-8, whole or not at all; ``head`` is what stands there beside the title."""
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title>{head}</head><body>{body}</body></html>\n"
    )
    with whole_file(Path(path)) as partial:
        partial.write_text(text, encoding="utf-8")
