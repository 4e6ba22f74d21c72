"""CasADi, imported when it is first needed: a robot whose code is cached loads without it."""

from __future__ import annotations

import importlib
from typing import Any


class _Lazy:
    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("casadi"), name)


ca: Any = _Lazy()
