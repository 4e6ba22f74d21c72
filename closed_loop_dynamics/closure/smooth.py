"""A closure that the user writes: q = gamma(y) as a Python function (nonlinear differentials).

The function receives the independent positions as a CasADi SX vector and returns the positions of
the other joints, in the order of ``jointnames_spanningtree``. G and g follow by differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.instructions import instruction_list
from ..engine.symbolic import ca, tracing
from ..errors import ClosureNotFound, SubmechanismError
from ..model.clusters import Component
from ..model.tree import Array, Tree
from ..spatial import SX
from .numerical import Linearised

#: (y as SX) -> positions of the dependent joints.
Gamma = Callable[[Any], Sequence[Any]]


class SmoothClosure:
    """q = gamma(y) from a user's function."""

    kind = "function"
    n_x = 0
    n_checks = 0

    def __init__(self, tree: Tree, component: Component, gamma: Gamma) -> None:
        self.component = component
        self._gamma = gamma
        self._order = [
            component.joints.index(tree.joint_index(name))
            for name in component.entry.spanning
            if tree.joint_index(name) not in component.independent
        ]
        self.independent = [component.joints.index(b) for b in component.independent]
        with tracing():
            self.digest = instruction_list(self._functions()[0]).digest()

    def assemble(self, y: SX, x: SX) -> SX:
        """Local q."""
        entry = self.component.entry
        values = list(self._gamma(y))
        if len(values) != len(self._order):
            raise SubmechanismError(
                f"the function given for submechanism '{entry.name}' returns {len(values)} "
                f"positions; {len(self._order)} joints are not independent",
                file=entry.file,
                place=entry.place,
                remedy="return one position per dependent joint, in the order of "
                "jointnames_spanningtree",
            )
        q: list[Any] = [None] * len(self.component.joints)
        for k, i in enumerate(self.independent):
            q[i] = y[k]
        for i, value in zip(self._order, values, strict=True):
            q[i] = ca.SX(value)
        return ca.vertcat(*q)

    def _functions(self) -> tuple[Any, Any]:
        """y -> (q, G) and (y, yd) -> g."""
        m = len(self.independent)
        y, yd = ca.SX.sym("y", m), ca.SX.sym("yd", m)
        q = self.assemble(y, ca.SX(0, 1))
        g = ca.jtimes(ca.jtimes(q, y, yd), y, yd)
        first = ca.Function("gamma", [y], [ca.densify(q), ca.densify(ca.jacobian(q, y))])
        return first, ca.Function("g", [y, yd], [ca.densify(g)])

    def linearise(self, q: SX, qd_of: Any, tolerance: float) -> Linearised:
        """G and g by differentiation."""
        first, second = self._functions()
        y = ca.vertcat(*(q[i] for i in self.independent))
        _, G = first(y)
        g = ca.SX(np.zeros(len(self.component.joints)))
        if qd_of is not None:
            qd = qd_of(G)
            g = second(y, ca.vertcat(*(qd[i] for i in self.independent)))
        return Linearised(G, g, ca.SX(0, G.shape[1]), ca.SX(0.0), [], [])

    def invert(self, rows: list[int], u: Array, start: Array) -> Array:
        """y with q[rows] = u by Newton from ``start`` (CasADi's VM: not for hot paths).

        More rows than degrees of freedom: least squares, by Gauss-Newton.
        """
        redundant = len(rows) > len(self.independent)
        with tracing():
            f = self._functions()[0]
            y = start.copy()
            for _ in range(50):
                q, G = (np.asarray(v) for v in f(y))
                error = q.ravel()[rows] - u
                if float(np.max(np.abs(error))) < 1e-12:
                    return y
                step = np.linalg.lstsq(G[rows], error, rcond=None)[0]
                y = y - step
                if redundant and float(np.max(np.abs(step))) < 1e-12:
                    return y
        raise ClosureNotFound(
            f"submechanism '{self.component.entry.name}': no configuration near {start} has "
            f"actuator positions {u}",
            submechanism=self.component.entry.name,
        )
