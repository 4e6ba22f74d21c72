"""The layout of :mod:`.schema` as a JSON Schema (draft 7), with which editors complete and check.

It knows shapes, words and ranges. What needs the robot (names of joints) or arithmetic (axes that
repeat each other) is left to the reader.
"""

from __future__ import annotations

import re
from typing import Any

from .schema import FILE, Anything, ByName, Key, ListOf, Number, Numbers, Record, Shape, Text, Word

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
        case Text():
            return {"type": "string", "pattern": _NOT_BLANK}
        case Number():
            return _number(shape)
        case Numbers(count):
            return {"type": "array", "items": _number(), "minItems": count, "maxItems": count}
        case Word():
            return _word(shape)
        case ListOf(item, minimum, unique):
            some = {"minItems": minimum} if minimum else {}
            once = {"uniqueItems": True} if unique else {}
            return {"type": "array", "items": _schema(item), **some, **once}
        case ByName(value, minimum):
            some = {"minProperties": minimum} if minimum else {}
            return {"type": "object", "additionalProperties": _schema(value), **some}
        case Anything():
            return {}
        case Record():
            return _record(shape)


def _number(shape: Number | None = None) -> dict[str, Any]:
    """A number; its range is not checked where it is written as text."""
    shape = shape or Number()
    if shape.minimum is not None:
        number = {"type": "number", "minimum": shape.minimum}
    elif shape.above is not None:
        number = {"type": "number", "exclusiveMinimum": shape.above}
    elif shape.never_zero:
        number = {"type": "number", "not": {"const": 0}}
    else:
        number = {"type": "number"}
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
        result["allOf"] = [
            {"description": sentence, **rule} for sentence, rule in record.rules.items()
        ]
    return result


def _property(key: Key) -> dict[str, Any]:
    default = f" Default: {key.default}." if key.default else ""
    text = (key.meaning.rstrip(".") + ".").lstrip(".") + default
    return {"description": text.replace("`", "").strip(), **_schema(key.shape)}
