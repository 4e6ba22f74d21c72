"""S. Kumar, Mueller 2019: HyRoDyn on the leg of RH5."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.motion.trajectory import Setpoint, Spline
from closed_loop_dynamics.robot import Robot, load

from ..benchmark import dense
from ..benchmark.states import make_states
from ..benchmark.timing import row_by_row, take_turns
from ..robots import rh5_leg
from .claims import Claim, Section, Studio
from .foot_motion import FOOT, Stroke, foot_motion

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
    _savings(section, robot, 2 if studio.quick else 50)
    return section


def _fig_7(section: Section, studio: Studio, robot: Robot) -> None:
    stroke = Stroke(height=STROKE, times=1)
    start, points = foot_motion(robot, stroke)
    rest = np.zeros(robot.m)
    t = np.linspace(0.0, stroke.duration, 101 if studio.quick else 401)
    y, yd, ydd = Spline(points, 0.0, Setpoint(0.0, start, rest, rest)).table(t)
    state = robot.state(y, yd, ydd)
    tau = robot.inverse_dynamics(y, yd, ydd)
    foot = robot.pose(FOOT, y)[:, :3, 3]
    travel = float(np.ptp(foot[:, 2]))
    back = robot.forward_dynamics(y, yd, tau)
    loops = sum(len(component.loops) for component in robot.mechanism.components)
    section.claims += [
        Claim(
            "Sec. 4.1, the leg",
            "18 DOF in the spanning tree, 6 active, 4 independent closed loops",
            f"{robot.n}, {robot.p}, {loops}",
            (robot.n, robot.p, loops) == (18, 6, 4),
        ),
        Claim(
            "Fig. 7a, travel of the foot", "0.15 m", f"{travel:.6f} m", abs(travel - STROKE) < 1e-4
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
    _plot(section, studio, robot, t, (foot, y, yd, ydd), (tau, state.u, state.ud, state.udd))


def _plot(
    section: Section,
    studio: Studio,
    robot: Robot,
    t: Array,
    top: Sequence[Array | None],
    bottom: Sequence[Array | None],
) -> None:
    """Foot and independent joints above, forces and actuators below."""
    caption = "Fig. 7: foot and independent joints; actuators and their forces"
    labels = (
        ("foot x, y, z [m]", "y [rad]", "ẏ [rad/s]", "ÿ [rad/s²]"),
        ("forces [N m, N]", "u [rad, m]", "u̇ [rad/s, m/s]", "ü [rad/s², m/s²]"),
    )
    names = (robot.names.independent, robot.names.actuator)
    with studio.plot(section, "kumar_mueller_2019_fig7", caption, 2, 4) as axes:
        for row, curves in enumerate((top, bottom)):
            for axis, values, label in zip(axes[row], curves, labels[row], strict=True):
                axis.plot(t, values)
                axis.set(ylabel=label, xlabel="t [s]")
            beside = {"fontsize": 7, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
            axes[row, 3].legend(names[row], **beside)


def _power_error(robot: Robot, y: Array, yd: Array, ydd: Array, tau: Array) -> float:
    state = robot.state(y, yd)
    assert state.ud is not None
    actuators = np.sum(tau * state.ud, axis=1)
    joints = np.sum(robot.generalized_forces(y, yd, ydd) * yd, axis=1)
    return float(np.abs(actuators - joints).max() / np.abs(joints).max())


def _savings(section: Section, robot: Robot, sweeps: int) -> None:
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
    for what, formula, (full, blocks) in rows:
        saved = 100.0 * (1.0 - blocks / full)
        section.claims.append(
            Claim(
                f"Sec. 3, operations of {what}",
                formula,
                f"{blocks} of {full} ({saved:.0f} % saved)",
                blocks <= full,
                "the paper's formulas; what compiled programs need is counted below",
            )
        )
    section.claims += _measured(robot, sweeps)


def _measured(robot: Robot, sweeps: int) -> list[Claim]:
    """From tau to tau_u by blocks (ours) and by full matrices, compiled alike, and its time."""
    dense.add_inverse_dynamics(robot)
    states = make_states(robot, "trajectory", 200)
    given = (states.y, states.yd, states.ydd)
    constants = np.tile(dense.zeros_and_ones(robot), (len(states.y), 1))
    blocks, full = (
        robot.programs.program(name) for name in ("inverse_dynamics", dense.INVERSE_DENSE)
    )
    by_blocks = row_by_row("blocks", blocks, *given)
    by_matrices = row_by_row("matrices", full, *given, constants)
    method = row_by_row("method", robot.inverse_dynamics, *given)
    take_turns([by_blocks, by_matrices, method], sweeps)
    values = np.array([full(*row) for row in zip(*given, constants, strict=True)])
    error = float(np.abs(values - states.tau_u).max() / np.abs(states.tau_u).max())
    names = (dense.TREE_RNEA, "inverse_dynamics", dense.INVERSE_DENSE)
    tree, few, many = (dense.instruction_count(robot, name) for name in names)
    return [
        Claim(
            "Sec. 3, tau_u from tau, counted",
            "fewer operations by blocks",
            f"{few - tree} instructions by blocks, {many - tree} by full matrices (of {few} and "
            f"{many} in all); same forces to {error:.1e}",
            few < many and error < 1e-9,
            "counted in compiled programs; zeros and ones inside the blocks fold away as well",
        ),
        Claim(
            "Sec. 3, measured",
            "no time printed",
            f"by full matrices {by_matrices.seconds / by_blocks.seconds:.2f} times by blocks",
            None,
            "the loops and the tree's forces cost the same in both, and most of the time",
        ),
        Claim(
            "Sec. 4.1, inverse dynamics of the leg",
            "in the order of a few µs",
            f"{1e6 * method.seconds:.1f} µs per call from Python",
            None,
            "another machine, and the paper calls from C++",
        ),
    ]
