"""Keeps the folder of compiled code from growing for ever: what was not used for longest goes.

Only files that the cache itself has named are counted or touched: the folder is the user's choice,
and other things may lie in it. Another process may read, write or tidy at the same time; a file
that is gone is compiled again.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

#: Tidied above this size, down to a share of it [bytes].
LARGEST = 1 << 30
KEPT = 0.7
#: How exactly the last use of a file is known [s].
DAY = 86400.0

_OURS = re.compile(r"[0-9a-f]{64}|[0-9a-f]{16}\w+\.tmp")


def note_use(path: Path, modified: float) -> None:
    """Remember in the file's own time that it was used, once a day."""
    if time.time() - modified > DAY:
        with contextlib.suppress(OSError):
            os.utime(path)


def tidy(folder: Path, largest: float = LARGEST) -> int:
    """Remove what was not used for longest if the files take too much; how many went."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if _OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime, status.st_size, entry.path))
    excess = sum(size for _, size, _ in found) - largest
    if excess <= 0:
        return 0
    excess += (1.0 - KEPT) * largest
    removed = 0
    for _, size, path in sorted(found):
        if excess <= 0:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
            removed += 1
        excess -= size
    return removed
