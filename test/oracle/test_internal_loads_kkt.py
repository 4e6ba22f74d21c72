"""Loads inside the mechanism against Pinocchio, at speed and under wrenches.

The wrenches of the cuts are put on the open tree as outer forces: its joints must then transmit
what the package says, and take the actuators' forces and nothing else. That is the equilibrium of
every single body. What is determined must also be what the multipliers of the KKT system say.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.figures import Motions
from support.hardware import ROBOTS, hardware
from support.shipped import shipped, shipped_motions

import closed_loop_dynamics as cld
from tools.oracles.files import Array
from tools.robots import SHIPPED

#: Those that take long to load for the first time.
SLOW = {
    *("rh5_manus", "rh5_humanoid", "exo_ankle", "irsbot2", "delta"),
    *("differential_humanoid", "geared_humanoid"),
}
every_robot = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in SHIPPED]
)
EXACT = 1e-9


@cache
def random_robot(which: int) -> tuple[Any, Motions]:
    """With friction, rotors, gears and loops; some float."""
    built = hardware(*ROBOTS[which])
    floating = built.drawn.floating
    robot = cld.load(built.drawn.urdf, built.yaml, floating_base=floating)
    oracle = built.oracle(robot.names.spanning[floating:])
    return built, Motions.random(robot, oracle, 5, which, batch=False)


def pushed(motions: Motions) -> dict[str, Array]:
    """Wrenches on some links: of the size of the robot's weight."""
    rng, tree = np.random.default_rng(3), motions.robot.mechanism.tree
    links = [tree.bodies[b].link for b in {0, len(tree.bodies) // 2, len(tree.bodies) - 1}]
    size = 9.81 * motions.robot.total_mass
    return {link: size * rng.uniform(-0.3, 0.3, 6) for link in links}


def in_pinocchio(
    motions: Motions, i: int, wrenches: dict[str, Array]
) -> tuple[cld.InternalLoads, Array, Array]:
    """The robot's loads of motion ``i``, and tau and joint wrenches of the tree that carries them.

    Joints in the order of the pins.
    """
    robot, oracle, s = motions.robot, motions.oracle, motions.state
    loads = robot.internal_loads(motions.y[i], motions.yd[i], motions.ydd[i], wrenches=wrenches)
    cuts = {pin.name: w for pin, w in zip(loads.pins, loads.wrenches, strict=True) if pin.cut}
    tau, joints = oracle.carried(s.q[i], s.qd[i], s.qdd[i], cuts, wrenches)
    order = [pin.name for pin in loads.pins if not pin.cut]
    base = ["root_joint"] * bool(oracle.base_dof)
    known = list(oracle.model.names)[1:]
    return loads, tau, joints[[known.index(name) for name in base + order[len(base) :]]]


def largest(*arrays: Array) -> float:
    """At least one newton, or newton metre."""
    return max(1.0, *(float(np.max(np.abs(a), initial=0.0)) for a in arrays))


def coupled(robot: cld.Robot) -> set[str]:
    """Joints at which gears or couplings push."""
    components = [c for c in robot.mechanism.components if c.couplings]
    return {name for c in components for x in c.couplings for name in (x.joint, *x.terms)}


def check_equilibrium(motions: Motions, own: Array | float = 0.0) -> None:
    """``own`` (N, n): friction and rotors, which push in the joints beside the actuators."""
    robot, wrenches = motions.robot, pushed(motions)
    own = np.broadcast_to(own, motions.state.qd.shape)
    for i in range(min(len(motions.y), 5)):
        loads, tau, joints = in_pinocchio(motions, i, wrenches)
        size = largest(joints)
        assert np.max(np.abs(loads.wrenches[: len(joints)] - joints)) <= EXACT * size
        driven = np.zeros(robot.n)
        driven[robot.actuator_rows[1]] = loads.tau_u
        left = (driven - own[i] - tau)[motions.oracle.base_dof :]
        names = robot.names.spanning[bool(motions.oracle.base_dof) :]
        free = [name not in coupled(robot) for name in names]
        assert np.max(np.abs(left[free]), initial=0.0) <= EXACT * size
        # Gears do no work.
        work = motions.G[i].T[motions.oracle.base_dof :, motions.oracle.base_dof :] @ left
        assert np.max(np.abs(work), initial=0.0) <= EXACT * largest(size * motions.G[i])


@every_robot
def test_every_body_is_in_equilibrium(name: str) -> None:
    check_equilibrium(shipped_motions(name))


@pytest.mark.parametrize("which", range(len(ROBOTS)))
def test_friction_rotors_gears_and_a_free_base_are_in_equilibrium(which: int) -> None:
    built, motions = random_robot(which)
    base, s = motions.oracle.base_dof, motions.state
    own = np.zeros(s.qd.shape)
    for row, qd in zip(own, s.qd, strict=True):
        row[base:] = built.friction(motions.oracle.names, qd[base:])
    own += motions.oracle.from_pinocchio_v(motions.oracle.model.armature) * s.qdd
    motions.oracle.model.armature[:] = 0.0  # Pinocchio's RNEA counts it as a force of the joint
    check_equilibrium(motions, own)


@every_robot
def test_determined_cut_wrenches_are_those_of_the_multipliers(name: str) -> None:
    motions, wrenches = shipped_motions(name), pushed(shipped_motions(name))
    robot, oracle, s = motions.robot, motions.oracle, motions.state
    compared = 0
    for i in range(min(len(motions.y), 5)):
        y, yd, ydd = motions.y[i], motions.yd[i], motions.ydd[i]
        tau_u = robot.inverse_dynamics(y, yd, ydd, wrenches)
        # What the wrenches and the free base do by themselves, the KKT system finds out.
        loads = robot.internal_loads(y, yd, None, tau_u, wrenches)
        tau = np.zeros(robot.n)
        tau[robot.actuator_rows[1]] = tau_u
        _, multipliers = oracle.forward_dynamics(s.q[i], s.qd[i], tau, motions.idle, wrenches)
        expected = oracle.cut_wrenches(s.q[i], multipliers)
        size = largest(*expected.values()) if expected else 1.0
        for pin, wrench, open_ in zip(loads.pins, loads.wrenches, loads.undetermined, strict=True):
            if pin.cut:
                off = np.abs(wrench - expected[pin.name])[~open_]
                assert np.max(off, initial=0.0) <= 1e-7 * size, pin.name
                compared += len(off)
    assert compared or not robot.branches


def test_undetermined_components_are_marked_and_of_minimum_norm() -> None:
    motions = shipped_motions("rh5_leg")
    robot, wrenches = motions.robot, pushed(motions)
    loads = robot.internal_loads(motions.y[0], motions.yd[0], motions.ydd[0], wrenches=wrenches)
    across = loads.undetermined[loads.names.index("knee_cylinder_rod~shank")]
    assert across.tolist() == [False, False, False, False, True, False]  # TY of the planar loop
    assert loads["knee_cylinder_rod~shank"][4] == pytest.approx(0.0, abs=1e-9)
    assert not loads.undetermined[loads.names.index("hip_yaw")].any()
    assert not loads.axial_undetermined.any()
    assert not shipped("crank_leg").internal_loads([0.1, 0.5, 0.1]).undetermined.any()
