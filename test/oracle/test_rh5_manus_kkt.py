"""RH5 robots, ours and the published, against Pinocchio: a KKT system on the tree, at speed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support import figures
from support.figures import Motions, relative
from support.rh5 import FILES, every_robot, rh5_oracle

import closed_loop_dynamics as cld
from tools.oracles.files import Array

COUNT = 100
#: Links that get a wrench: on a loop's bodies, at the end, and fixed to another link.
PUSHED = {
    "full": ("ALWristYaw_Link", "BodyActL_Link", "HeadYaw_Link"),
    "our reduced": ("torso_chest", "left_forearm"),
    "our leg": ("foot", "knee_cylinder_rod", "ankle_left_hinge_link"),
    "reduced": ("BodyRoll_Link", "ALElbow_Link"),
    "wrist": ("ALWristYaw_Link",),
    "leg": ("LLAnklePitch_Link", "LLKnee_Act1_Link", "LLAnkle_E11_Link"),
}


@cache
def motions_of(name: str) -> Motions:
    robot = cld.load(*FILES[name], solver="numerical")
    robot.prepare(
        "loop_jacobian", "generalized_forces", "mass_matrix", "bias", "gravity", "poses",
        "inverse_dynamics_wrenches", "forward_dynamics_wrenches",
    )  # fmt: skip
    return Motions.random(robot, rh5_oracle(name, robot.names.spanning), COUNT, 2, batch=False)


@cache
def wrenches_of(name: str) -> dict[str, Array]:
    motions = motions_of(name)
    rng = np.random.default_rng(3)
    fixed = fixed_links(motions)[:2]
    return {link: rng.uniform(-20.0, 20.0, 6) for link in (*PUSHED[name], *fixed)}


def fixed_links(motions: Motions) -> list[str]:
    """Links that are fixed to another moving link, by the oracle."""
    frames = [f for f in motions.oracle.model.frames if f.type.name == "BODY" and f.parentJoint]
    names = [f.name for f in frames if np.any(f.placement.homogeneous != np.eye(4))]
    assert all(name in motions.robot.mechanism.tree.frames for name in names)
    return names


@every_robot
def test_forward_dynamics_agrees_with_the_kkt_system(name: str) -> None:
    motions = motions_of(name)
    rng = np.random.default_rng(4)
    scale = np.abs(motions.inverse_dynamics())
    tau_u = scale * rng.uniform(-1.0, 1.0, scale.shape)
    found = motions.forward_dynamics(tau_u)
    assert relative(found, figures.kkt_accelerations(motions, tau_u)) <= 1e-8


@every_robot
def test_independent_forces_are_the_projected_tree_forces(name: str) -> None:
    motions = motions_of(name)
    found = motions.generalized_forces()
    expected = figures.reduced(motions, figures.tree_forces(motions))
    assert relative(found, expected) <= 1e-8


@every_robot
def test_actuator_forces_do_the_work_of_the_tree_forces(name: str) -> None:
    motions = motions_of(name)
    tau_u = motions.inverse_dynamics()
    expected = figures.reduced(motions, figures.tree_forces(motions))
    assert relative(figures.actuated(motions, tau_u), expected) <= 1e-8


@every_robot
def test_actuator_jacobian_is_the_actuators_rows_of_G(name: str) -> None:
    motions = motions_of(name)
    rows = motions.oracle.columns(motions.robot.names.actuator)
    G_u = motions.call("actuator_jacobian", motions.y)
    np.testing.assert_array_equal(G_u, motions.G[:, rows])
    np.testing.assert_array_equal(motions.state.u, motions.state.q[:, rows])


@every_robot
def test_mass_matrix_is_the_projected_tree_mass_matrix(name: str) -> None:
    motions = motions_of(name)
    M = motions.each(lambda q, qd, qdd: motions.oracle.mass_matrix(q))
    expected = np.swapaxes(motions.G, 1, 2) @ M @ motions.G
    found = motions.call("mass_matrix", motions.y)
    assert relative(found, expected) <= 1e-10
    assert relative(found, np.swapaxes(found, 1, 2)) <= 1e-14


@every_robot
def test_bias_and_gravity_are_the_projected_tree_forces(name: str) -> None:
    motions = motions_of(name)
    oracle, G, g = motions.oracle, motions.G, motions.g
    M = motions.each(lambda q, qd, qdd: oracle.mass_matrix(q))
    C = motions.each(lambda q, qd, qdd: oracle.nonlinear_effects(q, qd))
    rest = motions.each(lambda q, qd, qdd: oracle.nonlinear_effects(q, 0.0 * qd))
    expected = figures.reduced(motions, C + np.einsum("sij,sj->si", M, g))
    assert relative(motions.call("bias", motions.y, motions.yd), expected) <= 1e-10
    expected = np.einsum("sij,si->sj", G, rest)
    assert relative(motions.call("gravity", motions.y), expected) <= 1e-10


@every_robot
def test_poses_and_jacobians_of_links_agree(name: str) -> None:
    motions = motions_of(name).first(20)
    robot, oracle = motions.robot, motions.oracle
    for link in (*PUSHED[name], *fixed_links(motions_of(name))[-3:]):
        pose = motions.each(lambda q, qd, qdd, link=link: oracle.pose(link, q))
        assert relative([robot.pose(link, y) for y in motions.y], pose) <= 1e-12
        J = motions.each(lambda q, qd, qdd, link=link: oracle.jacobian(link, q))
        assert relative([robot.jacobian(link, y) for y in motions.y], J @ motions.G) <= 1e-12


@every_robot
def test_wrenches_enter_inverse_dynamics(name: str) -> None:
    motions, wrenches = motions_of(name), wrenches_of(name)
    found = motions.inverse_dynamics(wrenches=wrenches)
    expected = figures.reduced(motions, figures.tree_forces(motions, wrenches))
    assert relative(figures.actuated(motions, found), expected) <= 1e-8
    tau_y = motions.generalized_forces(wrenches=wrenches)
    assert relative(tau_y, expected) <= 1e-8


@every_robot
@pytest.mark.parametrize("method", ["cluster_aba", "projection", "lagrange"])
def test_wrenches_enter_forward_dynamics(name: str, method: str) -> None:
    motions, wrenches = motions_of(name), wrenches_of(name)
    motions = motions if method == "cluster_aba" else motions.first(10)
    tau_u = motions.inverse_dynamics()
    expected = figures.kkt_accelerations(motions, tau_u, wrenches)
    found = motions.forward_dynamics(tau_u, wrenches=wrenches, method=method)
    assert relative(found, expected) <= 1e-8
