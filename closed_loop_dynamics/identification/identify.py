"""``identify``: from a log to base parameters with confidence, and to parameters of real bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..dynamics.parameters import BODY
from ..errors import InvalidInput
from ..robot import Robot
from .base import Base, condition_number, free_parameters, natural_sizes, structure
from .consistent import Stretched, consistent_parameters
from .least_squares import Fit, fit
from .log import Log
from .normal_equations import NormalEquations, Progress, accumulate

#: Condition number from which on a log is called poorly excited, and share of the weighty
#: parameters that it should determine.
POOR, FEW = 1000.0, 0.6
#: Further terms of a combination that are told; smaller ones than this, in natural sizes, are not.
MOST_TERMS, SMALL = 3, 1e-2


@dataclass(frozen=True)
class BaseParameter:
    """A combination of dynamic parameters that the log determines.

    Attributes:
        name: of the parameter that leads it; combination: in words, its largest terms.
        model: its value by the model; value: by the log, and half its 95 % confidence ``interval``.
        consistent: its value in the parameters of possible bodies.
    """

    name: str
    combination: str
    model: float
    value: float
    interval: float
    consistent: float


@dataclass(frozen=True, eq=False)
class Identification:
    """What a log says about a robot; ``print`` it.

    Attributes:
        parameters: (parameters,) of possible bodies, to be given as ``parameters=``.
        base: what the log determines, in the order of ``parameters``; of ``base_count`` there are.
        combinations: (d, parameters) C of them: base values = C @ parameters.
        condition: excitation score, the condition number of the normalised regressor of what a good
            motion shows (``weighty`` parameters).
        names: (e) of the forces; sizes, before, after, noise: (e,) root mean squares of the
            measured force and of what is left of it: with the model's parameters, with these, and
            with base parameters that need not belong to possible bodies [N or N m].
        warnings: sentences.
    """

    parameters: Array
    parameter_names: tuple[str, ...]
    model_parameters: Array
    base: tuple[BaseParameter, ...]
    base_count: int
    weighty: int
    combinations: Array
    condition: float
    names: tuple[str, ...]
    sizes: Array
    before: Array
    after: Array
    noise: Array
    warnings: tuple[str, ...]

    def lines(self) -> list[str]:
        """The tables of the report."""
        from .report import report_lines

        return report_lines(self)

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *(f"warning: {text}" for text in self.warnings)])


def identify(
    robot: Robot,
    log: Log,
    *,
    friction: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Identification:
    """Identify the dynamic parameters of a robot from a log.

    Args:
        friction: joints whose friction and rotor inertia are identified, too (default: those of the
            actuators); of other joints they stay as the model has them.
        progress: told how many rows of the log are done.

    Raises:
        InvalidInput: a floating base, or too short a log.
    """
    if log.y.shape[1] != robot.m or log.tau_u.shape[1] != robot.p:
        raise InvalidInput(
            f"a log of {log.y.shape[1]} joints and {log.tau_u.shape[1]} forces for a robot of "
            f"{robot.m} independent joints and {robot.p} actuators"
        )
    free = free_parameters(robot, robot.names.actuator if friction is None else friction)
    base, weighty = structure(robot, free)
    model = robot.dynamic_parameters
    held = model.copy()
    held[free] = 0.0
    equations = accumulate(robot, log, base.chosen, held, progress)
    sizes = natural_sizes(robot, _column_forces(equations, base))
    beta_model = base.combination @ model
    found = fit(equations, beta_model, sizes[base.chosen])
    joints = len(BODY) * len(robot.mechanism.tree.bodies)
    bodies = np.unique(free[free < joints] // len(BODY))
    stretched = Stretched(model, bodies, free[free >= joints], sizes)
    pi = consistent_parameters(stretched, found.root @ base.combination, found.target)
    C = found.merged @ base.combination
    condition = _condition(equations, base, weighty)
    return Identification(
        parameters=pi,
        parameter_names=robot.parameter_names,
        model_parameters=model,
        base=_named(robot, base, found, C, sizes, pi),
        base_count=len(base.chosen),
        weighty=len(weighty),
        combinations=C,
        condition=condition,
        names=equations.names,
        sizes=equations.sizes,
        before=equations.rms(beta_model),
        after=equations.rms(base.combination @ pi),
        noise=found.noise,
        warnings=_warnings(condition, len(found.chosen), len(weighty)),
    )


def _column_forces(equations: NormalEquations, base: Base) -> Array:
    """(parameters,) rms over all forces, relative to their sizes, per unit of each parameter."""
    C = base.combination
    squares = np.einsum("ki,kl,li->i", C, equations.relative, C)
    return np.sqrt(np.maximum(squares, 0.0) / equations.rows.sum() / len(equations.sizes))


def _condition(equations: NormalEquations, base: Base, weighty: Array) -> float:
    """Of the columns of the weighty parameters, forces by their sizes, columns by their lengths."""
    w, V = np.linalg.eigh(equations.relative)
    root = np.sqrt(np.maximum(w, 0.0))[:, None] * V.T
    return condition_number(root @ base.combination[:, weighty])


def _named(
    robot: Robot, base: Base, found: Fit, C: Array, sizes: Array, pi: Array
) -> tuple[BaseParameter, ...]:
    names, model = robot.parameter_names, C @ robot.dynamic_parameters
    consistent, interval = C @ pi, 1.96 * found.deviation
    rows = []
    for i, place in enumerate(found.chosen):
        lead = int(base.chosen[place])
        rows.append(
            BaseParameter(
                names[lead],
                _combination(names, C[i], lead, sizes),
                float(model[i]),
                float(found.values[i]),
                float(interval[i]),
                float(consistent[i]),
            )
        )
    return tuple(rows)


def _combination(names: Sequence[str], row: Array, lead: int, sizes: Array) -> str:
    """``"foot.h_x - 0.04 ankle_push_rod.m + ..."``: the largest terms in natural sizes."""
    weight = np.abs(row) * sizes
    weight[lead] = 0.0
    order = [k for k in np.argsort(-weight, kind="stable") if weight[k] > SMALL * sizes[lead]]
    text = names[lead]
    for k in order[:MOST_TERMS]:
        sign, factor = "-" if row[k] < 0.0 else "+", abs(row[k])
        text += f" {sign} " + ("" if abs(factor - 1.0) < 5e-4 else f"{factor:.3g} ") + names[k]
    return text + " + ..." * (len(order) > MOST_TERMS)


def _warnings(condition: float, determined: int, weighty: int) -> tuple[str, ...]:
    found = []
    if condition > POOR:
        found.append(
            f"the motion excites the robot poorly: condition number {condition:.3g}, good are less "
            f"than {POOR:g}; `closed-loop excite` designs a motion"
        )
    if determined < FEW * weighty:
        found.append(
            f"the log determines {determined} parameters; a good motion with little noise shows "
            f"{weighty} or more"
        )
    return tuple(found)
