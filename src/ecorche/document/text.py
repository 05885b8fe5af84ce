"""JSON text with places: which line a field stands on, and a layout people can read and compare.

Python's own reader does the parsing. It keeps no line numbers, so where something is wrong a
second, slower walk over the same text finds those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from ecorche.errors import DocumentError

Place = tuple[str | int, ...]
"""The way to a value from the top: names of fields and numbers of list entries."""

LINE_WIDTH = 100
DEEPEST = 64

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def parse(text: str, where: object) -> Any:
    """The value of a JSON text.

    Refused, with line and column: text that is not JSON, NaN and infinity, a key given twice.
    """
    twice = False

    def collected(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        found = dict(pairs)
        twice = twice or len(found) < len(pairs)
        return found

    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=collected)
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}",
            where=f"{where}, line {error.lineno}, column {error.colno}",
            remedy=_remedy(error),
        ) from None
    except RecursionError:
        raise DocumentError("is nested too deeply to be a rig", where=where) from None
    except ValueError as error:
        raise DocumentError(f"is not JSON: {error}", where=where, remedy="Write finite numbers") from None
    if twice or _too_deep(value):
        lines_of(text, where)  # says where
    return value


def _too_deep(value: Any) -> bool:
    """Whether something lies more than `DEEPEST` levels below the top."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _remedy(error: json.JSONDecodeError) -> str:
    """What mends the slips people make most when they edit JSON."""
    here, before = error.doc[error.pos : error.pos + 2], error.doc[: error.pos].rstrip()[-1:]
    if here.startswith(("//", "/*", "#")):
        return "JSON knows no comments; write what people should know into notes"
    if "trailing comma" in error.msg or (before == "," and here[:1] in ("}", "]", ",")):
        return "Take out the comma that nothing follows"
    if here.startswith("'"):
        return 'Use double quotes: "…"'
    return "Look for a missing comma, quote or bracket there"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def lines_of(text: str, where: object) -> dict[Place, int]:
    """The line of every value in valid JSON; a key given twice is refused."""
    lines: dict[Place, int] = {}
    tokens = _tokens(text)

    def walk(place: Place, token: str, line: int) -> None:
        lines[place] = line
        if len(place) > DEEPEST:
            raise DocumentError(f"is nested more than {DEEPEST} levels deep", where=f"{where}, line {line}")
        if token == "{":
            token, line = next(tokens)
            while token != "}":
                if token == ",":
                    token, line = next(tokens)
                key = json.loads(token)
                if (*place, key) in lines:
                    raise DocumentError(
                        f"the key {key!r} is given twice, first in line {lines[(*place, key)]}",
                        where=f"{where}, line {line}",
                        remedy="Keep one of the two",
                    )
                next(tokens)  # the colon
                walk((*place, key), *_value_on_line(next(tokens), line))
                token, line = next(tokens)
        elif token == "[":
            token, line = next(tokens)
            number = 0
            while token != "]":
                if token == ",":
                    token, line = next(tokens)
                walk((*place, number), token, line)
                number += 1
                token, line = next(tokens)

    walk((), *next(tokens))
    return lines


def _value_on_line(value: tuple[str, int], line: int) -> tuple[str, int]:
    """A value counts as standing where its key does."""
    return value[0], line


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line, last = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", last, match.start())
        last = match.start()
        yield match.group(), line


def spelled(place: Sequence[str | int]) -> str:
    """A place as a person would write it: ``skeleton.joints["mixamorig:Hips"].limits.max``."""
    words: list[str] = []
    for step in place:
        if isinstance(step, int):
            words.append(f"[{step}]")
        elif re.fullmatch(r"\w+", step):
            words.append(f".{step}" if words else step)
        else:
            words.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(words) or "the top level"


def layout(value: object, indent: str = "") -> str:
    """JSON text of plain values: keys in the order given, whatever is short on one line."""
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, (Mapping, list, tuple)) or not value:
        return flat
    if indent and len(indent) + len(flat) <= LINE_WIDTH and not _holds_objects(value):
        return flat
    deeper = indent + "  "
    if isinstance(value, Mapping):
        rows = [f"{json.dumps(k, ensure_ascii=False)}: {layout(v, deeper)}" for k, v in value.items()]
        opening, closing = "{", "}"
    else:
        rows = [layout(v, deeper) for v in value]
        opening, closing = "[", "]"
    return opening + ",".join(f"\n{deeper}{row}" for row in rows) + f"\n{indent}{closing}"


def _holds_objects(value: object) -> bool:
    """Objects in objects, and lists of lists in them, get lines of their own: one change, one line."""
    if isinstance(value, Mapping):
        return any(isinstance(v, Mapping) or _holds_lists(v) for v in value.values())
    return isinstance(value, (list, tuple)) and any(isinstance(v, Mapping) for v in value)


def _holds_lists(value: object) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(v, (Mapping, list, tuple)) for v in value)
