"""Weighted least squares for the base parameters that a log determines, and how surely.

Every force is weighed by its own noise, which is what the fit leaves (Gautier 1997). What the log
does not determine stays as the model has it. The covariance is summed over segments of the log
("clustered"), so that noise which is alike in neighbouring rows is not taken for more information
than it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .base import pivoted
from .normal_equations import NormalEquations

#: A parameter is determined when noise leaves it at most this uncertain, in its natural size.
DETERMINED = 0.03
#: Noise is not believed to be below this share of a force: the model is not exact either.
FAINTEST = 1e-6
#: Times that the noise is estimated anew.
ROUNDS = 4


@dataclass(frozen=True, eq=False)
class Fit:
    """Base parameters from a log.

    Attributes:
        chosen: (d,) places of what is determined among the base parameters, in their order.
        merged: (d, k) what each of them stands for: W_b ~ W_b[:, chosen] merged.
        values, deviation: (d,) the parameters and their standard deviations.
        beta: (k,) all base parameters: determined ones changed, others the model's.
        noise: (e,) root mean square of what the fit leaves of the forces [N or N m].
        root, target: (r, k), (r,) |root beta - target|^2 is the weighted sum of squares, plus a
            constant.
    """

    chosen: Array
    merged: Array
    values: Array
    deviation: Array
    beta: Array
    noise: Array
    root: Array
    target: Array


def fit(equations: NormalEquations, model: Array, sizes: Array) -> Fit:
    """From the equations of a log; ``model``, ``sizes`` (k,) of the base parameters."""
    noise = equations.rms(model)
    for _ in range(ROUNDS):
        found = _fit(equations, model, sizes, np.maximum(noise, FAINTEST * equations.sizes))
        noise = found.noise
    return found


def _fit(equations: NormalEquations, model: Array, sizes: Array, noise: Array) -> Fit:
    grams = equations.grams / np.square(np.maximum(noise, 1e-12))[:, None, None]
    per_segment = grams.sum(axis=1)
    k = len(model)
    whole = per_segment.sum(axis=0)
    w, V = np.linalg.eigh(sizes[:, None] * whole[:k, :k] * sizes)
    kept = w > 1e-14 * w[-1]
    root = np.sqrt(w[kept])[:, None] * V[:, kept].T  # of the equations in natural sizes
    target = (V[:, kept].T @ (sizes * whole[:k, k])) / np.sqrt(w[kept])
    chosen, M = pivoted(root, 1.0 / DETERMINED)
    R = root[:, chosen]
    change = np.linalg.lstsq(R, target - root @ (model / sizes), rcond=None)[0]
    beta = model / sizes
    values = M @ beta + change
    beta[chosen] += change
    beta = beta * sizes
    deviation = _deviation(per_segment, R, sizes, chosen, beta)
    merged = sizes[chosen][:, None] * M / sizes
    left = equations.rms(beta)
    values, deviation = values * sizes[chosen], deviation * sizes[chosen]
    return Fit(chosen, merged, values, deviation, beta, left, root / sizes, target)


def _deviation(per_segment: Array, R: Array, sizes: Array, chosen: Array, beta: Array) -> Array:
    """(d,) standard deviations in natural sizes; the larger of two estimates counts."""
    inverse = np.linalg.pinv(R)
    white = np.sum(np.square(inverse), axis=1)
    bread = inverse @ inverse.T
    scores = per_segment[:, :-1, -1] - per_segment[:, :-1, :-1] @ beta
    influence = (scores * sizes)[:, chosen] @ bread
    count = len(per_segment)
    clustered = np.sum(np.square(influence), axis=0) * count / (count - 1)
    return np.sqrt(np.maximum(white, clustered))
