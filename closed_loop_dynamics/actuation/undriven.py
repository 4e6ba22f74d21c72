"""Which motions no actuator drives, in numbers and in words."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..dynamics.actuation_rank import natural_sizes, rank_of
from ..errors import ClosureNotFound, Underactuated
from ..programs import Programs
from ..quantities.coordinates import reference_independent


def null_space(G_u: Array, sizes: tuple[Array, Array]) -> Array:
    """(k, m) orthonormal directions yd with G_u yd = 0; ``sizes`` by natural_sizes."""
    if not G_u.shape[0]:
        return np.eye(G_u.shape[1])
    scaled = G_u / sizes[0][:, None] * sizes[1]
    Vt = np.linalg.svd(scaled)[2]
    directions = Vt[rank_of(scaled) :] * sizes[1]
    return np.asarray(np.linalg.qr(directions.T)[0].T)


def undriven_words(programs: Programs, c: int) -> str:
    """The undriven directions of component ``c`` at the reference: "0.71 hip - 0.71 knee"."""
    mech = programs.mechanism
    component = mech.components[c]
    columns = [mech.yd.at[b] for b in component.independent]
    rows = [mech.qd.at[b] for b in component.active]
    names = [mech.joint_name(b) for b in component.independent]
    try:
        G = programs.run("loop_jacobian", None, reference_independent(mech, programs.branches))
    except ClosureNotFound:  # a function that is not finite there; report() says so
        return f"some motion of {', '.join(names)}"
    directions = null_space(G[np.ix_(rows, columns)], natural_sizes(mech, c))
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
    return Underactuated(
        f"submechanism '{component.entry.name}' has fewer actuators than degrees of freedom "
        f"({len(component.active)} of {len(component.independent)}), nothing drives "
        f"{undriven_words(programs, c)} (at the reference): actuator forces are not determined; "
        "use generalized_forces, or list jointnames_active"
    )


def require_actuators(programs: Programs) -> None:
    """Raise Underactuated when actuator forces are not determined."""
    if programs.underactuated:
        raise underactuated_error(programs, programs.underactuated[0])
