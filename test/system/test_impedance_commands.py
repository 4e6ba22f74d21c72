"""Springs and dampers at the joints of a simulated leg with three loops, over real DDS.

What should hold the springs in balance is found by Pinocchio alone, from the potential energy of
the spanning tree and from where the foot is; the package only says where the loops' joints are. In
lockstep: springs on a stale state would tell of the load of this machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

from geometry_msgs.msg import WrenchStamped
from ros_support.leg import LOCKSTEP, positions, stamp, velocities
from ros_support.streams import (
    expect_gentle,
    publishing,
    publishing_in_simulated_time,
    start_shipped,
)
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.robot import Robot, load
from closed_loop_dynamics.shipped import shipped_robot

pytestmark = [pytest.mark.ros, pytest.mark.slow]

FILES = shipped_robot("rh5_leg")
TOPIC, PERIOD, STEP = "/feedforward/impedance_command", 0.002, 1e-6
KP = np.array([30.0, 150.0, 150.0, 80.0, 15.0, 15.0])
KD = np.array([3.0, 30.0, 30.0, 8.0, 0.3, 0.3])
FORCE = np.array([12.0, -8.0, 20.0])


class Statics:
    """Of the leg, by Pinocchio and differences."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._model = pin.buildModelFromUrdf(str(FILES.urdf))
        self._data = self._model.createData()
        self._foot = self._model.getFrameId("foot")
        joints = [self._model.getJointId(name) for name in robot.names.spanning]
        self._at = [self._model.joints[joint].idx_q for joint in joints]

    def _q(self, y: np.ndarray) -> np.ndarray:
        q = pin.neutral(self._model)
        q[self._at] = self._robot.state(y).q
        return q

    def _energy(self, y: np.ndarray) -> float:
        return float(pin.computePotentialEnergy(self._model, self._data, self._q(y)))

    def _place(self, y: np.ndarray) -> pin.SE3:
        pin.framesForwardKinematics(self._model, self._data, self._q(y))
        return self._data.oMf[self._foot].copy()

    def needed(self, y: np.ndarray, force: np.ndarray) -> np.ndarray:
        """(m,) at the joints, against gravity and a ``force`` at the foot, in its axes."""
        turned, needed = self._place(y).rotation @ force, np.zeros(len(y))
        for j in range(len(y)):
            plus, minus = y.copy(), y.copy()
            plus[j] += STEP
            minus[j] -= STEP
            lifted = self._energy(plus) - self._energy(minus)
            moved = self._place(plus).translation - self._place(minus).translation
            needed[j] = (lifted - moved @ turned) / (2.0 * STEP)
        return needed


def command(y: np.ndarray, effort: np.ndarray) -> Float64MultiArray:
    return table_message(np.array([y, 0.0 * y, KP, KD, effort]))


def table_message(table: np.ndarray) -> Float64MultiArray:
    found = Float64MultiArray(data=table.ravel().tolist())
    found.layout.dim = [
        MultiArrayDimension(label="position,velocity,kp,kd,effort", size=5),
        MultiArrayDimension(size=table.shape[1]),
    ]
    return found


