"""The result of ``Robot.state``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array

if TYPE_CHECKING:
    from ..robot import Robot


class State:
    """A completed state of the spanning tree; with a batch every array has a leading axis.

    Attributes:
        q, qd, qdd: (n,) spanning positions, velocities, accelerations (None when not asked for).
        u, ud, udd: (p,) the same of the driven joints.
        residual: max|phi| over all loops [m, rad].
        iterations: Newton iterations of the call (of its last sample, for a batch).
        singularity: smallest singular value of the scaled K_d over all loops, dimensionless.
    """

    __slots__ = ("__dict__", "_robot", "_values", "iterations")

    def __init__(self, robot: Robot, values: Array, iterations: int) -> None:
        self._robot = robot
        self._values = values
        self.iterations = iterations

    @property
    def q(self) -> Array:
        """(n,) spanning positions."""
        return self._values[..., : self._robot.mechanism.n_q]

    @property
    def residual(self) -> Any:
        """max|phi| over all loops."""
        return self._values[..., self._robot.mechanism.n_q]

    def _part(self, order: int) -> Array | None:
        mech = self._robot.mechanism
        start = mech.n_q + 1 + (order - 1) * mech.n
        part = self._values[..., start : start + mech.n]
        return part if part.shape[-1] else None

    @property
    def qd(self) -> Array | None:
        """(n,) spanning velocities."""
        return self._part(1)

    @property
    def qdd(self) -> Array | None:
        """(n,) spanning accelerations."""
        return self._part(2)

    @property
    def u(self) -> Array:
        """(p,) positions of the driven joints."""
        return self.q.take(self._robot.actuator_rows[0], axis=-1)

    @property
    def ud(self) -> Array | None:
        """(p,) velocities of the driven joints."""
        qd = self.qd
        return None if qd is None else qd.take(self._robot.actuator_rows[1], axis=-1)

    @property
    def udd(self) -> Array | None:
        """(p,) accelerations of the driven joints."""
        qdd = self.qdd
        return None if qdd is None else qdd.take(self._robot.actuator_rows[1], axis=-1)

    @cached_property
    def singular_values(self) -> dict[str, Any]:
        """Submechanism -> smallest singular value of its scaled K_d (computed when asked for)."""
        q, mech = np.asarray(self.q), self._robot.mechanism
        return {
            branch.name: branch.smallest_singular_value(
                q[..., [mech.q_at[b] for b in mech.components[c].joints]]
            )
            for c, branch in self._robot.branches.items()
        }

    @property
    def singularity(self) -> Any:
        """The smallest of :attr:`singular_values`; 1 for a robot without loops."""
        values = list(self.singular_values.values())
        return np.min(values, axis=0) if values else 1.0
