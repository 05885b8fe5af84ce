"""The rig file of the tube, with one of everything, and what is said of it once something is changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecorche.document import text
from ecorche.document.files import spec_from_text
from ecorche.errors import DocumentError

FIXTURES = Path(__file__).parent / "fixtures"
FIXTURE = FIXTURES / "tube-version-5.ecorche"
VALID: dict[str, Any] = json.loads(FIXTURE.read_text())


def refusal(change: Callable[[dict[str, Any]], object]) -> str:
    """The message for the valid rig after one change."""
    document = copy.deepcopy(VALID)
    change(document)
    with pytest.raises(DocumentError) as caught:
        spec_from_text(text.layout(document), "man.ecorche")
    return str(caught.value)
