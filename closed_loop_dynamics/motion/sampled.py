"""Motions that are known by their samples, not by polynomials of their own. No ROS in here."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from .trajectory import Spline


class Sampled(Spline):
    """Tables of whatever ``sample`` says; ``start`` and ``times`` are the heir's to set."""

    def efforts(self, times: Array) -> Any:
        """(N, m) extra efforts at (N,) absolute times; None: there are none."""
        samples = [self.sample(t) for t in times]
        if all(s.effort is None for s in samples):
            return None
        return np.array([np.zeros_like(s.y) if s.effort is None else s.effort for s in samples])

    def table(self, times: Array) -> tuple[Array, Array, Array]:
        """(N, m) positions, velocities, accelerations at (N,) absolute times."""
        samples = [self.sample(t) for t in times]
        y, yd, ydd = (np.array([getattr(s, name) for s in samples]) for name in ("y", "yd", "ydd"))
        return y, yd, ydd
