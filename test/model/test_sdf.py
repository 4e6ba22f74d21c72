"""SDF: what becomes of poses, axes, limits, friction, gearboxes, screws and loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.fuzz import nasty_words, random_damage
from support.sdf import FLYING, FOUR_BAR, SCREW, axis, joint, link, sdf

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import ModelError
from closed_loop_dynamics.model import read_description

FLOOR = '<model name="floor"><static>true</static><link name="l"/></model>'


def one_joint(more: str, version: str = "1.9", pose: str = "", kind: str = "revolute"):
    """The joint of an arm, and its remarks and entry."""
    text = sdf(
        link("base"),
        link("arm", "<pose>0.1 0 0 0 0 1.5707963267948966</pose>"),
        joint("ground", "fixed", "world", "base"),
        joint("hinge", kind, "base", "arm", more, pose),
        version=version,
    )
    description = read_description(text)
    return description.tree.bodies[0].joint, description


@pytest.mark.parametrize(
    ("version", "xyz", "more", "expected"),
    [
        ("1.9", "1 0 0", "", (1.0, 0.0, 0.0)),
        ("1.4", "1 0 0", "", (0.0, -1.0, 0.0)),  # in the model's frame then
        ("1.6", "1 0 0", "<use_parent_model_frame>1</use_parent_model_frame>", (0.0, -1.0, 0.0)),
        ("1.10", "3 0 0", "", (1.0, 0.0, 0.0)),
    ],
)
def test_axes_are_in_the_frame_that_the_version_says(version, xyz, more, expected):
    hinge, _ = one_joint(axis(xyz, more=more), version)
    np.testing.assert_allclose(hinge.axis, expected, atol=1e-15)


BOLTED = FOUR_BAR.replace("<parent>rod<", "<parent>bolt<").replace(
    "</model>",
    link("bolt", '<pose relative_to="rod">0.4 0.1 0 0 0 0</pose>', mass=0.01)
    + '<plugin filename="gz-sim-detachable-joint-system" name="gz::sim::systems::DetachableJoint">'
    "<parent_link>rod</parent_link><child_model>m</child_model><child_link>bolt</child_link>"
    "</plugin></model>",
)


def test_detachable_joints_between_links_of_the_model_close_its_loops():
    pinned, bolted = (cld.load(text, prepare=()) for text in (FOUR_BAR, BOLTED))
    assert bolted.names.independent == pinned.names.independent
    q = dict(zip(bolted.names.spanning, bolted.state([0.3]).q, strict=True))
    same = [q[name] for name in pinned.names.spanning]
    assert np.allclose(same, pinned.state([0.3]).q, rtol=0.0, atol=1e-12)
    other = BOLTED.replace("<child_model>m<", "<child_model>box<")
    remarks = read_description(other).tree.remarks
    assert [each.code for each in remarks if each.severity == "warning"] == ["unread-loop"]


def test_limits_friction_and_springs():
    limits = "<lower>-0.5</lower><upper>1e16</upper><effort>7</effort><velocity>-1</velocity>"
    forces = "<damping>0.3</damping><friction>0.2</friction><spring_stiffness>4</spring_stiffness>"
    forces += "<spring_reference>0.7</spring_reference>"
    hinge, description = one_joint(
        axis("0 0 1", more=f"<limit>{limits}</limit><dynamics>{forces}</dynamics>")
    )
    assert (hinge.lower, hinge.upper, hinge.effort, hinge.velocity) == (-0.5, math.inf, 7, math.inf)
    model = description.submechanisms[0].actuators["hinge"]
    assert (model.viscous_friction, model.coulomb_friction) == (0.3, 0.2)
    codes = {remark.code: remark.message for remark in description.tree.remarks}
    assert "actuators-assumed" in codes
    (spring,) = description.tree.springs
    assert (spring.joint, spring.stiffness, spring.rest) == ("hinge", 4.0, 0.7)


def test_before_1_7_a_joint_may_be_called_as_a_link_is():
    text = sdf(link("frame"), link("wheel", "<pose>0 0 0.3 0 0 0</pose>"),
               joint("wheel", "revolute", "frame", "wheel", axis("0 1 0")))  # fmt: skip
    with pytest.raises(ModelError, match="a second 'wheel'"):
        read_description(text)
    old = text.replace('version="1.9"', 'version="1.6"')
    assert old != text
    tree = read_description(old).tree
    assert tree.joint_names == ("floating_base", "wheel") and tree.bodies[1].link == "wheel"
    assert tree.bodies[1].joint.placement[2, 3] == 0.3


def test_what_a_link_does_not_say_is_one_kilogram():
    text = sdf('<link name="base"/>', link("arm"), joint("hinge", "revolute", "arm", "base"),
               joint("ground", "fixed", "world", "arm"))  # fmt: skip
    body = read_description(text).tree.bodies[0]
    assert body.mass == 1.0 and np.array_equal(body.inertia, np.eye(3))


@pytest.mark.parametrize(
    ("pitch", "lead"),
    [
        ("<screw_thread_pitch>0.3</screw_thread_pitch>", 0.3 / (2 * math.pi)),
        ("<thread_pitch>8</thread_pitch>", -1.0 / 8.0),
        ("", 1.0 / (2 * math.pi)),
    ],
)
def test_screws_old_and_new(pitch, lead):
    _, description = one_joint(pitch + axis("0 0 1"), kind="screw")
    slide = description.tree.bodies[1].joint
    assert slide.kind == "prismatic" and slide.mimic == ("hinge", lead, 0.0)


def test_a_joint_that_is_walked_from_its_child_means_the_same():
    """A pendulum from the world, its joint written both ways round."""
    pose = '<pose relative_to="base">0.1 0.2 0 0.3 0 0</pose>'
    parts = (
        link("base", "<pose>0.3 0 0.1 0 0.4 0</pose>"),
        link("arm", "<pose>0 0.5 0 0 0 0.2</pose>"),
    )
    ground = joint("ground", "fixed", "world", "base")
    ways = (("base", "arm", "0 1 0.5"), ("arm", "base", "0 -1 -0.5"))
    robots = [
        cld.load(sdf(*parts, ground, joint("hinge", "revolute", a, b, axis(xyz), pose)), prepare=())
        for a, b, xyz in ways
    ]
    for y in ([0.4], [-1.2]):
        np.testing.assert_allclose(*(robot.pose("arm", y) for robot in robots), atol=1e-14)
        found = [robot.generalized_forces(y, [0.7], [0.2]) for robot in robots]
        np.testing.assert_allclose(*found, rtol=1e-12)
    # The same words, read the other way round, are the opposite motion.
    hinge = joint("hinge", "revolute", "arm", "base", axis("0 1 0.5"), pose)
    same = cld.load(sdf(*parts, ground, hinge), prepare=())
    np.testing.assert_allclose(same.pose("arm", [-0.4]), robots[0].pose("arm", [0.4]), atol=1e-14)


def test_a_model_that_nothing_holds_floats_unless_it_is_told_not_to():
    assert read_description(FLYING).tree.joint_names[0] == "floating_base"
    assert "floating_base" not in read_description(FLYING, floating_base=False).tree.joint_names
    with pytest.raises(ModelError, match="cannot float"):
        read_description(FOUR_BAR, floating_base=True)


def test_an_effort_limit_of_zero_drives_nothing():
    entries = read_description(SCREW).submechanisms
    assert {name for entry in entries for name in entry.active} == {"motor", "spindle"}
    assert "actuators-assumed" not in {r.code for r in read_description(SCREW).tree.remarks}


def test_mimic_of_sdf_and_of_drake():
    follower = joint("far", "revolute", "arm", "tip", axis("0 0 1", more=(
        '<mimic joint="near"><multiplier>2</multiplier><offset>0.5</offset>'
        "<reference>0.1</reference></mimic>")))  # fmt: skip
    drakes = joint("far", "revolute", "arm", "tip", axis("0 0 1") +
                   '<drake:mimic joint="near" multiplier="2" offset="0.3"/>')  # fmt: skip
    for last in (follower, drakes):
        near = joint("near", "revolute", "world", "arm", axis("0 0 1"))
        text = sdf(link("arm"), link("tip"), near, last)
        (entry,) = read_description(text).submechanisms
        assert entry.independent == ("near",) and entry.couplings[0].terms == {"near": 2.0}
        assert entry.couplings[0].offset == pytest.approx(0.3)


def test_drakes_ball_constraint_closes_a_loop_and_its_rotor_weighs():
    text = FLYING
    start, end = text.index('<joint name="ball"'), text.index("</model>\n</sdf>")
    ball = (
        "<drake:ball_constraint><drake:ball_constraint_body_A>rod</drake:ball_constraint_body_A>"
        "<drake:ball_constraint_p_AP>0.4 0 0</drake:ball_constraint_p_AP>"
        "<drake:ball_constraint_body_B>leg::rocker</drake:ball_constraint_body_B>"
        "<drake:ball_constraint_p_BQ>{point}</drake:ball_constraint_p_BQ></drake:ball_constraint>"
    )
    written = read_description(text)
    (loop,) = (loop for entry in written.submechanisms for loop in entry.loops)
    point = " ".join(map(repr, loop.successor_frame[:3, 3].tolist()))
    rotor = "<drake:rotor_inertia>0.002</drake:rotor_inertia><drake:gear_ratio>6</drake:gear_ratio>"
    text = text[:start] + ball.format(point=point) + text[end:]
    text = text.replace("<child>crank</child>", f"<child>crank</child>{rotor}")
    description = read_description(text)
    (other,) = (loop for entry in description.submechanisms for loop in entry.loops)
    np.testing.assert_allclose(other.successor_frame[:3, 3], loop.successor_frame[:3, 3])
    entry = next(entry for entry in description.submechanisms if "motor" in entry.spanning)
    assert entry.actuators["motor"].reflected_inertia == pytest.approx(36 * 0.002)


def test_drakes_weld_constraint_makes_two_links_one():
    joints = [joint(f"{to}_joint", "revolute", "world", to, axis("0 0 1")) for to in ("a", "b")]
    weld = "<drake:weld_constraint><parent>a</parent><child>b</child></drake:weld_constraint>"
    robot = cld.load(sdf(link("a"), link("b"), *joints, weld), prepare=())
    assert robot.m == 1
    np.testing.assert_allclose(robot.state([0.3]).q, [0.3, 0.3], atol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        FOUR_BAR.replace("<pose>0 0 0.4 0 0 0.2</pose>",
                         '<pose degrees="true">0 0 0.4 0 0 11.459155902616466</pose>'),
        FOUR_BAR.replace("<pose>0 0 0.4 0 0 0.2</pose>",
                         f'<pose rotation_format="quat_xyzw">0 0 0.4 0 0 {math.sin(0.1)!r} '
                         f"{math.cos(0.1)!r}</pose>"),
        FOUR_BAR.replace('<model name="m">', '<world name="w"><model name="m">').replace(
            "</sdf>", f"{FLOOR}</world></sdf>"),
    ],
    ids=["degrees", "quaternion", "world"],
)  # fmt: skip
def test_other_words_for_the_same_robot(text):
    poses = [body.joint.placement for body in read_description(FOUR_BAR).tree.bodies]
    for pose, body in zip(poses, read_description(text).tree.bodies, strict=True):
        np.testing.assert_allclose(body.joint.placement, pose, atol=1e-14)


# text, before, after, place, problem
CASES = {
    "type": (FOUR_BAR, '"continuous"', '"hinge"', "joint 'swing'", "type 'hinge'"),
    "parent": (FOUR_BAR, "<parent>crank<", "<parent>crnk<", "joint 'rod_joint'", "no 'crnk'"),
    "frame": (FOUR_BAR, 'relative_to="ground"', 'relative_to="grund"', "link 'rocker'", "'grund'"),
    "axis frame": (FOUR_BAR, 'expressed_in="ground"', 'expressed_in="x"', "rod_joint", "no 'x'"),
    "circle": (FOUR_BAR, '<frame name="ground"><pose>', '<frame name="ground"><pose relative_to='
               '"rocker">', "", "in a circle"),
    "number": (FOUR_BAR, "0.5 0.1 0 0 0 0.4", "0.5 0.1 0 0 0 a", "ground'/pose", "'a' is not"),
    "count": (FOUR_BAR, "0.5 0.1 0 0 0 0.4", "0.5 0.1 0 0 0", "ground'/pose", "5 numbers"),
    "zero axis": (FOUR_BAR, "<xyz>0 0 1<", "<xyz>0 0 0<", "axis/xyz", "zero axis"),
    "loose": (FOUR_BAR, "</model>", '<link name="bolt"/></model>', "link 'bolt'", "no joint"),
    "include": (FOUR_BAR, "</model>", "<include><uri>x</uri></include></model>", "include",
                "'x' is not found"),
    "static": (FOUR_BAR, "<frame", "<static>true</static><frame", "sdf", "0 models"),
    "own parent": (FOUR_BAR, "<parent>crank<", "<parent>rod<", "rod_joint", "own parent"),
    "second name": (FOUR_BAR, 'link name="rocker"', 'link name="rod"', "link 'rod'", "a second"),
    "reserved": (FOUR_BAR, 'frame name="ground"', 'frame name="__x__"', "frame", "name '__x__'"),
    "gear far": (SCREW, "body>base<", "body>nut<", "joint 'gears'", "not one hinge"),
    "gear axis": (SCREW, '<axis2><xyz expressed_in="__model__">1 0 0', "<axis2><xyz>0 1 0",
                  "joint 'gears'", "not that of 'spin'"),
    "auto inertia": (FOUR_BAR, "<inertial>", '<inertial auto="true">', "inertial", "auto"),
    "negative mass": (FOUR_BAR, "<mass>1.5", "<mass>-1.5", "inertial", "negative"),
    "other loop": (FOUR_BAR, "</model>", "<drake:tendon_constraint/></model>", "tendon_constraint",
                   "open tree"),
    "weld": (FOUR_BAR, "</model>", "<drake:weld_constraint/></model>", "weld_constraint",
             "no link ''"),
    "version": (FOUR_BAR, 'version="1.9"', 'version="2.0"', "sdf", "version '2.0'"),
    "limits": (FOUR_BAR, "</xyz></axis>", "</xyz><limit><lower>1</lower><upper>0</upper></limit>"
               "</axis>", "limit", "above"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_error_names_place_and_problem(name):
    text, before, after, place, problem = CASES[name]
    assert before in text
    with pytest.raises(ModelError) as caught:
        read_description(text.replace(before, after, 1))
    error = caught.value
    assert place in error.place and problem in error.problem and error.remedy, error


def test_a_second_file_is_refused():
    with pytest.raises(ModelError, match="says itself"):
        read_description(FOUR_BAR, "submechanisms: []\n")


def test_every_word_replaced_by_nasty_texts():
    assert nasty_words(read_description, SCREW, 4, ("world", "rod", "__model__")) == {True, False}


@pytest.mark.parametrize("seed", range(2))
def test_random_damage(seed):
    texts = (FOUR_BAR, SCREW, FLYING)
    assert random_damage(read_description, texts, seed, wounds=1) == {True, False}
