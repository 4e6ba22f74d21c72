"""Inverse OSIM, inverse mass matrix and test forces as users run them: compiled, in batches."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.figures import relative

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("crank_leg", "rh5_leg")
#: Links on different branches, on one cluster, on the root, and one that is fixed to another.
CRANK_LINKS = ["foot", "base_link", "shank", "knee_cylinder_rod", "foot"]


@cache
def shipped(name: str) -> cld.Robot:
    return cld.load(ROOT / "urdf" / f"{name}.urdf", ROOT / "config" / f"{name}.yaml")


def projected(robot: cld.Robot, links: list[str], y: Array) -> Array:
    """J M_y^-1 J^T of a batch."""
    J = np.concatenate([robot.jacobian(link, y) for link in links], axis=-2)
    return np.asarray(J @ np.linalg.solve(robot.mass_matrix(y), np.swapaxes(J, -1, -2)))


def check_all(robot: cld.Robot, links: list[str]) -> None:
    y = robot.random_independent(np.random.default_rng(4), 5)
    found = np.array([robot.inverse_osim(links, row) for row in y])
    expected = np.array([projected(robot, links, row) for row in y])
    assert relative(found, expected) <= 1e-9
    inverse = np.array([robot.inverse_mass_matrix(row) for row in y])
    mass = np.array([robot.mass_matrix(row) for row in y])
    assert relative(inverse @ mass, np.tile(np.eye(robot.m), (5, 1, 1))) <= 1e-9


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_robots_agree_with_projection(name: str) -> None:
    robot = shipped(name)
    check_all(robot, list(robot.mechanism.tree.frames)[-4:])


def test_batch_equals_the_loop_over_its_samples() -> None:
    robot, rng = shipped("crank_leg"), np.random.default_rng(2)
    y, wrench = robot.random_independent(rng, 9), rng.normal(size=(9, 6))
    for name, size in (("inverse_mass_matrix", robot.m), ("inverse_osim", 30)):
        first = (CRANK_LINKS,) if name == "inverse_osim" else ()
        method = getattr(robot, name)
        batch = method(*first, y)
        assert batch.shape == (9, size, size)
        assert relative(batch, np.array([method(*first, row) for row in y])) <= 1e-12
    whole = robot.apply_test_force("foot", wrench, y)
    factors = robot.mass_matrix_factors(y)
    assert whole.ydd.shape == (9, robot.m) and whole.acceleration.shape == (9, 6)
    for i in range(9):
        one = robot.apply_test_force("foot", wrench[i], y[i])
        np.testing.assert_allclose(whole.ydd[i], one.ydd, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(whole.acceleration[i], one.acceleration, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(factors.W[i], robot.mass_matrix_factors(y[i]).W, atol=1e-12)
    fixed_force = robot.apply_test_force("foot", wrench[0], y)
    np.testing.assert_allclose(fixed_force.ydd[0], whole.ydd[0], rtol=1e-10, atol=1e-12)


def test_blocks_stand_in_the_order_of_the_links_and_may_repeat() -> None:
    robot = shipped("crank_leg")
    y = robot.random_independent(np.random.default_rng(3))
    whole = robot.inverse_osim(CRANK_LINKS, y).reshape(5, 6, 5, 6).swapaxes(1, 2)
    foot, shank = robot.inverse_osim(["foot"], y), robot.inverse_osim(("shank", "foot"), y)
    np.testing.assert_allclose(whole[0, 0], foot, atol=1e-12 * np.abs(foot).max())
    np.testing.assert_allclose(whole[0, 4], whole[0, 0], atol=0.0)
    np.testing.assert_allclose(whole[2, 0], shank[:6, 6:], atol=1e-12 * np.abs(shank).max())
    assert not np.any(whole[1]) and not np.any(whole[:, 1])  # the root does not move


def test_a_force_on_the_root_moves_nothing() -> None:
    robot = shipped("crank_leg")
    y = robot.random_independent(np.random.default_rng(3))
    response = robot.apply_test_force("base_link", np.ones(6), y)
    assert not np.any(response.ydd) and not np.any(response.acceleration)


def test_guess_chooses_the_assembly_mode() -> None:
    robot = shipped("crank_leg")
    y = robot.random_independent(np.random.default_rng(5))
    q = robot.state(y).q
    near = robot.inverse_osim(["foot"], y, guess=q)
    np.testing.assert_allclose(near, robot.inverse_osim(["foot"], y), rtol=1e-8, atol=1e-9)
    inverse = robot.inverse_mass_matrix(y, guess=q)
    np.testing.assert_allclose(inverse, robot.inverse_mass_matrix(y), rtol=1e-8, atol=1e-9)


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (["fot"], "did you mean 'foot'"),
        (["foot", 3], "no link '3'"),
        ([], "empty"),
        ("foot", "list of link names"),
        (None, "list of link names"),
        (7, "list of link names"),
        ({"foot": 1.0}, "list of link names"),
        ([["foot"]], "no link"),
    ],
)
def test_bad_links_are_refused(links: Any, message: str) -> None:
    with pytest.raises(cld.InvalidInput, match=message):
        shipped("crank_leg").inverse_osim(links, np.zeros(3))


@pytest.mark.parametrize("link", ["fot", None, 3, ["foot"]])
def test_test_force_on_an_unknown_link_is_refused(link: Any) -> None:
    with pytest.raises(cld.InvalidInput, match="no link"):
        shipped("crank_leg").apply_test_force(link, np.zeros(6), np.zeros(3))


@pytest.mark.parametrize("bad", [np.zeros(5), np.zeros((2, 2, 2)), [np.nan] * 6, "force", None])
def test_bad_wrench_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(cld.InvalidInput, match="wrench"):
        shipped("crank_leg").apply_test_force("foot", bad, np.zeros(3))


@pytest.mark.parametrize("bad", [np.zeros(2), [np.nan, 0.0, 0.0], "y", None])
def test_bad_positions_are_refused_by_name(bad: Any) -> None:
    robot = shipped("crank_leg")
    calls = (
        lambda: robot.inverse_osim(["foot"], bad),
        lambda: robot.inverse_mass_matrix(bad),
        lambda: robot.mass_matrix_factors(bad),
        lambda: robot.apply_test_force("foot", np.zeros(6), bad),
    )
    for call in calls:
        with pytest.raises(cld.InvalidInput, match="y"):
            call()


def test_batches_of_different_length_are_refused() -> None:
    with pytest.raises(cld.InvalidInput, match="different length"):
        shipped("crank_leg").apply_test_force("foot", np.zeros((2, 6)), np.zeros((3, 3)))


def test_massless_cluster_is_named_only_where_it_matters() -> None:
    """Two arms on a fixed base, one of them without mass: the other one still answers."""
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="base"/><child link="{name}_arm"/>'
        '<axis xyz="0 1 0"/></joint>'
        for name in "ab"
    )
    robot = cld.load(
        '<robot name="two"><link name="base"/><link name="a_arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        f'<link name="b_arm"/>{joints}</robot>'
    )
    good = robot.inverse_osim(["a_arm"], np.zeros(2))
    assert np.isclose(good[1, 1], 1.0)
    for call in (
        lambda: robot.inverse_osim(["a_arm", "b_arm"], np.zeros(2)),
        lambda: robot.apply_test_force("b_arm", np.ones(6), np.zeros(2)),
        lambda: robot.inverse_mass_matrix(np.zeros(2)),
    ):
        with pytest.raises(cld.SingularInertia, match="b_arm"):
            call()
