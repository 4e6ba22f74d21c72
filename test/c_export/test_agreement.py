"""Exported C says what Python says: the same numbers, and the same refusals.

Every shipped robot with CLOSED_LOOP_EXPORT=all (``make export``); otherwise one of each kind.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.c_library import (
    ACTUATION_SINGULAR,
    BRANCH,
    CLOSURE_NOT_FOUND,
    INVALID_INPUT,
    OK,
    SINGULAR_INERTIA,
    CLibrary,
    Memory,
)
from support.exports import Exports
from support.four_bar import Lambda
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.dynamics.catalogue import check_kinds
from closed_loop_dynamics.engine.layout import CHECK, INPUT
from closed_loop_dynamics.programs.failures import check_failure
from tools.robots import SHIPPED

#: Closed forms; the same with other legs; Newton's method; a free base.
SOME = ("crank_leg", "rh5_leg", "irsbot2", "geared_quadruped")
ROBOTS = tuple(SHIPPED) if os.environ.get("CLOSED_LOOP_EXPORT") == "all" else SOME
FUNCTIONS = (
    "state",
    "inverse_dynamics",
    "forward_dynamics",
    "actuator_forces",
    "independent_forces",
)
STATES = 1000
#: Times what the native program's own numbers scatter, where that is more than 1e-12.
FEW = 5.0
EXCEPTIONS = {
    INVALID_INPUT: cld.InvalidInput,
    CLOSURE_NOT_FOUND: cld.ClosureNotFound,
    BRANCH: cld.ClosureNotFound,
    ACTUATION_SINGULAR: cld.ActuationSingular,
    SINGULAR_INERTIA: cld.SingularInertia,
}


def states(robot: cld.Robot, sizes: tuple[int, ...], count: int) -> Any:
    """(inside, inputs): a third within the limits, a third around them, a third far beyond."""
    rng = np.random.default_rng(11)
    base = 7 if robot.mechanism.floating else 0
    for k, y in enumerate(robot.random_independent(rng, count)):
        if k % 3 == 1:
            y[base:] += rng.uniform(-0.3, 0.3, len(y) - base)
        if k % 3 == 2:
            y[base:] *= rng.uniform(1.0, 3.0)
        yield k % 3 == 0, [y, *(rng.uniform(-2.0, 2.0, size) for size in sizes[1:])]


def scatter(program: Any, context: Any, values: list[Any], expected: Any) -> Any:
    """How far the native program's own numbers move when y is rounded otherwise."""
    rng = np.random.default_rng(12)
    y, moved = values[0], np.zeros_like(expected)
    for _ in range(20):
        rounding = 1e-15 * rng.integers(-1, 2, len(y)) * np.maximum(1.0, np.abs(y))
        if program.run_in(context, y + rounding, *values[1:]) == 0:
            moved = np.maximum(moved, np.abs(context.output - expected))
    return moved


def reason(robot: cld.Robot, function: str, native: int, y: Any) -> type[Exception]:
    """What Python raises for a status of its native program, without the rescue."""
    assert 0 < native < INPUT
    if native < CHECK:
        return cld.ClosureNotFound
    kinds = check_kinds(robot.mechanism, robot.programs.recipes[function])
    return type(check_failure(robot.mechanism, kinds[native - CHECK], y))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_numbers_and_refusals_are_those_of_the_native_program(
    exports: Exports, name: str, function: str, compiler: str
) -> None:
    """To 1e-12 of the largest number of each vector, always so within the limits.

    Beyond them, near singularities, the last digits of a vector may be nobody's: one bit more or
    less in y changes them in the native program as well, by more than that. There C's differ by no
    more than a few times as much.
    """
    robot = shipped(name)
    program, recipe = robot.programs.program(function), robot.programs.recipes[function]
    context, beside = program.new_context(), program.new_context()
    sizes = [int(np.prod(shape)) for shape in recipe.outputs(robot.mechanism).shapes.values()]
    ends = np.cumsum(sizes)[:-1]
    memory = Memory(exports.library(name, compiler))
    refused, strict, total = 0, 0, 0
    for inside, values in states(robot, program.source.input_sizes, STATES):
        status, out = memory.call(function, *values)
        native = program.run_in(context, *values)
        assert (status == OK) == (native == 0), (values[0], status, native)
        if status != OK:
            refused += 1
            assert EXCEPTIONS[status] is reason(robot, function, native, values[0])
            assert np.isnan(out).all(), "what is refused is not written"
            continue
        assert memory.iterations == sum(context.counts.tolist())
        expected = context.output.copy()
        errors = [largest(part) for part in np.split(out - expected, ends)]
        allowed = [1e-12 * max(1.0, largest(part)) for part in np.split(expected, ends)]
        total += 1
        if np.all(np.less_equal(errors, allowed)):
            strict += 1
            continue
        assert not inside, (values[0], errors)
        digits = np.split(scatter(program, beside, values, expected), ends)
        for error, most, own in zip(errors, allowed, map(largest, digits), strict=True):
            assert error <= max(most, FEW * own), (values[0], error, own)
    assert strict >= 0.98 * total > 0
    if robot.branches:
        assert refused > STATES // 100, "the samples should meet refusals"


