"""The survey of shipped robots: its contenders agree, its page is whole. Nothing is timed here."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest

from closed_loop_dynamics.robot import Robot
from tools.benchmark import __main__ as bench
from tools.benchmark.cases import Case
from tools.benchmark.checks import Check, cross_checks, relative_error
from tools.benchmark.from_c import FROM_C, CSide
from tools.benchmark.mujoco_side import MujocoSide
from tools.benchmark.pinocchio_side import PinocchioSide
from tools.benchmark.states import PATTERNS, States, make_states
from tools.benchmark.survey import QUANTITIES
from tools.oracles.mujoco_robot import NotInMujoco
from tools.robots import SHIPPED

pytestmark = pytest.mark.usefixtures("traced_only")
ROOT = Path(__file__).resolve().parents[2]
SMALLEST = "heavy_duty_loop"
#: Hinge cuts; point cuts; a free base with couplings of one and of two terms.
ROBOTS = ("exo_hip", "crank_leg", "belt_humanoid")


@cache
def loaded(name: str) -> tuple[Case, Robot]:
    shipped = SHIPPED[name]
    files = shipped.generate()
    case = Case(name, shipped.title, *files, solver="auto", floating=shipped.floating)
    return case, case.load()


@cache
def fast(name: str) -> States:
    """A trajectory at three times its speed: the loops' own accelerations count."""
    _, robot = loaded(name)
    states = make_states(robot, "trajectory", 8)
    yd = 3.0 * states.yd
    ydd = robot.forward_dynamics(states.y, yd, states.tau_u)
    whole = robot.state(states.y, yd, ydd)
    assert whole.qd is not None and whole.qdd is not None
    return replace(states, yd=yd, ydd=ydd, qd=whole.qd, qdd=whole.qdd)


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco_agrees_at_speed_once_its_softness_is_taken_out(name: str) -> None:
    case, robot = loaded(name)
    states = fast(name)
    theirs = MujocoSide(str(case.urdf), robot)
    assert relative_error(theirs.hard(states), states.qdd) <= 1e-5
    assert 1e-5 < relative_error(theirs.forward(states), states.qdd) <= 1e-2
    assert theirs.rollout_check(states).ok, "a batch is the same"
    theirs.robot.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EQUALITY
    assert relative_error(theirs.forward(states), states.qdd) >= 0.1


def test_the_states_for_mujoco_have_loops_that_accelerate() -> None:
    """Agreement at speed says something: without K qdd = -Kdot qd a tenth would be missing."""
    _, robot = loaded("exo_hip")
    states = fast("exo_hip")
    bias = robot.loop_bias(states.y, states.yd)
    assert np.abs(bias).max() >= 0.1 * np.abs(states.qdd).max()


def test_a_cut_that_points_cannot_hold_is_refused() -> None:
    case, robot = loaded("rh5_leg")
    with pytest.raises(NotInMujoco, match="1 locked rotation"):
        MujocoSide(str(case.urdf), robot)
    assert not PinocchioSide(case.urdf, robot).point_loops


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", ROBOTS)
def test_ours_agrees_with_pinocchio(name: str, pattern: str) -> None:
    """Also with a free base, whose wrench is zero, and with hinges held by two points."""
    case, robot = loaded(name)
    other, states = PinocchioSide(case.urdf, robot), make_states(robot, pattern, 10)
    tree_forces = other.inverse(states)
    tau = other.forces(states, tree_forces)
    checks = {c.name: c for c in cross_checks(robot, other, states, tree_forces, tau)}
    assert ("forward dynamics = constraintDynamics" in checks) == (name != "belt_humanoid")
    for check in checks.values():
        assert check.ok, check
    if robot.mechanism.floating:
        assert np.abs(tree_forces[:, :6]).max() <= 1e-9 * np.abs(tree_forces).max()


def test_the_exported_library_agrees() -> None:
    if not CSide.available():
        pytest.skip("needs gcc")
    _, robot = loaded(SMALLEST)
    _, checks = CSide(robot).contenders(make_states(robot, "trajectory", 10))
    assert [check.error <= 1e-11 for check in checks] == [True, True], checks


@pytest.mark.slow
def test_a_quick_run_writes_every_column(tmp_path: Path) -> None:
    page, data = tmp_path / "page.md", tmp_path / "data.json"
    options = ["--sweeps", "1", "--markdown", str(page), "--json", str(data)]
    command = [sys.executable, "-m", "tools.benchmark", "--quick", "--shipped", SMALLEST]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "[shipped 1/1]" in done.stderr
    text = page.read_text()
    times = json.loads(data.read_text())["shipped"][SMALLEST]["seconds"]
    for quantity, methods in QUANTITIES.items():
        assert f"### {quantity}" in text
        for method in methods[1:]:
            assert f"| {method}" in text
        for method, seconds in times[quantity].items():
            missing = method == "hybrid" or (method == FROM_C and not CSide.available())
            assert (seconds is None) == missing, (quantity, method)
            assert seconds is None or seconds > 0.0


@pytest.mark.parametrize(
    ("arguments", "error", "written", "status"),
    [
        ([], 0.0, True, 0),
        (["--quick"], 0.0, False, 0),
        (["--loops"], 0.0, False, 0),
        ([], 1.0, False, 1),
    ],
)
def test_only_a_whole_and_right_run_writes_the_page(
    arguments: list[str],
    error: float,
    written: bool,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = bench.Outcome(growths={"loops": []}, agreement={"loops": [Check("it", error)]})
    monkeypatch.setattr(bench, "_measure", lambda *_: outcome)
    monkeypatch.setattr(bench, "PAGE", tmp_path / "benchmark.md")
    assert bench.main(arguments) == status
    assert bench.PAGE.exists() == written
