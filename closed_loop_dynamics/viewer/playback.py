"""A trajectory that is played: every frame solved before the first one is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..cli.mistakes import FileProblem
from ..cli.motion_file import MotionTable, resampled
from ..cli.progress import Progress
from ..cli.states import columns_of, reference
from ..errors import ActuationSingular, ClosedLoopError, Underactuated
from ..robot import Robot
from .reach import Range
from .snapshot import HOLDING, Camera, Snapshot

#: Frames of a joint's way through its range.
FRAMES = 60
#: Frames per second that are computed, and the most of them.
RATE = 50.0
MOST_FRAMES = 60_000
FROM_FILE = "inverse dynamics of the trajectory"


@dataclass(frozen=True, eq=False)
class Playback:
    """Frames.

    Attributes:
        times: (N,) [s], from 0.
        y, q: (N, ...) positions.
        tau: (N, p) forces of the actuators, or None with the reason in ``note``.
        source: what the forces are.
        rates: (N, m) velocities and accelerations; None: at rest in every frame.
    """

    times: Array
    y: Array
    q: Array
    tau: Array | None
    source: str
    note: str = ""
    rates: tuple[Array, Array] | None = None

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.times[-1])

    def frame(self, time: float) -> int:
        """The newest frame at a time."""
        return int(np.clip(np.searchsorted(self.times, time + 1e-9) - 1, 0, len(self.times) - 1))

    def snapshot(self, camera: Camera, k: int) -> Snapshot:
        """Frame ``k``."""
        tau = None if self.tau is None else self.tau[k]
        shot = camera.at(self.q[k], tau, self.source, self.note, self.y[k])
        yd, ydd = self.rates or (None, None)
        return shot if yd is None or ydd is None else replace(shot, rates=(yd[k], ydd[k]))


def from_file(robot: Robot, table: MotionTable) -> Playback:
    """A trajectory file, sampled anew for the screen.

    Raises:
        FileProblem: a row is out of reach; names it.
    """
    length = float(table.times[-1] - table.times[0])
    if length * RATE > MOST_FRAMES:
        raise FileProblem(
            f"{table.table.source}: {length:.0f} s are too long to show; cut it to "
            f"{MOST_FRAMES / RATE:.0f} s"
        )
    _solve(robot, table)  # a bad row is named as it is in the file
    smooth = resampled(table, RATE) if len(table.times) > 1 else table
    return _solve(robot, smooth)


def _solve(robot: Robot, table: MotionTable) -> Playback:
    q, tau, note = [], [], ""
    # Row by row: for a large robot the batch versions would first have to be compiled.
    with Progress("computing", len(table.y)) as bar:
        for k, (y, yd, ydd) in enumerate(zip(table.y, table.yd, table.ydd, strict=True)):
            bar.at(k)
            try:
                q.append(robot.state(y).q)
                tau.append(robot.inverse_dynamics(y, yd, ydd))
            except (ActuationSingular, Underactuated) as error:
                note = note or str(error)
            except ClosedLoopError as error:
                place = table.table.place(k, columns_of(robot, error))
                raise FileProblem(f"{place}: {error}") from error
    forces = None if note else np.array(tau)
    times, rates = table.times - table.times[0], (table.yd, table.ydd)
    return Playback(times, table.y, np.array(q), forces, FROM_FILE, note, rates)


def sweep(camera: Camera, ranges: dict[str, Range]) -> Playback:
    """A motion to show what moves: each joint through its range, one after the other, slowly.

    What the loops do not allow is left out. The forces hold the robot against gravity.
    """
    robot = camera.robot
    home = clipped(robot, reference(robot), ranges)
    y, q, tau, notes = [], [], [], set()
    for name, (low, high) in ranges.items():
        at = robot.mechanism.y.names.index(name)
        for phase in np.linspace(0.0, 2.0 * np.pi, FRAMES, endpoint=False):
            s = np.sin(phase)
            one = home.copy()
            one[at] += s * (high - home[at]) if s > 0 else s * (home[at] - low)
            try:
                q.append(robot.state(one).q)
            except ClosedLoopError:
                continue
            y.append(one)
            force, _, note = camera.holding_forces(one)
            tau.append(np.full(robot.p, np.nan) if force is None else force)
            notes.add(note)
    if not y:
        shot = camera.standing(home)
        y, q, tau = [home], [shot.q], [np.zeros(robot.p) if shot.tau is None else shot.tau]
    times = np.arange(len(y)) / 30.0
    note = "" if "" in notes else next(iter(notes), "")
    return Playback(times, np.array(y), np.array(q), np.array(tau), HOLDING, note)


def clipped(robot: Robot, y: Array, ranges: dict[str, Range]) -> Array:
    """Positions moved into the ranges."""
    y = y.copy()
    for name, (low, high) in ranges.items():
        at = robot.mechanism.y.names.index(name)
        y[at] = np.clip(y[at], low, high)
    return y
