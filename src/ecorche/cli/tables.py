"""Tables of words and numbers on a terminal, in a file or in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def text_console() -> Console:
    """Where tables are drawn; a file or a pipe has no edge to fit."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=200, highlight=False)


def text_table(*words: str, counts: tuple[str, ...]) -> Table:
    """Columns of words and of numbers; on a narrow terminal words go on in the next line, none is cut."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for word in words:
        table.add_column(word, overflow="fold")
    for count in counts:
        table.add_column(count, justify="right", overflow="fold")
    return table
