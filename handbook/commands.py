"""The command reference, from the program itself: every verb with its arguments and options."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.main import get_command

from ecorche.cli.main import app
from handbook.cells import as_cell, as_code


def commands_page() -> str:
    """The page in Markdown."""
    verbs: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    lines = [
        "# Commands",
        "",
        f"What `ecorche --help` and `ecorche VERB --help` say of {len(verbs)} verbs, from the program.",
        "",
        "| verb | what it does |",
        "|---|---|",
        *(f"| [{name}](#{name}) | {as_cell(_paragraphs(verb.help)[0])} |" for name, verb in verbs.items()),
        "",
    ]
    for name, verb in verbs.items():
        lines += [*_verb(name, verb), ""]
    return "\n".join(lines)


def _verb(name: str, verb: Any) -> list[str]:
    context = typer.Context(verb, info_name=f"ecorche {name}")
    usage = " ".join(verb.get_usage(context).split()).removeprefix("Usage: ")
    lines = [f"## {name} {{: #{name} }}", "", f"    {usage}", ""]
    for paragraph in _paragraphs(verb.help):
        lines += [paragraph, ""]
    lines += ["| argument or option | what it says |", "|---|---|"]
    for parameter in verb.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and parameter.name != "help":
            lines.append(f"| {as_code(record[0])} | {as_cell(record[1])} |")
    return lines


def _paragraphs(text: str | None) -> list[str]:
    """A docstring's paragraphs, each in one line."""
    return [as_cell(" ".join(part.split())) for part in re.split(r"\n\s*\n|\f", text or "") if part.strip()]
