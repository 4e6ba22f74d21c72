"""Exported C says what Python says: the same numbers, and the same refusals.

Every shipped robot with CLOSED_LOOP_EXPORT=all (``make export``); otherwise one of each kind.
"""

from __future__ import annotations

import os
from functools import cache
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
from support.shipped import shipped

import closed_loop_dynamics as cld
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
EXCEPTIONS = {
    INVALID_INPUT: cld.InvalidInput,
    CLOSURE_NOT_FOUND: cld.ClosureNotFound,
    BRANCH: cld.ClosureNotFound,
    ACTUATION_SINGULAR: cld.ActuationSingular,
    SINGULAR_INERTIA: cld.SingularInertia,
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    @cache
    def exported(name: str) -> CLibrary:
        functions = ("state", "inverse_dynamics", "forward_dynamics", "effort_map", "encoders")
        return CLibrary.of(shipped(name), tmp_path_factory.mktemp(name), *functions)

    return exported


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


def scatter(program: Any, context: Any, values: list[Any], expected: Any) -> float:
    """How far the native program's answer moves with its start and with roundings of y."""
    rng = np.random.default_rng(12)
    moved = 0.0
    for size in (1e-3, 1e-15, 1e-4, 1e-15, 1e-5, 1e-15, 0.0):
        y = values[0] + size * rng.choice((-1.0, 1.0), len(values[0]))
        if program.run_in(context, y, *values[1:]) == 0 and size <= 1e-15:
            moved = max(moved, float(np.max(np.abs(context.output - expected))))
    return moved


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_numbers_and_refusals_are_those_of_the_native_program(
    library: Any, name: str, function: str
) -> None:
    robot = shipped(name)
    program = robot.programs.program(function)
    context, beside = program.new_context(), program.new_context()
    memory = Memory(library(name))
    refused, strict, total = 0, 0, 0
    for inside, values in states(robot, program.source.input_sizes, STATES):
        status, out = memory.call(function, *values)
        native = program.run_in(context, *values)
        assert (status == OK) == (native == 0), (values[0], status, native)
        if status != OK:
            refused += 1
            assert np.isnan(out).all(), "what is refused is not written"
            continue
        assert memory.iterations == sum(context.counts.tolist())
        expected = context.output.copy()
        error = float(np.max(np.abs(out - expected), initial=0.0))
        allowed = 1e-12 * max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        total, strict = total + 1, strict + (error <= allowed)
        if error > allowed:  # near a singularity, where Python's own answers scatter as much
            assert not inside
            assert error <= 30.0 * scatter(program, beside, values, expected), (values[0], error)
    assert strict >= 0.98 * total > 0
    if robot.branches:
        assert refused > STATES // 100, "the samples should meet refusals"


@pytest.mark.parametrize("name", ROBOTS)
def test_what_python_raises_is_what_the_status_says(library: Any, name: str) -> None:
    robot, memory = shipped(name), Memory(library(name))
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
def test_encoders_find_the_independent_joints_on_the_same_branch(library: Any, name: str) -> None:
    robot = shipped(name)
    rng = np.random.default_rng(5)
    base = 6 if robot.mechanism.floating else 0
    for y in robot.random_independent(rng, 60):
        if base:
            y[:7] = robot.mechanism.neutral_y()[:7]  # which no encoder sees
        yd = rng.uniform(-1.0, 1.0, robot.m)
        yd[:base] = 0.0
        s = robot.state(y, yd)
        memory = Memory(library(name))
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
    library: Any, name: str
) -> None:
    robot, memory = shipped(name), Memory(library(name))
    rng = np.random.default_rng(6)
    start, goal = (robot.random_independent(rng) for _ in range(2))
    start = 0.5 * (start + goal)
    if robot.mechanism.floating:
        start[:7] = goal[:7] = robot.mechanism.neutral_y()[:7]
    rest = np.zeros(robot.p)
    assert memory.call("locate", robot.state(start).u)[0] == OK
    most = library(name).export.costs["encoders"].iterations
    for s in np.linspace(0.0, 0.2, 200):
        y = start + s * (goal - start)
        status, out = memory.call("encoders", robot.state(y).u, rest)
        assert status == OK and memory.iterations <= most
        np.testing.assert_allclose(out[: len(y)], y, atol=1e-8)


def test_functions_of_one_memory_do_not_disturb_each_other(library: Any) -> None:
    robot, together = shipped("irsbot2"), Memory(library("irsbot2"))
    alone = {name: Memory(library("irsbot2")) for name in ("state", "inverse_dynamics")}
    for _, values in states(robot, (robot.m, robot.m, robot.m), 60):
        for name, memory in alone.items():
            first, second = memory.call(name, *values), together.call(name, *values)
            if first[0] == second[0] == OK:
                np.testing.assert_allclose(second[1], first[1], rtol=1e-9, atol=1e-9)


def test_a_missing_function_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(cld.InvalidInput, match="did you mean 'inverse_dynamics'"):
        shipped("crank_leg").export_c(tmp_path, ["inverse_dynamic"])
