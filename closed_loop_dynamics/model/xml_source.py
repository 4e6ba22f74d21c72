"""XML from a path or text as elements that know their lines; no entities, no network, no bombs.

Built on expat, the parser of Python's standard library, because a reader's messages need the line
of each element, which ``xml.etree`` does not keep.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from ..errors import UrdfError
from .forgiving import forgiven
from .text_source import SourceText, TextReader
from .xacro_file.source import expanded

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 256
_NAMED = (
    *("link", "joint", "transmission", "loop", "coupling", "constraint", "loop_joint"),
    *("model", "frame"),
)
_BETWEEN = " "  # a namespace and a name, in what expat calls a name


@dataclass(eq=False, slots=True)
class Element:
    """One XML element.

    Attributes:
        tag: its name; elements of another namespace than the root's keep theirs, before a space.
        attributes: by name.
        file, line: of the start tag's ``<``.
        text: what stands before the first child.
    """

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def get(self, key: str, default: str = "") -> str:
        """An attribute."""
        return self.attributes.get(key, default)

    def all(self, tag: str) -> list[Element]:
        """The children called ``tag``."""
        return [child for child in self.children if child.tag == tag]

    def find(self, tag: str) -> Element | None:
        """The first child called ``tag``."""
        return next((child for child in self.children if child.tag == tag), None)

    @property
    def place(self) -> str:
        """``joint 'knee'/axis (line 12)``, for messages."""
        parts: list[str] = []
        node: Element | None = self
        while node is not None and node.parent is not None:
            name = node.get("name") if node.tag in _NAMED else ""
            parts.insert(0, f"{node.tag} '{name}'" if name else node.tag)
            node = node.parent
        return f"{'/'.join(parts) or self.tag} (line {self.line})"

    def error(self, problem: str, remedy: str) -> UrdfError:
        """What to raise about it."""
        return UrdfError(problem, file=self.file, place=self.place, remedy=remedy)


def looks_like_xml(text: str) -> bool:
    """Whether a str is XML rather than a path."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def parse_xml(
    source: object,
    xacro: Mapping[str, object] | None = None,
    search_path: Iterable[str | os.PathLike[str]] = (),
) -> Element:
    """Root element of a document given as path or text; that of a xacro file is expanded.

    Args:
        source: path or text.
        xacro: arguments of a xacro file.
        search_path: where packages that a xacro file names are looked for as well.
    """
    given = TextReader("URDF", UrdfError, MAX_BYTES, looks_like_xml).read(source)
    try:
        root = _Parser(given).parse()
        is_macro = given.path is not None and given.path.suffix == ".xacro"
    except _Unexpanded:
        is_macro = True
    if is_macro:
        given = expanded(given, xacro or {}, search_path)
        try:
            return _Parser(given).parse()
        except _Unexpanded as left:
            raise UrdfError(
                f"xacro left <xacro:{left}> as it is",
                file=given.file,
                remedy="define that macro before it is used",
            ) from None
    if xacro:
        raise UrdfError(
            f"arguments for xacro ({', '.join(xacro)}), but it is not a xacro file",
            file=given.file,
            remedy="give none, or the .xacro file",
        )
    return root


class _Unexpanded(Exception):
    """An element of xacro was met: its name."""


class _Parser:
    """Builds elements from what expat reports."""

    def __init__(self, given: SourceText) -> None:
        # Blank lines before an XML declaration are an error in XML, but common in texts from code.
        text = given.text.lstrip() if given.text.lstrip().startswith("<?xml") else given.text
        self._text = text.encode("utf-8")
        self._lines_before = given.text[: len(given.text) - len(text)].count("\n")
        self._file = given.file
        self._root: Element | None = None
        self._own = ""  # the root's namespace
        self._open: list[Element] = []

    def parse(self) -> Element:
        # The encoding is forced because the text has been decoded already: a wrong encoding="..."
        # in the XML declaration must not decode it a second time.
        self._expat = expat.ParserCreate("utf-8", _BETWEEN)
        self._expat.buffer_text = True
        self._expat.StartDoctypeDeclHandler = self._doctype
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._characters
        try:
            self._expat.Parse(self._text, True)
        except expat.ExpatError as problem:
            mended = forgiven(self._text)
            if mended != self._text:
                self._text, self._root, self._open = mended, None, []
                return self.parse()
            here = b"".join(self._text.splitlines()[problem.lineno - 1 : problem.lineno])
            words = here[problem.offset :].decode("utf-8", "ignore").strip()
            at = f" at '{words[:20]}'" if words else ""
            line = problem.lineno + self._lines_before
            self._refuse(f"{expat.ErrorString(problem.code)}{at}, line {line}")
        assert self._root is not None  # expat refuses a document without elements
        return self._root

    def _refuse(self, reason: str) -> NoReturn:
        if self._open:
            reason += f"; <{self._open[-1].tag}> of line {self._open[-1].line} is open there"
        raise UrdfError(
            f"not well-formed XML ({reason})",
            file=self._file,
            place="robot",
            remedy="correct the XML at that line; every opened tag must be closed",
        ) from None

    def _doctype(self, *_: object) -> None:
        """Refused before any entity of it is defined."""
        raise UrdfError(
            "the file has a document type declaration (<!DOCTYPE ...>), which may define entities",
            file=self._file,
            place="before <robot>",
            remedy="remove it: a URDF needs none, and entities are refused for safety",
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, tag = name.rpartition(_BETWEEN)
        line = self._expat.CurrentLineNumber + self._lines_before
        if "xacro" in space:
            raise _Unexpanded(tag)
        if len(self._open) == MAX_DEPTH:
            self._refuse(f"elements within elements, more than {MAX_DEPTH} deep, line {line}")
        parent = self._open[-1] if self._open else None
        if parent is None:
            self._own = space
        tag = tag if space == self._own else name
        element = Element(tag, attributes, self._file, line, parent)
        if parent is None:
            self._root = element
        else:
            parent.children.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._open.pop()

    def _characters(self, text: str) -> None:
        if not self._open[-1].children:
            self._open[-1].text += text
