"""Maps, stiffness, limits and statics between actuators and independent joints."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import linprog
from support.four_bar import FourBar, Lambda
from support.hardware import platform

import closed_loop_dynamics as cld
from closed_loop_dynamics import Payload
from closed_loop_dynamics.arrays import Array
from tools.oracles.oracle import Oracle

ROOT = Path(__file__).resolve().parents[2]
LEG = (ROOT / "urdf" / "crank_leg.urdf", ROOT / "config" / "crank_leg.yaml")


@cache
def robot_of(name: str) -> cld.Robot:
    if name == "leg":
        return cld.load(*LEG)
    if name == "two cranks":
        mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
        return cld.load(mechanism.urdf(), mechanism.yaml(active=("crank", "rocker")))
    urdf, file, _ = platform(int(name[-1]))
    return cld.load(urdf, file, solver="numerical" if name[-1] == "2" else None)


every_robot = pytest.mark.parametrize("name", ["leg", "two cranks", "platform 2", "platform 4"])


def states(name: str, count: int = 3) -> tuple[cld.Robot, Array, np.random.Generator]:
    robot, rng = robot_of(name), np.random.default_rng(8)
    return robot, 0.9 * robot.random_independent(rng, count), rng


# -- velocities, forces, stiffness, damping --------------------------------------------------------


@every_robot
def test_velocities_and_forces_go_both_ways(name: str) -> None:
    robot, Y, rng = states(name)
    act = robot.actuation
    yd, tau_y = rng.normal(size=(2, len(Y), robot.m))
    ud = act.velocity_to_actuator(Y, yd)
    np.testing.assert_allclose(ud, robot.state(Y, yd).ud, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(act.velocity_from_actuator(Y, ud), yd, rtol=1e-9, atol=1e-9)
    tau_u = act.force_from_independent(Y, tau_y)
    np.testing.assert_allclose(act.force_to_independent(Y, tau_u), tau_y, rtol=1e-9, atol=1e-9)
    power = np.sum(tau_u * ud, axis=1)
    np.testing.assert_allclose(power, np.sum(tau_y * yd, axis=1), rtol=1e-9, atol=1e-9)


@every_robot
def test_stiffness_is_the_slope_of_the_force(name: str) -> None:
    """Springs at the actuators that are loaded already: tau_y(y) differentiated numerically."""
    robot, Y, rng = states(name)
    act, step = robot.actuation, 1e-5
    B = rng.normal(size=(robot.p, robot.p))
    K_u = B @ B.T
    for y in Y:
        tau_0, u_0 = rng.normal(size=robot.p), robot.state(y).u

        def tau_y(at: Array, tau_0: Array = tau_0, u_0: Array = u_0) -> Array:
            return act.force_to_independent(at, tau_0 - K_u @ (robot.state(at).u - u_0))

        slope = [(tau_y(y + step * e) - tau_y(y - step * e)) / (2 * step) for e in np.eye(robot.m)]
        K_y = act.stiffness_to_independent(y, K_u, tau_0)
        np.testing.assert_allclose(K_y, -np.array(slope).T, atol=1e-6 * np.abs(K_y).max())
        assert np.abs(K_y - act.stiffness_to_independent(y, K_u)).max() > 1e-3  # geometry counts
        back = act.stiffness_from_independent(y, K_y, tau_0)
        again = act.stiffness_to_independent(y, back, tau_0)
        np.testing.assert_allclose(again, K_y, atol=1e-9 * np.abs(K_y).max())
        if robot.p == robot.m:
            np.testing.assert_allclose(back, K_u, atol=1e-8 * np.abs(K_u).max())


@every_robot
def test_damping_dissipates_the_same_power(name: str) -> None:
    robot, Y, rng = states(name)
    D_u = rng.uniform(0.1, 2.0, robot.p)
    yd = rng.normal(size=(len(Y), robot.m))
    D_y = robot.actuation.damping_to_independent(Y, D_u)
    ud = robot.state(Y, yd).ud
    found = np.einsum("si,sij,sj->s", yd, D_y, yd)
    np.testing.assert_allclose(found, ud**2 @ D_u, rtol=1e-10)
    back = robot.actuation.damping_from_independent(Y[0], D_y[0])
    again = robot.actuation.damping_to_independent(Y[0], back)
    np.testing.assert_allclose(again, D_y[0], atol=1e-9 * np.abs(D_y[0]).max())


def test_stiffness_may_be_of_any_size() -> None:
    """What one direction returns the other takes back, beyond what an angle may be."""
    robot, Y, _ = states("leg")
    act, y = robot.actuation, Y[0]
    K_y = np.diag([1e3, 1e9, 2e12])
    K_u = act.stiffness_from_independent(y, K_y)
    np.testing.assert_allclose(act.stiffness_to_independent(y, K_u), K_y, rtol=1e-9)
    D_u = act.damping_from_independent(y, K_y)
    np.testing.assert_allclose(act.damping_to_independent(y, D_u), K_y, rtol=1e-9)
    for bad in (np.inf, np.nan):
        with pytest.raises(cld.InvalidInput, match="K_u is not finite"):
            act.stiffness_to_independent(y, np.full(robot.p, bad))


def test_a_dead_point_is_refused() -> None:
    mechanism = Lambda()
    robot = cld.load(mechanism.urdf(), mechanism.yaml())
    y = [mechanism.singular_hinge()]
    assert abs(robot.actuator_jacobian(y)[0, 0]) < 1e-6
    with pytest.raises(cld.ActuationSingular):
        robot.actuation.distribute(y, [1.0])
    with pytest.raises(cld.ActuationSingular):
        robot.actuation.velocity_from_actuator(y, [1.0])
    assert len(robot.actuation.undriven(y)) == 1
    assert not robot.actuation.force_limits(y, ([-1.0], [1.0])).contains([1e-3])


# -- limits ----------------------------------------------------------------------------------------


def box(robot: cld.Robot, rng: np.random.Generator) -> tuple[Array, Array]:
    return -rng.uniform(0.5, 2.0, robot.p), rng.uniform(0.5, 2.0, robot.p)


@every_robot
def test_force_limits_are_the_image_of_the_actuators_box(name: str) -> None:
    """Support functions: the farthest point in any direction, by half-spaces and by the box."""
    robot, Y, rng = states(name, 2)
    for y in Y:
        lower, upper = box(robot, rng)
        found = robot.actuation.force_limits(y, (lower, upper))
        G_u = robot.actuator_jacobian(y)
        for d in rng.normal(size=(6, robot.m)):
            along = G_u @ d
            expected = np.sum(np.maximum(along * lower, along * upper))
            best = linprog(-d, A_ub=found.A, b_ub=found.b, bounds=(None, None))
            assert -best.fun == pytest.approx(expected, rel=1e-8)
            tau_u = rng.uniform(lower, upper)
            assert found.contains(G_u.T @ tau_u)
            assert not found.contains(1.01 * best.x)
        high = found.outer_box()[1]
        most = np.maximum(G_u * lower[:, None], G_u * upper[:, None]).sum(axis=0)
        np.testing.assert_allclose(high, most, rtol=1e-8)
        check_boxes(found)


@every_robot
def test_velocity_limits_keep_every_actuator_within_its_speed(name: str) -> None:
    robot, Y, rng = states(name, 2)
    for y in Y:
        lower, upper = box(robot, rng)
        found = robot.actuation.velocity_limits(y, (lower, upper))
        own = np.array([j.velocity for j in independent_joints(robot)])
        for yd in rng.uniform(-3.0, 3.0, (20, robot.m)):
            ud = robot.state(y, yd).ud
            fine = np.all((lower <= ud) & (ud <= upper)) and np.all(np.abs(yd) <= own)
            assert found.contains(yd) == fine
        check_boxes(found)


def independent_joints(robot: cld.Robot) -> list:
    return [robot.mechanism.tree.bodies[b].joint for b in robot.mechanism.independent]


def check_boxes(found: object) -> None:
    """Axes end on the boundary, all corners of the inner box are allowed, boxes are nested."""
    lower, upper = found.along_axes()
    for j, e in enumerate(np.eye(len(lower))):
        for end in (lower[j], upper[j]):
            assert found.contains(found.centre + (end - found.centre[j]) * e)
            assert not found.contains(found.centre + 1.001 * (end - found.centre[j]) * e)
    low, high = found.inner_box()
    assert np.all(low < high) and np.all(lower <= low) and np.all(high <= upper)
    for corner in itertools.product(*zip(low, high, strict=True)):
        assert found.contains(np.array(corner))
    wide_low, wide_high = found.outer_box()
    assert np.all(wide_low <= lower + 1e-9) and np.all(upper <= wide_high + 1e-9)


def test_corners_of_the_platforms_forces() -> None:
    """The corners are those of the convex hull of the box's images: same support function."""
    robot, Y, rng = states("platform 4", 1)
    name = next(e.name for e in robot.mechanism.entries if e.loops)
    lower, upper = box(robot, rng)
    found = robot.actuation.force_limits(Y[0], (lower, upper), submechanism=name)
    _, _, joints = platform(4)
    assert found.names == joints
    columns = [robot.names.independent.index(j) for j in joints]
    G_u = robot.actuator_jacobian(Y[0])[:, columns]
    corners = found.vertices()
    images = [np.array(c) @ G_u for c in itertools.product(*zip(lower, upper, strict=True))]
    for d in rng.normal(size=(50, 2)):
        assert np.max(corners @ d) == pytest.approx(np.max(np.array(images) @ d), rel=1e-9)
    assert len(corners) == 8  # a zonotope of four generators in the plane
    assert found.contains(corners).all()


