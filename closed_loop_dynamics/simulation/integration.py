"""``Robot.step``: some Runge-Kutta steps of one state or of a batch, from any thread."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from ..arrays import (
    Array,
    Guess,
    Vec,
    Wrenches,
    as_count,
    as_finite_vectors,
    as_rows,
    as_vectors,
)
from ..dynamics.catalogue import FORWARD_DYNAMICS, FORWARD_DYNAMICS_DERIVATIVES
from ..engine.threads import share
from ..errors import ClosureNotFound, InvalidInput
from ..programs import Programs
from ..quantities.links import body_wrenches
from .step_derivatives import StepDerivatives, step_derivatives
from .stepping import Friction, Stepper, step_in_python

#: About what a step takes [s], and of how many at least native code is busy rather than Python.
PACE, MANY = 1e-5, 20


class Integration:
    """The steppers of one robot, kept per thread."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._local = threading.local()

    def step(
        self,
        y: Vec,
        yd: Vec,
        tau_u: Vec,
        h: float,
        wrenches: Wrenches,
        steps: int,
        friction: Friction | None,
        guess: Guess,
    ) -> tuple[Array, Array]:
        """See :meth:`Robot.step`."""
        mech = self._programs.mechanism
        h, steps = _checked(h, steps)
        arrays = [
            as_vectors(y, "y", mech.n_y),
            as_vectors(yd, "yd", mech.m),
            as_vectors(tau_u, "tau_u", mech.p),
        ]
        if wrenches is not None:
            arrays.append(body_wrenches(mech, wrenches))
        modes = None if guess is None else as_finite_vectors(guess, "guess", mech.n_q)
        rows = as_rows("step", arrays if modes is None else [*arrays, modes])
        if friction is not None and not isinstance(friction, Friction):
            raise InvalidInput("friction is not a Friction(viscous={joint: ...}, coulomb={...})")
        rubbing = None if friction is None else friction.coefficients(mech)
        if rows is None:
            return self._steps(h, steps, rubbing, modes, *arrays)
        ends = np.full((len(rows[0]), mech.n_y + mech.m), np.nan)

        def part(start: int, end: int) -> None:
            stepper = self._stepper(wrenches is not None, rubbing)
            for k in range(start, end):
                stepper.forget()  # what a row gives must not depend on who took the one before
                y, yd, tau, pushed = (*(row[k] for row in rows), None)[:4]
                done = stepper.run(y, yd, tau, h, steps, pushed, natively=True)
                if done.steps == steps:
                    ends[k] = np.concatenate([done.y, done.yd])

        if modes is None and len(ends):
            share(len(ends), 1, part, PACE * steps if steps >= MANY else 0.0)
        for sample in np.flatnonzero(np.isnan(ends).any(axis=1)):  # what native code left, in order
            if modes is None:
                self._stepper(wrenches is not None, rubbing).forget()
            row = [values[sample] for values in rows]
            mode = None if modes is None else row[-1]
            try:
                moved = self._steps(h, steps, rubbing, mode, *row[: len(arrays)])
            except ClosureNotFound as error:
                error.sample = int(sample)
                raise
            ends[sample] = np.concatenate(moved)
        return ends[:, : mech.n_y], ends[:, mech.n_y :]

    def derivatives(
        self, y: Vec, yd: Vec, tau_u: Vec, h: float, wrenches: Wrenches, steps: int, guess: Guess
    ) -> StepDerivatives:
        """See :meth:`Robot.step_derivatives`."""
        programs, mech = self._programs, self._programs.mechanism
        h, steps = _checked(h, steps)
        named = ((y, "y", mech.n_y), (yd, "yd", mech.m), (tau_u, "tau_u", mech.p))
        arrays = [as_finite_vectors(*each) for each in named]
        pushed = None if wrenches is None else body_wrenches(mech, wrenches)
        mode = None if guess is None else as_finite_vectors(guess, "guess", mech.n_q)
        given = [part for part in (pushed, mode) if part is not None]
        rows = as_rows("step_derivatives", [*arrays, *given])
        one = rows is None  # which the programs compute without a batch's lanes
        y, yd, tau = (a[None] for a in arrays) if rows is None else rows[:3]

        def dynamics(y: Array, yd: Array) -> list[Array]:
            at = mode, *(part[0] if one else part for part in (y, yd, tau))
            ydd = programs.dynamics(FORWARD_DYNAMICS, *at, wrenches=pushed)
            by = programs.dynamics_parts(FORWARD_DYNAMICS_DERIVATIVES, *at, wrenches=pushed)
            return [part[None] if one else part for part in (ydd, *by)]

        found = step_derivatives(mech, y, yd, h, steps, dynamics)
        return StepDerivatives(*(part[0] for part in found)) if one else found

    def _steps(
        self,
        h: float,
        steps: int,
        friction: Array | None,
        guess: Guess,
        y: Array,
        yd: Array,
        tau_u: Array,
        wrenches: Array | None = None,
    ) -> tuple[Array, Array]:
        if guess is not None:  # with the loops on its assembly mode
            mech = self._programs.mechanism
            pushed = np.zeros(6 * len(mech.tree.bodies)) if wrenches is None else wrenches
            others = tau_u, pushed, np.zeros(2 * mech.n) if friction is None else friction

            def ydd_of(y: Array, yd: Array) -> Array:
                return self._programs.run(FORWARD_DYNAMICS.friction, guess, y, yd, *others)

            for _ in range(steps):
                y, yd = step_in_python(mech, y, yd, h, ydd_of)
                self._programs.named("positions", guess, y)  # closes there, or says why not
            return y, yd
        done = self._stepper(wrenches is not None, friction).run(y, yd, tau_u, h, steps, wrenches)
        if done.error is not None:
            raise done.error
        return done.y, done.yd

    def _stepper(self, wrenches: bool, friction: Array | None) -> Stepper:
        """This thread's stepper of that kind; the one with friction only for the last friction."""
        kept: dict[Any, Stepper] = self._local.__dict__.setdefault("kept", {})
        key = wrenches if friction is None or not friction.any() else friction.tobytes()
        if key not in kept:
            for other in [k for k in kept if isinstance(k, bytes) and isinstance(key, bytes)]:
                del kept[other]
            kept[key] = Stepper(self._programs, wrenches, friction)
        return kept[key]


def _checked(h: float, steps: int) -> tuple[float, int]:
    """The length and the number of steps, or InvalidInput."""
    try:
        length = float(h)
    except (TypeError, ValueError):
        raise InvalidInput(f"h is not a number: {h!r}") from None
    if not math.isfinite(length) or length == 0.0:
        raise InvalidInput(f"h must be finite and not zero: {h!r}")
    return length, as_count(steps, "steps", 1)
