"""Every way to break an MJCF ends in an error that names the place; nothing else escapes."""

from __future__ import annotations

import pytest
from support.fuzz import nasty_words, random_damage
from support.mjcf import CURVED, FLYING, FOUR_BAR, GEARED, TENDONS, bar, robot

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import MjcfError, SubmechanismError
from closed_loop_dynamics.model import read_description

LOOSE = '<body name="ball"><freejoint name="loose"/><geom size="0.1 0.1"/></body>'
# text, place, problem
CASES = {
    "huge curve": (CURVED.replace("0.1 -0.5 0.3", "0.1 -0.5 1e200"), "equality 0", "too large"),
    "same body": (FOUR_BAR.replace('body2="rocker"', 'body2="rod"'), "", "MuJoCo's compiler"),
    "held base": (FLYING.replace('body2="wrist"', 'body2="world"'), "equality 0", "floating base"),
    "unknown": (FOUR_BAR.replace('body2="rocker"', 'body2="roker"'), "", "roker"),
    "ball armature": (FLYING.replace('type="ball"', 'type="ball" armature="1"'), "joint 'ball'",
                      "armature"),
    "many": (robot(f'<replicate count="3">{LOOSE}</replicate>'), "replicate", "<replicate>"),
    "tendons": (robot(bar("arm", 0.3, "0 0 0") + bar("leg", 0.3, "1 0 0"),
                      '<tendon tendon1="t" tendon2="s" polycoef="0 1 2 0 0"/>', "",
                      '<tendon><fixed name="t"><joint joint="arm_joint" coef="1"/></fixed>'
                      '<fixed name="s"><joint joint="leg_joint" coef="1"/></fixed>'
                      "</tendon>"), "equality 0", "tendons"),
    "a rod without mass": (TENDONS.replace('"0.2 0.1 0"', '"0.2 0.1 0.01"'), "equality 0",
                           "universal joint"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_error_names_the_place_and_the_problem(name):
    text, place, problem = CASES[name]
    with pytest.raises(MjcfError) as caught:
        read_description(text)
    error = caught.value
    assert place in error.place and problem in error.problem and error.remedy, error


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        (GEARED.replace("0.1 -2.5 0 0 0", "0.1 -2.5 0 1 0"), "equality 1", "in a loop"),
        (CURVED.replace('joint2="first_joint"', 'joint2="third_joint"'), "equality", "circle"),
        (
            CURVED.replace('joint1="third_joint"', 'joint1="sled_joint"'),
            "equality",
            "two couplings",
        ),
    ],
    ids=["in a loop", "circle", "two couplings"],
)
def test_curves_that_cannot_be_followed(text, place, problem):
    with pytest.raises(SubmechanismError) as caught:
        read_description(text)
    assert place in caught.value.place and problem in caught.value.problem


def test_a_second_file_or_a_floating_base_is_refused():
    for more in ({"submechanisms": "submechanisms: []\n"}, {"floating_base": True}):
        with pytest.raises(MjcfError, match="says itself"):
            read_description(FOUR_BAR, **more)


def test_every_attribute_replaced_by_nasty_texts():
    assert nasty_words(read_description, GEARED, 6) == {True, False}


@pytest.mark.parametrize("seed", range(2))
def test_random_damage(seed):
    outcomes = random_damage(read_description, (FOUR_BAR, GEARED, FLYING, CURVED), seed, wounds=2)
    assert outcomes == {True, False}


def test_a_loop_that_is_stretched_is_locked_and_not_free() -> None:
    """To first order its ends still move across; without the row along it they would come apart."""
    axes = {"first": "0 0 1", "second": "0 1 0.2", "third": "0.3 1 0"}

    def arm(side: str, at: str) -> str:
        hinges = {k: f'<joint name="{side}_{k}" axis="{axis}"/>' for k, axis in axes.items()}
        tip = f'<site name="{side}_tip" pos="0.2 0 0"/>'
        hand = bar(f"{side}_c", 0.2, "0.3 0 0", tip, hinges["third"])
        forearm = bar(f"{side}_b", 0.3, "0.3 0 0", hand, hinges["second"])
        return bar(f"{side}_a", 0.3, at, forearm, hinges["first"])

    arms = arm("left", "0 0 0") + arm("right", '1.6 0 0" quat="0 0 0 1')
    text = robot(arms, '<connect site1="left_tip" site2="right_tip"/>')
    with pytest.raises(SubmechanismError, match="locked at its reference"):
        cld.load(text, prepare=())
