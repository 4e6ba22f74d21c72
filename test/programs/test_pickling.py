"""A robot travels as its description: other processes make it anew, and find the same numbers."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from operator import methodcaller
from typing import Any

import numpy as np
import pytest
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.shipped import shipped_robot

TENDONS = """
submechanisms:
- {name: finger, type: function, jointnames_spanningtree: [hinge, tendon],
   jointnames_independent: [hinge], jointnames_active: [tendon]}
"""
FINGER = """<robot name="finger"><link name="palm"/>
  <link name="tip"><inertial><origin xyz="0.1 0 0"/><mass value="0.2"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="pulled"/>
  <joint name="hinge" type="continuous"><parent link="palm"/><child link="tip"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="tendon" type="prismatic"><parent link="palm"/><child link="pulled"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>"""


def pull(y: Any) -> list[Any]:
    return [0.02 * y[0] + 0.001 * y[0] ** 2]


def motions(robot: cld.Robot) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(4)
    y = 0.5 * robot.random_independent(rng, 20)
    return (y, *rng.normal(size=(2, 20, robot.m)))


def work(robot: cld.Robot) -> Array:
    return robot.inverse_dynamics(*motions(robot))


@pytest.mark.parametrize("name", ["rh5_leg", "delta", "six_ups", "geared_quadruped"])
def test_a_pickled_robot_is_the_same_robot(name: str) -> None:
    robot = shipped(name)
    there = pickle.loads(pickle.dumps(robot))
    assert there.names == robot.names and there.programs.key == robot.programs.key
    np.testing.assert_array_equal(work(there), work(robot))


def test_options_travel_too() -> None:
    files = shipped_robot("crank_leg")
    robot = cld.load(
        files.urdf,
        files.submechanisms,
        floating_base=True,
        solver="numerical",
        gravity=(0.0, 1.0, -3.0),
    )
    there = copy.deepcopy(robot)
    assert there.mechanism.gravity == (0.0, 1.0, -3.0) and there.mechanism.floating
    assert len(there.mechanism.numerical) == len(there.branches) == 2


def test_functions_travel_by_their_name_or_not_at_all() -> None:
    robot = cld.load(FINGER, TENDONS, closures={"finger": pull})
    np.testing.assert_array_equal(work(pickle.loads(pickle.dumps(robot))), work(robot))
    nameless = cld.load(FINGER, TENDONS, closures={"finger": lambda y: [0.02 * y[0]]})
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(nameless)


def test_errors_travel_with_what_they_carry() -> None:
    robot = shipped("crank_leg")
    far = np.tile(0.5 * robot.random_independent(np.random.default_rng(2)), (3, 1))
    far[2] += 50.0
    with pytest.raises(cld.ClosureNotFound) as caught:
        robot.state(far)
    there = pickle.loads(pickle.dumps(caught.value))
    assert type(there) is cld.ClosureNotFound and str(there) == str(caught.value)
    assert (there.sample, there.submechanism) == (2, caught.value.submechanism)
    np.testing.assert_array_equal(there.last_good_q, caught.value.last_good_q)


@pytest.mark.slow
def test_processes_that_start_from_nothing_find_the_same_numbers() -> None:
    robot = shipped("rh5_leg")
    spawn = multiprocessing.get_context("spawn")
    ask = methodcaller("inverse_dynamics", *motions(robot))
    with ProcessPoolExecutor(2, mp_context=spawn) as pool:
        for found in pool.map(ask, [robot, robot]):
            np.testing.assert_array_equal(found, work(robot))
