"""A robot as a file, in the formats that others read."""

from .write import FORMATS, Written, compose, write_robot

__all__ = ["FORMATS", "Written", "compose", "write_robot"]
