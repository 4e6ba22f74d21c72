"""From far open to nearly closed: descent on a residual whose only zero is the closed loop.

The rows of phi measure a rotation by its sine, which also vanishes at half a turn: most starts end
there. Here they measure the angle itself; half a turn is as far away as can be. Steps are those of
Levenberg and Marquardt (Nocedal and Wright 2006, ch. 10); Newton's method does the rest.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..spatial import SX
from .cut_kinematics import CutMotion
from .loop_numbers import LoopNumbers
from .loop_system import LoopSystem

STEPS = 80
#: Steps that are shorter [rad, or loop lengths] end the descent.
SHORTEST = 1e-5


class Approach:
    """The descent of one loop system; load time only."""

    def __init__(self, numbers: LoopNumbers) -> None:
        self._numbers = numbers
        q = ca.SX.sym("q", numbers.n)
        rows = _wide_rows(numbers.system, q)
        self._f = ca.Function("wide", [q], [ca.densify(rows), ca.densify(ca.jacobian(rows, q))])

    def _scaled(self, q: Array) -> tuple[Array, Array]:
        numbers = self._numbers
        rows, J = (np.asarray(part) for part in self._f(q))
        return rows.ravel() * numbers.row_scale, J * numbers.row_scale[
            :, None
        ] * numbers.column_scale

    def descend(self, q: Array, columns: list[int]) -> Array:
        """Joint positions (n,) near a closed configuration, or where no step leads further down."""
        damping = 1e-2
        e, J = self._scaled(q)
        for _ in range(STEPS):
            A = J[:, columns]
            if not (np.all(np.isfinite(e)) and np.all(np.isfinite(A))):
                return q
            damped = np.concatenate([A, np.sqrt(damping) * np.eye(len(columns))])
            step = -np.linalg.lstsq(damped, np.concatenate([e, np.zeros(len(columns))]))[0]
            trial = q.copy()
            trial[columns] += step * self._numbers.column_scale[columns]
            e_new, J_new = self._scaled(trial)
            if not e_new @ e_new < e @ e:
                damping *= 4.0
                if damping > 1e8:
                    return q
                continue
            q, e, J, damping = trial, e_new, J_new, max(damping / 4.0, 1e-9)
            if np.max(np.abs(step), initial=0.0) < SHORTEST:
                return q
        return q


def _wide_rows(system: LoopSystem, q: SX) -> SX:
    """phi with angles in place of their sines."""
    rows = system.phi(q)
    rest = ca.SX.zeros(q.shape[0])
    none = ca.SX(len(system.joints), 0)
    cuts = CutMotion(system.tree, system.local, q, rest, rest, none, none, moving=False)
    at = 0
    for cut in system.cuts:
        first, at = at + len(cut.translations), at + len(cut.labels)
        if len(cut.rotations) > 1:
            sine = ca.sqrt(ca.sumsqr(rows[first:at]) + 1e-30)
            rows[first:at] *= ca.atan2(sine, cuts.cosine(cut)) / sine
    return rows
