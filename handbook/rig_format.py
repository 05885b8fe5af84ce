"""The reference of the rig file, from its JSON Schema: every object with its fields."""

from __future__ import annotations

import json
import re
from typing import Any

from handbook.cells import as_cell, as_code

Schema = dict[str, Any]


def rig_format_page(schema: Schema) -> str:
    """The page in Markdown."""
    lines = [
        "# Fields of the rig file",
        "",
        "Every field of an `.ecorche` file, made from its [JSON Schema](../schema/ecorche-rig.schema.json),"
        " which editors can check a file with. [The rig file](../rig-file.md) tells what they are for.",
        "",
        f"This is version {schema['properties']['version']['const']} of the format.",
        "",
    ]
    parts = {"The file": schema, **schema["$defs"]}
    for name, part in parts.items():
        lines += [*_part(name, part), ""]
    return "\n".join(lines)


def _part(name: str, part: Schema) -> list[str]:
    lines = [f"## {_title(name)} {{: #{_anchor(name)} }}", ""]
    if "description" in part and name != "The file":
        lines += [as_cell(part["description"]), ""]
    if "properties" not in part:
        return [*lines, f"Is {_kind(part)}."]
    lines += ["| field | is | default | what it says |", "|---|---|---|---|"]
    required = part.get("required", [])
    for field, said in part["properties"].items():
        default = "*required*" if field in required else _default(said)
        about = as_cell(said.get("description", ""))
        lines.append(f"| {as_code(field)} | {_kind(said)}{_bounds(said)} | {default} | {about} |")
    return lines


def _title(name: str) -> str:
    """`LoftedMuscleSpec` as words: lofted muscle."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"(Spec|Ref)$", "", name))
    return words if " " in name else words.capitalize()


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _kind(said: Schema) -> str:
    """What a value is, in words, with links to the objects it is made of."""
    if "$ref" in said:
        name = said["$ref"].rpartition("/")[2]
        return f"[{_title(name).lower()}](#{_anchor(name)})"
    if "const" in said:
        return as_code(json.dumps(said["const"]))
    if "enum" in said:
        return " or ".join(as_code(json.dumps(value)) for value in said["enum"])
    for many in ("anyOf", "oneOf"):
        if many in said:
            return " or ".join(dict.fromkeys(_kind(one) + _bounds(one) for one in said[many]))
    kind = said.get("type", "anything")
    if kind == "array":
        if "prefixItems" in said:
            return "[" + ", ".join(_kind(one) for one in said["prefixItems"]) + "]"
        return f"list of {_kind(said.get('items', {}))}"
    if kind == "object":
        named = [*said.get("patternProperties", {}).values(), said.get("additionalProperties")]
        values = [one for one in named if isinstance(one, dict)]
        return f"names with {_kind(values[0])}" if values else "object"
    words = {"string": "text", "number": "number", "integer": "whole number", "boolean": "true or false"}
    return words.get(kind, str(kind))


def _bounds(said: Schema) -> str:
    """The range of a number, in words."""
    names = (
        ("minimum", "≥"),
        ("exclusiveMinimum", "&gt;"),
        ("maximum", "≤"),
        ("exclusiveMaximum", "&lt;"),
    )
    told = [f"{sign} {said[key]:g}" for key, sign in names if key in said]
    return f", {', '.join(told)}" if told else ""


def _default(said: Schema) -> str:
    """A default as the file would have it; an object's are in its own table."""
    if "default" not in said:
        return ""
    value = said["default"]
    return "as below" if isinstance(value, dict) and value else as_code(json.dumps(value, ensure_ascii=False))
