"""From measured actuator positions back to independent ones: u -> y, component by component."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, as_finite_vectors, as_rows
from ..closure.branch import Branch
from ..closure.forward_kinematics import independent_of
from ..errors import Underactuated
from ..mechanism import Mechanism

#: Component with loops -> its branch with the actuators as independent joints.
ActuatorBranch = Callable[[int], Branch]


def independent_from_actuator(
    mechanism: Mechanism,
    branches: Mapping[int, Branch],
    actuator_branch: ActuatorBranch,
    u: ArrayLike,
    guess: ArrayLike | None,
) -> Array:
    """y (..., n_y) for actuator positions u (..., p); see :meth:`Robot.independent_from_actuator`.

    Args:
        branches: of every component with loops.
        guess: (..., n_y) independent positions near the answer; None for the branches of the
            reference configurations.
    """
    u = as_finite_vectors(u, "u", mechanism.p)
    given = [u]
    if guess is not None:
        guess = as_finite_vectors(guess, "guess", mechanism.n_y)
        given.append(guess)
    rows = as_rows("independent_from_actuator", given)
    if rows is None:
        return _one_sample(mechanism, branches, actuator_branch, u, guess)
    found = [
        _one_sample(mechanism, branches, actuator_branch, *sample)
        for sample in zip(*rows, strict=True)
    ]
    return np.array(found).reshape(len(rows[0]), mechanism.n_y)


def _one_sample(
    mech: Mechanism,
    branches: Mapping[int, Branch],
    actuator_branch: ActuatorBranch,
    u: Array,
    guess: Array | None = None,
) -> Array:
    y = np.zeros(mech.n_y)
    if mech.floating:
        y[:7] = guess[:7] if guess is not None else [0, 0, 0, 0, 0, 0, 1]
    slot = {b: i for i, b in enumerate(mech.actuator)}
    for c, component in enumerate(mech.components):
        if mech.is_floating(c) or not component.independent:
            continue
        if len(component.active) < len(component.independent):
            raise Underactuated(
                f"submechanism '{component.entry.name}': {len(component.active)} actuators do not "
                f"determine {len(component.independent)} independent joints"
            )
        places = [mech.y_at[b] for b in component.independent]
        measured = u[[slot[b] for b in component.active]]
        if component.active == component.independent:
            y[places] = measured
            continue
        rows = [component.joints.index(b) for b in component.active]
        start = None if guess is None else guess[places]
        if c in branches:
            y[places] = independent_of(branches[c], actuator_branch(c), rows, measured, start)
        else:
            y[places] = mech.closures[c].invert(rows, measured, start)
    return y
