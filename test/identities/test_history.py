"""What a call finds does not depend on the calls before it: robots whose loops Newton closes.

A motion starts from its own newest solutions. The truth is a thread that has none.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.manipulators import robot_of
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array

ROBOTS = ("irsbot2", "delta", "exo_ankle", "six_ups")
each_robot = pytest.mark.parametrize("name", ROBOTS)


@cache
def robot(name: str) -> cld.Robot:
    """Every loop by Newton."""
    return shipped(name) if name == "exo_ankle" else robot_of(name)


def without_history(name: str, program: str, *vectors: Array) -> Array:
    """The program in memory that is new."""
    found = robot(name).programs.program(program)
    return found.evaluate_in(found.new_context(), *vectors)


def assert_independent(name: str, y: Array) -> None:
    """After all the calls before, positions and forces at ``y`` are those of a first call."""
    rng = np.random.default_rng(1)
    yd, ydd = rng.normal(size=(2, robot(name).m))
    for program, vectors in (("positions", (y,)), ("inverse_dynamics", (y, yd, ydd))):
        alone = without_history(name, program, *vectors)
        now = robot(name).programs.program(program)(*vectors)
        np.testing.assert_allclose(now, alone, rtol=1e-12, atol=1e-12 * np.max(np.abs(alone)))


def walk(name: str, rng: np.random.Generator, count: int) -> Array:
    """Sines at 1 kHz inside the reachable set."""
    samples = robot(name).random_independent(rng, 200)
    middle, half = samples.mean(axis=0), 0.3 * np.ptp(samples, axis=0)
    phase = rng.uniform(0.0, 2.0 * np.pi, robot(name).m)
    return middle + half * np.sin(2e-3 * np.pi * np.arange(count)[:, None] + phase)


@each_robot
def test_smooth_motions_take_one_step_and_end_where_a_first_call_ends(name: str) -> None:
    found = robot(name).programs.program("inverse_dynamics")
    rest, steps, alone = np.zeros(robot(name).m), [], []
    for y in walk(name, np.random.default_rng(2), 300):
        found(y, rest, rest)
        steps.append(found.iterations())
        context = found.new_context()
        assert found.run_in(context, y, rest, rest) == 0
        alone.append(int(context.counts.sum()))
    assert np.mean(steps[2:]) < 1.1 < 2.0 <= np.mean(alone)
    for y in walk(name, np.random.default_rng(2), 300)[::10]:
        assert_independent(name, y)


@each_robot
def test_any_history_gives_the_same_answer(name: str) -> None:
    """Small and large steps, back and forth, the same place again."""
    rng = np.random.default_rng(3)
    targets = robot(name).random_independent(rng, 40)
    size = np.ptp(targets, axis=0)
    for y in targets:
        steps = size * rng.choice([0.0, 1e-9, 1e-6, 1e-3, 0.02, 0.1], (3, 1))
        for before in y + steps * rng.uniform(-1.0, 1.0, (3, robot(name).m)):
            try:
                robot(name).state(before)
            except cld.ClosureNotFound:
                continue
            assert_independent(name, y)


@each_robot
def test_batches_have_no_history(name: str) -> None:
    """To the last bit, whatever this thread did before."""
    y = walk(name, np.random.default_rng(4), 11)
    results = []
    for before in (robot(name).random_independent(np.random.default_rng(5)), y[3] + 1e-4):
        robot(name).state(before)
        results.append(robot(name).state(y).q)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("name", ["irsbot2", "delta", "exo_ankle"])
def test_the_way_to_a_singularity_stays_on_the_branch_until_it_is_refused(name: str) -> None:
    """In the steps of a controller; what is found on the way, a first call finds too."""
    this, rng = robot(name), np.random.default_rng(6)
    refused = 0
    for direction in rng.normal(size=(4, this.m)):
        y, last = np.mean(this.random_independent(rng, 50), axis=0), None
        for step in range(4000):
            y = y + 2e-3 * direction / np.linalg.norm(direction)
            try:
                q = this.state(y).q
            except cld.ClosureNotFound:
                refused += 1
                break
            assert last is None or np.max(np.abs(q - last)) < 0.3
            last = q
            if step % 50 == 0:
                alone = without_history(name, "positions", y)[: this.n]
                np.testing.assert_allclose(q, alone, atol=1e-9)
    assert refused, "the test should meet the end of the branch"
