"""Dynamic parameters from logs of a robot, and motions that show them (docs/identification.md)."""

from .excitation import Excitation, excite
from .files import read_parameters
from .identify import BaseParameter, Identification, identify
from .log import CUTOFF, Log, measured

__all__ = [
    "CUTOFF",
    "BaseParameter",
    "Excitation",
    "Identification",
    "Log",
    "excite",
    "identify",
    "measured",
    "read_parameters",
]
