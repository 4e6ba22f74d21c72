"""The efforts of a setpoint: computed torque, open or with feedback. No ROS in here."""

from __future__ import annotations

from ..arrays import Array
from ..errors import ClosedLoopError
from ..robot import Robot
from ..simulation.payload import Carried
from .observer import Observation
from .task_trajectory import PlatformSetpoint, TaskCommands
from .trajectory import Setpoint


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


class EffortLaw:
    """Inverse dynamics of the commanded state, or of the measured one with feedback.

    Args:
        carried: what the robot carries at present.
        task: for setpoints of a platform.
        frequency: stiffness of the feedback [rad/s]; None: the measured state is not used.
    """

    def __init__(
        self, robot: Robot, carried: Carried, task: TaskCommands | None, frequency: float | None
    ) -> None:
        self._robot = robot
        self._carried = carried
        self._task = task
        self._frequency = frequency

    def efforts(self, setpoint: Setpoint, seen: Observation | None) -> tuple[Array, str]:
        """(p,) actuator efforts, and why a measured state was not used ("": all is well)."""
        if self._frequency is None:
            return self._commanded(setpoint), ""
        if seen is None:
            return self._of_joints(setpoint), "none or too old"
        y, yd = seen.y, seen.yd
        ydd = feedback_acceleration(self._frequency, setpoint.ydd, setpoint.y - y, setpoint.yd - yd)
        try:
            return self.inverse_dynamics(y, yd, ydd), ""
        except ClosedLoopError as error:
            return self._of_joints(setpoint), str(error)

    def inverse_dynamics(self, y: Array, yd: Array, ydd: Array) -> Array:
        """(p,) efforts of the robot with what it carries."""
        return self._robot.inverse_dynamics(y, yd, ydd, parameters=self._carried.parameters)

    def _commanded(self, setpoint: Setpoint) -> Array:
        loaded = self._carried.parameters is not None
        if self._task is not None and not loaded and isinstance(setpoint, PlatformSetpoint):
            return self._task.task.inverse_dynamics(setpoint.x, setpoint.xd, setpoint.xdd)
        return self._of_joints(setpoint)

    def _of_joints(self, setpoint: Setpoint) -> Array:
        return self.inverse_dynamics(setpoint.y, setpoint.yd, setpoint.ydd)
