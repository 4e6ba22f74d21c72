"""The front door: ``load`` a URDF and a submechanism file, get a :class:`Robot`.

Reading order for newcomers: here, then one file of ``dynamics/``, then ``closure/``. Every method
takes one sample or a batch (leading axis) and runs one native program of ``dynamics/catalogue``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .actuation.actuation import Actuation
from .arrays import Array, as_finite_vectors
from .closure.forward_kinematics import independent_from_actuator
from .closure.smooth import Gamma, SmoothClosure
from .errors import InvalidInput, did_you_mean
from .inspection import Report, lint
from .inspection.geometry import SubmechanismGeometry
from .inspection.loop_names import component_called
from .mechanism import Mechanism, build_mechanism
from .model import read_description
from .model.digest import digest
from .model.words import SOLVERS
from .robot_parts.free_motion import FreeMotion
from .robot_parts.links import gather_wrenches, link_jacobian, link_pose, random_independent
from .robot_parts.operational_space import (
    ForceResponse,
    MassMatrixFactors,
    osim_program,
    run_factors,
    run_test_force,
)
from .robot_parts.parametric import ParametricRobot
from .robot_parts.references import forward_dynamics_by
from .robot_parts.state import State
from .simulation.payload import Payload
from .task_space import TaskSpace


def load(
    urdf: str | Path,
    submechanisms: str | Path | None = None,
    *,
    floating_base: bool = False,
    search_path: Sequence[str | Path] | str | Path = (),
    solver: str | None = None,
    closures: Mapping[str, Gamma] | None = None,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Robot:
    """Load a robot.

    Args:
        urdf: path of a URDF file, or its XML text: the spanning tree.
        submechanisms: path of a submechanism file, or its YAML text; without it every joint is its
            own actuator.
        floating_base: put a free flyer under the root link.
        search_path: folders in which ``file_path`` entries of the YAML are looked for as well.
        solver: ``"auto"``, ``"analytical"`` or ``"numerical"`` for all loops, in place of the
            file's ``solver`` words.
        closures: submechanism of type "function" -> its q = gamma(y) as a Python function of a
            CasADi SX vector (see ``closure/smooth.py``).
        gravity: (3,) acceleration of gravity in the root frame (world, floating base) [m/s^2].

    Raises:
        UrdfError, SubmechanismError: with file, place and remedy.
    """
    description = read_description(
        urdf, submechanisms, floating_base=floating_base, search_path=search_path
    )
    tree, entries = description.tree, description.submechanisms
    key = digest(tree, entries)
    if solver is not None and solver not in SOLVERS:
        raise InvalidInput(f"solver '{solver}'; {did_you_mean(solver, SOLVERS)}")
    field = as_finite_vectors(gravity, "gravity", 3)
    if field.ndim != 1:
        raise InvalidInput(f"gravity has shape {field.shape}; expected (3,)")
    mechanism = build_mechanism(tree, entries, key, closures or {})
    mechanism = replace(mechanism, gravity=tuple(field.tolist()))
    traced = [c.digest for c in mechanism.closures if isinstance(c, SmoothClosure)]
    return Robot(mechanism, digest(key, traced, mechanism.gravity), solver)


class Robot(ParametricRobot, FreeMotion):
    """Kinematics and dynamics of a series-parallel robot in its independent coordinates."""

    def __init__(self, mechanism: Mechanism, key: str, solver: str | None = None) -> None:
        super().__init__(mechanism, key, solver)
        # The two calls that control loops make: no look-up on the way.
        self._inverse_dynamics = self.program("inverse_dynamics")
        self._forward_dynamics = self.program("forward_dynamics")

    # -- kinematics -----------------------------------------------------------------------------

    def state(
        self,
        y: ArrayLike,
        yd: ArrayLike | None = None,
        ydd: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> State:
        """Complete independent positions (velocities, accelerations) to the spanning tree.

        Args:
            y: (m,) independent positions [rad or m]; with a floating base 7 + the rest.
            yd, ydd: (m,) velocities and accelerations, optional.
            guess: (n,) a spanning configuration that selects the assembly mode.

        Raises:
            ClosureNotFound: ``y`` is not reachable on the assembly mode; carries the last good q.
        """
        values: tuple[ArrayLike, ...]
        if yd is None:
            if ydd is not None:
                raise InvalidInput("ydd without yd: accelerations need velocities")
            name, values = "positions", (y,)
        elif ydd is None:
            name, values = "velocities", (y, yd)
        else:
            name, values = "state", (y, yd, ydd)
        flat = self.run(name, guess, *values)
        return State(self, flat, self._programs[name].iterations())

    def loop_jacobian(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """G (n, m): qd = G yd."""
        return self.matrix("loop_jacobian", (self.n, self.m), guess, y)

    def loop_bias(self, y: ArrayLike, yd: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """g (n,): qdd = G ydd + g."""
        return self.run("loop_bias", guess, y, yd)

    def actuator_jacobian(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """G_u (p, m): ud = G_u yd."""
        G = self.loop_jacobian(y, guess)
        rows = [self.mechanism.qd_at[b] for b in self.mechanism.actuator]
        result: Array = G[..., rows, :]
        return result

    def independent_from_actuator(self, u: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """y (m,) from measured actuator positions ``u`` (p,).

        Redundant actuators are fitted in the sense of least squares; ``actuation.disagreement(u)``
        says how much they contradict each other.

        Args:
            guess: (m,) independent positions near the answer; by default the branch of the
                reference configuration is searched.
        """
        return independent_from_actuator(self, u, guess)

    def pose(self, link: str, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """(4, 4) pose of a link in the root frame (world, for a floating base)."""
        return link_pose(self.mechanism, self.frame(link), self.run("poses", guess, y))

    def jacobian(self, link: str, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """(6, m) Jacobian of a link: [angular; linear] velocity in the link frame = J yd."""
        return link_jacobian(self.mechanism, self.frame(link), self.run("poses", guess, y))

    # -- dynamics -------------------------------------------------------------------------------

    def inverse_dynamics(
        self,
        y: ArrayLike,
        yd: ArrayLike,
        ydd: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        guess: ArrayLike | None = None,
        *,
        payload: Mapping[str, Payload] | None = None,
        parameters: ArrayLike | None = None,
    ) -> Array:
        """Actuator forces tau_u (p,) [N or N m] (cluster RNEA, then G_u^-T).

        With a floating base the joint rows only; ``generalized_forces`` has the base wrench.

        Args:
            wrenches: link -> (6,) [moment; force] at the link origin in the link frame.
            payload: link -> what it carries; parameters: in place of ``dynamic_parameters``.

        Raises:
            ActuationSingular: G_u has lost rank there.
            Underactuated: a submechanism has fewer actuators than degrees of freedom.
        """
        if self._underactuated:
            self._require_actuators()
        if wrenches is None and guess is None and payload is None and parameters is None:
            return self._inverse_dynamics(y, yd, ydd)
        pi = self._given_parameters(payload, parameters)
        return self._dynamics("inverse_dynamics", wrenches, guess, y, yd, ydd, pi=pi)

    def generalized_forces(
        self,
        y: ArrayLike,
        yd: ArrayLike,
        ydd: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        guess: ArrayLike | None = None,
        *,
        payload: Mapping[str, Payload] | None = None,
        parameters: ArrayLike | None = None,
    ) -> Array:
        """Independent forces tau_y (m,) = M_y ydd + C_y (cluster RNEA)."""
        pi = self._given_parameters(payload, parameters)
        return self._dynamics("generalized_forces", wrenches, guess, y, yd, ydd, pi=pi)

    def forward_dynamics(
        self,
        y: ArrayLike,
        yd: ArrayLike,
        tau_u: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        guess: ArrayLike | None = None,
        method: str = "cluster_aba",
        *,
        payload: Mapping[str, Payload] | None = None,
        parameters: ArrayLike | None = None,
    ) -> Array:
        """Independent accelerations ydd (m,) from actuator forces.

        Args:
            method: ``"cluster_aba"`` (default), or the references ``"projection"`` and
                ``"lagrange"`` (these with the model's own parameters only).
        """
        plain = payload is None and parameters is None
        if wrenches is None and guess is None and plain and method == "cluster_aba":
            return self._forward_dynamics(y, yd, tau_u)
        if method == "cluster_aba":
            pi = self._given_parameters(payload, parameters)
            return self._dynamics("forward_dynamics", wrenches, guess, y, yd, tau_u, pi=pi)
        if not plain:
            raise InvalidInput(f"method '{method}' takes no payload and no parameters")
        return forward_dynamics_by(self, method, y, yd, tau_u, wrenches, guess)

    def mass_matrix(
        self,
        y: ArrayLike,
        guess: ArrayLike | None = None,
        *,
        payload: Mapping[str, Payload] | None = None,
        parameters: ArrayLike | None = None,
    ) -> Array:
        """M_y (m, m) in independent coordinates."""
        pi = self._given_parameters(payload, parameters)
        if pi is None:
            return self.matrix("mass_matrix", (self.m, self.m), guess, y)
        return self.matrix("mass_matrix_parameters", (self.m, self.m), guess, y, pi)

    def inverse_mass_matrix(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """M_y^-1 (m, m) = W^T D^-1 W by innovations (R. Kumar et al. 2022, Eq. 27).

        From the articulated inertias D and U of the clusters; M_y is not formed.
        """
        return self.matrix("inverse_mass_matrix", (self.m, self.m), guess, y)

    def mass_matrix_factors(
        self, y: ArrayLike, guess: ArrayLike | None = None
    ) -> MassMatrixFactors:
        """W and D of M_y^-1 = W^T D^-1 W, each (m, m); det M_y = det D.

        W is the identity plus entries for joints further inwards, D is block-diagonal (one block
        per cluster), so both are cheap to multiply with or to solve.
        """
        return run_factors(self, y, guess)

    def inverse_osim(
        self, links: Sequence[str], y: ArrayLike, guess: ArrayLike | None = None
    ) -> Array:
        """Inverse operational-space inertia Lambda^-1 = J M_y^-1 J^T (6k, 6k) of k links.

        By extended force propagators (cluster EFPA), without J and M_y. A program is compiled
        for every list of links that is asked for.

        Args:
            links: names, in the order of the blocks; a name may come twice, and the root link of a
                fixed base gives zeros. Blocks are [angular; linear] in the frame of each link.
        """
        name = osim_program(self, links)
        return self.matrix(name, (6 * len(links), 6 * len(links)), guess, y)

    def apply_test_force(
        self, link: str, wrench: ArrayLike, y: ArrayLike, guess: ArrayLike | None = None
    ) -> ForceResponse:
        """Accelerations that a force alone causes: no motion, no gravity, no actuator forces.

        Args:
            wrench: (6,) [moment; force] at the origin of the link, in its frame.

        Returns:
            ``ydd`` (m,) = M_y^-1 J^T f, and ``acceleration`` (6,) of the link = Lambda^-1 f.
        """
        return run_test_force(self, link, wrench, y, guess)

    def bias(self, y: ArrayLike, yd: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """C_y (m,): Coriolis, centrifugal, gravity and friction forces."""
        return self.run("bias", guess, y, yd)

    def gravity(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """Gravity forces (m,)."""
        return self.run("gravity", guess, y)

    def _dynamics(
        self,
        name: str,
        wrenches: Mapping[str, ArrayLike] | None,
        guess: ArrayLike | None,
        *values: Any,
        pi: ArrayLike | None = None,
    ) -> Array:
        if pi is not None:
            forces = self.body_wrenches(wrenches or {})
            return self.run(f"{name}_parameters", guess, *values, forces, pi)
        if wrenches is None:
            return self.run(name, guess, *values)
        return self.run(f"{name}_wrenches", guess, *values, self.body_wrenches(wrenches))

    def body_wrenches(self, wrenches: Mapping[str, ArrayLike]) -> Array:
        """Wrenches on links as one vector of wrenches on bodies, (6 * bodies,) or (N, ...)."""
        return gather_wrenches(self.mechanism, wrenches, self.frame)

    @property
    def actuation(self) -> Actuation:
        """Redundant actuators, limits, stiffness, statics: between u and y as hardware has it."""
        return Actuation(self)

    # -- inspection -----------------------------------------------------------------------------

    def report(self) -> Report:
        """The linter's findings, per submechanism."""
        return lint(self)

    def submechanism(self, name: str) -> SubmechanismGeometry:
        """Assembly modes, singularities, reachable set and transmission ratio of a closed loop.

        Args:
            name: of the entry in the submechanism file, or of an independent joint of the loop. An
                entry with several unrelated loops needs the joint: each of them is one geometry.
        """
        return SubmechanismGeometry(self, component_called(self.branches, name))

    def task_space(self, scheme: str = "nested", tolerance: float = 1e-10) -> TaskSpace:
        """The robot in the coordinates of its platform, for a parallel manipulator.

        Args:
            scheme: ``"nested"`` (loops of a limb are closed before each of its Newton steps) or
                ``"compound"`` (all in one step): Mueller 2022, Algorithms 1 and 2, or 3.
            tolerance: of every residual [m, rad]; smaller takes more iterations.

        Raises:
            SubmechanismError: no entry has a ``task_space``, or it does not fit the mechanism.
        """
        return TaskSpace(self, scheme, tolerance)

    def random_independent(self, rng: np.random.Generator, count: int | None = None) -> Array:
        """Random y within limits and reachable on the branch (continuous joints: one turn)."""
        return random_independent(self, rng, count)
