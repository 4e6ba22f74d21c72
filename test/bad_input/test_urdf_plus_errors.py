"""Every way to break a URDF+ ends in an error that names file, element, line and remedy."""

from __future__ import annotations

import random
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from support.damage import NASTY_TEXT, mutate
from support.urdf_plus import BELT_LEG, FLAT_LOOP, GEARED_LOOP, OPEN_LOOP, gear, pin, robot

from closed_loop_dynamics.errors import ClosedLoopError, ModelError
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


def attempt(text, whole=False):
    """Read it, or fail properly; whether it was read. ``whole``: with the decisions of a load."""
    try:
        description = read_description(text)
        if whole:
            build_mechanism(description.tree, description.submechanisms, text, {})
    except ClosedLoopError as error:
        assert str(error) and len(str(error)) < 20_000
        return False
    joints = [joint for entry in description.submechanisms for joint in entry.spanning]
    assert sorted(joints) == sorted(description.tree.joint_names)
    for entry in description.submechanisms:
        assert entry.independent
        for coupling in entry.couplings:
            assert np.isfinite([*coupling.terms.values(), coupling.offset]).all()
            assert coupling.joint not in entry.independent
    return True


def test_every_attribute_replaced_by_every_nasty_text():
    """Some three thousand files."""
    outcomes = {attempt(SEED)}
    assert outcomes == {True}
    root = ElementTree.fromstring(SEED)
    for element in root.iter():
        for key, good in list(element.attrib.items()):
            for value in [*NASTY_TEXT, "true", "rotor", "thigh"]:
                element.set(key, value)
                outcomes.add(attempt(ElementTree.tostring(root, encoding="unicode")))
            element.set(key, good)
    assert outcomes == {True, False}


@pytest.mark.parametrize("seed", range(3))
def test_random_damage(seed):
    rng = random.Random(seed)
    outcomes = set()
    for _ in range(400):
        text = SEED
        for _ in range(rng.randint(1, 3)):
            text = mutate(text, rng) or "<"
        outcomes.add(attempt("<" + text.lstrip("<")))
    assert outcomes == {True, False}


def test_wrong_numbers_and_roles_are_a_robot_or_an_error_also_when_loops_are_closed():
    rng = random.Random(4)
    places = [m.span() for m in re.finditer(r'(?<=")(-?\d[\d.]*|false)(?=")', robot(GEARED_LOOP))]
    outcomes = set()
    for _ in range(40):
        start, end = rng.choice(places)
        new = rng.choice(["true", "0", "-1", "1e5", "1e-9", "1e150", "0.3", "-0.07"])
        text = robot(GEARED_LOOP)
        outcomes.add(attempt(text[:start] + new + text[end:], whole=True))
    assert outcomes == {True, False}
