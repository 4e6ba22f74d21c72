"""Inverse kinematics: reachable poses are found within all limits, others refused with reasons."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.quantities.least_distance import limited_step
from closed_loop_dynamics.quantities.targets import out_of_reach, read_targets
from closed_loop_dynamics.se3 import rotation_vector
from tools.reach import campaign, end_links
from tools.robots import SHIPPED

#: Those that take long to load for the first time, or have many joints.
SLOW = {
    *("rh5_manus", "rh5_manus_reduced", "rh5_humanoid", "exo_ankle", "irsbot2", "delta"),
    *("differential_humanoid", "geared_humanoid", "belt_humanoid", "geared_quadruped"),
}
every_robot = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in SHIPPED]
)


@every_robot
def test_reachable_poses_are_found_within_the_limits(name: str) -> None:
    """The whole campaign of 10^4: ``python -m tools.reach``."""
    reached = campaign(shipped(name), 30 if name in SLOW else 200)
    assert reached.found >= 0.995 * reached.tried, reached.missed
    assert reached.beyond == 0 and reached.off == 0


def test_several_links_and_positions_alone() -> None:
    robot = shipped("rh5_manus_reduced")
    y = 0.5 * robot.random_independent(np.random.default_rng(5))
    left, right = end_links(robot)
    targets = {left: robot.pose(left, y), right: robot.pose(right, y)[:3, 3]}
    found = robot.inverse_kinematics(targets)
    np.testing.assert_allclose(robot.pose(left, found), targets[left], atol=1e-7)
    np.testing.assert_allclose(robot.pose(right, found)[:3, 3], targets[right], atol=1e-7)


@pytest.mark.slow
def test_limbs_that_keep_each_other_from_their_targets_are_found_another_way() -> None:
    """The one pose of 400 of this humanoid that was missed: five links, three limbs at limits."""
    legs = [-1.42, -1.24, -0.27, -1.14, -0.14, 1.05, -0.98, 0.89, 1.49, -1.39, -0.23, 0.62]
    arms = [0.7, -0.66, 0.93, -0.39, -0.9, 0.05, 0.34, 1.01, 0.49, -1.25, 0.22, -0.47, 0.62, -1.36]
    rest = [0.47, 0.87, -1.38, -1.45, 1.18, 1.19]
    robot = shipped("geared_humanoid")
    y = np.array([*np.zeros(6), 1.0, *legs, *arms, *rest])
    targets = {link: robot.pose(link, y) for link in end_links(robot)}
    found = robot.inverse_kinematics(targets)
    for link, target in targets.items():
        np.testing.assert_allclose(robot.pose(link, found), target, atol=1e-7)


def test_a_batch_follows_a_path_and_joints_that_do_not_matter_stay() -> None:
    robot, y0 = shipped("crank_leg"), np.array([0.1, 0.5, 0.2])
    ways = y0 + np.linspace(0.0, 0.3, 5)[:, None] * [1.0, 1.0, 0.0]
    found = robot.inverse_kinematics({"shank": robot.pose("shank", ways)}, y0)
    np.testing.assert_allclose(found, ways, atol=1e-6)
    assert np.all(found[:, 2] == y0[2])
    assert robot.inverse_kinematics({"base_link": [0.0, 0.0, 0.0]}, y0).tolist() == y0.tolist()


def test_what_is_out_of_reach_says_which_link_misses_by_how_much() -> None:
    robot = shipped("crank_leg")
    with pytest.raises(cld.TargetNotReached, match="link 'foot' misses its target by") as caught:
        robot.inverse_kinematics({"foot": [3.0, 0.0, 0.0]})
    (miss,) = caught.value.misses
    at = robot.pose("foot", caught.value.y)[:3, 3]
    assert miss.distance == pytest.approx(np.linalg.norm(at - [3.0, 0.0, 0.0]), rel=1e-6)
    assert "'foot' shall be" in str(caught.value) and "m long" in str(caught.value)
    # No other positions come nearer.
    limits = Limits.of(robot.mechanism.tree, robot.names.independent)
    assert limits.outside(caught.value.y[None]) is None
    for y in robot.random_independent(np.random.default_rng(2), 300):
        distance = np.linalg.norm(robot.pose("foot", y)[:3, 3] - [3.0, 0.0, 0.0])
        assert distance > miss.distance - 1e-6


def test_no_chain_of_joints_is_shorter_than_its_links_can_be_apart() -> None:
    """Out of reach is said where it is proved, of a free base between two links."""
    for name in ("crank_leg", "geared_quadruped", "heavy_duty_arm", "six_ups"):
        robot, rng = shipped(name), np.random.default_rng(8)
        names = {*robot.names.independent, *robot.names.actuator}
        for y in robot.random_independent(rng, 20):
            targets = {link: robot.pose(link, y)[:3, 3] for link in end_links(robot)}
            read, _ = read_targets(robot.mechanism.tree, targets)
            assert out_of_reach(robot.mechanism.tree, read[0], names) == ""
    robot = shipped("geared_quadruped")
    (first, second, *_), y = end_links(robot), robot.random_independent(np.random.default_rng(8))
    apart = {first: robot.pose(first, y)[:3, 3], second: robot.pose(second, y)[:3, 3] + [9, 0, 0]}
    with pytest.raises(cld.TargetNotReached, match=f"'{first}' shall be .* away from '{second}'"):
        robot.inverse_kinematics(apart)


def test_limits_in_the_way_are_named_and_can_be_left_aside() -> None:
    robot = shipped("crank_leg")
    upper = Limits.of(robot.mechanism.tree, robot.names.independent).upper[1]
    beyond = np.array([0.0, upper + 0.05, 0.0])
    target = {"shank": robot.pose("shank", beyond)}
    with pytest.raises(cld.TargetNotReached, match="knee") as caught:
        robot.inverse_kinematics(target)
    assert any("knee" in words and "upper" in words for words in caught.value.limits)
    found = robot.inverse_kinematics(target, limits=False)
    np.testing.assert_allclose(found[:2], beyond[:2], atol=1e-6)


def test_actuators_keep_their_limits() -> None:
    """An actuator whose range ends before the joint's."""
    files = SHIPPED["crank_leg"]
    urdf, yaml = files.generate()
    whole = cld.load(urdf, yaml, prepare=())
    far = np.array([0.1, 0.9, 0.0])
    stop = float(whole.state(far).u[1])
    start, end = (float(whole.state([0.1, k, 0.0]).u[1]) for k in (0.3, 0.8))
    side = "upper" if stop > start else "lower"
    joint = urdf.index('<joint name="knee_cylinder"')
    limit = urdf.index(f'{side}="', joint) + len(side) + 2
    text = urdf[:limit] + repr(end) + urdf[urdf.index('"', limit) :]
    robot = cld.load(text, yaml, prepare=())
    near = np.array([0.1, 0.75, 0.0])
    found = robot.inverse_kinematics({"shank": whole.pose("shank", near)})
    np.testing.assert_allclose(found[:2], near[:2], atol=1e-6)
    with pytest.raises(cld.TargetNotReached, match=rf"actuator knee_cylinder \({side}"):
        robot.inverse_kinematics({"shank": whole.pose("shank", far)})


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ({"foott": [0.0, 0.0, 0.0]}, "did you mean 'foot'"),
        ({"foot": [0.0, 0.0]}, "expected a position"),
        ({"foot": 2.0 * np.eye(4)}, "not orthonormal"),
        ({"foot": [0.0, np.nan, 0.0]}, "not finite"),
        ({}, "mapping"),
        ({"foot": np.zeros((2, 3)), "shank": np.zeros((3, 3))}, "different length"),
    ],
)
def test_targets_that_are_none_are_refused(targets: dict[str, object], words: str) -> None:
    with pytest.raises(cld.InvalidInput, match=words):
        shipped("crank_leg").inverse_kinematics(targets)


