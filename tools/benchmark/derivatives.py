"""Derivatives of inverse and forward dynamics: ours with the loops inside, and Pinocchio's.

Pinocchio's of the bare tree know no loops. Those of its constrained dynamics need a solution to
stand on: as a call of ours, theirs is the solution and then its derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot

from .checks import Check
from .dense import instruction_count
from .pinocchio_side import CONTACT, PinocchioSide
from .states import States
from .timing import Call, Contender, chunked, row_by_row

INVERSE, FORWARD = "inverse dynamics derivatives", "forward dynamics derivatives"
OF_RNEA, OF_ABA = "computeRNEADerivatives (tree)", "computeABADerivatives (tree)"
OF_CONSTRAINED = "constraintDynamics and its derivatives"
STEP = 1e-5


def derivative_contenders(
    robot: Robot, other: PinocchioSide, states: States, tau: Array
) -> list[Contender]:
    """Ours, and all that Pinocchio has."""
    y, yd, ydd, tau_u = states.y, states.yd, states.ydd, states.tau_u
    q, v, a, f = other.rows(states.q, states.qd, states.qdd, tau)
    model, data = other.tree.model, other.tree.model.createData()
    rnea: list[Call] = [(model, data, *row) for row in zip(q, v, a, strict=True)]
    aba: list[Call] = [(model, data, *row) for row in zip(q, v, f, strict=True)]
    contenders = [
        row_by_row(INVERSE, robot.inverse_dynamics_derivatives, y, yd, ydd),
        row_by_row(FORWARD, robot.forward_dynamics_derivatives, y, yd, tau_u),
        Contender(OF_RNEA, pin.computeRNEADerivatives, chunked(rnea)),
        Contender(OF_ABA, pin.computeABADerivatives, chunked(aba)),
    ]
    if other.point_loops:
        memory, (cuts, cut_data, settings) = other.constrained(False, CONTACT)

        def solved(*row: Array) -> Any:
            pin.constraintDynamics(model, memory, *row, cuts, cut_data, settings)
            return pin.computeConstraintDynamicsDerivatives(model, memory, cuts, cut_data, settings)

        calls: list[Call] = list(zip(q, v, f, strict=True))
        contenders.append(Contender(OF_CONSTRAINED, solved, chunked(calls)))
    return contenders


def derivative_instructions(robot: Robot) -> str:
    """Instruction counts of the programs, in words."""
    parts = []
    for name in ("inverse_dynamics", "forward_dynamics"):
        own, more = (instruction_count(robot, n) for n in (name, f"{name}_derivatives"))
        parts.append(f"{name.replace('_', ' ')} {own} instructions, derivatives {more / own:.1f}×")
    return "; ".join(parts)


def derivative_check(robot: Robot, states: States) -> Check:
    """Along one direction against central differences, over some of the states."""
    worst, rng = 0.0, np.random.default_rng(0)
    for y, yd, ydd in zip(states.y[::200], states.yd[::200], states.ydd[::200], strict=True):
        by_y, by_yd, by_ydd = rng.normal(size=(3, robot.m))
        ends = [
            robot.inverse_dynamics(robot.integrate(y, h * by_y), yd + h * by_yd, ydd + h * by_ydd)
            for h in (STEP, -STEP)
        ]
        expected = (ends[0] - ends[1]) / (2.0 * STEP)
        dy, dyd, dydd = robot.inverse_dynamics_derivatives(y, yd, ydd)
        found = dy @ by_y + dyd @ by_yd + dydd @ by_ydd
        worst = max(worst, float(np.max(np.abs(found - expected)) / np.max(np.abs(expected))))
    return Check("derivatives = differences of inverse dynamics", worst, 1e-6)
