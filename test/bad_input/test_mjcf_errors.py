"""Every way to break an MJCF ends in an error that names the place; nothing else escapes."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import numpy as np
import pytest
from support.damage import COUNT, NASTY_TEXT, mutate
from support.mjcf import FLYING, FOUR_BAR, GEARED, bar, robot

from closed_loop_dynamics.errors import ClosedLoopError, MjcfError
from closed_loop_dynamics.model import read_description

LOOSE = '<body name="ball"><freejoint name="loose"/><geom size="0.1 0.1"/></body>'
# text, place, problem
CASES = {
    "degree": (GEARED.replace("0.1 -2.5 0 0 0", "0.1 -2.5 0 1 0"), "equality 1", "degree 2"),
    "loose object": (robot(bar("arm", 0.3, "0 0 0") + LOOSE), "joint 'loose'", "whole robot"),
    "same body": (FOUR_BAR.replace('body2="rocker"', 'body2="rod"'), "", "MuJoCo's compiler"),
    "held base": (FLYING.replace('body2="wrist"', 'body2="world"'), "equality 0", "floating base"),
    "unknown": (FOUR_BAR.replace('body2="rocker"', 'body2="roker"'), "", "roker"),
    "ball armature": (FLYING.replace('type="ball"', 'type="ball" armature="1"'), "joint 'ball_X'",
                      "armature"),
    "many": (robot(f'<replicate count="3">{LOOSE}</replicate>'), "replicate", "<replicate>"),
    "tendons": (robot(bar("arm", 0.3, "0 0 0"), '<tendon tendon1="t"/>', "",
                      '<tendon><fixed name="t"><joint joint="arm_joint" coef="1"/></fixed>'
                      "</tendon>"), "equality 0", "tendons"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_error_names_the_place_and_the_problem(name):
    text, place, problem = CASES[name]
    with pytest.raises(MjcfError) as caught:
        read_description(text)
    error = caught.value
    assert place in error.place and problem in error.problem and error.remedy, error


def test_a_second_file_or_a_floating_base_is_refused():
    for more in ({"submechanisms": "submechanisms: []\n"}, {"floating_base": True}):
        with pytest.raises(MjcfError, match="says itself"):
            read_description(FOUR_BAR, **more)


def attempt(text):
    """Read it, or fail properly; whether it was read."""
    try:
        description = read_description(text)
    except ClosedLoopError as error:
        assert str(error) and len(str(error)) < 20_000
        return False
    joints = [joint for entry in description.submechanisms for joint in entry.spanning]
    assert sorted(joints) == sorted(description.tree.joint_names)
    for body in description.tree.bodies:
        assert np.isfinite(body.inertia).all() and np.isfinite(body.joint.placement).all()
    return True


def test_every_attribute_replaced_by_nasty_texts():
    rng = random.Random(1)
    outcomes = {attempt(GEARED), attempt(FLYING)}
    assert outcomes == {True}
    root = ElementTree.fromstring(GEARED)
    for element in root.iter():
        for key, good in list(element.attrib.items()):
            for value in rng.sample(NASTY_TEXT, 6):
                element.set(key, value)
                outcomes.add(attempt(ElementTree.tostring(root, encoding="unicode")))
            element.set(key, good)
    assert outcomes == {True, False}


@pytest.mark.parametrize("seed", range(2))
def test_random_damage(seed):
    rng = random.Random(seed)
    outcomes = set()
    for _ in range(COUNT):
        text = rng.choice((FOUR_BAR, GEARED, FLYING))
        for _ in range(rng.randint(1, 2)):
            text = mutate(text, rng) or "<"
        outcomes.add(attempt("<" + text.lstrip("<")))
    assert outcomes == {True, False}
