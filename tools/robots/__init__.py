"""Example robots, written by parametric generators instead of copied from somewhere.

``SHIPPED["rh5_leg"].generate()`` gives the two texts that ``closed_loop_dynamics.load`` takes; the
files themselves are in ``urdf/`` and ``config/``, and ``python -m tools.robots``
writes them anew. Single mechanisms are in :mod:`.mechanisms`.
"""

from __future__ import annotations

from .shipped import SHIPPED, GeneratedRobot

__all__ = ["SHIPPED", "GeneratedRobot"]
