"""Exports of Onshape: a URDF with pairs of marker links, most often with a ``robot.yaml``."""
