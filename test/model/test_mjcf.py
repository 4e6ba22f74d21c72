"""What is read of an MJCF: equalities, actuators, joints, and what is named because it is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mjcf import FLYING, FOUR_BAR, GEARED, bar, robot
from support.published import ZOO, needs_zoo

import closed_loop_dynamics as cld
from closed_loop_dynamics.model import read_description


def codes(loaded):
    return {finding.code: finding.message for finding in loaded.report().findings}


def remarks(text):
    return {remark.code: remark.message for remark in read_description(text).tree.remarks}


def test_joint_positions_are_mujocos_and_the_loop_starts_at_ref():
    loaded = cld.load(FOUR_BAR, prepare=())
    assert loaded.names.independent == loaded.names.actuator == ("crank_joint",)
    q = dict(zip(loaded.names.spanning, loaded.state([0.2]).q, strict=True))
    assert q == pytest.approx({"crank_joint": 0.2, "rod_joint": 0.0, "rocker_joint": 0.0})
    assert "assembled" not in codes(loaded)


def test_looks_do_not_matter_of_sites_and_tendons_either():
    more = (
        '<asset><material name="blue"/></asset><tendon><spatial material="blue"><site site="tip"/>'
    )
    more += '<site site="root"/></spatial></tendon>'
    text = FOUR_BAR.replace("<worldbody>", f'{more}<worldbody><site name="root" material="blue"/>')
    assert read_description(text).tree.joint_names == read_description(FOUR_BAR).tree.joint_names


def test_a_joint_equality_is_a_coupling_about_the_refs():
    (entry, *_) = read_description(GEARED).submechanisms
    (coupling,) = entry.couplings
    assert (coupling.joint, coupling.terms) == ("right_joint", {"left_joint": -2.5})
    assert coupling.offset == pytest.approx(-0.3 + 0.1)


def test_the_driven_one_of_two_coupled_joints_is_independent():
    both = bar("one", 0.3, "0 0 0") + bar("two", 0.3, "0 1 0")
    text = robot(
        both,
        '<joint joint1="one_joint" joint2="two_joint" polycoef="0.2 -4 0 0 0"/>',
        '<motor joint="one_joint"/>',
    )
    loaded = cld.load(text, prepare=())
    assert loaded.names.independent == loaded.names.actuator == ("one_joint",)
    q = dict(zip(loaded.names.spanning, loaded.state([1.0]).q, strict=True))
    assert q["two_joint"] == pytest.approx((1.0 - 0.2) / -4.0)


def test_a_body_with_an_offset_joint_keeps_its_own_frame():
    loaded = cld.load(GEARED, prepare=())
    y = loaded.mechanism.neutral_y()
    q = dict(zip(loaded.names.spanning, loaded.state(y).q, strict=True))
    R = Rotation.from_rotvec(np.array([0.0, 1.0, 1.0]) / np.sqrt(2.0) * (q["right_joint"] + 0.3))
    anchor = np.array([0.1, 0.0, 0.0])
    expected = np.array([0.6, 0.0, 0.1]) + anchor - R.apply(anchor)
    assert loaded.pose("right", y)[:3, 3] == pytest.approx(expected)


def test_free_joint_ball_and_two_joints_in_one_body():
    description = read_description(FLYING)
    names = description.tree.joint_names
    assert names[:3] == ("flight", "hip", "yaw") and {"ball_X", "ball_Y", "ball_Z"} < set(names)
    assert "ball_X, ball_Y, ball_Z" in remarks(FLYING)["ball-as-hinges"]


def test_without_actuators_the_independent_joints_are_driven_and_the_report_says_so():
    text = FOUR_BAR.replace('<motor joint="crank_joint" gear="7"/>', "")
    loaded = cld.load(text, prepare=())
    assert loaded.names.independent == loaded.names.actuator
    assert "actuators-assumed" in codes(loaded)


NAMED = {
    "unread-spring": ('name="rod_joint"', 'name="rod_joint" stiffness="3 1"', "'rod_joint'"),
    "unread-actuator": ("</actuator>", '<motor name="wind" site="tip"/></actuator>', "'wind'"),
    "unread-gravity": ("<default>", '<option gravity="0 0 -1.6"/><default>', "(0, 0, -1.6)"),
    "unread-force": ('name="rod"', 'name="rod" gravcomp="1"', "gravcomp of 'rod'"),
    "inactive-equality": ('name="pin"', 'name="pin" active="false"', "'pin'"),
    "unread-tendon": ("<equality>", '<tendon><fixed name="t" stiffness="2"><joint coef="1" '
                      'joint="rod_joint"/></fixed></tendon><equality>', "'t'"),
}  # fmt: skip


@pytest.mark.parametrize("code", NAMED)
def test_what_is_not_used_is_named(code):
    before, after, words = NAMED[code]
    assert before in FOUR_BAR
    assert words in remarks(FOUR_BAR.replace(before, after, 1))[code]


def test_a_missing_mesh_is_named_where_it_was_to_weigh():
    mesh = '<asset><mesh name="shell" file="shell.stl"/></asset>'
    text = robot(bar("arm", 0.3, "0 0 0", '<geom type="mesh" mesh="shell"/>'), more=mesh)
    assert "arm" in remarks(text)["missing-mesh"]


def test_a_mesh_that_git_did_not_fetch_is_missing_and_its_contacts_do_not_matter(tmp_path):
    (tmp_path / "shell.stl").write_text("version https://git-lfs.github.com/spec/v1\nsize 9\n")
    mesh = '<asset><mesh name="shell" file="shell.stl"/></asset>'
    pair = '<contact><pair geom1="shell" geom2="ball"/></contact>'
    geoms = (
        '<geom name="shell" type="mesh" mesh="shell"/><geom name="ball" type="sphere" size="0.1"/>'
    )
    path = tmp_path / "robot.xml"
    path.write_text(robot(bar("arm", 0.3, "0 0 0", geoms), more=mesh + pair))
    found = {r.code: r.message for r in read_description(path).tree.remarks}
    assert "arm" in found["missing-mesh"]


@needs_zoo
def test_the_published_gripper_loads_as_it_is():
    loaded = cld.load(ZOO / "mjcf_gripper" / "2f85.xml", prepare=())
    assert (loaded.n, loaded.m, loaded.p) == (8, 3, 1)
    assert loaded.names.actuator == ("right_driver_joint",)
    found = codes(loaded)
    assert {"missing-mesh", "tendon-as-joint", "underactuated"} <= set(found)
    assert not {"assembled", "unread-spring"} & set(found)
    springs = {(spring.joint, spring.rest) for spring in loaded.mechanism.tree.springs}
    assert springs == {("right_spring_link_joint", 2.62), ("left_spring_link_joint", 2.62)}
