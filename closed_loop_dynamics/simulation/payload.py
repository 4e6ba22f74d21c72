"""A payload: a rigid body fixed to a link at run time; it only changes the parameter vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..arrays import Array, Vec, as_finite_vectors
from ..dynamics.parameters import body_parameters, parameter_view
from ..errors import InvalidInput
from ..mechanism import Mechanism
from ..quantities.links import frame_of

#: Link -> what it carries.
Payloads = Mapping[str, "Payload"] | None
#: Rounding that an inertia matrix may show, relative to its size.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Payload:
    """What a link carries.

    Attributes:
        mass: [kg].
        com: (3,) centre of mass in the link frame [m].
        inertia: (3, 3) about the centre of mass, in the axes of the link frame [kg m^2]; zero for a
            point mass.
    """

    mass: float
    com: Vec = (0.0, 0.0, 0.0)
    inertia: Vec = ((0.0,) * 3,) * 3

    def __post_init__(self) -> None:
        mass = as_finite_vectors([self.mass], "payload: mass", 1)
        com = as_finite_vectors(self.com, "payload: com", 3)
        try:
            inertia = np.asarray(self.inertia, dtype=float)
        except (TypeError, ValueError):
            raise InvalidInput("payload: inertia is not a (3, 3) matrix of numbers") from None
        if com.ndim != 1 or inertia.shape != (3, 3):
            raise InvalidInput("payload: com is not (3,) or inertia is not (3, 3)")
        inertia = as_finite_vectors(inertia, "payload: inertia", 3)
        if mass[0] < 0.0:
            raise InvalidInput(f"payload: mass {mass[0]:g} is negative")
        slack = _ROUNDING * max(float(np.abs(inertia).max()), 1e-12)
        moments = np.linalg.eigvalsh(inertia)
        if np.abs(inertia - inertia.T).max() > slack:
            raise InvalidInput("payload: inertia is not symmetric")
        if moments[0] < -slack or moments[2] > moments[0] + moments[1] + slack:
            raise InvalidInput(
                f"payload: no body has the principal moments of inertia {moments}; each must be "
                "positive and at most the sum of the other two"
            )
        object.__setattr__(self, "mass", float(mass[0]))
        object.__setattr__(self, "com", com)
        object.__setattr__(self, "inertia", inertia)

    def parameters(self, pose: Array) -> Array:
        """(10,) in the frame in which the link has ``pose`` (4, 4)."""
        R, p = pose[:3, :3], pose[:3, 3]
        c = R @ np.asarray(self.com) + p
        about_com = R @ np.asarray(self.inertia) @ R.T
        about_origin = about_com + self.mass * ((c @ c) * np.eye(3) - np.outer(c, c))
        return body_parameters(self.mass, self.mass * c, about_origin)


class Carried(Protocol):
    """Whoever knows the dynamic parameters that count at present (None: the model's)."""

    parameters: Array | None


def add_payloads(mech: Mechanism, pi: Array, payloads: Mapping[str, Payload]) -> Array:
    """Parameters ``pi`` (..., parameters) with payloads on links; on the fixed root they rest."""
    if not isinstance(payloads, Mapping):
        raise InvalidInput("payload is not a mapping from link names to Payload(mass, com, ...)")
    result = pi.copy()
    bodies = parameter_view(mech, result).bodies
    for link, payload in payloads.items():
        if not isinstance(payload, Payload):
            raise InvalidInput(f"payload['{link}'] is not a Payload; write Payload(mass, com, ...)")
        body, pose = frame_of(mech.tree, link)
        if body >= 0:
            bodies[..., body, :] += payload.parameters(pose)
    return result
