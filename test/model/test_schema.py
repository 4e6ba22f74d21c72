"""The schema of the submechanism file, its two renderings, and the reader say the same."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from support.published import HERE, MODELS
from support.submechanism_documents import COUPLED, EVERYTHING, TRANSMISSION

from closed_loop_dynamics.errors import SubmechanismError
from closed_loop_dynamics.model import locked_axes, read_submechanisms, read_urdf
from closed_loop_dynamics.model.hyrodyn.schema import CUT_JOINTS, RECORDS
from tools import file_format_page as file_format
from tools.json_schema import json_schema
from tools.robots.mechanisms import MECHANISMS

ROOT = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft7Validator(json_schema())

TREE = read_urdf("""<robot name="r">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <link name="tip"/>
  <joint name="crank" type="revolute"><parent link="base"/><child link="a"/></joint>
  <joint name="rod" type="revolute"><parent link="a"/><child link="b"/></joint>
  <joint name="weld" type="fixed"><parent link="b"/><child link="tip"/></joint>
  <joint name="rocker" type="revolute"><parent link="base"/><child link="c"/></joint>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="d"/>
    <mimic joint="crank"/></joint>
</robot>""")

BY_JOINT = [("actuators",), ("joint_friction",), ("reference",), ("terms",)]
WRONG = [[{}]]  # no key holds this, save those of other tools


def read(document: Any) -> None:
    read_submechanisms(yaml.safe_dump(document), TREE)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all keys, nested ones too."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from places(inner, (*path, i))


def changed(document: Any, path: tuple[Any, ...], *, key: str = "", value: Any = None) -> Any:
    """A copy with another name or another value at ``path``."""
    result = copy.deepcopy(document)
    parent = result
    for step in path[:-1]:
        parent = parent[step]
    old = parent.pop(path[-1])
    parent[key or path[-1]] = old if key else value
    return result


def refused_by_both(document: Any, place: str = "") -> None:
    """The reader's complaint is about ``place``."""
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(SubmechanismError) as caught:
        read(document)
    assert caught.value.place.startswith(place)


