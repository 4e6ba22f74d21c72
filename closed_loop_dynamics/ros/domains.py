"""ROS domains of one's own, for graphs that neither hear nor disturb others on this machine.

Imports no ROS.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

_first = os.getpid()


def reserve_domain() -> tuple[int, IO[str]]:
    """A domain that nobody else who asks here uses, and the lock that keeps it so until it closes.

    The search goes on where the last one ended: a domain rests before it is used again, so that
    peers that were killed in it are forgotten.

    Raises:
        RuntimeError: all are in use.
    """
    global _first
    for number in range(_first, _first + 100):
        domain = 1 + number % 100
        path = Path(tempfile.gettempdir()) / f"closed_loop_dynamics_domain_{domain}_{os.getuid()}"
        lock = path.open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        _first = number + 1
        return domain, lock
    raise RuntimeError("all ROS domains are in use")
