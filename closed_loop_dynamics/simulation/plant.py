"""The simulated robot: native RK4 steps in minimal coordinates. No ROS in here.

States are (y, yd), so the loops are closed by construction at every step: nothing drifts and
nothing has to be stabilised (``stepping``). Stops at the joint limits are inelastic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np

from ..arrays import Array
from ..dynamics.parameters import add_friction, parameter_view
from ..errors import InvalidInput
from ..model.joint_limits import Limits
from ..quantities.links import body_poses
from ..robot import Robot
from .drives import Drives
from .payload import Carried
from .stepping import Friction, Progress, Stepper


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
        limit_speed: hold back commands that would make a joint faster than the URDF allows, or
            run it into its stop.
    """

    step: float = 1e-3
    viscous: Mapping[str, float] = field(default_factory=dict)
    coulomb: Mapping[str, float] = field(default_factory=dict)
    clip_effort: bool = True
    end_stops: bool = True
    hold_frequency: float = 20.0
    limit_speed: bool = False


class Plant:
    """State of the simulated robot.

    Attributes:
        y, yd: independent positions and velocities, (m,); with a floating base y has 7 + the rest.
        tau: (p,) actuator efforts applied last.
        drives: what becomes of commanded efforts.
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
        self.drives = Drives(
            robot,
            physics.clip_effort,
            physics.hold_frequency,
            physics.limit_speed,
            self.limits if physics.end_stops else None,
        )
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
        self.drives.forget()
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

    @property
    def _parameters(self) -> Array | None:
        """(parameters,) of the loaded robot; None: those of the model."""
        return None if self.carried is None else self.carried.parameters

    def _mass_matrix(self, y: Array) -> Array:
        return self.robot.mass_matrix(y, parameters=self._parameters)

    # -- time -----------------------------------------------------------------------------------

    def advance(self, tau: Array | None, duration: float) -> None:
        """Simulate ``duration`` seconds under constant efforts, or holding still for None.

        Raises:
            ClosedLoopError: the motion meets a singularity. The robot then stands still at the last
                good state and goes on from there.
        """
        left = max(1, round(duration / self.physics.step))
        self.drives.held_back = ""
        while left:
            self.tau = self.drives.efforts(tau, self.y, self.yd, self._parameters)
            run = partial(self._run, 1 if tau is None or self.drives.slow else left)
            progress = run(self.tau)
            if self.drives.slow:
                self.tau, progress = self.drives.slowed(
                    self.tau, progress, run, self.y, self.yd, self._parameters
                )
            self.y, self.yd = progress.y, progress.yd
            left -= progress.steps
            if progress.error is not None:
                self.yd = np.zeros(self.robot.m)
                raise progress.error

    def _run(self, count: int, tau: Array) -> Progress:
        """Steps under constant efforts, from where the robot is; it stays there."""
        stepper, pi = self._free if self._pushes is None else self._pushed, self._parameters
        if pi is not None:
            stepper, pi = self._loaded, add_friction(self.robot.mechanism, pi, self._friction)
        found = stepper.run(self.y, self.yd, tau, self.physics.step, count, self._pushes, pi)
        if self.physics.end_stops and found.error is None:
            self._stop(found.y, found.yd)
        return found

    def _stop(self, y: Array, yd: Array) -> None:
        """Inelastic impact at the position limits: Δẏ = -M⁻¹ e (eᵀ M⁻¹ e)⁻¹ ẏ_j, in place."""
        low, high = self.limits.lower, self.limits.upper
        own, places = self._joints
        reached = y[own]
        if ((reached >= low) & (reached <= high)).all():
            return
        before = self._momentum_matrix(y) @ yd if self.robot.mechanism.floating else None
        y[own] = np.clip(reached, low, high)
        for j in np.flatnonzero((reached < low) | (reached > high)):
            speed = yd[places[j]]
            outwards = speed < 0.0 if reached[j] < low[j] else speed > 0.0
            if outwards:
                e = np.zeros(self.robot.m)
                e[places[j]] = 1.0
                column = np.linalg.solve(self._mass_matrix(y), e)
                yd -= column * (speed / column[places[j]])
        if before is not None:  # what happens inside a free robot leaves its momentum alone
            A = self._momentum_matrix(y)
            yd[:6] += np.linalg.solve(A[:, :6], before - A @ yd)

    def _momentum_matrix(self, y: Array) -> Array:
        """(6, m) momentum about the centre of mass per yd, in the axes of the floating base."""
        A = self._mass_matrix(y)[:6]
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
        return 0.5 * float(self.yd @ self._mass_matrix(self.y) @ self.yd), float(potential)
