"""Compiled code on disk: one file per unit, found by content key.

Safe by construction: a file is written beside its final name and renamed (two processes may
compile at once), carries a checksum (a truncated or altered file counts as absent), and a folder
that cannot be written only costs the time to compile again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

_MAGIC = b"CLDCACHE1\n"
ENVIRONMENT_VARIABLE = "CLOSED_LOOP_DYNAMICS_CACHE"


def folder() -> Path | None:
    """Where compiled code is kept; None when caching is switched off (empty variable)."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen is not None:
        return Path(chosen) if chosen else None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "closed_loop_dynamics"


def load(key: str) -> tuple[dict[str, Any], bytes] | None:
    """The metadata and code stored under ``key``, or None when there is nothing usable."""
    place = folder()
    if place is None:
        return None
    path = place / key
    try:
        # Native code is run as it is read: take only files that this user wrote.
        if hasattr(os, "getuid") and path.stat().st_uid not in (os.getuid(), 0):
            return None
        data = path.read_bytes()
    except OSError:
        return None
    if not data.startswith(_MAGIC):
        return None
    digest, payload = data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
    if hashlib.sha256(payload).digest() != digest:
        return None
    header, _, code = payload.partition(b"\n")
    metadata: dict[str, Any] = json.loads(header)
    return metadata, code


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
            stream.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
        os.replace(temporary, place / key)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return False
    return True


@lru_cache(maxsize=1)
def source_digest() -> str:
    """Hash of the package's own source: a changed algorithm never meets old compiled code."""
    h = hashlib.sha256()
    root = Path(__file__).resolve().parent.parent
    for folder_name in ("engine", "closure", "dynamics", "model", "."):
        for path in sorted((root / folder_name).glob("*.py")):
            h.update(path.name.encode())
            h.update(path.read_bytes())
    return h.hexdigest()


def key_of(*parts: Any) -> str:
    """A cache key from anything with a faithful ``repr``."""
    h = hashlib.sha256()
    for part in parts:
        h.update(part if isinstance(part, bytes) else repr(part).encode())
        h.update(b"\0")
    return h.hexdigest()
