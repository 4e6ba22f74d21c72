"""How well a robot object obeys the equations, as numbers: the worst over a set of random motions.

A robot is anything with the package's public methods; nothing here imports it. Reference values
come from the oracle, so loop residuals, K and k are not the robot's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from tools.oracles.files import Array
from tools.oracles.oracle import Oracle


@dataclass(frozen=True, eq=False)
class Motions:
    """Random motions of a robot, all joints moving: y (N, n_y), yd and ydd (N, m).

    With ``batch`` the robot is called once for all of them, else sample by sample (which saves
    compiling the batch versions of its programs).
    """

    robot: Any
    oracle: Oracle
    y: Array
    yd: Array
    ydd: Array
    batch: bool = True

    @staticmethod
    def random(
        robot: Any, oracle: Oracle, count: int, seed: int = 1, batch: bool = True
    ) -> Motions:
        """``count`` motions within the reachable box."""
        rng = np.random.default_rng(seed)
        y = robot.random_independent(rng, count)
        shape = (2, count, robot.m)
        rates = rng.uniform(0.2, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
        return Motions(robot, oracle, y, rates[0], rates[1], batch)

    def first(self, count: int) -> Motions:
        """Only the first ``count``."""
        return replace(self, y=self.y[:count], yd=self.yd[:count], ydd=self.ydd[:count])

    def call(self, name: str, *vectors: Array, **options: Any) -> Array:
        """Method ``name`` of the robot for every motion."""
        function = getattr(self.robot, name)
        if self.batch:
            return np.asarray(function(*vectors, **options))
        return np.array([function(*sample, **options) for sample in zip(*vectors, strict=True)])

    @cached_property
    def state(self) -> Any:
        """q, qd, qdd, u, ud, udd and residual of the spanning tree, by the robot."""
        vectors = (self.y, self.yd, self.ydd)
        if self.batch:
            return self.robot.state(*vectors)
        states = [self.robot.state(*sample) for sample in zip(*vectors, strict=True)]
        parts = ("q", "qd", "qdd", "u", "ud", "udd", "residual")
        return SimpleNamespace(**{p: np.array([getattr(s, p) for s in states]) for p in parts})

    @cached_property
    def G(self) -> Array:
        """(N, n, m) loop Jacobians, by the robot."""
        return self.call("loop_jacobian", self.y)

    @cached_property
    def g(self) -> Array:
        """(N, n) loop biases, by the robot."""
        return self.call("loop_bias", self.y, self.yd)

    @cached_property
    def idle(self) -> list[str]:
        """Joints that never move, whatever yd is."""
        still = np.all(self.G == 0.0, axis=(0, 2))[self.oracle.base_dof :]
        return [name for name, rests in zip(self.oracle.names, still, strict=True) if rests]

    def inverse_dynamics(self, **options: Any) -> Array:
        """(N, p) actuator forces of the motions, by the robot."""
        return self.call("inverse_dynamics", self.y, self.yd, self.ydd, **options)

    def generalized_forces(self, **options: Any) -> Array:
        """(N, m) independent forces of the motions, by the robot."""
        return self.call("generalized_forces", self.y, self.yd, self.ydd, **options)

    def forward_dynamics(self, tau_u: Array, **options: Any) -> Array:
        """(N, m) accelerations from actuator forces (N, p), by the robot."""
        return self.call("forward_dynamics", self.y, self.yd, tau_u, **options)

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
    return relative(motions.forward_dynamics(motions.inverse_dynamics()), motions.ydd)


def power_balance(motions: Motions) -> float:
    """tau_u . ud against tau_y . yd, over the largest power of one actuator (at least 1 W)."""
    actuators = motions.inverse_dynamics() * motions.state.ud
    joints = (motions.generalized_forces() * motions.yd)[:, motions.oracle.base_dof :]
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
    G_u = motions.call("actuator_jacobian", motions.y)
    return np.einsum("sij,si->sj", G_u, tau_u)
