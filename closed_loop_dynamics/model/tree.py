"""What a robot's file says, as plain numbers: the spanning tree, its looks and its transmissions.

Every format has a reader that makes a :class:`Tree`; nothing after it knows the file again.

Fixed joints are lumped: their links become frames of the body that carries them, and their inertia
is added to it. Numbering is regular (a parent always precedes its children), so algorithms are
single loops over ``tree.bodies``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from .remark import Remark
from .spring import JointSpring, PointSpring
from .submechanism import Coupling
from .visual import Visual

REVOLUTE = "revolute"
PRISMATIC = "prismatic"
SPHERICAL = "spherical"
FLOATING = "floating"

#: What a joint with several positions or velocities calls them; joints of one have no need.
_POSITIONS: dict[str, tuple[str, ...]] = {
    SPHERICAL: ("qx", "qy", "qz", "qw"),
    FLOATING: ("x", "y", "z", "qx", "qy", "qz", "qw"),
}
_VELOCITIES: dict[str, tuple[str, ...]] = {
    SPHERICAL: ("wx", "wy", "wz"),
    FLOATING: ("wx", "wy", "wz", "vx", "vy", "vz"),
}


@dataclass(frozen=True, eq=False)
class Joint:
    """One moving joint; it connects a body to its parent body.

    Attributes:
        name: as in the URDF.
        kind: REVOLUTE (continuous joints too), PRISMATIC, SPHERICAL or FLOATING. The last two have
            a quaternion as their last four positions and angular velocities as their first three.
        placement: (4, 4) pose of the joint frame at q = 0 in the parent *body* frame.
        axis: (3,) unit axis in the joint frame (unused where it has several velocities).
        lower, upper: position limits [rad or m]; infinite where the URDF gives none.
        velocity, effort: limits [rad/s or m/s, N·m or N]; infinite where the URDF gives none.
        mimic: ``(joint, multiplier, offset)`` of a URDF mimic tag, or None.
    """

    name: str
    kind: str
    placement: Array
    axis: Array
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    mimic: tuple[str, float, float] | None = None

    @property
    def position_names(self) -> tuple[str, ...]:
        """One per position: the joint's own name, or ``base.x``, ..., ``base.qw``."""
        return self._coordinates(_POSITIONS)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """One per velocity: the joint's own name, or ``base.wx``, ..., ``base.vz``."""
        return self._coordinates(_VELOCITIES)

    @property
    def n_q(self) -> int:
        """Number of positions."""
        return len(self.position_names)

    @property
    def n_v(self) -> int:
        """Number of velocities: columns of S."""
        return len(self.velocity_names)

    @property
    def has_quaternion(self) -> bool:
        """Its position ends with one; it has no single position, axis or limit."""
        return self.kind in _POSITIONS

    @cached_property
    def S(self) -> Array:
        """(6, n_v) motion subspace [angular; linear], constant in the body frame."""
        if self.has_quaternion:
            return np.eye(6)[:, : self.n_v]
        parts = (np.zeros(3), self.axis) if self.kind == PRISMATIC else (self.axis, np.zeros(3))
        return np.concatenate(parts)[:, None]

    @property
    def neutral(self) -> Array:
        """(n_q,) the position where it does nothing: zero; of a quaternion, (0, 0, 0, 1)."""
        return np.array([float(part == "qw") for part in _POSITIONS.get(self.kind, ("",))])

    def _coordinates(self, parts: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
        if self.kind not in parts:
            return (self.name,)
        return tuple(f"{self.name}.{part}" for part in parts[self.kind])


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body: one moving link with everything that is fixed to it.

    Attributes:
        link: name of the URDF link that the joint moves; the body frame is this link's frame.
        parent: index of the parent body, -1 for the fixed root.
        joint: the joint to the parent body.
        mass: [kg].
        first_moment: (3,) mass times centre of mass, in the body frame [kg·m].
        inertia: (3, 3) rotational inertia about the body frame's origin [kg·m²].
        links: all URDF links lumped into this body (the moving link first).
    """

    link: str
    parent: int
    joint: Joint
    mass: float
    first_moment: Array
    inertia: Array
    links: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Tree:
    """A robot as its file describes it: the spanning tree, and what else the file says.

    Attributes:
        name: robot name.
        root_link: name of the URDF root link.
        bodies: in regular numbering, depth first in the order of the URDF.
        frames: for every URDF link, ``(body index, (4, 4) pose in the body frame)``; body -1 is the
            fixed root.
        fixed_joint_children: lumped fixed joint -> its child link.
        source: file name for messages.
        link_inertias: for every URDF link that has an <inertial> element,
            ``(mass, (3,) com in the link frame, (3, 3) inertia about the com in link axes)``; the
            linter reads it.
        visuals: link -> what it looks like; links that show nothing are left out.
        transmissions: linear couplings that the file writes beside mimic tags, for the
            submechanisms that ask for them.
        springs: at its joints and between its links.
        broken_transmission: what is wrong with them, for whoever asks: the tree does not need them.
        remarks: on what else is in the files and is not used.
    """

    name: str
    root_link: str
    bodies: tuple[Body, ...]
    frames: dict[str, tuple[int, Array]]
    fixed_joint_children: dict[str, str] = field(default_factory=dict)
    source: str = "<text>"
    link_inertias: dict[str, tuple[float, Array, Array]] = field(default_factory=dict)
    visuals: dict[str, tuple[Visual, ...]] = field(default_factory=dict)
    transmissions: tuple[Coupling, ...] = ()
    springs: tuple[JointSpring | PointSpring, ...] = ()
    broken_transmission: ModelError | None = None
    remarks: tuple[Remark, ...] = ()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, in body order."""
        return tuple(body.joint.name for body in self.bodies)

    def joint_index(self, name: str) -> int:
        """Index of the body that joint ``name`` moves (KeyError when unknown)."""
        return self._index[name]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {body.joint.name: i for i, body in enumerate(self.bodies)}

    def path_to_root(self, body: int) -> list[int]:
        """Bodies from ``body`` (included) up to the root (excluded)."""
        path = []
        while body >= 0:
            path.append(body)
            body = self.bodies[body].parent
        return path
