"""A log for identification from a file: CSV or bag, of independent joints or of actuators."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import InvalidInput
from ..identification import CUTOFF, Log, measured
from ..robot import Robot
from .mistakes import FileProblem
from .motion_file import rising_times
from .robot_argument import check_fixed
from .states import States, check_table, coordinates
from .tables import ACCELERATION, EFFORT, POSITION, VELOCITY, Table, joined, meaning

LOG_NOTE = f"""\
The file has a column `time` [s], the measured forces of the actuators (knee_cylinder.effort) and
positions: of the independent joints (knee) or, where these are not all there, of the actuators
(knee_cylinder). Positions and velocities are filtered forwards and backwards by a Butterworth
filter of order 4 (--cutoff, {CUTOFF:g} Hz), velocities and accelerations that are missing are
differences of them; a file with accelerations (knee.acceleration) is taken as it is. A bag (.mcap,
.db3 or a rosbag2 folder) has JointState messages with the same; it needs the extra `bags`.
"""


def log_of(robot: Robot, table: Table, cutoff: float) -> Log:
    """Check a table against a robot and make a log of it.

    Raises:
        FileProblem: columns missing or unknown, numbers that are not finite, times that do not
            increase, too few rows.
    """
    check_fixed(robot, "logs are")
    check_table(robot, table)
    times = rising_times(table)
    tau = table.need(robot.names.actuator, EFFORT)
    names = coordinates(robot, robot.names.independent, POSITION)
    ydd = None
    if {(name, POSITION) for name in names} <= set(map(meaning, table.columns)):
        y, yd = table.need(names, POSITION), table.get(names, VELOCITY)
        ydd = table.get(names, ACCELERATION)
    else:
        y, yd = _from_actuators(robot, table)
    try:
        if yd is not None and ydd is not None:
            return Log(times, y, yd, ydd, tau)
        return measured(times, y, tau, yd, cutoff)
    except InvalidInput as error:
        raise FileProblem(f"{table.source}: {error}") from None


def _from_actuators(robot: Robot, table: Table) -> tuple[Array, Array | None]:
    """Independent positions, and velocities where they are given, of encoders of the actuators."""
    names = robot.names
    ud = table.get(names.actuator, VELOCITY)
    vectors = {POSITION: table.need(names.actuator, POSITION)}
    if ud is not None:
        vectors[VELOCITY] = ud

    def independent(u: Array, ud: Array | None = None) -> Table:
        y = np.asarray(robot.independent_from_actuator(u))
        yd = None if ud is None else robot.actuation.velocity_from_actuator(y, ud)
        return joined([(POSITION, names.independent, y), (VELOCITY, names.independent, yd)])

    found = States(vectors, table, single=False).each(robot, independent)
    return found.need(names.independent, POSITION), found.get(names.independent, VELOCITY)
