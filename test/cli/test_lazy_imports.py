"""The package imports its parts on first use, and nobody notices."""

from __future__ import annotations

import subprocess
import sys

import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.shipped import shipped_robot


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


def test_loading_a_robot_imports_no_optimiser_and_no_picture():
    """scipy.optimize alone takes longer to import than a robot to load."""
    leg = shipped_robot("crank_leg")
    code = (
        "import sys, closed_loop_dynamics as cld\n"
        f"cld.load({str(leg.urdf)!r}, {str(leg.submechanisms)!r})\n"
        "heavy = ('scipy.optimize', 'scipy.spatial', 'scipy.interpolate', 'matplotlib', 'viser')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
