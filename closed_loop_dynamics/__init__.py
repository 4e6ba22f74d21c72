"""Robots with closed kinematic loops, as easy to command and simulate as a serial arm.

``load`` a URDF and a submechanism file; see :class:`Robot` for what it can do.
"""

from __future__ import annotations

from .errors import (
    ActuationInfeasible,
    ActuationSingular,
    ClosedLoopError,
    ClosureNotFound,
    InvalidInput,
    ModelError,
    SingularInertia,
    SubmechanismError,
    Underactuated,
    UrdfError,
)
from .robot import Robot, load
from .robot_parts.compiled import Names
from .robot_parts.operational_space import ForceResponse, MassMatrixFactors
from .robot_parts.payload import Payload
from .robot_parts.state import State
from .robot_parts.stepping import Friction

__version__ = "0.1.0"

__all__ = [
    "ActuationInfeasible",
    "ActuationSingular",
    "ClosedLoopError",
    "ClosureNotFound",
    "ForceResponse",
    "Friction",
    "InvalidInput",
    "MassMatrixFactors",
    "ModelError",
    "Names",
    "Payload",
    "Robot",
    "SingularInertia",
    "State",
    "SubmechanismError",
    "Underactuated",
    "UrdfError",
    "load",
]
