"""MJCF that we write against MuJoCo: its equalities, its inertia and its forces, and its motion."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.figures import relative
from support.written import NAMES, as_mjcf, robot

from closed_loop_dynamics import Robot
from tools.oracles.files import Array
from tools.oracles.mjcf import STEP, MjcfOracle

every_robot = pytest.mark.parametrize("name", NAMES)
#: Time between two forces [s].
CYCLE = 1e-3


def loop_jacobian(loaded: Robot, y: Array) -> Array:
    """(n, m): columns are states at unit velocities."""
    return np.column_stack([loaded.state(y, axis).qd for axis in np.eye(loaded.m)])


@every_robot
def test_equalities_inertia_and_forces(name: str) -> None:
    loaded, oracle = robot(name), as_mjcf(name)
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


@every_robot
def test_two_seconds_of_motion(name: str) -> None:
    """From the same state, under the same controller, each engine by itself.

    MuJoCo's equalities are soft. With Runge-Kutta steps of 0.25 ms and gaps that close within two
    of them its motion is next to that of hard loops; limits, which only MuJoCo has, are off.
    Without a controller most of these mechanisms fall out of their working range, or stand on
    their heads; those with a free base have none, and tumble.
    """
    loaded, oracle = robot(name), as_mjcf(name)
    model, data = oracle.model, oracle.data
    model.opt.timestep, model.opt.integrator = CYCLE / 4, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.tolerance, model.opt.iterations = 1e-14, 200
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    model.jnt_actfrclimited[:] = 0
    model.eq_solref[:, 0] = CYCLE / 2
    rng = np.random.default_rng(5)
    y, *others = loaded.random_independent(rng, 9)
    ways = [loaded.difference(y, other) for other in others]
    goal = loaded.integrate(y, 0.3 * max(ways, key=lambda way: float(np.linalg.norm(way))))
    yd, start = oracle.free * rng.uniform(-0.1, 0.1, loaded.m), y
    place(oracle, loaded, y, yd)
    drives = [model.actuator(joint).id for joint in loaded.names.actuator]

    def efforts(y: Array, yd: Array) -> Array:
        if oracle.free:
            return np.zeros(loaded.p)
        return loaded.inverse_dynamics(y, yd, 12.0 * loaded.difference(y, goal) - 3.0 * yd)

    worst = moved = 0.0
    for cycle in range(2000):
        tau = efforts(y, yd)
        data.ctrl[drives] = efforts(*independent(oracle, loaded))
        for _ in range(4):
            mujoco.mj_step(model, data)
        y, yd = loaded.step(y, yd, tau, CYCLE / 2, steps=2)
        if cycle % 50 == 49:
            gap = loaded.state(y).q - positions(oracle, loaded)
            worst = max(worst, float(np.max(np.abs(gap))))
            moved = max(
                moved, float(np.max(np.abs(loaded.difference(start, y)[6 * oracle.free :])))
            )
    assert moved > 0.05
    assert worst <= 1e-4


def place(oracle: MjcfOracle, loaded: Robot, y: Array, yd: Array) -> None:
    mujoco.mj_resetData(oracle.model, oracle.data)
    state = loaded.state(y, yd)
    oracle.place(state.q, state.qd)


def positions(oracle: MjcfOracle, loaded: Robot) -> Array:
    """(n_q,) where MuJoCo has the joints, in our order and words."""
    model, qpos = oracle.model, oracle.data.qpos
    names = loaded.names.spanning[int(oracle.free) :]
    joints = [qpos[model.joint(name).qposadr[0]] for name in names]
    base = qpos[[0, 1, 2, 4, 5, 6, 3]] if oracle.free else ()
    return np.concatenate([base, joints])


def independent(oracle: MjcfOracle, loaded: Robot) -> tuple[Array, Array]:
    """y and yd of MuJoCo's state; it has the base's velocity in the world."""
    names = loaded.names.independent[int(oracle.free) :]
    joints = [oracle.model.joint(name) for name in names]
    qpos, qvel = oracle.data.qpos, oracle.data.qvel
    y = [qpos[joint.qposadr[0]] for joint in joints]
    yd = [qvel[joint.dofadr[0]] for joint in joints]
    if not oracle.free:
        return np.array(y), np.array(yd)
    quaternion = qpos[[4, 5, 6, 3]]
    forward = Rotation.from_quat(quaternion).inv().apply(qvel[:3])
    return np.concatenate([qpos[:3], quaternion, y]), np.concatenate([qvel[3:6], forward, yd])
