"""A user-given q = gamma(y): a nonlinear differential, as hips with two motors have it."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest

import closed_loop_dynamics as cld

NAMES = ("roll", "pitch", "left", "right")


def joint(name: str, parent: str, axis: str, xyz: str = "0 0 0") -> str:
    return f"""
  <joint name="{name}" type="revolute">
    <origin xyz="{xyz}"/><parent link="{parent}"/><child link="{name}_link"/>
    <axis xyz="{axis}"/><limit lower="-1" upper="1" effort="50" velocity="10"/>
  </joint>
  <link name="{name}_link"><inertial><origin xyz="0.02 0.01 -0.2"/><mass value="1.5"/>
    <inertia ixx="0.03" ixy="0.001" ixz="0" iyy="0.025" iyz="0.002" izz="0.01"/></inertial></link>
"""


URDF = (
    '<robot name="differential"><link name="base"/>'
    + joint("roll", "base", "1 0 0")
    + joint("pitch", "roll_link", "0 1 0")
    + joint("left", "base", "0 1 0", "0 0.1 0.05")
    + joint("right", "base", "0 1 0", "0 -0.1 0.05")
    + "</robot>"
)
YAML = """
submechanisms:
- name: hip
  type: function
  jointnames_spanningtree: [roll, pitch, left, right]
  jointnames_independent: [roll, pitch]
  jointnames_active: [left, right]
"""


def motors(y: Any) -> list[Any]:
    """Positions of the motors: they turn together for pitch, against each other for roll."""
    roll, pitch = y[0], y[1]
    twist = 0.8 * ca.sin(roll) + 0.1 * roll * pitch
    return [5.0 * pitch + 4.0 * twist, 5.0 * pitch - 4.0 * twist]


@cache
def robot() -> cld.Robot:
    return cld.load(URDF, YAML, closures={"hip": motors})


def motions(count: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(8)
    y = rng.uniform(-0.8, 0.8, (count, 2))
    return (y, *rng.normal(size=(2, count, 2)))


def test_motors_are_where_the_function_says() -> None:
    y, _, _ = motions(20)
    q = robot().state(y).q
    expected = np.array([[float(v) for v in motors(ca.DM(row))] for row in y])
    np.testing.assert_allclose(q, np.hstack([y, expected]), atol=1e-13)


def test_loop_jacobian_and_bias_are_its_derivatives() -> None:
    y, yd, _ = motions(10)
    step = 1e-5
    for row, rate in zip(y, yd, strict=True):
        ahead, behind = robot().state(row + step * rate).q, robot().state(row - step * rate).q
        qd = robot().loop_jacobian(row) @ rate
        np.testing.assert_allclose((ahead - behind) / (2 * step), qd, atol=1e-8)
        G_ahead = robot().loop_jacobian(row + step * rate)
        G_behind = robot().loop_jacobian(row - step * rate)
        g = (G_ahead - G_behind) / (2 * step) @ rate
        np.testing.assert_allclose(g, robot().loop_bias(row, rate), atol=1e-7)


def test_three_methods_of_forward_dynamics_agree_and_invert_inverse_dynamics() -> None:
    for y, yd, ydd in zip(*motions(10), strict=True):
        tau = robot().inverse_dynamics(y, yd, ydd)
        for method in ("cluster_aba", "projection", "lagrange"):
            found = robot().forward_dynamics(y, yd, tau, method=method)
            np.testing.assert_allclose(found, ydd, rtol=1e-8, atol=1e-8)


def test_measured_motor_positions_lead_back() -> None:
    for y in motions(10)[0]:
        u = robot().state(y).u
        np.testing.assert_allclose(robot().independent_from_actuator(u), y, atol=1e-9)


def test_another_function_is_not_served_from_the_cache() -> None:
    other = cld.load(URDF, YAML, closures={"hip": lambda y: [2.0 * y[1] + y[0], 2.0 * y[1] - y[0]]})
    np.testing.assert_allclose(other.state([0.1, 0.2]).q[2:], [0.5, 0.3])


def test_a_missing_function_says_how_to_give_it() -> None:
    with pytest.raises(cld.SubmechanismError, match="closures="):
        cld.load(URDF, YAML)


def test_a_function_for_nobody_is_refused() -> None:
    with pytest.raises(cld.InvalidInput, match="did you mean 'hip'"):
        cld.load(URDF, YAML, closures={"hip": motors, "hipp": motors})


def test_a_function_with_too_few_results_is_refused() -> None:
    with pytest.raises(cld.SubmechanismError, match="2 joints are not independent"):
        cld.load(URDF, YAML, closures={"hip": lambda y: [y[0]]})
