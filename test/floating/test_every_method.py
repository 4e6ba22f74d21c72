"""What the tests of random robots leave out for a floating base: every other public method."""

from __future__ import annotations

import numpy as np
import pytest
from support.figures import Motions, relative
from support.random_robots import RandomRobot

import closed_loop_dynamics as cld

Array = np.ndarray


@pytest.fixture(scope="module")
def motions(random_flyer: cld.Robot, drawn: RandomRobot) -> Motions:
    oracle = drawn.oracle(random_flyer.names.spanning[1:])
    return Motions.random(random_flyer, oracle, 5, batch=False)


def test_bias_and_gravity_are_the_projected_forces_of_the_tree(motions: Motions) -> None:
    robot, oracle = motions.robot, motions.oracle
    for y, yd, q, G, g in zip(
        motions.y, motions.yd, motions.state.q, motions.G, motions.g, strict=True
    ):
        C = oracle.nonlinear_effects(q, G @ yd) + oracle.mass_matrix(q) @ g
        assert relative(robot.bias(y, yd)[None], (G.T @ C)[None]) <= 1e-10
        rest = oracle.nonlinear_effects(q, np.zeros(oracle.nv))
        assert relative(robot.gravity(y)[None], (G.T @ rest)[None]) <= 1e-10


def test_actuators_give_back_the_joints_and_a_guess_the_base(motions: Motions) -> None:
    robot = motions.robot
    for y, u in zip(motions.y, motions.state.u, strict=True):
        np.testing.assert_allclose(robot.independent_from_actuator(u)[7:], y[7:], atol=1e-10)
        with_base = robot.independent_from_actuator(u, guess=y)
        np.testing.assert_allclose(with_base, y, atol=1e-10)
    np.testing.assert_array_equal(
        robot.independent_from_actuator(motions.state.u[0])[:7], [0, 0, 0, 0, 0, 0, 1]
    )


def test_the_columns_of_the_base_move_no_actuator(motions: Motions) -> None:
    G_u = motions.call("actuator_jacobian", motions.y)
    assert not G_u[:, :, :6].any()
    ud = np.einsum("sij,sj->si", G_u, motions.yd)
    assert relative(ud, motions.state.ud) <= 1e-12


def test_a_guess_selects_the_assembly_mode_of_every_method(motions: Motions) -> None:
    robot = motions.robot
    y, yd, ydd = motions.y[0], motions.yd[0], motions.ydd[0]
    q = motions.state.q[0]
    calls: dict[str, tuple[Array, ...]] = {
        "loop_jacobian": (y,),
        "loop_bias": (y, yd),
        "actuator_jacobian": (y,),
        "inverse_dynamics": (y, yd, ydd),
        "generalized_forces": (y, yd, ydd),
        "forward_dynamics": (y, yd, np.ones(robot.p)),
        "mass_matrix": (y,),
        "bias": (y, yd),
        "gravity": (y,),
        "center_of_mass": (y,),
        "center_of_mass_velocity": (y, yd),
        "centroidal_momentum": (y, yd),
        "centroidal_matrix": (y,),
        "energy": (y, yd),
    }
    for name, values in calls.items():
        found, expected = (getattr(robot, name)(*values, **o) for o in ({"guess": q}, {}))
        assert relative(np.asarray(found)[None], np.asarray(expected)[None]) <= 1e-9, name
    np.testing.assert_allclose(robot.state(y, yd, ydd, guess=q).q, q, atol=1e-10)
    link = robot.mechanism.tree.bodies[-1].link
    np.testing.assert_allclose(robot.pose(link, y, guess=q), robot.pose(link, y), atol=1e-10)


def test_forces_do_not_depend_on_the_length_or_sign_of_the_quaternion(motions: Motions) -> None:
    robot, y = motions.robot, motions.y[0].copy()
    expected = robot.forward_dynamics(y, motions.yd[0], np.ones(robot.p))
    y[3:7] *= -3.0
    found = robot.forward_dynamics(y, motions.yd[0], np.ones(robot.p))
    assert relative(found[None], expected[None]) <= 1e-10


def test_report_and_geometry_do_not_mind_the_base(motions: Motions) -> None:
    robot = motions.robot
    assert str(robot.report())
    for branch in robot.branches.values():
        geometry = robot.submechanism(branch.name)
        assert geometry.independent and geometry.assembly_modes([0.0] * len(geometry.independent))


def test_a_base_without_mass_is_named() -> None:
    """What cannot resist the leg's reaction is refused, with the remedy."""
    from tools.robots import crank_leg

    robot = cld.load(*crank_leg.generate(), floating_base=True)
    y = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, -0.4, 0.8, -0.2])
    for call in (
        lambda: robot.forward_dynamics(y, np.zeros(9), np.zeros(3)),
        lambda: robot.step(y, np.zeros(9), np.zeros(3), 1e-3),
    ):
        with pytest.raises(cld.SingularInertia, match=r"base_link.*mass and inertia"):
            call()
    assert (
        not robot.programs.has_twin
    )  # no other way of closing loops was tried: they are not to blame
