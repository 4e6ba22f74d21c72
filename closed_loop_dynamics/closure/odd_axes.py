"""Which axis of a flat loop does not fit the others: why it cannot move, or moves too freely."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays import Array
from ..model.poses import body_poses
from ..model.tree import REVOLUTE
from .cut_joint import CutJoint
from .loop_system import LoopSystem

#: Sine of the angle from which on two axes are not parallel.
TILTED = 1e-2


def odd_axes(system: LoopSystem) -> list[str]:
    """Sentences about hinges and cuts that are turned against the hinges of their flat loop."""
    return [words for cut in system.cuts for words in _of_loop(system, cut)]


def _of_loop(system: LoopSystem, cut: CutJoint) -> Iterator[str]:
    poses, bodies = body_poses(system.tree), system.tree.bodies
    axes = {
        bodies[b].joint.name: poses[b][:3, :3] @ bodies[b].joint.axis
        for b in cut.bodies
        if bodies[b].joint.kind == REVOLUTE
    }
    if len(axes) < 2:
        return
    normal = max(axes.values(), key=lambda n: sum(_sine(n, a) < TILTED for a in axes.values()))
    odd = [name for name, axis in axes.items() if _sine(normal, axis) > TILTED]
    if len(odd) > 1 or len(odd) == len(axes) - 1:
        return  # not a flat loop
    for name in odd:
        others = ", ".join(other for other in axes if other != name)
        yield f"joint '{name}' turns about {_show(axes[name])}, {others} about {_show(normal)}"
    ends = cut.labels[0].partition(":")[0].replace("~", " ~ ")
    flat = (poses[cut.predecessor] @ cut.frame_p)[:3, :3].T @ normal
    locked = [axis for axis in cut.rotations if abs(float(axis @ flat)) > TILTED]
    if locked and not odd:
        yield (
            f"the cut {ends} locks rotation about {_show(locked[0])} of its frame, and its loop "
            f"turns about {_show(flat)}"
        )
    within = np.array([axis - (axis @ flat) * flat for axis in cut.translations]).reshape(-1, 3)
    sizes, directions = np.linalg.svd(np.vstack([within, flat]))[1:]
    if not odd and (len(sizes) < 3 or sizes[-1] < TILTED):
        yield (
            f"the cut {ends} holds nothing along {_show(directions[-1])} of its frame, in the "
            f"plane of its loop, which turns about {_show(flat)}"
        )


def _sine(a: Array, b: Array) -> float:
    return float(np.linalg.norm(np.cross(a, b)))


def _show(axis: Array) -> str:
    return "(" + ", ".join(f"{x + 0.0:.3g}" for x in np.round(axis, 6)) + ")"
