"""Robots with any number of loops, for the growth of costs: right, and linear in their number."""

from __future__ import annotations

import numpy as np
import pytest
from support.figures import relative

import closed_loop_dynamics as cld
from tools.benchmark import dense
from tools.benchmark.scaling import LOOPS, grow, programs
from tools.benchmark.scaling_report import scaling_json, scaling_text
from tools.oracles.oracle import Oracle

pytestmark = pytest.mark.usefixtures("traced_only")
every_family = pytest.mark.parametrize("family", list(LOOPS))


@every_family
@pytest.mark.parametrize("count", [1, 3])
def test_loops_move_as_the_oracle_says(family: str, count: int) -> None:
    urdf, submechanisms = LOOPS[family](count)
    robot = cld.load(urdf, submechanisms)
    oracle = Oracle(urdf, submechanisms, names=robot.names.spanning)
    more = family == "loops side by side"
    assert (robot.n, robot.m, robot.p) == (3 * count + more, count + more, count + more)
    rng = np.random.default_rng(count)
    driven = [robot.names.spanning.index(name) for name in robot.names.actuator]
    for y in robot.random_independent(rng, 4):
        yd, tau_u = rng.normal(size=(2, robot.m))
        ydd = robot.forward_dynamics(y, yd, 20.0 * tau_u)
        state = robot.state(y, yd, ydd)
        tau = np.zeros(robot.n)
        tau[driven] = 20.0 * tau_u
        expected, _ = oracle.forward_dynamics(state.q, state.qd, tau)
        assert np.abs(oracle.phi(state.q)).max() <= 1e-10
        assert relative(state.qdd[None], expected[None]) <= 1e-8
        for (what, _), name in programs(robot).items():
            if what == "forward dynamics":
                found = robot.programs.program(name)(y, yd, 20.0 * tau_u)
                assert relative(found[None], ydd[None]) <= 1e-9


@every_family
def test_every_loop_has_a_closed_form_and_nothing_to_remark(family: str) -> None:
    report = str(cld.load(*LOOPS[family](2)).report())
    assert report.count("analytical") == 2 and "nothing to remark" in report


@pytest.mark.parametrize(
    ("family", "numbers"), [("loops in series", (6, 8, 10)), ("loops side by side", (3, 5, 7))]
)
def test_each_further_loop_costs_the_same(family: str, numbers: tuple[int, ...]) -> None:
    """Once the first ones no longer save anything; the axes of a series repeat after two."""
    robots = (cld.load(*LOOPS[family](k)) for k in numbers)
    counts = [dense.instruction_count(robot, "forward_dynamics") for robot in robots]
    first, second = np.diff(counts)
    assert abs(second - first) <= 1e-3 * first  # what folds away differs by single instructions


def test_the_report_gives_costs_per_loop_beside_the_others() -> None:
    growths, checks = grow("loops in series", (1, 2, 3), sweeps=1)
    assert len(checks) == 6 and all(check.ok for check in checks)
    text = scaling_text(growths, checks, markdown=True, unit="loops")
    for method in ("Lagrange", "constraintDynamics", "lcaba, converged", "mj_forward"):
        assert f"| {method}, per loop [µs]" in text
    aba = next(g for g in growths if g.method == "cluster ABA")
    assert f"{aba.instructions[2] / 3:.0f}" in text and "| cluster ABA, per loop" in text
    assert {g["method"]: g["instructions"] for g in scaling_json(growths)}["mj_forward"] is None


@every_family
@pytest.mark.parametrize("count", [0, 1.5, None])
def test_no_loops_are_refused(family: str, count: object) -> None:
    with pytest.raises(cld.InvalidInput, match="loops"):
        LOOPS[family](count)  # type: ignore[arg-type]
