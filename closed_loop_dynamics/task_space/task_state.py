"""What the inverse kinematics of a parallel manipulator gives back."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..engine.nested import NestedLog


@dataclass(frozen=True, eq=False)
class Rounds:
    """The output block of one limb's loop, how to read it, and how many rounds it took."""

    log: NestedLog
    block: Array
    count: int


@dataclass(frozen=True, eq=False)
class TaskState:
    """A solved state; with a batch every array has a leading axis.

    Attributes:
        x: (m,) task coordinates.
        q, qd, qdd: (n,) of the spanning tree; u, ud, udd: (p,) of the driven joints.
        theta: unknowns of all limbs, a start for other calls (``guess=``).
        platform_residual: largest error of the platform in any limb, all six components [m, rad].
        loop_residual: max|phi| over the loops within limbs [m, rad].
        iterations: (limbs,) Newton updates until every residual was below the tolerance: of
            Algorithm 1 or, with the compound scheme, of Algorithm 3.
        rounds: of each limb: what the native loop has left; None for a batch.
    """

    x: Array
    q: Array
    qd: Array
    qdd: Array
    u: Array
    ud: Array
    udd: Array
    theta: Array
    platform_residual: Array
    loop_residual: Array
    iterations: NDArray[np.int64]
    rounds: tuple[Rounds, ...] | None = None

    @property
    def errors(self) -> list[Array] | None:
        """Limb by limb, the residual before each round; quadratic when all is well."""
        if self.rounds is None:
            return None
        return [r.log.errors(r.block, r.count) for r in self.rounds]

    @property
    def inner_errors(self) -> list[list[list[Array]]] | None:
        """Limb, outer round, loop: the residual before each inner round."""
        if self.rounds is None:
            return None
        return [
            [
                [r.log.inner_errors(r.block, loop, k) for loop in range(len(r.log.inner))]
                for k in range(r.count)
            ]
            for r in self.rounds
        ]

    @property
    def inner_iterations(self) -> list[list[int]] | None:
        """Limb, outer round: updates of all loops of the limb (Algorithm 2)."""
        errors = self.inner_errors
        if errors is None:
            return None
        return [[sum(len(e) - 1 for e in loops) for loops in limb] for limb in errors]

    @staticmethod
    def stacked(states: list[TaskState]) -> TaskState:
        """One state of many."""
        names = [each.name for each in fields(TaskState) if each.name != "rounds"]
        arrays: Any = {name: np.stack([getattr(s, name) for s in states]) for name in names}
        return TaskState(**arrays)


@dataclass(frozen=True)
class LimbConditioning:
    """How far a limb is from its singularities.

    Attributes:
        task: smallest singular value of the dimensionless L_t (zero: the limb is stretched out or
            folded, an input singularity).
        condition: sqrt(cond(F^T F)) of its inverse-kinematics Jacobian, as in Mueller 2022.
        loops: smallest singular value of the scaled K_d of each loop.
    """

    task: float
    condition: float
    loops: tuple[float, ...]


@dataclass(frozen=True)
class Conditioning:
    """How far a manipulator is from its singularities at one x.

    Attributes:
        actuation: smallest singular value of the dimensionless J_IK (zero: the actuators cannot
            hold the platform, an output singularity).
        forward: that of J_FK, its (pseudo-)inverse (zero: some actuator is infinitely fast).
        condition: cond(J_IK) = cond(J_FK).
        limbs: by name.
    """

    actuation: float
    forward: float
    condition: float
    limbs: dict[str, LimbConditioning]
