"""The efforts of a setpoint: computed torque, open or with feedback. No ROS in here."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import ClosedLoopError, InvalidInput
from ..robot import Robot
from ..simulation.payload import Carried
from .feedback import Feedback
from .impedance import actuator_forces
from .observer import Observation
from .task_trajectory import PlatformSetpoint, TaskCommands
from .trajectory import Setpoint

#: Frequency of feedback times delay of the loop, at most. Critically damped feedback of a double
#: integrator keeps 76 degrees of phase; it is unstable from 0.65 on, and long before that where
#: efforts may change only so fast: what they compensate for has changed meanwhile.
MOST_TURN = 0.15


def feedback_acceleration(
    frequency: float, ydd: Array, position_error: Array, velocity_error: Array
) -> Array:
    """ydd (m,) to ask of inverse dynamics so that errors die out like exp(-frequency t).

    Args:
        frequency: stiffness of the feedback [rad/s], critically damped; raising it makes errors die
            out faster and noise of the sensors louder; 0: none.
        ydd: (m,) of the wanted motion.
        position_error, velocity_error: (m,) wanted minus measured.
    """
    return ydd + frequency * frequency * position_error + 2.0 * frequency * velocity_error


def in_reach(steady: Array, wanted: Array, limit: Array) -> Array:
    """(p,) as far from ``steady`` efforts to wanted ones as the drives can, all of them alike.

    Were each cut off by itself, what shall brake the robot would throw its light joints about.
    """
    way = wanted - steady
    pushing = way != 0.0
    room = np.where(way > 0.0, limit - steady, limit + steady)[pushing]
    share = float((room / np.abs(way[pushing])).min(initial=1.0))
    return np.clip(steady + max(share, 0.0) * way, -limit, limit)


class EffortLaw:
    """Inverse dynamics of the commanded state, or of the measured one with feedback.

    Args:
        carried: what the robot carries at present.
        task: for setpoints of a platform.
        frequency: stiffness of the feedback [rad/s]; None: the measured state is not used.
        feedback: of each joint or actuator, in place of the same ``frequency`` for all.
    """

    def __init__(
        self,
        robot: Robot,
        carried: Carried,
        task: TaskCommands | None,
        frequency: float | None,
        feedback: Feedback | None = None,
    ) -> None:
        self._robot = robot
        self._carried = carried
        self._task = task
        self._frequency = frequency
        self._feedback = feedback

    def forget(self) -> None:
        """The robot is held anew, perhaps elsewhere."""
        if self._feedback is not None:
            self._feedback.forget()

    def efforts(
        self, setpoint: Setpoint, seen: Observation | None, trust: float = 1.0, delay: float = 0.0
    ) -> tuple[Array, str]:
        """(p,) actuator efforts, and why a measured state was not used ("": all is well).

        Args:
            trust: in the measured state, 0 to 1: by so much it counts, the commanded one else.
            delay: of the loop [s]; stiff feedback that comes late would drive the robot, so it is
                only as stiff as the delay allows.
        """
        if self._frequency is None:
            return self._commanded(setpoint), ""
        if seen is None or trust <= 0.0:
            return self._of_joints(setpoint), "none or too old"
        y = setpoint.y - trust * (setpoint.y - seen.y)
        yd = setpoint.yd - trust * (setpoint.yd - seen.yd)
        slower = self._slowed(delay)
        try:
            if self._feedback is None:
                errors = setpoint.y - y, setpoint.yd - yd
                ydd = feedback_acceleration(slower * self._frequency, setpoint.ydd, *errors)
            else:
                ydd = self._feedback.wanted(setpoint, y, yd, slower)
            return self._on_top(setpoint, y, self.inverse_dynamics(y, yd, ydd)), ""
        except ClosedLoopError as error:
            return self._of_joints(setpoint), str(error)

    def _slowed(self, delay: float) -> float:
        """Share of the frequency that is left with a delay [s]."""
        fastest = self._frequency if self._feedback is None else self._feedback.fastest
        return 1.0 if not fastest or not delay else min(1.0, MOST_TURN / (fastest * delay))

    def damping(self, seen: Observation, frequency: float) -> Array:
        """(p,) efforts that only brake: speeds die out like exp(-frequency t), gravity pulls."""
        rest = np.zeros_like(seen.yd)
        braking = self.inverse_dynamics(seen.y, rest, -frequency * seen.yd)
        return braking - self.inverse_dynamics(seen.y, rest, rest)

    def compensation(self, seen: Observation, frequency: float) -> Array:
        """(p,) efforts against gravity alone, lightly braked: a hand can lead the robot."""
        return self.inverse_dynamics(seen.y, np.zeros_like(seen.yd), -frequency * seen.yd)

    def inverse_dynamics(self, y: Array, yd: Array, ydd: Array) -> Array:
        """(p,) efforts of the robot with what it carries."""
        return self._robot.inverse_dynamics(y, yd, ydd, parameters=self._carried.parameters)

    def forward_dynamics(self, y: Array, yd: Array, tau_u: Array) -> Array:
        """(m,) accelerations of the robot with what it carries."""
        return self._robot.forward_dynamics(y, yd, tau_u, parameters=self._carried.parameters)

    def _commanded(self, setpoint: Setpoint) -> Array:
        loaded = self._carried.parameters is not None
        if self._task is not None and not loaded and isinstance(setpoint, PlatformSetpoint):
            return self._task.task.inverse_dynamics(setpoint.x, setpoint.xd, setpoint.xdd)
        return self._of_joints(setpoint)

    def _of_joints(self, setpoint: Setpoint) -> Array:
        efforts = self.inverse_dynamics(setpoint.y, setpoint.yd, setpoint.ydd)
        return self._on_top(setpoint, setpoint.y, efforts)

    def _on_top(self, setpoint: Setpoint, y: Array, efforts: Array) -> Array:
        """(p,) with the extra efforts of the setpoint, through the loops at ``y`` (m,)."""
        if setpoint.effort is None:
            return efforts
        return efforts + actuator_forces(self._robot, y, setpoint.effort)


class EffortRate:
    """Lets efforts change no faster than the drives should be made to.

    They change together, each by the same share of what is wanted: efforts between two that move
    the robot as a whole do so, too. One that lags behind would let light joints run away.

    Args:
        step: (p,) largest change from one cycle to the next [N or N·m]; infinite: any.

    Attributes:
        last: (p,) the newest; None: whatever comes first may come.
    """

    def __init__(self, step: Array) -> None:
        self._step = step
        self.last: Array | None = None

    def begin(self, efforts: Array | None) -> None:
        """The efforts that act now, (p,); None: whatever comes first."""
        self.last = efforts

    def cycles(self, before: Array, after: Array) -> float:
        """How many it takes from efforts (p,) to others, at least."""
        return float((np.abs(after - before) / self._step).max(initial=0.0))

    def towards(self, efforts: Array) -> Array:
        """(p,) how far they may come in one cycle from the last ones."""
        if self.last is None:
            return efforts
        beyond = self.cycles(self.last, efforts)
        return efforts if beyond <= 1.0 else self.last + (efforts - self.last) / beyond

    def limited(self, efforts: Array) -> Array:
        """(p,) efforts on the way from the last ones to these, as far as they may go.

        Raises:
            InvalidInput: one of them is not finite.
        """
        if not np.isfinite(efforts).all():
            raise InvalidInput(f"an effort is not finite: {efforts}")
        self.last = self.towards(efforts)
        return self.last