def test_springs_hold_a_leg_give_way_to_a_force_and_stay_within_limits(graph: Any) -> None:
    robot = load(FILES.urdf, FILES.submechanisms)
    statics, names = Statics(robot), robot.names.independent
    start = np.array([FILES.sample.start.get(name, 0.0) for name in names])
    states = graph.listen(JointState, "/joint_states", depth=1000)
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=1000)
    own = {**LOCKSTEP, "diagnostics_period": 0.2}
    measured = {"mode": "measured", "feedback_frequency": 10.0, "impedance.timeout": 5.0}
    start_shipped(graph, "rh5_leg", start, {**own, "wrench_timeout": 0.0}, {**own, **measured})
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")
    wanted, rest = start + np.array([0.1, 0.05, -0.1, 0.2, 0.05, -0.1]), np.zeros(6)

    def here() -> np.ndarray:
        return positions(states[-1], names)

    def wait_for_balance(force: np.ndarray, effort: np.ndarray, what: str) -> np.ndarray:
        """Where springs and efforts are what gravity and the force need."""

        def balanced() -> bool:
            y = here()
            missing = KP * (wanted - y) + effort - statics.needed(y, force)
            still = np.abs(states[-1].velocity).max() < 0.01
            return bool(still and np.abs(missing / KP).max() < 2e-3)

        graph.wait(balanced, what)
        return here()

    def push(force: np.ndarray) -> None:
        message = WrenchStamped()
        message.header.frame_id = "foot"
        found = message.wrench.force
        found.x, found.y, found.z = force.tolist()
        graph.send("/simulator/wrench", message)

    nothing, first = np.zeros(3), len(commands)
    with publishing(graph, TOPIC, 100.0, lambda t: command(wanted, rest)):
        graph.wait_state("impedance")
        hanging = wait_for_balance(nothing, rest, "springs in balance with gravity")
        push(FORCE)
        pushed = wait_for_balance(FORCE, rest, "springs in balance with the force")
        assert np.abs(pushed - hanging).max() > 0.02
        push(nothing)
        wait_for_balance(nothing, rest, "springs in balance with gravity again")
    graph.wait_state("holding")
    np.testing.assert_allclose(here(), hanging, atol=0.01)
    # Efforts in place of the springs' deflection: it stays where it is wanted.
    effort = statics.needed(wanted, FORCE)
    with publishing(graph, TOPIC, 100.0, lambda t: command(wanted, effort)):
        graph.wait_state("impedance")
        push(FORCE)
        there = wait_for_balance(FORCE, effort, "efforts that carry gravity and the force")
        np.testing.assert_allclose(there, wanted, atol=0.01)
        push(nothing)
        wait_for_balance(nothing, effort, "efforts against a force that is gone")
    graph.wait_state("holding")
    limits = Limits.of(robot.mechanism.tree, robot.names.actuator).effort
    expect_gentle(commands[first:], limits, 20.0, PERIOD)

    # More than an actuator can do: it gives what it can, as fast as it may.
    roll, first = names.index("hip_roll"), len(commands)
    too_much = command(wanted, 1e4 * np.eye(6)[roll])
    with publishing(graph, TOPIC, 100.0, lambda t: too_much):
        graph.wait(
            lambda: any(c.effort[roll] > 0.99 * limits[roll] for c in commands[first:]),
            "an effort at its limit",
        )
    graph.wait_state("holding", "damping", "off")
    expect_gentle(commands[first:], limits, 20.0, PERIOD)


@pytest.mark.parametrize("name", ["crank_leg", "rh5_leg"])
def test_stiff_springs_that_leap_make_no_joint_too_fast(graph: Any, name: str) -> None:
    """In lockstep, and with drives that hold nothing back: it is the controller that brakes."""
    files, leaps = shipped_robot(name), np.random.default_rng(0)
    robot = load(files.urdf, files.submechanisms)
    names = robot.names.independent
    limits = Limits.of(robot.mechanism.tree, names)
    start = np.array([files.sample.start.get(joint, 0.0) for joint in names])
    states = graph.listen(JointState, "/joint_states", depth=10_000)
    commands = graph.listen(JointState, "/feedforward/actuator_command", depth=10_000)
    node = {"mode": "measured", "feedback_frequency": 10.0, "impedance.timeout": 60.0}
    start_shipped(graph, name, start, {**LOCKSTEP, "limit_speed": False}, {**LOCKSTEP, **node})
    graph.wait_active("simulator", "feedforward")
    graph.wait_state("holding")

    def leap(_: float) -> Float64MultiArray:
        goal, every = leaps.uniform(limits.lower, limits.upper), np.ones(robot.m)
        return table_message(np.array([goal, 0 * goal, 1e3 * every, 10.0 * every, 0 * goal]))

    with publishing_in_simulated_time(graph, TOPIC, 20.0, leap):
        graph.wait_state("impedance")
        begin = stamp(states[-1])
        graph.wait(lambda: stamp(states[-1]) > begin + 1.5, "leaps")
        assert graph.values("feedforward")["state"] == "impedance"
    speeds = np.abs([velocities(state, names) for state in list(states)]) / limits.velocity
    assert 0.6 < speeds.max() <= 1.0, speeds.max(axis=0)
    drives = Limits.of(robot.mechanism.tree, robot.names.actuator)
    assert (np.abs([c.velocity for c in list(commands)]) <= drives.velocity).all()
    expect_gentle(list(commands), drives.effort, 20.0, PERIOD)
