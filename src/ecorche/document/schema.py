"""The JSON Schema of the rig file, generated from its spec: ``python -m ecorche.document.schema``.

Editors use it to complete and check fields while one types. A test fails when the file in
``docs/schema`` is not what this module generates.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ecorche.base.files import whole_file
from ecorche.document.spec import RigSpec
from ecorche.document.text import layout

SCHEMA_FILE = Path("docs/schema/ecorche-rig.schema.json")
"""Where the schema lies, from the project's root."""


def schema_text() -> str:
    """The schema as it stands in its file."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **RigSpec.model_json_schema(),
        "title": "Ecorche rig file",
    }
    return layout(schema) + "\n"


def write_schema(path: Path = SCHEMA_FILE) -> None:
    """Generate the schema file anew."""
    with whole_file(path) as partial:
        partial.write_text(schema_text(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_schema(Path(sys.argv[1]) if len(sys.argv) > 1 else SCHEMA_FILE)
