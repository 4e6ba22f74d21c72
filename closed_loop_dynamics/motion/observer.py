"""Actuator measurements to independent joints, guarding the assembly mode. No ROS in here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ActuationSingular, ClosureNotFound, InvalidInput
from ..model.joint_limits import Limits
from ..robot import Robot

#: A robot may be somewhat faster than its limits; beyond this many times them an encoder is broken.
WILD = 2.0


@dataclass(frozen=True, eq=False)
class Observation:
    """What actuator measurements say about the independent joints.

    Attributes:
        y, yd: (m,) independent positions and velocities.
        tau_y: (m,) independent forces of the measured actuator forces, None without them.
    """

    y: Array
    yd: Array
    tau_y: Array | None


class Observer:
    """Follows the independent joints from sample to sample.

    An answer on the reference's assembly mode that continues the motion is taken; otherwise the
    search starts from the last answer. What is still further than ``max_jump`` away is refused:
    encoders do not jump, assembly modes do. After ``patience`` seconds of refusals the guard starts
    anew from the reference's mode, because the robot may really be elsewhere. What lies outside the
    joint limits by more than ``limit_tolerance`` is never believed, however long it is claimed,
    nor are speeds above :data:`WILD` times their limits.

    Args:
        max_jump: largest step of an independent joint from sample to sample [rad or m].
        patience: how long a jump is refused [s].
        limit_tolerance: how far outside its limits a joint may be, as a share of its range: real
            stops are not quite where the URDF has them. Infinite: no limits, for a simulated robot.
    """

    def __init__(
        self,
        robot: Robot,
        max_jump: float = 0.2,
        patience: float = 1.0,
        limit_tolerance: float = np.inf,
    ) -> None:
        self.robot = robot
        self.max_jump = max_jump
        self.patience = patience
        self._limit_tolerance = limit_tolerance
        mech = robot.mechanism
        joints = mech.scalar_joints(mech.independent)
        self._y_slots, self._yd_slots = mech.y.slots(joints), mech.yd.slots(joints)
        self._independent, self._actuators = (
            Limits.of(mech.tree, [mech.joint_name(b) for b in bodies]).widened(limit_tolerance)
            for bodies in (joints, mech.actuator)
        )
        self._last: Array | None = None
        self._since = 0.0

    def forget(self) -> None:
        """Start anew with the next sample."""
        self._last = None

    def observe(
        self, time: float, u: Array, ud: Array | None = None, tau_u: Array | None = None
    ) -> Observation:
        """Independent state for actuator positions ``u`` (p,), velocities and forces.

        Args:
            time: of any steady clock [s]; used for ``patience`` only.

        Raises:
            InvalidInput: ``u`` or its independent joints are outside their limits, or far too fast.
            ClosureNotFound: ``u`` is out of reach, or on another assembly mode.
            ActuationSingular: velocities are not determined there.
        """
        if self._last is not None and time - self._since > self.patience:
            self._last = None
        _require_inside(self._actuators, u)
        y = self._positions(u)
        _require_inside(self._independent, y[self._y_slots])
        G_u = self.robot.actuator_jacobian(y)
        yd = np.zeros(self.robot.m) if ud is None else _solve(G_u, ud, y)
        if np.isfinite(self._limit_tolerance):
            _require_credible(self._independent, yd[self._yd_slots])
        self._last, self._since = y, time
        return Observation(y, yd, None if tau_u is None else G_u.T @ tau_u)

    def _positions(self, u: Array) -> Array:
        last = self._last
        try:
            y = self.robot.independent_from_actuator(u)
        except ClosureNotFound:
            if last is None:
                raise
            y = self.robot.independent_from_actuator(u, guess=last)
        if last is None or self._near(y):
            return y
        other = self.robot.independent_from_actuator(u, guess=last)
        if self._near(other):
            return other
        j = int(np.argmax(np.abs(y - last)))
        name = self.robot.names.independent[j]
        raise ClosureNotFound(
            f"{name} would jump from {last[j]:.4g} to {y[j]:.4g} (allowed: {self.max_jump:g}): a "
            "wrong measurement or another assembly mode",
            submechanism=name,
            reason="branch",
        )

    def _near(self, y: Array) -> bool:
        return self._last is not None and bool(np.abs(y - self._last).max() <= self.max_jump)


def _require_inside(limits: Limits, positions: Array) -> None:
    outside = limits.outside(positions[None])
    if outside is not None:
        raise InvalidInput(f"not believed: {outside[2]}, tolerance included")


def _solve(G_u: Array, ud: Array, y: Array) -> Array:
    """yd of G_u yd = ud; least squares where there are more actuators than joints."""
    try:
        if G_u.shape[0] == G_u.shape[1]:
            return np.asarray(np.linalg.solve(G_u, ud), dtype=float)
        return np.asarray(np.linalg.lstsq(G_u, ud, rcond=None)[0], dtype=float)
    except np.linalg.LinAlgError as error:
        raise ActuationSingular("G_u is singular", submechanism="", y=y) from error


def _require_credible(limits: Limits, velocities: Array) -> None:
    wild = np.abs(velocities) > WILD * limits.velocity
    if wild.any():
        k = int(np.argmax(wild))
        raise InvalidInput(
            f"not believed: {limits.names[k]} at a speed of {abs(velocities[k]):.4g}, its limit is "
            f"{limits.velocity[k]:.4g}"
        )
