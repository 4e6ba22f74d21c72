"""Every way to break a URDF+ ends in an error that names file, element, line and remedy."""

from __future__ import annotations

import random
import re

import pytest
from support.fuzz import attempt, nasty_words, random_damage
from support.urdf_plus import BELT_LEG, FLAT_LOOP, GEARED_LOOP, OPEN_LOOP, gear, pin, robot

from closed_loop_dynamics.errors import ModelError
from closed_loop_dynamics.mechanism import build_mechanism
from closed_loop_dynamics.model import read_description


def flat(before, after):
    assert before in FLAT_LOOP, before
    return robot(FLAT_LOOP.replace(before, after, 1))


# text, place, problem, remedy
CASES = {
    "no name": (flat('<loop name="flat"', "<loop"), "loop (line", "no name", "name="),
    "no type": (flat('type="revolute">', ">"), "loop 'flat' (line", "no type", "type="),
    "unknown type": (flat('"revolute"', '"revolut"'), "loop 'flat'", "'revolut'", "'revolute'"),
    "no end": (flat("predecessor link", "end link").replace("</predecessor>", "</end>", 1), "end",
               "not part of a loop", "successor"),
    "unknown link": (flat('"coupler"><origin', '"copler"><origin'), "predecessor", "link 'copler'",
                     "'coupler'"),
    "same link": (flat('r link="coupler"', 'r link="rocker"'), "loop 'flat'", "do not move", "two"),
    "number": (flat('xyz="0 0 1"/></loop>', 'xyz="0 0 z"/></loop>'), "loop 'flat'/axis", "'z'",
               "number"),
    "zero axis": (flat('xyz="0 0 1"/></loop>', 'xyz="0 0 0"/></loop>'), "axis", "zero axis", "xyz"),
    "two names": (robot(FLAT_LOOP, pin("flat", ("coupler", 1.0), ("rocker", 0.5))), "loop 'flat'",
                  "second constraint", "own"),
    "all independent": (robot(FLAT_LOOP.replace('independent="false"', "")), "loop 'flat'",
                        "all of its joints are independent", 'independent="false"'),
    "not a truth": (flat('"false"', '"flase"'), "joint 'jcoupler'", 'independent="flase"', "true"),
    "child of an end": (flat('<origin xyz="1.0 0 0"/>', "<pose/>"), "predecessor/pose",
                        "not part of a predecessor", "origin"),
    "other dialect": (robot(FLAT_LOOP, '<constraint name="c"/>'), "constraint 'c'", "open tree",
                      "submechanism file"),
    "no ratio": (robot(GEARED_LOOP.replace('<ratio value="-8.0"/>', "")), "coupling 'motor'",
                 "no <ratio>", "value="),
    "zero ratio": (robot(GEARED_LOOP.replace('"-8.0"', '"0"')), "coupling 'motor'/ratio", "0 ties",
                   "another"),
    "huge ratio": (robot(GEARED_LOOP.replace('"-8.0"', '"1e200"')), "coupling 'motor'", "1e+200",
                   "between"),
    "unknown coupling": (robot(GEARED_LOOP.replace('"rolling"', '"slip"')), "coupling 'reading'",
                         "'slip'", "rolling"),
    "no joint": (robot(GEARED_LOOP, gear("g", "base", "a", 2.0)), "coupling 'g'", "no joint moves",
                 "different branches"),
    "same gear": (robot(GEARED_LOOP, gear("g", "a", "rotor", -8.0)), "coupling 'g'",
                  "says nothing", 'independent="false"'),
    "independent joints": (robot(OPEN_LOOP, "<link name='r'/>",
                                 '<joint name="r" type="continuous" independent="true">'
                                 '<parent link="base"/><child link="r"/></joint>',
                                 gear("g", "a", "r", 2.0)),
                           "coupling 'g'", "ties independent joints", 'independent="false"'),
    "floating": (robot(BELT_LEG, pin("p", ("world", 0.0), ("foot", 0.0))), "loop 'p'", "'flight'",
                 "same floating base"),
    "undetermined": (robot(BELT_LEG.replace(gear("ankle_belt", "foot", "ankle_rotor", 6.0), "")),
                     "joint 'jankle'", "no <coupling> determines", 'independent="true"'),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_error_names_the_element_and_the_remedy(name):
    text, place, problem, remedy = CASES[name]
    with pytest.raises(ModelError) as caught:
        read_description(text)
    error = caught.value
    assert place in error.place and re.search(r"\(line \d+\)", error.place), error
    assert problem in error.problem and remedy in error.remedy, error
    assert error.file == "<text>"


#: All of it in one robot, on the ground.
SEED = robot(
    GEARED_LOOP,
    BELT_LEG.replace('<link name="world"/>\n', "").replace(
        'type="floating"><parent link="world"/>', 'type="fixed"><parent link="base"/>'
    ),
)


def whole(text):
    """Read, with the decisions of a load."""
    description = read_description(text)
    build_mechanism(description.tree, description.submechanisms, text, {})
    return description


def test_every_attribute_replaced_by_every_nasty_text():
    """Some three thousand files."""
    more = ("true", "rotor", "thigh")
    assert nasty_words(read_description, SEED, 1000, more) == {True, False}


@pytest.mark.parametrize("seed", range(3))
def test_random_damage(seed):
    assert random_damage(read_description, [SEED], seed) == {True, False}


def test_wrong_numbers_and_roles_are_a_robot_or_an_error_also_when_loops_are_closed():
    rng = random.Random(4)
    places = [m.span() for m in re.finditer(r'(?<=")(-?\d[\d.]*|false)(?=")', robot(GEARED_LOOP))]
    outcomes = set()
    for _ in range(40):
        start, end = rng.choice(places)
        new = rng.choice(["true", "0", "-1", "1e5", "1e-9", "1e150", "0.3", "-0.07"])
        text = robot(GEARED_LOOP)
        outcomes.add(attempt(whole, text[:start] + new + text[end:]))
    assert outcomes == {True, False}