def test_position_limits_of_a_one_joint_loop_are_exact() -> None:
    robot = robot_of("leg")
    found = robot.actuation.position_limits([0.0, 0.6, 0.0])
    assert found.exact
    lower, upper = found.along_axes()
    knee = robot.names.independent.index("knee")
    cylinder = robot.names.actuator.index("knee_cylinder")
    stroke = robot.mechanism.tree.bodies[robot.mechanism.actuator[cylinder]].joint
    joint = independent_joints(robot)[knee]
    ends = []
    for end in (lower[knee], upper[knee]):
        y = np.array([0.0, end, 0.0])
        u = robot.state(y).u[cylinder]
        assert stroke.lower - 1e-9 <= u <= stroke.upper + 1e-9
        ends.append(
            min(
                abs(u - stroke.lower),
                abs(u - stroke.upper),
                abs(end - joint.lower),
                abs(end - joint.upper),
            )
        )
    assert max(ends) < 1e-6
    np.testing.assert_allclose([lower[0], upper[0]], [-1.4, 0.8])


def test_position_limits_of_a_platform_hold_to_first_order() -> None:
    """The error of the predicted boundary shrinks with the square of its distance."""
    robot, Y, _ = states("platform 2", 1)
    name = next(e.name for e in robot.mechanism.entries if e.loops)
    y, u = Y[0], robot.state(Y[0]).u
    _, _, joints = platform(2)
    column = robot.names.independent.index(joints[0])
    pistons = [k for k, n in enumerate(robot.names.actuator) if "piston" in n]
    errors = []
    for reach in (4e-3, 2e-3):
        bounds = (u - reach, u + reach)
        found = robot.actuation.position_limits(y, bounds, submechanism=name)
        assert not found.exact
        at = y.copy()
        at[column] = found.along_axes()[1][found.names.index(joints[0])]
        moved = robot.state(at).u[pistons] - u[pistons]
        errors.append(abs(np.max(np.abs(moved)) - reach))
    assert errors[0] < 0.1 * 4e-3
    assert 3.0 < errors[0] / errors[1] < 5.0


