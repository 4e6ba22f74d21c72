"""The crank leg as the system tests use it: motions, messages, an independent look at its loops."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.crank_legs import standing
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.trajectory import Points, Spline, cycloidal
from closed_loop_dynamics.ros.conversions import nanoseconds, points_message

from .graph import URDF, Graph

INDEPENDENT = ("hip", "knee", "ankle")
ACTUATORS = ("hip", "knee_cylinder", "ankle_crank")
START = (-0.2, 0.4, -0.1)
GOAL = (-0.6, 1.1, -0.4)
CUTS = (("knee_cylinder_rod", "shank"), ("ankle_rod_tip", "foot"))

LOCKSTEP = {"lockstep": True, "control_rate": 500.0}
# How the launch files wire them.
TO_FEEDFORWARD = {"actuator_states": "simulator/actuator_states"}
TO_SIMULATOR = {"~/effort_command": "feedforward/effort_command"}
TO_FOLLOWER = {"~/actuator_trajectory": "feedforward/actuator_trajectory"}
#: Of joint_trajectory_controller: motors [N·m/rad, N·m·s/rad], cylinder [N/m, N·s/m].
GAINS = {
    "hip": {"p": 200.0, "d": 16.0},
    "knee_cylinder": {"p": 40000.0, "d": 1500.0},
    "ankle_crank": {"p": 50.0, "d": 1.0},
}
#: The default of feedforward's max_effort_rate [1/s].
EFFORT_RATE = 20.0


def start_pair(
    graph: Graph,
    *,
    simulator: dict[str, Any] | None = None,
    feedforward: dict[str, Any] | None = None,
    namespace: str = "",
) -> tuple[Any, Any]:
    """Simulator and feedforward in lockstep, wired as the launch files do it."""
    return (
        start_simulator(graph, simulator, namespace),
        start_feedforward(graph, feedforward, namespace),
    )


def start_simulator(
    graph: Graph, parameters: dict[str, Any] | None = None, namespace: str = ""
) -> Any:
    """The simulator, in lockstep unless told otherwise; no drive hides what a controller does."""
    settings = {**LOCKSTEP, "limit_speed": False, "initial_position": START, **(parameters or {})}
    return graph.start("simulator", settings, TO_SIMULATOR, namespace)


def start_follower(graph: Graph, parameters: dict[str, Any] | None = None) -> Any:
    """The simulator with a controller in it that follows trajectories, as ros2_control has one."""
    recipe = graph.folder / "follower.yaml"
    controller = {"actuator_trajectory_controller": {"ros__parameters": {"gains": GAINS}}}
    recipe.write_text(json.dumps(controller))
    settings = {"limit_speed": False, "initial_position": START, **(parameters or {})}
    program = ("tools.soak.follower", str(recipe))
    return graph.start("simulator", settings, TO_FOLLOWER, program=program)


def start_feedforward(
    graph: Graph,
    parameters: dict[str, Any] | None = None,
    namespace: str = "",
    remaps: dict[str, str] = TO_FEEDFORWARD,
) -> Any:
    """The feedforward node, in lockstep unless told otherwise."""
    settings = {**LOCKSTEP, "publish_joint_states": False, **(parameters or {})}
    return graph.start("feedforward", settings, remaps, namespace)


def motion(
    goal: Sequence[float] = GOAL, duration: float = 2.0, start: Sequence[float] = START
) -> JointTrajectory:
    """A cycloidal motion, starting when it arrives."""
    return message(cycloidal(start, goal, duration))


def message(points: Points, names: Sequence[str] = INDEPENDENT) -> JointTrajectory:
    """Points as a trajectory message that starts when it arrives."""
    return points_message(names, points)


def positions(state: JointState, names: Sequence[str] = INDEPENDENT) -> np.ndarray:
    """Positions of ``names`` in a message."""
    return np.array([state.position[list(state.name).index(name)] for name in names])


def velocities(state: JointState, names: Sequence[str] = INDEPENDENT) -> np.ndarray:
    """Velocities of ``names`` in a message."""
    return np.array([state.velocity[list(state.name).index(name)] for name in names])


def stamp(state: Any) -> float:
    """Stamp of a message [s]."""
    return nanoseconds(state.header.stamp) * 1e-9


def expect_no_step(efforts: Sequence[Float64MultiArray], rate: float) -> None:
    """From one cycle to the next no effort changes by more than it may.

    Args:
        rate: of the cycles [Hz].
    """
    most = EFFORT_RATE / rate * Limits.of(standing().mechanism.tree, ACTUATORS).effort
    steps = np.abs(np.diff([effort.data for effort in efforts], axis=0)).max(axis=0)
    assert (steps <= most * (1.0 + 1e-9)).all(), steps / most


def expect_speeds_within_limits(states: Sequence[JointState]) -> None:
    """No independent joint was faster than the URDF says."""
    speeds = np.abs([velocities(state) for state in states]).max(axis=0)
    limits = Limits.of(standing().mechanism.tree, INDEPENDENT)
    assert (speeds <= limits.velocity).all(), speeds


class Loops:
    """How far the loops gape, by Pinocchio's kinematics of the spanning tree alone."""

    def __init__(self) -> None:
        self._model = pin.buildModelFromUrdf(str(URDF))
        self._data = self._model.createData()
        self._frames = [tuple(map(self._model.getFrameId, pair)) for pair in CUTS]
        self._place(pin.neutral(self._model))
        # The cut frame is the first link's own frame; where it sits in the second at q = 0.
        self._points = [
            self._data.oMf[s].actInv(self._data.oMf[p].translation) for p, s in self._frames
        ]

    def _place(self, q: np.ndarray) -> None:
        pin.framesForwardKinematics(self._model, self._data, q)

    def gap(self, state: JointState) -> float:
        """Largest distance between the two sides of a cut [m]."""
        q = pin.neutral(self._model)
        for name, value in zip(state.name, state.position, strict=True):
            q[self._model.joints[self._model.getJointId(name)].idx_q] = value
        self._place(q)
        gaps = [
            self._data.oMf[p].translation - self._data.oMf[s].act(point)
            for (p, s), point in zip(self._frames, self._points, strict=True)
        ]
        return float(max(np.linalg.norm(gap) for gap in gaps))


def expect_on_the_motion(robot: Any, spline: Spline, commands: Sequence[JointState]) -> None:
    """Commands lie on a motion from rest to rest, go forwards, and are never ahead of its time.

    They may be behind: a cycle that comes late stretches the motion.
    """
    assert commands
    times = np.linspace(spline.times[0], spline.end, 20_001)
    way = spline.table(times)[0][:, 1]  # of the knee, all the way in one direction
    order = 1 if way[-1] > way[0] else -1
    last = -np.inf
    for command in commands:
        y = robot.independent_from_actuator(np.array(command.position))
        now = spline.sample(np.interp(order * y[1], order * way, times))
        state = robot.state(now.y, now.yd)
        np.testing.assert_allclose(command.position, state.u, atol=1e-6)
        np.testing.assert_allclose(command.velocity, state.ud, atol=1e-3)
        assert last <= now.time + 1e-6 <= stamp(command) + 2e-2
        last = now.time
