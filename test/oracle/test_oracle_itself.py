"""The oracle against what it is built from: definitions, finite differences, power, MuJoCo."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.random_robots import (
    INGREDIENTS,
    RandomRobot,
    random_robot,
    sample_base_states,
    sample_states,
)

from tools.oracles.assembly import assemble, loop_bias, loop_jacobian
from tools.oracles.cut_rows import cut_rows
from tools.oracles.files import Array, Cut, perpendicular_pair, shorthand_axes
from tools.oracles.mujoco_robot import MujocoRobot, NotInMujoco
from tools.oracles.oracle import Oracle
from tools.oracles.pinocchio_tree import PinocchioTree

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = [random_robot(100 + i, loops=(kind,)) for i, kind in enumerate(INGREDIENTS)]
per_ingredient = pytest.mark.parametrize("robot", ROBOTS, ids=list(INGREDIENTS))


def derivative(function: Callable[[float], Array], step: float = 1e-3) -> Array:
    """d/dt at t = 0 by central differences, extrapolated twice (error of order step^6)."""
    steps = (step, step / 2, step / 4)
    coarse, middle, fine = ((function(h) - function(-h)) / (2 * h) for h in steps)
    better, best = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    return (16 * best - better) / 15


def random_spread(oracle: Oracle, rng: np.random.Generator) -> tuple[Array, Array]:
    """Any configuration (loops open) and any velocity."""
    q = oracle.integrate(oracle.neutral(), rng.uniform(-1.0, 1.0, oracle.nv))
    return q, rng.uniform(-1.0, 1.0, oracle.nv)


def assembled(robot: RandomRobot, rng: np.random.Generator) -> tuple[Oracle, Array, Array]:
    """The oracle, an assembled configuration and a velocity that obeys the loops."""
    oracle = robot.oracle()
    y, yd, _ = (sample[0] for sample in sample_states(robot, rng, 1))
    q = assemble(oracle, dict(zip(robot.independent, y, strict=True)))
    if robot.floating:
        pose, base_velocity, _ = (sample[0] for sample in sample_base_states(rng, 1))
        q[:7] = pose
        yd = np.concatenate([base_velocity, yd])
    return oracle, q, loop_jacobian(oracle, q, robot.independent) @ yd


def test_oracles_never_import_the_package() -> None:
    """Nor does the generator of random robots, which draws what they and the package read."""
    modules = [f"tools.oracles.{path.stem}" for path in (ROOT / "tools/oracles").glob("[!_]*.py")]
    assert len(modules) == 12
    script = (
        f"import sys; import {', '.join(modules)}, support.random_robots; "
        "sys.exit(any(name.startswith('closed_loop_dynamics') for name in sys.modules))"
    )
    paths = os.pathsep.join([str(ROOT), str(ROOT / "test")])
    environment = {**os.environ, "PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


def test_rotation_rows_follow_their_definitions() -> None:
    R = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix()
    a1, a2 = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0), np.array([0.0, 0.0, 1.0])
    zero = np.zeros(3)
    three = cut_rows(np.hstack([np.eye(3), np.zeros((3, 3))])).residual(R, zero)
    vee = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    np.testing.assert_allclose(three, 0.5 * vee, atol=1e-15)
    two = cut_rows(np.array([[*a1, 0, 0, 0], [*a2, 0, 0, 0]])).residual(R, zero)
    f = np.cross(a1, a2)
    expected = [np.cross(a, f) @ R @ f for a in (a1, a2)]
    np.testing.assert_allclose(two, expected, atol=1e-15)
    one = cut_rows(np.array([[2.0, 0, 0, 0, 0, 0]])).residual(R, zero)
    np.testing.assert_allclose(one, [-R[1, 2]], atol=1e-15)  # a = x: b = y, c = z


@pytest.mark.parametrize("locked", [1, 2, 3])
def test_rotation_rows_are_the_small_angle_about_their_axes(locked: int) -> None:
    axes = Rotation.from_rotvec([0.4, 1.1, -0.3]).as_matrix()[:locked]
    small = np.array([2e-6, -1e-6, 3e-6])
    rows = cut_rows(np.hstack([axes, np.zeros_like(axes)]))
    residual = rows.residual(Rotation.from_rotvec(small).as_matrix(), np.zeros(3))
    np.testing.assert_allclose(residual, axes @ small, atol=1e-11)


def test_perpendicular_pair_is_right_handed() -> None:
    b, c = perpendicular_pair(np.array([0.5, -2.0, 1.0]))
    a = np.array([0.5, -2.0, 1.0]) / np.linalg.norm([0.5, -2.0, 1.0])
    np.testing.assert_allclose(np.array([np.cross(b, c), np.cross(a, b)]), [a, c], atol=1e-15)


@per_ingredient
def test_K_is_the_derivative_of_phi(robot: RandomRobot) -> None:
    rng = np.random.default_rng(1)
    oracle = robot.oracle()
    q, _ = random_spread(oracle, rng)
    directions = np.eye(oracle.nv)
    columns = [
        derivative(lambda t, d=d: oracle.phi(oracle.integrate(q, t * d))) for d in directions
    ]
    np.testing.assert_allclose(oracle.K(q), np.transpose(columns), atol=1e-9)


@per_ingredient
def test_kdot_qd_is_the_derivative_of_K_along_the_motion(robot: RandomRobot) -> None:
    oracle = robot.oracle()
    q, qd = random_spread(oracle, np.random.default_rng(2))
    K_rate = derivative(lambda t: oracle.K(oracle.integrate(q, t * qd)))
    np.testing.assert_allclose(oracle.kdot_qd(q, qd), K_rate @ qd, rtol=1e-9, atol=1e-9)
    assert np.max(np.abs(K_rate @ qd), initial=1.0) > 1e-3


@per_ingredient
def test_assembled_motion_obeys_K_and_k(robot: RandomRobot) -> None:
    """gamma(y + yd t + ydd t^2 / 2) has velocity G yd and acceleration G ydd + g; K qdd = k."""
    rng = np.random.default_rng(3)
    oracle = robot.oracle()
    y, yd, ydd = (sample[0] for sample in sample_states(robot, rng, 1))
    y *= 0.8  # the motion must not leave the box
    names = robot.independent
    q = assemble(oracle, dict(zip(names, y, strict=True)))
    skip = oracle.nq - oracle.nv
    base = oracle.base_dof

    def gamma(t: float) -> Array:
        moved = y + t * yd + 0.5 * t * t * ydd
        return assemble(oracle, dict(zip(names, moved, strict=True)), start=q)

    G = loop_jacobian(oracle, q, names)[:, base:]
    qd = G @ yd
    velocity = derivative(gamma, step=4e-3)[skip + base :]
    np.testing.assert_allclose(qd[base:], velocity, rtol=1e-7, atol=1e-7)

    def rate(t: float) -> Array:
        return loop_jacobian(oracle, gamma(t), names)[:, base:] @ (yd + t * ydd)

    qdd = derivative(rate, step=4e-3)
    np.testing.assert_allclose(oracle.K(q) @ qdd, oracle.k(q, qd), rtol=1e-7, atol=1e-7)
    expected = G @ ydd + loop_bias(oracle, q, qd, names)
    np.testing.assert_allclose(qdd, expected, rtol=1e-7, atol=1e-7)


@per_ingredient
def test_forward_dynamics_satisfies_both_KKT_equations(robot: RandomRobot) -> None:
    rng = np.random.default_rng(4)
    oracle, q, qd = assembled(robot, rng)
    tau = rng.uniform(-5.0, 5.0, oracle.nv)
    wrenches = {f"{robot.spanning[-1]}_link": rng.uniform(-5.0, 5.0, 6)}
    qdd, lam = oracle.forward_dynamics(q, qd, tau, wrenches=wrenches)
    K = oracle.K(q)
    np.testing.assert_allclose(K @ qdd, oracle.k(q, qd), rtol=1e-9, atol=1e-9)
    applied = tau + oracle.wrench_forces(q, wrenches) + K.T @ lam
    scale = np.max(np.abs(applied))
    needed = oracle.inverse_dynamics_tree(q, qd, qdd)
    np.testing.assert_allclose(needed / scale, applied / scale, atol=1e-10)


@per_ingredient
def test_forward_dynamics_agrees_with_projection_onto_independent_joints(
    robot: RandomRobot,
) -> None:
    rng = np.random.default_rng(5)
    oracle, q, qd = assembled(robot, rng)
    tau = rng.uniform(-5.0, 5.0, oracle.nv)
    G = loop_jacobian(oracle, q, robot.independent)
    g = loop_bias(oracle, q, qd, robot.independent)
    M = oracle.mass_matrix(q)
    right = G.T @ (tau - oracle.nonlinear_effects(q, qd) - M @ g)
    expected = G @ np.linalg.solve(G.T @ M @ G, right) + g
    qdd, _ = oracle.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(qdd, expected, rtol=1e-8, atol=1e-8 * np.max(np.abs(expected)))


@per_ingredient
def test_energy_changes_by_the_power_of_the_tree_forces(robot: RandomRobot) -> None:
    rng = np.random.default_rng(6)
    oracle, q, qd = assembled(robot, rng)
    tau = rng.uniform(-5.0, 5.0, oracle.nv)
    qdd, _ = oracle.forward_dynamics(q, qd, tau)

    def energy(t: float) -> Array:
        return np.array(
            oracle.energy(oracle.integrate(q, t * qd + 0.5 * t * t * qdd), qd + t * qdd)
        )

    power = derivative(energy, step=1e-3 / (1.0 + np.max(np.abs(qdd)) ** 0.5))
    np.testing.assert_allclose(power, tau @ qd, rtol=1e-6, atol=1e-6)


def test_frozen_joints_do_not_accelerate() -> None:
    robot = random_robot(7)
    oracle, q, qd = assembled(robot, np.random.default_rng(7))
    frozen = robot.independent[:2]
    qdd, lam = oracle.forward_dynamics(q, 0.0 * qd, np.ones(oracle.nv), frozen=frozen)
    np.testing.assert_allclose(qdd[oracle.columns(frozen)], 0.0, atol=1e-11)
    assert len(lam) == len(oracle.phi(q)) + 2
    assert np.max(np.abs(qdd)) > 1e-3


def test_wrench_power_is_wrench_times_body_velocity() -> None:
    robot = random_robot(3, floating=True)
    rng = np.random.default_rng(8)
    oracle = robot.oracle()
    q, qd = random_spread(oracle, rng)
    link, wrench = f"{robot.spanning[-1]}_link", rng.uniform(-1.0, 1.0, 6)
    pose = oracle.pose(link, q)
    rate = derivative(lambda t: oracle.pose(link, oracle.integrate(q, t * qd)))
    body = np.linalg.inv(pose) @ rate  # [omega]× and v in the link frame
    twist = np.array([body[2, 1], body[0, 2], body[1, 0], *body[:3, 3]])
    power = oracle.wrench_forces(q, {link: wrench}) @ qd
    np.testing.assert_allclose(power, wrench @ twist, rtol=1e-9)


def test_floating_base_velocity_is_angular_then_linear_in_the_body() -> None:
    robot = random_robot(1, floating=True)
    rng = np.random.default_rng(9)
    oracle = robot.oracle()
    q, qd = random_spread(oracle, rng)
    np.testing.assert_allclose(oracle.jacobian("base", q) @ qd, qd[:6], atol=1e-13)
    expected = np.eye(4)
    expected[:3, :3] = Rotation.from_quat(q[3:7]).as_matrix()
    expected[:3, 3] = q[:3]
    np.testing.assert_allclose(oracle.pose("base", q), expected, atol=1e-12)


@pytest.mark.parametrize("floating", [False, True])
def test_results_do_not_depend_on_the_order_of_names(floating: bool) -> None:
    robot = random_robot(2, floating=floating)
    rng = np.random.default_rng(10)
    oracle, q, qd = assembled(robot, rng)
    tau = rng.uniform(-1.0, 1.0, oracle.nv)
    shuffled = list(robot.spanning)
    rng.shuffle(shuffled)
    twin = oracle.reordered(shuffled)
    q_order = [*range(7 * floating), *oracle.q_columns(shuffled)]
    v_order = [*range(6 * floating), *oracle.columns(shuffled)]
    qdd, lam = oracle.forward_dynamics(q, qd, tau)
    twin_qdd, twin_lam = twin.forward_dynamics(q[q_order], qd[v_order], tau[v_order])
    np.testing.assert_allclose(twin_qdd, qdd[v_order], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(twin_lam, lam, rtol=1e-7, atol=1e-8)
    with pytest.raises(ValueError, match="permutation"):
        oracle.reordered(shuffled[:-1])


def test_couplings_come_from_the_file_from_mimic_tags_and_from_the_caller() -> None:
    joint = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>{3}</joint>'
    mimic = '<mimic joint="a" multiplier="2" offset="0.5"/>'
    parts = [joint.format(*args) for args in (("a", "w", "A", ""), ("b", "A", "B", mimic))]
    parts += [joint.format(*args, "") for args in (("c", "B", "C"), ("d", "C", "D"))]
    links = [f'<link name="{name}"/>' for name in "wABCD"]
    urdf = f'<robot name="r">{"".join(links + parts)}</robot>'
    file = "submechanisms:\n- couplings: [{joint: c, terms: {a: 3.0, b: -1.0}, offset: 0.1}]\n"
    oracle = Oracle(urdf, file, couplings=[{"joint": "d", "terms": {"c": 4.0}}], names=list("dcba"))
    d, c, b, a = q = np.array([1.0, 2.0, 3.0, 4.0])
    expected = [c - 3 * a + b - 0.1, b - 2 * a - 0.5, d - 4 * c]
    np.testing.assert_allclose(oracle.phi(q), expected, atol=1e-15)
    np.testing.assert_allclose(oracle.K(q), [[0, 1, 1, -3], [0, 0, 1, -2], [1, -4, 0, 0]])


@pytest.mark.parametrize("seed", [0, 25])
def test_tree_dynamics_agree_with_mujoco_at_speed(seed: int) -> None:
    robot = random_robot(seed, floating=False)
    oracle = robot.oracle()
    other = MujocoRobot(robot.urdf, names=oracle.names)
    q, qd = np.random.default_rng(11).uniform(-1.0, 1.0, (2, oracle.nv))
    np.testing.assert_allclose(oracle.mass_matrix(q), other.mass_matrix(q), rtol=1e-9, atol=1e-9)
    bias = oracle.nonlinear_effects(q, qd)
    np.testing.assert_allclose(bias, other.nonlinear_effects(q, qd), rtol=1e-8, atol=1e-8)


def test_points_close_a_cut_only_where_its_frames_are_given() -> None:
    robot = random_robot(0, floating=False)
    tree = PinocchioTree(robot.urdf)
    link, ball = f"{robot.spanning[0]}_link", shorthand_axes("spherical", None)
    with pytest.raises(ValueError, match="no frames of its own"):
        tree.point_contacts([Cut("base", link, ball)])
    frames = (None, np.eye(4), np.eye(4))
    assert len(tree.point_contacts([Cut("base", link, ball, *frames)])) == 1
    hinge = shorthand_axes("revolute", (0.0, 0.0, 1.0))
    assert len(tree.point_contacts([Cut("base", link, hinge, *frames)])) == 2
    universal = np.vstack([ball, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    cuts = [Cut("base", link, axes, *frames) for axes in (ball, universal)]
    assert len(tree.point_contacts(cuts)) == 0
    with pytest.raises(NotInMujoco, match="1 locked rotation"):
        MujocoRobot(robot.urdf, cuts)
