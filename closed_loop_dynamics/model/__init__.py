"""Robot descriptions as plain data: URDF -> :class:`Tree`, YAML -> :class:`Submechanism` entries.

tree = read_urdf("robot.urdf")
submechanisms = read_submechanisms("submechanisms.yml", tree, urdf_source="robot.urdf")
"""

from .hyrodyn.reader import read_submechanisms
from .hyrodyn.types import VALID_TYPES
from .submechanism import ActuatorModel, ConstraintAxis, Coupling, LoopConstraint, Submechanism
from .tree import FLOATING, PRISMATIC, REVOLUTE, Body, Joint, Tree
from .urdf.linear_transmission import read_linear_transmissions
from .urdf.reader import FLOATING_BASE, read_urdf

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
