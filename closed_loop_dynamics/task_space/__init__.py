"""Parallel manipulators in task space, limb by limb (Mueller 2022); see docs."""

from .task_space import TaskSpace
from .task_state import Conditioning, TaskState

__all__ = ["Conditioning", "TaskSpace", "TaskState"]
