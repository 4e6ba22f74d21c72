"""Numerical closure of one loop cluster: phi(q) = 0 by Newton, G and g by coordinate partitioning.

G = [I; -K_d^-1 K_i] and g = [0; K_d^-1 k] (Kumar et al. 2022, Eqs. 5 and 8). What is decided once,
at load, is in the :class:`~.plan.Plan`: the kept rows, the idle joints, the irreducible blocks of
K_d and the sign of their determinants at the reference. Everything here is traced symbolically.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..engine import Seeds
from ..engine.outputs import Outputs
from ..engine.symbolic import ca, tracing
from ..spatial import SX
from .closure import Closure, Linearised
from .loop_system import LoopSystem
from .plan import Plan
from .small_linear import largest, solve_small

#: max|phi| that a solution may leave on the kept rows [m, rad].
CLOSURE_TOLERANCE = 1e-10
#: Longest linear prediction [rad, or loop lengths].
REACH = 0.5
#: A guard is det / |det at reference|; below this the mechanism counts as singular.
SINGULAR = 1e-5


class NumericalClosure(Closure):
    """Traces the Newton step, G, g and the checks of one :class:`LoopSystem`."""

    kind = "numerical"
    n_checks = 1

    def __init__(self, system: LoopSystem, plan: Plan) -> None:
        self.system = system
        self.plan = plan
        self.unknown = tuple(i for i in system.dependent if i not in plan.idle)
        self.residual = plan.reference_residual
        #: Natural sizes of the joints, of the unknowns among them, and of the kept rows.
        self.sizes = system.column_sizes(plan.length)
        self.x_sizes = self.sizes[list(self.unknown)]
        self.row_sizes = system.row_sizes(plan.length)[list(plan.rows)]

    @property
    def loop_closure(self) -> NumericalClosure:
        """Itself."""
        return self

    def assemble(self, y: SX, x: SX) -> SX:
        """Local q from independent and solved positions; idle joints rest at their reference."""
        q = ca.SX(np.array(self.plan.q_ref))
        q[list(self.system.independent)] = y
        q[list(self.unknown)] = x
        return q

    def _kept(self, q: SX) -> tuple[SX, SX, SX]:
        """The kept rows of phi at a local ``q``, and their derivatives K_d and K_i."""
        rows, at = list(self.plan.rows), self.system.motion(q)
        K_d, K_i = (at.jacobian[rows, list(c)] for c in (self.unknown, self.system.independent))
        return at.value[rows], K_d, K_i

    def step(self, by_residual: bool = False) -> Any:
        """Function (p, sign, x) -> (dx, err, guard) for the native Newton loop.

        err is the length of the step (scaled), or with ``by_residual`` max|phi| [m, rad].
        """
        p = ca.SX.sym("p", len(self.system.independent))
        x = ca.SX.sym("x", self.n_x)
        sign = ca.SX.sym("sign", len(self.plan.blocks))
        phi, K_d, _ = self._kept(self.assemble(p, x))
        dx, dets = self._solve(K_d, phi)
        errors = ca.fabs(phi) if by_residual else ca.fabs(dx) * ca.SX(1.0 / self.x_sizes)
        err = largest(errors[i] for i in range(self.n_x))
        guards = [sign[k] * g - SINGULAR for k, g in enumerate(self._guards(dets))]
        return ca.Function("step", [p, sign, x], [dx, err, ca.vertcat(*guards)])

    @property
    def outputs(self) -> Outputs:
        """What the closure's own program gives."""
        n = self.n_x
        return Outputs({"x": (n,), "residual": (), "K_d": (n, n)})

    def local_body(self) -> Any:
        """Body of the closure's own program: x -> (x, residual, scaled K_d), check, slope."""
        x = ca.SX.sym("x", self.n_x)
        y = ca.SX.sym("y", len(self.system.independent))
        q = self.assemble(y, x)
        at = self.linearise(q, None, CLOSURE_TOLERANCE)
        outputs = self.outputs.pack({"x": x, "residual": at.residual, "K_d": self.scaled_K_d(q)})
        return ca.Function(
            "closure", [x, y], [*outputs, ca.vertcat(*at.checks), ca.vec(at.slope.T)]
        )

    def scaled_K_d(self, q: SX) -> SX:
        """Dimensionless K_d at an assembled local ``q``."""
        scale = ca.SX(np.outer(1.0 / self.row_sizes, self.x_sizes))
        return ca.densify(scale * self._kept(q)[1])

    @cached_property
    def _phi_and_K_d(self) -> Any:
        """Function q -> kept rows of phi, K_d."""
        q = ca.SX.sym("q", len(self.system.joints))
        phi, K_d, _ = self._kept(q)
        return ca.Function("loop", [q], [ca.densify(phi), ca.densify(K_d)])

    def residual_at(self, q: Any) -> float:
        """max|phi| of the kept rows at a local configuration (n,) that need not be closed."""
        with tracing():
            return float(np.max(np.abs(np.asarray(self._phi_and_K_d(q)[0])), initial=0.0))

    def numeric_K_d(self, q: Any) -> Any:
        """K_d at local configurations (..., n) that need not be closed (CasADi's VM: slow)."""
        with tracing():
            flat = np.asarray(self._phi_and_K_d(np.reshape(q, (-1, np.shape(q)[-1])).T)[1])
        blocks = flat.reshape(len(flat), -1, len(self.unknown)).swapaxes(0, 1)
        return blocks.reshape(*np.shape(q)[:-1], *blocks.shape[1:])

    def blank_seeds(self) -> Seeds:
        """Seeds that hold nothing yet; the branch fills them in."""
        n_p, n_x = len(self.system.independent), self.n_x
        start = (np.full(n_p, np.nan), np.zeros(n_x), np.zeros((n_x, n_p)))
        sign = np.sign(np.array(self.plan.determinants))
        return Seeds.without_table(sign, start, REACH * self.x_sizes)

    def _guards(self, dets: list[SX]) -> list[SX]:
        """Block determinants relative to the reference; their sign names the assembly mode."""
        return [d / abs(r) for d, r in zip(dets, self.plan.determinants, strict=True)]

    def _solve(self, K_d: SX, B: SX) -> tuple[SX, list[SX]]:
        """K_d^-1 B block by block, and the determinants of the blocks."""
        X = ca.SX(K_d.shape[1], B.shape[1])
        dets: list[SX] = []
        solved: list[int] = []
        for rows, columns in self.plan.blocks:
            right = B[rows, :]
            if solved:
                right = right - K_d[rows, solved] @ X[solved, :]
            block, det = solve_small(ca.densify(K_d[rows, columns]), ca.densify(right))
            X[columns, :] = block
            dets.append(det)
            solved += columns
        return ca.densify(X), dets

    def linearise(self, q: SX, yd: SX | None, tolerance: float) -> Linearised:
        """G and g by coordinate partitioning; one check, of max|phi|."""
        n = len(self.system.joints)
        phi_q, K_d, K_i = self._kept(q)
        slope, dets = self._solve(K_d, ca.densify(-K_i))
        G = ca.SX(np.zeros((n, len(self.system.independent))))
        for k, i in enumerate(self.system.independent):
            G[i, k] = 1.0
        G[list(self.unknown), :] = slope
        g = ca.SX(np.zeros(n))
        if yd is not None:
            bias = self.system.motion(q, G @ yd).bias[list(self.plan.rows)]
            g[list(self.unknown)], _ = self._solve(K_d, -bias)
        worst = largest(ca.fabs(phi_q[i]) for i in range(phi_q.shape[0]))
        return Linearised(G, g, slope, worst, [tolerance - worst], self._guards(dets))

    # -- second and third order: phi'' = 0 for all y, differentiated ------------------------------

    def rates(self, q: SX, G: SX, yd: SX, ydd: SX) -> tuple[SX, SX]:
        """G' from the second derivatives, G'' of K G'' = -(dphi''/dq G + dphi''/dqd G').

        Nothing is differentiated through Newton: the rows are, at what it has found.
        """
        m = G.shape[1]
        second = self._second_derivatives(q, G)
        G_rate = ca.horzcat(*(sum(second[k, j] * yd[j] for j in range(m)) for k in range(m)))
        qdd = G @ ydd + G_rate @ yd
        changes = self.system.motion(q, G @ yd, qdd, (G, G_rate)).dbias[list(self.plan.rows), :]
        return G_rate, self._moved(q, -changes)

    def curvature(self, q: SX, G: SX, forces: SX) -> SX:
        """The forces along the second derivatives."""
        result = ca.SX.zeros(G.shape[1], G.shape[1])
        for (k, j), second in self._second_derivatives(q, G).items():
            result[k, j] = ca.dot(forces, second)
        return result

    def _second_derivatives(self, q: SX, G: SX) -> dict[tuple[int, int], SX]:
        """(k, j) -> d2q/dy_k dy_j (n, 1), from that of phi along two columns of G."""
        m, rows, columns = G.shape[1], list(self.plan.rows), []
        for k in range(m):  # the bias is quadratic in qd
            at = self.system.motion(q, G[:, k], along=(ca.SX(G.shape[0], k), G[:, :k]))
            columns += [0.5 * at.dbias[rows, :], at.bias[rows]]
        pairs = [(k, j) for k in range(m) for j in range(k + 1)]
        found = self._moved(q, -ca.horzcat(*columns))
        result = {pair: found[:, i] for i, pair in enumerate(pairs)}
        return {**result, **{(j, k): column for (k, j), column in result.items()}}

    def _moved(self, q: SX, right: SX) -> SX:
        """(n, k) how the joints follow rows of K that must change by ``right``, y at rest."""
        _, K_d, _ = self._kept(q)
        result = ca.SX.zeros(len(self.system.joints), right.shape[1])
        result[list(self.unknown), :], _ = self._solve(K_d, ca.densify(right))
        return result
