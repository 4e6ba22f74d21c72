"""The demo without ROS: the same motion by the library alone, commanded and simulated in turn."""

from __future__ import annotations

import time

import numpy as np

from ...robot import Robot
from ...simulation.plant import Physics, Plant
from .recording import RATE, Recording, UpAndDown


def record(robot: Robot, motion: UpAndDown) -> Recording:
    """Inverse dynamics gives the forces of each period, forward dynamics the motion under them."""
    spline, period = motion.spline(), 1.0 / RATE
    plant = Plant(robot, Physics(step=0.5 * period), motion.start)
    t = np.arange(0.0, motion.length, period)
    y, tau = np.empty((len(t), robot.m)), np.empty((len(t), robot.p))
    robot.prepare("inverse_dynamics")
    inverse = forward = 0.0
    for k, now in enumerate(t):
        y[k] = plant.y
        # A force is held for one period: that of the period's middle has no first-order error.
        goal = spline.sample(now + 0.5 * period)
        began = time.perf_counter()
        tau[k] = robot.inverse_dynamics(goal.y, goal.yd, goal.ydd)
        between = time.perf_counter()
        plant.advance(tau[k], period)
        inverse += between - began
        forward += time.perf_counter() - between
    state = robot.state(y)
    computing = f"inverse dynamics, {1e6 * forward / len(t):.1f} µs simulation, mean of a command"
    rates = [f"  {'computing':<24}{1e6 * inverse / len(t):>9.1f} µs {computing}"]
    how = "pure feedforward, by the library alone"
    return Recording(how, t, spline.table(t)[0], y, state.q, state.u, tau, rates)
