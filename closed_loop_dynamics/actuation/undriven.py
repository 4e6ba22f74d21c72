"""Which motions no actuator drives, in numbers and in words."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import ClosureNotFound, Underactuated
from ..programs import Programs
from ..quantities.coordinates import reference_independent
from ..quantities.state import actuator_jacobian
from .blocks import Blocks


def undriven_words(programs: Programs, c: int) -> str:
    """The undriven directions of component ``c`` at the reference: "0.71 hip - 0.71 knee"."""
    mech = programs.mechanism
    names = list(mech.velocities(mech.components[c].independent).names)
    block = next(block for block in Blocks(mech) if block.component == c)
    try:
        y = reference_independent(mech, programs.branches)
        directions = block.undriven(actuator_jacobian(programs, y, None))
    except ClosureNotFound:  # a function that is not finite there; report() says so
        return f"some motion of {', '.join(names)}"
    return "; ".join(direction_words(direction, names) for direction in directions)


def direction_words(direction: Array, names: list[str]) -> str:
    """A direction as a sum of named joints, its largest entry positive."""
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    parts = [
        (value, name) for value, name in zip(direction, names, strict=True) if abs(value) > 5e-3
    ]
    if len(parts) == 1:
        return parts[0][1]
    words = [f"{'-' if value < 0 else '+'} {abs(value):.2g} {name}" for value, name in parts]
    return " ".join(words).removeprefix("+ ")


def underactuated_error(programs: Programs, c: int) -> Underactuated:
    """What to raise when actuator forces of component ``c`` are asked for."""
    component = programs.mechanism.components[c]
    freedom = programs.mechanism.velocities(component.independent).size
    return Underactuated(
        f"submechanism '{component.entry.name}' has fewer actuators than degrees of freedom "
        f"({len(component.active)} of {freedom}), nothing drives "
        f"{undriven_words(programs, c)} (at the reference): actuator forces are not determined; "
        "use actuation.inverse_dynamics, which says what is left over, or generalized_forces, or "
        "list jointnames_active"
    )


def require_actuators(programs: Programs) -> None:
    """Raise Underactuated when actuator forces are not determined."""
    if programs.underactuated:
        raise underactuated_error(programs, programs.underactuated[0])
