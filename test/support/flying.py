"""Robots made for a stand, made to fly."""

from __future__ import annotations

#: The legs stand on a floor plate without mass; in flight something has to carry the leg.
PELVIS = (
    '<inertial><origin xyz="-0.05 0.02 0.9"/><mass value="12"/>'
    '<inertia ixx="0.2" ixy="0.01" ixz="0" iyy="0.25" iyz="0" izz="0.15"/></inertial>'
)


def with_pelvis(files: tuple[str, str]) -> tuple[str, str]:
    """URDF and YAML text with a body of mass under the leg."""
    urdf, yaml = files
    place = '<link name="base_link">'
    assert urdf.count(place) == 1
    return urdf.replace(place, place + PELVIS), yaml
