"""What is read of Onshape exports: markers, motors, joints of another type, idle rods."""

from __future__ import annotations

import numpy as np
import pytest
from support.onshape import (
    CLOSING,
    FOUR_BAR,
    FOUR_BAR_YAML,
    HINGED_ROD,
    HINGED_ROD_YAML,
    ROD,
    marker,
    rod_yaml,
)
from support.published import ZOO, needs_zoo

import closed_loop_dynamics as cld


def codes(robot):
    return {finding.code: finding.message for finding in robot.report().findings}


def test_motors_are_independent_and_what_no_file_drives_is_not_driven():
    robot = cld.load(FOUR_BAR, FOUR_BAR_YAML)
    assert robot.names.independent == ("motor", "loose") and robot.names.actuator == ("motor",)
    found = codes(robot)
    assert "underactuated" in found and "idle-spin" not in found
    assert "gaps at q = 0: pin ~ closedloop1_B 100.0 mm, 22.9°" in found["assembled"]


def test_a_joint_may_be_a_marker_its_frame_moves_with_it():
    robot = cld.load(FOUR_BAR, FOUR_BAR_YAML)
    y = [0.3, 0.0]
    one, other = (robot.pose(name, y) for name in ("pin", "closedloop1_B"))
    assert np.allclose(one, other, atol=1e-9)


def test_a_rod_between_balls_spins_idly_one_hinge_is_held_and_named():
    robot = cld.load(ROD, rod_yaml("SPHERICAL"))
    assert robot.names.independent == robot.names.actuator == ("motor",)
    message = codes(robot)["idle-spin"]
    held = message.rpartition(": ")[2]
    assert held in ("rod_joint_X", "rod_joint_Y", "rod_joint_Z")
    q = robot.names.spanning.index(held)
    assert robot.state([0.0]).q[q] == pytest.approx(robot.state([0.4]).q[q], abs=1e-12)


def test_a_rod_spins_idly_although_specks_between_its_hinges_move_with_it():
    robot = cld.load(HINGED_ROD, HINGED_ROD_YAML)
    assert robot.names.independent == robot.names.actuator == ("motor",)
    assert codes(robot)["idle-spin"].rpartition(": ")[2] in ("rod_x", "rod_y", "rod_z")


def test_a_universal_joint_has_the_axes_of_its_name_and_nothing_spins():
    robot = cld.load(ROD, rod_yaml("UJOINT_YZ"))
    assert {"rod_joint_Y", "rod_joint_Z"} < set(robot.names.spanning)
    assert "rod_joint_X" not in robot.names.spanning and "lid_joint" not in robot.names.spanning
    assert "idle-spin" not in codes(robot)


def test_motors_that_the_mobility_does_not_allow_are_driven_but_dependent():
    robot = cld.load(FOUR_BAR, FOUR_BAR_YAML.replace("['motor']", "[motor, free_rocker, loose]"))
    assert robot.m == 2 and robot.p == 3
    assert {"motor", "free_rocker", "loose"} > set(robot.names.independent)


def test_a_missing_motor_leaves_a_motion_that_nothing_drives():
    robot = cld.load(FOUR_BAR, FOUR_BAR_YAML.replace("['motor']", "[loose]"))
    assert robot.m == 2 and robot.names.actuator == ("loose",)
    assert "underactuated" in codes(robot)


def test_closing_links_are_hinges_with_a_second_pair_and_balls_without():
    robot = cld.load(CLOSING)
    assert robot.names.independent == robot.names.actuator and robot.m == 1
    assert "actuators-assumed" in codes(robot) and "closure-assumed" not in codes(robot)
    (hinge,) = (entry for entry in robot.mechanism.entries if entry.loops)
    assert len(hinge.loops[0].axes) == 5
    bare = CLOSING.replace("pin_1_z", "one").replace("pin_2_z", "two")
    assert "closing_pin_1" in codes(cld.load(bare))["closure-assumed"]


def test_markers_without_their_file_are_no_open_tree():
    with pytest.raises(cld.UrdfError, match=r"line \d+\).*marker closes a loop.*robot.yaml"):
        cld.load(FOUR_BAR)


def test_markers_that_cannot_meet_are_an_error_in_millimetres_and_degrees():
    with pytest.raises(
        cld.SubmechanismError,
        match=r"closed_loop\[0\].*does not close.*pin ~ closedloop1_B 2100\.0 mm, 22\.9°.*"
        r"least gaps reached: pin ~ closedloop1_B \d+\.\d mm",
    ):
        cld.load(FOUR_BAR.replace('xyz="0.3 0.0 0.0"', 'xyz="2.3 0.0 0.0"'), FOUR_BAR_YAML)


def test_of_several_loops_the_one_that_cannot_close_alone_is_named():
    """A second pair of markers: the rod's is further away than crank and rocker reach."""
    more = marker("far_A", "rod", (9.0, 0.0, 0.0)) + marker("far_B", "rocker", (0.1, 0.0, 0.0))
    text = FOUR_BAR.replace("</robot>", f"{more}</robot>")
    file = FOUR_BAR_YAML.replace("]]", "], [far_A, far_B]]").replace("'6D'", "'6D', '3D'")
    with pytest.raises(
        cld.SubmechanismError, match=r"with all other loops open still far_A ~ far_B \d+\.\d mm"
    ):
        cld.load(text, file)


def test_a_floating_base_carries_it_all():
    robot = cld.load(FOUR_BAR, FOUR_BAR_YAML, floating_base=True)
    assert robot.m == 8 and robot.names.actuator == ("motor",)


@needs_zoo
def test_the_published_files_load_as_they_are():
    five_bar, digit = (
        cld.load(ZOO / name / "robot.urdf", ZOO / name / "robot.yaml", prepare=())
        for name in ("onshape_5bar", "onshape_digit_like")
    )
    assert five_bar.names.independent == five_bar.names.actuator == ("mot1", "mot2")
    motors = {"motor_hip_x", "motor_hip_y", "motor_hip_z", "motor_knee"}
    assert set(digit.names.independent) == motors | {"motor_shin1", "motor_shin2"}
    assert five_bar.report().ok and digit.report().ok
    assert len(codes(digit)["idle-spin"].split(", ")) >= 2
