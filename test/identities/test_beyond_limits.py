"""Robots rest on their stops: just outside the joint limits everything is as quick and as true."""

from __future__ import annotations

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.closure.continuation import Solution
from closed_loop_dynamics.shipped import shipped_robot
from tools.benchmark.beyond import stops

WITH_LOOPS = [
    "crank_leg",
    "rh5_leg",
    "rh5_manus_reduced",
    "rh5_manus",
    "rh5_humanoid",
    "heavy_duty_loop",
    "heavy_duty_arm",
    "irsbot2",
    "delta",
    "six_ups",
    "exo_hip",
    "exo_ankle",
    "differential_humanoid",
]


@pytest.mark.parametrize("outside", [1e-4, 0.01, 0.1])
@pytest.mark.parametrize("name", WITH_LOOPS)
def test_outside_its_limits_a_loop_closes_natively_on_its_branch(name: str, outside: float) -> None:
    """By the programs themselves, without rescue, and where continuation ends, too."""
    files = shipped_robot(name)
    robot = cld.load(files.urdf, files.submechanisms)
    rng = np.random.default_rng(2)
    program = robot.programs.program("velocities")
    tried = 0
    for joint, at, position in stops(robot, outside):
        for y in robot.random_independent(rng, 3):
            y[at] = position
            try:
                expected = continued(robot, y)
            except cld.ClosureNotFound:
                continue
            yd = rng.normal(size=robot.m)
            assert program.run_in(program.new_context(), y, yd) == 0, joint
            q = robot.state(y, yd).q
            for b, value in expected.items():
                assert q[robot.mechanism.q.at[b]] == pytest.approx(value, abs=1e-7)
            tried += 1
    assert tried


def test_at_the_end_of_its_range_a_loop_starts_from_the_node_beside() -> None:
    """In cells whose own node cannot be reached; where there is no way, native code finds none."""
    robot = cld.load("delta")
    (branch,) = robot.branches.values()
    table, program = branch.seeds, robot.programs.program("positions")
    rng, reached, natively = np.random.default_rng(4), 0, 0
    for index in np.argwhere(np.isnan(table.nodes[:, 0]).reshape(table.count)):
        for p in table.low + (index + rng.uniform(-0.5, 0.5, (6, 3))) * table.step:
            context = program.new_context()
            closed = program.run_in(context, p) == 0
            natively += closed
            try:
                expected = continued(robot, p)
            except cld.ClosureNotFound:
                assert not closed
                continue
            reached += 1
            if closed:
                at = [robot.mechanism.q.at[b] for b in expected]
                q = robot.programs.named("positions", None, p)["q"]
                np.testing.assert_allclose(q[at], list(expected.values()), atol=1e-7)
    assert reached > 30 and natively > 0.9 * reached


def continued(robot: cld.Robot, y: np.ndarray) -> dict[int, float]:
    """Body -> position of its joint, for all joints of loops, by continuation from known nodes."""
    mech, found = robot.mechanism, {}
    for c, branch in robot.branches.items():
        p = y[[mech.y.at[b] for b in mech.components[c].independent]]
        q = branch.local_q(Solution(p, branch.rescue(p), np.zeros((0, 0))))
        found.update(zip(mech.components[c].joints, q.tolist(), strict=True))
    return found
