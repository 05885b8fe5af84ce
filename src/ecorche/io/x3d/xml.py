"""X3D's XML encoding as a tree of nodes.

Read with expat, which tells line numbers and lets us refuse what is dangerous in XML: entity
declarations are refused before anything is expanded, and nothing outside the file is fetched.
"""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from ecorche.errors import ReadError
from ecorche.io.x3d.nodes import Node, Route, Scene

MOST_DEPTH = 1000
"""Elements that may nest."""

_DEFAULT_FIELDS = {
    "Appearance": "appearance",
    "Color": "color",
    "ColorRGBA": "color",
    "Coordinate": "coord",
    "CoordinateDouble": "coord",
    "HAnimDisplacer": "displacers",
    "HAnimMotion": "motions",
    "ImageTexture": "texture",
    "IndexedFaceSet": "geometry",
    "IndexedTriangleSet": "geometry",
    "Material": "material",
    "Normal": "normal",
    "PhysicalMaterial": "material",
    "PixelTexture": "texture",
    "TextureCoordinate": "texCoord",
    "TextureTransform": "textureTransform",
    "TriangleSet": "geometry",
    "UnlitMaterial": "material",
}
"""The field a node stands in when its containerField does not say; ``children`` for all others."""

_STATEMENTS = ("X3D", "Scene", "head", "meta", "component", "unit", "ROUTE", "IS", "connect")
_SKIPPED = ("ProtoDeclare", "ExternProtoDeclare", "Script", "IMPORT", "EXPORT")


def read_xml(path: Path, data: bytes) -> Scene:
    """The scene of an .x3d file's bytes."""
    return _XmlReader(path).read(data)


class _XmlReader:
    def __init__(self, path: Path) -> None:
        self.scene = Scene(path, [], {}, [])
        self.open: list[Node | None] = []  # None for statements, which are no nodes
        self.skipping = 0
        self.prototypes: set[str] = set()
        self.parser = expat.ParserCreate()
        self.parser.EntityDeclHandler = self._entity
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.buffer_text = True

    def read(self, data: bytes) -> Scene:
        try:
            self.parser.Parse(data, True)
        except expat.ExpatError as error:
            raise self.scene.error(
                f"this is no well-formed XML ({expat.ErrorString(error.code)})", error.lineno
            ) from None
        except (UnicodeError, LookupError) as error:
            raise ReadError(f"its text cannot be decoded ({error})", where=self.scene.path.name) from None
        self.scene.prototypes = frozenset(self.prototypes)
        return self.scene

    def _entity(self, name: str, *_rest: object) -> None:
        raise self.scene.error(
            f"the file declares an entity {name!r}, which is not allowed",
            self.parser.CurrentLineNumber,
            "Remove the DOCTYPE's declarations",
        )

    def _start(self, kind: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        kind = kind.rsplit(":", 1)[-1]
        if not self.open and kind != "X3D":
            raise self.scene.error(f"the outermost element is {kind!r}, not X3D", line, "Give an X3D file")
        if len(self.open) >= MOST_DEPTH:
            raise self.scene.error(f"elements nest more than {MOST_DEPTH} deep", line)
        if self.skipping or kind in _SKIPPED:
            if kind in ("ProtoDeclare", "ExternProtoDeclare") and "name" in attributes:
                self.prototypes.add(attributes["name"])
            self.skipping += 1
            return
        self.open.append(None)
        if kind in _STATEMENTS:
            self._statement(kind, attributes, line)
            return
        self.open[-1] = self._node(kind, attributes, line)

    def _node(self, kind: str, attributes: dict[str, str], line: int) -> Node:
        parent = next((node for node in reversed(self.open[:-1]) if node is not None), None)
        field = attributes.pop("containerField", None)
        wanted = attributes.pop("USE", None)
        if wanted is not None:
            if wanted not in self.scene.names:
                raise self.scene.error(f"USE of {wanted!r}, which no DEF before it defines", line)
            node = self.scene.names[wanted]
            if node in self.open:
                raise self.scene.error(f"node {wanted!r} is used inside itself", line)
        else:
            name = attributes.pop("DEF", None)
            node = Node(kind, line, name, dict(attributes))
            if kind == "ProtoInstance":
                self.prototypes.add(attributes.get("name", ""))
            if name is not None:
                self.scene.names[name] = node
        if parent is None:
            self.scene.roots.append(node)
        else:
            parent.nodes.append((field or _default_field(node.kind, parent), node))
        return node

    def _statement(self, kind: str, attributes: dict[str, str], line: int) -> None:
        if kind == "unit" and attributes.get("category") == "length":
            holder = Node("unit", line, fields=dict(attributes))
            factor = float(self.scene.vector(holder, "conversionFactor", (1.0,))[0])
            if factor <= 0.0:
                raise self.scene.error(f"a unit of {factor:g} metres is no unit", line)
            self.scene.metres_per_unit = factor
        if kind == "ROUTE":
            for part in ("fromNode", "fromField", "toNode", "toField"):
                if part not in attributes:
                    raise self.scene.error(f"a ROUTE lacks its {part}", line)
            source, target = attributes["fromNode"], attributes["toNode"]
            route = Route(source, attributes["fromField"], target, attributes["toField"], line)
            self.scene.routes.append(route)

    def _end(self, _kind: str) -> None:
        if self.skipping:
            self.skipping -= 1
        else:
            self.open.pop()


def _default_field(kind: str, parent: Node) -> str:
    if kind.startswith("Metadata"):
        return "value" if parent.kind == "MetadataSet" else "metadata"
    if parent.kind == "Shape" and kind != "Appearance":
        return "geometry"
    return _DEFAULT_FIELDS.get(kind, "children")
