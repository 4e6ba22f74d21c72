"""The layout of the submechanism file: every key, what it may hold, and what it means.

This is the one place where the keys are written down. The readers take the keys they know from
here; :mod:`.file_format` writes docs/file_format.md and config/submechanisms.schema.json from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..words import AXES, SOLVERS, VALID_TYPES


@dataclass(frozen=True)
class Text:
    """A name or path; ``what`` says of what."""

    what: str


@dataclass(frozen=True)
class Number:
    """A finite number with its unit, and what it must not fall below."""

    unit: str = ""
    minimum: float | None = None
    above: float | None = None
    never_zero: bool = False


@dataclass(frozen=True)
class Numbers:
    """A list of ``count`` numbers."""

    count: int
    unit: str = ""


@dataclass(frozen=True)
class Word:
    """One of a few words, in any case; ``loose`` words may also have spaces, hyphens, brackets."""

    words: tuple[str, ...]
    loose: bool = False
    any_case: bool = True


@dataclass(frozen=True)
class ListOf:
    """A list; ``unique`` where an item may appear once only."""

    item: Shape
    minimum: int = 0
    unique: bool = False


@dataclass(frozen=True)
class ByName:
    """A mapping from the names of joints."""

    value: Shape
    minimum: int = 0


@dataclass(frozen=True)
class Anything:
    """Whatever another tool keeps there."""


@dataclass(frozen=True)
class Key:
    """One key of a record."""

    shape: Shape
    meaning: str
    needed: bool = False
    default: str = ""


@dataclass(frozen=True)
class Record:
    """A mapping with known keys.

    Attributes:
        title: heading in the reference.
        keys: by name, in the order of the reference.
        rules: sentence -> the JSON Schema that says the same.
    """

    title: str
    keys: dict[str, Key]
    rules: dict[str, dict[str, Any]] = field(default_factory=dict)


Shape = Text | Number | Numbers | Word | ListOf | ByName | Anything | Record

CUT_JOINTS = (
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "fixed",
)

_JOINTS = ListOf(Text("joint"), unique=True)

AXIS = Record(
    "constraint_axes",
    {
        "axis": Key(
            Numbers(6),
            "[ωx, ωy, ωz, vx, vy, vz] in the cut frame: a direction in which the two links cannot "
            "turn (last three zero) or move (first three zero) against each other; any length but "
            "zero",
            needed=True,
        ),
        "name": Key(Text("label"), "for messages", default="`axis 0`, `axis 1`, …"),
        "baumgarte_stabilization_parameter": Key(
            Number("s", minimum=0.0),
            "time constant, used by `forward_dynamics(method='lagrange')` only: elsewhere the "
            "loops cannot drift",
        ),
    },
)

FRAME = Record(
    "predecessor_frame, successor_frame",
    {
        "xyz": Key(Numbers(3, "m"), "origin in the frame of the link", default="[0, 0, 0]"),
        "rpy": Key(Numbers(3, "rad"), "roll, pitch, yaw as in a URDF", default="[0, 0, 0]"),
    },
)

LOOP = Record(
    "loop_constraints",
    {
        "cut_joint": Key(
            Text("joint"),
            "the cut frame is the frame of this joint's child link, as everything stands at q = 0; "
            "a fixed joint will do",
        ),
        "predecessor_body": Key(Text("link"), "the link on one side of the cut", needed=True),
        "successor_body": Key(Text("link"), "the link on the other side", needed=True),
        "constraint_axes": Key(ListOf(AXIS, minimum=1), "what the cut held together"),
        "cut": Key(
            Word(CUT_JOINTS),
            "short for constraint_axes: the joint that was cut. `axis` is the axis of a revolute, "
            "prismatic or cylindrical joint, the normal of a planar one and of the two axes of a "
            "universal one",
        ),
        "axis": Key(Numbers(3), "with `cut`: a direction in the cut frame", default="[0, 0, 1]"),
        "predecessor_frame": Key(
            FRAME,
            "the cut frame in the predecessor; with successor_frame it replaces that of cut_joint, "
            "also for a robot that is open at q = 0",
        ),
        "successor_frame": Key(FRAME, "the cut frame in the successor"),
    },
    {
        "Exactly one of `constraint_axes` and `cut`.": {
            "oneOf": [{"required": ["constraint_axes"]}, {"required": ["cut"]}]
        },
        "`cut_joint`, or both frames; neither frame alone.": {
            "anyOf": [
                {"required": ["cut_joint"]},
                {"required": ["predecessor_frame", "successor_frame"]},
            ],
            "dependencies": {
                "predecessor_frame": ["successor_frame"],
                "successor_frame": ["predecessor_frame"],
            },
        },
        "`axis` goes with `cut`, and not with spherical or fixed.": {
            "dependencies": {
                "axis": {
                    "required": ["cut"],
                    "properties": {
                        "cut": {"not": {"pattern": "[sS][pP][hH][eE][rR]|[fF][iI][xX]"}}
                    },
                }
            }
        },
    },
)

COUPLING = Record(
    "couplings",
    {
        "joint": Key(Text("joint"), "the dependent joint", needed=True),
        "terms": Key(
            ByName(Number("ratio"), minimum=1),
            "joint: ratio; q_joint = Σ ratio · q_other + offset. The others may be coupled in turn",
            needed=True,
        ),
        "offset": Key(Number("rad or m"), "", default="0"),
    },
)

_FRICTION = {
    "viscous_friction": Key(
        Number("N·m·s/rad or N·s/m", minimum=0.0), "d of d q̇ + c tanh(q̇ / v_c)", default="0"
    ),
    "coulomb_friction": Key(Number("N·m or N", minimum=0.0), "c", default="0"),
    "coulomb_speed": Key(
        Number("rad/s or m/s", above=0.0),
        "v_c: the speed at which dry friction has 76 % of its value",
        default="0.01",
    ),
}
FRICTION = Record("joint_friction", _FRICTION)
ACTUATOR = Record(
    "actuators",
    {
        **_FRICTION,
        "rotor_inertia": Key(
            Number("kg·m²", minimum=0.0), "I about the rotor's own axis", default="0"
        ),
        "gear_ratio": Key(
            Number("1 or rad/m", never_zero=True),
            "r = rotor speed / joint speed; the joint feels r² I",
            default="1",
        ),
    },
)

TASK_SPACE = Record(
    "task_space",
    {
        "platform": Key(Text("link"), "the link that the task moves", needed=True),
        "axes": Key(
            ListOf(Word(AXES, any_case=False), minimum=1, unique=True),
            "its free coordinates in the root frame, in the order of the task vector",
            needed=True,
        ),
    },
)

ENTRY = Record(
    "A submechanism",
    {
        "name": Key(Text("label"), "name of the submechanism where there is no contextual_name"),
        "contextual_name": Key(
            Text("label"), "preferred to `name` where it is unique: `robot.submechanism('knee')`"
        ),
        "type": Key(
            Word(tuple(sorted(VALID_TYPES)), loose=True),
            "what kind of mechanism it is, see below",
            default="numerical with loop_constraints, else serial",
        ),
        "file_path": Key(
            Text("path"),
            "URDF of the submechanism alone; read for the transmission of type TRANSMISSION only",
        ),
        "jointnames": Key(_JOINTS, "all its joints; may list fixed ones and that of the base"),
        "jointnames_spanningtree": Key(
            _JOINTS, "its moving joints; each is in one submechanism only", default="jointnames"
        ),
        "jointnames_independent": Key(
            ListOf(Text("joint"), minimum=1, unique=True),
            "the joints you command: as many as the mechanism has degrees of freedom",
            needed=True,
        ),
        "jointnames_active": Key(
            _JOINTS,
            "the driven joints, more or fewer than the independent ones if need be",
            default="jointnames_independent",
        ),
        "loop_constraints": Key(
            ListOf(LOOP),
            "one item for each cut; the known types of mechanism can do without",
        ),
        "couplings": Key(ListOf(COUPLING), "gears, belts, differentials"),
        "solver": Key(
            Word(SOLVERS),
            "`auto` takes the closed form where there is one; `analytical` insists on it; "
            "`numerical` is Newton's method",
            default="auto",
        ),
        "reference": Key(
            ByName(Number("rad or m")),
            "joint: position, a configuration that is closed and not singular; it chooses the "
            "assembly mode",
            default="q = 0",
        ),
        "actuators": Key(ByName(ACTUATOR), "driven joint: friction, rotor and gear"),
        "joint_friction": Key(ByName(FRICTION), "any other joint: friction"),
        "task_space": Key(TASK_SPACE, "of a parallel manipulator"),
    },
    {
        "`jointnames_spanningtree` or `jointnames`.": {
            "anyOf": [{"required": ["jointnames_spanningtree"]}, {"required": ["jointnames"]}]
        }
    },
)

FILE = Record(
    "Top level",
    {
        "submechanisms": Key(ListOf(ENTRY), "the submechanisms", needed=True),
        "exoskeletons": Key(Anything(), "of other tools; not read"),
        "model": Key(Anything(), "of other tools; not read"),
        "version": Key(Anything(), "of other tools; not read"),
    },
)

#: In the order of the reference.
RECORDS = (FILE, ENTRY, LOOP, AXIS, FRAME, COUPLING, ACTUATOR, FRICTION, TASK_SPACE)
