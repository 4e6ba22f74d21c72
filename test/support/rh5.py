"""The published RH5 files, and the shipped robots of their kind, each with an oracle that knows all
of its loops. Where the published files are not at hand the shipped ones stand for them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from tools.oracles.files import Array, perpendicular_pair
from tools.oracles.oracle import Oracle

from .published import HERE, MODELS, needs_models
from .shipped import derived_loops, shipped, shipped_files

__all__ = ["COUNTS", "FILES", "IDLE", "TWINS", "every_robot", "kinds", "needs_models", "rh5_oracle"]

_MANUS = MODELS / "rh5_manus_case_study" / "model"
_PARTS = _MANUS / "submechanisms_urdf"
_LEG = MODELS / "rh5_leg"

FILES = {
    "full": (_MANUS / "full_urdf/RH5v2.urdf", _MANUS / "full_urdf/submechanisms.yml"),
    "reduced": (_PARTS / "submechanisms_reduced.urdf", _PARTS / "submechanisms_reduced.yml"),
    "wrist": (_PARTS / "left_wrist_mechanism.urdf", _PARTS / "submechanism_wrist.yml"),
    "leg": (_LEG / "rh5_single_leg_hybrid.urdf", _LEG / "rh5_single_leg_hybrid.yml"),
}
#: n, m and p as published.
COUNTS = {"full": (61, 20, 20), "reduced": (23, 13, 13), "wrist": (16, 2, 2), "leg": (18, 6, 6)}
_SIDES = {"full": ("AL", "AR"), "wrist": ("AL",)}
#: Joints that the wrist's loops do not move.
IDLE = {
    name: {f"{side}Wrist{joint}" for side in sides for joint in ("BL0", "BL2", "BR0", "BR2")}
    for name, sides in _SIDES.items()
}
#: Of the sub-URDF's linear transmission, in the words of the submechanism file.
HEAD = (
    {"joint": "HeadActC", "terms": {"HeadYaw": 1.0}},
    {"joint": "HeadActL", "terms": {"HeadRoll": 1.0, "HeadPitch": -1.0}},
    {"joint": "HeadActR", "terms": {"HeadRoll": -1.0, "HeadPitch": -1.0}},
)

PUBLISHED = tuple(FILES)
#: Name here -> shipped robot of the same kind.
TWINS = {"our reduced": "rh5_manus_reduced", "our leg": "rh5_leg"}
FILES |= {name: shipped_files(robot) for name, robot in TWINS.items()}
COUNTS |= {name: COUNTS[name.removeprefix("our ")] for name in TWINS}


def kinds(*names: str) -> pytest.MarkDecorator:
    """Parametrise by robots of these kinds: ours, and the published ones where they are."""
    ours = [f"our {name}" for name in names if f"our {name}" in TWINS]
    theirs = [pytest.param(name, marks=needs_models) for name in names]
    return pytest.mark.parametrize("name", [*ours, *theirs])


every_robot = pytest.mark.parametrize("name", [*TWINS, *(PUBLISHED if HERE else ())])


def rh5_oracle(name: str, names: tuple[str, ...]) -> Oracle:
    """The oracle of one of ``FILES``, vectors in the order of ``names``."""
    urdf, submechanisms = FILES[name]
    if name in TWINS:
        derived = derived_loops(shipped(TWINS[name]), submechanisms.read_text(encoding="utf-8"))
        return Oracle(urdf, submechanisms, names=names, loops=derived)
    if name == "leg":
        return LegOracle(urdf, submechanisms, names)
    couplings = HEAD if name == "full" else ()
    return Oracle(urdf, submechanisms, names=names, couplings=couplings)


class LegOracle(Oracle):
    """The cuts that the leg's file leaves to the reader, because its types are analytical.

    Hip and knee are planar only up to micrometres of the published dimensions, so only the gap in
    the plane can be closed: normal to the mean axis of the two hinges. The gap is the difference of
    two points, each seen from the link that both sides stand on.
    """

    def __init__(self, urdf: Path, submechanisms: Path, names: tuple[str, ...]) -> None:
        tree = Oracle(urdf)
        points = [
            _point_loop(tree, base, body, joints)
            for base, joints in (
                ("LLHip2_Link", ("LLHip3", "LLHip3_B11", "LLHip3_Act1")),
                ("LLHip3_Link", ("LLKnee", "LLKnee_B11", "LLKnee_Act1")),
            )
            for body in (joints[0], joints[2])
        ]
        ankle = [_ankle_loop(tree, side) for side in ("1", "2")]
        super().__init__(urdf, submechanisms, names=names, loops=[*points, *ankle])
        gap = np.hstack([np.eye(2), -np.eye(2)])
        self._combine = block_diag(gap, gap, np.eye(8))

    def phi(self, q: Array) -> Array:
        """(12,) two in-plane gaps of hip and of knee, four rows of each ankle leg."""
        return np.asarray(self._combine @ super().phi(q))

    def K(self, q: Array) -> Array:
        """(12, 18)."""
        return np.asarray(self._combine @ super().K(q))

    def kdot_qd(self, q: Array, qd: Array) -> Array:
        """(12,)."""
        return np.asarray(self._combine @ super().kdot_qd(q, qd))


def _point_loop(tree: Oracle, base: str, body: str, joints: tuple[str, str, str]) -> dict[str, Any]:
    """The piston's end at q = 0 as a point of joint ``body``'s link, in the plane, from ``base``.

    ``joints`` are the hinge, the rod's hinge and the piston.
    """
    q = tree.neutral()
    T = {name: tree.pose(name, q) for name in (base, f"{body}_Link", f"{joints[2]}_Link")}
    point = T[f"{joints[2]}_Link"][:3, 3]
    node: dict[str, Any] = {}
    for key, link in (("predecessor", base), ("successor", f"{body}_Link")):
        node[f"{key}_body"] = link
        local = T[link][:3, :3].T @ (point - T[link][:3, 3])
        node[f"{key}_frame"] = {"xyz": [float(v) for v in local]}
    hinge, rod = (_world_axis(tree, name) for name in joints[:2])
    normal = T[base][:3, :3].T @ (hinge + rod * np.sign(hinge @ rod))
    in_plane = perpendicular_pair(normal)
    axes = [[0.0, 0.0, 0.0, *map(float, axis)] for axis in in_plane]
    return {**node, "constraint_axes": [{"name": "in plane", "axis": axis} for axis in axes]}


def _world_axis(tree: Oracle, name: str) -> Array:
    """(3,) axis of a joint at q = 0: of a hinge, else of a slide."""
    q = tree.neutral()
    column = tree.jacobian(f"{name}_Link", q)[:, tree.columns([name])[0]]
    local = column[:3] if np.any(column[:3]) else column[3:]
    return np.asarray(tree.pose(f"{name}_Link", q)[:3, :3] @ local)


def _ankle_loop(tree: Oracle, side: str) -> dict[str, Any]:
    """The rod's ball end on a second hinge that is normal to the rod and to the hinge E."""
    rod, hinge = f"LLAnkle_Act{side}", f"LLAnkle_E{side}1"
    T_rod, T_hinge = (tree.pose(f"{name}_Link", tree.neutral()) for name in (rod, hinge))
    z, first = _world_axis(tree, rod), _world_axis(tree, hinge)
    y = np.cross(z, first) / np.linalg.norm(np.cross(z, first))
    cut = np.eye(4)
    cut[:3, :3], cut[:3, 3] = np.column_stack([np.cross(y, z), y, z]), T_rod[:3, 3]
    rows = [np.eye(6)[i] for i in (3, 4, 5, 0)]
    return {
        "predecessor_body": f"{hinge}_Link",
        "successor_body": f"{rod}_Link",
        "predecessor_frame": _frame(np.linalg.inv(T_hinge) @ cut),
        "successor_frame": _frame(np.linalg.inv(T_rod) @ cut),
        "constraint_axes": [{"name": "cut", "axis": [float(v) for v in row]} for row in rows],
    }


def _frame(T: Array) -> dict[str, list[float]]:
    rpy = Rotation.from_matrix(T[:3, :3]).as_euler("xyz")
    return {"xyz": [float(v) for v in T[:3, 3]], "rpy": [float(v) for v in rpy]}
