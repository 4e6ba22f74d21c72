"""Robots with closed kinematic loops, as easy to command and simulate as a serial arm.

``load`` a URDF and a submechanism file; see :class:`Robot` for what it can do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .public import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The names of ``public``, imported when the first of them is used.

    A node's process imports this package too, and must know what a signal means before the second
    that numpy and the rest take (``ros/start.py``).
    """
    if name == "__all__" or not name.startswith("__"):
        public = import_module(".public", __name__)
        if name in globals():  # a module that has been imported on the way
            return globals()[name]
        if name in ("__all__", *public.__all__):
            return getattr(public, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module(".public", __name__).__all__})
