"""Robot descriptions as plain data: files -> :class:`Tree` and :class:`Submechanism` entries.

description = read_description("robot.urdf", "submechanisms.yml")
"""

from .description import Description, read_description
from .hyrodyn.reader import read_submechanisms
from .urdf.reader import read_urdf

__all__ = ["Description", "read_description", "read_submechanisms", "read_urdf"]
