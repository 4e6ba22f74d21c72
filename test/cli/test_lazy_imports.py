"""The package imports its parts on first use, and nobody notices."""

from __future__ import annotations

import pytest

import closed_loop_dynamics as cld


def test_all_public_names_are_there():
    assert set(cld.__all__) <= set(dir(cld))
    for name in cld.__all__:
        assert getattr(cld, name).__name__ == name
    from closed_loop_dynamics.robot import load

    assert cld.load is load


def test_unknown_names_are_no_attributes():
    with pytest.raises(AttributeError, match="has no attribute 'lod'"):
        _ = cld.lod
    with pytest.raises(ImportError):
        from closed_loop_dynamics import lod  # noqa: F401
