"""Small traced functions and implicit functions for the tests of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from closed_loop_dynamics.engine import ProgramSource, Seeds, SolverUnit, SolverUse
from closed_loop_dynamics.engine.native_program import NativeProgram
from closed_loop_dynamics.engine.program import Program
from closed_loop_dynamics.engine.vm import VmProgram

BACKENDS: dict[str, type[NativeProgram] | type[VmProgram]] = {
    "native": NativeProgram,
    "vm": VmProgram,
}


def explicit_program(
    backend: str,
    sizes: Sequence[int],
    equation: Callable[..., Any],
    *,
    check: Callable[..., Any] | None = None,
    key: str = "test",
    on_build: Callable[[], None] = lambda: None,
) -> Program:
    """A program without solvers: one dense output vector ``equation(a, b, ...)``."""
    symbols = [ca.SX.sym(f"v{i}", n) for i, n in enumerate(sizes)]
    output = ca.densify(equation(*symbols))
    checks = ca.SX(0, 1) if check is None else ca.densify(check(*symbols))

    def build() -> Any:
        on_build()
        return ca.Function("f", [ca.SX.sym("x", 0), *symbols], [output, checks])

    source = ProgramSource(
        name="f",
        input_names=tuple(f"v{i}" for i in range(len(sizes))),
        input_sizes=tuple(sizes),
        output_size=output.numel(),
        build=build,
        on_failure=lambda i, inputs: ArithmeticError(i, inputs),
    )
    return BACKENDS[backend](source, key, SolverUnit(key, list), [], None)


@dataclass(frozen=True)
class Implicit:
    """x(p) by a traced Newton step; ``step`` maps symbols (p, sign, x) to (dx, err, guard)."""

    n_p: int
    n_sign: int
    n_x: int
    step: Callable[..., tuple[Any, Any, Any]]
    slope: Callable[..., Any]

    def function(self) -> Any:
        """The step as a CasADi function."""
        p, sign, x = (ca.SX.sym("v", n) for n in (self.n_p, self.n_sign, self.n_x))
        return ca.Function(
            "step", [p, sign, x], [ca.densify(part) for part in self.step(p, sign, x)]
        )

    def body(self) -> Any:
        """Outputs x; no checks; the slope row by row."""
        x, p = ca.SX.sym("x", self.n_x), ca.SX.sym("p", self.n_p)
        slope = ca.densify(ca.vec(self.slope(p, x).T))
        return ca.Function("body", [x, p], [x, ca.SX(0, 1), slope])

    def program(
        self, backend: str, seeds: Seeds, rescue: Any = None, key: str = "implicit"
    ) -> Program:
        """Solves for x and returns it."""
        source = ProgramSource(
            name="implicit",
            input_names=("p",),
            input_sizes=(self.n_p,),
            output_size=self.n_x,
            build=self.body,
            on_failure=lambda i, inputs: ArithmeticError(i, inputs),
            solvers=(SolverUse(0, tuple(range(self.n_p))),),
        )
        unit = SolverUnit(key, lambda: [self.function()])
        return BACKENDS[backend](source, key, unit, [seeds], rescue)

    def seeds(self, p0: Any, x0: Any, sign: Any = None, **table: Any) -> Seeds:
        """The given start as the newest solution, without a table unless there is one."""
        n_p, n_x = self.n_p, self.n_x
        start = (np.asarray(p0, float), np.asarray(x0, float), np.zeros((n_x, n_p)))
        values = {
            "sign": np.ones(self.n_sign) if sign is None else np.asarray(sign, float),
            "low": np.zeros(n_p),
            "step": np.ones(n_p),
            "count": np.zeros(n_p, dtype=np.int64),
            "nodes": np.zeros((0, 0)),
            "reference": start,
        }
        return Seeds(**(values | table))


def _root_step(p: Any, sign: Any, x: Any) -> tuple[Any, Any, Any]:
    dx = (x * x - p) / (2 * x)
    return dx, ca.fabs(dx), sign * x - 1e-5


#: x = sqrt(p), the positive root being the branch with sign +1.
SQUARE_ROOT = Implicit(1, 1, 1, _root_step, lambda p, x: 1 / (2 * x))


def _arm_gap(p: Any, x: Any) -> Any:
    return ca.vertcat(
        ca.cos(x[0]) + ca.cos(x[0] + x[1]) - p[0], ca.sin(x[0]) + ca.sin(x[0] + x[1]) - p[1]
    )


def _arm_step(p: Any, sign: Any, x: Any) -> tuple[Any, Any, Any]:
    gap = _arm_gap(p, x)
    dx = ca.solve(ca.jacobian(gap, x), gap)
    err = ca.fmax(ca.fabs(dx[0]), ca.fabs(dx[1]))
    return dx, err, sign * ca.sin(x[1]) - 1e-5


def _arm_slope(p: Any, x: Any) -> Any:
    return ca.inv(ca.jacobian(_arm_gap(p, x), x))


#: Joint angles of a planar arm of two unit links that reaches p; sign +1 is the elbow on one side.
ARM = Implicit(2, 1, 2, _arm_step, _arm_slope)


def arm_solution(p: Any, sign: float = 1.0) -> np.ndarray:
    """The closed form of :data:`ARM`."""
    px, py = np.asarray(p, float)[..., 0], np.asarray(p, float)[..., 1]
    elbow = sign * np.arccos((px**2 + py**2 - 2) / 2)
    return np.stack([np.arctan2(py, px) - elbow / 2, elbow], axis=-1)


def arm_slope(p: Any, sign: float = 1.0) -> np.ndarray:
    """dx/dp of :data:`ARM`, (2, 2)."""
    a, b = arm_solution(p, sign)
    J = np.array(
        [[-np.sin(a) - np.sin(a + b), -np.sin(a + b)], [np.cos(a) + np.cos(a + b), np.cos(a + b)]]
    )
    return np.linalg.inv(J)
