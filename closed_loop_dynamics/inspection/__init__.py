"""The linter: what a careful colleague would say about the model files."""

from __future__ import annotations

from .lint import lint
from .report import Finding, Report, SubmechanismSummary
from .units import units_of_files

__all__ = ["Finding", "Report", "SubmechanismSummary", "lint", "units_of_files"]
