"""Inertias are moved inwards where they are numbers; that must not be seen from outside.

A program that takes the dynamic parameters as inputs cannot move them: both must agree.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.shipped import shipped, shipped_motions

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.dynamics.catalogue import RECIPES
from closed_loop_dynamics.dynamics.parameters import model_parameters
from closed_loop_dynamics.dynamics.regrouping import regrouped
from closed_loop_dynamics.engine.symbolic import tracing

ROBOTS = ["crank_leg", "rh5_leg", "rh5_manus_reduced", "heavy_duty_arm", "six_ups", "exo_hip"]
ROBOTS += ["geared_quadruped", "belt_humanoid", "belt_chain", "geared_chain"]
every_robot = pytest.mark.parametrize("name", ROBOTS)


def traced(robot: cld.Robot, recipe: str, *vectors: Array) -> Array:
    """Values of a program's first output, by CasADi, for rows of inputs; no loop is numerical."""
    assert not robot.mechanism.numerical
    with tracing():
        function = RECIPES[recipe].trace(robot.mechanism, recipe)
        rows = zip(*vectors, strict=True)
        return np.array([np.array(function([], *row)[0])[:, 0] for row in rows])


@every_robot
@pytest.mark.parametrize("family", ["generalized_forces", "forward_dynamics"])
def test_inertias_that_are_moved_inwards_change_no_result(name: str, family: str) -> None:
    motions = shipped_motions(name)
    robot, count = motions.robot, len(motions.y)
    given = motions.ydd if family == "generalized_forces" else motions.inverse_dynamics()
    vectors = (motions.y, motions.yd, given)
    moved = traced(robot, family, *vectors)
    pi = np.tile(model_parameters(robot.mechanism), (count, 1))
    no_wrench = np.zeros((count, 6 * len(robot.mechanism.tree.bodies)))
    still = traced(robot, f"{family}_parameters", *vectors, no_wrench, pi)
    scale = np.max(np.abs(still), axis=1, keepdims=True)
    tolerance = 1e-12 if family == "generalized_forces" else 1e-11  # times the condition of M_y
    assert np.max(np.abs(moved - still) / scale) <= tolerance


def test_bodies_on_revolute_joints_keep_no_mass_and_rotors_only_their_spin() -> None:
    mech = shipped("geared_chain").mechanism
    moved = regrouped(mech.tree)
    assert all(mass == 0.0 for mass, _, _ in moved)
    rotors = [b for b in mech.spanning if b not in mech.independent]
    assert len(rotors) == mech.m
    for b in rotors:
        _, h, inertia = moved[b]
        axis, body = mech.joint(b).axis, mech.tree.bodies[b]
        np.testing.assert_array_equal(h, 0.0)
        spin = axis @ body.inertia @ axis
        np.testing.assert_allclose(inertia, spin * np.outer(axis, axis), rtol=1e-14)
