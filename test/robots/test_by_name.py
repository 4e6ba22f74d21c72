"""Shipped robots by name, and states that print themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.shipped import shipped_files


def test_shipped_robots_and_mechanisms_are_loaded_by_name() -> None:
    leg = cld.load("crank_leg", prepare=())
    assert leg.names.actuator == ("hip", "knee_cylinder", "ankle_crank")
    assert cld.load("four_bar", prepare=()).m == 1


def test_files_and_wrong_names_are_no_shipped_robots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(cld.UrdfError, match="no such file"):
        cld.load("crank_legs")
    assert shipped_files(Path("crank_leg")) is None and shipped_files("<robot/>") is None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crank_leg").write_text("<robot name='mine'><link name='a'/></robot>")
    assert cld.load("crank_leg", prepare=()).n == 0


def test_a_state_prints_a_line_per_joint() -> None:
    robot = cld.load("crank_leg", prepare=())
    state = robot.state([0.1, 0.5, 0.1], [1.0, 0.0, 0.0])
    lines = str(state).splitlines()
    assert lines[0].split() == ["joint", "q", "qd"]
    assert lines[1].split() == ["hip", "0.1", "1", "independent,", "driven"]
    assert [line.split()[0] for line in lines[1:-1]] == list(robot.names.spanning)
    assert lines[-1].startswith("residual")
    assert repr(robot.state(np.zeros((4, 3)))) == "State(4 samples, 7 positions each)"
    flying = cld.load("crank_leg", floating_base=True, prepare=())
    assert str(flying.state(flying.random_independent(np.random.default_rng(0)))).count("\n") == 9


def test_numbers_by_name_are_those_in_order() -> None:
    robot, rng = cld.load("crank_leg", prepare=()), np.random.default_rng(4)
    y, yd, ydd = 0.1 * rng.normal(size=(3, 3)) + [[0.0, 0.5, 0.0], [0.0] * 3, [0.0] * 3]
    own = [dict(zip(reversed(robot.names.independent), v[::-1], strict=True)) for v in (y, yd, ydd)]
    tau = robot.inverse_dynamics(y, yd, ydd)
    np.testing.assert_array_equal(robot.inverse_dynamics(*own), tau)
    np.testing.assert_array_equal(robot.inverse_dynamics(y, own[1], ydd), tau)
    forces = dict(zip(robot.names.actuator, tau, strict=True))
    np.testing.assert_array_equal(
        robot.forward_dynamics(own[0], own[1], forces), robot.forward_dynamics(y, yd, tau)
    )
    np.testing.assert_array_equal(robot.state(*own).qdd, robot.state(y, yd, ydd).qdd)
    np.testing.assert_array_equal(robot.pose("foot", own[0]), robot.pose("foot", y))
    np.testing.assert_array_equal(robot.mass_matrix(own[0]), robot.mass_matrix(y))
    np.testing.assert_array_equal(
        robot.step(own[0], own[1], forces, 1e-3), robot.step(y, yd, tau, 1e-3)
    )
    loads = robot.internal_loads(*own, forces)
    np.testing.assert_array_equal(loads.wrenches, robot.internal_loads(y, yd, ydd, tau).wrenches)
    u = dict(zip(robot.names.actuator, robot.state(y).u, strict=True))
    np.testing.assert_allclose(robot.independent_from_actuator(u), y, atol=1e-9)
    target = {"foot": robot.pose("foot", y)}
    np.testing.assert_allclose(robot.inverse_kinematics(target, own[0]), y, atol=1e-7)
    knee = robot.submechanism("knee")
    np.testing.assert_array_equal(
        knee.actuator_jacobian(own[0]), knee.actuator_jacobian(y[knee_place(robot)])
    )


def knee_place(robot: cld.Robot) -> list[int]:
    return [robot.names.independent.index(name) for name in robot.submechanism("knee").independent]


def test_a_batch_by_name_and_mistakes() -> None:
    robot = cld.load("crank_leg", prepare=())
    knee = np.linspace(0.3, 0.6, 5)
    batch = {"hip": 0.1, "knee": knee, "ankle": np.zeros(5), "time": "not looked at"}
    rows = np.column_stack([np.full(5, 0.1), knee, np.zeros(5)])
    np.testing.assert_array_equal(robot.state(batch).q, robot.state(rows).q)
    for wrong, words in (
        ({"hip": 0.1, "nee": 0.2, "ankle": 0.0}, "y lacks 'knee'; did you mean 'nee'"),
        ({"hip": 0.1, "knee": "bent", "ankle": 0.0}, "not a vector of real numbers"),
        ({"hip": np.zeros(3), "knee": knee, "ankle": 0.0}, "columns of different length"),
        ({"hip": np.nan, "knee": 0.1, "ankle": 0.0}, "not a finite number"),
    ):
        with pytest.raises(cld.InvalidInput, match=words):
            robot.state(wrong)
    flying = cld.load("crank_leg", floating_base=True, prepare=())
    y = flying.random_independent(np.random.default_rng(0))
    named = dict(zip(flying.mechanism.y.names, y, strict=True))
    np.testing.assert_array_equal(flying.state(named).q, flying.state(y).q)


def test_pandas_goes_in_and_comes_out() -> None:
    pandas = pytest.importorskip("pandas")
    robot = cld.load("crank_leg", prepare=())
    y = 0.1 * np.random.default_rng(1).normal(size=(6, 3)) + [0.0, 0.5, 0.0]
    yd = np.ones((6, 3))
    frame = pandas.DataFrame(y[:, [2, 0, 1]], columns=["ankle", "hip", "knee"], index=range(3, 9))
    state = robot.state(frame, yd)
    np.testing.assert_array_equal(state.q, robot.state(y, yd).q)
    np.testing.assert_array_equal(robot.state(frame.iloc[2]).q, robot.state(y[2]).q)
    out = state.to_pandas()
    np.testing.assert_array_equal(out[list(robot.names.spanning)], state.q)
    np.testing.assert_array_equal(out["knee.velocity"], yd[:, 1])
    np.testing.assert_array_equal(robot.state(out, yd).q, state.q)  # a table may hold more
    assert robot.state(y[0]).to_pandas().shape == (1, robot.n)