def largest(part: Any) -> float:
    return float(np.max(np.abs(part), initial=0.0))


def test_actuators_without_a_grip_are_refused_as_in_python(tmp_path: Path) -> None:
    mechanism = Lambda()
    robot = cld.load(mechanism.urdf(), mechanism.yaml())
    memory = Memory(CLibrary.of(robot, tmp_path, "inverse_dynamics", "effort_map"))
    y, rest = np.array([mechanism.singular_hinge()]), np.zeros(1)
    with pytest.raises(cld.ActuationSingular):
        robot.inverse_dynamics(y, rest, rest)
    assert memory.call("inverse_dynamics", y, rest, rest)[0] == ACTUATION_SINGULAR
    assert memory.call("actuator_forces", y, rest)[0] == ACTUATION_SINGULAR
    assert memory.call("independent_forces", y, rest)[0] == OK


@pytest.mark.parametrize("name", ROBOTS)
def test_what_python_raises_is_what_the_status_says(exports: Exports, name: str) -> None:
    robot, memory = shipped(name), Memory(exports.library(name))
    sizes = (robot.mechanism.n_y, robot.m, robot.m)
    seen = set()
    for k, (_, values) in enumerate(states(robot, sizes, 90)):
        if k % 10 == 9:
            values[k % 3][k % robot.m] = (np.nan, np.inf, -np.inf, 2e8)[k // 10 % 4]
        status, _ = memory.call("state", *values)
        seen.add(status)
        try:
            robot.state(*values)
        except cld.ClosedLoopError as error:
            assert status != OK and isinstance(error, EXCEPTIONS[status])
        else:  # Python searches along the branch where this library does not
            assert status in (OK, CLOSURE_NOT_FOUND, BRANCH)
    assert {OK, INVALID_INPUT} <= seen


@pytest.mark.parametrize("name", ROBOTS)
def test_encoders_find_the_independent_joints_on_the_same_branch(
    exports: Exports, name: str
) -> None:
    robot = shipped(name)
    rng = np.random.default_rng(5)
    base = 6 if robot.mechanism.floating else 0
    for y in robot.random_independent(rng, 60):
        if base:
            y[:7] = robot.mechanism.neutral_y()[:7]  # which no encoder sees
        yd = rng.uniform(-1.0, 1.0, robot.m)
        yd[:base] = 0.0
        s = robot.state(y, yd)
        memory = Memory(exports.library(name))
        assert memory.call("locate", s.u)[0] == OK
        status, out = memory.call("encoders", s.u, s.ud)
        assert status == OK
        found_y, found_yd, q, qd = np.split(out, np.cumsum([len(y), robot.m, len(s.q)]))
        expected = robot.independent_from_actuator(s.u)
        np.testing.assert_allclose(found_y, expected, atol=1e-9)
        if np.max(np.abs(expected - y)) < 1e-6:
            np.testing.assert_allclose(found_yd, yd, atol=1e-7)
            np.testing.assert_allclose(q, s.q, atol=1e-7)
            np.testing.assert_allclose(qd, s.qd, atol=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_encoders_follow_a_motion_at_a_bounded_number_of_iterations(
    exports: Exports, name: str
) -> None:
    robot, memory = shipped(name), Memory(exports.library(name))
    rng = np.random.default_rng(6)
    start, goal = (robot.random_independent(rng) for _ in range(2))
    start = 0.5 * (start + goal)
    if robot.mechanism.floating:
        start[:7] = goal[:7] = robot.mechanism.neutral_y()[:7]
    rest = np.zeros(robot.p)
    assert memory.call("locate", robot.state(start).u)[0] == OK
    most = exports.library(name).export.costs["encoders"].iterations
    for s in np.linspace(0.0, 0.2, 200):
        y = start + s * (goal - start)
        status, out = memory.call("encoders", robot.state(y).u, rest)
        assert status == OK and memory.iterations <= most
        np.testing.assert_allclose(out[: len(y)], y, atol=1e-8)


def test_functions_of_one_memory_do_not_disturb_each_other(exports: Exports) -> None:
    robot, together = shipped("irsbot2"), Memory(exports.library("irsbot2"))
    alone = {name: Memory(exports.library("irsbot2")) for name in ("state", "inverse_dynamics")}
    for _, values in states(robot, (robot.m, robot.m, robot.m), 60):
        for name, memory in alone.items():
            first, second = memory.call(name, *values), together.call(name, *values)
            if first[0] == second[0] == OK:
                np.testing.assert_allclose(second[1], first[1], rtol=1e-9, atol=1e-9)


def test_a_missing_function_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(cld.InvalidInput, match="did you mean 'inverse_dynamics'"):
        shipped("crank_leg").export_c(tmp_path, ["inverse_dynamic"])
