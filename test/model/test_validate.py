"""Whatever the schema of the submechanism file declares is executed, and says where and what."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from support.submechanism_documents import COUPLED, EVERYTHING, TRANSMISSION

from closed_loop_dynamics.errors import SubmechanismError
from closed_loop_dynamics.model.hyrodyn.node import Node
from closed_loop_dynamics.model.hyrodyn.schema import FILE
from closed_loop_dynamics.model.hyrodyn.shapes import (
    Anything,
    ByName,
    ListOf,
    Number,
    Numbers,
    Record,
    Text,
    Word,
)
from closed_loop_dynamics.model.hyrodyn.validate import validated
from tools.json_schema import json_schema

VALIDATOR = jsonschema.Draft7Validator(json_schema())
DOCUMENTS = {"everything": EVERYTHING, "coupled": COUPLED, "transmission": TRANSMISSION}
TEXT = "no number, no word of any list"


def check(document: Any) -> Any:
    return validated(Node(document, "", "a.yml"), FILE).value


def wrong(shape: Any, value: Any) -> Iterator[Any]:
    """Values that the shape forbids, made from one that it allows."""
    match shape:
        case Text():
            yield from (3, True, [], " ")
        case Number(_, allowed):
            yield from (TEXT, None, [1.0], {"≥ 0": -1, "> 0": 0, "≠ 0": 0.0}.get(allowed, TEXT))
        case Numbers():
            yield from (value[1:], [*value, 0.0], [TEXT, *value[1:]], 1.0)
        case Word():
            yield from (TEXT, 1)
        case ListOf(_, minimum, unique):
            yield {}
            if minimum:
                yield []
            if unique:
                yield [*value, value[0]]
        case ByName(_, _, minimum):
            yield []
            if minimum:
                yield {}
        case Record(keys=keys):
            yield from ([], {**value, "stranger": 1})
            for name in (name for name in value if keys[name].needed):
                yield {k: v for k, v in value.items() if k != name}


def spoiled(shape: Any, value: Any) -> Iterator[Any]:
    """Copies of ``value`` with one wrong part each, at every depth."""
    yield from wrong(shape, value)
    match shape:
        case ListOf(item):
            for i, inner in enumerate(value):
                for bad in spoiled(item, inner):
                    yield [*value[:i], bad, *value[i + 1 :]]
        case ByName(inside):
            for name, inner in value.items():
                for bad in spoiled(inside, inner):
                    yield {**value, name: bad}
        case Record(keys=keys):
            for name, inner in value.items():
                if not isinstance(keys[name].shape, Anything):
                    for bad in spoiled(keys[name].shape, inner):
                        yield {**value, name: bad}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_everything_that_is_declared_is_refused_by_the_reader_and_by_editors(name: str) -> None:
    count = 0
    for document in spoiled(FILE, DOCUMENTS[name]):
        count += 1
        with pytest.raises(SubmechanismError) as caught:
            check(document)
        assert caught.value.remedy
        assert not VALIDATOR.is_valid(document), document
    assert count > 20


def test_values_come_in_one_form_and_the_file_is_left_alone() -> None:
    before = copy.deepcopy(EVERYTHING)
    entry = check(EVERYTHING)["submechanisms"][0]
    assert before == EVERYTHING
    assert entry["type"] == "1-rrrr"
    first, second = entry["loop_constraints"]
    assert first["constraint_axes"][1]["axis"] == [
        0.0,
        0.0,
        0.0,
        0.0,
        1e-3,
        0.0,
    ]  # text in YAML 1.1
    assert second["cut"] == "revolute"
    assert isinstance(entry["actuators"]["rocker"]["gear_ratio"], float)


def test_the_word_and_the_nearest_valid_one_are_named() -> None:
    document = copy.deepcopy(EVERYTHING)
    document["submechanisms"][0]["loop_constraints"][1]["cut"] = "Revolut"
    with pytest.raises(SubmechanismError) as caught:
        check(document)
    assert caught.value.file == "a.yml"
    assert caught.value.place == "submechanisms[0].loop_constraints[1].cut"
    assert "'Revolut'" in caught.value.problem and "'revolute'" in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "place", "problem"),
    [
        ({"cut": "fixed"}, "loop_constraints[1].axis", "has no axis"),
        ({"cut": None, "constraint_axes": None}, "loop_constraints[1]", "neither of"),
        ({"constraint_axes": [{"axis": [0, 0, 0, 1, 0, 0]}]}, "loop_constraints[1]", "both of"),
        ({"successor_frame": None}, "loop_constraints[1].predecessor_frame", "given alone"),
        ({"predecessor_frame": None, "successor_frame": None}, "loop_constraints[1]", "cut_joint"),
    ],
)
def test_rules_between_keys(change: dict[str, Any], place: str, problem: str) -> None:
    document = copy.deepcopy(EVERYTHING)
    loop = document["submechanisms"][0]["loop_constraints"][1]
    loop.update(change)
    for key in [key for key, value in loop.items() if value is None]:
        del loop[key]
    with pytest.raises(SubmechanismError) as caught:
        check(document)
    assert caught.value.place == f"submechanisms[0].{place}"
    assert problem in caught.value.problem
    assert not VALIDATOR.is_valid(document)
