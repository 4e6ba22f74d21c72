"""``robot.actuation``: between actuators and independent joints, as hardware has it.

Everything here is NumPy around a few native programs: meant for set-up, planning and slow loops.
The hot paths are ``inverse_dynamics`` and ``forward_dynamics``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.linalg import pinv

from ..arrays import Array, Guess, Vec, Wrenches, as_finite_numbers, as_finite_vectors, row_by_row
from ..dynamics.actuation_rank import RANK_TOLERANCE
from ..dynamics.catalogue import GENERALIZED_FORCES
from ..errors import ActuationInfeasible, InvalidInput
from ..programs import Programs
from ..quantities.links import body_wrenches
from ..quantities.parameters import DynamicParameters
from ..quantities.state import actuator_jacobian, complete_state
from ..simulation.payload import Payloads
from .blocks import Block, Blocks, Bounds
from .encoders import independent_from_actuator
from .force_distribution import LARGEST_RATIO, TOLERANCE, distribute, nearest, possible_fraction
from .limits import ActuationLimits
from .maps import ActuationMaps
from .undriven import underactuated_error


class ActuatorForces(NamedTuple):
    """Those of :meth:`Actuation.inverse_dynamics`.

    Attributes:
        tau_u: (p,) [N or N m].
        residual: (m,) what is left of tau_y, which no actuator gives: zero if the robot can do the
            motion. The six of a floating base are the wrench that something else has to give.
    """

    tau_u: Array
    residual: Array


class Actuation:
    """Maps, limits and force distribution between actuators (u) and independent joints (y).

    With a floating base its six entries of yd and tau_y are left alone: no actuator drives them.
    """

    def __init__(self, programs: Programs, parameters: DynamicParameters) -> None:
        self._programs, self._parameters = programs, parameters
        self._mech = programs.mechanism
        self._blocks = Blocks(self._mech)
        maps = ActuationMaps(programs, self._blocks)
        self.velocity_to_actuator = maps.velocity_to_actuator
        self.velocity_from_actuator = maps.velocity_from_actuator
        self.force_to_independent = maps.force_to_independent
        self.damping_to_independent = maps.damping_to_independent
        self.damping_from_independent = maps.damping_from_independent
        self.stiffness_to_independent = maps.stiffness_to_independent
        self.stiffness_from_independent = maps.stiffness_from_independent
        self.geometric_stiffness = maps.geometric_stiffness
        self.undriven = maps.undriven
        self.undriven_words = maps.undriven_words
        limits = ActuationLimits(programs, self._blocks)
        self.velocity_limits = limits.velocity_limits
        self.force_limits = limits.force_limits
        self.position_limits = limits.position_limits

    def distribute(
        self,
        y: Vec,
        tau_y: Vec,
        weights: Vec | None = None,
        bounds: Bounds = None,
        guess: Guess = None,
    ) -> Array:
        """Actuator forces tau_u (p,) that give ``tau_y`` (m,) at the least sum of w_k tau_k^2.

        Args:
            weights: (p,) positive; 1 / (largest force)^2 shares by strength. Default: all one.
            bounds: (lower, upper), each (p,), or ``"urdf"`` for the effort limits of the URDF.

        Raises:
            ActuationInfeasible: the bounds do not allow it; carries the best that they allow.
            Underactuated, ActuationSingular: no forces at all give ``tau_y``.
        """
        y = as_finite_vectors(y, "y", self._mech.n_y)
        tau_y = as_finite_vectors(tau_y, "tau_y", self._mech.m)
        w = np.ones(self._mech.p)
        if weights is not None:
            w = as_finite_numbers(weights, "weights", self._mech.p)
            if w.ndim != 1 or np.any(w <= 0.0):
                raise InvalidInput("weights must be (p,) positive numbers")
            if np.max(w, initial=1.0) / np.min(w, initial=1.0) > LARGEST_RATIO:
                raise InvalidInput(f"weights differ by more than {LARGEST_RATIO:g}; scale them")
        if y.ndim == tau_y.ndim == 2 and len(y) != len(tau_y):
            raise InvalidInput(f"batches of different length: y {len(y)}, tau_y {len(tau_y)}")
        lower, upper = self._blocks.bounds(bounds, lambda limits: (-limits.effort, limits.effort))
        G_u = actuator_jacobian(self._programs, y, guess)
        flat = G_u.reshape(*G_u.shape[:-2], self._mech.p * self._mech.m)
        one = partial(self._distribute, w, lower, upper)
        return row_by_row("distribute", one, [flat, y, tau_y], self._mech.p)

    def _distribute(
        self, w: Array, lower: Array, upper: Array, flat: Array, y: Array, tau_y: Array
    ) -> Array:
        tau_u, G_u = np.zeros(self._mech.p), flat.reshape(self._mech.p, self._mech.m)
        for block in self._blocks:
            A = block.of(G_u).T
            b = tau_y[block.independent]
            u, (size_u, size_y) = block.actuators, block.sizes
            # Without dimensions: forces of prismatic joints times the loop's length.
            scaled = w[u] / size_u**2, lower[u] * size_u, upper[u] * size_u
            found = distribute(block.scaled(G_u).T, b * size_y, *scaled)
            if not found.in_range:
                if len(u) < len(b):
                    raise underactuated_error(self._programs, block.component)
                raise block.singular(y)
            if found.tau is None:
                best = nearest(A, b, lower[u], upper[u])
                if np.max(np.abs(A @ best - b)) > TOLERANCE * np.max(np.abs(b)):
                    raise self._infeasible(block, A, b, best, lower[u], upper[u])
                tau_u[u] = best  # the limits leave this one point
            else:
                tau_u[u] = found.tau / size_u
        return tau_u

    def _infeasible(
        self, block: Block, A: Array, b: Array, best: Array, lower: Array, upper: Array
    ) -> ActuationInfeasible:
        fraction = possible_fraction(A, b, lower, upper)
        names = ", ".join(self._programs.names.actuator[k] for k in block.actuators)
        return ActuationInfeasible(
            f"submechanism '{block.name}': {names} cannot give the independent forces {b} within "
            f"their limits; the nearest possible are {A @ best} with actuator forces {best}, in "
            f"the same direction {100 * fraction:.0f} % of what was asked",
            submechanism=block.name,
            requested=b.copy(),
            achieved=A @ best,
            best=best,
            fraction=fraction,
        )

    def inverse_dynamics(
        self,
        y: Vec,
        yd: Vec,
        ydd: Vec,
        wrenches: Wrenches = None,
        guess: Guess = None,
    ) -> ActuatorForces:
        """The actuator forces that come nearest to a motion, also of an underactuated robot.

        Where there are too few actuators, in the sense of least squares, with forces of sliders
        times the length of their loop; where there are too many, of minimum norm.
        """
        forces = None if wrenches is None else body_wrenches(self._mech, wrenches)
        tau_y = self._programs.dynamics(GENERALIZED_FORCES, guess, y, yd, ydd, wrenches=forces)
        G_u = actuator_jacobian(self._programs, y, guess)
        tau_u = np.zeros((*tau_y.shape[:-1], self._mech.p))
        for block in self._blocks:
            size_u, size_y = block.sizes
            A = np.swapaxes(block.scaled(G_u), -1, -2)
            b = (tau_y[..., block.independent] * size_y)[..., None]
            tau_u[..., block.actuators] = (pinv(A, RANK_TOLERANCE) @ b)[..., 0] / size_u
        given = (tau_u[..., None, :] @ G_u)[..., 0, :]
        return ActuatorForces(tau_u, np.asarray(tau_y - given))

    def statics(
        self,
        y: Vec,
        wrenches: Mapping[str, Vec],
        weights: Vec | None = None,
        bounds: Bounds = None,
        guess: Guess = None,
    ) -> Array:
        """Actuator forces (p,) that balance wrenches on links, gravity left out."""
        forces = body_wrenches(self._mech, wrenches)
        tau_y = self._programs.run("statics", guess, y, forces)
        return self.distribute(y, tau_y, weights, bounds, guess)

    def gravity_compensation(
        self,
        y: Vec,
        wrenches: Wrenches = None,
        payload: Payloads = None,
        weights: Vec | None = None,
        bounds: Bounds = None,
        guess: Guess = None,
    ) -> Array:
        """Actuator forces (p,) that hold the robot still, with what it carries and what pushes."""
        rest = np.zeros(self._mech.m)
        forces = None if wrenches is None else body_wrenches(self._mech, wrenches)
        pi = self._parameters.given(payload, None)
        tau_y = self._programs.dynamics(
            GENERALIZED_FORCES, guess, y, rest, rest, wrenches=forces, parameters=pi
        )
        return self.distribute(y, tau_y, weights, bounds, guess)

    def force_from_independent(self, y: Vec, tau_y: Vec, guess: Guess = None) -> Array:
        """tau_u (p,) with G_u^T tau_u = tau_y, of minimum norm; see :meth:`distribute`."""
        return self.distribute(y, tau_y, guess=guess)

    def disagreement(self, u: Vec, guess: Guess = None) -> Array:
        """(p,) measured ``u`` minus the positions of the best-fitting configuration.

        Zero, to rounding, unless there are more actuators than degrees of freedom and their
        encoders contradict each other.
        """
        measured = as_finite_vectors(u, "u", self._mech.p)
        y = independent_from_actuator(self._programs, measured, guess)
        return np.asarray(measured - complete_state(self._programs, y).u)
