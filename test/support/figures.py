"""How well a robot object obeys the equations, as numbers: the worst over a set of random motions.

A robot is anything with the package's public methods; nothing here imports it. Reference values come
from the oracle, so loop residuals, K and k are not the robot's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .oracle import Oracle
from .oracle_files import Array


@dataclass(frozen=True, eq=False)
class Motions:
    """Random motions of a robot, all joints moving: y (N, n_y), yd and ydd (N, m)."""

    robot: Any
    oracle: Oracle
    y: Array
    yd: Array
    ydd: Array

    @staticmethod
    def random(robot: Any, oracle: Oracle, count: int, seed: int = 1) -> Motions:
        """``count`` motions within the reachable box."""
        rng = np.random.default_rng(seed)
        y = robot.random_independent(rng, count)
        rates = rng.uniform(0.2, 1.5, (2, count, robot.m)) * rng.choice(
            [-1.0, 1.0], (2, count, robot.m)
        )
        return Motions(robot, oracle, y, rates[0], rates[1])

    def first(self, count: int) -> Motions:
        """Only the first ``count``."""
        return Motions(
            self.robot, self.oracle, self.y[:count], self.yd[:count], self.ydd[:count]
        )

    @cached_property
    def state(self) -> Any:
        """Positions, velocities and accelerations of the spanning tree, by the robot."""
        return self.robot.state(self.y, self.yd, self.ydd)

    @cached_property
    def G(self) -> Array:
        """(N, n, m) loop Jacobians, by the robot."""
        return np.asarray(self.robot.loop_jacobian(self.y))

    @cached_property
    def g(self) -> Array:
        """(N, n) loop biases, by the robot."""
        return np.asarray(self.robot.loop_bias(self.y, self.yd))

    @cached_property
    def idle(self) -> list[str]:
        """Joints that never move, whatever yd is."""
        still = np.all(self.G == 0.0, axis=(0, 2))[self.oracle.base_dof :]
        return [name for name, rests in zip(self.oracle.names, still, strict=True) if rests]

    def each(self, function: Callable[..., Array]) -> Array:
        """``function(q, qd, qdd)`` of every motion."""
        s = self.state
        return np.array([function(*sample) for sample in zip(s.q, s.qd, s.qdd, strict=True)])


def relative(found: Array, expected: Array) -> float:
    """Worst sample: max|found - expected| over max(1, max|expected|)."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    axes = tuple(range(1, found.ndim))
    scale = np.maximum(1.0, np.max(np.abs(expected), axis=axes, initial=0.0))
    return float(np.max(np.max(np.abs(found - expected), axis=axes, initial=0.0) / scale))


# Loops ------------------------------------------------------------------------------------------


def loop_residual(motions: Motions) -> float:
    """max|phi(q)|."""
    return float(np.max(np.abs(motions.each(lambda q, qd, qdd: motions.oracle.phi(q)))))


def loop_jacobian_residual(motions: Motions) -> float:
    """max|K G|."""
    K = motions.each(lambda q, qd, qdd: motions.oracle.K(q))
    return float(np.max(np.abs(K @ motions.G), initial=0.0))


def loop_bias_residual(motions: Motions) -> float:
    """max|K g - k| over max(1, |k|)."""
    K = motions.each(lambda q, qd, qdd: motions.oracle.K(q))
    k = motions.each(lambda q, qd, qdd: motions.oracle.k(q, qd))
    return relative(np.einsum("sij,sj->si", K, motions.g), k)


def motion_residual(motions: Motions) -> float:
    """qd against G yd and qdd against G ydd + g."""
    s = motions.state
    qd = np.einsum("sij,sj->si", motions.G, motions.yd)
    qdd = np.einsum("sij,sj->si", motions.G, motions.ydd) + motions.g
    return max(relative(s.qd, qd), relative(s.qdd, qdd))


# Dynamics ---------------------------------------------------------------------------------------


def round_trip(motions: Motions) -> float:
    """FD(ID(ydd)) against ydd (fixed base)."""
    robot, y, yd = motions.robot, motions.y, motions.yd
    tau_u = robot.inverse_dynamics(y, yd, motions.ydd)
    return relative(robot.forward_dynamics(y, yd, tau_u), motions.ydd)


def power_balance(motions: Motions) -> float:
    """tau_u . ud against tau_y . yd, over the largest power of one actuator (at least 1 W)."""
    robot, s = motions.robot, motions.state
    start = motions.oracle.base_dof
    tau_u = robot.inverse_dynamics(motions.y, motions.yd, motions.ydd)
    tau_y = robot.generalized_forces(motions.y, motions.yd, motions.ydd)
    actuators, joints = tau_u * s.ud, (tau_y * motions.yd)[:, start:]
    largest = np.max(np.abs(np.hstack([actuators, joints])), axis=1)
    difference = np.abs(actuators.sum(axis=1) - joints.sum(axis=1))
    return float(np.max(difference / np.maximum(1.0, largest)))


def tree_actuation(motions: Motions, tau_u: Array) -> Array:
    """(N, n) forces of the spanning tree's joints when the actuators give ``tau_u``."""
    oracle = motions.oracle
    tau = np.zeros((len(tau_u), oracle.nv))
    tau[:, oracle.columns(motions.robot.names.actuator)] = tau_u
    return tau


def independent_entries(motions: Motions) -> list[int]:
    """Entries of qd that are yd."""
    names = motions.robot.names.independent[motions.oracle.floating_base :]
    return [*range(motions.oracle.base_dof), *motions.oracle.columns(names)]


def kkt_accelerations(
    motions: Motions, tau_u: Array, wrenches: Mapping[str, Array] | None = None
) -> Array:
    """(N, m) ydd by the oracle's KKT system."""
    oracle, s = motions.oracle, motions.state
    rows = independent_entries(motions)
    samples = zip(s.q, s.qd, tree_actuation(motions, tau_u), strict=True)
    return np.array(
        [
            oracle.forward_dynamics(q, qd, tau, motions.idle, wrenches)[0][rows]
            for q, qd, tau in samples
        ]
    )


def tree_forces(motions: Motions, wrenches: Mapping[str, Array] | None = None) -> Array:
    """(N, n) inverse dynamics of the spanning tree by the oracle."""
    oracle = motions.oracle
    return motions.each(
        lambda q, qd, qdd: (
            oracle.inverse_dynamics_tree(q, qd, qdd) - oracle.wrench_forces(q, wrenches)
        )
    )


def reduced(motions: Motions, forces: Array) -> Array:
    """(N, m) G^T forces."""
    return np.einsum("sij,si->sj", motions.G, forces)


def actuated(motions: Motions, tau_u: Array) -> Array:
    """(N, m) G_u^T tau_u."""
    G_u = np.asarray(motions.robot.actuator_jacobian(motions.y))
    return np.einsum("sij,si->sj", G_u, tau_u)
