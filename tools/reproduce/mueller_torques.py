"""Mueller 2022, Figs. 18 to 21: torques, and the run near the input singularity."""

from __future__ import annotations

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot
from closed_loop_dynamics.task_space import TaskSpace

from ..oracles.oracle import Oracle
from .beside_pinocchio import largest_gap
from .claims import Claim, Section, Studio
from .mueller_plots import TOLERANCE, count_axes, counted, plot_inner
from .mueller_runs import LIMB, Run, torques, torques_by_virtual_power

#: Two torques are the same when they differ by less than this part of the largest.
SAME = 1e-8


def _torque_claim(
    figure: str, parts: tuple[Robot, TaskSpace, Oracle], run: Run, u: Array, stride: int
) -> Claim:
    robot, task, tree = parts
    s, which = run.state, np.arange(0, len(u), stride)
    whole = np.array([robot.inverse_dynamics(*row) for row in zip(s.u, s.ud, s.udd, strict=True)])
    other = torques_by_virtual_power(task, tree, run, which)
    scale = float(np.abs(u).max())
    wrong = [float(np.abs(a - b).max() / scale) for a, b in ((whole, u), (other, u[which]))]
    return Claim(
        f"{figure}, torques by Eq. 45",
        "as Alaska's",
        f"up to {scale:.0f} N m; the whole robot's to {wrong[0]:.1e}, Pinocchio's to "
        f"{wrong[1]:.1e} of that",
        max(wrong) < SAME,
    )


def fig_18(
    section: Section, studio: Studio, parts: tuple[Robot, TaskSpace, Oracle], run: Run, stride: int
) -> None:
    u = torques(parts[1], run.motion)
    section.claims.append(_torque_claim("Figs. 9b and 18", parts, run, u, stride))
    caption = "Figs. 9b and 18: torques of the two motors"
    with studio.plot(section, "mueller_2022_fig18", caption) as axes:
        axes[0, 0].plot(run.motion.t, u, lw=1, label=["u1", "u2"])
        axes[0, 0].set(xlabel="t [s]", ylabel="torque [N m]")
        axes[0, 0].legend(fontsize=7)


def figs_19_to_21(
    section: Section,
    studio: Studio,
    parts: tuple[Robot, TaskSpace, Oracle],
    runs: tuple[Run, Run],
    stride: int,
) -> None:
    robot, task, tree = parts
    run, predicted = runs
    s, t = run.state, run.motion.t
    u = torques(task, run.motion)
    limb = task.names[LIMB]
    condition = np.array([task.conditioning(x).limbs[limb].condition for x in run.motion.x])
    inner = run.inner[run.inner >= 0]
    largest = float(max(run.stopped.max(), s.platform_residual.max(), s.loop_residual.max()))
    gap = largest_gap(tree, s.q)
    section.claims += [
        Claim(
            "Fig. 19, run past the stretched limb",
            "solved, large accelerations",
            f"all {len(t)} samples solved, errors up to {largest:.2e}, loops close in "
            f"Pinocchio to {gap:.1e} m or rad; up to {np.abs(s.qdd).max():.0f} rad/s²",
            largest < TOLERANCE and gap < TOLERANCE,
        ),
        _torque_claim("Fig. 20a", parts, run, u, stride),
        Claim(
            "Fig. 20b, √κ(FᵀF) of limb 1",
            "clearly peaks",
            f"up to {condition.max():.0f}, median {np.median(condition):.1f}",
            bool(condition.max() > 10.0 * np.median(condition)),
        ),
        Claim(
            "Fig. 21, updates of Algorithm 1",
            "almost unaffected",
            f"{counted(run.outer)}; predicted: {counted(predicted.outer)}",
            float(np.mean(run.outer <= 3)) > 0.95
            and int(run.outer.max()) <= 4
            and int(predicted.outer.max()) <= 3,
        ),
        Claim(
            "Sec. 6.4.3, updates of Algorithm 2", "at most 2", counted(inner), int(inner.max()) <= 2
        ),
    ]
    _plot_19_to_21(section, studio, robot, run, u, condition)


def _plot_19_to_21(
    section: Section, studio: Studio, robot: Robot, run: Run, u: Array, condition: Array
) -> None:
    s, t = run.state, run.motion.t
    columns = [k for k, name in enumerate(robot.names.spanning) if name.startswith("right")]
    caption = (
        "Figs. 19 to 21: near the input singularity, limb 1: angles, accelerations, torques, "
        "conditioning, updates of Algorithms 1 and 2"
    )
    with studio.plot(section, "mueller_2022_fig19", caption, 2, 3) as axes:
        for axis, values, label in (
            (axes[0, 0], s.q[:, columns], "angle [rad]"),
            (axes[0, 1], s.qdd[:, columns], "acceleration [rad/s²]"),
            (axes[0, 2], u, "torque [N m]"),
        ):
            axis.plot(t, values, lw=1)
            axis.set(ylabel=label, xlabel="t [s]")
        axes[0, 2].legend(["u1", "u2"], fontsize=7)
        axes[1, 0].plot(t, condition, lw=1)
        axes[1, 0].set(ylabel="√κ(FᵀF)", xlabel="t [s]")
        axes[1, 1].plot(t, run.outer, ".", ms=3)
        axes[1, 1].set(ylabel="updates of the limb")
        plot_inner(axes[1, 2], run)
        count_axes(axes[1, 1:])
