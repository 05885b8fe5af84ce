"""Equations in pages, ``$…$`` within a line and ``$$ … $$`` on lines of their own, as MathML.

Every browser draws MathML by itself: no script and no font is fetched when a page is read.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, fromstring

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

_BLOCK = re.compile(r"^\$\$\n(.*?)\n\$\$$", flags=re.MULTILINE | re.DOTALL)
_INLINE = r"(?<![\\$\w])\$(?=[^\s$])([^$\n]*[^\s$])\$(?![\w$])"
_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'


def mathml(latex: str, *, display: bool) -> str:
    """An equation as a ``<math>`` element."""
    made: str = convert(latex.strip(), display="block" if display else "inline")
    return made.replace(_NAMESPACE, "", 1)


class _Blocks(Preprocessor):  # type: ignore[misc]
    def run(self, lines: list[str]) -> list[str]:
        def stored(match: re.Match[str]) -> str:
            kept: str = self.md.htmlStash.store(
                f'<div class="equation">{mathml(match[1], display=True)}</div>'
            )
            return f"\n{kept}\n"

        return _BLOCK.sub(stored, "\n".join(lines)).split("\n")


class _Inline(InlineProcessor):  # type: ignore[misc]
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element, int, int]:  # noqa: ARG002
        """The element in place of what stands between dollar signs."""
        return fromstring(mathml(m[1], display=False)), m.start(0), m.end(0)


class Equations(Extension):  # type: ignore[misc]
    """Both kinds of equation, after code has been put aside."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register with a converter."""
        md.preprocessors.register(_Blocks(md), "equation blocks", 24)
        md.inlinePatterns.register(_Inline(_INLINE, md), "equations in lines", 185)
