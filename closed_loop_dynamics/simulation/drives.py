"""The drives of a simulated robot: what becomes of a commanded effort before it acts. No ROS.

They keep to their largest efforts, hold the robot where nobody commands, and hold back a command
that would make a joint faster than it may be, or run it into its stop, as real ones do (safely
limited speed in the words of IEC 61800-5-2, soft limits in those of ros2_control): against wrong
efforts that look like good ones no controller can do anything.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError
from ..model.joint_limits import Limits
from ..motion.efforts import feedback_acceleration, in_reach
from ..robot import Robot
from .stepping import Progress

#: Share of its largest speed that a joint comes to which would be faster.
SAFE = 0.999
#: Rate at which speeds die out where a command is held back altogether [1/s]; so fast, for each
#: unit of way that is left, a joint may come to its stop.
BRAKING = 50.0
#: Share of its largest speed at which a joint may come to its stop in any case.
TOUCHING = 0.1
#: From this share of its largest speed on it is looked at what a joint throws about: at most this
#: share of the largest efforts keeps the others from giving way.
FAST, MASTERED = 0.5, 0.5
#: Attempts to find out how much of a command is safe; then all of it is held back.
ATTEMPTS = 3


class Drives:
    """See the module.

    Args:
        clip: keep to the largest efforts of the URDF.
        stiffness: natural frequency with which the robot is held [rad/s].
        slow: keep to the largest speeds of the URDF.
        stops: of the independent joints, which are not run into; None: there are none.

    Attributes:
        limits: of the actuators.
        slow: as said, where there are such speeds.
        held_back: the joint that would have been too fast; empty: none. For others to clear.
    """

    def __init__(
        self, robot: Robot, clip: bool, stiffness: float, slow: bool, stops: Limits | None = None
    ) -> None:
        mech = robot.mechanism
        names = [mech.joint_name(b) for b in mech.scalar_joints(mech.independent)]
        self._robot, self._clip, self._stiffness = robot, clip, stiffness
        self._places, self._independent = mech.flat
        self._stops = stops
        self._all = Limits.of(mech.tree, [*names, *robot.names.actuator])
        self.limits = Limits.of(mech.tree, robot.names.actuator)
        self.slow = slow and bool(np.isfinite(self._all.velocity).any())
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._held_at: Array | None = None
        self.held_back = ""

    def efforts(self, tau: Array | None, y: Array, yd: Array, pi: Array | None) -> Array:
        """(p,) what a command comes to, or what holds the robot where it is for None.

        ``pi`` are its dynamic parameters; None: those of the model.
        """
        if tau is not None:
            self._held_at = None
            return self._within(tau)
        if self._held_at is None:
            self._held_at = y.copy()
        away, rest = self._robot.difference(y, self._held_at), np.zeros(self._robot.m)
        ydd = feedback_acceleration(self._stiffness, rest, away, -yd)
        return self._within(self._efforts_for(y, yd, ydd, pi))

    def slowed(
        self,
        tau: Array,
        fast: Progress,
        run: Callable[[Array], Progress],
        y: Array,
        yd: Array,
        pi: Array | None,
    ) -> tuple[Array, Progress]:
        """As much of ``tau`` (p,) as is safe, and what comes of that.

        Args:
            fast: what comes of all of it.
            run: does the same with other efforts.
            y, yd: where it began.
        """
        if fast.error is not None:
            return tau, fast
        low, high = self._allowed(y)
        speeds = self._speeds(fast)
        safe = bool(((speeds >= low) & (speeds <= high)).all())
        thrown = self._clip and self._throws(y, yd, pi)
        if safe and not thrown:
            return tau, fast
        excess = np.maximum(speeds / high, speeds / low)
        self.held_back = self._all.names[int(excess.argmax())]
        try:
            brake = self._brake(y, yd, pi)
        except ClosedLoopError:  # a dead point, too few actuators: it can be let go, at least
            brake = np.zeros_like(tau)
        slow = run(brake)
        if slow.error is not None:
            return tau, fast
        if thrown:
            return brake, slow
        least, share = self._speeds(slow), 1.0
        for _ in range(ATTEMPTS):
            share *= _safe_share(least, speeds, low, high)
            mixed = brake + share * (tau - brake)
            found = run(mixed)
            speeds = self._speeds(found)
            if found.error is None and ((speeds >= low) & (speeds <= high)).all():
                return mixed, found
        return brake, slow

    def _allowed(self, y: Array) -> tuple[Array, Array]:
        """Lowest and highest speeds of the independent joints and of the actuators."""
        high = self._all.velocity.copy()
        low = -high
        if self._stops is not None:
            at, own = y[self._places], slice(len(self._places))
            up, down = BRAKING * (self._stops.upper - at), BRAKING * (self._stops.lower - at)
            high[own] = np.minimum(high[own], np.maximum(up, TOUCHING * high[own]))
            low[own] = np.maximum(low[own], np.minimum(down, TOUCHING * low[own]))
        return low, high

    def _speeds(self, at: Progress) -> Array:
        """Of the independent joints and of the actuators."""
        return np.concatenate([at.yd[self._independent], self._robot.state(at.y, at.yd).ud])

    def _throws(self, y: Array, yd: Array, pi: Array | None) -> bool:
        """It moves so fast that the drives could soon not brake it: its joints throw each other."""
        own = self._all.velocity[: len(self._independent)]
        if (np.abs(yd[self._independent]) <= FAST * own).all():
            return False
        rest = np.zeros_like(yd)
        try:
            moving = self._efforts_for(y, yd, rest.copy(), pi)
            thrown = moving - self._efforts_for(y, rest, rest.copy(), pi)
        except ClosedLoopError:  # a dead point: nothing is known of it
            return False
        return bool((np.abs(thrown) > MASTERED * self.limits.effort).any())

    def _within(self, tau: Array) -> Array:
        limit = self.limits.effort
        return np.clip(tau, -limit, limit) if self._clip else tau

    def _brake(self, y: Array, yd: Array, pi: Array | None) -> Array:
        """(p,) as hard as they can, in the direction in which all joints slow down alike."""
        brake = self._efforts_for(y, yd, -BRAKING * yd, pi)
        if not self._clip:
            return brake
        steady = self._efforts_for(y, yd, np.zeros_like(yd), pi)
        return in_reach(steady, brake, self.limits.effort)

    def _efforts_for(self, y: Array, yd: Array, ydd: Array, pi: Array | None) -> Array:
        """(p,) for an acceleration of the joints; what flies moves as these let it."""
        robot, b = self._robot, self._robot.mechanism.flying
        if b:
            M = robot.mass_matrix(y, parameters=pi)
            C = robot.generalized_forces(y, yd, np.zeros(robot.m), parameters=pi)
            ydd[b] = 0.0
            ydd[b] = np.linalg.solve(M[np.ix_(b, b)], -C[b] - M[b] @ ydd)
        return robot.inverse_dynamics(y, yd, ydd, parameters=pi)


def _safe_share(least: Array, speeds: Array, low: Array, high: Array) -> float:
    """How far all joints may go from the ``least`` speeds to others, 0 to 1."""
    way = speeds - least
    moving = way != 0.0
    room = SAFE * np.where(way > 0.0, high, low) - least
    return float(np.clip(np.divide(room[moving], way[moving]), 0.0, 1.0).min(initial=1.0))
