"""Random series-parallel robots, fixed and floating: identities, and the KKT system."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support import figures
from support.figures import Motions, relative
from support.four_bar import FourBar
from support.random_robots import random_robot

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array

SEEDS = range(24)
COUNT = 25
every_seed = pytest.mark.parametrize("seed", SEEDS)
fixed_seeds = pytest.mark.parametrize("seed", SEEDS[::2])
floating_seeds = pytest.mark.parametrize("seed", SEEDS[1::2])
some_seeds = pytest.mark.parametrize("seed", range(0, 24, 3))


@cache
def motions_of(seed: int) -> Motions:
    drawn = random_robot(seed)
    # Every other pair of seeds by Newton alone, the rest in closed form where there is one.
    solver = "numerical" if seed % 4 < 2 else "auto"
    robot = cld.load(drawn.urdf, drawn.yaml, floating_base=drawn.floating, solver=solver)
    robot.prepare("loop_jacobian", "loop_bias", "generalized_forces", "mass_matrix")
    oracle = drawn.oracle(robot.names.spanning[drawn.floating :])
    return Motions.random(robot, oracle, COUNT, seed, batch=False)


def random_actuation(motions: Motions) -> Array:
    """(N, p) forces of the size the motions need."""
    rng = np.random.default_rng(5)
    size = 1.0 + np.abs(motions.inverse_dynamics())
    return np.asarray(size * rng.uniform(-1.0, 1.0, size.shape))


def velocity_step(motions: Motions, y: Array, step: Array) -> Array:
    """y moved by a velocity: the base on its manifold, the rest by addition."""
    oracle = motions.oracle
    base, rest = oracle.nq - oracle.nv, oracle.base_dof
    moved = y.copy()
    moved[rest + base :] += step[rest:]
    if oracle.floating_base:
        q = oracle.neutral()
        q[:7] = y[:7]
        v = np.zeros(oracle.nv)
        v[:6] = step[:6]
        moved[:7] = oracle.integrate(q, v)[:7]
    return moved


@every_seed
def test_robot_has_the_drawn_joints(seed: int) -> None:
    drawn, robot = random_robot(seed), motions_of(seed).robot
    start = 1 if drawn.floating else 0
    assert set(robot.names.spanning[start:]) == set(drawn.spanning)
    assert set(robot.names.independent[start:]) == set(drawn.independent)
    assert set(robot.names.actuator) == set(drawn.active)
    assert robot.m == len(drawn.independent) + 6 * start


@every_seed
def test_random_positions_fill_the_box_of_the_limits(seed: int) -> None:
    """The box is closed and regular all over by construction: none of it may be given away."""
    drawn, motions = random_robot(seed), motions_of(seed)
    names = motions.robot.names.independent[drawn.floating :]
    y = motions.robot.random_independent(np.random.default_rng(0), 400)[:, 7 * drawn.floating :]
    for name, lower, upper in zip(drawn.independent, drawn.lower, drawn.upper, strict=True):
        found = y[:, names.index(name)]
        if f'<joint name="{name}" type="continuous">' not in drawn.urdf:
            assert lower - 1e-12 <= found.min() and found.max() <= upper + 1e-12
        assert np.ptp(found) > 0.9 * (upper - lower)


@every_seed
def test_loops_are_closed(seed: int) -> None:
    motions = motions_of(seed)
    assert figures.loop_residual(motions) <= 1e-10


@every_seed
def test_loop_jacobian_is_in_the_null_space_of_K(seed: int) -> None:
    assert figures.loop_jacobian_residual(motions_of(seed)) <= 1e-9


@every_seed
def test_loop_bias_solves_K_g_equal_k_at_speed(seed: int) -> None:
    motions = motions_of(seed)
    assert figures.loop_bias_residual(motions) <= 1e-8
    assert figures.motion_residual(motions) <= 1e-12


@every_seed
def test_no_joint_is_idle(seed: int) -> None:
    assert motions_of(seed).idle == []


@every_seed
def test_loop_jacobian_is_the_derivative_of_the_positions(seed: int) -> None:
    motions = motions_of(seed).first(4)
    oracle, step = motions.oracle, 1e-5
    skip = oracle.nq - oracle.nv
    for y, G in zip(motions.y, motions.G, strict=True):
        for j in range(oracle.base_dof, motions.robot.m):
            d = step * np.eye(motions.robot.m)[j]
            ahead, behind = (motions.robot.state(velocity_step(motions, y, s)) for s in (d, -d))
            column = (ahead.q - behind.q)[skip:] / (2 * step)
            assert relative(column[None], G[:, j][None]) <= 1e-6


@every_seed
def test_loop_bias_is_the_rate_of_the_loop_jacobian(seed: int) -> None:
    motions = motions_of(seed).first(4)
    step = 1e-5
    for y, yd, g in zip(motions.y, motions.yd, motions.g, strict=True):
        ahead, behind = (
            motions.robot.loop_jacobian(velocity_step(motions, y, s * yd)) for s in (step, -step)
        )
        rate = (ahead - behind) / (2 * step)
        assert relative((rate @ yd)[None], g[None]) <= 1e-6


@fixed_seeds
def test_forward_dynamics_inverts_inverse_dynamics_at_speed(seed: int) -> None:
    assert figures.round_trip(motions_of(seed)) <= 1e-9


@floating_seeds
def test_inverse_dynamics_inverts_forward_dynamics_of_a_floating_base(seed: int) -> None:
    motions = motions_of(seed)
    tau_u = random_actuation(motions)
    ydd = motions.forward_dynamics(tau_u)
    vectors = (motions.y, motions.yd, ydd)
    assert relative(motions.call("inverse_dynamics", *vectors), tau_u) <= 1e-9
    tau_y = motions.call("generalized_forces", *vectors)
    scale = np.maximum(1.0, np.max(np.abs(tau_y), axis=1, keepdims=True))
    assert np.max(np.abs(tau_y[:, :6]) / scale) <= 1e-9  # nothing holds the base


@every_seed
def test_actuators_and_independent_joints_have_the_same_power(seed: int) -> None:
    assert figures.power_balance(motions_of(seed)) <= 1e-11


@every_seed
def test_forward_dynamics_agrees_with_the_kkt_system(seed: int) -> None:
    motions = motions_of(seed)
    tau_u = random_actuation(motions)
    expected = figures.kkt_accelerations(motions, tau_u)
    assert relative(motions.forward_dynamics(tau_u), expected) <= 1e-8


@every_seed
@pytest.mark.parametrize("method", ["projection", "lagrange"])
def test_reference_methods_agree_with_cluster_aba(seed: int, method: str) -> None:
    motions = motions_of(seed)
    tau_u = random_actuation(motions)
    expected = motions.forward_dynamics(tau_u)
    assert relative(motions.forward_dynamics(tau_u, method=method), expected) <= 1e-8


@every_seed
def test_independent_forces_are_the_projected_tree_forces(seed: int) -> None:
    motions = motions_of(seed)
    expected = figures.reduced(motions, figures.tree_forces(motions))
    assert relative(motions.generalized_forces(), expected) <= 1e-10


@every_seed
def test_mass_matrix_is_the_projected_tree_mass_matrix(seed: int) -> None:
    motions = motions_of(seed)
    M = motions.each(lambda q, qd, qdd: motions.oracle.mass_matrix(q))
    expected = np.swapaxes(motions.G, 1, 2) @ M @ motions.G
    assert relative(motions.call("mass_matrix", motions.y), expected) <= 1e-10


@some_seeds
def test_wrenches_on_links_agree_with_the_kkt_system(seed: int) -> None:
    motions = motions_of(seed).first(5)
    rng = np.random.default_rng(seed)
    links = [f.name for f in motions.oracle.model.frames if f.type.name == "BODY"]
    wrenches = {str(link): rng.uniform(-5.0, 5.0, 6) for link in rng.choice(links, 4, False)}
    tau_u = random_actuation(motions)
    found = motions.forward_dynamics(tau_u, wrenches=wrenches)
    assert relative(found, figures.kkt_accelerations(motions, tau_u, wrenches)) <= 1e-8
    expected = figures.reduced(motions, figures.tree_forces(motions, wrenches))
    assert relative(motions.generalized_forces(wrenches=wrenches), expected) <= 1e-10


@some_seeds
def test_links_are_where_the_oracle_has_them(seed: int) -> None:
    motions = motions_of(seed).first(5)
    robot, oracle = motions.robot, motions.oracle
    for link in [f.name for f in oracle.model.frames if f.type.name == "BODY"]:
        for y, q, G in zip(motions.y, motions.state.q, motions.G, strict=True):
            assert relative(robot.pose(link, y)[None], oracle.pose(link, q)[None]) <= 1e-12
            J = oracle.jacobian(link, q) @ G
            assert relative(robot.jacobian(link, y)[None], J[None]) <= 1e-12


@some_seeds
def test_one_sample_equals_the_batch(seed: int) -> None:
    motions = motions_of(seed)
    robot, vectors = motions.robot, (motions.y, motions.yd, motions.ydd)
    batch = robot.state(*vectors)
    for part in ("q", "qd", "qdd"):
        assert relative(getattr(motions.state, part), getattr(batch, part)) <= 1e-12, part
    tau_u = motions.inverse_dynamics()
    assert relative(robot.inverse_dynamics(*vectors), tau_u) <= 1e-12
    found = robot.forward_dynamics(motions.y, motions.yd, tau_u)
    assert relative(found, motions.forward_dynamics(tau_u)) <= 1e-12


def test_redundant_actuators_share_the_load() -> None:
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
    robot = cld.load(mechanism.urdf(), mechanism.yaml(active=("crank", "rocker")))
    assert (robot.m, robot.p) == (1, 2)
    motions = Motions.random(robot, mechanism.oracle().reordered(robot.names.spanning), COUNT)
    tau_u = motions.inverse_dynamics()
    assert relative(figures.actuated(motions, tau_u), motions.generalized_forces()) <= 1e-12
    assert relative(motions.forward_dynamics(tau_u), motions.ydd) <= 1e-9
    G_u = robot.actuator_jacobian(motions.y)[:, :, 0]
    waste = tau_u[:, 0] * G_u[:, 1] - tau_u[:, 1] * G_u[:, 0]  # the smallest forces lie along G_u
    assert np.max(np.abs(waste)) <= 1e-10


def rate(motions: Motions, y: Array, yd: Array) -> tuple[Array, Array]:
    """d/dt of y and yd in free motion; the base's quaternion moves with its body rates."""
    ydd = motions.robot.forward_dynamics(y, yd, np.zeros(motions.robot.p))
    if not motions.oracle.floating_base:
        return yd, ydd
    v, s = y[3:6], y[6]
    omega, linear = yd[:3], yd[3:6]
    moved = linear + 2.0 * np.cross(v, np.cross(v, linear) + s * linear)  # R linear
    quaternion = 0.5 * np.array([*(s * omega + np.cross(v, omega)), -v @ omega])
    return np.concatenate([moved, quaternion, yd[6:]]), ydd


