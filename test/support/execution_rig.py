"""An execution whose clocks, whereabouts and examinations are what a test says they are.

The examining thread is held where it reads the points of a trajectory, so that a test decides what
comes in the middle of an examination.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.execution import Execution, Whereabouts
from closed_loop_dynamics.motion.splice import Accepted, Offer
from closed_loop_dynamics.motion.telling import Saying
from closed_loop_dynamics.motion.trajectory import (
    Points,
    Setpoint,
    TrajectoryRefused,
    cycloidal,
)
from closed_loop_dynamics.motion.trajectory_check import ActuatorTable, Checker, Rules

SECOND = 1_000_000_000
BEGIN = 1_700_000_000 * SECOND
PERIOD = 0.002
START = np.array([-0.2, 0.4, -0.1])
GOAL = np.array([-0.6, 1.1, -0.4])
DEADLINE = 60.0  # [s]; only a hanging thread meets it


class Rig:
    """An execution, its clocks, its robot's whereabouts, and what it has told."""

    def __init__(self, leg: cld.Robot, **settings: Any) -> None:
        self.initial: np.ndarray | None = settings.pop("initial", START)
        self.measured: np.ndarray | None = None
        self.measurable = False
        self.now, self.steady = BEGIN, 7 * SECOND
        self.refusals: list[str] = []
        self.drops: list[str] = []
        self.taken_over: list[Offer] = []
        self.published: list[Accepted] = []
        self.diversions: list[tuple[int, ActuatorTable]] = []
        self.jumps: list[float] = []
        self.steps: list[float] = []
        self.execution = Execution(
            Checker(leg, Rules()),
            PERIOD,
            Whereabouts(self.initial, lambda: self.measured, lambda: self.measurable),
            self,
            lambda: self.now,
            steady=lambda: self.steady,
            **settings,
        )

    def close(self) -> None:
        self.execution.close()

    # -- what it is told ------------------------------------------------------------------------

    def refused(self, offer: Offer | None, error: Exception) -> None:
        self.refusals.append(str(error))

    def dropped(self, offer: Offer, reason: str) -> None:
        self.drops.append(reason)

    def taken(self, offer: Offer) -> None:
        self.taken_over.append(offer)

    def accepted(self, accepted: Accepted) -> Saying:
        return lambda: self.published.append(accepted)

    def diverted(self, begin: int, table: ActuatorTable) -> Saying:
        return lambda: self.diversions.append((begin, table))

    def overtaken(self) -> None: ...

    def time_jumped(self, jump: float) -> None:
        self.jumps.append(jump)

    def clock_set(self, step: float) -> None:
        self.steps.append(step)

    # -- what it is asked -----------------------------------------------------------------------

    def pass_time(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)
        self.steady += round(seconds * SECOND)

    def cycle(self, seconds: float = 0.0) -> Setpoint:
        """A cycle ``seconds`` later; what it gives has gone out."""
        self.pass_time(seconds)
        setpoint = self.execution.advance(self.now)
        assert setpoint is not None
        self.execution.commanded(setpoint)
        return setpoint

    def until(self, condition: Callable[[], Any]) -> None:
        """Cycles, without time, until the examining thread has done something."""
        ended = threading.Event()
        timer = threading.Timer(DEADLINE, ended.set)
        timer.start()
        while not condition():
            assert not ended.is_set()
            self.execution.advance(self.now)
        timer.cancel()

    def run(self, offer: Offer) -> Setpoint:
        """Offer and let it take over; the setpoint of that moment."""
        count = len(self.published)
        self.execution.offer(offer)
        self.until(lambda: len(self.published) > count)
        return self.cycle()


def held_up(rig: Rig) -> threading.Event:
    """The thread that tells stands still until the event."""
    pool, go = rig.execution._examination._pool, threading.Event()
    assert pool is not None
    pool.submit(go.wait, DEADLINE)
    return go


def to(goal: np.ndarray, duration: float = 1.0, start: np.ndarray = START) -> Offer:
    points = cycloidal(start, goal, duration)
    return Offer(lambda: points)


def bad(reason: str) -> Offer:
    def read() -> Points:
        raise TrajectoryRefused(reason)

    return Offer(read)


class Held:
    """An offer whose examination waits for ``go`` each time it begins, until told otherwise."""

    def __init__(self, goal: np.ndarray, begun: list[Any]) -> None:
        self.reading, self.go = threading.Event(), threading.Event()
        self._points = cycloidal(START, goal, 1.0)
        self._begun = begun
        self.offer = Offer(self._read)

    def _read(self) -> Points:
        self._begun.append(self)
        self.reading.set()
        assert self.go.wait(DEADLINE)
        return self._points
