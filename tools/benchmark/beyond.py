"""Forward dynamics just outside the joint limits, where robots rest on their stops, over inside.

Every limit of every joint that closes a loop, one after the other; the other joints are within
their limits. Where the loop does not close any more there is nothing to time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics import ClosureNotFound, load
from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot
from closed_loop_dynamics.shipped import shipped_robot

from .timing import Contender, at_once, row_by_row, take_turns

#: How far outside [rad or m].
OUTSIDE = (0.01, 0.1)
#: Of the time inside.
AIM = 2.0
STATES = 100


@dataclass(frozen=True)
class BeyondRow:
    """The limits of one robot.

    Attributes:
        outside: how far the joint is beyond its limit [rad or m].
        limits: how many there are; open: at so many of them the loop does not close.
        single, batch: time over that inside, of the worst limit; where: its joint.
    """

    robot: str
    outside: float
    limits: int
    open: int
    single: float
    batch: float
    where: str

    @property
    def met(self) -> bool:
        """No cliff."""
        return max(self.single, self.batch) <= AIM


def measure_beyond(names: Sequence[str], sweeps: int) -> list[BeyondRow]:
    """All that have loops."""
    found = []
    for name in names:
        files = shipped_robot(name)
        robot = load(files.urdf, files.submechanisms)
        if robot.branches:
            found += [_measure(robot, name, outside, sweeps) for outside in OUTSIDE]
    return found


def stops(robot: Robot, outside: float) -> Iterator[tuple[str, int, float]]:
    """Joint, its place in y and where it is, for every limit of a joint that closes a loop."""
    mech = robot.mechanism
    for c in robot.branches:
        for b in mech.components[c].independent:
            joint = mech.tree.bodies[b].joint
            for limit, sign in ((joint.lower, -1.0), (joint.upper, 1.0)):
                if np.isfinite(limit):
                    yield mech.joint_name(b), mech.y.at[b], limit + sign * outside


def _measure(robot: Robot, name: str, outside: float, sweeps: int) -> BeyondRow:
    rng = np.random.default_rng(5)
    y = robot.random_independent(rng, STATES)
    yd, tau = rng.normal(size=(STATES, robot.m)), rng.normal(size=(STATES, robot.p))
    inside = _contenders(robot, "inside", y, yd, tau)
    rows, limits = [], 0
    for joint, at, position in stops(robot, outside):
        limits += 1
        there = y.copy()
        there[:, at] = position
        closes = np.array([_closes(robot, each) for each in there])
        if closes.any():
            # As many calls as inside: those that close, again and again.
            chosen = np.resize(np.flatnonzero(closes), STATES)
            rows.append(_contenders(robot, joint, there[chosen], yd, tau))
    take_turns([one for pair in (inside, *rows) for one in pair], sweeps)
    single, batch = ([pair[k].seconds / inside[k].seconds for pair in rows] for k in (0, 1))
    worst = int(np.argmax(np.maximum(single, batch))) if rows else 0
    where = rows[worst][0].name if rows else ""
    return BeyondRow(
        name,
        outside,
        limits,
        limits - len(rows),
        max(single, default=0.0),
        max(batch, default=0.0),
        where,
    )


def _contenders(
    robot: Robot, name: str, y: Array, yd: Array, tau: Array
) -> tuple[Contender, Contender]:
    forward = robot.forward_dynamics
    return row_by_row(name, forward, y, yd, tau), at_once(name, forward, y, yd, tau)


def _closes(robot: Robot, y: Array) -> bool:
    try:
        robot.state(y)
    except ClosureNotFound:
        return False
    return True


def beyond_cells(rows: Sequence[BeyondRow]) -> list[tuple[str, ...]]:
    """The rows of a table, its headings first."""
    headings = ("robot", "outside", "limits", "of them open", "single", "batch", "worst at", "aim")
    found: list[tuple[str, ...]] = [(*headings, "")]
    for row in rows:
        found.append(
            (
                row.robot,
                f"{row.outside:g}",
                str(row.limits),
                str(row.open),
                f"{row.single:.2f}",
                f"{row.batch:.2f}",
                row.where,
                f"<= {AIM:g}",
                "ok" if row.met else "MISSED",
            )
        )
    return found