def runge_kutta(motions: Motions, y: Array, yd: Array, dt: float) -> tuple[Array, Array]:
    """One step of the classical fourth-order method."""
    k1 = rate(motions, y, yd)
    k2 = rate(motions, y + 0.5 * dt * k1[0], yd + 0.5 * dt * k1[1])
    k3 = rate(motions, y + 0.5 * dt * k2[0], yd + 0.5 * dt * k2[1])
    k4 = rate(motions, y + dt * k3[0], yd + dt * k3[1])
    y, yd = (
        start + dt / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        for start, a, b, c, d in zip((y, yd), k1, k2, k3, k4, strict=True)
    )
    if motions.oracle.floating_base:
        y[3:7] /= np.linalg.norm(y[3:7])
    return y, yd


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_free_motion_conserves_energy(seed: int) -> None:
    motions = motions_of(seed)
    robot, oracle = motions.robot, motions.oracle
    y = np.zeros(robot.m + oracle.floating_base)
    if oracle.floating_base:
        y[6] = 1.0
    yd = 0.2 * motions.yd[0]

    def energies() -> tuple[float, float]:
        s = robot.state(y, yd)
        kinetic = 0.5 * s.qd @ oracle.mass_matrix(s.q) @ s.qd
        return oracle.energy(s.q, s.qd), float(kinetic)

    start, largest = energies()
    for _ in range(500):
        y, yd = runge_kutta(motions, y, yd, 1e-3)
        now, kinetic = energies()
        largest = max(largest, kinetic)
    assert largest > 0.1
    assert abs(now - start) <= 1e-8 * largest
