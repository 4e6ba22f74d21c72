"""MJCF that we write against MuJoCo: its equalities, its inertia and its forces, at speed."""

from __future__ import annotations

import numpy as np
import pytest
from support.backend import traced_only
from support.figures import relative
from support.written import NAMES, mujoco_of, robot

from closed_loop_dynamics import Robot
from tools.oracles.files import Array
from tools.oracles.mjcf import STEP

__all__ = ["traced_only"]
pytestmark = pytest.mark.usefixtures("traced_only")
every_robot = pytest.mark.parametrize("name", NAMES)


def loop_jacobian(loaded: Robot, y: Array) -> Array:
    """(n, m): columns are states at unit velocities."""
    return np.column_stack([loaded.state(y, axis).qd for axis in np.eye(loaded.m)])


@every_robot
def test_equalities_inertia_and_forces(name: str) -> None:
    loaded = robot(name)
    oracle = mujoco_of(loaded)
    rng = np.random.default_rng(3)
    rest = np.zeros(loaded.m)
    for y in loaded.random_independent(rng, 3):
        yd = rng.uniform(-1.0, 1.0, loaded.m)
        state = loaded.state(y, yd, rest)
        G, g = loop_jacobian(loaded, y), state.qdd
        phi, K = oracle.rows(state.q)
        assert len(phi) or loaded.n == loaded.m
        assert np.max(np.abs(phi), initial=0.0) <= 1e-8
        assert np.max(np.abs(K @ G), initial=0.0) <= 1e-8
        rank = np.linalg.matrix_rank(K, 1e-8) if len(K) else 0
        assert rank == loaded.n - loaded.m  # no motion more, none less
        ahead, behind = (oracle.rows(oracle.moved(state.q, state.qd, s * STEP))[1] for s in (1, -1))
        rate = (ahead - behind) / (2.0 * STEP)
        assert np.max(np.abs(K @ g + rate @ state.qd), initial=0.0) <= 2e-7  # differences
        M = oracle.mass_matrix(state.q)
        bias, passive = oracle.forces(state.q, state.qd)
        still, _ = oracle.forces(state.q, 0.0 * state.qd)
        forces = loaded.generalized_forces
        gravity = forces(y, rest, rest)
        assert relative(gravity, G.T @ still) <= 1e-8
        M_y = np.column_stack([forces(y, rest, axis) - gravity for axis in np.eye(loaded.m)])
        assert relative(M_y, G.T @ M @ G) <= 1e-8
        assert relative(forces(y, yd, rest), G.T @ (M @ g + bias - passive)) <= 1e-8
        tau = rng.uniform(-3.0, 3.0, loaded.p)
        drive = np.zeros(loaded.n)
        drive[loaded.actuator_rows[1]] = tau
        expected = np.linalg.solve(G.T @ M @ G, G.T @ (drive + passive - bias - M @ g))
        assert relative(loaded.forward_dynamics(y, yd, tau), expected) <= 1e-8
