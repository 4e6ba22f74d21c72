"""Logs of a robot whose parameters are not those of its model: noise on encoders and forces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import closed_loop_dynamics as cld
from closed_loop_dynamics.model.joint_limits import Limits

ENCODER = 2e-5  # rad; 17 bits over a turn
SENSOR = 0.01  # of the largest force


@dataclass(frozen=True, eq=False)
class SimulatedLog:
    """What was measured, and the truth: ``noise`` (p,) standard deviation of the forces."""

    times: np.ndarray
    y: np.ndarray
    yd: np.ndarray
    ydd: np.ndarray
    measured_y: np.ndarray
    measured_tau: np.ndarray
    noise: np.ndarray
    parameters: np.ndarray


def changed_parameters(robot: cld.Robot, seed: int = 1) -> np.ndarray:
    """Bodies up to 30 % heavier or lighter, friction and rotors at the actuators."""
    rng = np.random.default_rng(seed)
    pi = robot.dynamic_parameters
    for body in robot.parameter_view(pi).bodies:
        body *= 1.0 + 0.3 * rng.uniform(-1.0, 1.0)
    limits = Limits.of(robot.mechanism.tree, robot.names.actuator)
    for name, effort, speed in zip(limits.names, limits.effort, limits.velocity, strict=True):
        at = robot.parameter_names.index(f"{name}.rotor_inertia")
        pi[at : at + 3] = 20.0 if speed < 1.0 else 0.05, 0.03 * effort / speed, 0.02 * effort
    return pi


def simulated_log(
    robot: cld.Robot, duration: float = 60.0, rate: float = 250.0, share: float = 0.7
) -> SimulatedLog:
    """Ten harmonics of 0.1 Hz at every joint, over a ``share`` of its range."""
    rng = np.random.default_rng(2)
    t = np.arange(0.0, duration, 1.0 / rate)
    limits = Limits.of(robot.mechanism.tree, robot.names.independent)
    y = np.tile((limits.lower + limits.upper) / 2.0, (len(t), 1))
    yd, ydd = np.zeros_like(y), np.zeros_like(y)
    k = np.arange(1, 11)
    w = 2.0 * np.pi * k / 10.0
    for i, width in enumerate((limits.upper - limits.lower) / 2.0):
        a, phase = rng.normal(size=10) / np.sqrt(k), rng.uniform(0.0, 2.0 * np.pi, 10)
        angle = np.outer(t, w) + phase
        scale = share * width / np.abs(np.sin(angle) @ a).max()
        y[:, i] += scale * np.sin(angle) @ a
        yd[:, i] = scale * np.cos(angle) @ (a * w)
        ydd[:, i] = -scale * np.sin(angle) @ (a * w * w)
    pi = changed_parameters(robot)
    tau = robot.inverse_dynamics(y, yd, ydd, parameters=pi)
    noise = SENSOR * np.abs(tau).max(axis=0)
    return SimulatedLog(
        *(t, y, yd, ydd),
        y + ENCODER * rng.normal(size=y.shape),
        tau + noise * rng.normal(size=tau.shape),
        noise,
        pi,
    )
