"""Springs, whatever the format: at a joint, or between points of two links. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Spring:
    """Pulls x back with the force preload + stiffness (x - rest); x is a position or a length.

    Attributes:
        stiffness: [N m/rad or N/m].
        rest: where the preload alone pulls [rad or m].
        preload: [N m or N]; positive pulls towards smaller x.
    """

    stiffness: float
    rest: float = 0.0
    preload: float = 0.0

    @property
    def at_zero(self) -> float:
        """The force at x = 0."""
        return self.preload - self.stiffness * self.rest


@dataclass(frozen=True, kw_only=True)
class JointSpring(Spring):
    """A spring at a joint of one position: x is that position."""

    joint: str


@dataclass(frozen=True, kw_only=True)
class PointSpring(Spring):
    """A spring between two points: x is their distance [m].

    Attributes:
        links: the two links; points: where it is fixed to them, in their frames [m].
    """

    links: tuple[str, str]
    points: tuple[Point, Point]

    @property
    def has_direction(self) -> bool:
        """It pulls where it has no length as well, so its direction must be known."""
        return self.at_zero != 0.0

    @property
    def name(self) -> str:
        """For messages."""
        return f"the spring between '{self.links[0]}' and '{self.links[1]}'"
