"""A Gough-Stewart platform 6-UPS in task space: the mechanism ``ups6`` with its pose as the task.

``python -m tools.robots six_ups`` writes its files.
"""

from __future__ import annotations

from .mechanisms import ups6

#: What makes a parallel manipulator out of the mechanism.
TASK = '  task_space: {platform: platform, axes: [x, "y", z, roll, pitch, yaw]}\n'


def generate(**dimensions: object) -> tuple[str, str]:
    """URDF and YAML text; dimensions as those of ``ups6.Dimensions``."""
    urdf, yaml = ups6.build(**dimensions)
    return urdf.replace('name="ups6"', 'name="six_ups"'), yaml.replace("ups6", "six_ups") + TASK
