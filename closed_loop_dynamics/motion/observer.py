"""Actuator measurements to independent joints, guarding the assembly mode. No ROS in here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..actuation.encoders import encoder_step
from ..arrays import Array
from ..errors import ClosedLoopError, ClosureNotFound, InvalidInput
from ..model.joint_limits import Limits
from ..robot import Robot

#: A robot may be somewhat faster than its limits; beyond this many times them an encoder is broken.
WILD = 2.0
#: No actuator is faster [rad/s or m/s].
FASTEST = 1e6
#: Differences over less time than this say nothing about speed [s].
SHORTEST = 1e-5
#: From one sample to the next: most steps of Newton's method; the longest that still follows the
#: motion, and the one after which nothing is left to do [rad or m]; how much shorter each must be
#: than the one before.
STEPS, LONGEST, CLOSE, SHORTER = 6, 0.05, 1e-8, 0.1
#: Share of the largest step that no speed within its limits explains: more is doubted.
SURPRISING = 0.25
#: Encoders that all say the very same, while their speeds lead so far, stand still [rad or m].
FROZEN = 0.05
#: What is doubted is believed when nothing else has been heard for so long [s].
SURE = 0.02


class Observation(NamedTuple):
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

    A sample near the last one is reached by a few steps from there. For others, an answer on the
    reference's assembly mode that continues the motion is taken; else the search starts from the
    last answer. What is further away than ``max_jump`` and the speeds since then explain is
    refused: encoders do not jump, assembly modes do. A smaller step that comes as a surprise is
    believed when nothing but samples that agree on it has come for :data:`SURE` seconds, two at
    least: wrong messages must not move a reference. Where both were said, here and there, here
    is believed for ``patience`` seconds. After as many seconds of refusals the guard starts anew
    from the reference's mode, because the robot may really be elsewhere. What lies outside the
    joint limits by more than ``limit_tolerance`` is never believed, however long it is claimed,
    nor are speeds above :data:`WILD` times their limits, nor speeds with which no encoder moves.

    Args:
        max_jump: largest step of an independent joint beyond what its speed explains [rad or m].
        patience: how long a jump is refused [s].
        limit_tolerance: how far outside its limits a joint may be, as a share of its range: real
            stops are not quite where the URDF has them. Infinite: no limits, for a simulated robot.
        velocity_filter: cut-off frequency [Hz] of speeds by differences, where none are measured;
            lower is smoother and later; 0: they count as zero.
        doubts: a robot is moved by what is observed: first messages and surprises are not believed
            at once. Not for a floating base.
    """

    def __init__(
        self,
        robot: Robot,
        max_jump: float = 0.2,
        patience: float = 1.0,
        limit_tolerance: float = np.inf,
        velocity_filter: float = 0.0,
        doubts: bool = False,
    ) -> None:
        self.robot = robot
        self.max_jump = max_jump
        self.patience = patience
        self._believes_limits = bool(np.isfinite(limit_tolerance))
        self._doubts = doubts and not robot.mechanism.turning
        self._filter = 2.0 * np.pi * velocity_filter
        mech = robot.mechanism
        joints = mech.scalar_joints(mech.independent)
        self._y_slots, self._yd_slots = mech.y.slots(joints), mech.yd.slots(joints)
        self._inside, inside = (
            Limits.of(mech.tree, [mech.joint_name(b) for b in bodies])
            for bodies in (joints, mech.actuator)
        )
        self._independent = self._inside.widened(limit_tolerance)
        self._actuators = inside.widened(limit_tolerance)
        self._followable = robot.p == robot.m == mech.n_y and not robot.programs.underactuated
        speed = WILD * self._independent.velocity
        if not np.isfinite(limit_tolerance):
            speed = np.full_like(speed, np.inf)
        bounds = (self._actuators, self._independent)
        self._lowest = np.concatenate([*(each.lower for each in bounds), -speed])
        self._highest = np.concatenate([*(each.upper for each in bounds), speed])
        self._last: Array | None = None
        self._doubted: Array | None = None
        self._still: tuple[Array, float, Array] | None = None
        self._refuted = -np.inf
        self._speed = np.zeros(robot.m)
        self._since = self._heard = 0.0

    def forget(self) -> None:
        """Start anew with the next sample."""
        self._last = self._doubted = self._still = None
        self._refuted = -np.inf

    def observe(
        self, time: float, u: Array, ud: Array | None = None, tau_u: Array | None = None
    ) -> Observation:
        """Independent state for actuator positions ``u`` (p,), velocities and forces.

        Args:
            time: of any steady clock [s].

        Raises:
            InvalidInput: ``u`` or its independent joints are outside their limits, or far too fast.
            ClosureNotFound: ``u`` is out of reach, or on another assembly mode.
            ActuationSingular: velocities are not determined there.
        """
        elapsed = time - self._since
        if self._last is not None and elapsed > self.patience:
            self._last = None
        y, yd = self._follow(u, ud, elapsed) or self._search(u, ud, elapsed)
        if ud is not None and self._doubts:
            self._require_motion(time, u, yd)
        self._require_no_surprise(time, y)
        self._last, self._speed, self._since = y, yd, time
        forces = None if tau_u is None else self.robot.actuator_jacobian(y).T @ tau_u
        return Observation(y, yd, forces)

    def ahead(self, seen: Observation, age: float) -> Observation:
        """Where the robot is that was seen ``age`` seconds ago: it leaves no limits on the way."""
        if self.robot.mechanism.turning:
            return seen
        limits, y = self._inside, seen.y
        low, high = np.minimum(limits.lower, y), np.maximum(limits.upper, y)
        there = np.minimum(np.maximum(y + age * seen.yd, low), high)
        return Observation(there, seen.yd, None)

    def _require_motion(self, time: float, u: Array, yd: Array) -> None:
        """Refuse speeds with which nothing moves: efforts that answer them would move the robot."""
        way = np.zeros_like(yd)
        if self._still is not None and (u == self._still[0]).all():
            way = self._still[2] + np.abs(yd) * (time - self._still[1])
        self._still = u.copy(), time, way
        if way.max(initial=0.0) > FROZEN:
            j = int(np.argmax(way))
            name = self.robot.names.independent[j]
            raise InvalidInput(
                f"not believed: {name} at a speed of {abs(yd[j]):.4g}, and no encoder moves"
            )

    def _require_no_surprise(self, time: float, y: Array) -> None:
        """Refuse a sample that is elsewhere than where the last one was going, for a while."""
        last, doubted, self._doubted = self._last, self._doubted, None
        if not self._doubts:
            return
        # Speeds within the limits need not be measured; over the time between two samples.
        most = SURPRISING * self.max_jump + (time - self._heard) * self._inside.velocity
        again = doubted is not None and (np.abs(y - doubted) <= most).all()
        elapsed, self._heard = time - self._since, time
        if last is None:
            if again:
                return
            self._doubted = y
            raise InvalidInput("not believed yet: the first message needs a second that agrees")
        step = np.abs(y - last - elapsed * self._speed)
        if (step <= most).all():
            if doubted is not None and not again:
                self._refuted = time
            return
        if again and elapsed > SURE and time - self._refuted > self.patience:
            return
        self._doubted = y
        j = int(np.argmax(step))
        raise InvalidInput(
            f"not believed yet: {self.robot.names.independent[j]} would have leapt by {step[j]:.4g}"
        )

    # -- near the last sample -------------------------------------------------------------------

    def _follow(self, u: Array, ud: Array | None, elapsed: float) -> tuple[Array, Array] | None:
        """(y, yd) a short way from the last sample; None: not short, not simple, not believed."""
        last, longest = self._last, min(LONGEST, 0.5 * self.max_jump) ** 2
        way = elapsed * self._speed
        if last is None or not self._followable or not way @ way <= longest:
            return None
        y, rates = last + way, np.zeros_like(u) if ud is None else ud
        for _ in range(STEPS):
            try:
                step, yd = encoder_step(self.robot.programs, y, u, rates)
            except ClosedLoopError:
                return None
            y = y + step
            square = float(step @ step)
            if not square <= longest:
                return None
            if square <= CLOSE**2:
                return self._believed(u, y, self._differences(y, elapsed) if ud is None else yd)
            longest = max(SHORTER**2 * square, CLOSE**2)
        return None

    def _believed(self, u: Array, y: Array, yd: Array) -> tuple[Array, Array] | None:
        """The same as in a search, at one glance."""
        numbers = np.concatenate((u, y, yd))
        if ((numbers < self._lowest) | (numbers > self._highest)).any():
            return None
        return y, yd

    # -- anywhere -------------------------------------------------------------------------------

    def _search(self, u: Array, ud: Array | None, elapsed: float) -> tuple[Array, Array]:
        """(y, yd), or why they are not believed."""
        _require_inside(self._actuators, u)
        y = self._positions(u, ud, elapsed)
        _require_inside(self._independent, y[self._y_slots])
        yd = self._differences(y, elapsed) if ud is None else self._rates(y, u, ud)
        if self._believes_limits:
            _require_credible(self._independent, yd[self._yd_slots])
        return y, yd

    def _rates(self, y: Array, u: Array, ud: Array) -> Array:
        possible = np.minimum(np.maximum(ud, -FASTEST), FASTEST)  # it will not be believed
        return encoder_step(self.robot.programs, y, u, possible)[1]

    def _differences(self, y: Array, elapsed: float) -> Array:
        """Speeds by filtered differences of positions."""
        last = self._last
        if not self._filter or last is None or len(last) != self.robot.m:
            return np.zeros(self.robot.m)
        if elapsed < SHORTEST:
            return self._speed
        share = 1.0 - np.exp(-self._filter * elapsed)
        return self._speed + share * ((y - last) / elapsed - self._speed)

    def _positions(self, u: Array, ud: Array | None, elapsed: float) -> Array:
        last = self._last
        try:
            y = self.robot.independent_from_actuator(u)
        except ClosureNotFound:
            if last is None:
                raise
            y = self.robot.independent_from_actuator(u, guess=last)
        if last is None or np.abs(y - last).max() <= self._allowed(y, u, ud, elapsed):
            return y
        other = self.robot.independent_from_actuator(u, guess=last)
        allowed = self._allowed(other, u, ud, elapsed)
        if np.abs(other - last).max() <= allowed:
            return other
        j = int(np.argmax(np.abs(y - last)))
        name = self.robot.names.independent[j]
        raise ClosureNotFound(
            f"{name} would jump from {last[j]:.4g} to {y[j]:.4g} (allowed: {allowed:.4g}): a wrong "
            "measurement or another assembly mode",
            submechanism=name,
            reason="branch",
        )

    def _allowed(self, y: Array, u: Array, ud: Array | None, elapsed: float) -> float:
        """How far a joint may have come since the last sample, by the speeds then and now."""
        speeds = [np.abs(self._speed).max()]
        if ud is not None:
            speeds.append(np.abs(self._rates(y, u, ud)).max())
        return self.max_jump + WILD * float(max(speeds)) * elapsed


def _require_inside(limits: Limits, positions: Array) -> None:
    outside = limits.outside(positions[None])
    if outside is not None:
        raise InvalidInput(f"not believed: {outside[2]}, tolerance included")


def _require_credible(limits: Limits, velocities: Array) -> None:
    wild = np.abs(velocities) > WILD * limits.velocity
    if wild.any():
        k = int(np.argmax(wild))
        raise InvalidInput(
            f"not believed: {limits.names[k]} at a speed of {abs(velocities[k]):.4g}, its limit is "
            f"{limits.velocity[k]:.4g}"
        )
