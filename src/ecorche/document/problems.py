"""What the validator found, told as one message: file, line, field, and how to mend it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ecorche.base.names import suggestion
from ecorche.document.text import Place, spelled
from ecorche.errors import DocumentError

_KINDS = {
    "string_type": "text in quotes",
    "float_type": "a number",
    "int_type": "a whole number",
    "tuple_type": "a list in [ ]",
    "mapping_type": "an object in { }",
    "model_type": "an object in { }",
    "model_attributes_type": "an object in { }",
}
_BOUNDS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}


def document_error(
    error: ValidationError, data: object, lines: Mapping[Place, int], where: object
) -> DocumentError:
    """The first thing that is wrong, with its place, and how many more there are.

    Args:
        error: What the spec said.
        data: The file as plain values; None where there is no file yet.
        lines: The line of every place in it.
        where: The file.
    """
    found = error.errors(include_url=False)
    what, remedy, steps = _told(found[0])
    place = tuple(steps) if data is None else _place_in(data, steps)
    # an unknown field is told of in its parent, but stands on a line of its own
    spots = [(*place, found[0]["ctx"]["name"])] if found[0]["type"] == "unknown_field" else []
    spots += [place[:n] for n in range(len(place), 0, -1)]
    line = next((lines[spot] for spot in spots if spot in lines), None)
    spot = f"{where}, {spelled(place)}" if line is None else f"{where}, line {line}, {spelled(place)}"
    if len(found) > 1:
        remedy = (
            f"{remedy}. There are {len(found) - 1} more problems"
            if len(found) > 2
            else (f"{remedy}. There is one more problem")
        )
    return DocumentError(what, where=spot, remedy=remedy)


@contextlib.contextmanager
def told_as_document_error(where: object) -> Iterator[None]:
    """Tell what a spec made in the block cannot hold, such as a file name with a backslash."""
    try:
        yield
    except ValidationError as error:
        raise document_error(error, None, {}, where) from None


def _told(problem: ErrorDetails) -> tuple[str, str, Sequence[str | int]]:
    """What is wrong, how to mend it, and where it is."""
    kind, context, steps = problem["type"], problem.get("ctx", {}), problem["loc"]
    given = problem["input"]
    if kind == "unknown_field":
        return problem["msg"], context["remedy"], steps
    if kind == "refused":
        return problem["msg"], context["remedy"], (*steps, *context.get("place", ()))
    if kind == "missing" and isinstance(steps[-1], int):
        return f"the list has {steps[-1]} entries only", "Write the others too", steps[:-1]
    if kind == "missing":
        return f"the field {steps[-1]!r} is missing", "Add it", steps[:-1]
    if kind == "union_tag_not_found":
        return "the field 'model' is missing", f"Add it: one of {context_tags(context)}", steps
    if kind == "union_tag_invalid":
        choices = [t.strip(" '") for t in str(context["expected_tags"]).split(",")]
        return (
            f"there is no joint model {context['tag']!r}",
            suggestion(context["tag"], choices),
            (
                *steps,
                "model",
            ),
        )
    if kind == "literal_error":
        choices = [c.strip(" '") for c in str(context["expected"]).replace(" or ", ", ").split(",")]
        return f"{_short(given)} is none of the choices", suggestion(str(given), choices), steps
    if kind in _KINDS:
        return f"{_short(given)} is not {_KINDS[kind]}", f"Write {_KINDS[kind]}", steps
    if kind == "string_pattern_mismatch" and "maps" in steps:
        return (
            f"{_short(given)} is no name for a map",
            "Use up to 64 letters, digits, _, -, . and spaces",
            steps,
        )
    if kind == "string_pattern_mismatch":
        return (
            f"{_short(given)} is not what Ecorche wrote there",
            "Restore it from version control, or fit the rig anew with `ecorche rebind`",
            steps,
        )
    if kind in _BOUNDS:
        word, key = _BOUNDS[kind]
        return (
            f"{_short(given)} is not {word} {context[key]:g}",
            f"Write a number {word} {context[key]:g}",
            steps,
        )
    if kind in ("too_short", "too_long"):
        wanted = context["min_length" if kind == "too_short" else "max_length"]
        return f"the list has {context['actual_length']} entries, not {wanted}", f"Write {wanted}", steps
    if kind == "finite_number":
        return f"{given!r} is not a finite number", "Write a finite number", steps
    return f"{_short(given)} is not possible here", problem["msg"], steps


def context_tags(context: Mapping[str, Any]) -> str:
    """The names of the joint models; a joint is the only thing that comes in models."""
    return str(context.get("expected_tags", "'revolute', 'knee', 'swing', 'ball_and_socket'"))


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 40 else f"{text[:37]}…"


def _place_in(data: object, steps: Sequence[str | int]) -> Place:
    """The steps that exist in the file: the validator's own also name the chosen joint model."""
    place: list[str | int] = []
    for number, step in enumerate(steps):
        if isinstance(data, Mapping):
            if step in data:
                data = data[step]
            elif number < len(steps) - 1 or step == data.get("model") or step == "[key]":
                continue
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            continue
        place.append(step)
    return tuple(place)
