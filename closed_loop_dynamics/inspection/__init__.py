"""The linter: what a careful colleague would say about the model files."""

from __future__ import annotations

from .findings import Finding
from .lint import Report, SubmechanismSummary, lint

__all__ = ["Finding", "Report", "SubmechanismSummary", "lint"]
