"""The fastest motion along a path: closed solutions, limits kept, and always at one of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.retiming import SHARE, NotRetimed, retimed

pytest.importorskip("toppra", reason="toppra is not installed (extra `retime`)")

CART = """
<robot name="cart"><link name="rail"/><link name="cart"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/>
<axis xyz="{axis}"/><limit lower="-9" upper="9" velocity="{speed}" effort="{effort}"/></joint>
</robot>
"""
WAY = np.linspace(0.0, 1.5, 7)[:, None]


def cart(speed: float, effort: float, axis: str = "1 0 0", submechanisms: str | None = None):
    return cld.load(CART.format(speed=speed, effort=effort, axis=axis), submechanisms, prepare=())


@pytest.mark.parametrize(
    ("speed", "seconds"),
    [
        (100.0, 2.0 * np.sqrt(1.5 / (SHARE * 5.0))),  # full effort forwards, full effort backwards
        (1.0, 1.5 / SHARE + SHARE / (SHARE * 5.0)),  # up to the speed limit, along it, and down
    ],
)
def test_a_cart_takes_as_long_as_the_closed_solution(speed: float, seconds: float) -> None:
    motion = retimed(cart(speed, 10.0), WAY, 0.01)
    assert motion.times[-1] == pytest.approx(seconds, rel=3e-3)
    np.testing.assert_allclose(motion.positions[[0, -1]], [[0.0], [1.5]], atol=1e-9)
    np.testing.assert_allclose(motion.velocities[[0, -1]], 0.0, atol=1e-9)


def test_friction_is_kept_in_reserve() -> None:
    yaml = """
submechanisms:
- {name: drive, type: serial, jointnames_spanningtree: [slide], jointnames_independent: [slide],
   jointnames_active: [slide],
   actuators: {slide: {viscous_friction: 1.0, coulomb_friction: 2.0}}}
"""
    robot = cart(2.0, 10.0, submechanisms=yaml)
    motion = retimed(robot, WAY, 0.002)
    tau = robot.inverse_dynamics(motion.positions, motion.velocities, motion.accelerations)
    assert 9.0 < np.max(np.abs(tau)) <= 10.0


def test_closed_loops_are_always_at_a_limit_and_never_beyond() -> None:
    robot = shipped("crank_leg")
    path = np.linspace([-0.2, 0.4, -0.2], [-0.7, 1.4, -0.7], 9)
    motion = retimed(robot, path, 0.001)
    y, yd, ydd = motion.positions, motion.velocities, motion.accelerations
    state, tau = robot.state(y, yd, ydd), robot.inverse_dynamics(y, yd, ydd)
    own, driven = (
        Limits.of(robot.mechanism.tree, names)
        for names in (robot.names.independent, robot.names.actuator)
    )
    shares = np.hstack([yd / own.velocity, state.ud / driven.velocity, tau / driven.effort])
    used = np.max(np.abs(shares), axis=1)
    assert np.max(used) <= 1.0 and np.mean(used > 0.95) > 0.9
    way = cumulative_trapezoid(yd, motion.times, axis=0, initial=0.0)  # what moves is what is told
    np.testing.assert_allclose(way, y - y[0], atol=2e-4)


def test_what_cannot_be_retimed_says_why() -> None:
    with pytest.raises(NotRetimed, match="two different points"):
        retimed(cart(1.0, 10.0), np.zeros((3, 1)), 0.01)
    with pytest.raises(NotRetimed, match="'slide' cannot hold the robot 0 % along the path"):
        retimed(cart(1.0, 10.0, axis="0 0 1"), WAY, 0.01)
    with pytest.raises(NotRetimed, match="no actuator has an effort limit"):
        retimed(cart(1.0, 0.0), WAY, 0.01)
