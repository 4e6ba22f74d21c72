"""Paz and Mattila: forward dynamics inverts inverse dynamics, their scalar formulation agrees.

Independent truth: Pinocchio's KKT system, and one in which masses, bias and loop come from MuJoCo.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import figures
from support.figures import Motions, relative

import closed_loop_dynamics as cld
from tools.oracles.mujoco_robot import MujocoRobot
from tools.oracles.oracle import Oracle
from tools.reproduce.linear_actuator_algebra import Ad, about_z, along_x
from tools.reproduce.linear_actuator_loop import (
    S_X,
    S_Z,
    LinearActuatorArm,
    LoopModule,
    loop_kinematics,
    projections,
    wrench_system,
    wrench_terms,
)
from tools.robots import heavy_duty_arm, heavy_duty_loop
from tools.robots.heavy_duty import sinusoids

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = {module.NAME: module for module in (heavy_duty_loop, heavy_duty_arm)}
#: Average error of FD(ID) relative to the mean acceleration, as printed in Sec. 5.
PAPER = {"heavy_duty_loop": 1.25e-13, "heavy_duty_arm": 2.42e-13}
Array = np.ndarray
every_robot = pytest.mark.parametrize("name", ROBOTS)
every_motion = pytest.mark.parametrize("motion", ["SINUSOIDS", "WORKING"])


@cache
def load(name: str) -> cld.Robot:
    return cld.load(*ROBOTS[name].generate())


@cache
def reference(name: str) -> LinearActuatorArm:
    return LinearActuatorArm(load(name).mechanism)


@cache
def motions(name: str) -> Motions:
    urdf, submechanisms = ROBOTS[name].generate()
    oracle = Oracle(urdf, submechanisms, names=load(name).names.spanning)
    return Motions.random(load(name), oracle, 60, 7)


def random_forces(name: str) -> Array:
    found = motions(name).inverse_dynamics()
    return found * np.random.default_rng(8).uniform(-1.0, 1.0, found.shape)


def error(found: Array, expected: Array) -> tuple[float, float]:
    """Mean and largest sum of absolute errors, relative to those of the expected values."""
    wrong, right = np.abs(found - expected).sum(axis=1), np.abs(expected).sum(axis=1)
    return float(wrong.mean() / right.mean()), float(wrong.max() / right.max())


# -- Sec. 5, Eq. 53 ------------------------------------------------------------------------------


@every_robot
@every_motion
def test_forward_dynamics_inverts_inverse_dynamics_along_the_sinusoids(
    name: str, motion: str
) -> None:
    x, xd, xdd = sinusoids(getattr(ROBOTS[name], motion), np.linspace(0.0, 10.0, 1001))
    robot = load(name)
    back = robot.forward_dynamics(x, xd, robot.inverse_dynamics(x, xd, xdd))
    assert max(error(back, xdd)) <= 1e-12
    if motion == "SINUSOIDS":
        assert error(back, xdd)[0] <= PAPER[name]


@every_robot
@every_motion
def test_scalar_formulation_inverts_itself_along_the_sinusoids(name: str, motion: str) -> None:
    x, xd, xdd = sinusoids(getattr(ROBOTS[name], motion), np.linspace(0.0, 10.0, 101))
    arm = reference(name)
    back = arm.forward_dynamics(x, xd, arm.inverse_dynamics(x, xd, xdd))
    assert max(error(back, xdd)) <= 1e-12


@every_robot
@every_motion
def test_scalar_formulation_and_cluster_aba_agree_along_the_sinusoids(
    name: str, motion: str
) -> None:
    x, xd, xdd = sinusoids(getattr(ROBOTS[name], motion), np.linspace(0.0, 10.0, 101))
    robot, arm = load(name), reference(name)
    f = robot.inverse_dynamics(x, xd, xdd)
    assert max(error(arm.inverse_dynamics(x, xd, xdd), f)) <= 1e-12
    back = robot.forward_dynamics(x, xd, f)
    assert error(arm.forward_dynamics(x, xd, f), back)[0] <= 1e-12
    f = f * np.random.default_rng(2).uniform(-1.0, 1.0, f.shape)
    expected = robot.forward_dynamics(x, xd, f)
    assert max(error(arm.forward_dynamics(x, xd, f), expected)) <= 1e-12


@every_robot
def test_scalar_formulation_and_cluster_aba_agree_far_beyond_rated_speeds(name: str) -> None:
    m, f = motions(name), random_forces(name)
    expected = m.forward_dynamics(f)
    assert error(reference(name).forward_dynamics(m.y, m.yd, f), expected)[1] <= 1e-12
    back = reference(name).inverse_dynamics(m.y, m.yd, expected)
    assert error(back, f)[1] <= 1e-11  # of accelerations of 100 m/s^2 and more


# -- oracles -------------------------------------------------------------------------------------


@every_robot
def test_both_agree_with_the_kkt_system_of_pinocchio_at_speed(name: str) -> None:
    m, f = motions(name), random_forces(name)
    expected = figures.kkt_accelerations(m, f)
    assert relative(m.forward_dynamics(f), expected) <= 1e-10
    assert relative(reference(name).forward_dynamics(m.y, m.yd, f), expected) <= 1e-10


class MujocoKkt:
    """A KKT system of masses, bias and the gaps of the loops at their cuts, all from MuJoCo."""

    def __init__(self, name: str) -> None:
        urdf, _ = ROBOTS[name].generate()
        self.tree = tree = MujocoRobot(urdf, names=load(name).names.spanning)
        self.cuts = [(f"{c}_rod", f"{c}_arm") for c in ("lift", "tilt") if c in tree.names]
        tree.place(*np.zeros((2, len(tree.names))))
        poses = [(tree.pose(rod), tree.pose(arm)) for rod, arm in self.cuts]
        self.pins = [np.linalg.solve(arm, rod[:, 3]) for rod, arm in poses]

    def K(self, q: Array, qd: Array) -> Array:
        """Jacobian of the gaps in world axes; the rows across the plane are redundant."""
        tree = self.tree
        tree.place(q, qd)
        rows = []
        for (rod, arm), local in zip(self.cuts, self.pins, strict=True):
            pin = (tree.pose(arm) @ local)[:3]
            assert np.linalg.norm(pin - tree.pose(rod)[:3, 3]) < 1e-8
            rows.append(tree.point_jacobian(rod, pin) - tree.point_jacobian(arm, pin))
        return np.vstack(rows)

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        h = 1e-5
        rate = (self.K(q + h * qd, qd) - self.K(q - h * qd, qd)) / (2.0 * h)
        K, M = self.K(q, qd), self.tree.mass_matrix(q)
        _, s, Vt = np.linalg.svd(K)
        N = Vt[int(np.sum(s > 1e-9)) :].T
        particular = np.linalg.lstsq(K, -rate @ qd, rcond=1e-10)[0]
        force = tau - self.tree.nonlinear_effects(q, qd) - M @ particular
        return np.asarray(particular + N @ np.linalg.solve(N.T @ M @ N, N.T @ force))


@every_robot
def test_both_agree_with_mujoco_at_speed(name: str) -> None:
    robot, kkt = load(name), MujocoKkt(name)
    x, xd, xdd = sinusoids(ROBOTS[name].WORKING, np.linspace(0.0, 10.0, 21))
    f = 0.7 * robot.inverse_dynamics(x, xd, xdd)
    state = robot.state(x, xd)
    driven = [robot.names.spanning.index(joint) for joint in robot.names.actuator]
    tau = np.zeros_like(state.q)
    tau[:, driven] = f
    rows = zip(state.q, state.qd, tau, strict=True)
    expected = np.array([kkt.accelerations(*row)[driven] for row in rows])
    assert relative(robot.forward_dynamics(x, xd, f), expected) <= 1e-7
    assert relative(reference(name).forward_dynamics(x, xd, f), expected) <= 1e-7


# -- the paper's equations, one by one -----------------------------------------------------------


def loop_modules() -> list[LoopModule]:
    return [m for m in reference("heavy_duty_arm").modules if isinstance(m, LoopModule)]


def test_rates_of_the_angles_are_derivatives_of_the_law_of_cosines() -> None:
    rest, h = np.zeros(6), 1e-6
    for mod in loop_modules():
        for x, xd in ((0.05, 0.3), (0.2, -0.7), (0.33, 1.1)):
            here = loop_kinematics(mod, x, xd, rest)
            ahead, behind = (loop_kinematics(mod, x + s * h, xd, rest) for s in (1, -1))
            assert here.k4 == pytest.approx((ahead.k1 - behind.k1) / (2 * h) * xd**2, rel=1e-7)
            assert here.k5 == pytest.approx((ahead.k2 - behind.k2) / (2 * h) * xd**2, rel=1e-7)
            # The pin moves with the arm and with the rod; Sigma_B1 is Sigma_P turned by q2.
            by_arm = Ad(along_x(mod.L1)) @ (S_Z * here.k1)
            by_rod = Ad(along_x(mod.Lc) @ about_z(here.q2)) @ (here.Ad_43 @ (S_Z * here.k2) + S_X)
            np.testing.assert_allclose(by_arm[:3], by_rod[:3], atol=1e-12)


@pytest.fixture(params=[(0, 0.1), (0, 0.55), (1, 0.2)], ids=["short", "long", "tilt"])
def balance(request: pytest.FixtureRequest) -> tuple[LoopModule, float, float, list[Array]]:
    """A loop at a stroke with local wrenches F~_B1, F^_B3, F^_B4 in its plane."""
    which, x = request.param
    mod = loop_modules()[which]
    q2 = loop_kinematics(mod, x, 0.0, np.zeros(6)).q2
    rng = np.random.default_rng(4)
    plane = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    return mod, x, q2, [plane * rng.normal(size=6) for _ in range(3)]


def test_linear_system_is_the_balance_of_wrenches(balance: Any) -> None:
    mod, x, q2, (F_B1, F_B3, F_B4) = balance
    A = wrench_system(mod, x, q2)
    assert np.linalg.det(A) == pytest.approx(-mod.L1 * np.sin(q2) * (x + mod.Lc0 + mod.Lc))
    F_psi = np.linalg.solve(A, wrench_terms(F_B1, F_B3, F_B4))
    F_P = np.array([F_psi[0], F_psi[1], 0.0, 0.0, 0.0, 0.0])
    total_B4 = F_B4 + Ad(along_x(mod.Lc)).T @ F_P  # Eq. 14a
    total_B3 = F_B3 + Ad(along_x(x + mod.Lc0)).T @ total_B4  # Eq. 14b
    total_B1 = F_B1 - Ad(along_x(mod.L1) @ about_z(-q2)).T @ F_P  # Eq. 13a
    np.testing.assert_allclose(total_B4[[0, 1, 5]], F_psi[2:5], atol=1e-12)
    np.testing.assert_allclose(total_B3[[0, 1]], F_psi[5:], atol=1e-12)
    assert abs(total_B1[5]) < 1e-12 and abs(total_B3[5]) < 1e-12  # passive hinges, Eq. 55


def test_wrench_terms_of_eq_59_need_both_minus_signs(balance: Any) -> None:
    mod, x, q2, (F_B1, F_B3, F_B4) = balance
    printed = wrench_terms(F_B1, F_B3, F_B4) * np.array([1, 1, 1, 1, 1, -1, -1])
    F_psi = np.linalg.solve(wrench_system(mod, x, q2), printed)
    total_B3 = F_B3[:2] + F_psi[2:4]  # Eq. 14b
    assert np.all(np.abs(total_B3 - F_psi[5:]) > 0.1)


def test_projections_solve_the_linear_system_and_the_printed_sign_does_not(balance: Any) -> None:
    mod, x, q2, (F_B1, F_B3, F_B4) = balance
    F_psi = np.linalg.solve(wrench_system(mod, x, q2), wrench_terms(F_B1, F_B3, F_B4))
    K1, K3, K4 = projections(mod, x, q2)
    found = K1 @ F_B1 + K3 @ F_B3 + K4 @ F_B4  # Eq. 65
    np.testing.assert_allclose(found[[0, 1, 5]], F_psi[2:5], atol=1e-12)
    assert not found[2:5].any()
    printed = K4.copy()
    printed[1, 5] = -K4[1, 5]
    wrong = K1 @ F_B1 + K3 @ F_B3 + printed @ F_B4
    assert abs(wrong[1] - F_psi[3]) > 0.01


@every_robot
def test_nothing_depends_on_where_the_frame_of_the_rod_is(name: str) -> None:
    m, f = motions(name).first(10), random_forces(name)[:10]
    near, far = (LinearActuatorArm(load(name).mechanism, share) for share in (0.1, 0.9))
    first, second = (arm.forward_dynamics(m.y, m.yd, f) for arm in (near, far))
    np.testing.assert_allclose(first, second, rtol=1e-11)


# -- bad input -----------------------------------------------------------------------------------


def test_robots_of_another_kind_are_refused() -> None:
    leg = cld.load(ROOT / "urdf/crank_leg.urdf", ROOT / "config/crank_leg.yaml")
    with pytest.raises(cld.InvalidInput, match=r"joint 'knee.*is not driven.*forward_dynamics"):
        LinearActuatorArm(leg.mechanism)


def test_strokes_past_a_dead_point_and_wrong_shapes_are_refused() -> None:
    arm = reference("heavy_duty_loop")
    with pytest.raises(cld.InvalidInput, match="dead points"):
        arm.forward_dynamics([2.0], [0.0], [0.0])
    with pytest.raises(cld.InvalidInput, match="shape"):
        arm.forward_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(cld.InvalidInput, match="different shapes"):
        arm.inverse_dynamics([[0.1]], [0.0], [0.0])
    with pytest.raises(cld.InvalidInput, match="finite"):
        arm.inverse_dynamics([np.nan], [0.0], [0.0])
