"""Velocities, forces, stiffness and damping between actuators and independent joints."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Guess, Vec, as_finite_numbers, as_finite_vectors, as_one_vector
from ..dynamics.actuation_rank import RANK_TOLERANCE
from ..errors import InvalidInput
from ..programs import Programs
from ..quantities.state import actuator_jacobian
from .blocks import Blocks
from .undriven import direction_words, require_actuators


class ActuationMaps:
    """Maps at one configuration or a batch of them.

    K_u, D_u are (p,) for springs and dampers at single actuators, or (p, p). ``guess`` (n,) is a
    spanning configuration that selects the assembly mode, as everywhere.
    """

    def __init__(self, programs: Programs, blocks: Blocks) -> None:
        self._programs, self._blocks = programs, blocks

    # -- velocities and forces ------------------------------------------------------------------

    def velocity_to_actuator(self, y: Vec, yd: Vec, guess: Guess = None) -> Array:
        """ud (p,) = G_u yd."""
        return _times(actuator_jacobian(self._programs, y, guess), yd, "yd")

    def velocity_from_actuator(self, y: Vec, ud: Vec, guess: Guess = None) -> Array:
        """yd (m,) with G_u yd = ud; of redundant actuators in the sense of least squares."""
        return _times(self._inverse(y, guess), ud, "ud")

    def force_to_independent(self, y: Vec, tau_u: Vec, guess: Guess = None) -> Array:
        """tau_y (m,) = G_u^T tau_u."""
        G_u = actuator_jacobian(self._programs, y, guess)
        return _times(np.swapaxes(G_u, -1, -2), tau_u, "tau_u")

    def _inverse(self, y: Vec, guess: Guess) -> Array:
        """(..., m, p) inverse (or pseudo-inverse) of G_u, block by block."""
        require_actuators(self._programs)
        G_u = actuator_jacobian(self._programs, y, guess)
        result = np.zeros((*G_u.shape[:-2], self._programs.m, self._programs.p))
        for block in self._blocks:
            s = np.linalg.svd(block.scaled(G_u), compute_uv=False)
            if np.any(s[..., -1] <= RANK_TOLERANCE):
                raise block.singular(y)
            places = (..., np.array(block.independent)[:, None], np.array(block.actuators))
            result[places] = np.linalg.pinv(block.of(G_u))
        return result

    # -- stiffness and damping ------------------------------------------------------------------

    def damping_to_independent(self, y: Vec, D_u: Vec, guess: Guess = None) -> Array:
        """D_y (m, m) = G_u^T D_u G_u of dampers tau_u = -D_u ud."""
        G_u = actuator_jacobian(self._programs, y, guess)
        return np.asarray(np.swapaxes(G_u, -1, -2) @ self._square(D_u, "D_u") @ G_u)

    def damping_from_independent(self, y: Vec, D_y: Vec, guess: Guess = None) -> Array:
        """D_u (p, p) that gives D_y; of minimum norm for redundant actuators."""
        back = self._inverse(y, guess)
        return np.asarray(np.swapaxes(back, -1, -2) @ self._square(D_y, "D_y") @ back)

    def stiffness_to_independent(
        self, y: Vec, K_u: Vec, tau_u: Vec | None = None, guess: Guess = None
    ) -> Array:
        """K_y (m, m) = -d tau_y / dy of springs K_u = -d tau_u / du that carry ``tau_u`` (p,).

        K_y = G_u^T K_u G_u - sum_k tau_u,k d2u_k/dy2: a loaded transmission whose ratio changes is
        a spring by itself (``geometric_stiffness``).
        """
        K_y = self.damping_to_independent(y, self._square(K_u, "K_u"), guess)
        return K_y if tau_u is None else K_y - self.geometric_stiffness(y, tau_u, guess)

    def stiffness_from_independent(
        self, y: Vec, K_y: Vec, tau_u: Vec | None = None, guess: Guess = None
    ) -> Array:
        """K_u (p, p) with which actuators that carry ``tau_u`` give K_y."""
        K = self._square(K_y, "K_y")
        if tau_u is not None:
            K = K + self.geometric_stiffness(y, tau_u, guess)
        back = self._inverse(y, guess)
        return np.asarray(np.swapaxes(back, -1, -2) @ K @ back)

    def geometric_stiffness(self, y: Vec, tau_u: Vec, guess: Guess = None) -> Array:
        """(m, m) d(G_u^T tau_u)/dy at constant tau_u."""
        rest = np.zeros(self._programs.m)
        return self._programs.run("geometric_stiffness", guess, y, rest, tau_u)

    def _square(self, value: Vec, name: str) -> Array:
        """(size,) as a diagonal matrix, (size, size) as it is."""
        size = self._programs.p if name.endswith("_u") else self._programs.m
        matrix = as_finite_numbers(value, name, size)
        if matrix.ndim == 1:
            return np.diag(matrix)
        if len(matrix) != size:
            raise InvalidInput(f"{name} has shape {matrix.shape}; expected ({size}, {size})")
        return matrix

    # -- what is and is not driven --------------------------------------------------------------

    def undriven(self, y: Vec, guess: Guess = None) -> Array:
        """(k, m) directions yd that move no actuator; no actuator force does work along them.

        Those of a floating base are not listed.
        """
        one = as_one_vector(y, "y", self._programs.mechanism.n_y)
        G_u = actuator_jacobian(self._programs, one, guess)
        rows = [np.zeros((0, self._programs.m))]
        for block in self._blocks:
            found = block.undriven(G_u)
            wide = np.zeros((len(found), self._programs.m))
            wide[:, block.independent] = found
            rows.append(wide)
        return np.vstack(rows)

    def undriven_words(self, y: Vec, guess: Guess = None) -> list[str]:
        """The same in words: ``"0.71 hip - 0.71 knee"``."""
        return [direction_words(d, list(self._blocks.names)) for d in self.undriven(y, guess)]


def _times(A: Array, vector: Vec, name: str) -> Array:
    """A v for one or many of each."""
    v = as_finite_vectors(vector, name, A.shape[-1])
    if A.ndim == 3 and v.ndim == 2 and len(A) != len(v):
        raise InvalidInput(f"batches of different length: y {len(A)}, {name} {len(v)}")
    return np.asarray((A @ v[..., None])[..., 0])
