"""Where published robot files are, which are not part of this repository.

The environment variable ``CLOSED_LOOP_MODELS`` names a folder with ``rh5_manus_case_study/`` (the
repository dfki-ric-underactuated-lab/hybrid_numerical_analytical_approach_case_study on GitHub) and
``rh5_leg/`` (``rh5_single_leg_hybrid.urdf`` and ``.yml`` of ARC-OPT/wbc).

``CLOSED_LOOP_ZOO`` names a folder of robots in other formats: ``urdf_plus/`` (``six_bar.urdf`` and
``mini_cheetah.urdf`` of ROAM-Lab-ND/generalized_rbda), ``rh5_legs/`` (``rh5_legs_hybrid.urdf`` and
``.yml`` of ARC-OPT/wbc), ``onshape_5bar/`` and ``onshape_digit_like/`` (``robot.urdf`` and
``robot.yaml`` of Gepetto/example-parallel-robots), ``mjcf_gripper/`` (``2f85.xml`` of
google-deepmind/mujoco_menagerie).
"""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "CLOSED_LOOP_MODELS"
#: Without the variable a folder that does not exist.
MODELS = Path(os.environ.get(VARIABLE) or f"${VARIABLE}")
MANUS = MODELS / "rh5_manus_case_study" / "model"
LEG = MODELS / "rh5_leg"
ZOO_VARIABLE = "CLOSED_LOOP_ZOO"
ZOO = Path(os.environ.get(ZOO_VARIABLE) or f"${ZOO_VARIABLE}")
ZOO_REMEDY = f"get the files as tools/published.py says and set {ZOO_VARIABLE} to their folder"
REMEDY = f"get the published files as tools/published.py says and set {VARIABLE} to their folder"
