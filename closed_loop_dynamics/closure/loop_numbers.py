"""phi and K of a loop system as numbers, for the decisions that are made when a robot is loaded."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..model.poses import body_poses
from .loop_system import LoopSystem
from .rank import RANK_TOLERANCE

#: What redundant rows may leave, relative to the loop's size.
MISFIT = 1e-3


class LoopNumbers:
    """phi and scaled K of a loop system as numeric functions (CasADi's VM: load time only).

    Attributes:
        pattern: (rows, n) where K is not always zero.
    """

    def __init__(self, system: LoopSystem) -> None:
        self.system = system
        self.n = len(system.joints)
        q = ca.SX.sym("q", self.n)
        rows = system.motion(q)
        self._f = ca.Function("phi", [q], [ca.densify(rows.value), ca.densify(rows.jacobian)])
        pattern = ca.sparsify(rows.jacobian).sparsity()
        self.pattern = np.array(ca.DM(pattern, 1.0).full() != 0.0)
        self.length = characteristic_length(system)
        self.row_scale = 1.0 / system.row_sizes(self.length)
        self.column_scale = system.column_sizes(self.length)

    def phi(self, q: Array) -> Array:
        """All rows, unscaled."""
        return np.asarray(self._f(q)[0]).ravel()

    def jacobian(self, q: Array) -> Array:
        """K, unscaled."""
        return np.asarray(self._f(q)[1])

    def scaled(self, q: Array) -> tuple[Array, Array]:
        """Dimensionless phi and K."""
        phi, K = (np.asarray(v) for v in self._f(q))
        return phi.ravel() * self.row_scale, K * self.row_scale[:, None] * self.column_scale

    def close(self, q: Array, columns: list[int], iterations: int = 60) -> tuple[Array, float]:
        """Gauss-Newton (minimum norm) on the given columns; returns q and the error (scaled).

        The error is max|phi| within the range of K: a nearly redundant row (a planar loop that is
        planar only to a micrometre) keeps what it leaves, unless it is more than MISFIT.
        """
        q = q.copy()
        for _ in range(iterations):
            phi, K = self.scaled(q)
            if not np.all(np.isfinite(phi)):
                return q, np.inf
            step = -np.linalg.lstsq(K[:, columns], phi, rcond=RANK_TOLERANCE)[0]
            longest = float(np.max(np.abs(step), initial=0.0))
            step = step * min(1.0, 0.3 / max(longest, 1e-300))
            q[columns] += step * self.column_scale[columns]
            if longest < 1e-13:
                break
        phi, K = self.scaled(q)
        left = float(np.max(np.abs(phi), initial=0.0))
        if not columns:  # nothing that could close it
            return q, left
        U, values, _ = np.linalg.svd(K[:, columns], full_matrices=False)
        U = U[:, values > RANK_TOLERANCE * max(values[0], 1e-300)]
        inside = float(np.max(np.abs(U @ (U.T @ phi)), initial=0.0))
        return q, left if left > MISFIT else inside


def characteristic_length(system: LoopSystem) -> float:
    poses = body_poses(system.tree)
    points = []
    for cut in system.cuts:
        points += [poses[b][:3, 3] for b in (*cut.bodies, cut.base) if b >= 0]
        if cut.predecessor >= 0:
            points.append((poses[cut.predecessor] @ cut.frame_p)[:3, 3])
    if len(points) < 2:
        return 1.0
    size = float(np.linalg.norm(np.ptp(np.array(points), axis=0)))
    return size if size > 1e-9 else 1.0
