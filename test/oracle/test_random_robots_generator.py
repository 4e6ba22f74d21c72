"""Every random robot is what it claims: loadable, closed at q = 0, regular over its box."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest
import yaml
from support.random_robots import INGREDIENTS, random_robot, sample_base_states, sample_states

from tools.oracles.assembly import assemble, loop_jacobian

SEEDS = range(40)
every_seed = pytest.mark.parametrize("seed", SEEDS)


@every_seed
def test_robot_loads_in_pinocchio_and_is_closed_at_zero(seed: int) -> None:
    robot = random_robot(seed)
    oracle = robot.oracle()
    assert oracle.nv == len(robot.spanning) + 6 * robot.floating
    q = oracle.neutral()
    q[oracle.q_columns(robot.offsets)] = list(robot.offsets.values())
    residual = oracle.phi(q)
    assert np.max(np.abs(residual)) <= 1e-12
    # What remains free is exactly what the robot calls independent.
    G = loop_jacobian(oracle, q, robot.independent)
    assert np.linalg.matrix_rank(oracle.K(q), tol=1e-7) == oracle.nv - G.shape[1]


@every_seed
def test_box_is_reachable_and_actuators_are_regular_in_it(seed: int) -> None:
    robot = random_robot(seed)
    oracle = robot.oracle()
    limits = _limits(robot.urdf)
    samples = sample_states(robot, np.random.default_rng(seed), 4)[0]
    for y in [robot.lower, robot.upper, *samples]:
        q = assemble(oracle, dict(zip(robot.independent, y, strict=True)))
        assert np.max(np.abs(oracle.phi(q))) < 1e-10
        for name, (lower, upper) in limits.items():
            assert lower - 1e-9 <= q[oracle.q_columns([name])[0]] <= upper + 1e-9, name
        G = loop_jacobian(oracle, q, robot.independent)[:, oracle.base_dof :]
        np.testing.assert_allclose(oracle.K(q) @ G, 0.0, atol=1e-8)
        G_u = G[oracle.columns(robot.active)]
        assert G_u.shape == (len(robot.independent),) * 2
        scaled = G_u / np.linalg.norm(G_u, axis=1, keepdims=True)
        assert np.linalg.svd(scaled, compute_uv=False)[-1] > 1e-3


def _limits(urdf: str) -> dict[str, tuple[float, float]]:
    found = {}
    for joint in ET.fromstring(urdf).findall("joint"):
        limit = joint.find("limit")
        if limit is not None:
            found[joint.get("name", "")] = (float(limit.get("lower")), float(limit.get("upper")))
    return found


def test_seeds_cover_every_ingredient_on_fixed_and_floating_bases() -> None:
    robots = [random_robot(seed) for seed in SEEDS]
    uses = [(kind, robot.floating) for robot in robots for kind in robot.ingredients]
    assert all((kind, floating) in uses for kind in INGREDIENTS for floating in (False, True))
    count = Counter(kind for kind, _ in uses)
    assert all(count[kind] >= 3 for kind in INGREDIENTS), count
    assert any(robot.active != robot.independent for robot in robots)


def test_same_seed_same_robot() -> None:
    again = random_robot.__wrapped__(5)
    assert (again.urdf, again.yaml) == (random_robot(5).urdf, random_robot(5).yaml)


@every_seed
def test_file_names_only_joints_of_the_robot(seed: int) -> None:
    robot = random_robot(seed)
    for entry in yaml.safe_load(robot.yaml)["submechanisms"]:
        spanning = set(entry["jointnames_spanningtree"])
        assert spanning <= set(robot.spanning)
        assert set(entry["jointnames_independent"]) <= spanning & set(robot.independent)
        assert set(entry["jointnames_active"]) <= spanning & set(robot.active)
        assert len(entry["jointnames_active"]) == len(entry["jointnames_independent"])


def test_sampled_states_are_in_the_box_and_moving() -> None:
    robot = random_robot(4)
    y, yd, ydd = sample_states(robot, np.random.default_rng(0), 20)
    assert y.shape == yd.shape == ydd.shape == (20, len(robot.independent))
    assert np.all((robot.lower <= y) & (y <= robot.upper))
    assert np.min(np.abs(yd)) > 0.1
    pose, velocity, acceleration = sample_base_states(np.random.default_rng(0), 3)
    np.testing.assert_allclose(np.linalg.norm(pose[:, 3:], axis=1), 1.0)
    assert velocity.shape == acceleration.shape == (3, 6)
