"""A robot's functions as plain C, for controllers without Python."""

from .export import Export, export_c
from .functions import DEFAULT

__all__ = ["DEFAULT", "Export", "export_c"]
