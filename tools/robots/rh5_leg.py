"""A humanoid's leg in the style of RH5 (Kumar and Mueller 2019): 18 joints, 6 of them driven.

Hip yaw and roll have motors on their axes. A cylinder in front of the thigh moves the hip's pitch,
one behind the thigh moves the knee (1-RRPR "lambda" mechanisms), and two cylinders behind the shank
move roll and pitch of the foot together (2-SPRR+1U). Dimensions and masses are our own. At q = 0
the leg hangs straight down from its stand, x points forward, y to the left, and all loops are
closed and far from their dead points.

``python -m tools.robots rh5_leg`` writes its files.
"""

from __future__ import annotations

from .mechanisms.blueprint import Blueprint
from .rh5_leg_geometry import Ankle, Dimensions, Lambda
from .rh5_leg_links import draw_leg, draw_stand

__all__ = ["SUBMECHANISMS", "Ankle", "Dimensions", "Lambda", "draw_leg", "generate"]


def generate(dimensions: Dimensions | None = None) -> tuple[str, str]:
    """The URDF text and the submechanism file's text of the leg."""
    board, d = Blueprint("rh5_leg"), dimensions or Dimensions()
    draw_stand(board, d)
    draw_leg(board, d)
    return board.urdf(), SUBMECHANISMS


SUBMECHANISMS = """\
# The loops of rh5_leg.urdf. The types are known, so the package finds the cuts in the tree: each
# leg, the chain that holds a driven joint, ends on the link of the last independent joint.
submechanisms:

- name: two_motors
  contextual_name: hip_yaw_roll
  type: RR
  jointnames_spanningtree: [hip_yaw, hip_roll]
  jointnames_independent: [hip_yaw, hip_roll]
  jointnames_active: [hip_yaw, hip_roll]

- name: lambda_mechanism
  contextual_name: hip_pitch
  type: rrPr                          # three hinges and one driven (capital P) slider
  jointnames_spanningtree: [hip_pitch, hip_cylinder_tilt, hip_cylinder]
  jointnames_independent: [hip_pitch]
  jointnames_active: [hip_cylinder]

- name: lambda_mechanism
  contextual_name: knee
  type: rrPr
  jointnames_spanningtree: [knee, knee_cylinder_tilt, knee_cylinder]
  jointnames_independent: [knee]
  jointnames_active: [knee_cylinder]

- name: two_cylinder_ankle
  contextual_name: ankle
  type: 2SPRR+1U                      # two legs with a driven slider, one universal joint
  jointnames_spanningtree:
  - ankle_roll                        # the universal joint between shank and foot
  - ankle_pitch
  - ankle_left_hinge                  # on the foot, where the rods end
  - ankle_right_hinge
  - ankle_left_cylinder_roll          # how the cylinders hang on the shank, and their strokes
  - ankle_left_cylinder_tilt
  - ankle_left_cylinder
  - ankle_right_cylinder_roll
  - ankle_right_cylinder_tilt
  - ankle_right_cylinder
  jointnames_independent: [ankle_roll, ankle_pitch]
  jointnames_active: [ankle_left_cylinder, ankle_right_cylinder]
"""
