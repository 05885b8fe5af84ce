"""VRML97 (ISO/IEC 14772) text as a tree of nodes: enough of its grammar for any H-Anim figure.

Prototypes are recognised and stepped over: H-Anim 1.1 declares Humanoid, Joint, Segment and Site
that way, and what their instances mean is the standard's business, not the declaration's. Field
types are not looked up; what follows a field's name tells what it is.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from pathlib import Path

from ecorche.errors import ReadError
from ecorche.io.x3d.nodes import Node, Route, Scene, Value

MOST_DEPTH = 100
"""Nodes that may nest; a finger of the fullest H-Anim figure is some forty deep."""
MOST_BYTES = 1 << 28
"""Size a compressed file may unfold to."""

_TOKEN = re.compile(
    r"""(?:[\s,]|\#[^\n]*)*
    (?:(?P<string>"(?:[^"\\]|\\.)*")
      |(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w]))
      |(?P<sign>[\[\]{}.])
      |(?P<word>[^\s"\#',.\[\]\\{}+\-0-9][^\s"\#',.\[\]\\{}]*)
      |(?P<end>\Z)
      |(?P<bad>.))""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER_LIST = re.compile(r"[\s,0-9eE+\-.]*\]")
_INTERFACE = {"eventIn": 2, "eventOut": 2, "field": 3, "exposedField": 3}
_X3D_INTERFACE = {"inputOnly": 2, "outputOnly": 2, "initializeOnly": 3, "inputOutput": 3}


def read_vrml(path: Path, data: bytes) -> Scene:
    """The scene of a .wrl file's bytes, compressed or not."""
    if data[:2] == b"\x1f\x8b":
        data = _unzipped(path, data)
    text = data.decode("utf-8", errors="replace")
    header = text[:64].split("\n", 1)[0]
    if header.startswith("#VRML V1.0"):
        raise ReadError(
            "this is VRML 1.0", where=f"{path.name}, line 1", remedy="Convert it to VRML97 or X3D"
        )
    if not header.startswith(("#VRML V2.0", "#X3D V")):
        raise ReadError(
            "this is no VRML97 file: it does not begin with '#VRML V2.0 utf8'",
            where=f"{path.name}, line 1",
            remedy="Give a VRML97 or X3D file",
        )
    return _VrmlReader(path, text).read()


def _unzipped(path: Path, data: bytes) -> bytes:
    unfold = zlib.decompressobj(wbits=31)
    try:
        plain = unfold.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise ReadError(f"its compression is damaged ({error})", where=path.name) from None
    if unfold.unconsumed_tail:
        raise ReadError("it unfolds to more than 256 MB", where=path.name, remedy="Give it uncompressed")
    return plain


class _VrmlReader:
    def __init__(self, path: Path, text: str) -> None:
        self.scene = Scene(path, [], {}, [])
        self.text = text
        self.at = 0  # just past the token looked at
        self.kind = self.token = ""
        self.start = 0
        self.open: list[Node] = []
        self.prototypes: set[str] = set()
        self._lines = [0, *(m.end() for m in re.finditer("\n", text))]

    def read(self) -> Scene:
        self._next()
        while self.kind != "end":
            node = self._statement()
            if node is not None:
                self.scene.roots.append(node)
        self.scene.prototypes = frozenset(self.prototypes)
        return self.scene

    # -- words of the text

    def _next(self) -> None:
        """Go on to the next token."""
        match = _TOKEN.match(self.text, self.at)
        assert match is not None  # the last alternatives match anything
        self.kind = str(match.lastgroup)
        self.token = match.group(self.kind)
        self.start, self.at = match.start(self.kind), match.end()
        if self.kind == "bad":
            what = "a string has no end" if self.token == '"' else f"{self.token!r} has no meaning here"
            raise self._error(what)

    def _line(self) -> int:
        return bisect_right(self._lines, self.start)

    def _error(self, what: str) -> ReadError:
        return self.scene.error(what, self._line())

    def _expect(self, token: str) -> None:
        if self.token != token or self.kind not in ("sign", "word"):
            raise self._error(f"expected {token!r}, found {self._found()}")
        self._next()

    def _found(self) -> str:
        return "the end of the file" if self.kind == "end" else repr(self.token[:40])

    def _word(self, meaning: str) -> str:
        if self.kind != "word":
            raise self._error(f"expected {meaning}, found {self._found()}")
        word = self.token
        self._next()
        return word

    # -- the grammar

    def _statement(self) -> Node | None:
        """One statement of the scene: a node, or something that is none."""
        if self.kind == "word":
            if self.token in ("PROTO", "EXTERNPROTO"):
                self._prototype()
                return None
            if self.token == "ROUTE":
                self._route()
                return None
            if self.token in ("PROFILE", "COMPONENT", "META", "UNIT", "IMPORT", "EXPORT"):
                self._x3d_statement()
                return None
        return self._node()

    def _node(self) -> Node | None:
        """A node: ``DEF name Type { … }``, ``Type { … }``, ``USE name`` or ``NULL``."""
        if self.kind != "word":
            raise self._error(f"expected a node, found {self._found()}")
        if self.token == "NULL":
            self._next()
            return None
        if self.token == "USE":
            self._next()
            return self._used()
        name = None
        if self.token == "DEF":
            self._next()
            name = self._word("a name after DEF")
        if len(self.open) >= MOST_DEPTH:
            raise self._error(f"nodes nest more than {MOST_DEPTH} deep")
        line = self._line()
        node = Node(self._word("a node's type"), line, name)
        if name is not None:
            self.scene.names[name] = node
        self._expect("{")
        self.open.append(node)
        while self.token != "}" or self.kind != "sign":
            self._body(node)
        self.open.pop()
        self._next()
        return node

    def _used(self) -> Node:
        name = self.token
        if self.kind != "word" or name not in self.scene.names:
            raise self._error(f"USE of {name!r}, which no DEF before it defines")
        node = self.scene.names[name]
        if node in self.open:
            raise self._error(f"node {name!r} is used inside itself")
        self._next()
        return node

    def _body(self, node: Node) -> None:
        """One part of a node's body: a field and its value, or a statement."""
        if self.kind != "word":
            raise self._error(f"expected a field of {node.kind} or '}}', found {self._found()}")
        if self.token in ("PROTO", "EXTERNPROTO", "ROUTE"):
            self._statement()
            return
        name = self.token
        self._next()
        parts = _INTERFACE.get(name) or _X3D_INTERFACE.get(name)
        if parts is not None and self.kind == "word":  # a Script declares its own fields
            self._word("a type")
            name = self._word("a field's name")
            if parts == 2:
                return
        if self.kind == "word" and self.token == "IS":
            self._next()
            self._word("a field's name")
            return
        self._value(node, name)

    def _value(self, node: Node, name: str) -> None:
        if self.kind == "sign" and self.token == "[":
            self._list(node, name)
        elif self.kind == "number":
            node.fields[name] = " ".join(self._numbers())
        elif self.kind == "string":
            node.fields[name] = (self._string(),)
        elif self.kind == "word" and self.token in ("TRUE", "FALSE"):
            node.fields[name] = self.token
            self._next()
        elif self.kind == "word":
            found = self._node()
            if found is not None:
                node.nodes.append((name, found))
        else:
            raise self._error(f"field {name!r} of {node.kind} has no value, found {self._found()}")

    def _list(self, node: Node, name: str) -> None:
        numbers = _NUMBER_LIST.match(self.text, self.at)
        if numbers is not None:  # the usual long list, without a token a number
            node.fields[name] = self.text[self.at : numbers.end() - 1]
            self.at = numbers.end()
            self._next()
            return
        self._next()
        plain: list[str] = []
        strings: list[str] = []
        while not (self.kind == "sign" and self.token == "]"):
            if self.kind == "number":
                plain += self._numbers()
            elif self.kind == "string":
                strings.append(self._string())
            elif self.kind == "word" and self.token in ("TRUE", "FALSE"):
                plain.append(self.token)
                self._next()
            else:
                found = self._statement()
                if found is not None:
                    node.nodes.append((name, found))
        self._next()
        value: Value = tuple(strings) if strings else " ".join(plain)
        if value:
            node.fields[name] = value

    def _numbers(self) -> list[str]:
        found = []
        while self.kind == "number":
            word = self.token
            found.append(str(int(word, 16)) if "x" in word.lower() else word)
            self._next()
        return found

    def _string(self) -> str:
        text = re.sub(r"\\(.)", r"\1", self.token[1:-1], flags=re.DOTALL)
        self._next()
        return text

    def _prototype(self) -> None:
        """Step over a declaration; its name is kept, so that instances can be told."""
        extern = self.token == "EXTERNPROTO"
        self._next()
        self.prototypes.add(self._word("a prototype's name"))
        self._skip("[", "]")
        if not extern:
            self._skip("{", "}")
        elif self.kind == "sign" and self.token == "[":
            self._skip("[", "]")
        elif self.kind == "string":
            self._next()

    def _skip(self, opening: str, closing: str) -> None:
        if self.kind != "sign" or self.token != opening:
            raise self._error(f"expected {opening!r}, found {self._found()}")
        depth = 0
        while True:
            if self.kind == "end":
                raise self._error(f"a {closing!r} is missing")
            if self.kind == "sign":
                depth += (self.token == opening) - (self.token == closing)
            self._next()
            if depth == 0:
                return

    def _route(self) -> None:
        line = self._line()
        self._next()
        source = self._word("a node's name")
        self._expect(".")
        source_field = self._word("a field's name")
        self._expect("TO")
        target = self._word("a node's name")
        self._expect(".")
        target_field = self._word("a field's name")
        self.scene.routes.append(Route(source, source_field, target, target_field, line))

    def _x3d_statement(self) -> None:
        """X3D's classic encoding has a few statements of its own; they end with their line."""
        end = self.text.find("\n", self.start)
        self.at = len(self.text) if end < 0 else end
        self._next()
