"""What is really said of the commands. No ROS in here.

A command may be replaced by a newer one before it could be sent, so that what the drives have heard
lags behind what was commanded. How far efforts may step, and when enough has been said to a robot
that is out of hand, is therefore decided here, where they are spoken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from .controller import Command
from .efforts import EffortRate

#: How often efforts of zero are said of a robot that is out of hand: who keeps the last one that
#: came does not keep another. Then there is silence, as every further one would keep the drives
#: from holding it.
LAST_ZEROS = 2


class Voice:
    """Says efforts; belongs to one thread at a time.

    Args:
        speak: sends efforts (p,) to the drives; what it raises has not been said.
    """

    def __init__(self, rate: EffortRate, speak: Callable[[Array], None]) -> None:
        self._rate = rate
        self._speak = speak
        self.restart()

    def restart(self) -> None:
        """Whatever comes first may come."""
        self._rate.begin(None)
        self._zeros = 0

    @property
    def has_let_go(self) -> bool:
        """Zero has been said, often enough."""
        return self._zeros >= LAST_ZEROS

    def follow(self, command: Command) -> None:
        """Say a command, if it is to be said."""
        ended = command.powerless and self.has_let_go and not command.efforts.any()
        if not command.silent and not ended:
            self.say(command.efforts)

    def let_go(self) -> None:
        """The next word towards zero, if any is missing."""
        if self._rate.last is not None and not self.has_let_go:
            self.say(np.zeros_like(self._rate.last))

    def say(self, efforts: Array) -> None:
        """Say efforts (p,) on the way from those that were said last."""
        before = self._rate.last
        said = self._rate.limited(efforts)
        try:
            self._speak(said)
        except BaseException:
            self._rate.begin(before)
            raise
        self._zeros = 0 if said.any() else self._zeros + 1
