"""Every way to break a robot.yaml or its markers ends in an error with place and remedy."""

from __future__ import annotations

import random

import pytest
import yaml
from support.damage import COUNT, NASTY_TEXT, mutate
from support.fuzz import attempt
from support.onshape import CLOSING, FOUR_BAR, FOUR_BAR_YAML, ROD, rod_yaml

from closed_loop_dynamics.errors import ModelError
from closed_loop_dynamics.mechanism import build_mechanism
from closed_loop_dynamics.model import read_description

YAML = rod_yaml("SPHERICAL")


def changed(before, after):
    assert before in YAML, before
    return YAML.replace(before, after, 1)


# text, place, problem, remedy
CASES = {
    "unknown marker": (changed("closedloop1_A", "closedlop1_A"), "closed_loop[0][1]",
                       "no link and no joint 'closedlop1_A'", "closedloop1_A"),
    "one marker": (changed("[closedloop1_B, closedloop1_A]", "[closedloop1_B]"), "closed_loop[0]",
                   "1 markers", "pairs"),
    "twice": (changed("closedloop1_B, closedloop1_A", "closedloop1_B, closedloop1_B"),
              "closed_loop[0][1]", "listed twice", "remove"),
    "same body": (changed("closedloop1_A]", "rocker]"), "closed_loop[0]", "do not move", "joints"),
    "type": (changed("[3d]", "[4d]"), "type[0]", "'4d'", "6d"),
    "too many types": (changed("[3d]", "[3d, 6d]"), "type", "2 words for 1", "as many"),
    "unknown motor": (changed("[motor]", "[moter]"), "name_mot[0]", "'moter'", "motor"),
    "unknown joint": (changed("[rod_joint", "[rod_jont"), "joint_name[0]", "'rod_jont'",
                      "rod_joint"),
    "unknown kind": (changed("SPHERICAL", "SPHERE"), "joint_type[0]", "'SPHERE'", "SPHERICAL"),
    "no kinds": (YAML[: YAML.index("joint_type")], "joint_name", "alone", "together"),
    "driven ball": (changed("[motor]", "[rod_joint]"), "name_mot[0]", "no moving joint",
                    "rod_joint_Z"),
    "unknown key": (YAML + "floating: true\n", "floating", "unknown key", "valid"),
    "no motors": (changed("name_mot: [motor]\n", ""), "", "no 'name_mot'", "name_mot"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_error_names_the_key_and_the_remedy(name):
    text, place, problem, remedy = CASES[name]
    with pytest.raises(ModelError) as caught:
        read_description(ROD, text)
    error = caught.value
    assert error.place == place and problem in error.problem and remedy in error.remedy, error


def test_a_closing_marker_without_its_partner():
    with pytest.raises(ModelError, match=r"closing_pin_1' \(line \d+\).*no link 'closing_pin_2'"):
        read_description(CLOSING.replace('"closing_pin_2"', '"other"'))


def whole(urdf, file):
    """Read, with the decisions of a load."""
    description = read_description(urdf, file)
    build_mechanism(description.tree, description.submechanisms, urdf + str(file), {})
    return description


NASTY_VALUES = [*(None, True, 0, 1e308, [], {}, [[]], [None], "", "6d", ["motor"]), *NASTY_TEXT]


def test_every_value_replaced_by_every_nasty_one():
    outcomes = {attempt(read_description, ROD, YAML)}
    assert outcomes == {True}
    good = yaml.safe_load(YAML)
    for key in good:
        for value in NASTY_VALUES:
            for new in (value, [value], [value, value], [[value, "closedloop1_A"]]):
                outcomes.add(attempt(read_description, ROD, yaml.safe_dump({**good, key: new})))
    assert outcomes == {True, False}


@pytest.mark.parametrize("seed", range(2))
def test_random_damage(seed):
    rng = random.Random(seed)
    outcomes = set()
    for _ in range(COUNT):
        urdf, file = ROD, YAML
        for _ in range(rng.randint(1, 3)):
            urdf = "<" + (mutate(urdf, rng) or "<").lstrip("<") if rng.random() < 0.5 else urdf
            file = mutate(file, rng)
        outcomes.add(attempt(read_description, urdf, file + "\n"))
        closing = "<" + mutate(CLOSING, rng).lstrip("<")
        outcomes.add(attempt(read_description, closing))
    assert outcomes == {True, False}


def test_wrong_numbers_are_a_robot_or_an_error_also_when_loops_are_closed():
    rng = random.Random(4)
    numbers = ["0.2", "0.5", "0.3", "0.1"]
    outcomes = set()
    for _ in range(12):
        text = FOUR_BAR.replace(
            f'"{rng.choice(numbers)} ', f'"{rng.choice([0, 1e5, 1e-9, 1e150])} '
        )
        outcomes.add(attempt(whole, text, FOUR_BAR_YAML))
    assert outcomes == {True, False}
