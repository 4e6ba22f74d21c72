"""A long log as a few small matrices: [W_b f]^T [W_b f] of every force, over a few segments.

Rows are averaged over a hundredth of a second first, W and f alike: mean(f) = mean(W) pi is as
exact as f = W pi is, also for friction, whose force jumps where a filter would smear it. Squaring
loses what is below 1e-8 of the largest; noise is far above that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import InvalidInput
from ..robot import Robot
from .base import equations
from .log import Log

#: Rows of a log are averaged over this time [s].
AVERAGED = 0.01
#: Noise of rows nearby is alike; that of segments is taken for independent.
SEGMENTS = 40
#: Averaged rows evaluated at once.
CHUNK = 256

#: Told how many rows are done.
Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """What a log says about base parameters.

    Attributes:
        names: (e) of the forces: actuators, or independent joints.
        grams: (segments, e, k + 1, k + 1) [W_b f]^T [W_b f], f last; without what is not free.
        rows: (segments,) averaged rows in each.
        sizes: (e,) root mean square of the measured forces [N or N m].
    """

    names: tuple[str, ...]
    grams: Array
    rows: Array
    sizes: Array

    @property
    def relative(self) -> Array:
        """(k, k) W_b^T W_b with every force divided by its size; passive joints do not count."""
        weights = np.where(self.sizes > 0.0, 1.0 / np.square(np.maximum(self.sizes, 1e-9)), 0.0)
        return np.einsum("seij,e->ij", self.grams[..., :-1, :-1], weights)

    def rms(self, beta: Array) -> Array:
        """(e,) root mean square of f - W_b beta [N or N m]."""
        x = np.append(beta, -1.0)
        squares = np.einsum("i,seij,j->e", x, self.grams, x)
        return np.sqrt(np.maximum(squares, 0.0) / self.rows.sum())


def accumulate(
    robot: Robot, log: Log, columns: Array, held: Array, progress: Progress | None = None
) -> NormalEquations:
    """Run through a log.

    Args:
        columns: (k,) of W that are W_b.
        held: (parameters,) what is known and taken off the forces; zero for what is free.
    """
    each = max(1, round(AVERAGED / log.period))
    total = len(log.times) // each
    if total < 2 * SEGMENTS:
        raise InvalidInput(
            f"a log of {len(log.times)} rows is too short to identify from: give "
            f"{2 * SEGMENTS * each} or more"
        )
    bounds = np.linspace(0, total, SEGMENTS + 1).astype(int)
    full = robot.p == robot.m
    names = robot.names.actuator if full else robot.names.independent
    size = len(columns) + 1
    grams = np.zeros((SEGMENTS, len(names), size, size))
    squares = np.zeros(len(names))
    for s in range(SEGMENTS):
        for start in range(bounds[s], bounds[s + 1], CHUNK):
            end = min(start + CHUNK, bounds[s + 1])
            at = slice(start * each, end * each)
            W = equations(robot, log.y[at], log.yd[at], log.ydd[at])
            f = log.tau_u[at]
            if not full:
                f = robot.actuation.force_to_independent(log.y[at], f)
            if robot.mechanism.tree.springs:  # they are no parameters: what they give is known
                forces = robot.inverse_dynamics if full else robot.generalized_forces
                none = np.zeros_like(robot.dynamic_parameters)
                f = f - forces(log.y[at], log.yd[at], log.ydd[at], parameters=none)
            squares += np.sum(np.square(_mean(f, each)), axis=0)
            left = f - W @ held
            both = _mean(np.concatenate([W[..., columns], left[..., None]], axis=-1), each)
            by_force = both.transpose(1, 0, 2)
            grams[s] += by_force.transpose(0, 2, 1) @ by_force
            if progress is not None:
                progress(end * each)
    return NormalEquations(names, grams, np.diff(bounds), np.sqrt(squares / total))


def _mean(values: Array, each: int) -> Array:
    """Means over ``each`` rows."""
    return values.reshape(-1, each, *values.shape[1:]).mean(axis=1)