def test_limits_of_the_urdf_are_the_default() -> None:
    robot = robot_of("leg")
    y = np.array([-0.4, 0.8, -0.4])
    forces = robot.actuation.force_limits(y)
    assert forces.contains(robot.actuation.gravity_compensation(y) @ robot.actuator_jacobian(y))
    low, high = forces.along_axes()
    G_u = robot.actuator_jacobian(y)
    np.testing.assert_allclose(high, np.abs(np.diag(G_u)) * [80.0, 2500.0, 40.0], rtol=1e-9)
    np.testing.assert_allclose(low, -high)
    speeds = robot.actuation.velocity_limits(y).along_axes()[1]
    expected = np.minimum([8.0, 8.0, 10.0], [8.0, 0.5, 12.0] / np.abs(np.diag(G_u)))
    np.testing.assert_allclose(speeds, expected, rtol=1e-9)
    assert len(forces.vertices()) == 8


def test_undriven_directions_bear_no_force() -> None:
    urdf, file, joints = platform(1)
    robot = cld.load(urdf, file)
    y = robot.random_independent(np.random.default_rng(1))
    name = next(e.name for e in robot.mechanism.entries if e.loops)
    found = robot.actuation.force_limits(
        y, (-np.ones(robot.p), np.ones(robot.p)), submechanism=name
    )
    columns = [robot.names.independent.index(j) for j in joints]
    (undriven,) = robot.actuation.undriven(y)[:, columns]
    row = robot.actuator_jacobian(y)[0, columns]
    assert found.contains(0.99 * row) and not found.contains(1.01 * row)
    assert not found.contains(0.5 * row + 0.01 * undriven)
    with pytest.raises(cld.InvalidInput, match="flat"):
        found.vertices()


