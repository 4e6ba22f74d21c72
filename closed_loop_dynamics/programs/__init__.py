"""The compiled programs of one robot: compile, run, guess, rescue, and the numerical twin."""

from .programs import Names, Programs

__all__ = ["Names", "Programs"]
