"""Every shipped robot: nothing to complain about, equations obeyed at speed.

Loop residual, K, k and the KKT system are the oracle's, on the spanning tree read by Pinocchio.
"""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from support import figures
from support.figures import relative
from support.shipped import shipped, shipped_motions

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.trajectory import cycloidal
from tools.robots import SHIPPED
from tools.robots.files import independent_joints

#: n, m, p; a floating base adds 6 to the first two.
COUNTS = {
    "crank_leg": (7, 3, 3),
    "rh5_leg": (18, 6, 6),
    "rh5_manus_reduced": (23, 13, 13),
    "rh5_manus": (61, 20, 20),
    "rh5_humanoid": (97 + 6, 32 + 6, 32),
    "heavy_duty_loop": (3, 1, 1),
    "heavy_duty_arm": (8, 4, 4),
    "irsbot2": (16, 2, 2),
    "delta": (17, 3, 3),
    "six_ups": (24, 6, 6),
    "exo_hip": (9, 3, 3),
    "exo_ankle": (21, 3, 3),
    "geared_quadruped": (24 + 6, 12 + 6, 12),
    "belt_humanoid": (36 + 6, 18 + 6, 18),
    "differential_humanoid": (52 + 6, 18 + 6, 18),
    "geared_humanoid": (64 + 6, 32 + 6, 32),
    "geared_chain": (24, 12, 12),
    "belt_chain": (24, 12, 12),
}
#: Those that take long to load for the first time.
SLOW = {
    *("rh5_manus", "rh5_humanoid", "exo_ankle", "irsbot2", "delta"),
    *("differential_humanoid", "geared_humanoid"),
}
#: Robot -> its submechanisms for which no closed form is known.
BY_NEWTON = {"exo_ankle": {"active_ankle"}, "irsbot2": {"irsbot2"}, "delta": {"delta"}}
every_robot = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in SHIPPED]
)


def at_rest(name: str, positions: Array) -> Array:
    """(N, n_y) independent positions; a floating base stands at the origin."""
    base = [0.0] * 6 + [1.0] if SHIPPED[name].floating else []
    return np.hstack([np.tile(base, (len(positions), 1)), positions])


@every_robot
def test_says_what_it_is_and_where_it_comes_from(name: str) -> None:
    robot = SHIPPED[name]
    assert robot.name == name
    assert robot.title and robot.description.endswith(".") and robot.source.endswith(".")


@every_robot
def test_has_the_announced_number_of_joints(name: str) -> None:
    robot = shipped(name)
    assert (robot.n, robot.m, robot.p) == COUNTS[name]


@every_robot
def test_linter_has_nothing_to_complain_about(name: str) -> None:
    report = shipped(name).report()
    # Rows that a planar loop repeats are worth a sentence, not a complaint.
    assert {finding.code for finding in report.findings} <= {"redundant-rows"}, str(report)


@every_robot
def test_loops_are_solved_in_closed_form_where_one_is_known(name: str) -> None:
    solvers = {s.name: s.solver for s in shipped(name).report().submechanisms}
    by_newton = {entry for entry, solver in solvers.items() if solver == "numerical"}
    assert by_newton == BY_NEWTON.get(name, set())


@every_robot
def test_loops_are_closed_and_no_joint_is_idle(name: str) -> None:
    motions = shipped_motions(name)
    assert figures.loop_residual(motions) <= 1e-10
    assert motions.idle == []


@every_robot
def test_loop_jacobian_is_in_the_null_space_of_K(name: str) -> None:
    assert figures.loop_jacobian_residual(shipped_motions(name)) <= 1e-9


@every_robot
def test_loop_bias_solves_K_g_equal_k_at_speed(name: str) -> None:
    motions = shipped_motions(name)
    assert figures.loop_bias_residual(motions) <= 1e-8
    assert figures.motion_residual(motions) <= 1e-11


@every_robot
def test_forward_and_inverse_dynamics_invert_each_other_at_speed(name: str) -> None:
    motions = shipped_motions(name)
    if not SHIPPED[name].floating:
        assert figures.round_trip(motions) <= 1e-9
        return
    # The actuators cannot hold a free base: start from forces.
    tau_u = random_actuation(name)
    ydd = motions.forward_dynamics(tau_u)
    found = motions.call("inverse_dynamics", motions.y, motions.yd, ydd)
    assert relative(found, tau_u) <= 1e-9


@every_robot
def test_forward_dynamics_agrees_with_the_kkt_system_at_speed(name: str) -> None:
    motions, tau_u = shipped_motions(name), random_actuation(name)
    expected = figures.kkt_accelerations(motions, tau_u)
    assert relative(motions.forward_dynamics(tau_u), expected) <= 1e-8


def random_actuation(name: str) -> Array:
    """(N, p) forces of the size the motions need."""
    size = 1.0 + np.abs(shipped_motions(name).inverse_dynamics())
    return np.asarray(size * np.random.default_rng(5).uniform(-1.0, 1.0, size.shape))


@every_robot
def test_sample_motion_is_within_all_limits_of_joints_and_actuators(name: str) -> None:
    robot, floating = shipped(name), SHIPPED[name].floating
    nodes = yaml.safe_load(SHIPPED[name].nodes.read_text(encoding="utf-8"))
    sample = nodes["/**/trajectory_publisher"]["ros__parameters"]
    assert sample["start"] == nodes["/**/simulator"]["ros__parameters"]["initial_position"]
    assert tuple(sample["joints"]) == robot.names.independent[floating:]
    assert sample["joints"] == independent_joints(SHIPPED[name].generate()[1])
    start, goal = np.array(sample["start"]), np.array(sample["goal"])
    way = cycloidal(start, goal, sample["duration"], 9)
    rates = [np.pad(v, ((0, 0), (6 * floating, 0))) for v in (way.velocities, way.accelerations)]
    samples = list(zip(at_rest(name, way.positions), *rates, strict=True))
    states = [robot.state(*each) for each in samples]
    tree = Limits.of(robot.mechanism.tree, robot.names.spanning[floating:])
    moving = len(tree.names)
    assert tree.outside(np.array([s.q[-moving:] for s in states])) is None
    assert tree.too_fast(np.array([s.qd[-moving:] for s in states])) is None
    forces = np.array([robot.inverse_dynamics(*each) for each in samples])
    assert np.all(np.abs(forces) <= Limits.of(robot.mechanism.tree, robot.names.actuator).effort)
