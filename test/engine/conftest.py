"""Every test of the engine has a cache folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_CACHE", str(folder))
    monkeypatch.delenv("CLOSED_LOOP_DYNAMICS_BACKEND", raising=False)
    return folder
