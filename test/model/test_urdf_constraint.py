"""``<constraint>`` and ``<loop_joint>`` in a URDF: what is driven, what is refused, and where."""

from __future__ import annotations

import numpy as np
import pytest
from support.fuzz import attempt, nasty_words, random_damage
from support.onshape import marker
from support.urdf_constraint import (
    BALL,
    DRAKE,
    GAZEBO,
    GAZEBO_UNIVERSAL,
    GAZEBO_WELD,
    HALVES,
    HINGE,
    ROBOTS,
    SLIDER,
    UNIVERSAL,
)
from support.urdf_plus import FLAT_LOOP

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import ModelError
from closed_loop_dynamics.model import read_description


@pytest.mark.parametrize(
    ("text", "driven"),
    [(HINGE, "motor"), (HALVES, "swing"), (UNIVERSAL, "motor"), (SLIDER, "motor")],
    ids=["hinge", "halves", "universal", "slider"],
)
def test_transmissions_and_ros2_control_say_what_is_driven(text, driven):
    robot = cld.load(text, prepare=())
    assert robot.names.actuator == robot.names.independent == (driven,)
    assumed = "actuators-assumed" in {finding.code for finding in robot.report().findings}
    assert assumed == (text is SLIDER)


@pytest.mark.parametrize(
    "text", [GAZEBO, GAZEBO_UNIVERSAL, GAZEBO_WELD], ids=["hinge", "universal", "weld"]
)
def test_gazebos_joints_are_closed_where_the_urdf_shows_them(text):
    robot = cld.load(text, prepare=())
    assert robot.m == 1 and np.max(np.abs(robot.state([0.0]).q)) <= 1e-12
    codes = {finding.code for finding in robot.report().findings}
    assert not codes & {"assembled", "cut-joint", "idle-spin"}


def test_gazebos_detachable_joint_welds_links_of_the_same_model():
    hinge, weld = (cld.load(text, prepare=()) for text in (GAZEBO, GAZEBO_WELD))
    q = dict(zip(weld.names.spanning, weld.state([0.3]).q, strict=True))
    same = [q[name] for name in hinge.names.spanning]
    assert np.allclose(same, hinge.state([0.3]).q, rtol=0.0, atol=1e-12)
    other = GAZEBO_WELD.replace("__model__", "box")  # it grasps another model: nothing closes here
    assert len(read_description(other).submechanisms) == 4


def test_what_a_cut_of_gazebos_has_no_place_for_is_named():
    for before, after in (
        ("-1e16", "-1"),
        ("<limit>", "<dynamics><damping>1</damping></dynamics><limit>"),
    ):
        remarks = read_description(GAZEBO.replace(before, after)).tree.remarks
        assert [r.code for r in remarks if r.severity == "warning"] == ["cut-joint"]


@pytest.mark.parametrize("text", [BALL, DRAKE], ids=["ball", "drake"])
def test_the_origins_of_a_ball_meet(text):
    robot = cld.load(text, prepare=())
    y = robot.random_independent(np.random.default_rng(2))
    ends = [robot.pose(link, y) @ [*at, 1.0] for link, at in
            (("rod", (0.45, 0.0, 0.0)), ("rocker", (0.0, 0.0, 0.3)))]  # fmt: skip
    np.testing.assert_allclose(*ends, atol=1e-10)


def test_fixed_frames_of_a_loop_joint_agree():
    head = HALVES[: HALVES.index("<constraint")]
    text = (
        f'{head}<loop_joint name="pin" type="fixed"><link1 link="rod" xyz="0.25 0 0"/>'
        '<link2 link="half" xyz="0.25 0.01 0" rpy="0 0 3"/></loop_joint></robot>'
    )
    robots = [cld.load(each, prepare=()) for each in (HALVES, text)]
    states = [robot.state(robot.random_independent(np.random.default_rng(3))).q for robot in robots]
    np.testing.assert_allclose(*states, atol=1e-12)


