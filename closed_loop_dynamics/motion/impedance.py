"""Springs and dampers at the independent joints, as policies command them. No ROS in here.

A command asks for tau_y = kp (y_d - y) + kd (yd_d - yd) + effort at the measured state, nothing
else: no model, no gravity. The actuators give it through G_u^T tau_u = tau_y, so that their power
is that of the springs and dampers: tau_u^T ud = tau_y^T yd. That no joint becomes too fast is up
to the controller (``motion/speed_guard``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..actuation.undriven import require_actuators
from ..arrays import Array
from ..errors import InvalidInput
from ..robot import Robot
from .observer import Observation

#: No actuator gives more [N·m or N]; what is asked beyond is as much as there is.
HUGE = 1e7
#: No joint, spring or damper has such numbers: whoever sends them is out of order.
IMPOSSIBLE = 1e15
ROWS = ("position", "velocity", "kp", "kd", "effort")


class ImpedanceCommand(NamedTuple):
    """What the joints should be like, (m,) each.

    Attributes:
        y, yd: rest position and velocity of springs and dampers [rad or m, per second].
        kp: stiffness [N·m/rad or N/m]; more of it resists more.
        kd: damping [N·m·s/rad or N·s/m].
        effort: forces on top [N·m or N].
    """

    y: Array
    yd: Array
    kp: Array
    kd: Array
    effort: Array

    @staticmethod
    def of(table: Array) -> ImpedanceCommand:
        """From a (5, m) table, rows as in :data:`ROWS`.

        Raises:
            InvalidInput: a number is not finite, a stiffness or damping negative.
        """
        for row, values in zip(ROWS, table, strict=True):
            if not (np.abs(values) <= IMPOSSIBLE).all():
                raise InvalidInput(f"a {row} is not finite, or beyond {IMPOSSIBLE:g}")
            if row in ("kp", "kd") and (values < 0.0).any():
                raise InvalidInput(f"{row} {values.min():.4g} is negative: that would feed energy")
        return ImpedanceCommand(*table)


class Impedance:
    """The newest command, and for how long it counts.

    :meth:`push` and :meth:`admit` belong to anybody, the rest to the control cycle.

    Args:
        timeout: a command counts for so long [s].

    Attributes:
        reason: why commands that come are not obeyed; empty: they are, or there are none.
    """

    def __init__(self, robot: Robot, timeout: float) -> None:
        self._robot = robot
        self._timeout = timeout
        self.restart()

    def restart(self) -> None:
        """Forget everything."""
        self._newest: ImpedanceCommand | None = None
        self._taken: ImpedanceCommand | None = None
        self._heard = -np.inf
        self._barred = self.reason = ""

    def push(self, command: ImpedanceCommand) -> None:
        """A command has come."""
        self._newest = command

    def admit(self) -> None:
        """Commands that are barred count again."""
        self._barred = ""

    def bar(self, by: str) -> None:
        """Something else has taken over: commands have to pause before they count again."""
        self._barred = f"{by}; pause for {self._timeout:g} s, or ask to resume"

    def wanted(self, now: float, refusal: str) -> bool:
        """Is there a command that counts at the time ``now`` [s]?

        Args:
            refusal: why none may; empty: one may.
        """
        newest = self._newest
        if newest is not self._taken:
            if now - self._heard > self._timeout:
                self._barred = ""
            self._taken, self._heard = newest, now
        if newest is None or now - self._heard > self._timeout:
            self.reason = ""
            return False
        if refusal:
            self.bar(refusal)
        self.reason = self._barred
        return not self._barred

    def efforts(self, seen: Observation, trust: float = 1.0) -> Array:
        """(p,) actuator efforts of the newest command.

        Args:
            trust: in the measured state, 0 to 1: by so much springs and dampers count.

        Raises:
            ActuationSingular: no actuator forces have the effect there.
        """
        command = self._taken
        if command is None:
            return np.zeros(self._robot.p)
        return actuator_forces(self._robot, seen.y, independent_forces(command, seen, trust))


def independent_forces(command: ImpedanceCommand, seen: Observation, trust: float = 1.0) -> Array:
    """tau_y (m,) of a command at a measured state."""
    springs = command.kp * (command.y - seen.y) + command.kd * (command.yd - seen.yd)
    tau_y = command.effort + trust * springs
    return np.minimum(np.maximum(tau_y, -HUGE), HUGE)


def actuator_forces(robot: Robot, y: Array, tau_y: Array) -> Array:
    """tau_u (p,) with G_u^T tau_u = tau_y (m,), of least norm where actuators are redundant.

    As ``robot.actuation.force_from_independent``, in the microseconds that a control cycle has.

    Raises:
        ActuationSingular: G_u has lost rank there.
        Underactuated: a submechanism has fewer actuators than degrees of freedom.
    """
    require_actuators(robot.programs)
    return robot.programs.run("actuator_forces", None, y, tau_y)
