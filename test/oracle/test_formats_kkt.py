"""Robots in other formats against Pinocchio: a KKT system on the tree, at speed.

The rows of the KKT system come from a reading of the files that shares no code with the package.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support import figures, onshape, sdf, urdf_constraint, urdf_plus
from support.figures import Motions, relative
from support.published import ZOO, needs_zoo

import closed_loop_dynamics as cld
from tools.oracles.onshape import onshape_oracle
from tools.oracles.sdf import sdf_oracle
from tools.oracles.urdf_constraint import urdf_constraint_oracle
from tools.oracles.urdf_plus import urdf_plus_oracle

COUNT = 25
FLYERS = ("flight", "base_to_floating_base")
PUBLISHED = ("six_bar", "mini_cheetah", "onshape_5bar", "onshape_digit_like")
every_robot = pytest.mark.parametrize(
    "name",
    [
        *(*urdf_plus.ROBOTS, *onshape.ROBOTS, *urdf_constraint.ROBOTS, *sdf.ROBOTS),
        *(pytest.param(name, marks=needs_zoo) for name in PUBLISHED),
    ],
)


@cache
def motions_of(name: str) -> Motions:
    """25 motions of a robot, loaded by what its authors wrote."""
    if name in onshape.ROBOTS or name.startswith("onshape"):
        return _onshape(name)
    if name in urdf_constraint.ROBOTS or name in sdf.ROBOTS:
        text = (urdf_constraint.ROBOTS | sdf.ROBOTS)[name]
        robot = cld.load(text)
        read = sdf_oracle if name in sdf.ROBOTS else urdf_constraint_oracle
        oracle = read(text, robot.names.spanning)
        return Motions.random(robot, oracle, COUNT, 5, batch=False)
    source = urdf_plus.ROBOTS.get(name, ZOO / "urdf_plus" / f"{name}.urdf")
    robot = cld.load(source)
    spanning = [joint for joint in robot.names.spanning if joint not in FLYERS]
    return Motions.random(robot, urdf_plus_oracle(source, spanning), COUNT, 5, batch=False)


def _onshape(name: str) -> Motions:
    files = onshape.ROBOTS.get(name, tuple(ZOO / name / f"robot.{end}" for end in ("urdf", "yaml")))
    robot = cld.load(*files)
    couplings = [c for entry in robot.mechanism.entries for c in entry.couplings]
    held = {c.joint: c.offset for c in couplings if not c.terms}
    return Motions.random(
        robot, onshape_oracle(*files, robot.names.spanning, held), COUNT, 5, batch=False
    )


@every_robot
def test_the_loops_and_gears_hold_at_speed(name: str) -> None:
    motions = motions_of(name)
    assert figures.loop_residual(motions) <= 1e-9
    assert figures.loop_jacobian_residual(motions) <= 1e-9
    assert figures.loop_bias_residual(motions) <= 1e-8
    assert figures.motion_residual(motions) <= 1e-10


@every_robot
def test_the_mass_matrix_is_that_of_the_tree_reduced(name: str) -> None:
    motions = motions_of(name)
    M = motions.each(lambda q, qd, qdd: motions.oracle.mass_matrix(q))
    expected = np.einsum("sij,sik,skl->sjl", motions.G, M, motions.G)
    assert relative(motions.call("mass_matrix", motions.y), expected) <= 1e-8


@every_robot
def test_gravity_and_coriolis_forces_are_those_of_the_tree_reduced(name: str) -> None:
    motions = motions_of(name)
    forces = motions.each(
        lambda q, qd, qdd: motions.oracle.inverse_dynamics_tree(q, 0 * qd, 0 * qd)
    )
    assert relative(motions.call("gravity", motions.y), figures.reduced(motions, forces)) <= 1e-8
    moving = np.array(
        [
            motions.oracle.inverse_dynamics_tree(q, qd, g)
            for q, qd, g in zip(motions.state.q, motions.state.qd, motions.g, strict=True)
        ]
    )
    found = motions.call("bias", motions.y, motions.yd)
    assert relative(found, figures.reduced(motions, moving)) <= 1e-8


@every_robot
def test_forward_dynamics_agrees_with_the_kkt_system(name: str) -> None:
    motions = motions_of(name)
    tau_u = np.random.default_rng(6).uniform(-20.0, 20.0, (COUNT, motions.robot.p))
    found = motions.forward_dynamics(tau_u)
    assert relative(found, figures.kkt_accelerations(motions, tau_u)) <= 1e-8
