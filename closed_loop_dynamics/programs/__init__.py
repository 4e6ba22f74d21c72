"""The compiled programs of one robot: compile, run, guess, rescue, and the numerical twin."""

from .programs import CORE, Names, Programs

__all__ = ["CORE", "Names", "Programs"]
