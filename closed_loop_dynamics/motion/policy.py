"""What is known of a robot in one cycle, and what counts as disobedience. No ROS in here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array

#: Speed of a calm robot, as a share of the one that is out of control.
CALM = 0.2


class Facts(NamedTuple):
    """What is known in one cycle.

    Attributes:
        time: of a steady clock [s].
        moving: the reference is under way, be it to rest.
        following: it follows a trajectory.
        age: of the measurement [s]; infinite: there is none.
        expected: somebody measures, or has to.
        error: (m,) reference minus measurement; None without one.
        speed: (m,) measured; None without one.
        impedance: there is an impedance command to obey.
        interrupted: why the trajectory was dropped in this cycle, if it was.
    """

    time: float
    moving: bool
    following: bool
    age: float
    expected: bool
    error: Array | None
    speed: Array | None
    impedance: bool = False
    interrupted: str = ""

    @property
    def no_proof(self) -> str:
        """Why nothing is known of the robot, of one that is lost."""
        if not np.isfinite(self.age):
            return "no measurement of the robot"
        return f"no believable measurement of the robot for {self.age:.3g} s"


@dataclass(frozen=True, eq=False)
class Policy:
    """When the robot counts as disobedient, and how long each step of the answer lasts.

    Attributes:
        names: (m,) of the independent joints.
        path: (m,) how far a joint may be from its reference [rad or m]; infinite: not looked at.
        goal: (m,) the same at the end of a motion, after at most ``goal_time`` more [s].
        goal_time: infinite: it is waited for as long as that takes.
        arrives: a motion has ended only when the robot stands, also without tolerances in ``goal``.
        stopped: speed below which a joint counts as standing, of all or (m,) [rad/s or m/s].
        fastest: (m,) speed above which a joint is out of control.
        timeout: age of a measurement from which on nothing is known of the robot [s].
        damping_time: how long it is damped without being known, or in an emergency [s].
        calm_time: how long it must be known and calm before control is taken again [s].
    """

    names: tuple[str, ...]
    path: Array
    goal: Array
    fastest: Array
    goal_time: float = np.inf
    arrives: bool = False
    stopped: float | Array = 0.01
    timeout: float = 0.1
    damping_time: float = 1.0
    calm_time: float = 0.2

    def lost(self, facts: Facts) -> bool:
        """Somebody should know the robot, and nobody does."""
        return facts.expected and facts.age > self.timeout

    def calm(self, facts: Facts) -> bool:
        """The robot is known, and slow."""
        return not self.lost(facts) and self.speed(facts) <= CALM

    def speed(self, facts: Facts) -> float:
        """Of all joints the largest, as a share of the speed that is out of control."""
        if facts.speed is None:
            return 0.0
        return float((np.abs(facts.speed) / self.fastest).max(initial=0.0))

    def wild(self, facts: Facts, share: float = 1.0) -> str:
        """Which joint is out of control, or as fast as a ``share`` of that; empty: none."""
        return self._beyond(facts.speed, share * self.fastest)

    def away(self, facts: Facts) -> str:
        """Which joint is too far from its reference; empty: none."""
        return self._beyond(facts.error, self.path)

    def missed(self, facts: Facts) -> str:
        """Which joint is not at its goal, or does not stand; empty: none, or nobody minds."""
        if not self.arrives and not np.isfinite(self.goal).any():
            return ""
        return self._beyond(facts.error, self.goal) or self._beyond(
            facts.speed, np.broadcast_to(self.stopped, len(self.names))
        )

    def _beyond(self, values: Array | None, limits: Array) -> str:
        """Which joint is beyond its limit, and by how much; empty: none."""
        if values is None or not (np.abs(values) > limits).any():
            return ""
        j = int(np.argmax(np.abs(values) / limits))
        return f"{self.names[j]} {abs(values[j]):.4g} (allowed: {limits[j]:.4g})"
