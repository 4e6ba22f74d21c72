"""The simulated robot: native RK4 steps in minimal coordinates. No ROS in here.

States are (y, yd), so the loops are closed by construction at every step: nothing drifts and
nothing has to be stabilised (``stepping``). Stops at the joint limits are inelastic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from ..arrays import Array
from ..dynamics.parameters import add_friction, parameter_view
from ..errors import InvalidInput
from ..model.joint_limits import Limits
from ..motion.efforts import feedback_acceleration
from ..quantities.links import body_poses
from ..robot import Robot
from .payload import Carried
from .stepping import Friction, Stepper


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


class Plant:
    """State of the simulated robot.

    Attributes:
        y, yd: independent positions and velocities, (m,); with a floating base y has 7 + the rest.
        tau: (p,) actuator efforts applied last.
        carried: whoever knows the dynamic parameters that count at present; None: the model's.
    """

    def __init__(
        self, robot: Robot, physics: Physics, y0: Array, carried: Carried | None = None
    ) -> None:
        self.robot = robot
        self.physics = physics
        self.carried = carried
        mech = robot.mechanism
        self._joints = mech.flat  # where they are in y and in yd
        self.limits = Limits.of(
            mech.tree, [mech.joint_name(b) for b in mech.scalar_joints(mech.independent)]
        )
        self.actuator_limits = Limits.of(robot.mechanism.tree, robot.names.actuator)
        self._friction = Friction(physics.viscous, physics.coulomb).coefficients(robot.mechanism)
        self._free = Stepper(robot.programs, friction=self._friction)
        self._pushed = (
            self._free if self._free.takes_wrenches else Stepper(robot.programs, wrenches=True)
        )
        loaded = self._parameters is not None
        self._loaded = Stepper(robot.programs, parameters=True) if loaded else self._free
        self._steppers = {self._free, self._pushed, self._loaded}
        if physics.end_stops:
            lower, upper = (np.full(robot.mechanism.n_y, x) for x in (-np.inf, np.inf))
            lower[self._joints[0]] = self.limits.lower
            upper[self._joints[0]] = self.limits.upper
            for stepper in self._steppers:
                stepper.stop_outside(lower, upper)
        problem = self.limits.outside(y0[None, self._joints[0]])
        if problem is not None:
            raise InvalidInput(f"initial position: {problem[2]}")
        robot.state(y0)  # reachable, or this says why not
        self._y0 = y0.copy()
        self.reset()

    def prepare(self) -> None:
        """Compile what only some states need, rather than when the robot gets there."""
        for stepper in self._steppers:
            stepper.prepare()

    def reset(self) -> None:
        """Back to the initial position, at rest."""
        self.y, self.yd = self._y0.copy(), np.zeros(self.robot.m)
        self.tau = np.zeros(self.robot.p)
        self._hold: Array | None = None
        self._wrenches: dict[str, Array] = {}
        self._pushes: Array | None = None
        for stepper in self._steppers:
            stepper.forget()

    # -- what acts on it ------------------------------------------------------------------------

    @property
    def wrenches(self) -> Mapping[str, Array]:
        """Link -> (6,) [moment; force] at the link origin, in the link frame; see :meth:`push`."""
        return MappingProxyType(self._wrenches)

    def push(self, link: str, wrench: Array) -> None:
        """Let a wrench act on a link from now on, in place of an earlier one; zero: none."""
        changed = {name: w for name, w in self._wrenches.items() if name != link}
        if wrench.any():
            changed[link] = wrench
        self._pushes = self.robot.body_wrenches(changed) if changed else None
        self._wrenches = changed

    def _apply(self, tau: Array | None) -> None:
        if tau is None:
            tau = self._holding()
        else:
            self._hold = None
        limit = self.actuator_limits.effort
        self.tau = np.clip(tau, -limit, limit) if self.physics.clip_effort else tau

    def _holding(self) -> Array:
        """Efforts of a critically damped spring to where holding began, gravity compensated."""
        if self._hold is None:
            self._hold = self.y.copy()
        rest, pi, b = np.zeros(self.robot.m), self._parameters, self.robot.mechanism.flying
        away = self.robot.difference(self.y, self._hold)
        ydd = feedback_acceleration(self.physics.hold_frequency, rest, away, -self.yd)
        if b:  # nothing holds what flies: it moves as the joints let it
            M = self._mass_matrix()
            C = self.robot.generalized_forces(self.y, self.yd, rest, parameters=pi)
            ydd[b] = 0.0
            ydd[b] = np.linalg.solve(M[np.ix_(b, b)], -C[b] - M[b] @ ydd)
        return self.robot.inverse_dynamics(self.y, self.yd, ydd, parameters=pi)

    @property
    def _parameters(self) -> Array | None:
        """(parameters,) of the loaded robot; None: those of the model."""
        return None if self.carried is None else self.carried.parameters

    def _mass_matrix(self) -> Array:
        return self.robot.mass_matrix(self.y, parameters=self._parameters)

    # -- time -----------------------------------------------------------------------------------

    def advance(self, tau: Array | None, duration: float) -> None:
        """Simulate ``duration`` seconds under constant efforts, or holding still for None.

        Raises:
            ClosedLoopError: the motion meets a singularity. The robot then stands still at the last
                good state and goes on from there.
        """
        left = max(1, round(duration / self.physics.step))
        while left:
            self._apply(tau)
            pi = self._parameters
            stepper = self._free if self._pushes is None else self._pushed
            if pi is not None:
                stepper, pi = self._loaded, add_friction(self.robot.mechanism, pi, self._friction)
            count, h = 1 if tau is None else left, self.physics.step
            progress = stepper.run(self.y, self.yd, self.tau, h, count, self._pushes, pi)
            self.y, self.yd = progress.y, progress.yd
            left -= progress.steps
            if progress.error is not None:
                self.yd = np.zeros(self.robot.m)
                raise progress.error
            if self.physics.end_stops:
                self._stop()

    def _stop(self) -> None:
        """Inelastic impact at the position limits: Δẏ = -M⁻¹ e (eᵀ M⁻¹ e)⁻¹ ẏ_j."""
        low, high = self.limits.lower, self.limits.upper
        own, places = self._joints
        y = self.y[own]
        if ((y >= low) & (y <= high)).all():
            return
        before = self._momentum_matrix() @ self.yd if self.robot.mechanism.floating else None
        self.y[own] = np.clip(y, low, high)
        for j in np.flatnonzero((y < low) | (y > high)):
            speed = self.yd[places[j]]
            outwards = speed < 0.0 if y[j] < low[j] else speed > 0.0
            if outwards:
                e = np.zeros(self.robot.m)
                e[places[j]] = 1.0
                column = np.linalg.solve(self._mass_matrix(), e)
                self.yd = self.yd - column * (speed / column[places[j]])
        if before is not None:  # what happens inside a free robot leaves its momentum alone
            A = self._momentum_matrix()
            self.yd[:6] += np.linalg.solve(A[:, :6], before - A @ self.yd)

    def _momentum_matrix(self) -> Array:
        """(6, m) momentum about the centre of mass per yd, in the axes of the floating base."""
        A = self._mass_matrix()[:6]
        to_center = A[:3, 3:6] / A[3, 3]  # [c]x, as the base block is the composite inertia
        A[:3] -= to_center @ A[3:]
        return A

    def energy(self) -> tuple[float, float]:
        """Kinetic and potential energy [J], see :meth:`Robot.energy`, with what it carries."""
        pi, mech = self._parameters, self.robot.mechanism
        kinetic, potential = self.robot.energy(self.y, self.yd)
        if pi is None:
            return float(kinetic), float(potential)
        added = parameter_view(mech, pi - self.robot.dynamic_parameters)
        T = body_poses(mech, self.robot.state(self.y).q)
        moment = np.einsum("bij,bj->i", T[:, :3, :3], added.first_moment)
        moment += added.mass @ T[:, :3, 3]
        potential -= np.array(mech.gravity) @ moment
        return 0.5 * float(self.yd @ self._mass_matrix() @ self.yd), float(potential)
