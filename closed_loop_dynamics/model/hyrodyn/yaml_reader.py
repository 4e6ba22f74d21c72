"""Safe YAML: plain data only, no bombs, no duplicate keys but in the entries themselves."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ...errors import SubmechanismError
from ..text_source import SourceText, TextReader, clip
from .node import Node

MAX_BYTES = 2**20
MAX_VALUES = 100_000  # with aliases written out
MAX_DEPTH = 40
SAFE_DEPTH = 500  # for libyaml

_TEXT_START = re.compile(r"\s*(\{|[\"']?submechanisms[\"']?\s*:)")
_ENTRY = re.compile(r"submechanisms\[\d+\]")  # exported files repeat keys in there


@dataclass(frozen=True)
class YamlFile:
    """What was read.

    Attributes:
        root: all of it.
        folder: where the file lies; None for a text.
        repeated: entry -> words on the keys that it has twice, the last one of which counts.
    """

    root: Node
    folder: Path | None
    repeated: dict[str, list[str]]


def load_yaml(source: object) -> YamlFile:
    """A submechanism file, given as path or text."""
    reader = TextReader("submechanism file", SubmechanismError, MAX_BYTES, _looks_like_yaml)
    given = reader.read(source)
    repeated: dict[str, list[str]] = {}
    return YamlFile(Node(_construct(given, repeated), "", given.file), given.folder, repeated)


def _looks_like_yaml(text: str) -> bool:
    """Text has several lines or starts with the one top-level key; all else is a path."""
    return "\n" in text or _TEXT_START.match(text.lstrip("\ufeff")) is not None


def _composed(text: str) -> tuple[Any, yaml.Node | None]:
    """A loader and the root that it found.

    libyaml's is several times as fast, but overruns the stack where things are nested deeply (each
    in a bracket, or further right), and PyYAML's own has the better words for mistakes.
    """
    deepest = max([text.count("[") + text.count("{"), *map(len, text.splitlines())])
    if yaml.__with_libyaml__ and deepest <= SAFE_DEPTH:
        with suppress(yaml.YAMLError):
            fast = yaml.CSafeLoader(text)
            return fast, fast.get_single_node()
    loader = yaml.SafeLoader(text)
    return loader, loader.get_single_node()


def _construct(given: SourceText, repeated: dict[str, list[str]]) -> Any:
    try:
        loader, root = _composed(given.text)
        if root is None:
            remedy = "start it with 'submechanisms:' and a list of entries"
            raise _error(given.file, "", "the submechanism file is empty", remedy)
        _check_nodes(root, given.file, repeated)
        return loader.construct_document(root)
    except SubmechanismError:
        raise
    except RecursionError:
        raise _too_deep(given.file, "") from None
    except yaml.YAMLError as problem:
        raise _syntax_error(problem, given) from None
    except Exception as problem:  # PyYAML's scalar constructors raise whatever int(), date() do
        remedy = "put it in quotes if it is text, else write a plain number"
        raise _error(given.file, "", f"a value cannot be read ({problem})", remedy) from None


def _syntax_error(problem: yaml.YAMLError, given: SourceText) -> SubmechanismError:
    mark = getattr(problem, "problem_mark", None)
    what = getattr(problem, "problem", None) or str(problem).replace("\n", " ")
    remedy = "check indentation, colons, brackets and quotes there"
    if "\\t" in what or (mark is not None and "\t" in _line(given.text, mark.line)):
        remedy = "indent with spaces: YAML does not allow tabs"
    elif "document" in what:
        remedy = "keep one document per file: remove the '---' lines"
    elif "tag" in what:
        remedy = "use plain values: tags such as !!python are refused for safety"
    place = f"line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    return _error(given.file, place, f"not valid YAML ({clip(what, 200)})", remedy)


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number] if number < len(lines) else ""


def _check_nodes(root: yaml.Node, file: str, repeated: dict[str, list[str]]) -> None:
    """Note the duplicate keys of entries; refuse others, and anchors that expand into huge things.

    PyYAML shares the nodes of an alias, so the tree is small here even when its expansion is not;
    sizes are counted as if every alias were written out.
    """
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size_of(node: yaml.Node, place: str, depth: int) -> int:
        if id(node) in open_nodes:
            raise _error(file, place, "an alias contains itself", "write the value out")
        if depth > MAX_DEPTH:
            raise _too_deep(file, place)
        if id(node) not in sizes:
            open_nodes.add(id(node))
            children = _children(node, place, file, repeated)
            sizes[id(node)] = 1 + sum(size_of(child, at, depth + 1) for child, at in children)
            open_nodes.discard(id(node))
        return sizes[id(node)]

    if size_of(root, "", 0) > MAX_VALUES:
        problem = f"the file holds more than {MAX_VALUES} values, aliases written out"
        raise _error(file, "", problem, "use fewer aliases (*name)")


def _children(
    node: yaml.Node, place: str, file: str, repeated: dict[str, list[str]]
) -> list[tuple[yaml.Node, str]]:
    if isinstance(node, yaml.SequenceNode):
        return [(child, f"{place}[{i}]") for i, child in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return []
    result = []
    lines: dict[str, int] = {}
    for key, value in node.value:
        word = key.value if isinstance(key, yaml.ScalarNode) else "?"
        at = f"{place}.{clip(word)}".removeprefix(".")
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise _error(file, at, f"the key in line {line} is not a word", "write a word")
        if word in lines:
            problem = f"the key '{clip(word)}' is given twice (lines {lines[word]} and {line})"
            if not _ENTRY.fullmatch(place):
                raise _error(file, at, problem, "keep one of them")
            repeated.setdefault(place, []).append(f"{problem}; the last one counts")
        lines[word] = line
        result.append((value, at))
    return result


def _too_deep(file: str, place: str) -> SubmechanismError:
    remedy = "follow the layout submechanisms: [{name: ..., type: ...}]"
    return _error(file, clip(place), "the values are nested too deeply", remedy)


def _error(file: str, place: str, problem: str, remedy: str) -> SubmechanismError:
    return SubmechanismError(problem, file=file, place=place, remedy=remedy)
