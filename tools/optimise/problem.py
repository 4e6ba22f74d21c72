"""A motion as an optimisation problem: knots, how they hang together, limits of joints and motors.

Accelerations are linear between knots, so that positions are cubics. These are exactly what a
joint trajectory controller makes of positions, velocities and accelerations at the knots (the
quintic through them is that cubic): what was optimised is what is executed.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.cli.tables import (
    ACCELERATION,
    EFFORT,
    POSITION,
    TIME,
    VELOCITY,
    Table,
    joined,
    with_column,
)
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.robot import Robot

#: Share of speeds and efforts that a plan may use; the rest is for the feedback.
SHARE = 0.9
#: Change of an effort in a second, in limits; the feedforward node's ``max_effort_rate`` is 20.
EFFORT_RATE = 15.0
IPOPT = {"print_level": 0, "sb": "yes", "max_iter": 300, "tol": 1e-6}


@dataclass(frozen=True, eq=False)
class Plan:
    """A motion, one row per knot.

    Attributes:
        times: (N,) [s]; y, yd, ydd: (N, m); u, ud, tau: (N, p) of the actuators.
        cost: what was minimised; iterations: of the solver.
    """

    times: Array
    y: Array
    yd: Array
    ydd: Array
    u: Array
    ud: Array
    tau: Array
    cost: float
    iterations: int

    def table(self, robot: Robot) -> Table:
        """As a trajectory file has it, and with the efforts that it takes."""
        joints, actuators = robot.names.independent, robot.names.actuator
        parts = [(POSITION, joints, self.y), (VELOCITY, joints, self.yd)]
        parts += [(ACCELERATION, joints, self.ydd), (EFFORT, actuators, self.tau)]
        return with_column(joined(parts), TIME, self.times, first=True)


class Problem:
    """What all motions of a robot have in common.

    Attributes:
        opti: CasADi's problem, for the objective and further conditions.
        T: duration [s].
        y, yd, ydd: (m, knots).
        tau: (p, knots) efforts as shares of their limits.
    """

    def __init__(self, robot: Robot, segments: int, duration: float | None = None) -> None:
        """Of ``duration`` [s], or of any: then it is a variable."""
        self.robot, self.knots = robot, segments + 1
        self.opti = opti = ca.Opti()
        self._rests: dict[int, Array] = {}
        self.T = ca.MX(duration) if duration else opti.variable()
        joints = Limits.of(robot.mechanism.tree, robot.names.independent)
        self.y = opti.variable(robot.m, self.knots)
        # In units of the largest speed, so that all unknowns are of like size.
        self.yd = joints.velocity * opti.variable(robot.m, self.knots)
        self.ydd = 10.0 * joints.velocity * opti.variable(robot.m, self.knots)

        h, now, then = self.T / segments, slice(0, segments), slice(1, self.knots)
        a, b = self.ydd[:, now], self.ydd[:, then]
        straight = self.y[:, now] + h * self.yd[:, now]
        opti.subject_to(self.yd[:, then] == self.yd[:, now] + h / 2 * (a + b))
        opti.subject_to(self.y[:, then] == straight + h**2 / 6 * (2 * a + b))

        # The functions are kept: CasADi does not own what it calls.
        self._functions = [robot.casadi("inverse_dynamics"), robot.casadi("velocities")]
        effort, state = (function.map(self.knots) for function in self._functions)
        self._efforts = effort(self.y, self.yd, self.ydd)
        q, _, qd = state(self.y, self.yd)
        places, rates = (rows.tolist() for rows in robot.actuator_rows)
        self._u, self._ud = q[places, :], qd[rates, :]

        motors = Limits.of(robot.mechanism.tree, robot.names.actuator)
        self.tau = self._efforts / motors.effort
        stroke = motors.upper - motors.lower
        self._within(self.y, joints.lower, joints.upper)
        self._within((self._u - motors.lower) / stroke, 0.0, 1.0)
        self._within(self.yd / joints.velocity, -SHARE, SHARE)
        self._within(self._ud / motors.velocity, -SHARE, SHARE)
        self._within(self.tau, -SHARE, SHARE)
        self.change = (self.tau[:, then] - self.tau[:, now]) / (EFFORT_RATE * h)
        self._within(self.change, -1.0, 1.0)

    def _within(self, values: ca.MX, lower: Array | float, upper: Array | float) -> None:
        for k in range(values.shape[1]):
            self.opti.subject_to(self.opti.bounded(lower, values[:, k], upper))

    def rests(self, knot: int, y: Array) -> None:
        """There it is at ``y`` (m,), and nothing moves nor begins to."""
        self._rests[knot] = y
        self.opti.subject_to(self.y[:, knot] == y)
        self.opti.subject_to(self.yd[:, knot] == 0.0)
        self.opti.subject_to(self.ydd[:, knot] == 0.0)

    def link(self, name: str) -> list[tuple[ca.MX, ca.MX]]:
        """(R (3, 3), p (3)) of a link at every knot, in the root frame."""
        self._functions.append(self.robot.casadi("link", name))
        R, p, _ = self._functions[-1].map(self.knots)(self.y)
        return [(R[:, 3 * k : 3 * k + 3], p[:, k]) for k in range(self.knots)]

    def solve(self, y: Array, duration: float) -> Plan:
        """From a rough start: positions (knots, m) and a duration, all at rest.

        Raises:
            RuntimeError: the solver gave up.
        """
        if self.T.is_symbolic():
            self.opti.set_initial(self.T, duration)
        self.opti.set_initial(self.y, y.T)
        self.opti.solver("ipopt", {"print_time": False}, IPOPT)
        found = self.opti.solve()
        parts = (self.y, self.yd, self.ydd, self._u, self._ud, self._efforts)
        y, yd, ydd, u, ud, tau = (np.reshape(found.value(p), p.shape).T for p in parts)
        for knot, at in self._rests.items():  # which the solver meets to its tolerance only
            y[knot], yd[knot], ydd[knot] = at, 0.0, 0.0
        times = np.linspace(0.0, float(found.value(self.T)), self.knots)
        cost, iterations = float(found.value(self.opti.f)), int(found.stats()["iter_count"])
        return Plan(times, y, yd, ydd, u, ud, tau, cost, iterations)
