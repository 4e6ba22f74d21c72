"""Robot descriptions as plain data: URDF -> :class:`Tree`, YAML -> :class:`Submechanism` entries.

tree = read_urdf("robot.urdf")
submechanisms = read_submechanisms("submechanisms.yml", tree, urdf_source="robot.urdf")
"""

from .linear_transmission import read_linear_transmissions
from .submechanism import ActuatorModel, ConstraintAxis, Coupling, LoopConstraint, Submechanism
from .submechanism_file import read_submechanisms
from .submechanism_types import VALID_TYPES
from .tree import FLOATING, PRISMATIC, REVOLUTE, Body, Joint, Tree
from .urdf import FLOATING_BASE, read_urdf

__all__ = [
    "FLOATING",
    "FLOATING_BASE",
    "PRISMATIC",
    "REVOLUTE",
    "VALID_TYPES",
    "ActuatorModel",
    "Body",
    "ConstraintAxis",
    "Coupling",
    "Joint",
    "LoopConstraint",
    "Submechanism",
    "Tree",
    "read_linear_transmissions",
    "read_submechanisms",
    "read_urdf",
]
