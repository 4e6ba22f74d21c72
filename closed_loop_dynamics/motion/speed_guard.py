"""Efforts that brake the whole robot before a joint becomes too fast. No ROS in here.

Efforts take their time to become others, and drive the robot on until then. So it is foreseen how
fast joints and actuators will be on the way from what is wanted to what brakes, and only as much of
it is given as leaves them slow enough. A joint that was braked alone would throw its neighbours
about: the whole robot is braked, by inverse dynamics. What keeps a joint from moving is felt, so
that it may press against it.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ..arrays import Array
from ..model.joint_limits import Limits
from ..robot import Robot
from .efforts import EffortLaw, EffortRate, in_reach
from .observer import Observation

#: Where speeds are looked at, as shares of the way from wanted efforts to those that brake.
PLACES = np.linspace(0.0, 1.0, 6)[:, None]
#: Share of its speed limit that a joint or actuator may come to.
SAFE = 0.9
#: Share of the damping with which a joint may come to its stop; of its speed limit at the end.
STOPPING, TOUCHING = 0.5, 0.1
#: Share of its range that a joint which lies at its stop may be away from it.
LYING = 1e-3
#: Share of what was not foreseen in one cycle that is expected in the next one.
FEELING = 0.05
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
        self._limits = Limits.of(mech.tree, names)
        self._places, at = mech.flat
        self._joints = np.eye(robot.m)[at]
        self._shares = self._joints / self._limits.velocity[:, None]
        self._of_drives = 1.0 / Limits.of(mech.tree, robot.names.actuator).velocity[:, None]
        self._guards = bool(self._shares.any() or self._of_drives.any())
        self._told: deque[tuple[float, Array]] = deque(maxlen=MOST)
        self._before = np.zeros(robot.m)
        self._resisted = np.zeros(robot.m)

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
        self._feel(seen.yd, now)
        brake = self._brake(seen, damping)
        shares = self._shares_at(seen.y, damping).T
        braked = self._law.forward_dynamics(seen.y, seen.yd, brake)

        def foreseen(efforts: Array) -> tuple[float, Array]:
            """The largest speed on the way from there to the brake, and the acceleration there."""
            ydd = self._law.forward_dynamics(seen.y, seen.yd, efforts)
            ydd += np.clip(self._resisted, -np.maximum(ydd, 0.0), -np.minimum(ydd, 0.0))
            way = self._rate.cycles(efforts, brake) * self._period
            speeds = seen.yd + acts * ydd + way * PLACES * (ydd + 0.5 * PLACES * (braked - ydd))
            return float((speeds @ shares).max()), ydd

        coming = self._rate.towards(wanted)
        braking = self._rate.towards(brake)
        (high, high_ydd), (low, low_ydd) = foreseen(coming), foreseen(braking)
        share = 1.0
        if high > SAFE:
            share = (SAFE - low) / (high - low) if low < min(high, SAFE) else 0.0
        self._told.append((now, low_ydd + share * (high_ydd - low_ydd)))
        return braking + share * (coming - braking)

    def _shares_at(self, y: Array, damping: float) -> Array:
        """(K, m) what speeds of the joints are, as shares of those that are allowed, either way.

        Who runs into a stop throws the others about: the nearer to it, the slower.
        """
        limits, at = self._limits, y[self._places]
        fast, touching = limits.velocity, TOUCHING * limits.velocity
        ends = np.stack([limits.upper - at, at - limits.lower])
        slow = np.clip(STOPPING * damping * ends, touching, fast)
        # Who lies at a stop may press against it.
        lies = np.isfinite(ends) & (ends <= LYING * (limits.upper - limits.lower))
        up, down = np.where(lies, np.inf, slow)[:, :, None]
        of_drives = self._of_drives * self._robot.actuator_jacobian(y)
        return np.concatenate([self._joints / up, -self._joints / down, of_drives, -of_drives])

    def _feel(self, yd: Array, now: float) -> None:
        """What keeps the robot from moving as foreseen: a stop, the ground, somebody's hand.

        It is there for as long as somebody pushes against it: what brakes meets none.
        """
        since = now - self._told[-1][0] if self._told else np.inf
        if not 0.0 < since <= MOST * self._period:
            self._resisted = np.zeros_like(yd)
        else:
            foreseen = self._before + since * self._told[-1][1]
            self._resisted = self._resisted + FEELING * (yd - foreseen) / since
            # Who moves is not held.
            self._resisted[np.abs(yd) * self._shares.sum(axis=0) > TOUCHING] = 0.0
        self._before = yd

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
        y, yd = seen.y, seen.yd
        steady = self._law.inverse_dynamics(y, yd, np.zeros_like(yd))
        return in_reach(steady, self._law.inverse_dynamics(y, yd, -damping * yd), self._strongest)
