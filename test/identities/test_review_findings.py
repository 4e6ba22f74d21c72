"""Regressions from a hostile review: leaps across gaps, rotors in loops, floating joints."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from support.four_bar import FourBar

import closed_loop_dynamics as cld

#: The loop closes for crank angles in two ranges that are mirror images, with a gap between them.
GAPPED = FourBar(1.0, 1.0, 0.5, 0.7, start=0.3)


@pytest.mark.parametrize("solver", ["auto", "numerical"])
def test_no_answer_beyond_a_gap(solver: str) -> None:
    robot = cld.load(GAPPED.urdf(), GAPPED.yaml(), solver=solver)
    high = GAPPED.toggles()[1]
    accepted = []
    for y in np.linspace(high + 0.02, high + 2.5, 200):
        try:
            robot.state([y])
        except cld.ClosureNotFound:
            continue
        accepted.append(float(y))
    assert accepted == []
    inside = np.linspace(0.0, high - 0.01, 20)[:, None]
    assert np.max(robot.state(inside).residual) < 1e-10


def test_far_turns_of_a_crank_wind_the_other_joints_as_they_should() -> None:
    mechanism = FourBar(0.3, 0.08, 0.25, 0.2)
    robot = cld.load(mechanism.urdf(), mechanism.yaml(), solver="numerical")
    near = robot.state([0.7]).q
    for turns in (-7, 30):
        far = robot.state([0.7 + 2 * np.pi * turns]).q
        np.testing.assert_allclose(
            (far - near) / (2 * np.pi), [turns, -turns, 0], atol=1e-9
        )  # the coupler turns back relative to the crank, the rocker rocks


@pytest.mark.parametrize("solver", ["auto", "numerical"])
@pytest.mark.parametrize("what", ["rotor_inertia", "viscous_friction", "coulomb_friction"])
def test_extras_of_an_actuator_inside_a_loop_count_in_all_methods(what: str, solver: str) -> None:
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
    file = yaml.safe_load(mechanism.yaml(active=("rocker",)))
    file["submechanisms"][0]["actuators"] = {"rocker": {what: 0.3}}
    robot = cld.load(mechanism.urdf(), yaml.safe_dump(file), solver=solver)
    rng = np.random.default_rng(2)
    for _ in range(5):
        y, yd, ydd = rng.uniform(-0.2, 0.2, 1), rng.normal(size=1) + 1.3, rng.normal(size=1)
        tau = robot.inverse_dynamics(y, yd, ydd)
        for method in ("cluster_aba", "projection", "lagrange"):
            found = robot.forward_dynamics(y, yd, tau, method=method)
            np.testing.assert_allclose(found, ydd, rtol=1e-9, atol=1e-9)
    plain = cld.load(mechanism.urdf(), mechanism.yaml(active=("rocker",)), solver=solver)
    assert np.abs(plain.inverse_dynamics(y, yd, ydd) - tau).max() > 1e-3


def test_two_floating_joints_are_two_loose_bodies() -> None:
    link = '<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'  # noqa: E501
    joint = '<joint name="{0}" type="floating"><parent link="base"/><child link="{1}"/></joint>'
    parts = [link.format(name) for name in ("base", "a", "b")]
    text = "".join([*parts, joint.format("fa", "a"), joint.format("fb", "b")])
    robot = cld.load(f'<robot name="two">{text}</robot>', prepare=())
    y = robot.random_independent(np.random.default_rng(2))
    assert (robot.m, len(y)) == (12, 14)
    spin = np.tile([0.3, -0.2, 0.5, 0.0, 0.0, 0.0], 2)  # of bodies whose inertia is that of a ball
    ydd = robot.forward_dynamics(y, spin, np.zeros(0))
    gravity = robot.forward_dynamics(y, np.zeros(12), np.zeros(0))
    np.testing.assert_allclose(ydd, gravity, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(ydd.reshape(2, 2, 3), axis=2), [[0, 9.81]] * 2)
