"""Inertias that a body can have, nearest to what a log says: least squares over stretched bodies.

Ten numbers are those of a body if its pseudo-inertia J (4 x 4) is positive definite (Wensing, Kim
and Slotine 2018). J = L V V^T L^T always is, for any upper triangular V with exp(.) on its diagonal
(the log-Cholesky parametrisation, Rucker and Wensing 2022); with J_model = L L^T the model is at
zero, whatever frames and units are, and the length of the coordinates is how much the body is
stretched. What the log does not determine therefore stays as near to the model as it can. Friction
and rotor inertia are bounded by zero.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..dynamics.parameters import BODY, INERTIA_ENTRIES

#: How far the model's bodies are believed to be off, as a stretch: what else is not known better.
DOUBT = 0.5
#: Thickness that a body has at least, in parts of its largest extension, and in metres.
THINNEST = 1e-2, 1e-3
#: Places of the ten coordinates in V, and what each stretches J by at first order: 2 on the
#: diagonal, else sqrt(2), in the sense of tr((J_model^-1 dJ)^2).
PLACES = ((0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
LENGTHS = np.array([2.0 if i == j else np.sqrt(2.0) for i, j in PLACES])


def pseudo_inertia(pi: Array) -> Array:
    """(..., 4, 4) of (..., 10) parameters."""
    J = np.zeros((*pi.shape[:-1], 4, 4))
    J[..., :3, :3] = _traded(_matrix(pi[..., 4:]), 0.5)
    J[..., :3, 3] = J[..., 3, :3] = pi[..., 1:4]
    J[..., 3, 3] = pi[..., 0]
    return J


def of_pseudo_inertia(J: Array) -> Array:
    """(..., 10) parameters of (..., 4, 4)."""
    I = _traded(J[..., :3, :3], 1.0)
    entries = np.stack([I[..., i, j] for i, j in INERTIA_ENTRIES], axis=-1)
    return np.concatenate([J[..., 3, 3][..., None], J[..., :3, 3], entries], axis=-1)


def _traded(A: Array, share: float) -> Array:
    """share tr(A) 1 - A: between second moments of mass and the inertia matrix."""
    trace = np.trace(A, axis1=-2, axis2=-1)[..., None, None]
    return share * trace * np.eye(3) - A


def _matrix(entries: Array) -> Array:
    I = np.zeros((*entries.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(INERTIA_ENTRIES):
        I[..., i, j] = I[..., j, i] = entries[..., k]
    return I


def possible(pi: Array) -> Array:
    """(10,) ``pi`` of a body with mass, made thick where its inertia is that of no body."""
    J = pseudo_inertia(pi)
    mass, center = pi[0], pi[1:4] / pi[0]
    extension, axes = np.linalg.eigh(J[:3, :3] - mass * np.outer(center, center))
    thinnest = max(THINNEST[0] ** 2 * extension[-1], THINNEST[1] ** 2 * mass)
    if extension[0] < thinnest:
        about_center = axes * np.maximum(extension, thinnest) @ axes.T
        J[:3, :3] = about_center + mass * np.outer(center, center)
        return of_pseudo_inertia(J)
    return pi


class Stretched:
    """pi of bodies and joints as a function of coordinates x; the model is at x = ``start``.

    Args:
        model: (parameters,) pi.
        bodies: which have coordinates; joints: places in pi of numbers that are, by ``sizes``.
    """

    def __init__(self, model: Array, bodies: Array, joints: Array, sizes: Array) -> None:
        self._model, self._joints, self._sizes = model, joints, sizes[joints]
        self._places = len(BODY) * bodies[:, None] + np.arange(len(BODY))
        real = np.array([possible(model[at]) for at in self._places]).reshape(-1, len(BODY))
        self._roots = np.linalg.cholesky(pseudo_inertia(real))
        stretch = np.zeros(self._places.size)
        self.start = np.concatenate([stretch, model[joints] / self._sizes])
        self.lower = np.concatenate([stretch - np.inf, np.zeros(len(joints))])
        self.doubts = np.concatenate([np.tile(LENGTHS, len(bodies)) / DOUBT, np.ones(len(joints))])

    def parameters(self, x: Array) -> Array:
        """(parameters,) pi."""
        pi = self._model.copy()
        L, V = self._roots, self._factor(x)
        LV = L @ V
        pi[self._places] = of_pseudo_inertia(LV @ LV.transpose(0, 2, 1))
        pi[self._joints] = x[self._places.size :] * self._sizes
        return pi

    def jacobian(self, x: Array) -> Array:
        """(parameters, coordinates) d pi / d x."""
        D = np.zeros((len(self._model), len(x)))
        L, V = self._roots, self._factor(x)
        for k, (i, j) in enumerate(PLACES):
            dV = np.zeros_like(V)
            dV[:, i, j] = V[:, i, i] if i == j else 1.0
            half = (L @ dV) @ (L @ V).transpose(0, 2, 1)
            columns = of_pseudo_inertia(half + half.transpose(0, 2, 1))
            for b, at in enumerate(self._places):
                D[at, len(PLACES) * b + k] = columns[b]
        rest = np.arange(len(self._joints))
        D[self._joints, self._places.size + rest] = self._sizes
        return D

    def _factor(self, x: Array) -> Array:
        own = x[: self._places.size].reshape(-1, len(PLACES))
        V = np.zeros((len(own), 4, 4))
        for k, (i, j) in enumerate(PLACES):
            V[:, i, j] = np.exp(own[:, k]) if i == j else own[:, k]
        return V


def consistent_parameters(bodies: Stretched, root: Array, target: Array) -> Array:
    """(parameters,) pi that minimises |root pi - target|^2 plus the stretch over its doubt."""
    from scipy.optimize import least_squares

    def residual(x: Array) -> Array:
        return np.concatenate(
            [root @ bodies.parameters(x) - target, bodies.doubts * (x - bodies.start)]
        )

    def slope(x: Array) -> Array:
        return np.vstack([root @ bodies.jacobian(x), np.diag(bodies.doubts)])

    start = np.maximum(bodies.start, bodies.lower + 1e-9)
    found = least_squares(residual, start, slope, bounds=(bodies.lower, np.inf), max_nfev=500)
    return bodies.parameters(found.x)
