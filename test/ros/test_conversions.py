"""Messages to arrays and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from closed_loop_dynamics.errors import InvalidInput
from closed_loop_dynamics.motion.trajectory import Points, TrajectoryRefused, cycloidal
from closed_loop_dynamics.ros import conversions as c
from closed_loop_dynamics.ros.trajectory_publisher import there_and_back

pytestmark = pytest.mark.ros
NAMES = ("hip", "knee", "ankle")
KNOWN = (*NAMES, "crank")


def trajectory(names: tuple[str, ...] = NAMES, **changes: Any) -> JointTrajectory:
    points = cycloidal([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 2.0, count=5)
    at = [NAMES.index(name) for name in names]
    tables = {
        "velocities": points.velocities[:, at],
        "accelerations": points.accelerations[:, at],
        **changes,
    }
    return c.trajectory_message(names, 5, points.times, points.positions[:, at], **tables)


@pytest.mark.parametrize("names", [NAMES, ("ankle", "hip", "knee")])
def test_trajectory_comes_back_whatever_the_order_of_its_joints(names: tuple[str, ...]) -> None:
    points = c.points_from(trajectory(names), NAMES)
    expected = cycloidal([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 2.0, count=5)
    np.testing.assert_allclose(points.times, expected.times)
    np.testing.assert_array_equal(points.positions, expected.positions)
    np.testing.assert_array_equal(points.velocities, expected.velocities)
    np.testing.assert_array_equal(points.accelerations, expected.accelerations)


def test_efforts_of_a_trajectory_are_read_in_the_order_of_its_joints() -> None:
    message = JointTrajectory(joint_names=["b", "a"])
    message.points = [
        JointTrajectoryPoint(positions=[1.0, 2.0], effort=[3.0, 4.0]),
        JointTrajectoryPoint(positions=[1.0, 2.0], time_from_start=Duration(sec=1)),
    ]
    np.testing.assert_array_equal(c.points_from(message, ("a", "b")).efforts, [[4, 3], [0, 0]])
    message.points[1].effort = [1.0]
    with pytest.raises(TrajectoryRefused, match="point 1 has 1 efforts for 2 joints"):
        c.points_from(message, ("a", "b"))


def test_missing_velocities_stay_missing() -> None:
    message = trajectory(velocities=None, accelerations=None)
    points = c.points_from(message, NAMES)
    assert np.isnan(points.velocities).all()
    assert np.isfinite(points.positions).all()


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["hip", "knee"], "'ankle' is missing"),
        (["hip", "knee", "ankle", "crank"], "unknown joint 'crank'"),
        (["hip", "knee", "ankel"], "did you mean 'ankle'"),
        (["hip", "knee", "knee"], "appears twice"),
        ([], "missing"),
    ],
)
def test_trajectory_of_other_joints_is_refused(names: list[str], reason: str) -> None:
    message = trajectory()
    message.joint_names = names
    with pytest.raises(TrajectoryRefused, match=reason):
        c.points_from(message, NAMES)


def test_trajectory_with_a_short_row_is_refused() -> None:
    message = trajectory()
    message.points[2].positions = [1.0, 2.0]
    with pytest.raises(TrajectoryRefused, match="point 2 has 2 positions for 3 joints"):
        c.points_from(message, NAMES)


def test_joint_state_is_read_in_any_order_and_other_joints_are_ignored() -> None:
    reader = c.JointStateReader(("hip", "crank"))
    for names in (["crank", "knee", "hip"], ["hip", "crank", "knee"], ["gripper", "crank", "hip"]):
        values = {"hip": 1.0, "crank": 2.0, "knee": 3.0, "gripper": 4.0}
        found = reader.read(JointState(name=names, position=[values[n] for n in names]))
        np.testing.assert_array_equal(found.position, [1.0, 2.0])
        assert found.velocity is None and found.effort is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": ["hip"], "position": [1.0]}, "'crank' is missing$"),
        ({"name": ["hip", "crnk"], "position": [1.0] * 2}, "'crank' is missing; 'crnk' is there"),
        ({"name": ["hip", "hip"], "position": [1.0] * 2}, "twice"),
        ({"name": ["hip", "crank"], "position": [1.0]}, "1 numbers of position for 2 joints"),
        ({"name": ["hip", "crank"]}, "no positions"),
        ({"name": ["hip", "crank"], "position": [1.0, np.nan]}, "position is not finite"),
        (
            {"name": ["hip", "crank"], "position": [1.0, 1.0], "velocity": [np.inf, 0.0]},
            "velocity is not finite",
        ),
    ],
)
def test_bad_joint_state_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        c.JointStateReader(("hip", "crank")).read(JointState(**fields))


@pytest.mark.parametrize(
    ("data", "reason"), [([1.0], "1 efforts for 2"), ([], "0 efforts"), ([1.0, np.nan], "finite")]
)
def test_bad_efforts_are_refused(data: list[float], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        c.efforts_from(Float64MultiArray(data=data), 2)


def test_wrench_is_moment_then_force() -> None:
    message = WrenchStamped()
    message.header.frame_id = "foot"
    message.wrench.force.x, message.wrench.torque.z = 1.0, 2.0
    link, wrench = c.wrench_from(message, ("shank", "foot"))
    assert link == "foot"
    np.testing.assert_array_equal(wrench, [0, 0, 2.0, 1.0, 0, 0])
    message.header.frame_id = "hand"
    with pytest.raises(InvalidInput, match="unknown link 'hand'"):
        c.wrench_from(message, ("shank", "foot"))


def test_columns_of_nothing_but_nan_are_not_given() -> None:
    message = JointState(name=["a", "b"], position=[1.0, 2.0])
    message.velocity, message.effort = [0.5, 0.25], [float("nan")] * 2
    read = c.JointStateReader(["b", "a"]).read(message)
    assert read.effort is None and read.velocity is not None
    np.testing.assert_array_equal(read.velocity, [0.25, 0.5])
    message.velocity = [0.5, float("nan")]
    with pytest.raises(InvalidInput, match="velocity is not finite"):
        c.JointStateReader(["b", "a"]).read(message)


def test_what_points_do_not_give_their_message_does_not_have() -> None:
    points = Points.of([1.0, 2.0], [[0.0], [1.0]], [[], [2.0]])
    message = c.points_message(["a"], points)
    assert [list(p.velocities) for p in message.points] == [[], [2.0]]
    assert [list(p.accelerations) for p in message.points] == [[], []]
    again = c.points_from(message, ["a"])
    np.testing.assert_array_equal(again.velocities, points.velocities)


@pytest.mark.parametrize("digits", [20, 4301, 100_000])
def test_label_that_can_be_no_stamp_is_refused(digits: int) -> None:
    message = Float64MultiArray(data=[0.0])
    message.layout.dim = [MultiArrayDimension()]
    message.layout.dim[0].label = "9" * digits
    with pytest.raises(InvalidInput, match=f"{digits} digits"):
        c.answered_stamp(message)


def test_only_plain_digits_are_a_stamp() -> None:
    message = Float64MultiArray(data=[0.0])
    message.layout.dim = [MultiArrayDimension()]
    for label in ("", "-5", "1e3", "\u0663", " 7"):
        message.layout.dim[0].label = label
        assert c.answered_stamp(message) is None
    message.layout.dim[0].label = str(2**31 * c.NANO - 1)
    assert c.answered_stamp(message) == 2**31 * c.NANO - 1


def test_a_sample_motion_begins_turns_and_ends_at_rest() -> None:
    start, goal = np.array([0.1, -0.4]), np.array([0.7, -1.2])
    points = there_and_back(start, goal, 1.5, 20)
    assert np.all(np.diff(points.times) > 0.0) and len(points.times) == 40
    for row, time, place in ((19, 1.5, goal), (39, 3.0, start)):
        assert points.times[row] == pytest.approx(time)
        np.testing.assert_allclose(points.positions[row], place, atol=1e-12)
        np.testing.assert_allclose(points.velocities[row], 0.0, atol=1e-12)
        np.testing.assert_allclose(points.accelerations[row], 0.0, atol=1e-12)
    # It arrives at the first point from rest: as one that leaves for it from ``start`` would.
    first = cycloidal(start, goal, 1.5, 21)
    np.testing.assert_allclose(points.velocities[0], first.velocities[0], atol=1e-12)
    assert np.all(np.abs(points.positions[0] - start) < 1e-3)
