"""Submechanism files that between them use every key there is."""

from __future__ import annotations

import yaml

EVERYTHING = yaml.safe_load("""
version: 1
model: {whatever: [1, 2]}
exoskeletons:
- {name: person, contextual_name: person_arm, around: knee, file_path: person.urdf,
   jointnames: [slide], jointnames_spanningtree: [slide], jointnames_dependent: [crank]}
submechanisms:
- name: four_bar
  contextual_name: knee
  type: 1-RRRR
  jointnames: [crank, rod, weld, rocker]
  jointnames_spanningtree: [crank, rod, rocker]
  jointnames_independent: [crank]
  jointnames_active: [rocker]
  loop_constraints:
  - cut_joint: weld
    predecessor_body: tip
    successor_body: c
    constraint_axes:
    - {name: loopTX, axis: [0, 0, 0, 1, 0, 0], baumgarte_stabilization_parameter: 0.1}
    - {axis: [0, 0, 0, 0, 1e-3, 0]}
  - predecessor_body: tip
    successor_body: base
    predecessor_frame: {xyz: [0, 0, 0], rpy: [0, 0, 0]}
    successor_frame: {xyz: [0, 0, 1]}
    cut: Revolute
    axis: [0, 1, 0]
  solver: numerical
  reference: {crank: 0.1}
  actuators:
    rocker: {rotor_inertia: 1.0e-4, gear_ratio: -50, viscous_friction: 0.1, coulomb_friction: 0.2,
             coulomb_speed: 0.1}
  joint_friction:
    crank: {viscous_friction: 0.1, coulomb_friction: 0.2, coulomb_speed: 0.1}
  task_space: {platform: tip, axes: [x, yaw]}
springs:
- {joint: rod, stiffness: 3.0, rest: -0.2, preload: 0.5}
- {from: {link: base, point: [0, 0, 1]}, to: {link: tip}, stiffness: 40.0, rest: 0.1}
""")
COUPLED = yaml.safe_load("""
submechanisms:
- type: coupling
  jointnames_spanningtree: [crank, rod, rocker, slide]
  jointnames_independent: [crank]
  couplings: [{joint: rod, terms: {crank: 1}, offset: 0.1}, {joint: rocker, terms: {crank: 2}}]
""")
TRANSMISSION = yaml.safe_load("""
submechanisms:
- {type: transmission, file_path: a.urdf, jointnames: [crank], jointnames_independent: [crank]}
""")
