"""The names that ``import closed_loop_dynamics`` offers, each from where it lives."""

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
