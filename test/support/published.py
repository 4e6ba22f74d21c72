"""Where published robot files are, which are not part of this repository.

``CLOSED_LOOP_MODELS`` names a folder with ``rh5_manus_case_study/`` (the repository
dfki-ric-underactuated-lab/hybrid_numerical_analytical_approach_case_study on GitHub) and
``rh5_leg/`` (``rh5_single_leg_hybrid.urdf`` and ``.yml`` of ARC-OPT/wbc). ``.ci/run`` sets it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MODELS = Path(os.environ.get("CLOSED_LOOP_MODELS") or "no-folder-is-named")
HERE = MODELS.is_dir()
REASON = (
    "published robots are not here: get them as test/support/published.py says, then set "
    "CLOSED_LOOP_MODELS to their folder"
)
needs_models = pytest.mark.skipif(not HERE, reason=REASON)
