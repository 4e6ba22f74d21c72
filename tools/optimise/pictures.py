"""A plan as a picture: joints, and how much of the actuators' speeds and efforts it takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.motion.trajectory import Points, Spline
from closed_loop_dynamics.robot import Robot

from .problem import SHARE, Plan


def draw_plan(robot: Robot, plan: Plan, file: Path) -> None:
    """Curves between the knots too, as they are executed; joints that rest are left out."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    motors = Limits.of(robot.mechanism.tree, robot.names.actuator)
    times = np.linspace(0.0, plan.times[-1], 500)
    y, yd, ydd = Spline(Points(plan.times, plan.y, plan.yd, plan.ydd)).table(times)
    state, tau = robot.state(y, yd), robot.inverse_dynamics(y, yd, ydd)
    assert state.ud is not None
    panels = (
        ("position [rad]", robot.names.independent, y),
        ("actuator speed / limit", robot.names.actuator, state.ud / motors.velocity),
        ("actuator effort / limit", robot.names.actuator, tau / motors.effort),
    )
    figure, axes = plt.subplots(1, 3, figsize=(12.0, 3.7))
    for axis, (label, names, values) in zip(axes, panels, strict=True):
        for name, curve in zip(names, values.T, strict=True):
            if np.ptp(curve) > 1e-6:
                axis.plot(times, curve, label=name)
        axis.set(xlabel="t [s]", ylabel=label)
        axis.legend(
            fontsize=7, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False
        )
        axis.grid(alpha=0.3)
        if "limit" in label and np.abs(values).max() > 0.5:
            for side in (-SHARE, SHARE):
                axis.axhline(side, color="k", lw=0.8, ls="--")
    figure.tight_layout()
    figure.savefig(file, dpi=90)
    plt.close(figure)
