"""The page's side of all messages, in TypeScript: `web/studio/src/messages.ts` is generated from here.

    python -m ecorche.studio.typescript web/studio/src/messages.ts

A test fails where the file is not what this writes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from ecorche.studio.messages import EVENTS, REQUESTS
from ecorche.studio.messages.base import Message, Reply

Schema = Mapping[str, Any]
_HEAD = """// Written by `python -m ecorche.studio.typescript`: edit src/ecorche/studio/messages instead.
"""
_SIMPLE = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}


def messages_typescript() -> str:
    """The text of `messages.ts`."""
    replies = {kind.reply for kind in REQUESTS.values()}
    models: list[type[Message]] = [*REQUESTS.values(), *replies, *EVENTS.values()]
    ordered = sorted(set(models), key=lambda model: model.__name__)
    _, schema = models_json_schema([(model, "validation") for model in ordered], ref_template="{model}")
    asked = {kind.__name__ for kind in REQUESTS.values()}
    parts = [_HEAD]
    for name, described in sorted(schema["$defs"].items()):
        parts.append(_declaration(name, described, partial=name in asked))
    parts.append(_table("Requests", ((name, kind) for name, kind in sorted(REQUESTS.items()))))
    parts.append(_events())
    return "\n".join(parts)


def _declaration(name: str, schema: Schema, *, partial: bool) -> str:
    comment = _comment(schema.get("description", ""), "")
    if "enum" in schema or schema.get("type") != "object" or "properties" not in schema:
        return f"{comment}export type {name} = {_type(schema)};\n"
    required = set(schema.get("required", ()))
    lines = [f"{comment}export interface {name} {{"]
    for field, described in schema["properties"].items():
        told = field in required or not partial or "const" in described
        lines.append(f"  {_key(field)}{'' if told else '?'}: {_type(described)};")
    return "\n".join([*lines, "}\n"])


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(_type(one) for one in schema[several]))
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(one) for one in schema['prefixItems'])}]"
        inner = _type(schema.get("items", {}))
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_type(values) if isinstance(values, Mapping) else 'unknown'}>"
    return _SIMPLE.get(str(kind), "unknown")


def _table(name: str, kinds: Iterable[tuple[str, Any]]) -> str:
    lines = ["/** What may be asked, and what it is answered with. */", f"export interface {name} {{"]
    for asked, kind in kinds:
        lines.append(f"  {_key(asked)}: {{ request: {kind.__name__}; reply: {_replied(kind.reply)} }};")
    return "\n".join([*lines, "}\n"])


def _replied(reply: type[Reply]) -> str:
    if not reply.arrays:
        return reply.__name__
    if "*" in reply.arrays:
        return f"{reply.__name__} & {{ arrays: Record<string, Uint8Array> }}"
    fields = "; ".join(f"{name}?: {_array(words)}" for name, words in reply.arrays.items())
    return f"{reply.__name__} & {{ arrays: {{ {fields} }} }}"


def _array(words: str) -> str:
    kind = words.split()[0].rstrip(":")
    kinds = {"float32": "Float32Array", "float64": "Float64Array", "uint32": "Uint32Array",
             "int32": "Int32Array", "uint8": "Uint8Array"}  # fmt: skip
    return kinds[kind]


def _events() -> str:
    names = " | ".join(kind.__name__ for kind in EVENTS.values()) or "never"
    return f"/** What the server tells without being asked. */\nexport type ServerEvent = {names};\n"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _comment(text: str, indent: str) -> str:
    lines = [line.rstrip() for line in text.strip().splitlines()]
    if not lines:
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return (
        "\n".join([f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]) + "\n"
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(messages_typescript(), encoding="utf-8")
