"""Robots with closed kinematic loops, as easy to command and simulate as a serial arm.

``load`` a URDF and a submechanism file; see :class:`Robot` for what it can do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import (
    ActuationInfeasible,
    ActuationSingular,
    ClosedLoopError,
    ClosureNotFound,
    EquilibriumNotFound,
    InvalidInput,
    MjcfError,
    ModelError,
    NotWritable,
    SingularInertia,
    SubmechanismError,
    TargetNotReached,
    Underactuated,
    UrdfError,
)

if TYPE_CHECKING:
    from .programs import Names
    from .quantities.internal_loads import InternalLoads
    from .quantities.operational_space import ForceResponse, MassMatrixFactors
    from .quantities.state import State
    from .robot import Robot, load
    from .simulation.payload import Payload
    from .simulation.stepping import Friction

__version__ = "0.1.0"

__all__ = [
    "ActuationInfeasible",
    "ActuationSingular",
    "ClosedLoopError",
    "ClosureNotFound",
    "EquilibriumNotFound",
    "ForceResponse",
    "Friction",
    "InternalLoads",
    "InvalidInput",
    "MassMatrixFactors",
    "MjcfError",
    "ModelError",
    "Names",
    "NotWritable",
    "Payload",
    "Robot",
    "SingularInertia",
    "State",
    "SubmechanismError",
    "TargetNotReached",
    "Underactuated",
    "UrdfError",
    "load",
]

#: Imported on first use: `closed-loop --help` need not wait for numpy and the engine, and a node's
#: process knows what a signal means before they are there.
_HOME = {
    "ForceResponse": "quantities.operational_space",
    "Friction": "simulation.stepping",
    "InternalLoads": "quantities.internal_loads",
    "MassMatrixFactors": "quantities.operational_space",
    "Names": "programs",
    "Payload": "simulation.payload",
    "Robot": "robot",
    "State": "quantities.state",
    "load": "robot",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
