"""What a submechanism file says, checked against the tree; plain data, no mathematics."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..arrays import Array
from ..errors import SubmechanismError
from .remark import Remark


@dataclass(frozen=True)
class ConstraintAxis:
    """One constrained direction of a cut joint, in the cut frame.

    Attributes:
        name: label of the file (may repeat).
        axis: ``(wx, wy, wz, vx, vy, vz)``; either the angular or the linear half is non-zero,
            normalised to unit length.
        baumgarte: stabilisation time constant of the file [s], or None.
    """

    name: str
    axis: tuple[float, float, float, float, float, float]
    baumgarte: float | None = None


@dataclass(frozen=True, eq=False)
class LoopConstraint:
    """A cut joint between two links.

    Attributes:
        predecessor, successor: link names (any URDF link, fixed ones too).
        axes: the constrained directions, expressed in the cut frame of the predecessor.
        cut_joint: joint whose child-link frame at q = 0 is the cut frame; None with explicit ones.
        predecessor_frame, successor_frame: (4, 4) explicit cut frames in the *link* frames.
        place: key path in the file, for messages.
    """

    predecessor: str
    successor: str
    axes: tuple[ConstraintAxis, ...]
    cut_joint: str | None = None
    predecessor_frame: Array | None = None
    successor_frame: Array | None = None
    place: str = ""


@dataclass(frozen=True)
class Coupling:
    """A linear coupling q_joint = sum(ratio * q_other) + offset, and who says so, for messages."""

    joint: str
    terms: dict[str, float]
    offset: float = 0.0
    place: str = ""
    file: str = ""

    def error(self, problem: str, remedy: str) -> SubmechanismError:
        """What to raise about it."""
        return SubmechanismError(problem, file=self.file, place=self.place, remedy=remedy)


@dataclass(frozen=True)
class Curve:
    """A nonlinear coupling q_joint = sum(factors[k] * q_other ** k), and who says so."""

    joint: str
    other: str
    factors: tuple[float, ...]
    place: str = ""
    file: str = ""

    @staticmethod
    def of(coupling: Coupling) -> Curve:
        """A linear coupling to one joint, or none, as a curve."""
        other, ratio = next(iter(coupling.terms.items()), ("", 0.0))
        return Curve(coupling.joint, other, (coupling.offset, ratio), coupling.place, coupling.file)

    @property
    def linear(self) -> Coupling:
        """What depends on what, without the numbers."""
        terms = {self.other: 1.0} if self.other else {}
        return Coupling(self.joint, terms, 0.0, self.place, self.file)


@dataclass(frozen=True)
class JointFriction:
    """Friction of one joint: viscous * qd + coulomb * tanh(qd / coulomb_speed).

    Attributes:
        viscous_friction: [N m s/rad or N s/m]; coulomb_friction: [N m or N].
        coulomb_speed: at this speed dry friction has reached 76 % of its value [rad/s or m/s].
    """

    viscous_friction: float = 0.0
    coulomb_friction: float = 0.0
    coulomb_speed: float = 0.01


@dataclass(frozen=True)
class ActuatorModel(JointFriction):
    """Friction at the driven joint, and the rotor behind its gear.

    Attributes:
        rotor_inertia: about the rotor's own axis [kg m^2] (with gear_ratio 1 and a prismatic joint,
            a mass [kg]).
        gear_ratio: rotor speed over joint speed (rad/m for a prismatic joint).
    """

    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0

    @property
    def reflected_inertia(self) -> float:
        """What the joint feels of the rotor [kg m^2 or kg]."""
        return self.gear_ratio**2 * self.rotor_inertia


@dataclass(frozen=True)
class TaskAxes:
    """The task space of a parallel manipulator.

    Attributes:
        platform: link that the task moves.
        axes: its free coordinates: x, y, z [m], roll, pitch, yaw [rad], in the order of the file.
    """

    platform: str
    axes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Submechanism:
    """One entry of a submechanism file.

    Attributes:
        name: ``contextual_name`` when given and unique in the file, else ``name``, made unique with
            ``#2``, ``#3`` ...
        type: lower-cased type string of the file ("numerical", "2spu+1u", "rrpr", "r", ...).
        spanning, independent, active: joint names, in the order of the file; only moving joints.
        loops: loop constraints of the file (may be empty for analytical types).
        couplings: linear couplings: of the file, of URDF mimic tags among its joints, and of the
            MultiJointLinearTransmission in the sub-URDF named by ``file_path``.
        curves: nonlinear couplings; the entry is of type "function", then, and has no others.
        solver: "auto", "analytical" or "numerical".
        reference: joint -> position, a regular configuration from which branch and continuation
            start (empty: q = 0).
        actuators: driven joint -> friction, rotor inertia and gear ratio.
        friction: joint -> friction, of joints that are not in ``actuators``.
        assemble: its format has no word for a reference: where q = 0 is open or at a dead point, a
            configuration is looked for. None: what is open is an error.
        undecided: "independent", "active": what its format has no word for, and nothing lists yet;
            the mobility of the assembled loops decides (``closure/roles.py``).
        vocabulary: word of a submechanism file -> what this entry's own format calls it.
        remarks: on what the file says twice.
        task_space: platform and free coordinates of a parallel manipulator, or None.
        place: key path in the file ("submechanisms[3]").
        file: the file's name, for messages.
    """

    name: str
    type: str
    spanning: tuple[str, ...]
    independent: tuple[str, ...]
    active: tuple[str, ...]
    loops: tuple[LoopConstraint, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    curves: tuple[Curve, ...] = ()
    solver: str = "auto"
    reference: dict[str, float] = field(default_factory=dict)
    actuators: dict[str, ActuatorModel] = field(default_factory=dict)
    friction: dict[str, JointFriction] = field(default_factory=dict)
    task_space: TaskAxes | None = None
    assemble: bool | None = False
    undecided: tuple[str, ...] = ()
    vocabulary: dict[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    place: str = ""
    file: str = "<text>"

    def joint_model(self, joint: str) -> JointFriction | None:
        """What the file says about a joint besides its geometry, None when nothing."""
        return self.actuators.get(joint) or self.friction.get(joint)

    def error(self, problem: str, remedy: str, key: str = "") -> SubmechanismError:
        """The exception for what is wrong with the entry, or with one of its keys."""
        place = f"{self.place}.{key}" if key and not self.vocabulary else self.place
        for word, own in self.vocabulary.items():
            remedy = remedy.replace(word, own)
        return SubmechanismError(problem, file=self.file, place=place, remedy=remedy)
