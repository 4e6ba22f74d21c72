"""Nothing in a URDF that may move or brake the robot is dropped without a word."""

from __future__ import annotations

import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.model import read_description

BODY = """
  <link name="base"/>
  <link name="arm">{link}<inertial>{inertial}<mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="tip"><inertial><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="swing" type="continuous" {attribute}>
    <parent link="base"/><child link="arm"/><axis xyz="1 0 0"/>{joint}</joint>
  <joint name="bend" type="continuous"><parent link="arm"/><child link="tip"/><axis xyz="1 0 0"/>\
</joint>
"""
FILE = """submechanisms:
- {name: arm, jointnames_spanningtree: [swing, bend], jointnames_independent: [swing, bend]}
"""


def urdf(robot="", **inside):
    parts = dict.fromkeys(("inertial", "link", "attribute", "joint"), "") | inside
    return f'<robot name="r" xmlns:other="urn:x">{BODY.format(**parts)}{robot}</robot>'


def remarks(text, file=None):
    return {r.code: r.message for r in read_description(text, file).tree.remarks}


#: Ways in which public files close loops that this package does not read.
CLOSING = {
    "Drake": '<other:tendon_constraint><other:a value="x"/></other:tendon_constraint>',
    "bushing": '<other:linear_bushing_rpy><other:a name="x"/></other:linear_bushing_rpy>',
    "two links": '<spring><from where="base"/><to>tip</to></spring>',
    "gear": '<gearbox name="g"/>',
}


@pytest.mark.parametrize("name", CLOSING)
def test_a_loop_in_words_that_are_not_known_is_refused(name):
    with pytest.raises(cld.UrdfError, match=r"\(line 10\).*open tree.*submechanism file"):
        read_description(urdf(CLOSING[name]))


@pytest.mark.parametrize("name", CLOSING)
def test_with_a_submechanism_file_it_is_named(name):
    assert "(line 10) is not read" in remarks(urdf(CLOSING[name]), FILE)["unread-loop"]


@pytest.mark.parametrize(
    "decoration",
    [
        '<gazebo reference="arm"><mu1>0.2</mu1></gazebo>',
        '<gazebo><joint name="c"><parent>world</parent><child>base</child></joint></gazebo>',
        '<material name="red"/><transmission name="t"><joint name="swing"/></transmission>',
        '<ros2_control name="s" type="system"><joint name="swing"/></ros2_control>',
        '<disable_collisions link1="arm" link2="tip" reason="Adjacent"/>',
    ],
)
def test_what_moves_nothing_is_left_alone(decoration):
    link = "<visual/><collision/>"
    joint = '<dynamics damping="0" friction="0.0"/><calibration rising="0"/>'
    assert remarks(urdf(decoration, link=link, joint=joint)) == {}


@pytest.mark.parametrize(
    ("inside", "place"),
    [
        ({"robot": "<tendon/>"}, "tendon (line 10)"),
        ({"link": "<added_mass/>"}, "link 'arm'/added_mass"),
        ({"inertial": "<com/>"}, "link 'arm'/inertial/com"),
        ({"joint": "<spring k='1'/>"}, "joint 'swing'/spring"),
    ],
)
def test_elements_that_are_not_known_are_named(inside, place):
    message = remarks(urdf(**inside))["unread-element"]
    assert "is not read" in message and place in message


def test_attributes_of_joints_that_are_not_known_are_named():
    message = remarks(urdf(attribute='stiffness="3"'))["unread-attribute"]
    assert "stiffness=\"3\" is not read: joint 'swing'" in message


@pytest.mark.parametrize("tag", ["dynamics", "joint_properties"])
@pytest.mark.parametrize("what", ['damping="0.1"', 'friction="1"', 'damping="?"'])
def test_friction_is_named_with_the_remedy(tag, what):
    message = remarks(urdf(joint=f"<{tag} {what}/>"))["unread-friction"]
    assert "'swing'" in message and "joint_friction" in message and "viscous_friction" in message


def test_friction_that_the_submechanism_file_gives_needs_no_remark():
    text = urdf(joint='<dynamics damping="0.1"/>')
    given = FILE.replace("]}\n", "], joint_friction: {swing: {viscous_friction: 0.1}}}\n")
    assert "unread-friction" in remarks(text, FILE)
    assert "unread-friction" not in remarks(text, given)


def test_a_transmission_that_nobody_asks_for_is_named():
    text = urdf(
        '<transmission name="t"><type>MultiJointLinearTransmission</type><joint name="bend">'
        '<depends_on joint="swing" multiplier="{ratio}"/></joint></transmission>'
    )
    assert "'bend' is not used" in remarks(text.replace("{ratio}", "2"))["unread-transmission"]
    assert "not a number" in remarks(text.replace("{ratio}", "two"))["unread-transmission"]


def test_the_report_has_them_as_warnings():
    report = cld.load(urdf(joint='<dynamics damping="0.1"/>')).report()
    assert [f.code for f in report.warnings] == ["unread-friction"]
    assert "unread-friction" in str(report)


def test_dependent_joints_without_anything_that_determines_them_are_refused():
    with pytest.raises(cld.UrdfError, match=r"joint 'swing' \(line 7\).*no <coupling> determines"):
        read_description(urdf(attribute='independent="false"'))
