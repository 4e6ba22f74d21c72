"""After an emergency stop a motion begins where the robot is, not where it should have been."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from ros_support.leg import (
    ACTUATORS,
    GOAL,
    START,
    expect_no_step,
    expect_speeds_within_limits,
    message,
    motion,
    positions,
    stamp,
    start_feedforward,
    start_follower,
    start_simulator,
    velocities,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from std_srvs.srv import Trigger
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.trajectory import cycloidal

pytestmark = pytest.mark.ros

RATE = 200.0
REAL_TIME = {"lockstep": False, "control_rate": RATE}
#: A motion begins where the robot is measured when it is not this close to its reference [rad].
START_TOLERANCE = 0.02
#: A reference goes on for so long at once, however late a cycle comes [s].
LATE = 0.02


@pytest.mark.parametrize("followed", [False, True], ids=["efforts", "trajectory"])
def test_after_an_emergency_stop_a_motion_begins_where_the_robot_is(
    graph: Any, followed: bool
) -> None:
    """In mode feedforward: it sinks while it is damped. And in the recipe of ros2_control."""
    states = graph.listen(JointState, "/joint_states", depth=10_000)
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10_000)
    efforts = graph.listen(Float64MultiArray, "/feedforward/effort_command", depth=10_000)
    told = graph.listen(JointTrajectory, "/feedforward/actuator_trajectory")
    (start_follower if followed else start_simulator)(graph, REAL_TIME)
    # A loaded machine that forgets the simulator for a tenth of a second ends no motion here.
    own = {"diagnostics_period": 0.2, "trajectory_follower": followed, "state_timeout": 0.5}
    start_feedforward(graph, {**REAL_TIME, **own})
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    graph.send("/feedforward/joint_trajectory", motion(duration=3.0))
    graph.wait(lambda: positions(states[-1])[0] < START[0] - 0.1, "the motion to be under way")
    robot = standing()
    pressed = robot.independent_from_actuator(np.array(commands[-1].position))
    graph.send("/feedforward/emergency_stop", Bool(data=True))
    graph.wait_state("off")
    graph.wait(lambda: np.abs(velocities(states[-1])).max() < 1e-3, "rest")
    here = positions(states[-1])
    assert np.abs(here - pressed).max() > 2.0 * START_TOLERANCE  # elsewhere
    assert np.abs(here - GOAL).max() > 2.0 * START_TOLERANCE
    graph.send("/feedforward/emergency_stop", Bool(data=False))
    trigger = Trigger.Request()
    graph.wait(lambda: graph.call(Trigger, "/feedforward/resume", trigger).success, "to be resumed")
    graph.wait_state("holding")

    count = len(told)
    way = message(cycloidal(positions(states[-1]), GOAL, 3.0))
    graph.send("/feedforward/joint_trajectory", way)
    graph.wait(lambda: len(told) > count and len(told[-1].points) > 1, "the motion to be told")
    begin = stamp(told[-1])
    graph.wait(lambda: stamp(states[-1]) > begin + 0.5, "the motion after it")
    measured = min(states, key=lambda state: abs(stamp(state) - begin))
    off = told[-1].points[0].positions - robot.state(positions(measured)).u
    most = START_TOLERANCE * np.abs(robot.actuator_jacobian(positions(measured))).sum(axis=1)
    assert (np.abs(off) <= most).all(), off / most
    leaps = np.abs(np.diff([command.position for command in commands], axis=0)).max(axis=0)
    fastest = Limits.of(robot.mechanism.tree, ACTUATORS).velocity
    assert (leaps <= LATE * fastest).all(), leaps
    expect_no_step(efforts, RATE)
    expect_speeds_within_limits(states)
    if followed:  # by feedback, which the other has not
        graph.wait(lambda: np.abs(positions(states[-1]) - GOAL).max() < 0.02, "the goal")
