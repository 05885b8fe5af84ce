"""Text that was written for a terminal, made safe for a cell of a Markdown table."""

from __future__ import annotations

import re


def as_code(text: str) -> str:
    """Code: its bars and angle brackets survive as they are."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")
    return f"<code>{plain}</code>"


def as_cell(text: str) -> str:
    """Words: what Markdown would take for marks is escaped."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([|*_\[\]`])", r"\\\1", plain)
