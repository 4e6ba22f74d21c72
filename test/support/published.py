"""Tests that need published robot files; where these come from is said in tools/published.py."""

from __future__ import annotations

import pytest

from tools.published import MODELS, REMEDY, ZOO, ZOO_REMEDY

__all__ = ["HERE", "MODELS", "REASON", "ZOO", "needs_models", "needs_zoo"]

HERE = MODELS.is_dir()
REASON = f"published robots are not here: {REMEDY}"
needs_models = pytest.mark.skipif(not HERE, reason=REASON)
needs_zoo = pytest.mark.skipif(
    not ZOO.is_dir(), reason=f"robots in other formats are not here: {ZOO_REMEDY}"
)