def place_of(path: tuple[Any, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


READ_PLACES = [
    pytest.param(document, path, id=".".join(map(str, path)))
    for document in (EVERYTHING, COUPLED, TRANSMISSION)
    for path in places(document)
    if path[0] in ("submechanisms", "springs")
]


def test_generated_files_are_up_to_date() -> None:
    remedy = "run `python -m tools.file_format_page`"
    assert file_format.page() == (ROOT / file_format.PAGE).read_text(encoding="utf-8"), remedy
    text = (ROOT / file_format.SCHEMA).read_text(encoding="utf-8")
    assert file_format.schema_text() == text, remedy


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(json_schema())


def test_the_examples_use_every_key_and_are_read() -> None:
    used = {path[-1] for each in (EVERYTHING, COUPLED, TRANSMISSION) for path in places(each)}
    assert {key for record in RECORDS for key in record.keys} <= used
    for document in (EVERYTHING, COUPLED, TRANSMISSION):
        VALIDATOR.validate(document)
    read(EVERYTHING)
    read(COUPLED)


@pytest.mark.parametrize(("document", "path"), READ_PLACES)
def test_every_key_is_read_and_described(document: Any, path: tuple[Any, ...]) -> None:
    refused_by_both(changed(document, path, value=WRONG), place_of(path))


@pytest.mark.parametrize(("document", "path"), READ_PLACES)
def test_a_misspelled_key_is_refused(document: Any, path: tuple[Any, ...]) -> None:
    wrong = changed(document, path, key=f"{path[-1]}_")
    with pytest.raises(SubmechanismError, match=f"{path[-1]}_'"):
        read(wrong)
    if path[-2:-1] not in BY_JOINT:  # the schema does not know the names of joints
        assert not VALIDATOR.is_valid(wrong)


BAD = {
    "negative friction": ("submechanisms.0.joint_friction.crank.viscous_friction", -1.0),
    "no gear": ("submechanisms.0.actuators.rocker.gear_ratio", 0),
    "no speed": ("submechanisms.0.actuators.rocker.coulomb_speed", 0.0),
    "five numbers": ("submechanisms.0.loop_constraints.0.constraint_axes.0.axis", [0, 0, 0, 1, 0]),
    "no axes": ("submechanisms.0.loop_constraints.0.constraint_axes", []),
    "unknown cut": ("submechanisms.0.loop_constraints.1.cut", "hinge"),
    "an axis for a ball": ("submechanisms.0.loop_constraints.1.cut", "spherical"),
    "unknown type": ("submechanisms.0.type", "2-SPX+1U"),
    "unknown solver": ("submechanisms.0.solver", "newton"),
    "nothing commanded": ("submechanisms.0.jointnames_independent", []),
    "a joint twice": ("submechanisms.0.jointnames_active", ["rocker", "rocker"]),
    "unknown coordinate": ("submechanisms.0.task_space.axes", ["x", "X"]),
    "blank name": ("submechanisms.0.name", " "),
    "a word for a number": ("submechanisms.0.reference.crank", "half"),
    "no list": ("submechanisms", {}),
    "a spring that pushes back": ("springs.0.stiffness", -1.0),
    "two numbers": ("springs.1.from.point", [0.0, 1.0]),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_values_are_refused(what: str) -> None:
    place, value = BAD[what]
    path = tuple(int(step) if step.isdigit() else step for step in place.split("."))
    refused_by_both(changed(EVERYTHING, path, value=value), place_of(path[:2]))


@pytest.mark.parametrize(
    ("loop", "key"),
    [
        (0, "cut_joint"),
        (0, "constraint_axes"),
        (0, "predecessor_body"),
        (1, "cut"),
        (1, "successor_frame"),
        (1, "successor_body"),
    ],
)
def test_loops_lack_nothing(loop: int, key: str) -> None:
    document = copy.deepcopy(EVERYTHING)
    del document["submechanisms"][0]["loop_constraints"][loop][key]
    refused_by_both(document)


def test_entries_need_their_joints() -> None:
    for keys in (["jointnames_independent"], ["jointnames", "jointnames_spanningtree"]):
        document = copy.deepcopy(EVERYTHING)
        for key in keys:
            del document["submechanisms"][0][key]
        refused_by_both(document)
    refused_by_both({})


@pytest.mark.parametrize("kind", ["1-rrrr", "1RRRR", "3-R U S 2", "2-SU[RRPR]+1U", "(6)-{UPS}"])
def test_types_may_be_spelled_freely(kind: str) -> None:
    document = changed(EVERYTHING, ("submechanisms", 0, "type"), value=kind)
    VALIDATOR.validate(document)
    read(document)


def test_every_cut_joint_is_known_to_the_reader() -> None:
    assert set(locked_axes.LOCKED) == set(CUT_JOINTS)


def submechanism_files() -> list[Path]:
    files = [*(ROOT / "config").glob("*.yaml"), *(MODELS.rglob("*.yml") if HERE else ())]
    return sorted(p for p in files if "\nsubmechanisms:" in "\n" + p.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", submechanism_files(), ids=lambda p: p.name)
def test_robot_files_are_valid(path: Path) -> None:
    VALIDATOR.validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", MECHANISMS)
def test_files_of_the_library_are_valid(name: str) -> None:
    VALIDATOR.validate(yaml.safe_load(MECHANISMS[name].build()[1]))


def test_there_were_files_to_check() -> None:
    names = {path.name for path in submechanism_files()}
    assert {"crank_leg.yaml", "rh5_leg.yaml", "irsbot2.yaml"} <= names
    if HERE:
        assert {"submechanisms_reduced.yml", "rh5_single_leg_hybrid.yml"} <= names
