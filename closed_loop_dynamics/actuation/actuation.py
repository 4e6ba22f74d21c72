"""``robot.actuation``: between actuators and independent joints, as hardware has it.

Everything here is NumPy around a few native programs: meant for set-up, planning and slow loops.
The hot paths are ``inverse_dynamics`` and ``forward_dynamics``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, as_finite_numbers, as_finite_vectors
from ..errors import ActuationInfeasible, InvalidInput
from ..simulation.payload import Payload
from .blocks import Block, Bounds
from .force_distribution import (
    LARGEST_RATIO,
    TOLERANCE,
    Distribution,
    distribute,
    nearest,
    possible_fraction,
)
from .limits import ActuationLimits
from .maps import ActuationMaps
from .undriven import underactuated_error


class Actuation(ActuationMaps, ActuationLimits):
    """Maps, limits and force distribution between actuators (u) and independent joints (y).

    With a floating base its six entries of yd and tau_y are left alone: no actuator drives them.
    """

    def distribute(
        self,
        y: ArrayLike,
        tau_y: ArrayLike,
        weights: ArrayLike | None = None,
        bounds: Bounds = None,
        guess: ArrayLike | None = None,
    ) -> Array:
        """Actuator forces tau_u (p,) that give ``tau_y`` (m,) at the least sum of w_k tau_k^2.

        Args:
            weights: (p,) positive; 1 / (largest force)^2 shares by strength. Default: all one.
            bounds: (lower, upper), each (p,), or ``"urdf"`` for the effort limits of the URDF.

        Raises:
            ActuationInfeasible: the bounds do not allow it; carries the best that they allow.
            Underactuated, ActuationSingular: no forces at all give ``tau_y``.
        """
        y = as_finite_vectors(y, "y", self._robot.mechanism.n_y)
        tau_y = as_finite_vectors(tau_y, "tau_y", self._robot.m)
        w = np.ones(self._robot.p)
        if weights is not None:
            w = as_finite_numbers(weights, "weights", self._robot.p)
            if w.ndim != 1 or np.any(w <= 0.0):
                raise InvalidInput("weights must be (p,) positive numbers")
            if np.max(w, initial=1.0) / np.min(w, initial=1.0) > LARGEST_RATIO:
                raise InvalidInput(f"weights differ by more than {LARGEST_RATIO:g}; scale them")
        lower, upper = self._bounds(bounds, lambda limits: (-limits.effort, limits.effort))
        G_u = self._robot.actuator_jacobian(y, guess)
        if G_u.ndim == 2 and tau_y.ndim == 1:
            return self._distribute(G_u, y, tau_y, w, lower, upper)
        count = len(y) if y.ndim == 2 else len(tau_y)
        if tau_y.ndim == 2 and len(tau_y) != count:
            raise InvalidInput(f"batches of different length: y {len(y)}, tau_y {len(tau_y)}")
        samples = zip(
            np.broadcast_to(G_u, (count, *G_u.shape[-2:])),
            np.broadcast_to(y, (count, y.shape[-1])),
            np.broadcast_to(tau_y, (count, tau_y.shape[-1])),
            strict=True,
        )
        rows = [self._distribute(*sample, w, lower, upper) for sample in samples]
        return np.array(rows).reshape(count, self._robot.p)

    def _distribute(
        self, G_u: Array, y: Array, tau_y: Array, w: Array, lower: Array, upper: Array
    ) -> Array:
        tau_u = np.zeros(self._robot.p)
        for block in self._blocks:
            A = block.of(G_u).T
            b = tau_y[block.independent]
            u = block.actuators
            found = self._scaled_distribution(block, G_u, b, w[u], lower[u], upper[u])
            if not found.in_range:
                if len(u) < len(b):
                    raise underactuated_error(self._robot, block.component)
                raise self._singular(block, y)
            if found.tau is None:
                best = nearest(A, b, lower[u], upper[u])
                if np.max(np.abs(A @ best - b)) > TOLERANCE * np.max(np.abs(b)):
                    raise self._infeasible(block, A, b, best, lower[u], upper[u])
                tau_u[u] = best  # the limits leave this one point
            else:
                tau_u[u] = found.tau / block.sizes[0]
        return tau_u

    @staticmethod
    def _scaled_distribution(
        block: Block, G_u: Array, b: Array, w: Array, lower: Array, upper: Array
    ) -> Distribution:
        """The problem without dimensions: forces of prismatic joints times the loop's length."""
        size_u, size_y = block.sizes
        A = block.scaled(G_u).T
        return distribute(A, b * size_y, w / size_u**2, lower * size_u, upper * size_u)

    def _infeasible(
        self, block: Block, A: Array, b: Array, best: Array, lower: Array, upper: Array
    ) -> ActuationInfeasible:
        fraction = possible_fraction(A, b, lower, upper)
        names = ", ".join(self._robot.names.actuator[k] for k in block.actuators)
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

    def statics(
        self,
        y: ArrayLike,
        wrenches: Mapping[str, ArrayLike],
        weights: ArrayLike | None = None,
        bounds: Bounds = None,
        guess: ArrayLike | None = None,
    ) -> Array:
        """Actuator forces (p,) that balance wrenches on links, gravity left out."""
        forces = self._robot.body_wrenches(wrenches)
        return self.distribute(
            y, self._robot.run("statics", guess, y, forces), weights, bounds, guess
        )

    def gravity_compensation(
        self,
        y: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        payload: Mapping[str, Payload] | None = None,
        weights: ArrayLike | None = None,
        bounds: Bounds = None,
        guess: ArrayLike | None = None,
    ) -> Array:
        """Actuator forces (p,) that hold the robot still, with what it carries and what pushes."""
        rest = np.zeros(self._robot.m)
        tau_y = self._robot.generalized_forces(y, rest, rest, wrenches, guess, payload=payload)
        return self.distribute(y, tau_y, weights, bounds, guess)

    def force_from_independent(
        self, y: ArrayLike, tau_y: ArrayLike, guess: ArrayLike | None = None
    ) -> Array:
        """tau_u (p,) with G_u^T tau_u = tau_y, of minimum norm; see :meth:`distribute`."""
        return self.distribute(y, tau_y, guess=guess)

    def disagreement(self, u: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """(p,) measured ``u`` minus the positions of the best-fitting configuration.

        Zero, to rounding, unless there are more actuators than degrees of freedom and their
        encoders contradict each other.
        """
        measured = as_finite_vectors(u, "u", self._robot.p)
        fitted = self._robot.state(self._robot.independent_from_actuator(measured, guess)).u
        return np.asarray(measured - fitted)
