"""Compiled straight-line code computes what CasADi computes, one sample or many lanes at a time."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import casadi as ca
import numpy as np
import pytest
from engine_support.operations import OPERATIONS, samples, written

from closed_loop_dynamics.arrays import MAX_ANGLE
from closed_loop_dynamics.engine import native, straight_line
from closed_loop_dynamics.engine.contexts import aligned_zeros
from closed_loop_dynamics.engine.instructions import InstructionList, instruction_list
from closed_loop_dynamics.engine.llvm_ir import LlvmModule

WIDTHS = (1, 2, 4, 8, 16)


class Compiled:
    """An instruction list as machine code; call it with rows of inputs."""

    def __init__(self, code: InstructionList, width: int) -> None:
        module = LlvmModule()
        self.workspace = straight_line.emit_straight_line(module, code, "f", width)
        self.loaded = native.LoadedCode(native.compile_ir(module.text()))
        self.call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(self.loaded.address("f"))
        self.code, self.width = code, width

    def __call__(self, rows: Any) -> np.ndarray:
        rows = np.asarray(rows, dtype=float).reshape(-1, sum(self.code.input_sizes))
        results = []
        for start in range(0, len(rows), self.width):
            part = rows[start : start + self.width]
            padded = np.vstack([part, np.repeat(part[-1:], self.width - len(part), axis=0)])
            n_out = sum(self.code.output_sizes)
            blocks = [
                aligned_zeros(max(1, n) * self.width)
                for n in (sum(self.code.input_sizes), n_out, self.workspace)
            ]
            blocks[0][: padded.size] = padded.T.ravel()
            self.call(*(b.ctypes.data for b in blocks))
            out = blocks[1][: n_out * self.width].reshape(n_out, self.width)
            results.append(out[:, : len(part)].T)
        return np.vstack(results)


def by_casadi(function: Any, rows: np.ndarray) -> np.ndarray:
    """The same by CasADi's virtual machine; all inputs in one block."""
    ends = np.cumsum([function.numel_in(i) for i in range(function.n_in())])[:-1]
    return np.array(
        [
            np.concatenate([o.full().ravel() for o in function.call([*np.split(row, ends)])])
            for row in rows
        ]
    )


