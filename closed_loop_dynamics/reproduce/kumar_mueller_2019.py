"""S. Kumar, Mueller 2019: HyRoDyn on the leg of RH5."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..bench.dense import instruction_count
from ..demo.foot_motion import FOOT, Stroke, foot_motion
from ..robot import Robot, load
from ..robots import rh5_leg
from ..ros.trajectory import Motion, Spline
from .claims import Claim, Section, Studio

Array = NDArray[np.float64]
STROKE = 0.15  # [m]


def reproduce(studio: Studio) -> Section:
    """Fig. 7 and the savings of the block-diagonal form."""
    studio.step("loading the leg")
    robot = load(*rh5_leg.generate())
    section = Section(
        "S. Kumar, Müller 2019: HyRoDyn",
        "The shipped RH5-style leg (18 joints, 6 independent, 6 driven; topology of the paper's "
        "Fig. 4, dimensions our own). The foot moves up and down by 15 cm, below the hip and "
        "level.",
    )
    studio.step("Fig. 7: up and down")
    _fig_7(section, studio, robot)
    studio.step("savings of the modular form")
    _savings(section, robot)
    return section


def _fig_7(section: Section, studio: Studio, robot: Robot) -> None:
    stroke = Stroke(height=STROKE, times=1)
    start, points = foot_motion(robot, stroke)
    rest = np.zeros(robot.m)
    t = np.linspace(0.0, stroke.duration, 101 if studio.quick else 401)
    y, yd, ydd = Spline(points, 0.0, Motion(0.0, start, rest, rest)).table(t)
    state = robot.state(y, yd, ydd)
    tau = robot.inverse_dynamics(y, yd, ydd)
    foot = robot.pose(FOOT, y)[:, :3, 3]
    travel = float(np.ptp(foot[:, 2]))
    back = robot.forward_dynamics(y, yd, tau)
    section.claims += [
        Claim(
            "Fig. 7a, travel of the foot",
            "0.15 m",
            f"{travel:.6f} m",
            abs(travel - STROKE) < 1e-4,
        ),
        Claim(
            "Fig. 7, loops closed along the motion",
            "closed form",
            f"largest residual {float(np.max(state.residual)):.1e}",
            float(np.max(state.residual)) < 1e-9,
        ),
        Claim(
            "Fig. 7d, forces reproduce the motion",
            "perfect model",
            f"forward dynamics gives the accelerations back to {np.abs(back - ydd).max():.1e}",
            float(np.abs(back - ydd).max()) < 1e-8 * max(1.0, float(np.abs(ydd).max())),
        ),
        Claim(
            "Fig. 7d, power: actuators = joints",
            "identity",
            f"{_power_error(robot, y, yd, ydd, tau):.1e} of the largest power",
            _power_error(robot, y, yd, ydd, tau) < 1e-10,
        ),
    ]
    assert state.ud is not None
    caption = "Fig. 7: foot, independent joints, actuators and their forces"
    with studio.plot(section, "kumar_mueller_2019_fig7", caption, 2, 2) as axes:
        axes[0, 0].plot(t, foot)
        axes[0, 0].set(ylabel="foot x, y, z [m]")
        axes[0, 1].plot(t, y, label=robot.names.independent)
        axes[0, 1].set(ylabel="independent [rad]")
        axes[1, 0].plot(t, state.u, label=robot.names.actuator)
        axes[1, 0].set(ylabel="actuators [rad, m]", xlabel="t [s]")
        axes[1, 1].plot(t, tau, label=robot.names.actuator)
        axes[1, 1].set(ylabel="forces [N m, N]", xlabel="t [s]")
        for axis in axes.flat[1:]:
            axis.legend(fontsize=6)


def _power_error(robot: Robot, y: Array, yd: Array, ydd: Array, tau: Array) -> float:
    state = robot.state(y, yd)
    assert state.ud is not None
    actuators = np.sum(tau * state.ud, axis=1)
    joints = np.sum(robot.generalized_forces(y, yd, ydd) * yd, axis=1)
    return float(np.abs(actuators - joints).max() / np.abs(joints).max())


def _savings(section: Section, robot: Robot) -> None:
    """The paper's counts of floating-point operations, dense and by blocks."""
    components = robot.mechanism.components
    sizes = [(len(c.joints), len(c.independent)) for c in components]
    n, m = robot.n, robot.m
    project = (2 * m * (n - 1), sum(2 * k * (s - 1) for s, k in sizes))
    multiply = (2 * m * (m - 1), sum(2 * k * (k - 1) for _, k in sizes))
    invert = (m**3, sum(k**3 for _, k in sizes))
    rows = (
        ("tau_y = G^T tau", "2 sum m_i (n_i - 1) of 2 m (n - 1)", project),
        ("tau_u = G_u^-T tau_y", "2 sum m_i (m_i - 1) of 2 m (m - 1)", multiply),
        ("inverse of G_u", "sum m_i^3 of m^3", invert),
    )
    for what, formula, (dense, blocks) in rows:
        saved = 100.0 * (1.0 - blocks / dense)
        section.claims.append(
            Claim(
                f"Sec. 3, operations of {what}",
                formula,
                f"{blocks} of {dense} ({saved:.0f} % saved)",
                blocks <= dense,
                "the traced programs are below both: products with zeros and ones fold away",
            )
        )
    section.claims.append(_measured_savings(robot))


def _measured_savings(robot: Robot) -> Claim:
    """Instructions of the compiled inverse dynamics beside those of the bare tree's RNEA."""
    counts = {
        name: instruction_count(robot, name) for name in ("inverse_dynamics", "generalized_forces")
    }
    extra = counts["inverse_dynamics"] - counts["generalized_forces"]
    return Claim(
        "Sec. 3, measured",
        "a few µs on the leg",
        f"{counts['inverse_dynamics']} instructions in all, {extra} of them for tau_u from tau_y",
        None,
        "counted in the compiled program",
    )
