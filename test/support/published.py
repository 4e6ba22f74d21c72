"""Tests that need published robot files; where these come from is said in tools/published.py."""

from __future__ import annotations

import pytest

from tools.published import MODELS, REMEDY

__all__ = ["HERE", "MODELS", "REASON", "needs_models"]

HERE = MODELS.is_dir()
REASON = f"published robots are not here: {REMEDY}"
needs_models = pytest.mark.skipif(not HERE, reason=REASON)
