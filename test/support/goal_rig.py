"""A controller with goals and a simulated robot in artificial time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import closed_loop_dynamics as cld
from closed_loop_dynamics.motion.goals import Goal, Goals
from closed_loop_dynamics.motion.partial import Partial
from closed_loop_dynamics.motion.splice import Offer
from closed_loop_dynamics.motion.tolerances import goal_policy
from closed_loop_dynamics.motion.trajectory import Points, Setpoint, cycloidal
from support.control_rig import PERIOD, ControlRig


class GoalRig(ControlRig):
    """What a test does as a sender of goals, and how they ended."""

    def __init__(self, robot: cld.Robot, start: np.ndarray, **settings: Any) -> None:
        super().__init__(robot, start, **settings)
        self.goals = Goals(self.controller.supervisor)
        self.over: list[Goal] = []

    def refused(self, offer: Offer, error: Exception) -> None:
        super().refused(offer, error)
        self.goals.refused(offer, error)

    def dropped(self, offer: Offer, reason: str) -> None:
        super().dropped(offer, reason)
        self.goals.dropped(offer, reason)

    def taken(self, offer: Offer) -> None:
        self.goals.taken(offer)

    def overtaken(self) -> None:
        super().overtaken()
        self.goals.overtaken()

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            super().run(PERIOD)
            self.goals.cycled(self.commands[-1].transition)
            self.over += self.goals.ended()

    def send(
        self,
        points: Points | Exception,
        named: Sequence[str] | None = None,
        stamp: int = 0,
        at_begin: Callable[[], None] = lambda: None,
        **tolerances: Any,
    ) -> Goal:
        """A goal; its points are of the joints in ``named``.

        Args:
            at_begin: what happens just before it takes over.
        """
        execution, names = self.controller.execution, self.robot.names.independent

        def read_all() -> Points:
            if isinstance(points, Exception):
                raise points
            return points

        chosen = names if named is None else named
        some = Partial(names, chosen, read_all, lambda: execution.departure)

        def begins(running: Setpoint) -> None:
            self.goals.check_wanted(offer)
            at_begin()
            some.begins(running)

        offer = Offer(some.read, stamp, wanted=lambda: self.goals.wants(offer), begins=begins)
        goal = Goal(offer, goal_policy(self.policy, **tolerances))
        self.goals.add(goal)
        execution.offer(offer)
        return goal

    def to(self, end: np.ndarray, duration: float = 1.0, **settings: Any) -> Goal:
        return self.send(cycloidal(self.plant.y, end, duration), **settings)
