"""Compiled code on disk: one file per unit, found by content key.

Safe by construction: a file is written beside its final name and renamed (two processes may
compile at once), carries a checksum of its key and content (a truncated, altered or renamed file
counts as absent), and a folder that cannot be written only costs the time to compile again. It does
not grow without end: what was not used for longest goes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

_MAGIC = b"CLDCACHE2\n"
ENVIRONMENT_VARIABLE = "CLOSED_LOOP_DYNAMICS_CACHE"
#: Tidied above this size, down to a share of it [bytes].
LARGEST = 1 << 30
KEPT = 0.7
#: How exactly the last use of a file is known [s].
DAY = 86400.0

_NAMES = re.compile(r"[0-9a-f]{64}|[0-9a-f]{16}\w+\.tmp")


def folder() -> Path | None:
    """Where compiled code is kept; None when caching is switched off (empty variable).

    None, too, for a user without a home: ``~`` must not become a folder's name.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen is not None:
        return Path(chosen) if chosen else None
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # the XDG specification: ignore relative paths
        base = Path(os.path.expanduser("~")) / ".cache"
    return base / "closed_loop_dynamics" if base.is_absolute() else None


def load(key: str) -> tuple[dict[str, Any], bytes] | None:
    """The metadata and code stored under ``key``, or None when there is nothing usable."""
    place = folder()
    if place is None:
        return None
    try:
        with open(place / key, "rb") as stream:
            status = os.fstat(stream.fileno())
            if not _ours(status):
                return None
            data = stream.read()
    except OSError:
        return None
    if not data.startswith(_MAGIC):
        return None
    digest, payload = data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
    if _checksum(key, payload) != digest:
        return None
    _note_use(place / key, status.st_mtime)
    header, _, code = payload.partition(b"\n")
    metadata: dict[str, Any] = json.loads(header)
    return metadata, code


def _ours(status: os.stat_result) -> bool:
    """Native code is run as it is read: take only files that nobody else could have written."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _checksum(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + payload).digest()


def store(key: str, metadata: dict[str, Any], code: bytes = b"") -> bool:
    """Keep ``code`` under ``key``; False when the folder does not allow it."""
    place = folder()
    if place is None:
        return False
    payload = json.dumps(metadata).encode() + b"\n" + code
    temporary = None
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=key[:16], suffix=".tmp", dir=place)
        with os.fdopen(handle, "wb") as stream:
            stream.write(_MAGIC + _checksum(key, payload) + payload)
        os.replace(temporary, place / key)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return False
    _tidy_once(place)
    return True


@lru_cache(maxsize=8)
def _tidy_once(place: Path) -> None:
    """Once per process and folder, when there is something new in it."""
    tidy(place)


def _note_use(path: Path, modified: float) -> None:
    """Remember in the file's own time that it was used, once a day."""
    if time.time() - modified > DAY:
        with contextlib.suppress(OSError):
            os.utime(path)


def tidy(place: Path, largest: float = LARGEST) -> int:
    """Remove what was not used for longest if the files take too much; how many went.

    Only files that the cache itself has named are counted or touched: the folder is the user's
    choice, and other things may lie in it. Another process may read, write or tidy at the same
    time; a file that is gone is compiled again.
    """
    found = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if _NAMES.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
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


def get_or_make(
    key: str, make: Callable[[], tuple[dict[str, Any], bytes]]
) -> tuple[dict[str, Any], bytes]:
    """What is stored under ``key``; made, and kept for the next time, when there is nothing."""
    found = load(key)
    if found is None:
        found = make()
        store(key, *found)
    return found


def digest_of_files(root: Path, files: Iterable[Path]) -> str:
    """Hash of the names below ``root`` and the contents of files."""
    h = hashlib.sha256()
    for path in sorted(files):
        h.update(path.relative_to(root).as_posix().encode() + b"\0")
        h.update(path.read_bytes())
    return h.hexdigest()


def key_of(*parts: Any) -> str:
    """A cache key from anything with a faithful ``repr``."""
    h = hashlib.sha256()
    for part in parts:
        h.update(part if isinstance(part, bytes) else repr(part).encode())
        h.update(b"\0")
    return h.hexdigest()
