"""XML text, written as it comes: elements, attributes and lists of numbers."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import TextIO
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class XmlText:
    """An XML document being written, indented by how deep it is."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._depth = 0

    def line(self, text: str) -> None:
        """A line of text as it is."""
        self._file.write(f"{' ' * self._depth}{text}\n")

    def open(self, kind: str, **attributes: str) -> None:
        """An element's beginning."""
        self.line(f"<{kind}{_attributes(attributes)}>")
        self._depth += 1

    def close(self, kind: str) -> None:
        """An element's end."""
        self._depth -= 1
        self.line(f"</{kind}>")

    def element(self, kind: str, **attributes: str) -> None:
        """An element with nothing inside."""
        self.line(f"<{kind}{_attributes(attributes)}/>")

    @contextlib.contextmanager
    def inside(self, kind: str, **attributes: str) -> Iterator[None]:
        """An element with what is written meanwhile inside."""
        self.open(kind, **attributes)
        yield
        self.close(kind)


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(_NOT_IN_XML.sub('�', text))}" for name, text in attributes.items())


def is_xml(text: str) -> bool:
    """Whether XML can hold every character of a text."""
    return _NOT_IN_XML.search(text) is None


def numbers(values: npt.NDArray[np.generic]) -> str:
    """Numbers with nine digits, with which every float32 comes back as it was."""
    flat = np.asarray(values).reshape(-1)
    if np.issubdtype(flat.dtype, np.integer):
        return " ".join(map(str, flat.tolist()))
    return " ".join([f"{v:.9g}" for v in flat.tolist()])


def exact(values: npt.NDArray[np.float64]) -> str:
    """Numbers with as many digits as it takes for every float64 to come back as it was."""
    return " ".join([repr(float(v)) for v in np.asarray(values).reshape(-1)])


def quoted(texts: Sequence[str]) -> str:
    """Several strings in one attribute, each in quotes of its own."""
    return " ".join('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts)


def identifier(name: str) -> str:
    """A name with only what XML allows in an identifier."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)