# text, before, after, place, problem, remedy
CASES = {
    "no name": (HINGE, ' name="pin"', "", "constraint (line", "no name", "name="),
    "no type": (HINGE, ' type="revolute_joint"', "", "constraint 'pin'", "no type", "type="),
    "type": (HINGE, "revolute_joint", "hinge", "constraint 'pin'", "'hinge'", "revolute"),
    "no parent": (HINGE, '<parent link="rod"/>', "", "constraint 'pin'", "no <parent>", "add"),
    "link": (HINGE, '<parent link="rod"/>', '<parent link="rd"/>', "pin'/parent", "'rd'", "'rod'"),
    "child": (HINGE, "parent_axis", "axis", "pin'/axis", "not part of a constraint", "child_axis"),
    "zero axis": (HINGE, '"0 2 0"', '"0 0 0"', "parent_axis", "zero axis", "xyz"),
    "number": (HINGE, '"0 2 0"', '"0 2 z"', "parent_axis", "'z' is not a number", "number"),
    "two axes": (HINGE, '<parent_axis xyz="0 2 0"/>',
                 '<parent_axis xyz="0 2 0"/><child_axis xyz="0 0 1"/>', "constraint 'pin'",
                 "child_axis of a revolute joint", "leave it out"),
    "Drake's link": (DRAKE, 'body_A name="rod"', 'body_A name="rd"', "ball_constraint", "'rd'",
                     "name two links"),
    "Drake's end": (DRAKE, '<drake:ball_constraint_body_B name="rocker"/>', "", "ball_constraint",
                    "no link ''", "body_A"),
    "Drake's word": (DRAKE, "ball_constraint_p_AP", "ball_constraint_AP", "ball_constraint",
                     "not known", "p_AP"),
    "Drake's number": (DRAKE, '"0.45 0 0"', '"0.45 0 nan"', "p_AP", "'nan'", "number"),
    "same body": (HINGE, '<child link="rocker"/><child_o', '<child link="rod"/><child_o',
                  "constraint 'pin'", "do not move", "joints"),
    "axis not known": (BALL, '"spherical"', '"revolute"', "loop_joint 'ball'", "axis is not",
                       "spherical"),
    "three links": (BALL, '<link1 link="rocker" xyz="0 0 0.3"/>', "", "loop_joint 'ball'",
                    "1 links", "link2"),
    "other words": (BALL, "<link1", "<parent_origin", "loop_joint 'ball'/parent_origin",
                    "not part of a loop_joint", "link1"),
    "Gazebo's type": (GAZEBO, '"pin" type="revolute"', '"pin" type="screw"',
                      "gazebo/joint 'pin'", "'screw'", "revolute"),
    "Gazebo's world": (GAZEBO, "<parent>rod</parent>", "<parent>world</parent>",
                       "gazebo/joint 'pin'", "no link 'world'", "'rod'"),
    "Gazebo's frame": (GAZEBO_UNIVERSAL, 'in="rocker"', 'in="rockr"', "gazebo/joint 'cross'",
                       "no link 'rockr'", "'rocker'"),
    "Gazebo's axis": (GAZEBO, "0 0 2", "0 0 0", "axis/xyz", "zero axis", "direction"),
    "same name": (GAZEBO, "</robot>", GAZEBO[GAZEBO.index("<gazebo>"):], "gazebo/joint 'pin'",
                  "second one", "another"),
    "markers": (GAZEBO, "</robot>", marker("closing_a_1", "rod", (0.0, 0.0, 0.0))
                + marker("closing_a_2", "rocker", (0.0, 0.0, 0.0)) + "</robot>",
                "robot", "closing_", "keep one"),
    "other dialect": (HINGE, "</robot>", '<drake_loop_constraint name="c"/></robot>',
                      "drake_loop_constraint", "open tree", "submechanism file"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_error_names_place_and_remedy(name):
    text, before, after, place, problem, remedy = CASES[name]
    head, found, tail = text.rpartition(before)
    assert found
    with pytest.raises(ModelError) as caught:
        read_description(f"{head}{after}{tail}")
    error = caught.value
    assert place in error.place and problem in error.problem and remedy in error.remedy, error


def test_two_ways_of_closing_loops_in_one_file_are_refused():
    loop = FLAT_LOOP[FLAT_LOOP.index("<loop ") :]
    assert not attempt(read_description, HINGE.replace("</robot>", f"{loop}</robot>"))


def test_every_attribute_replaced_by_nasty_texts():
    more = ("rod", "universal", "link", "0 1 0")
    assert nasty_words(read_description, UNIVERSAL, 8, more) == {True, False}


@pytest.mark.parametrize("seed", range(2))
def test_random_damage(seed):
    assert random_damage(read_description, [*ROBOTS.values()], seed, wounds=1) == {True, False}
