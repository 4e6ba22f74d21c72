"""What the viewer computes before anything is drawn: poses, forces, loops, ranges, colours."""

from __future__ import annotations

import re

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.quantities.links import body_poses
from closed_loop_dynamics.viewer.colors import BEYOND, NEUTRAL, force_color, force_scales, legend
from closed_loop_dynamics.viewer.plots import holding_forces
from closed_loop_dynamics.viewer.reach import joint_ranges
from closed_loop_dynamics.viewer.scene import quaternion
from closed_loop_dynamics.viewer.snapshot import Camera
from tools.robots import crank_leg
from tools.robots.mechanisms import MECHANISMS

Y = np.array([-0.4, 0.8, -0.3])


@pytest.fixture(scope="module")
def flying() -> cld.Robot:
    return cld.load(*crank_leg.generate(), floating_base=True)


@pytest.mark.parametrize("base", [False, True])
def test_bodies_are_where_the_robot_says(leg: cld.Robot, flying: cld.Robot, base: bool) -> None:
    robot = flying if base else leg
    y = robot.random_independent(np.random.default_rng(5), 4)
    poses = body_poses(robot.mechanism, robot.state(y).q)
    for b, body in enumerate(robot.mechanism.tree.bodies):
        np.testing.assert_allclose(poses[:, b], robot.pose(body.link, y), atol=1e-12)


def test_standing_robot_has_closed_loops_and_holding_forces(leg: cld.Robot, camera: Camera) -> None:
    shot = camera.standing(Y)
    assert shot.residual < 1e-12
    assert all(np.linalg.norm(a - b) < 1e-12 for a, b in shot.cuts) and len(shot.cuts) == 2
    assert all(loop.on_branch for loop in shot.loops.values())
    np.testing.assert_allclose(shot.tau @ leg.actuator_jacobian(Y), leg.gravity(Y), atol=1e-9)
    state = leg.state(Y)
    for name, loop in shot.loops.items():
        assert loop.singular_value == pytest.approx(state.singular_values[name])


def test_another_assembly_mode_and_an_open_loop_are_seen(leg: cld.Robot, camera: Camera) -> None:
    other = next(m for m in leg.submechanism("ankle").assembly_modes([-0.3]) if not m.current)
    q = leg.state(Y).q.copy()
    for name, value in other.positions.items():
        q[leg.names.spanning.index(name)] = value
    shot = camera.at(q, None, "")
    assert shot.loops["knee"].on_branch and not shot.loops["ankle"].on_branch
    assert shot.residual < 1e-9
    q[leg.names.spanning.index("knee_cylinder")] += 0.01
    shot = camera.at(q, None, "")
    gap = max(float(np.linalg.norm(a - b)) for a, b in shot.cuts)
    assert shot.loops["knee"].residual > 5e-3 and gap == pytest.approx(0.01, rel=1e-6)
    np.testing.assert_allclose(shot.y, Y)


def test_ranges_end_where_the_loop_or_the_limits_end(leg: cld.Robot) -> None:
    ranges = joint_ranges(leg)
    assert list(ranges) == list(leg.names.independent)
    assert ranges["hip"] == (-1.4, 0.8)
    low, high = ranges["knee"]
    knee = leg.submechanism("knee")
    assert knee.allows([low]) and knee.allows([high])
    assert not knee.allows([low - 1e-6]) and not knee.allows([high + 1e-6])


def test_ranges_of_two_joints_in_one_loop_enclose_what_is_reachable() -> None:
    robot = cld.load(*MECHANISMS["spu2_u"].build())
    ranges = joint_ranges(robot)
    name = next(iter(robot.branches.values())).name
    boundary = robot.submechanism(name).reachable_boundary(12)
    steps = next(iter(robot.branches.values())).seeds.step
    for k, (low, high) in enumerate(ranges.values()):
        assert low < boundary[:, k].min() + steps[k] and high > boundary[:, k].max() - steps[k]


def test_underactuated_robot_says_why_it_has_no_forces() -> None:
    urdf, text = MECHANISMS["spu2_u"].build()
    robot = cld.load(
        urdf, text.replace("jointnames_active: [left, right]", "jointnames_active: [left]")
    )
    shot = Camera(robot).standing(np.zeros(2))
    assert shot.tau is None and "fewer actuators" in shot.note


def test_forces_over_one_joint_have_gaps_where_it_cannot_go(leg: cld.Robot) -> None:
    x, tau = holding_forces(leg, Y, "ankle", 0.0, 2.5)
    k = int(np.argmin(np.abs(x - 0.3)))
    y = Y.copy()
    y[2] = x[k]
    np.testing.assert_allclose(tau[k], leg.inverse_dynamics(y, 0 * y, 0 * y))
    assert np.isfinite(tau[0]).all() and np.isnan(tau[-1]).all()


def test_colours_tell_sign_size_and_excess(leg: cld.Robot) -> None:
    assert force_color(0.0) == force_color(np.nan) == NEUTRAL
    red, blue = force_color(0.5), force_color(-0.5)
    assert red[0] > red[2] + 60 and blue[2] > blue[0] + 60
    assert force_color(0.9)[1] < force_color(0.1)[1]
    assert force_color(1.2) == force_color(-1.2) == BEYOND
    # words in purple are not read on a dark page
    assert re.findall(r"[^-]color:[^>]*>([^<]*)", legend(leg)) == ["■"]
    efforts = [leg.mechanism.tree.bodies[b].joint.effort for b in leg.mechanism.actuator]
    np.testing.assert_array_equal(force_scales(leg), efforts)
    free = cld.load(*MECHANISMS["four_bar"].build())
    assert np.all(np.isfinite(force_scales(free))) and np.all(force_scales(free) > 0)


def test_quaternions_of_rotations() -> None:
    for axis in (*np.eye(3), np.array([0.6, 0.0, -0.8])):
        for angle in (0.0, 1e-9, 1.0, np.pi - 1e-9, np.pi, 4.0):
            w, *v = quaternion(_turn(axis, angle))
            expected = np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) * axis)])
            np.testing.assert_allclose(abs(expected @ [w, *v]), 1.0, atol=1e-12)


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)
