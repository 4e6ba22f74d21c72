"""A log that waits for no terminal.

rclpy writes its log to stderr and holds Python's interpreter lock meanwhile. A terminal that is
halted (Ctrl-S), or a pipe that nobody empties, would halt every thread of the process, the control
cycle too. So a line that cannot be written at once is not written; it is in /rosout and in the
diagnostics all the same, or not worth a cycle.
"""

from __future__ import annotations

import os
import select
from typing import Any

from rclpy.impl import rcutils_logger

STDERR = 2
#: Of a line [characters]: what a pipe with any room takes at once is a page.
LONGEST = 3000

# Throttling goes by the line of the caller, which is not here.
rcutils_logger._internal_callers.append(os.path.realpath(__file__))


class PatientLogger(rcutils_logger.RcutilsLogger):
    """The logger of a node."""

    def log(self, message: str, severity: Any, **options: Any) -> bool:
        """As any logger; False: it was not written."""
        if not _takes_more(STDERR):
            return False
        return bool(super().log(message[:LONGEST], severity, **options))


def _takes_more(file: int) -> bool:
    try:
        return bool(select.select([], [file], [], 0.0)[1])
    except (OSError, ValueError):  # there is none: nobody can halt it
        return True
