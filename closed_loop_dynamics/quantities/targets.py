"""Where links shall be, and how far they are from it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import MAX_ANGLE, Array, Vec
from ..errors import InvalidInput, Miss
from ..model.tree import FLOATING, PRISMATIC, Joint, Tree
from ..se3 import rotation_vector
from .links import Frame, Frames, frame_of

#: What R^T R of a pose may differ from 1.
ORTHONORMAL = 1e-6


class Target(NamedTuple):
    """Where a link shall be in the root frame: position (3,), and orientation (3, 3) or None."""

    link: str
    frame: Frame
    position: Array
    orientation: Array | None


def read_targets(tree: Tree, wanted: Mapping[str, Vec]) -> tuple[list[list[Target]], bool]:
    """The targets of every sample, and whether it is one sample and no batch.

    Raises:
        InvalidInput: no such link, neither position nor pose, batches of different length.
    """
    if not isinstance(wanted, Mapping) or not wanted:
        raise InvalidInput("targets is not a mapping from link names to positions or poses")
    read = {link: _read(tree, link, value) for link, value in wanted.items()}
    counts = {len(rows) for rows, single in read.values() if not single}
    if len(counts) > 1:
        raise InvalidInput(f"targets: batches of different length {sorted(counts)}")
    rows = [rows * max(counts, default=1) if single else rows for rows, single in read.values()]
    return [list(sample) for sample in zip(*rows, strict=True)], not counts


def _read(tree: Tree, link: str, value: Vec) -> tuple[list[Target], bool]:
    frame = frame_of(tree, link)
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(f"targets['{link}'] is neither a position nor a pose") from None
    is_pose = array.ndim >= 2 and array.shape[-2:] == (4, 4)
    if not (is_pose or array.shape[-1:] == (3,)) or array.ndim - is_pose not in (1, 2):
        raise InvalidInput(
            f"targets['{link}'] has shape {array.shape}; expected a position (3,) or a pose "
            "(4, 4), or N of them"
        )
    if not np.all(np.abs(array) <= MAX_ANGLE):
        raise InvalidInput(f"targets['{link}'] is not finite or beyond {MAX_ANGLE:g}")
    single = array.ndim - is_pose == 1
    rows = array[None] if single else array
    if not is_pose:
        return [Target(link, frame, p, None) for p in rows], single
    R = rows[:, :3, :3]
    off = np.max(np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)), initial=0.0)
    if off > ORTHONORMAL or np.any(np.linalg.det(R) < 0.0):
        raise InvalidInput(f"targets['{link}'] is no pose: its rotation is not orthonormal")
    return [Target(link, frame, T[:3, 3], T[:3, :3]) for T in rows], single


def out_of_reach(tree: Tree, targets: Sequence[Target], kept: Container[str]) -> str:
    """Two links that are to be further apart than the chain between them is long; empty: none.

    ``kept``: joints whose limits are.
    """
    ends = [(target.link, target.frame, target.position) for target in targets]
    ends.append((tree.root_link, (-1, np.eye(4)), np.zeros(3)))
    for k, (link, (body, offset), at) in enumerate(ends[:-1]):
        for other, (far, far_offset), there in ends[k + 1 :]:
            between = set(tree.path_to_root(body)) ^ set(tree.path_to_root(far))
            longest = sum(_length(tree.bodies[b].joint, kept) for b in between)
            longest += sum(float(np.linalg.norm(T[:3, 3])) for T in (offset, far_offset))
            asked = float(np.linalg.norm(at - there))
            if asked > longest + 1e-6:
                return (
                    f"out of reach: '{link}' shall be {asked:.3g} m away from '{other}', and the "
                    f"chain between them is {longest:.3g} m long"
                )
    return ""


def _length(joint: Joint, kept: Container[str]) -> float:
    """How far the two links of a joint can be apart, at most [m]."""
    arm = float(np.linalg.norm(joint.placement[:3, 3]))
    if joint.kind == FLOATING:
        return np.inf
    if joint.kind == PRISMATIC:
        ranged = joint.name in kept and joint.lower < joint.upper
        return arm + (max(abs(joint.lower), abs(joint.upper)) if ranged else np.inf)
    return arm


def errors(
    frames: Frames, targets: Sequence[Target], found: Mapping[str, Array], size: float
) -> tuple[Array, Array]:
    """(k,) what is missing to all targets [m; rad times ``size``], and (k, m) how yd makes it up.

    In the ``frames`` of the targets' links; ``found`` of the program "poses".
    """
    missing, rows, poses = [], [], frames.poses(found)
    for target, T, J in zip(targets, poses, frames.jacobians(found, poses), strict=True):
        R = T[:3, :3]
        missing.append(R.T @ (target.position - T[:3, 3]))
        rows.append(J[3:])
        if target.orientation is not None:
            missing.append(size * rotation_vector(R.T @ target.orientation))
            rows.append(size * J[:3])
    return np.concatenate(missing), np.vstack(rows)


def misses(targets: Sequence[Target], error: Array, size: float) -> tuple[Miss, ...]:
    """By how much each link misses, of what :func:`errors` gives."""
    found, at = [], 0
    for target in targets:
        distance = float(np.linalg.norm(error[at : at + 3]))
        at += 3
        angle = 0.0
        if target.orientation is not None:
            angle = float(np.linalg.norm(error[at : at + 3])) / size
            at += 3
        found.append(Miss(target.link, distance, angle))
    return tuple(found)
