"""No joint of a submechanism file is free without a word: exoskeletons, lists that lack one."""

from __future__ import annotations

import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import SubmechanismError
from closed_loop_dynamics.model import read_submechanisms, read_urdf


def robot(*tags: str) -> str:
    """A chain shoulder, elbow, person_shoulder, person_elbow; ``tags`` go into the last two."""
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    inertial = f'<inertial><origin xyz="0.1 0 0"/><mass value="2"/>{inertia}</inertial>'
    parts, parent = [], "base"
    joints = ("shoulder", "elbow", "person_shoulder", "person_elbow")
    for name, tag in zip(joints, ("", "", *tags), strict=True):
        parts.append(
            f'<link name="{name}_link">{inertial}</link><joint name="{name}" type="continuous">'
            f'<parent link="{parent}"/><child link="{name}_link"/><origin xyz="0.3 0 0"/>'
            f'<axis xyz="0 1 0"/>{tag}</joint>'
        )
        parent = f"{name}_link"
    return f'<robot name="exo"><link name="base"/>{"".join(parts)}</robot>'


FREE = robot("", "")
TAGS = (
    '<mimic joint="shoulder" multiplier="-2" offset="0.1"/>',
    '<mimic joint="elbow" multiplier="0.5"/>',
)
ARM = """
submechanisms:
- {name: arm, type: RR, jointnames_spanningtree: [shoulder, elbow],
   jointnames_independent: [shoulder, elbow], jointnames_active: [shoulder, elbow]}
"""
WORN = """
exoskeletons:
- name: person
  around: arm
  file_path: person.urdf
  jointnames: [person_shoulder, person_elbow]
  jointnames_spanningtree: [person_shoulder, person_elbow]
  jointnames_dependent: [shoulder, elbow]
"""


def test_joints_of_an_exoskeleton_follow_by_the_mimic_tags_of_its_urdf(tmp_path):
    urdf, loops = tmp_path / "robot.urdf", tmp_path / "robot.yml"
    urdf.write_text(FREE)
    loops.write_text(ARM + WORN)
    (tmp_path / "person.urdf").write_text(robot(*TAGS))
    worn = cld.load(urdf, loops, prepare=())
    assert worn.names.independent == worn.names.actuator == ("shoulder", "elbow")
    q = dict(zip(worn.names.spanning, worn.state([0.3, 0.8]).q, strict=True))
    assert q["person_shoulder"] == pytest.approx(-0.5) and q["person_elbow"] == pytest.approx(0.4)
    # what the robot's own URDF says is the same robot
    other = cld.load(robot(*TAGS), ARM + WORN, prepare=())
    assert other.mass_matrix([0.3, 0.8]) == pytest.approx(worn.mass_matrix([0.3, 0.8]), rel=1e-14)


# submechanism file, URDF, place, problem, remedy
CASES = {
    "no mimic tag": (ARM + WORN, FREE, "exoskeletons[0].jointnames_spanningtree[0]",
                     "nothing says what joint 'person_shoulder' follows", "add one"),
    "only one": (ARM + WORN, robot(TAGS[0], ""), "exoskeletons[0].jointnames_spanningtree[1]",
                 "'person_elbow' follows", "search_path"),
    "another joint": (ARM + WORN.replace("[shoulder, elbow]", "[elbow]"), robot(*TAGS),
                      "exoskeletons[0].jointnames_spanningtree[0]",
                      "mimics 'shoulder', which is not in jointnames_dependent", "list it there"),
    "unknown": (ARM + WORN.replace("[shoulder, elbow]", "[sholder]"), FREE,
                "exoskeletons[0].jointnames_dependent[0]", "'sholder' is in no submechanism",
                "shoulder"),
    "in two": (ARM + WORN.replace("tree: [person_shoulder", "tree: [shoulder"), robot(*TAGS),
               "exoskeletons[0].jointnames_spanningtree[0]", "in two submechanisms", "one of them"),
    "no list": (ARM + "exoskeletons: [{name: person}]\n", FREE, "exoskeletons[0]",
                "has no 'jointnames_spanningtree'", "add it"),
    "left out": (ARM.replace("type: RR,", "type: RR, jointnames: [elbow, person_elbow],"), FREE,
                 "submechanisms[0].jointnames[1]", "joint 'person_elbow' moves", "list it there"),
    "left out of an exoskeleton": (ARM + WORN.replace("tree: [person_shoulder, ", "tree: ["),
                                   robot("", TAGS[1]), "exoskeletons[0].jointnames[0]",
                                   "joint 'person_shoulder' moves", "remove it here"),
    "a loop that is a chain": (ARM.replace("type: RR", "type: PARALLELOGRAM"), FREE,
                               "submechanisms[0].jointnames_independent",
                               "'parallelogram' closes a loop", "serial"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_would_be_free_is_refused_with_place_and_remedy(name):
    text, urdf, place, problem, remedy = CASES[name]
    with pytest.raises(SubmechanismError) as caught:
        read_submechanisms(text, read_urdf(urdf))
    error = caught.value
    assert (error.place, error.file) == (place, "<text>"), error
    assert problem in error.problem and remedy in error.remedy, error


def test_mimic_tags_that_differ_are_refused(tmp_path):
    loops = tmp_path / "robot.yml"
    loops.write_text(ARM + WORN)
    (tmp_path / "person.urdf").write_text(robot(*TAGS))
    with pytest.raises(SubmechanismError, match=r"'person_shoulder' in .*person\.urdf.* differ"):
        read_submechanisms(loops, read_urdf(robot(TAGS[0].replace("-2", "2"), "")))


def test_joints_in_no_submechanism_are_named():
    report = cld.load(FREE, ARM, prepare=()).report()
    (finding,) = [each for each in report.findings if each.code == "joints-assumed"]
    assert finding.severity == "info" and "person_shoulder, person_elbow" in finding.message
    assert not cld.load(FREE, prepare=()).report().findings  # a URDF alone is nothing else
