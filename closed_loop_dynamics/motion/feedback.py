"""Feedback of each joint or actuator on its own: stiffness, damping, integral. No ROS in here."""

from __future__ import annotations

import numpy as np

from ..actuation.encoders import encoder_step
from ..arrays import Array
from ..robot import Robot
from .trajectory import Setpoint


class Feedback:
    """Accelerations that let errors die out: w² (e + i ∫e) + 2 d w ė for each joint.

    Args:
        frequency: (m,) stiffness w [rad/s]; errors die out faster, noise is louder.
        damping: (m,) ratio d; 1: critical, no overshoot.
        integral: (m,) i [1/s]; takes out what stays, friction or a wrong mass; 0: none.
        period: of the cycle [s].
        most: what the integral may stand for, as an error [rad or m]: it does not wind up.

    Attributes:
        fastest: the largest frequency [rad/s].
    """

    def __init__(
        self, frequency: Array, damping: Array, integral: Array, period: float, most: float = 0.05
    ) -> None:
        self.fastest = float(np.max(frequency, initial=0.0))
        self._stiffness = frequency * frequency
        self._damping = 2.0 * damping * frequency
        self._rate = integral * period
        self._most = most
        self.forget()

    def forget(self) -> None:
        """Begin anew: what the integral has found may not hold any more."""
        self._sum: Array = np.zeros_like(self._rate)

    def acceleration(
        self, position_error: Array, velocity_error: Array, slower: float = 1.0
    ) -> Array:
        """(m,) to add to that of the motion; errors (m,) are wanted minus measured.

        Args:
            slower: share of the frequency that counts.
        """
        total = self._sum + self._rate * position_error
        self._sum = np.minimum(np.maximum(total, -self._most), self._most)
        stiff = slower * self._stiffness * (position_error + self._sum)
        return slower * (stiff + self._damping * velocity_error)

    def wanted(self, setpoint: Setpoint, y: Array, yd: Array, slower: float = 1.0) -> Array:
        """ydd (m,) to ask of inverse dynamics at the state (m,) in which the robot is."""
        return setpoint.ydd + self.acceleration(setpoint.y - y, setpoint.yd - yd, slower)


class ActuatorFeedback(Feedback):
    """The same of the errors of the actuators: gains are (p,).

    What it asks for is udd = udd_d + w² (e + i ∫e) + 2 d w ė with e = u_d - u; ydd follows by
    udd = G_u ydd + Ġ_u yd. In efforts: the inertia that the actuators feel times that.
    """

    def __init__(
        self, robot: Robot, frequency: Array, damping: Array, integral: Array, period: float
    ) -> None:
        super().__init__(frequency, damping, integral, period)
        self._robot = robot

    def wanted(self, setpoint: Setpoint, y: Array, yd: Array, slower: float = 1.0) -> Array:
        """ydd (m,); in the sense of least squares where there are more actuators than joints."""
        there = self._robot.state(setpoint.y, setpoint.yd, setpoint.ydd)
        here = self._robot.state(y, yd, np.zeros_like(yd))
        assert there.ud is not None and there.udd is not None  # asked for above
        assert here.ud is not None and here.udd is not None
        change = self.acceleration(there.u - here.u, there.ud - here.ud, slower)
        udd = there.udd + change - here.udd
        return encoder_step(self._robot.programs, y, here.u, udd)[1]
