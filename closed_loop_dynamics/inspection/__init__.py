"""The linter: what a careful colleague would say about the model files."""

from __future__ import annotations

from .findings import Finding
from .lint import lint
from .report import Report, SubmechanismSummary

__all__ = ["Finding", "Report", "SubmechanismSummary", "lint"]