def random_function(seed: int, length: int) -> Any:
    """A function of two vectors with values of moderate size and no large cancellation."""
    rng = np.random.default_rng(seed)
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b", 2)
    pool = [*ca.vertsplit(a), *ca.vertsplit(b), ca.SX(float(rng.normal()))]
    unary = [
        ca.sin,
        ca.cos,
        ca.tanh,
        ca.atan,
        ca.fabs,
        lambda x: -x,
        lambda x: ca.sqrt(1 + x * x),
        lambda x: ca.log(2 + x * x),
        lambda x: ca.exp(ca.tanh(x)),
        lambda x: ca.asin(ca.tanh(x)),
        lambda x: ca.tan(ca.tanh(x)),
    ]
    binary = [
        lambda x, y: 0.5 * (x + y),
        lambda x, y: 0.7 * x - 0.4 * y,
        lambda x, y: ca.sin(x) * y,
        lambda x, y: x / (1 + y * y),
        ca.fmin,
        ca.fmax,
        ca.atan2,
        ca.copysign,
        ca.hypot,
        lambda x, y: ca.if_else(x < y, 2 * x, y),
        lambda x, y: (1 + x * x) ** ca.tanh(y),
    ]
    for _ in range(length):
        i, j = rng.integers(len(pool), size=2)
        if rng.random() < 0.4:
            pool.append(unary[rng.integers(len(unary))](pool[i]))
        else:
            pool.append(binary[rng.integers(len(binary))](pool[i], pool[j]))
    late = [pool[k] for k in rng.integers(len(pool) // 2, len(pool), size=9)]
    return ca.Function("random", [a, b], [ca.vertcat(*late[:5]), ca.vertcat(*late[5:])])


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_in_one_lane_and_in_eight(name: str) -> None:
    function = written(name)
    code = instruction_list(function)
    points = samples(name, np.random.default_rng(3), 50)
    if name == "div":
        points = points[points[:, 1] != 0.0]
    expected = by_casadi(function, points)
    for width in (1, 8):
        np.testing.assert_allclose(Compiled(code, width)(points), expected, rtol=1e-15, atol=1e-300)


@pytest.mark.parametrize("seed", range(12))
def test_random_functions_equal_casadi(seed: int) -> None:
    function = random_function(seed, 120)
    points = np.random.default_rng(seed).uniform(-2, 2, (37, 5))
    expected = by_casadi(function, points)
    code = instruction_list(function)
    scalar = Compiled(code, 1)(points)
    np.testing.assert_allclose(scalar, expected, rtol=1e-9, atol=1e-11)
    for width in WIDTHS[1:]:
        np.testing.assert_allclose(Compiled(code, width)(points), scalar, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("chunk", [1, 7, 50])
def test_cutting_the_list_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, chunk: int, width: int
) -> None:
    function = random_function(99, 150)
    code = instruction_list(function)
    points = np.random.default_rng(0).uniform(-2, 2, (11, 5))
    whole = Compiled(code, width)
    assert whole.workspace == 0
    monkeypatch.setattr(straight_line, "CHUNK", chunk)
    cut = Compiled(code, width)
    assert cut.workspace > 0
    np.testing.assert_allclose(cut(points), whole(points), rtol=1e-12, atol=1e-14)


def test_inputs_and_constants_may_be_outputs_even_across_cuts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = ca.SX.sym("a", 2)
    function = ca.Function("f", [a], [ca.vertcat(a[1], 4.5, a[0] + a[1], a[1], a[0] + a[1])])
    monkeypatch.setattr(straight_line, "CHUNK", 1)
    for width in WIDTHS:
        result = Compiled(instruction_list(function), width)([[1.0, 2.0], [3.0, 5.0]])
        np.testing.assert_array_equal(result, [[2, 4.5, 3, 2, 3], [5, 4.5, 8, 5, 8]])


def angles() -> np.ndarray:
    """Small, moderate and large ones, and the neighbourhood of multiples of pi/2."""
    rng = np.random.default_rng(5)
    multiples = np.array([*range(-40, 41), *rng.integers(0, int(MAX_ANGLE / 1.6), 3000)])
    near = multiples * (math.pi / 2)
    spread = [near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf), near * (1 + 1e-9)]
    sizes = 10.0 ** rng.uniform(-9, math.log10(MAX_ANGLE), 20000) * rng.choice([-1, 1], 20000)
    values = np.concatenate([*spread, sizes, [0.0, MAX_ANGLE, -MAX_ANGLE, math.pi / 4, 1e-300]])
    return values[np.abs(values) <= MAX_ANGLE]


@pytest.mark.parametrize("width", [1, 8])
def test_sine_and_cosine_are_good_to_two_units_in_the_last_place(width: int) -> None:
    x = ca.SX.sym("x")
    code = instruction_list(ca.Function("f", [x], [ca.sin(x), ca.cos(x)]))
    points = angles()
    found = Compiled(code, width)(points[:, None])
    for column, reference in enumerate((math.sin, math.cos)):
        expected = np.array([reference(v) for v in points])
        ulps = np.abs(found[:, column] - expected) / np.spacing(np.abs(expected))
        worst = int(np.argmax(ulps))
        assert ulps[worst] <= 2.0, (points[worst], found[worst, column], expected[worst])


def test_nan_is_not_swallowed() -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    outputs = [ca.sin(a), ca.sqrt(b), a * b, ca.sign(a), ca.atan2(a, b)]
    code = instruction_list(ca.Function("f", [a, b], outputs))
    for width in (1, 8):
        result = Compiled(code, width)([[math.nan, -1.0]])
        assert np.isnan(result[0]).all()
