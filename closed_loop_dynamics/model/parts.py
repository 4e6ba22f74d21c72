"""Bodies while they are built: each collects the links that are fixed to it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from .tree import Body, Joint

#: Mass, (3,) centre of mass in the link frame, (3, 3) inertia about it in link axes.
LinkInertia = tuple[float, Array, Array]


@dataclass
class Part:
    """A body that is still collecting the links fixed to it."""

    link: str
    parent: int
    joint: Joint
    mass: float = 0.0
    first_moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    links: list[str] = field(default_factory=list)

    def add(self, link: str, frame: Array, link_inertia: LinkInertia | None) -> None:
        """A link at ``frame`` (4, 4) of the body."""
        self.links.append(link)
        if link_inertia is None:
            return
        mass, com, inertia = link_inertia
        rotation = frame[:3, :3]
        com = rotation @ com + frame[:3, 3]
        self.mass += mass
        self.first_moment += mass * com
        self.inertia += _about_origin(mass, com, rotation @ inertia @ rotation.T)

    @property
    def is_finite(self) -> bool:
        """Whether no number has overflowed."""
        return all(np.isfinite(x).all() for x in (self.mass, self.first_moment, self.inertia))

    def freeze(self) -> Body:
        """The body, once it is complete."""
        return Body(**{**vars(self), "links": tuple(self.links)})


def _about_origin(mass: float, com: Array, inertia: Array) -> Array:
    """(3, 3) inertia moved from the centre of mass to the origin (parallel axes) [kg·m²]."""
    return inertia + mass * (np.dot(com, com) * np.eye(3) - np.outer(com, com))
