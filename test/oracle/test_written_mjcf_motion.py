"""MJCF that we write, in motion: MuJoCo's simulation against ours."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.written import NAMES, mujoco_of, robot

from closed_loop_dynamics import Robot
from tools.oracles.files import Array
from tools.oracles.mjcf import MjcfOracle

#: Time between two forces [s].
CYCLE = 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_two_seconds_of_motion(name: str) -> None:
    """From the same state, under the same controller, each engine by itself.

    MuJoCo's equalities are soft. With Runge-Kutta steps of 0.25 ms and gaps that close within two
    of them its motion is next to that of hard loops; limits, which only MuJoCo has, are off.
    Without a controller most of these mechanisms fall out of their working range, or stand on
    their heads; those with a free base have none, and tumble.
    """
    loaded = robot(name)
    oracle = mujoco_of(loaded)
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
