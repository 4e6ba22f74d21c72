"""Optimised motions: found from a rough start, within all limits, and followed by the simulator."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.control_rig import PERIOD, ControlRig
from support.shipped import shipped

from closed_loop_dynamics.cli.motion_file import as_spline, motion_of
from closed_loop_dynamics.cli.tables import csv_text, read_csv
from closed_loop_dynamics.motion.splice import Offer
from closed_loop_dynamics.motion.supervisor import State
from closed_loop_dynamics.motion.trajectory import Points, Spline, cycloidal
from closed_loop_dynamics.motion.trajectory_check import Checker, Rules
from tools.optimise.__main__ import MOTIONS
from tools.optimise.motions import BACKWARD, BENDING, FORWARD, SQUAT_HEIGHT, SQUAT_TIME, STANDING
from tools.optimise.problem import SHARE, Plan

DOCS = Path(__file__).resolve().parents[2] / "docs/optimisation"
both = pytest.mark.parametrize("name", MOTIONS)
slow = pytest.mark.slow


@cache
def solved(name: str) -> Plan:
    robot, solve = MOTIONS[name]
    return solve(shipped(robot))


@slow
@both
def test_what_is_executed_keeps_all_limits_between_the_knots_too(name: str, tmp_path: Path) -> None:
    robot, plan = shipped(MOTIONS[name][0]), solved(name)
    file = tmp_path / "plan.csv"
    file.write_text(csv_text(plan.table(robot)), encoding="utf-8")
    spline = as_spline(motion_of(robot, read_csv(str(file))))
    checker = Checker(robot, Rules(period=1e-3))
    table = checker.check(spline, spline.start)
    tolerance = 1.01 * SHARE  # limits are kept at the knots, curves bulge between them
    assert (np.abs(table.ud) <= tolerance * checker.actuator.velocity).all()
    assert (np.abs(table.tau) <= tolerance * checker.actuator.effort).all()
    at_knots = checker.mapped(spline, plan.times)
    np.testing.assert_allclose(at_knots.tau, plan.tau, atol=1e-6 * np.max(np.abs(plan.tau)))


@slow
@both
def test_the_table_of_the_page_is_what_is_found(name: str) -> None:
    committed = motion_of(shipped(MOTIONS[name][0]), read_csv(str(DOCS / f"{name}.csv")))
    plan = solved(name)
    np.testing.assert_allclose(committed.times, plan.times, rtol=1e-3)
    np.testing.assert_allclose(committed.y, plan.y, atol=0.02)


@slow
def test_the_squat_takes_less_effort_than_a_smooth_one() -> None:
    robot, plan = shipped("rh5_leg"), solved("squat")
    heights = np.array([robot.pose("foot", y)[2, 3] for y in plan.y])
    assert heights[len(heights) // 2] >= heights[0] + SQUAT_HEIGHT - 1e-6
    limits = Checker(robot, Rules()).actuator.effort
    down, up = (STANDING + share * BENDING for share in (0.0, 1.02))  # not quite as high
    assert robot.pose("foot", up)[2, 3] <= heights[0] + SQUAT_HEIGHT
    half = cycloidal(down, up, SQUAT_TIME / 2)
    y, yd, ydd = Spline(half).table(np.linspace(0.0, SQUAT_TIME / 2, 200))
    smooth = np.sum((robot.inverse_dynamics(y, yd, ydd) / limits) ** 2, axis=1).mean()
    assert plan.cost < 0.8 * smooth


@slow
def test_the_fast_motion_is_faster_than_any_cycloidal_one_and_some_limit_always_holds_it() -> None:
    robot, plan = shipped("crank_leg"), solved("point_to_point")
    checker = Checker(robot, Rules())
    cycloid = cycloidal(FORWARD, BACKWARD, 1.0)
    y, yd, _ = Spline(cycloid).table(np.linspace(0.0, 1.0, 500))
    ud = robot.state(y, yd).ud
    # Speeds alone forbid a cycloidal motion in less than:
    least = np.max(np.abs(ud) / (SHARE * checker.actuator.velocity))
    assert plan.times[-1] < 0.7 * least
    busy = np.maximum(
        np.max(np.abs(plan.ud) / checker.actuator.velocity, axis=1),
        np.max(np.abs(plan.tau) / checker.actuator.effort, axis=1),
    )
    assert np.mean(busy >= 0.99 * SHARE) > 0.5


@both
def test_the_controller_follows_it(name: str) -> None:
    robot = shipped(MOTIONS[name][0])
    motion = motion_of(robot, read_csv(str(DOCS / f"{name}.csv")))
    points = Points(motion.times, motion.y, motion.yd, motion.ydd)
    rig = ControlRig(robot, motion.y[0])
    rig.run(0.1)
    assert rig.controller.execution is not None
    rig.controller.execution.offer(Offer(lambda: points))
    worst = 0.0
    for _ in range(round((motion.times[-1] + 0.2) / PERIOD)):
        rig.run(PERIOD)
        due = rig.commands[-1].setpoint  # of the begin of the period at whose end we are
        error = rig.plant.y - due.y - PERIOD * due.yd
        worst = max(worst, float(np.abs(error).max()))
    assert rig.refusals == []
    assert rig.went() == ["holding -> tracking", "tracking -> holding"]
    assert rig.state is State.HOLDING
    assert worst <= 0.02, worst  # of a motion with up to 9 rad/s
    np.testing.assert_allclose(rig.plant.y, motion.y[-1], atol=1e-3)
    rig.expect_gentle()
