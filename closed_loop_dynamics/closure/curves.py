"""Nonlinear couplings of a file as the function gamma of a closure in closed form."""

from __future__ import annotations

from typing import Any

from ..model.submechanism import Curve, Submechanism
from .smooth import Gamma


def curve_function(entry: Submechanism) -> Gamma:
    """q = gamma(y) of an entry whose joints follow each other along curves, in its order."""
    curves = {curve.joint: curve for curve in entry.curves}

    def couplings_of_the_file(y: Any) -> list[Any]:
        q = {name: y[k] for k, name in enumerate(entry.independent)}

        def position(name: str) -> Any:
            if name not in q:
                q[name] = _value(curves[name], position)
            return q[name]

        return [position(name) for name in entry.spanning if name not in entry.independent]

    return couplings_of_the_file


def _value(curve: Curve, position: Any) -> Any:
    """Horner's rule."""
    x = position(curve.other) if curve.other else 0.0
    result: Any = 0.0
    for factor in reversed(curve.factors):
        result = result * x + factor
    return result
