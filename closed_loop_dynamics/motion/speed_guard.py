"""Efforts that brake the whole robot before a joint becomes too fast. No ROS in here.

Efforts take their time to become others, and drive the robot on until then. So it is foreseen how
fast joints and actuators will be on the way from what is wanted to what brakes, and only as much of
it is given as leaves them slow enough. A joint that was braked alone would throw its neighbours
about: the whole robot is braked, by inverse dynamics.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ..arrays import Array
from ..model.joint_limits import Limits
from ..robot import Robot
from .efforts import EffortLaw, EffortRate
from .observer import Observation

#: Where speeds are looked at, as shares of the way from wanted efforts to those that brake.
PLACES = np.linspace(0.0, 1.0, 6)[:, None]
#: Share of its speed limit that a joint or actuator may come to.
SAFE = 0.9
#: Accelerations that are remembered: measurements are not older than so many cycles.
MOST = 50
#: Share of its speed limit up to which a joint is slow.
SLOW = 0.5


class SpeedGuard:
    """See the module.

    Args:
        rate: what efforts change by from cycle to cycle.
        period: of the cycle [s].
    """

    def __init__(self, robot: Robot, law: EffortLaw, rate: EffortRate, period: float) -> None:
        mech = robot.mechanism
        names = [mech.joint_name(b) for b in mech.scalar_joints(mech.independent)]
        self._robot, self._law, self._rate, self._period = robot, law, rate, period
        self._strongest = Limits.of(mech.tree, robot.names.actuator).effort
        slowness = 1.0 / Limits.of(mech.tree, [*names, *robot.names.actuator]).velocity
        own, self._of_drives = np.split(slowness[:, None], [len(names)])
        self._shares = own * np.eye(robot.m)[mech.flat[1]]
        self._guards = bool(slowness.any())
        self._told: deque[tuple[float, Array]] = deque(maxlen=MOST)

    def needless(self, seen: Observation) -> bool:
        """All joints are slow, for who has no stiff springs."""
        return bool((np.abs(self._shares @ seen.yd) < SLOW).all())

    def efforts(
        self, wanted: Array, seen: Observation, now: float, age: float, acts: float, damping: float
    ) -> Array:
        """(p,) in this cycle: as much of the ``wanted`` (p,) as is safe; for the rest, what brakes.

        Args:
            now: of a steady clock [s].
            age: how old the measured speeds are [s].
            acts: for how long the efforts of this cycle will act, at most [s].
            damping: frequency with which speeds die out where the robot is braked [1/s].

        Raises:
            ClosedLoopError: there is no dynamics there.
        """
        if not self._guards:
            return wanted
        seen = self._by_now(seen, now, age)
        brake = self._brake(seen, damping)
        # (joints and actuators, m): their speeds as shares of their limits, of those of the joints
        of_drives = self._of_drives * self._robot.actuator_jacobian(seen.y)
        shares = np.concatenate([self._shares, of_drives]).T
        braked = self._law.forward_dynamics(seen.y, seen.yd, brake)

        def foreseen(efforts: Array) -> tuple[float, Array]:
            """The largest speed on the way from there to the brake, and the acceleration there."""
            ydd = self._law.forward_dynamics(seen.y, seen.yd, efforts)
            way = self._rate.cycles(efforts, brake) * self._period
            speeds = seen.yd + acts * ydd + way * PLACES * (ydd + 0.5 * PLACES * (braked - ydd))
            return float(np.abs(speeds @ shares).max()), ydd

        coming = self._rate.towards(wanted)
        braking = self._rate.towards(brake)
        (high, high_ydd), (low, low_ydd) = foreseen(coming), foreseen(braking)
        share = 1.0
        if high > SAFE:
            share = (SAFE - low) / (high - low) if low < min(high, SAFE) else 0.0
        self._told.append((now, low_ydd + share * (high_ydd - low_ydd)))
        return braking + share * (coming - braking)

    def _by_now(self, seen: Observation, now: float, age: float) -> Observation:
        """With the speeds that efforts since the measurement have made of those that it says."""
        yd, until = seen.yd, now
        for when, ydd in reversed(self._told):
            since = max(when, now - age)
            if since >= until:
                break
            yd, until = yd + (until - since) * ydd, since
        return seen._replace(yd=yd)

    def _brake(self, seen: Observation, damping: float) -> Array:
        """(p,) as hard as the drives can, in the direction in which all joints slow down alike."""
        y, yd, limit = seen.y, seen.yd, self._strongest
        steady = self._law.inverse_dynamics(y, yd, np.zeros_like(yd))
        braking = self._law.inverse_dynamics(y, yd, -damping * yd) - steady
        pushing = np.abs(braking) > 0.0
        room = np.where(braking > 0.0, limit - steady, limit + steady)[pushing]
        share = float((room / np.abs(braking[pushing])).min(initial=1.0))
        return np.clip(steady + max(share, 0.0) * braking, -limit, limit)
