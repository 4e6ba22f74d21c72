"""The simulated robot: RK4 in minimal coordinates. No ROS in here.

States are (y, yd), so the loops are closed by construction at every step: nothing drifts and
nothing has to be stabilised. Stops at the joint limits are inelastic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import ClosedLoopError, InvalidInput, did_you_mean
from ..robot import Robot
from ..robot_parts.limits import Limits
from ..robot_parts.payload import Carried

Array = NDArray[np.float64]
Acceleration = Callable[[Array, Array], Array]
#: Speed at which dry friction has reached 76 % of its value [rad/s or m/s].
STICTION_SPEED = 1e-2


@dataclass(frozen=True)
class Physics:
    """What is simulated besides the rigid bodies.

    Attributes:
        step: integration step [s].
        viscous, coulomb: joint -> friction [N·m·s/rad or N·s/m] and [N·m or N]; any spanning joint.
        clip_effort: keep commanded efforts within the URDF's limits.
        end_stops: stop at the position limits of the independent joints.
        hold_frequency: natural frequency of the fallback that holds the robot [rad/s]; higher is
            stiffer.
    """

    step: float = 1e-3
    viscous: Mapping[str, float] = field(default_factory=dict)
    coulomb: Mapping[str, float] = field(default_factory=dict)
    clip_effort: bool = True
    end_stops: bool = True
    hold_frequency: float = 20.0


def rk4_step(acceleration: Acceleration, y: Array, yd: Array, h: float) -> tuple[Array, Array]:
    """One classical Runge-Kutta step of ydd = acceleration(y, yd)."""
    a1 = acceleration(y, yd)
    v2 = yd + 0.5 * h * a1
    a2 = acceleration(y + 0.5 * h * yd, v2)
    v3 = yd + 0.5 * h * a2
    a3 = acceleration(y + 0.5 * h * v2, v3)
    v4 = yd + h * a3
    a4 = acceleration(y + h * v3, v4)
    return y + h / 6.0 * (yd + 2.0 * (v2 + v3) + v4), yd + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)


class Plant:
    """State of the simulated robot.

    Attributes:
        y, yd: (m,) independent positions and velocities.
        tau: (p,) actuator efforts applied last.
        wrenches: link -> (6,) [moment; force] at the link origin, in the link frame.
        carried: whoever knows the dynamic parameters that count at present; None: the model's.
    """

    def __init__(
        self, robot: Robot, physics: Physics, y0: Array, carried: Carried | None = None
    ) -> None:
        self.robot = robot
        self.carried = carried
        self.physics = physics
        self.wrenches: dict[str, Array] = {}
        self.limits = Limits.of(robot, robot.names.independent)
        self._effort = Limits.of(robot, robot.names.actuator).effort
        self._viscous = _per_joint(robot, physics.viscous)
        self._coulomb = _per_joint(robot, physics.coulomb)
        self._friction = bool(self._viscous.any() or self._coulomb.any())
        problem = self.limits.outside(y0[None])
        if problem is not None:
            raise InvalidInput(f"initial position: {problem[2]}")
        robot.state(y0)  # reachable, or this says why not
        self._y0 = y0.copy()
        self.reset()

    def reset(self) -> None:
        """Back to the initial position, at rest."""
        self.y, self.yd = self._y0.copy(), np.zeros(self.robot.m)
        self.tau = np.zeros(self.robot.p)
        self._hold: Array | None = None
        self.wrenches.clear()

    def advance(self, tau: Array | None, duration: float) -> None:
        """Simulate ``duration`` seconds under constant efforts, or holding still for None.

        Raises:
            ClosedLoopError: the motion meets a singularity. The robot then stands still at the last
                good state and goes on from there.
        """
        for _ in range(max(1, round(duration / self.physics.step))):
            self._apply(tau)
            try:
                y, yd = rk4_step(self._acceleration, self.y, self.yd, self.physics.step)
                self.robot.state(y)  # the stages may close where the result does not
            except ClosedLoopError:
                self.yd = np.zeros(self.robot.m)
                raise
            self.y, self.yd = y, yd
            if self.physics.end_stops:
                self._stop()

    def _apply(self, tau: Array | None) -> None:
        if tau is None:
            tau = self._holding()
        else:
            self._hold = None
        self.tau = np.clip(tau, -self._effort, self._effort) if self.physics.clip_effort else tau

    def _holding(self) -> Array:
        """Efforts of a critically damped spring to where holding began, gravity compensated."""
        if self._hold is None:
            self._hold = self.y.copy()
        w = self.physics.hold_frequency
        ydd = w * w * (self._hold - self.y) - 2.0 * w * self.yd
        return self.robot.inverse_dynamics(self.y, self.yd, ydd, parameters=self._parameters)

    def _acceleration(self, y: Array, yd: Array) -> Array:
        ydd = self.robot.forward_dynamics(
            y, yd, self.tau, self.wrenches or None, parameters=self._parameters
        )
        if self._friction:
            G = self.robot.loop_jacobian(y)
            qd = G @ yd
            drag = self._viscous * qd + self._coulomb * np.tanh(qd / STICTION_SPEED)
            ydd = ydd - np.linalg.solve(self._mass_matrix(y), G.T @ drag)
        return ydd

    @property
    def _parameters(self) -> Array | None:
        return None if self.carried is None else self.carried.parameters

    def _mass_matrix(self, y: Array) -> Array:
        return self.robot.mass_matrix(y, parameters=self._parameters)

    def _stop(self) -> None:
        """Inelastic impact at the position limits: Δẏ = -M⁻¹ e (eᵀ M⁻¹ e)⁻¹ ẏ_j."""
        low, high = self.limits.lower, self.limits.upper
        if ((self.y >= low) & (self.y <= high)).all():
            return
        for j in np.flatnonzero((self.y < low) | (self.y > high)):
            outwards = self.yd[j] < 0.0 if self.y[j] < low[j] else self.yd[j] > 0.0
            self.y[j] = min(max(self.y[j], low[j]), high[j])
            if outwards:
                e = np.zeros(self.robot.m)
                e[j] = 1.0
                column = np.linalg.solve(self._mass_matrix(self.y), e)
                self.yd = self.yd - column * (self.yd[j] / column[j])

    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy [J]; the potential is zero in the root's plane z = 0."""
        mechanism, pi = self.robot.mechanism, self._parameters
        if pi is None:
            pi = self.robot.dynamic_parameters
        g = np.array(mechanism.gravity)
        potential = 0.0
        for i, body in enumerate(mechanism.tree.bodies):
            T = self.robot.pose(body.link, self.y)
            mass, first_moment = pi[10 * i], pi[10 * i + 1 : 10 * i + 4]
            potential -= float(g @ (T[:3, :3] @ first_moment + mass * T[:3, 3]))
        return 0.5 * float(self.yd @ self._mass_matrix(self.y) @ self.yd), potential


def _per_joint(robot: Robot, values: Mapping[str, float]) -> Array:
    """(n,) values in spanning order, zero for joints not named."""
    for name, value in values.items():
        if name not in robot.names.spanning:
            raise InvalidInput(
                f"friction of unknown joint '{name}'; {did_you_mean(name, robot.names.spanning)}"
            )
        if not np.isfinite(value) or value < 0.0:
            raise InvalidInput(f"friction of '{name}' must not be negative: {value}")
    return np.array([values.get(name, 0.0) for name in robot.names.spanning])
