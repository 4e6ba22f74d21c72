"""What a process needs so that its control thread is on time, as far as the system allows it.

A thread that waits for Python's interpreter waits for whoever holds it. Priority for the control
thread alone is therefore worth little: every thread of the process gets one, just below it, and no
page of its memory has to be fetched from a disk. Imports no ROS.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

MCL_CURRENT, MCL_FUTURE = 1, 2


def set_priority(priority: int, thread: int = 0) -> str:
    """Real-time priority (SCHED_FIFO) for a thread, 0: the calling one; what is in the way."""
    try:
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))
    except ProcessLookupError:
        return ""  # it has just ended
    except (OSError, AttributeError) as error:
        return (
            f"no real-time priority {priority}: {error}; allow it with "
            f"'rtprio {priority}' for the user in limits.conf"
        )
    return ""


def prefer_process(priority: int) -> str:
    """All threads that there are just below ``priority``, and memory locked; what is in the way.

    Threads that are started later are like the one that starts them.
    """
    reasons = [set_priority(max(priority - 1, 1), thread) for thread in _threads()]
    return next(filter(None, reasons), "") or _lock_memory()


def release_process() -> None:
    """As any process again."""
    for thread in _threads():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
    ctypes.CDLL(None).munlockall()


def _threads() -> list[int]:
    return [int(task.name) for task in Path("/proc/self/task").glob("*")]


def _lock_memory() -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(MCL_CURRENT | MCL_FUTURE) == 0:
        return ""
    reason = os.strerror(ctypes.get_errno())
    return f"memory cannot be locked: {reason}; allow it with 'memlock unlimited' in limits.conf"
