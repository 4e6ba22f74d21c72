"""The instruction list means what the CasADi function means, with less work."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from engine_support.operations import OPERATIONS, samples, written

from closed_loop_dynamics.engine.instructions import InstructionList, instruction_list

#: Our operations in plain Python: the meaning every back-end must give them.
MEANING: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "fmin": min,
    "fmax": max,
    "lt": lambda a, b: float(a < b),
    "le": lambda a, b: float(a <= b),
    "eq": lambda a, b: float(a == b),
    "ne": lambda a, b: float(a != b),
    "and": lambda a, b: float(bool(a) and bool(b)),
    "or": lambda a, b: float(bool(a) or bool(b)),
    "not": lambda a: float(not a),
    "if_else_zero": lambda a, b: b if a else 0.0,
    "sign": lambda a: math.copysign(1.0, a) if a else a,
    "atan2": math.atan2,
    "pow": math.pow,
    "copysign": math.copysign,
    "hypot": math.hypot,
    **{n: getattr(math, n) for n in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan")},
    **{
        n: getattr(math, n) for n in ("exp", "log", "sinh", "cosh", "tanh", "fabs", "floor", "ceil")
    },
}


def run(code: InstructionList, block: Any) -> list[float]:
    """Evaluate an instruction list in plain Python."""
    values: list[float] = []
    for i, (name, a, b) in enumerate(code.operations):
        if name == "input":
            values.append(float(block[a]))
        elif name == "const":
            values.append(code.constants[i])
        else:
            values.append(MEANING[name](*(values[k] for k in (a, b) if k >= 0)))
    return [values[k] for k in code.outputs]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_means_what_casadi_means(name: str) -> None:
    function = written(name)
    code = instruction_list(function)
    assert name in {op[0] for op in code.operations}
    for a, b in samples(name, np.random.default_rng(1), 50):
        if name == "div" and b == 0.0:
            continue
        expected = float(function(a, b))
        assert run(code, (a, b))[0] == pytest.approx(expected, rel=1e-15, abs=0.0), (a, b)


@pytest.mark.parametrize(
    "expression",
    [
        lambda a, b: ca.if_else(a < b, a + b, a * b),
        lambda a, b: ca.if_else(ca.logic_and(a > 0, b > 0), 1, -1),
        lambda a, b: a**2 + b * b + 2 * a + 1 / b,
        lambda a, b: -(a - b) * -(b * -3) - (-a),
        lambda a, b: (-a) * (-b) + (-a) + a * -1.0,
        lambda a, b: ca.SX(2.5) * a - -b,
    ],
)
def test_composed_expressions(expression: Any) -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    function = ca.Function("f", [a, b], [expression(a, b)])
    code = instruction_list(function)
    for point in np.random.default_rng(2).uniform(-2, 2, (30, 2)):
        assert run(code, point)[0] == pytest.approx(float(function(*point)), rel=1e-14, abs=1e-15)


def test_equal_computations_are_done_once() -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    # Separate nodes in CasADi: the second factor swaps the operands of the commutative ones.
    same = (ca.sin(a) * b + ca.fmax(a, b)) * (ca.fmax(b, a) + b * ca.sin(a))
    code = instruction_list(ca.Function("f", [a, b], [same]))
    assert code.count("sin") == 1
    assert code.count("fmax") == 1
    assert code.count("mul") == 2
    assert code.count("add") == 1


def test_a_difference_is_not_commutative() -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    code = instruction_list(
        ca.Function("f", [a, b], [a - b, b - a, ca.atan2(a, b), ca.atan2(b, a)])
    )
    assert run(code, (3.0, 1.0)) == [2.0, -2.0, math.atan2(3, 1), math.atan2(1, 3)]


def test_what_no_output_needs_is_dropped() -> None:
    a = ca.SX.sym("a", 3)
    work = ca.exp(a[0]) * ca.log(a[1])
    function = ca.Function("f", [a], [ca.vertcat(a[2] + 1, a[2]), work])
    kept = instruction_list(function)
    assert kept.count("exp", "log") == 2
    selected = ca.Function("g", [a], [function(a)[0]])
    assert instruction_list(selected).count() == 1
    assert instruction_list(selected).count("exp", "log") == 0


def test_negations_are_absorbed() -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    code = instruction_list(ca.Function("f", [a, b], [a + (-b), (-a) * (-b), -(a - b)]))
    assert code.count("neg") == 0
    assert run(code, (2.0, 5.0)) == [-3.0, 10.0, 3.0]


def test_blocks_are_the_vectors_one_behind_the_other() -> None:
    a, b = ca.SX.sym("a", 2), ca.SX.sym("b", 3)
    code = instruction_list(ca.Function("f", [a, b], [b[2] - a[0], ca.vertcat(a[1], 7.0)]))
    assert sum(code.output_sizes) == 3
    assert (code.input_sizes, code.output_sizes) == ((2, 3), (1, 2))
    assert run(code, (1.0, 2.0, 3.0, 4.0, 5.0)) == [4.0, 2.0, 7.0]


def test_digest_tells_functions_apart() -> None:
    a = ca.SX.sym("a", 2)

    def digest(expression: Any) -> str:
        return instruction_list(ca.Function("f", [a], [expression])).digest()

    digests = [digest(a[0] * 2.0), digest(a[0] * 3.0), digest(a[1] * 2.0), digest(a[0] + 2.0)]
    assert len(set(digests)) == 4
    assert digest(a[0] * 2.0) == digests[0]


def test_sparse_blocks_are_refused() -> None:
    a = ca.SX.sym("a", 2)
    with pytest.raises(ValueError, match="output 0 is sparse"):
        instruction_list(ca.Function("f", [a], [ca.diag(a)]))
    with pytest.raises(ValueError, match="input 0 is sparse"):
        D = ca.SX.sym("D", ca.Sparsity.diag(2))
        instruction_list(ca.Function("f", [D], [D[0, 0]]))


def test_an_operation_without_native_code_is_named_when_tracing() -> None:
    a = ca.SX.sym("a")
    with pytest.raises(NotImplementedError, match="CasADi operation"):
        instruction_list(ca.Function("f", [a], [ca.erf(a)]))
