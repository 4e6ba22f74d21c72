"""Executes :mod:`.schema`: checks a file against its layout, and brings its values into one form.

What comes out has known keys only, floats for numbers (``1e-3`` too, which YAML 1.1 calls a text
for want of a point) and words in the spelling of the schema; readers need not look at types again.
What a schema cannot know (which joints there are, what they can do) is for the readers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...errors import SubmechanismError, did_you_mean
from ..text_source import clip
from .node import Node
from .shapes import (
    Anything,
    ByName,
    ExactlyOne,
    GoesWith,
    Key,
    ListOf,
    Number,
    Numbers,
    OneWay,
    Record,
    Rule,
    Shape,
    Text,
    Together,
    Word,
)

# range -> (what is within it, what to say of the others, what to do about them)
_RANGES: dict[str, tuple[Callable[[float], bool], str, str]] = {
    "≥ 0": (lambda x: x >= 0.0, "negative", "write zero or more"),
    "> 0": (lambda x: x > 0.0, "not above zero", "write a small positive number such as 0.01"),
    "≠ 0": (lambda x: x != 0.0, "zero", "write another number"),
}


def validated(node: Node, record: Record) -> Node:
    """The same node with its values checked and in one form.

    Raises:
        SubmechanismError: names the key path, the offending word and the nearest valid one.
    """
    return Node(_value(node, record), node.place, node.file)


def _value(node: Node, shape: Shape, advice: str = "") -> Any:
    """The value of a node; ``advice`` says more about it than its shape does."""
    match shape:
        case Text():
            return "" if shape.blank and node.value in (None, "") else _text(node, shape)
        case Number():
            return _number(node, shape, advice)
        case Numbers(count):
            return _numbers(node, shape, count)
        case Word():
            return _word(node, shape)
        case ListOf():
            return _list(node, shape, advice)
        case ByName():
            return _by_name(node, shape)
        case Record():
            return _record(node, shape)
        case Anything():
            return node.value


def _text(node: Node, shape: Text | Word) -> str:
    value = node.value
    if isinstance(value, (bool, int, float)):
        raise node.error(
            f"expected text, found {clip(repr(value))}", f"put it in quotes: '{clip(str(value))}'"
        )
    if not isinstance(value, str) or not value.strip():
        raise _expected(node, "text", shape)
    return value


def _word(node: Node, shape: Word) -> str:
    given = _text(node, shape)
    spellings = {_plain(word, shape): word for word in shape.words}
    word = spellings.get(_plain(given, shape))
    if word is None:
        near = did_you_mean(given.lower() if shape.any_case else given, shape.words)
        raise node.error(f"'{clip(given)}' is not {shape.what}", near)
    return word


def _plain(word: str, shape: Word) -> str:
    """What two spellings of a word have in common."""
    if shape.loose:
        word = word.translate(str.maketrans("", "", " -[](){}"))
    return word.strip().lower() if shape.any_case else word


def _number(node: Node, shape: Number, advice: str = "") -> float:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise _expected(node, "a number", shape)
    try:
        number = float(value)
    except ValueError:
        raise _expected(node, "a number", shape) from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise node.error(f"{clip(str(value))} is not finite", "write a finite number")
    if shape.range:
        within, problem, remedy = _RANGES[shape.range]
        if not within(number):
            key = node.place.rpartition(".")[2]
            raise node.error(f"{key} = {number:g} is {problem}", _with(remedy, advice))
    return number


def _numbers(node: Node, shape: Numbers, count: int) -> list[float]:
    items = _items(node, shape)
    if len(items) != count:
        raise node.error(
            f"{len(items)} numbers where {count} are expected", f"write {shape.example}"
        )
    return [_number(item, Number()) for item in items]


def _items(node: Node, shape: Shape) -> list[Node]:
    if not isinstance(node.value, list):
        raise _expected(node, "a list", shape)
    return list(node)


def _list(node: Node, shape: ListOf, advice: str) -> list[Any]:
    values: list[Any] = []
    for item in _items(node, shape):
        value = _value(item, shape.item)
        if shape.unique and value in values:
            raise item.error(f"{shape.each} '{value}' is listed twice", "remove one of them")
        values.append(value)
    if len(values) < shape.minimum:
        raise _too_few(node, shape, advice)
    return values


def _by_name(node: Node, shape: ByName) -> dict[str, Any]:
    fields = _fields(node, shape)
    if len(fields) < shape.minimum:
        raise _too_few(node, shape)
    return {name: _value(field, shape.value) for name, field in fields.items()}


def _fields(node: Node, shape: ByName | Record) -> dict[str, Node]:
    if not isinstance(node.value, dict):
        raise _expected(node, "a mapping (key: value)", shape)
    for key in node.value:
        if not isinstance(key, str):
            raise node.error(
                f"the key {clip(repr(key))} is not text", f"put it in quotes: '{key}':"
            )
    return {key: node[key] for key in node.value}


def _record(node: Node, record: Record) -> dict[str, Any]:
    fields = _fields(node, record)
    for name, field in fields.items():
        if name not in record.keys:
            raise field.error(f"unknown key '{clip(name)}'", did_you_mean(name, record.keys))
    values = {
        name: _value(field, record.keys[name].shape, _advice(record.keys[name], node))
        for name, field in fields.items()
    }
    for rule in record.rules:
        _check_rule(Node(values, node.place, node.file), rule, record)
    for name, key in record.keys.items():
        if key.needed and name not in values:
            raise _missing(node, record, name)
    return values


def _check_rule(node: Node, rule: Rule, record: Record) -> None:
    match rule:
        case ExactlyOne((first, second)):
            if (first in node) == (second in node):
                examples = (f"{k}: {record.keys[k].shape.example}" for k in rule.keys)
                how_many = "both" if first in node else "neither"
                raise node.error(
                    f"{how_many} of '{first}' and '{second}' are given",
                    f"give one of them: {', or '.join(examples)}",
                )
        case OneWay(ways):
            if not any(all(key in node for key in way) for way in ways):
                others = "; or give ".join(["", *(" and ".join(way) for way in ways[1:])])
                raise _missing(node, record, ways[0][0], others)
        case Together((first, second)):
            if (first in node) != (second in node):
                given = first if first in node else second
                raise node[given].error(
                    f"'{given}' is given alone", f"give {first} and {second} together, or neither"
                )
        case GoesWith(key, other, never, instead):
            if key in node and other not in node:
                raise node[key].error(f"'{key}' goes with '{other}' only", instead)
            if key in node and node[other].value in never:
                raise node[key].error(f"'{other}: {node[other].value}' has no {key}", "remove it")


def _advice(key: Key, record: Node) -> str:
    """What a key of a record means, or the words that it may choose from."""
    for name in key.part_of:
        listed = record.value.get(name)
        if isinstance(listed, list):
            words = [word for word in listed if isinstance(word, str)]
            return f"choose from its joints: {', '.join(words[:8])}"
    return key.meaning.replace("`", "")


def _missing(node: Node, record: Record, name: str, otherwise: str = "") -> SubmechanismError:
    key = record.keys[name]
    remedy = _with(f"add it: write {name}: {key.shape.example}", _advice(key, node))
    return node.error(f"{record.name} has no '{name}'", remedy + otherwise)


def _too_few(node: Node, shape: ListOf | ByName, advice: str = "") -> SubmechanismError:
    return node.error(
        f"at least one {shape.each} is needed", _with(f"write {shape.example}", advice)
    )


def _expected(node: Node, what: str, shape: Shape) -> SubmechanismError:
    found = "nothing" if node.value is None else clip(repr(node.value))
    return node.error(
        f"expected {what}, found {found}", f"write {shape.example}, or remove the key"
    )


def _with(remedy: str, advice: str) -> str:
    return f"{remedy} ({advice})" if advice else remedy