def test_limited_step_is_the_bounded_least_squares_solution() -> None:
    rng = np.random.default_rng(0)
    limited = 0
    for _ in range(50):
        J, e, n = rng.normal(size=(6, 4)), rng.normal(size=6), 4
        low, high = -rng.uniform(0.01, 0.4, n), rng.uniform(0.01, 0.4, n)
        E, f = np.vstack([np.eye(n), -np.eye(n)]), np.concatenate([low, -high])
        found = limited_step(J, e, 0.01, E, f)
        stacked = np.vstack([J, 0.1 * np.eye(n)])
        right = np.concatenate([e, np.zeros(n)])
        expected = lsq_linear(stacked, right, (low, high), method="bvls", tol=1e-14).x
        np.testing.assert_allclose(found, expected, atol=1e-8)
        limited += bool(np.any(np.isclose(expected, low) | np.isclose(expected, high)))
    assert limited > 25


def test_rotation_vectors_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(60, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    angles = np.concatenate([rng.uniform(0.0, np.pi, 30), 10.0 ** -np.arange(1.0, 16.0),
                             np.pi - 10.0 ** -np.arange(1.0, 16.0)])  # fmt: skip
    for vector in angles[:, None] * axes:
        R = Rotation.from_rotvec(vector).as_matrix()
        back = Rotation.from_rotvec(rotation_vector(R)).as_matrix()
        np.testing.assert_allclose(back, R, atol=1e-8)
        assert np.linalg.norm(rotation_vector(R)) <= np.pi + 1e-12
