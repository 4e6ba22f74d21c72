"""Which back-end runs the programs: machine code where llvmlite is, CasADi's own VM elsewhere."""

from __future__ import annotations

import os
import warnings
from functools import lru_cache

from . import native

ENVIRONMENT_VARIABLE = "CLOSED_LOOP_DYNAMICS_BACKEND"


class BackendWarning(RuntimeWarning):
    """The fast back-end is not available; results are the same, only slower."""


def use_native() -> bool:
    """True for machine code.

    The environment variable CLOSED_LOOP_DYNAMICS_BACKEND may say ``vm`` or ``native``; without it
    llvmlite decides, and its absence is reported once per process.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE, "")
    if chosen not in ("", "native", "vm"):
        raise ValueError(f"{ENVIRONMENT_VARIABLE} is '{chosen}'; valid: native, vm")
    if chosen == "vm":
        return False
    if native.available():
        return True
    if chosen == "native":
        raise ImportError(f"{ENVIRONMENT_VARIABLE} asks for native code, which needs llvmlite")
    _warn_once()
    return False


@lru_cache(maxsize=1)
def _warn_once() -> None:
    warnings.warn(
        "llvmlite is not installed: programs run on CasADi's virtual machine, far "
        "slower; `pip install llvmlite` brings native speed",
        BackendWarning,
        stacklevel=3,
    )
