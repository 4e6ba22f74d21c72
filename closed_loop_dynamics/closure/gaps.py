"""How far the two frames of each cut are apart, in millimetres and degrees, for people."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..model.poses import body_poses
from .cut_joint import CutJoint
from .loop_system import LoopSystem

SHOWN = 6


def gap_words(system: LoopSystem, q: Array) -> str:
    """``rod ~ rocker 20.0 mm, 3.1°`` of every cut, the widest first, at joint positions (n,)."""
    names = system.names(range(len(system.joints)))
    poses = body_poses(system.tree, dict(zip(names, map(float, q), strict=True)))
    gaps = []
    for cut in system.cuts:
        P, S = poses[cut.predecessor] @ cut.frame_p, poses[cut.successor] @ cut.frame_s
        away = P[:3, :3].T @ (S[:3, 3] - P[:3, 3])
        length = float(np.linalg.norm([axis @ away for axis in cut.translations]))
        angle = _angle(cut, P[:3, :3].T @ S[:3, :3])
        between = cut.labels[0].partition(":")[0].replace("~", " ~ ")
        gaps.append((length, angle, between))
    gaps.sort(reverse=True)
    words = [f"{name} {_short(1e3 * m)} mm, {_short(np.degrees(turn))}°" for m, turn, name in gaps]
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return "; ".join(words[:SHOWN]) + more


def _short(x: float) -> str:
    return f"{x:.1f}" if x >= 1.0 or x == 0.0 else f"{x:.2g}"


def _angle(cut: CutJoint, D: Array) -> float:
    """By how much a cut is turned in the directions that it holds [rad]."""
    if not cut.rotations:
        return 0.0
    if len(cut.rotations) == 3:
        sine = np.linalg.norm([D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]])
        return float(np.arctan2(sine, np.trace(D) - 1.0))
    p, s = cut.direction(successor=False), D @ cut.direction(successor=True)
    if len(cut.rotations) == 2:
        return float(np.arctan2(np.linalg.norm(np.cross(p, s)), p @ s))
    return abs(float(np.arcsin(np.clip(p @ s, -1.0, 1.0))))
