"""Is this motion possible for this robot? The whole of it, before the first step. No ROS in here.

Checked along the spline, not only at its points: between two good points a loop may be out of
reach, and the actuators may leave their range while the independent joints stay in theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ..arrays import Array
from ..errors import ActuationSingular, ClosureNotFound
from ..inspection.drive import DRIVE_BAR, drives
from ..model.joint_limits import Limits
from ..robot import Robot
from ..simulation.payload import Carried
from .impedance import actuator_forces
from .trajectory import Points, Spline, TooLate, TrajectoryRefused

#: Samples that are looked at in one go: other threads get their turn after each.
PART = 250


class Interrupted(Exception):
    """A check ended early because nobody wants its result now."""


@dataclass(frozen=True)
class Rules:
    """What a trajectory must respect.

    Attributes:
        min_singular_value: smallest ``state.singularity`` allowed; raising it keeps a wider berth.
        min_drive_margin: smallest margin to a dead point of the drive (``inspection/drive.py``).
        moving_end: a last point with non-zero velocity is allowed.
        max_start_jump: largest step from the running command to the start [rad or m].
        period: spacing of the checked samples [s].
    """

    min_singular_value: float = 1e-3
    min_drive_margin: float = DRIVE_BAR
    moving_end: bool = False
    max_start_jump: float = 0.1
    period: float = 0.01


@dataclass(frozen=True, eq=False)
class ActuatorTable:
    """The motion in actuator space, one row per checked time.

    Attributes:
        times: (N,) absolute [s].
        u, ud, udd, tau: (N, p) positions, velocities, accelerations, efforts.
    """

    times: Array
    u: Array
    ud: Array
    udd: Array
    tau: Array

    def later(self, shift: float) -> ActuatorTable:
        """The same, ``shift`` seconds later."""
        return replace(self, times=self.times + shift)

    def followed_by(self, other: ActuatorTable) -> ActuatorTable:
        """This one, then what ``other`` has after its end."""
        rest = other.times > self.times[-1]
        columns = ((getattr(self, f.name), getattr(other, f.name)[rest]) for f in fields(self))
        return ActuatorTable(*(np.concatenate(pair) for pair in columns))


class Checker:
    """Checks trajectories of one robot, with what it carries at that time."""

    def __init__(self, robot: Robot, rules: Rules, carried: Carried | None = None) -> None:
        self.robot = robot
        self.rules = rules
        self.carried = carried
        self.independent = Limits.of(robot.mechanism.tree, robot.names.independent)
        self.actuator = Limits.of(robot.mechanism.tree, robot.names.actuator)
        self.drives = drives(robot.programs)
        if self.drives:
            robot.prepare("loop_jacobian", batch=True, twin=True)

    def check_points(self, points: Points, names: Sequence[str] | None = None) -> None:
        """Refuse what can be seen without the robot's state.

        Args:
            names: of the columns, the independent joints by default.

        Raises:
            TrajectoryRefused: the motion does not end at rest.
        """
        moving = np.flatnonzero(points.end_velocity)
        if len(moving) and not self.rules.moving_end:
            name = (names or self.robot.names.independent)[int(moving[0])]
            raise TrajectoryRefused(f"the last point does not rest: velocity of {name} is not zero")

    def check(
        self, spline: Spline, begin: float, wanted: Callable[[], bool] = lambda: True
    ) -> ActuatorTable:
        """Refuse a motion that cannot be executed from time ``begin`` on.

        Args:
            wanted: asked now and then; once it says False nobody waits for the answer any more.

        Raises:
            TrajectoryRefused: with the joint or submechanism, the value and the time; TooLate.
            Interrupted: it is not wanted any more.
        """
        if spline.end < begin:
            raise TooLate(f"it ended {begin - spline.end:.3g} s ago")
        grid = spline.grid(self.rules.period)
        times = grid[grid >= begin]
        tables = []
        for part in np.array_split(times, -(-len(times) // PART)):
            if not wanted():
                raise Interrupted
            tables.append(self.table(spline, part))
        columns = ([getattr(t, f.name) for t in tables] for f in fields(ActuatorTable))
        return ActuatorTable(*(np.concatenate(column) for column in columns))

    def table(self, spline: Spline, times: Array) -> ActuatorTable:
        """The motion in actuator space at (N,) ``times``; raises as :meth:`check` does."""
        y, yd, ydd = spline.table(times)
        offset = spline.start
        self._raise(self.independent.outside(y), times, offset)
        self._raise(self.independent.too_fast(yd), times, offset)
        table = self._map(times, y, yd, ydd, offset, spline.efforts(times))
        self._refuse_dead_points(times - offset, y)
        self._raise(self.actuator.outside(table.u), times, offset)
        self._raise(self.actuator.too_fast(table.ud), times, offset)
        self._raise(self.actuator.too_strong(table.tau), times, offset)
        spline.refuse_singular(times, self.rules.min_singular_value)
        return table

    def mapped(self, spline: Spline, times: Array) -> ActuatorTable:
        """The same of a motion that has been checked, more finely."""
        return self._map(times, *spline.table(times), spline.start, spline.efforts(times))

    def check_jump(self, y: Array, running: Array) -> None:
        """Refuse a motion that starts at ``y`` (m,), too far from the running command."""
        jump = np.abs(y - running)
        j = int(np.argmax(jump))
        if jump[j] > self.rules.max_start_jump:
            raise TrajectoryRefused(
                f"it starts {jump[j]:.4g} away from the command of "
                f"{self.robot.names.independent[j]}; give its first point a later time"
            )

    def check_step(self, step: Array, period: float) -> None:
        """Refuse a step (m,) that no joint can do within a ``period`` [s]."""
        found = self.independent.too_fast(step[None] / period)
        if found is not None:
            raise TrajectoryRefused(
                f"its only point is due at once: {found[2]}; give it a later time"
            )

    def _map(
        self,
        times: Array,
        y: Array,
        yd: Array,
        ydd: Array,
        offset: float,
        extra: Array | None = None,
    ) -> ActuatorTable:
        try:
            state = self.robot.state(y, yd, ydd)
            pi = None if self.carried is None else self.carried.parameters
            tau = self.robot.inverse_dynamics(y, yd, ydd, parameters=pi)
            if extra is not None:
                rows = zip(y, extra, strict=True)
                tau = tau + np.array([actuator_forces(self.robot, *row) for row in rows])
        except ClosureNotFound as error:
            at = "" if error.sample is None else f" {_at(times[error.sample] - offset)}"
            raise TrajectoryRefused(f"not reachable{at}: {error.args[0]}") from error
        except ActuationSingular as error:
            raise TrajectoryRefused(f"singular: {error}") from error
        singular = np.atleast_1d(state.singularity)
        worst = int(np.argmin(singular)) if singular.size > 1 else 0
        if singular[worst] < self.rules.min_singular_value:
            raise TrajectoryRefused(
                f"too near a singularity {_at(times[worst] - offset)}: smallest singular value "
                f"{singular[worst]:.3g} is below {self.rules.min_singular_value:g}"
            )
        assert state.ud is not None and state.udd is not None  # asked for above
        return ActuatorTable(times, state.u, state.ud, state.udd, tau)

    def _refuse_dead_points(self, seconds: Array, y: Array) -> None:
        """Near a dead point of the drive efforts grow without bound; behind it signs change."""
        G_u = self.robot.actuator_jacobian(y) if self.drives else y
        for drive in self.drives:
            margins = drive.margins(drive.of(G_u))
            passed = np.flatnonzero(np.sign(margins[1:]) != np.sign(margins[:-1]))
            worst = int(passed[0]) if len(passed) else int(np.argmin(np.abs(margins)))
            if len(passed) or abs(margins[worst]) < self.rules.min_drive_margin:
                raise TrajectoryRefused(
                    f"too near a dead point of the drive of '{drive.name}' {_at(seconds[worst])}: "
                    f"margin {abs(margins[worst]):.3g}, at least {self.rules.min_drive_margin:g}"
                )

    @staticmethod
    def _raise(found: tuple[int, int, str] | None, times: Array, offset: float) -> None:
        if found is not None:
            raise TrajectoryRefused(f"{_at(times[found[0]] - offset)}: {found[2]}")


def _at(seconds: float) -> str:
    """When, in the time of the message (time_from_start)."""
    return f"at {seconds:.3f} s"
