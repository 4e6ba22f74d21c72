"""Joint limits of the URDF as arrays, in the order of a list of joint names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Array
from .tree import Tree

#: Rounding of URDF numbers and of splines; not a licence to leave the range.
SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of some joints; infinite where the URDF gives none.

    Attributes:
        names: the joints.
        lower, upper: positions [rad or m].
        velocity: largest speed [rad/s or m/s].
        effort: largest torque or force [N·m or N].
    """

    names: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    effort: Array

    @staticmethod
    def of(tree: Tree, names: Sequence[str]) -> Limits:
        """The limits of ``names``; zero speed, zero effort and empty ranges count as not given."""
        joints = [tree.bodies[tree.joint_index(name)].joint for name in names]
        ranged = [joint.lower < joint.upper for joint in joints]
        return Limits(
            tuple(names),
            np.array([j.lower if r else -np.inf for j, r in zip(joints, ranged, strict=True)]),
            np.array([j.upper if r else np.inf for j, r in zip(joints, ranged, strict=True)]),
            np.array([j.velocity if j.velocity > 0 else np.inf for j in joints]),
            np.array([j.effort if j.effort > 0 else np.inf for j in joints]),
        )

    @cached_property
    def _outermost(self) -> tuple[Array, Array]:
        return self.lower - SLACK, self.upper + SLACK

    def widened(self, share: float) -> Limits:
        """The same with positions that may leave their range by a share of it, at both ends."""
        ranged = np.isfinite(self.lower) & np.isfinite(self.upper)
        margin = np.zeros(len(self.names))
        margin[ranged] = share * (self.upper - self.lower)[ranged]
        return replace(self, lower=self.lower - margin, upper=self.upper + margin)

    def outside(self, positions: Array) -> tuple[int, int, str] | None:
        """First (sample, joint, text) of (N, joints) ``positions`` that is out of range."""
        lowest, highest = self._outermost
        bad = (positions < lowest) | (positions > highest)
        if not bad.any():
            return None
        i, j = (int(k) for k in np.argwhere(bad)[0])
        value, low, high = positions[i, j], self.lower[j], self.upper[j]
        return i, j, f"{self.names[j]} = {value:.4g} is outside [{low:.4g}, {high:.4g}]"

    def too_fast(self, velocities: Array) -> tuple[int, int, str] | None:
        """First (sample, joint, text) of (N, joints) ``velocities`` that is too fast."""
        return self._too_large(velocities, self.velocity, "speed")

    def too_strong(self, efforts: Array) -> tuple[int, int, str] | None:
        """First (sample, joint, text) of (N, joints) ``efforts`` that is too large."""
        return self._too_large(efforts, self.effort, "effort")

    def cut_off(self, efforts: Array) -> tuple[Array, str]:
        """(joints,) ``efforts`` within their limits, and what was beyond them, if anything."""
        if (np.abs(efforts) <= self.effort).all():
            return efforts, ""
        found = self.too_strong(efforts[None])
        text = "" if found is None else f"{found[2]} and is cut off there"
        return np.clip(efforts, -self.effort, self.effort), text

    def _too_large(self, values: Array, limit: Array, what: str) -> tuple[int, int, str] | None:
        bad = np.abs(values) > limit * (1.0 + SLACK)
        if not bad.any():
            return None
        i, j = (int(k) for k in np.argwhere(bad)[0])
        size = abs(values[i, j])
        return i, j, f"{what} {size:.4g} of {self.names[j]} is above its limit {limit[j]:.4g}"
