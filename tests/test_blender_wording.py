"""Messages of the package in Blender name buttons and properties, no options of the command."""

from __future__ import annotations

import ast
import re
import runpy
from functools import cache

import pytest

from conftest import ROOT

WORDING = runpy.run_path(str(ROOT / "blender" / "wording.py"))
COMMAND = re.compile(r"--\w|\becorche [a-z]")


@cache
def literals() -> tuple[str, ...]:
    """All strings in the package's source, joined as Python joins them; {} is what a message fills in."""
    nodes = (
        node
        for file in (ROOT / "src" / "ecorche").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    )
    return tuple(filter(None, map(_text, nodes)))


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


@pytest.mark.parametrize("said", WORDING["WORDS"])
def test_what_the_package_says_is_read_in_blenders_words(said: str) -> None:
    messages = [literal for literal in literals() if said in literal]
    assert messages, "the package does not say this any more"
    for message in messages:
        assert COMMAND.search(message)
        read = WORDING["in_blender_words"](message.replace("{}", "Skin.001"))
        assert not COMMAND.search(read)
        assert "{}" not in said or "Skin.001" in read


def test_other_messages_stay_as_they_are() -> None:
    message = "man.ecorche: there is no such file. Check the path {}"
    assert WORDING["in_blender_words"](message) == message
