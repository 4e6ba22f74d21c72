"""Every operation the engine knows, written in CasADi, and points to evaluate it at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from closed_loop_dynamics.engine.instructions import BINARY, UNARY

#: How to write each operation in CasADi; arguments are in the domain given below.
WRITE: dict[str, Callable[..., Any]] = {
    **{
        n: getattr(ca, n)
        for n in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log")
    },
    **{n: getattr(ca, n) for n in ("sinh", "cosh", "tanh", "fabs", "sign", "floor", "ceil")},
    **{n: getattr(ca, n) for n in ("fmin", "fmax", "atan2", "copysign", "hypot")},
    "neg": lambda a: -a,
    "not": lambda a: ca.logic_not(a),
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "and": ca.logic_and,
    "or": ca.logic_or,
    "if_else_zero": lambda a, b: ca.if_else(a, b, 0),
    "pow": lambda a, b: a**b,
}
DOMAIN = {"asin": (-1, 1), "acos": (-1, 1), "sqrt": (0, 9), "log": (1e-3, 9), "pow": (1e-3, 4)}
OPERATIONS = sorted(UNARY | BINARY)


def samples(name: str, rng: np.random.Generator, count: int) -> np.ndarray:
    low, high = DOMAIN.get(name, (-3, 3))
    points = rng.uniform(low, high, (count, 2))
    if low < 0 < high:  # equal, zero and integer arguments as well
        points[0], points[1], points[2] = (0.0, 0.0), (1.0, 1.0), (0.0, 0.5)
        points[3], points[4] = (-1.0, 0.0), (0.5, -0.0)
    return points


def is_unary(name: str) -> bool:
    return name in UNARY


def written(name: str) -> Any:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    return ca.Function("f", [a, b], [WRITE[name](a) if is_unary(name) else WRITE[name](a, b)])
