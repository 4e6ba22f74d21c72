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


def test_a_vector_is_as_good_as_a_list() -> None:
    other = cld.load(URDF, YAML, closures={"hip": lambda y: ca.vertcat(*motors(y))})
    y, yd, ydd = (part[0] for part in motions(1))
    expected = robot().inverse_dynamics(y, yd, ydd)
    np.testing.assert_array_equal(other.inverse_dynamics(y, yd, ydd), expected)


def test_the_function_is_called_once_and_may_write_into_its_argument() -> None:
    calls = []

    def counted(y: Any) -> list[Any]:
        calls.append(1)
        y[0] = y[0] * len(calls)
        return motors(y)

    loaded = cld.load(URDF, YAML, closures={"hip": counted})
    np.testing.assert_array_equal(loaded.state([0.3, 0.2]).q, robot().state([0.3, 0.2]).q)
    assert len(calls) == 1


def two_arguments(y: Any, z: Any) -> list[Any]:
    return [y[0], z]


#: What may be wrong with a function -> (the function, what the message says about it).
FAULTY: dict[str, tuple[Any, str]] = {
    "raises": (lambda y: [1 / 0, y[0]], "raises ZeroDivisionError: division by zero"),
    "arguments": (two_arguments, "'two_arguments'.*raises TypeError.*'z'"),
    "no function": (3, "'3'.*not callable"),
    "nothing": (lambda y: None, "returns NoneType"),
    "strings": (lambda y: ["a", "b"], "'a' is of type str"),
    "another kind of symbol": (lambda y: [ca.MX.sym("a"), y[0]], "is of type MX"),
    "free symbol": (lambda y: [ca.SX.sym("lost"), y[0]], "depends on lost besides y"),
    "python if": (lambda y: [y[0] if y[0] > 0 else -y[0], y[1]], "truth value.*ca.if_else"),
    "index": (lambda y: [y[5], y[0]], r"raises RuntimeError.*\(2 independent positions\)"),
    "nested": (lambda y: [ca.vertcat(y[0], y[1]), y[0]], r"shape \(2, 1\)"),
    "matrix": (lambda y: ca.SX(3, 2), "returns 6 positions"),
    "no native operation": (lambda y: [ca.erf(y[0]), y[1]], "cannot be compiled"),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_function_is_named_with_its_fault(fault: str) -> None:
    function, message = FAULTY[fault]
    with pytest.raises(cld.SubmechanismError, match=message) as caught:
        cld.load(URDF, YAML, closures={"hip": function})
    assert caught.value.place == "submechanisms[0]"
    assert "one position per dependent joint" in caught.value.remedy
    raised = fault in ("raises", "arguments", "python if", "index", "no function")
    assert not raised or caught.value.__cause__ is not None


def test_functions_come_by_name() -> None:
    with pytest.raises(cld.InvalidInput, match="closures is not a mapping"):
        cld.load(URDF, YAML, closures=["hip"])  # type: ignore[arg-type]


@cache
def with_a_domain() -> cld.Robot:
    """Defined for roll > 0 only; the second actuator has no slope at pitch = 0."""
    return cld.load(URDF, YAML, closures={"hip": lambda y: [ca.log(y[0]) + y[1], y[1] ** 3 - y[1]]})


def test_outside_the_domain_of_the_function_everything_raises() -> None:
    robot, zero = with_a_domain(), np.zeros(2)
    assert np.all(np.isfinite(robot.state([0.3, 0.2], zero, zero).q))
    for y in ([-0.3, 0.2], [0.0, 0.2]):
        calls = {
            "positions": lambda y=y: robot.state(y),
            "velocities": lambda y=y: robot.state(y, zero),
            "accelerations": lambda y=y: robot.state(y, zero, zero),
            "from a guess": lambda y=y: robot.state(y, guess=np.zeros(4)),
            "inverse": lambda y=y: robot.inverse_dynamics(y, zero, zero),
            "forward": lambda y=y: robot.forward_dynamics(y, zero, zero),
            "mass matrix": lambda y=y: robot.mass_matrix(y),
            "pose": lambda y=y: robot.pose("pitch_link", y),
            "batch": lambda y=y: robot.inverse_dynamics([[0.3, 0.2]] * 9 + [y], zero, zero),
        }
        for call in calls.values():
            with pytest.raises(cld.ClosureNotFound, match=r"'hip': its function .* is not finite"):
                call()


def test_an_infinite_derivative_raises_although_the_position_is_finite() -> None:
    edged = cld.load(URDF, YAML, closures={"hip": lambda y: [ca.sqrt(y[0]), y[1]]})
    assert edged.state([0.01, 0.0]).q[2] == pytest.approx(0.1)
    with pytest.raises(cld.ClosureNotFound, match="derivative"):
        edged.mass_matrix([0.0, 0.0])


@pytest.mark.parametrize("active", ["left, right", "left"])
def test_the_report_remarks_on_a_function_that_is_not_finite_at_the_reference(active: str) -> None:
    yaml = YAML.replace("active: [left, right]", f"active: [{active}]")
    lost = cld.load(URDF, yaml, closures={"hip": lambda y: [ca.log(y[0] - 1.0), y[1]]})
    assert any("is not finite" in f.message for f in lost.report().errors)


def test_inversion_does_not_jump_over_a_singularity() -> None:
    robot = with_a_domain()
    start = [0.5, 0.1]
    np.testing.assert_allclose(
        robot.independent_from_actuator(robot.state([0.2, -0.4]).u, guess=start), [0.2, -0.4]
    )
    u = robot.state([0.2, 2.0]).u  # beyond the turning point of the second actuator at 1/sqrt(3)
    with pytest.raises(cld.ClosureNotFound, match="without passing a singularity"):
        robot.independent_from_actuator(u, guess=start)
    with pytest.raises(cld.ClosureNotFound, match=r"not finite.*guess="):
        robot.independent_from_actuator(u)


def test_what_is_inverted_has_the_actuator_positions_asked_for() -> None:
    robot = with_a_domain()
    rng = np.random.default_rng(3)
    found = 0
    for u in rng.uniform((-3.0, -0.6), (3.0, 0.6), (40, 2)):
        try:
            y = robot.independent_from_actuator(u, guess=[0.5, 0.1])
        except cld.ClosureNotFound:
            assert abs(u[1]) > 0.38  # the turning points are at 2 / sqrt(27) = 0.385
            continue
        found += 1
        np.testing.assert_allclose(robot.state(y).u, u, atol=1e-9)
        assert abs(y[1]) < 1 / np.sqrt(3)
    assert found > 10


@pytest.mark.parametrize("motor", [lambda y: 0.5, lambda y: y[1] ** 2])
def test_an_actuator_that_does_not_move_cannot_be_inverted(motor: Any) -> None:
    stuck = cld.load(URDF, YAML, closures={"hip": lambda y: [y[0], motor(y)]})
    for u in (stuck.state([0.0, 0.0]).u, [0.0, 40.0]):
        with pytest.raises(cld.ActuationSingular, match="lost rank"):
            stuck.independent_from_actuator(u)


def test_redundant_encoders_are_fitted_by_least_squares() -> None:
    yaml = YAML.replace("independent: [roll, pitch]", "independent: [roll]")
    fitted = cld.load(
        URDF, yaml, closures={"hip": lambda y: [0.5 * y[0], ca.sin(y[0]), 2.0 * y[0]]}
    )
    u = fitted.state([0.4]).u
    np.testing.assert_allclose(fitted.independent_from_actuator(u), [0.4], atol=1e-9)
    u[0] += 0.01
    y = fitted.independent_from_actuator(u)
    nearby = [np.sum((fitted.state(y + d).u - u) ** 2) for d in (-1e-4, 0.0, 1e-4)]
    assert nearby[1] < min(nearby[0], nearby[2])
