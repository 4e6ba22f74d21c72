"""From measured actuator positions back to independent ones: u -> y, component by component."""

from __future__ import annotations

from functools import partial

from ..arrays import Array, Guess, Vec, as_finite_vectors, row_by_row
from ..closure.forward_kinematics import independent_of
from ..errors import Underactuated
from ..programs import Programs
from .undriven import require_actuators


def independent_from_actuator(programs: Programs, u: Vec, guess: Guess) -> Array:
    """y (..., n_y) for actuator positions u (..., p); see :meth:`Robot.independent_from_actuator`.

    Args:
        guess: (..., n_y) independent positions near the answer; None for the branches of the
            reference configurations.
    """
    mech = programs.mechanism
    given = [as_finite_vectors(u, "u", mech.p)]
    if guess is not None:
        given.append(as_finite_vectors(guess, "guess", mech.n_y))
    one = partial(_one_sample, programs)
    return row_by_row("independent_from_actuator", one, given, mech.n_y)


def encoder_step(programs: Programs, y: Vec, u: Vec, ud: Vec) -> tuple[Array, Array]:
    """One step of Newton's method from y (m,) towards encoders that read u (p,), and yd of ud (p,).

    Both with G_u at ``y``; of redundant actuators in the sense of least squares.

    Raises:
        ActuationSingular: G_u has lost rank there.
        Underactuated: a submechanism has fewer actuators than degrees of freedom.
    """
    if programs.underactuated:
        require_actuators(programs)
    found = programs.named("encoder_step", None, y, u, ud)
    return found["dy"], found["yd"]


def _one_sample(programs: Programs, u: Array, guess: Array | None = None) -> Array:
    mech, branches = programs.mechanism, programs.branches
    # What no encoder sees, a free flyer, stays where the guess has it.
    y = mech.neutral_y() if guess is None else guess.copy()
    slot = {b: i for i, b in enumerate(mech.actuator)}
    for c in mech.drivable:
        component = mech.components[c]
        if len(component.active) < len(component.independent):
            raise Underactuated(
                f"submechanism '{component.entry.name}': {len(component.active)} actuators do not "
                f"determine {len(component.independent)} independent joints"
            )
        places = mech.y.slots(component.independent)
        measured = u[[slot[b] for b in component.active]]
        if component.active == component.independent:
            y[places] = measured
            continue
        rows = [component.joints.index(b) for b in component.active]
        start = None if guess is None else guess[places]
        if c in branches:
            actuators = programs.actuator_branch(c)
            y[places] = independent_of(branches[c], actuators, rows, measured, start)
        else:
            y[places] = mech.closures[c].invert(rows, measured, start)
    return y
