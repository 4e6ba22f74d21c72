"""What is really said of the commands. No ROS in here.

A command may be replaced by a newer one before it could be sent, so that what the drives have heard
lags behind what was commanded. How far efforts may step, and when enough has been said to a robot
that is out of hand, is therefore decided here, where they are spoken.
"""

from __future__ import annotations

from ..arrays import Array
from .controller import Command
from .efforts import EffortRate

#: How often efforts of zero are said of a robot that is out of hand: who keeps the last one that
#: came does not keep another. Then there is silence, as every further one would keep the drives
#: from holding it.
LAST_ZEROS = 2


class Voice:
    """Says efforts; belongs to one thread at a time."""

    def __init__(self, rate: EffortRate) -> None:
        self._rate = rate
        self.restart()

    def restart(self) -> None:
        """Whatever comes first may come."""
        self._rate.begin(None)
        self._zeros = 0

    @property
    def has_let_go(self) -> bool:
        """Zero has been said, often enough."""
        return self._zeros >= LAST_ZEROS

    def of(self, command: Command) -> Array | None:
        """(p,) what is said of a command; None: nothing."""
        ended = command.powerless and self.has_let_go and not command.efforts.any()
        return None if command.silent or ended else self.say(command.efforts)

    def say(self, efforts: Array) -> Array:
        """(p,) efforts on the way from those that were said last."""
        said = self._rate.limited(efforts)
        self._zeros = 0 if said.any() else self._zeros + 1
        return said
