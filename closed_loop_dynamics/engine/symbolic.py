"""CasADi, imported when it is first needed: a robot whose code is cached loads without it.

CasADi's symbolic expressions are not safe to touch from two threads: its calls let other threads
run, and even freeing an expression changes shared counters. So whoever traces does it inside
:func:`tracing`, which admits one thread at a time and keeps the garbage collector (which might free
expressions in another thread) still meanwhile.
"""

from __future__ import annotations

import gc
import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.RLock()
_depth = 0
_collect_again = False


class _Lazy:
    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module("casadi"), name)
        setattr(self, name, value)  # found without this method from now on
        return value


ca: Any = _Lazy()


@contextmanager
def tracing() -> Iterator[None]:
    """Hold CasADi for this thread; expressions must not outlive the block."""
    global _depth, _collect_again
    with _lock:
        if _depth == 0:
            _collect_again = gc.isenabled()
            gc.disable()
        _depth += 1
        try:
            yield
        finally:
            _depth -= 1
            if _depth == 0 and _collect_again:
                gc.enable()
