"""The geometry of successive joints that closed-form legs share."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..spatial import SX, rotation, sx
from .block import GEOMETRY_TOLERANCE, NotClosedForm, Step
from .subproblems import turn, turn_to_projection


def require(condition: bool, reason: str) -> None:
    """Raise NotClosedForm with the reason unless the condition holds."""
    if not condition:
        raise NotClosedForm(reason)


def parallel(a: Array, b: Array) -> bool:
    """Two unit vectors are, up to their sign."""
    return float(np.linalg.norm(np.cross(a, b))) < GEOMETRY_TOLERANCE


def require_in_plane(hinge: Step, direction: Array) -> None:
    """Raise NotClosedForm unless a slider moves in the plane normal to the hinge."""
    along = abs(float(hinge.axis @ direction))
    require(along < GEOMETRY_TOLERANCE, "the slider does not move in the plane of the loop")


def meeting_point(step: Step, following: Step) -> tuple[float, float]:
    """Where two successive axes meet: distances along the first and along the second.

    The second joint's placement is in the first's body, so its frame turns about the first axis.
    """
    w1, w2 = step.axis, following.placement[:3, :3] @ following.axis
    p2 = following.placement[:3, 3]
    A = np.column_stack([w1, -w2])
    (along1, along2), *_ = np.linalg.lstsq(A, p2, rcond=None)
    gap = float(np.linalg.norm(A @ np.array([along1, along2]) - p2))
    require(not parallel(w1, w2), "two axes of the leg are parallel")
    require(gap < GEOMETRY_TOLERANCE, f"two axes of the leg miss each other by {1e3 * gap:.3g} mm")
    return float(along1), float(along2)


def point_two_hinges(
    first: Step, second: Step, meeting: tuple[float, float], arm: SX, end: SX, mode: float
) -> tuple[SX, SX]:
    """Angles of two hinges whose axes meet so that ``arm`` points to ``end``.

    ``arm`` is seen from the meeting point in the second body at angle zero, ``end`` from the
    meeting point in the first joint's frame.
    """
    R2 = sx(second.placement[:3, :3])
    w1, w2 = sx(first.axis), sx(second.axis)
    angle2 = turn_to_projection(w2, arm, R2.T @ w1, ca.dot(w1, end), mode)
    turned = R2 @ (rotation(second.axis, angle2) @ arm)
    return turn(w1, turned, end), angle2
