"""Friction and rotors of the file against Pinocchio: armature in its tree, friction by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import yaml
from support import figures
from support.figures import Motions, relative
from support.four_bar import FourBar, joint, link
from support.hardware import ROBOTS, Hardware, edited, hardware

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from tools.robots import crank_leg

every_robot = pytest.mark.parametrize("which", range(len(ROBOTS)))


@cache
def case(which: int) -> tuple[Hardware, Motions]:
    built = hardware(*ROBOTS[which])
    floating = built.drawn.floating
    robot = cld.load(built.drawn.urdf, built.yaml, floating_base=floating)
    oracle = built.oracle(robot.names.spanning[floating:])
    return built, Motions.random(robot, oracle, 10, which, batch=False)


def tree_friction(which: int) -> Array:
    """(N, n)"""
    built, motions = case(which)
    base = motions.oracle.base_dof
    friction = np.zeros(motions.state.qd.shape)
    for row, qd in zip(friction, motions.state.qd, strict=True):
        row[base:] = built.friction(motions.oracle.names, qd[base:])
    return friction


@every_robot
def test_inverse_dynamics_has_the_armature_and_friction_of_every_joint(which: int) -> None:
    built, motions = case(which)
    assert len(built.rotor) > 1 and len(built.viscous) > len(built.rotor)
    expected = figures.reduced(motions, figures.tree_forces(motions) + tree_friction(which))
    assert relative(motions.generalized_forces(), expected) <= 1e-10
    without = figures.reduced(motions, figures.tree_forces(motions))
    assert relative(motions.generalized_forces(), without) > 1e-2
    driven = figures.actuated(motions, motions.inverse_dynamics())
    base = motions.oracle.base_dof
    assert relative(driven[:, base:], expected[:, base:]) <= 1e-10


@every_robot
@pytest.mark.parametrize("method", ["cluster_aba", "projection", "lagrange"])
def test_forward_dynamics_agrees_with_the_kkt_system(which: int, method: str) -> None:
    _, motions = case(which)
    rng = np.random.default_rng(4)
    tau_u = 10.0 * rng.normal(size=(len(motions.y), motions.robot.p))
    tau = figures.tree_actuation(motions, tau_u) - tree_friction(which)
    rows = figures.independent_entries(motions)
    s = motions.state
    expected = [
        motions.oracle.forward_dynamics(*sample)[0][rows]
        for sample in zip(s.q, s.qd, tau, strict=True)
    ]
    found = motions.forward_dynamics(tau_u, method=method)
    assert relative(found, np.array(expected)) <= 1e-8


def test_forward_dynamics_inverts_inverse_dynamics() -> None:
    _, motions = case(0)
    assert figures.round_trip(motions) <= 1e-9


def test_mass_matrix_holds_the_rotors() -> None:
    _, motions = case(0)
    M = motions.each(lambda q, qd, qdd: motions.oracle.mass_matrix(q))
    expected = np.swapaxes(motions.G, 1, 2) @ M @ motions.G
    assert relative(motions.call("mass_matrix", motions.y), expected) <= 1e-10


def test_dry_friction_is_smooth_and_saturates() -> None:
    """Its share is c tanh(qd / v): zero at rest, 76 % at v, all of it above."""
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)

    def rub(entry: dict) -> None:
        entry["joint_friction"] = {"crank": {"coulomb_friction": 3.0, "coulomb_speed": 0.2}}

    rubbing = cld.load(mechanism.urdf(), edited(mechanism.yaml(), rub))
    plain = cld.load(mechanism.urdf(), mechanism.yaml())
    for speed, share in ((0.0, 0.0), (0.2, np.tanh(1.0)), (-0.2, -np.tanh(1.0)), (5.0, 1.0)):
        state = ([0.1], [speed], [0.3])
        more = rubbing.generalized_forces(*state) - plain.generalized_forces(*state)
        assert more[0] == pytest.approx(3.0 * share, abs=1e-9)


def test_a_geared_rotor_is_a_link_that_turns_faster() -> None:
    """ratio^2 I of the file against a rotor modelled as a body with a coupling."""
    arm = [
        link("base"),
        link("arm_link", (0.2, 0.1), 2.0),
        joint("arm", "revolute", "base", (0, 0)),
    ]
    rotor = (
        '<link name="rotor_link"><inertial><mass value="0.5"/>'
        '<inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="2e-4"/></inertial></link>'
    )
    plain = f'<robot name="arm">{"".join(arm)}</robot>'
    modelled = f'<robot name="arm">{"".join(arm)}{rotor}{joint("rotor", "revolute", "base", (0, 0))}</robot>'  # noqa: E501
    head = "submechanisms:\n- {name: arm, jointnames_independent: [arm], "
    motor = "actuators: {arm: {rotor_inertia: 2.0e-4, gear_ratio: 40}}"
    lumped = f"{head}type: R, jointnames_spanningtree: [arm], {motor}}}\n"
    gear = "couplings: [{joint: rotor, terms: {arm: 40}}]"
    geared = f"{head}type: TRANSMISSION, jointnames_spanningtree: [arm, rotor], {gear}}}\n"
    one, two = cld.load(plain, lumped), cld.load(modelled, geared)
    state = ([0.4], [1.5], [-2.0])
    np.testing.assert_allclose(
        one.inverse_dynamics(*state), two.inverse_dynamics(*state), rtol=1e-12
    )
    bare = cld.load(plain)
    more = one.inverse_dynamics(*state) - bare.inverse_dynamics(*state)
    assert more[0] == pytest.approx(40.0**2 * 2e-4 * -2.0, rel=1e-9)


@pytest.mark.parametrize("solver", ["auto", "numerical"])
@pytest.mark.parametrize("ratio", [30.0, 3000.0, 60000.0])
@pytest.mark.parametrize("turned", [False, True], ids=["rotor of cylinder", "cylinder of rotor"])
def test_a_rotor_that_drives_a_loop_may_turn_any_number_of_times(
    ratio: float, turned: bool, solver: str
) -> None:
    """The screw of a cylinder in rad/m as a link: the same forces as by its reflected inertia."""
    inertia, (urdf, submechanisms) = 2e-5, crank_leg.generate()
    rotor = joint("rotor", "revolute", "base_link", (0, 0), (0, 1, 0))
    body = (
        '<link name="rotor_link"><inertial><mass value="1e-9"/>'
        + f'<inertia ixx="{inertia}" ixy="0" ixz="0" iyy="{inertia}" iyz="0" izz="{inertia}"/>'
        + "</inertial></link>"
    )
    lumped, modelled = yaml.safe_load(submechanisms), yaml.safe_load(submechanisms)
    for content in (lumped, modelled):
        (knee,) = [e for e in content["submechanisms"] if "knee" in e["jointnames_independent"]]
        if content is lumped:
            knee["actuators"] = {"knee_cylinder": {"rotor_inertia": inertia, "gear_ratio": ratio}}
            continue
        knee["jointnames_spanningtree"].append("rotor")
        knee["jointnames_active"] = ["rotor"]
        geared = {"joint": "rotor", "terms": {"knee_cylinder": ratio}}
        back = {"joint": "knee_cylinder", "terms": {"rotor": 1.0 / ratio}}
        knee["couplings"] = [back if turned else geared]
    one = cld.load(urdf, yaml.safe_dump(lumped))
    two = cld.load(
        urdf.replace("</robot>", f"{body}{rotor}</robot>"), yaml.safe_dump(modelled), solver=solver
    )
    ratios = np.array([1.0, ratio, 1.0])
    for y in ([-0.4, 0.8, -0.4], [0.1, 1.6, 0.3], [0.0, 0.0, 0.0]):
        state = (y, [1.0, 2.0, 3.0], [3.0, -2.0, 1.0])
        u = two.state(y).u
        np.testing.assert_allclose(u, one.state(y).u * ratios, atol=1e-9 * ratio)
        np.testing.assert_allclose(two.independent_from_actuator(u), y, atol=1e-9)
        np.testing.assert_allclose(
            two.inverse_dynamics(*state) * ratios, one.inverse_dynamics(*state), rtol=1e-9
        )
    knee_loop = two.submechanism("knee")
    same = one.submechanism("knee").singularity([0.8])
    assert knee_loop.singularity([0.8]).actuation == pytest.approx(same.actuation, rel=1e-6)
