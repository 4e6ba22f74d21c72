"""A log that waits for no terminal.

rclpy writes its log to stderr and holds Python's interpreter lock meanwhile. A terminal that is
halted (Ctrl-S), or a pipe that nobody empties, would halt every thread of the process, the control
cycle too. So a line that cannot be written at once is not written: it is worth less than a cycle.
Imports no ROS.
"""

from __future__ import annotations

import select
from typing import Any

STDERR = 2


class Silence:
    """A logger, in place of one that would have to wait."""

    def say_nothing(self, message: str, **options: Any) -> bool:
        """False: it was not written."""
        return False

    debug = info = warning = error = fatal = say_nothing


SILENCE = Silence()


def patient(logger: Any) -> Any:
    """``logger``, or silence if its next line would have to wait. Ask anew for each line."""
    return logger if _takes_more(STDERR) else SILENCE


def _takes_more(file: int) -> bool:
    try:
        return bool(select.select([], [file], [], 0.0)[1])
    except (OSError, ValueError):  # there is none: nobody can halt it
        return True
