"""Inverse OSIM, inverse mass matrix and test forces of random robots, against projection.

Robots are loaded as in the other tests, so that their compiled parts come from the cache; the
programs of this file are traced only: CasADi's machine runs the same instructions and starts at
once. Compiled ones are in ``test_operational_space_compiled.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.figures import relative
from support.random_robots import random_robot
from support.rh5 import FILES, kinds

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from tools.robots.mechanisms import MECHANISMS

SEEDS = range(24)
every_seed = pytest.mark.parametrize("seed", SEEDS)
some_seeds = pytest.mark.parametrize("seed", [1, 2, 5, 16, 19, 20])


@pytest.fixture(autouse=True, scope="module")
def traced_only() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLOSED_LOOP_DYNAMICS_BACKEND", "vm")
        yield


def load(urdf: str | Path, submechanisms: str | Path, **options: Any) -> cld.Robot:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CLOSED_LOOP_DYNAMICS_BACKEND")
        return cld.load(urdf, submechanisms, **options)


@cache
def loaded(seed: int) -> cld.Robot:
    drawn = random_robot(seed)
    solver = "numerical" if seed % 4 < 2 else "auto"
    return load(drawn.urdf, drawn.yaml, floating_base=drawn.floating, solver=solver)


def all_links(robot: cld.Robot) -> list[str]:
    return list(robot.mechanism.tree.frames)


def projected(robot: cld.Robot, links: list[str], y: Array) -> Array:
    """J M_y^-1 J^T."""
    J = np.vstack([robot.jacobian(link, y) for link in links])
    return np.asarray(J @ np.linalg.solve(robot.mass_matrix(y), J.T))


@every_seed
def test_inverse_osim_is_the_projected_one(seed: int) -> None:
    """Any frames in any order: the root, fixed links, several on one body, cluster or branch."""
    robot, rng = loaded(seed), np.random.default_rng(seed)
    links = [str(link) for link in rng.permutation(all_links(robot))[:8]]
    for y in robot.random_independent(rng, 3):
        found = robot.inverse_osim(links, y)
        assert relative(found[None], projected(robot, links, y)[None]) <= 1e-9
        assert np.array_equal(found, found.T)


@every_seed
def test_inverse_mass_matrix_inverts_the_mass_matrix(seed: int) -> None:
    robot, rng = loaded(seed), np.random.default_rng(seed)
    for y in robot.random_independent(rng, 3):
        M, inverse = robot.mass_matrix(y), robot.inverse_mass_matrix(y)
        assert relative((inverse @ M)[None], np.eye(robot.m)[None]) <= 1e-9
        assert relative(inverse[None], np.linalg.inv(M)[None]) <= 1e-9
        assert np.array_equal(inverse, inverse.T)


@some_seeds
def test_mass_matrix_is_the_product_of_its_factors(seed: int) -> None:
    robot, rng = loaded(seed), np.random.default_rng(seed)
    y, m = robot.random_independent(rng), robot.m
    M, factors = robot.mass_matrix(y), robot.mass_matrix_factors(y)
    outer = np.linalg.inv(factors.W)
    assert relative((outer @ factors.D @ outer.T)[None], M[None]) <= 1e-9
    assert np.all(np.linalg.eigvalsh(factors.D) > 0.0)
    assert np.isclose(np.linalg.det(factors.W), 1.0, rtol=1e-9)
    # W - 1 reaches one cluster further inwards with every power, so it ends; D stays in clusters.
    assert not np.any(np.linalg.matrix_power((np.eye(m) != factors.W) * 1.0, m))
    blocks = cluster_of_coordinate(robot)
    assert not np.any(factors.D[blocks[:, None] != blocks[None, :]])


def cluster_of_coordinate(robot: cld.Robot) -> Array:
    """(m,) which cluster every independent velocity belongs to."""
    mech = robot.mechanism
    result = np.zeros(robot.m)
    for k, cluster in enumerate(mech.clusters):
        for b in cluster.bodies:
            if b in mech.yd.at:
                width = 6 if mech.floating and b == 0 else 1
                result[mech.yd.at[b] : mech.yd.at[b] + width] = k
    return result


@some_seeds
def test_test_force_is_what_forward_dynamics_adds_for_a_wrench_at_speed(seed: int) -> None:
    robot, rng = loaded(seed), np.random.default_rng(seed)
    y, yd, tau = robot.random_independent(rng), rng.normal(size=robot.m), rng.normal(size=robot.p)
    for link in [str(link) for link in rng.permutation(all_links(robot))[:2]]:
        wrench = rng.uniform(-5.0, 5.0, 6)
        response = robot.apply_test_force(link, wrench, y)
        with_it = robot.forward_dynamics(y, yd, tau, wrenches={link: wrench})
        added = with_it - robot.forward_dynamics(y, yd, tau)
        scale = np.max(np.abs(with_it))
        np.testing.assert_allclose(response.ydd, added, rtol=0.0, atol=1e-9 * max(1.0, scale))
        expected = robot.inverse_osim([link], y) @ wrench
        assert relative(response.acceleration[None], expected[None]) <= 1e-9


@some_seeds
def test_inverse_osim_agrees_with_the_kkt_system_of_the_tree(seed: int) -> None:
    """Nothing of ours in it but the names: M, K and J by Pinocchio."""
    robot, rng = loaded(seed), np.random.default_rng(seed)
    drawn = random_robot(seed)
    oracle: Any = drawn.oracle(robot.names.spanning[drawn.floating :])
    links = [str(link) for link in rng.permutation(all_links(robot))[:4]]
    y = robot.random_independent(rng)
    q = robot.state(y).q
    M, K = oracle.mass_matrix(q), oracle.K(q)
    J = np.vstack([oracle.jacobian(link, q) for link in links])
    rows = np.zeros((len(K), len(K)))
    kkt = np.block([[M, K.T], [K, rows]])
    right = np.vstack([J.T, np.zeros((len(K), len(J)))])
    # Least squares: some loops are closed by more rows than they need.
    qdd = np.linalg.lstsq(kkt, right, rcond=1e-11)[0][: len(M)]
    assert relative(robot.inverse_osim(links, y)[None], (J @ qdd)[None]) <= 1e-8


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_every_mechanism_of_the_library(name: str) -> None:
    robot, rng = load(*MECHANISMS[name].build()), np.random.default_rng(3)
    links = all_links(robot)[-3:]
    y = 0.8 * robot.random_independent(rng)
    assert relative(robot.inverse_osim(links, y)[None], projected(robot, links, y)[None]) <= 1e-9
    product = robot.inverse_mass_matrix(y) @ robot.mass_matrix(y)
    assert relative(product[None], np.eye(robot.m)[None]) <= 1e-9


@kinds("reduced", "full")
def test_rh5_manus(name: str) -> None:
    robot, rng = load(*FILES[name]), np.random.default_rng(1)
    links = [str(link) for link in rng.permutation(all_links(robot))[:4]]
    for y in robot.random_independent(rng, 2):
        expected = projected(robot, links, y)
        assert relative(robot.inverse_osim(links, y)[None], expected[None]) <= 1e-9
        product = robot.inverse_mass_matrix(y) @ robot.mass_matrix(y)
        assert relative(product[None], np.eye(robot.m)[None]) <= 1e-9
