"""A content hash of a parsed model: equal robots share compiled code, whatever the file names."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np

#: Where a word stands in its file does not change the mathematics, nor do looks, remarks and
#: transmissions that no submechanism asks for; nor does the task space, which has its own programs.
_IGNORED = {
    *("place", "file", "source", "task_space"),
    *("visuals", "transmissions", "broken_transmission", "remarks", "vocabulary"),
}


def digest(*objects: Any) -> str:
    """Hash of dataclasses, arrays, containers and scalars."""
    h = hashlib.sha256()
    for item in objects:
        _feed(h, item)
    return h.hexdigest()


def _feed(h: Any, item: Any) -> None:
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        h.update(type(item).__name__.encode())
        for field in dataclasses.fields(item):
            if field.name not in _IGNORED:
                _feed(h, getattr(item, field.name))
    elif isinstance(item, np.ndarray):
        h.update(repr(item.shape).encode() + np.ascontiguousarray(item).tobytes())
    elif isinstance(item, dict):
        h.update(b"{%d" % len(item))
        for key, value in item.items():
            _feed(h, key)
            _feed(h, value)
    elif isinstance(item, (tuple, list)):
        h.update(b"[%d" % len(item))
        for value in item:
            _feed(h, value)
    else:
        h.update(repr(item).encode() + b";")
