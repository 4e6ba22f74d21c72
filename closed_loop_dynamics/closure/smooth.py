"""A closure that the user writes: q = gamma(y) as a Python function (nonlinear differentials).

The function receives the independent positions as a CasADi SX vector and returns the positions of
the other joints, in the order of ``jointnames_spanningtree``: a list, or an SX vector. It is called
once, when the robot is loaded. G and g follow by differentiation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays import MAX_ANGLE, Array
from ..engine.instructions import instruction_list
from ..engine.symbolic import ca, tracing
from ..errors import SubmechanismError
from ..model.clusters import Component
from ..model.tree import Tree
from ..model.words import FUNCTION
from ..spatial import SX
from .closure import Closure, Linearised
from .function_inverse import invert

#: (y as SX) -> positions of the dependent joints.
Gamma = Callable[[Any], Sequence[Any]]

#: Derivatives beyond this leave no room for the dynamics to stay finite.
MAX_DERIVATIVE = 1e100


class SmoothClosure(Closure):
    """q = gamma(y) from a user's function."""

    kind = FUNCTION
    #: Finite positions; finite derivatives.
    n_checks = 2

    def __init__(self, tree: Tree, component: Component, gamma: Gamma) -> None:
        self.component = component
        self._dependent = [
            component.joints.index(tree.joint_index(name))
            for name in component.entry.spanning
            if tree.joint_index(name) not in component.independent
        ]
        self.independent = [component.joints.index(b) for b in component.independent]
        with tracing():
            first, second = self._traced(gamma)
            self.digest = self._native_digest(gamma, first)
            # Text, as expressions must not outlive `tracing`.
            self._first, self._second = first.serialize(), second.serialize()

    def assemble(self, y: SX, x: SX) -> SX:
        return ca.Function.deserialize(self._first)(y)[0]

    def linearise(self, q: SX, yd: SX | None, tolerance: float) -> Linearised:
        """G and g by differentiation; checks fail where the function or they are not finite."""
        y = ca.vertcat(*(q[i] for i in self.independent))
        _, G = ca.Function.deserialize(self._first)(y)
        g = ca.SX(np.zeros(len(self.component.joints)))
        if yd is not None:
            g = ca.Function.deserialize(self._second)(y, yd)
        rows = self._dependent
        # Sums, as fmax passes over nan.
        positions = ca.sum1(ca.fabs(q[rows]))
        derivatives = ca.sum1(ca.fabs(ca.vec(G[rows, :]))) + ca.sum1(ca.fabs(g[rows]))
        checks = [MAX_ANGLE - positions, MAX_DERIVATIVE - derivatives]
        return Linearised(G, g, ca.SX(0, G.shape[1]), ca.SX(0.0), checks, [])

    def rates(self, q: SX, G: SX, yd: SX, ydd: SX) -> tuple[SX, SX]:
        """By differentiation of the function: dqd/dy and dqdd/dy."""
        y, v, a = (ca.SX.sym(name, len(self.independent)) for name in ("y", "v", "a"))
        position = ca.Function.deserialize(self._first)(y)[0]
        speed = ca.jtimes(position, y, v)
        acceleration = ca.jtimes(speed, y, v) + ca.jtimes(position, y, a)
        both = [ca.densify(ca.jacobian(rate, y)) for rate in (speed, acceleration)]
        first, second = ca.Function("rates", [y, v, a], both)(q[self.independent], yd, ydd)
        return first, second

    def curvature(self, q: SX, G: SX, forces: SX) -> SX:
        """The Hessian of forces . gamma(y)."""
        y, f = ca.SX.sym("y", len(self.independent)), ca.SX.sym("f", G.shape[0])
        position = ca.Function.deserialize(self._first)(y)[0]
        hessian = ca.densify(ca.hessian(ca.dot(f, position), y)[0])
        return ca.Function("curvature", [y, f], [hessian])(q[self.independent], forces)

    def invert(self, rows: list[int], u: Array, start: Array | None) -> Array:
        """y with q[rows] = u, reached from ``start`` or zero (CasADi's VM: not for hot paths)."""
        start = np.zeros(len(self.independent)) if start is None else start
        with tracing():
            f = ca.Function.deserialize(self._first)

            def transmission(y: Array) -> tuple[Array, Array]:
                q, G = (np.asarray(v) for v in f(y))
                return q.ravel()[rows], G[rows]

            return invert(self.component.entry.name, transmission, u, start)

    # -- calling the user's function --------------------------------------------------------------

    def _traced(self, gamma: Gamma) -> tuple[Any, Any]:
        """y -> (q, G) and (y, yd) -> g."""
        m = len(self.independent)
        y, yd = ca.SX.sym("y", m), ca.SX.sym("yd", m)
        values = self._positions(gamma, y)
        positions = ca.SX.zeros(len(self.component.joints))
        positions[self.independent], positions[self._dependent] = y, values
        g = ca.jtimes(ca.jtimes(positions, y, yd), y, yd)
        G = ca.jacobian(positions, y)
        first = ca.Function("gamma", [y], [ca.densify(positions), ca.densify(G)])
        return first, ca.Function("g", [y, yd], [ca.densify(g)])

    def _positions(self, gamma: Gamma, y: SX) -> SX:
        """What the function returns, as one column of expressions in ``y``."""
        try:
            result: Any = gamma(ca.SX(y))  # a copy, which the function may write into
        except Exception as error:
            raise self._error(gamma, f"raises {type(error).__name__}: {_short(error)}") from error
        try:
            if isinstance(result, (ca.SX, ca.DM)):
                values = ca.vec(ca.densify(ca.SX(result)))
            else:
                values = ca.vertcat(ca.SX(0, 1), *(_scalar(value) for value in result))
        except Exception as error:
            raise self._error(
                gamma, f"returns {type(result).__name__}, not positions ({_short(error)})"
            ) from error
        if values.shape[0] != len(self._dependent):
            raise self._error(
                gamma,
                f"returns {values.shape[0]} positions; {len(self._dependent)} joints are not "
                "independent",
            )
        known = {symbol.element_hash() for symbol in ca.symvar(y)}
        strange = [s.name() for s in ca.symvar(values) if s.element_hash() not in known]
        if strange:
            raise self._error(gamma, f"depends on {', '.join(strange)} besides y")
        return values

    def _native_digest(self, gamma: Gamma, first: Any) -> str:
        try:
            return instruction_list(first).digest()
        except NotImplementedError as error:
            raise self._error(gamma, f"cannot be compiled: {error}") from error

    def _error(self, gamma: Gamma, problem: str) -> SubmechanismError:
        entry, m = self.component.entry, len(self.independent)
        name = getattr(gamma, "__name__", repr(gamma))
        return entry.error(
            f"the function '{name}' given for submechanism '{entry.name}' {problem}",
            f"write a function of one CasADi SX vector y ({m} independent positions) in "
            "CasADi operations (ca.sin, ca.if_else in place of if) that returns one position per "
            "dependent joint, in the order of jointnames_spanningtree",
        )


def _scalar(value: Any) -> SX:
    try:
        expression = ca.SX(value)
    except NotImplementedError:
        raise TypeError(f"{value!r} is of type {type(value).__name__}") from None
    if expression.shape != (1, 1):
        raise TypeError(f"one of them has shape {expression.shape}")
    return ca.densify(expression)


def _short(error: Exception) -> str:
    """The first line that says something: CasADi's messages list all its prototypes."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else "no message"