def test_a_floating_base_has_no_force_and_no_limit() -> None:
    robot = cld.load(*LEG, floating_base=True)
    y = np.array([0, 0, 0, 0, 0, 0, 1, -0.4, 0.8, -0.4])
    forces, speeds = robot.actuation.force_limits(y), robot.actuation.velocity_limits(y)
    assert forces.names[:2] == speeds.names[:2] and len(forces.names) == 9
    push = np.zeros(9)
    push[2] = 1.0
    assert not forces.contains(push) and speeds.contains(1e6 * push)
    with pytest.raises(cld.InvalidInput, match="not limited"):
        robot.actuation.velocity_limits(y).__class__(
            speeds.names[:7], speeds.A[:, :7], speeds.b, np.zeros(7)
        ).vertices()


# -- statics ---------------------------------------------------------------------------------------


@every_robot
def test_gravity_compensation_holds_still(name: str) -> None:
    """Against the slope of Pinocchio's potential energy; with payload, FD gives no acceleration."""
    robot, Y, _ = states(name)
    urdf, file = (*LEG,) if name == "leg" else (None, None)
    link = robot.mechanism.tree.bodies[-1].link
    load = {link: Payload(2.0, (0.1, 0.0, 0.2))}
    push = {link: [1.0, -2.0, 3.0, 10.0, 20.0, -5.0]}
    rest = np.zeros(robot.m)
    for y in Y:
        tau_u = robot.actuation.gravity_compensation(y, push, load)
        found = robot.forward_dynamics(y, rest, tau_u, push, payload=load)
        assert np.max(np.abs(found)) < 1e-7
    if urdf is None:
        return
    oracle = Oracle(urdf, file, names=robot.names.spanning)

    def height(y: Array) -> float:
        q = oracle.to_pinocchio_q(robot.state(y).q)
        return float(pin.computePotentialEnergy(oracle.model, oracle.data, q))

    y, step = Y[0], 1e-5
    slope = [(height(y + step * e) - height(y - step * e)) / (2 * step) for e in np.eye(robot.m)]
    held = robot.actuator_jacobian(y).T @ robot.actuation.gravity_compensation(y)
    np.testing.assert_allclose(held, slope, rtol=1e-6, atol=1e-6)


@every_robot
def test_statics_balances_the_virtual_work_of_wrenches(name: str) -> None:
    robot, Y, rng = states(name)
    links = [robot.mechanism.tree.bodies[i].link for i in (0, -1)]
    wrenches = {link: rng.normal(size=6) for link in links}
    for y in Y:
        tau_u = robot.actuation.statics(y, wrenches)
        work = sum(robot.jacobian(link, y).T @ w for link, w in wrenches.items())
        held = robot.actuator_jacobian(y).T @ tau_u
        np.testing.assert_allclose(held, -work, rtol=1e-9, atol=1e-9)


# -- bad input -------------------------------------------------------------------------------------


def test_bad_arguments_are_refused() -> None:
    robot = robot_of("leg")
    act, y = robot.actuation, [-0.4, 0.8, -0.4]
    with pytest.raises(cld.InvalidInput, match="no submechanism 'kne'; did you mean 'knee'"):
        act.force_limits(y, submechanism="kne")
    with pytest.raises(cld.InvalidInput, match="one configuration at a time"):
        act.force_limits([y, y])
    with pytest.raises(cld.InvalidInput, match=r"K_u has shape \(2, 3\)"):
        act.stiffness_to_independent(y, np.ones((2, 3)))
    with pytest.raises(cld.InvalidInput, match="tau_u"):
        act.stiffness_to_independent(y, np.ones(3), [1.0, np.nan, 0.0])
    with pytest.raises(cld.InvalidInput, match="D_u has shape"):
        act.damping_to_independent(y, np.ones(4))
    with pytest.raises(cld.InvalidInput, match="ud has shape"):
        act.velocity_from_actuator(y, [1.0])
    with pytest.raises(cld.InvalidInput, match="no link"):
        act.statics(y, {"foo": np.zeros(6)})
    with pytest.raises(cld.InvalidInput, match="outside the limits"):
        act.position_limits([2.0, 0.8, 0.0]).inner_box()
    with pytest.raises(cld.ActuationInfeasible, match=r"'knee': knee_cylinder.*nearest"):
        act.gravity_compensation(y, payload={"foot": Payload(500.0)}, bounds="urdf")
