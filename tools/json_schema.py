"""The layout of the submechanism file as a JSON Schema (draft 7): editors complete and check.

It knows shapes, words and ranges. What needs the robot (names of joints) or arithmetic (axes that
repeat each other) is left to the reader.
"""

from __future__ import annotations

import re
from typing import Any

from closed_loop_dynamics.model.hyrodyn.schema import FILE
from closed_loop_dynamics.model.hyrodyn.shapes import (
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

_RANGES: dict[str, dict[str, Any]] = {
    "": {},
    "≥ 0": {"minimum": 0.0},
    "> 0": {"exclusiveMinimum": 0.0},
    "≠ 0": {"not": {"const": 0}},
}

_NOT_BLANK = r"\S"
_NUMBER_AS_TEXT = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"  # 1e-3 has no point: YAML text
_LOOSE = r"[-\[\](){} ]*"


def json_schema() -> dict[str, Any]:
    """The whole schema."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Submechanism file of closed_loop_dynamics",
        **_schema(FILE),
    }


def _schema(shape: Shape) -> dict[str, Any]:
    match shape:
        case Text(_, blank):
            text = {"type": "string", "pattern": _NOT_BLANK}
            return {"anyOf": [text, {"enum": [None, ""]}]} if blank else text
        case Number():
            return _number(shape)
        case Numbers(count):
            return {
                "type": "array",
                "items": _number(Number()),
                "minItems": count,
                "maxItems": count,
            }
        case Word():
            return _word(shape)
        case ListOf(item, minimum, unique):
            some = {"minItems": minimum} if minimum else {}
            once = {"uniqueItems": True} if unique else {}
            return {"type": "array", "items": _schema(item), **some, **once}
        case ByName(value, _, minimum):
            some = {"minProperties": minimum} if minimum else {}
            return {"type": "object", "additionalProperties": _schema(value), **some}
        case Anything():
            return {}
        case Record():
            return _record(shape)


def _number(shape: Number) -> dict[str, Any]:
    """A number; its range is not checked where it is written as text."""
    number = {"type": "number", **_RANGES[shape.range]}
    return {"anyOf": [number, {"type": "string", "pattern": _NUMBER_AS_TEXT}]}


def _word(shape: Word) -> dict[str, Any]:
    if not shape.any_case:
        return {"enum": list(shape.words)}
    between = _LOOSE if shape.loose else ""
    around = between or r"\s*"
    words = "|".join(
        dict.fromkeys(
            between.join(_either_case(c) for c in word if not re.match(_LOOSE[:-1], c))
            for word in shape.words
        )
    )
    # The list is for completion, the pattern for the freedom that the reader leaves.
    return {
        "type": "string",
        "anyOf": [{"enum": list(shape.words)}, {"pattern": f"^{around}({words}){around}$"}],
    }


def _either_case(letter: str) -> str:
    return f"[{letter}{letter.upper()}]" if letter.isalpha() else re.escape(letter)


def _record(record: Record) -> dict[str, Any]:
    needed = [name for name, key in record.keys.items() if key.needed]
    result: dict[str, Any] = {
        "type": "object",
        "properties": {name: _property(key) for name, key in record.keys.items()},
        "additionalProperties": False,
    }
    if needed:
        result["required"] = needed
    if record.rules:
        result["allOf"] = [{"description": sentence(rule), **_rule(rule)} for rule in record.rules]
    return result


def sentence(rule: Rule) -> str:
    """A rule in words, for the reference too."""
    match rule:
        case ExactlyOne((first, second)):
            return f"Exactly one of `{first}` and `{second}`."
        case OneWay(ways):
            return ", or ".join(" and ".join(f"`{key}`" for key in way) for way in ways) + "."
        case Together((first, second)):
            return f"`{first}` and `{second}` together, or neither."
        case GoesWith(key, other, never):
            return f"`{key}` goes with `{other}`, and not with {' or '.join(never)}."


def _rule(rule: Rule) -> dict[str, Any]:
    match rule:
        case ExactlyOne(keys):
            return {"oneOf": [{"required": [key]} for key in keys]}
        case OneWay(ways):
            return {"anyOf": [{"required": list(way)} for way in ways]}
        case Together((first, second)):
            return {"dependencies": {first: [second], second: [first]}}
        case GoesWith(key, other, never):
            never_words = _word(Word("", never))
            forbidden = {"properties": {other: {"not": never_words}}}
            return {"dependencies": {key: {"required": [other], **forbidden}}}


def _property(key: Key) -> dict[str, Any]:
    default = f" Default: {key.default}." if key.default else ""
    text = (key.meaning.rstrip(".") + ".").lstrip(".") + default
    return {"description": text.replace("`", "").strip(), **_schema(key.shape)}
