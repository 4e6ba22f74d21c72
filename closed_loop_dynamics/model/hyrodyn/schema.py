"""The layout of the submechanism file: every key, what it may hold, and what it means.

This is the one place where the keys are written down. :mod:`.validate` checks files against it,
and ``tools/file_format_page.py`` writes docs/file_format.md and config/submechanisms.schema.json.
"""

from __future__ import annotations

from ..words import AXES, SOLVERS, VALID_TYPES
from .shapes import (
    Anything,
    ByName,
    ExactlyOne,
    GoesWith,
    Key,
    ListOf,
    Number,
    Numbers,
    OneWay,
    Record,
    Text,
    Together,
    Word,
)

CUT_JOINTS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "fixed")

_JOINTS = ListOf(Text("joint"), unique=True, each="joint")
_SPANNING = ("jointnames_spanningtree", "jointnames")

AXIS = Record(
    "constraint_axes",
    "the constraint axis",
    "{name: loopTX, axis: [0, 0, 0, 1, 0, 0]}",
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
            Number("s", "≥ 0"),
            "time constant, used by `forward_dynamics(method='lagrange')` only: elsewhere the "
            "loops cannot drift",
        ),
    },
)

FRAME = Record(
    "predecessor_frame, successor_frame",
    "the frame",
    "{xyz: [0, 0, 0], rpy: [0, 0, 0]}",
    {
        "xyz": Key(Numbers(3, "m"), "origin in the frame of the link", default="[0, 0, 0]"),
        "rpy": Key(Numbers(3, "rad"), "roll, pitch, yaw as in a URDF", default="[0, 0, 0]"),
    },
)

LOOP = Record(
    "loop_constraints",
    "the loop",
    "{cut_joint: ..., predecessor_body: ..., successor_body: ..., cut: revolute}",
    {
        "cut_joint": Key(
            Text("joint"),
            "the cut frame is the frame of this joint's child link, as everything stands at q = 0; "
            "a fixed joint will do",
        ),
        "predecessor_body": Key(Text("link"), "the link on one side of the cut", needed=True),
        "successor_body": Key(Text("link"), "the link on the other side", needed=True),
        "constraint_axes": Key(
            ListOf(AXIS, minimum=1, each="constraint axis"), "what the cut held together"
        ),
        "cut": Key(
            Word("a joint that can be cut", CUT_JOINTS),
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
    (
        ExactlyOne(("constraint_axes", "cut")),
        Together(("predecessor_frame", "successor_frame")),
        OneWay((("cut_joint",), ("predecessor_frame", "successor_frame"))),
        GoesWith("axis", "cut", ("spherical", "fixed"), "write it inside constraint_axes"),
    ),
)

COUPLING = Record(
    "couplings",
    "the coupling",
    "{joint: rotor, terms: {knee: 12.0}, offset: 0.0}",
    {
        "joint": Key(Text("joint"), "the dependent joint", needed=True),
        "terms": Key(
            ByName(Number("ratio"), "{knee: 12.0}", minimum=1, each="term"),
            "joint: ratio; q_joint = Σ ratio · q_other + offset. The others may be coupled in turn",
            needed=True,
        ),
        "offset": Key(Number("rad or m"), "", default="0"),
    },
)

_FRICTION = {
    "viscous_friction": Key(
        Number("N·m·s/rad or N·s/m", "≥ 0"), "d of d q̇ + c tanh(q̇ / v_c)", default="0"
    ),
    "coulomb_friction": Key(Number("N·m or N", "≥ 0"), "c", default="0"),
    "coulomb_speed": Key(
        Number("rad/s or m/s", "> 0"),
        "v_c: the speed at which dry friction has 76 % of its value",
        default="0.01",
    ),
}
_AT_JOINT = {
    **_FRICTION,
    "rotor_inertia": Key(Number("kg·m²", "≥ 0"), "I about the rotor's own axis", default="0"),
    "gear_ratio": Key(
        Number("1 or rad/m", "≠ 0"),
        "r = rotor speed over joint speed; the joint feels r² I",
        default="1",
    ),
}
_JOINT_EXAMPLE = "{viscous_friction: 0.1}"
FRICTION = Record("joint_friction", "the friction", _JOINT_EXAMPLE, _AT_JOINT)
ACTUATOR = Record("actuators", "the actuator", _JOINT_EXAMPLE, _AT_JOINT)

SPRING_END = Record(
    "from, to",
    "the end of a spring",
    "{link: shank, point: [0, 0, 0]}",
    {
        "link": Key(Text("link"), "that it is fixed to; the root link too", needed=True),
        "point": Key(Numbers(3, "m"), "where, in the frame of the link", default="[0, 0, 0]"),
    },
)

SPRING = Record(
    "springs",
    "the spring",
    "{joint: knee, stiffness: 120.0, rest: 0.4}",
    {
        "joint": Key(Text("joint"), "at this joint, driven or not: x is its position"),
        "from": Key(SPRING_END, "between two points of two links: x is their distance"),
        "to": Key(SPRING_END, "the other end"),
        "stiffness": Key(
            Number("N·m/rad or N/m", "≥ 0"),
            "k of the force preload + k (x − rest), which pulls towards smaller x",
            needed=True,
        ),
        "rest": Key(Number("rad or m"), "x where the preload alone pulls", default="0"),
        "preload": Key(Number("N·m or N"), "force at rest; it may push", default="0"),
    },
    (ExactlyOne(("joint", "from")), Together(("from", "to"))),
)

TASK_SPACE = Record(
    "task_space",
    "the task space",
    "{platform: tool, axes: [x, z]}",
    {
        "platform": Key(Text("link"), "the link that the task moves", needed=True),
        "axes": Key(
            ListOf(Word("an axis of a task", AXES, any_case=False), 1, unique=True, each="axis"),
            "its free coordinates in the root frame, in the order of the task vector",
            needed=True,
        ),
    },
)

ENTRY = Record(
    "A submechanism",
    "the submechanism",
    "{name: arm, type: R, jointnames_spanningtree: [...], jointnames_independent: [...]}",
    {
        "name": Key(Text("label"), "name of the submechanism where there is no contextual_name"),
        "contextual_name": Key(
            Text("label"), "preferred to `name` where it is unique: `robot.submechanism('knee')`"
        ),
        "type": Key(
            Word("a type", tuple(sorted(VALID_TYPES)), loose=True),
            "what kind of mechanism it is, see below",
            default="numerical with loop_constraints, else serial",
        ),
        "file_path": Key(
            Text("path", blank=True),
            "URDF of the submechanism alone; read for the transmission of type TRANSMISSION only",
        ),
        "jointnames": Key(_JOINTS, "all its joints; may list fixed ones and that of the base"),
        "jointnames_spanningtree": Key(
            _JOINTS, "its moving joints; each is in one submechanism only", default="jointnames"
        ),
        "jointnames_independent": Key(
            ListOf(Text("joint"), minimum=1, unique=True, each="independent joint"),
            "the joints you command: as many as the mechanism has degrees of freedom",
            needed=True,
            part_of=_SPANNING,
        ),
        "jointnames_active": Key(
            _JOINTS,
            "the driven joints, more or fewer than the independent ones if need be",
            default="jointnames_independent",
        ),
        "loop_constraints": Key(
            ListOf(LOOP), "one item for each cut; the known types of mechanism can do without"
        ),
        "couplings": Key(ListOf(COUPLING), "gears, belts, differentials"),
        "solver": Key(
            Word("a solver", SOLVERS),
            "`auto` takes the closed form where there is one; `analytical` insists on it; "
            "`numerical` is Newton's method",
            default="auto",
        ),
        "reference": Key(
            ByName(Number("rad or m"), "{knee: 0.4}"),
            "joint: position, a configuration that is closed and not singular; it chooses the "
            "assembly mode",
            default="q = 0",
        ),
        "actuators": Key(
            ByName(ACTUATOR, f"{{motor: {_JOINT_EXAMPLE}}}"),
            "driven joint: friction, rotor and gear",
        ),
        "joint_friction": Key(
            ByName(FRICTION, f"{{knee: {_JOINT_EXAMPLE}}}"),
            "any other joint: friction, and what turns with it behind a gear",
        ),
        "task_space": Key(TASK_SPACE, "of a parallel manipulator"),
    },
    (OneWay(tuple((key,) for key in _SPANNING)),),
)

EXOSKELETON = Record(
    "exoskeletons",
    "the exoskeleton",
    "{name: arm_of_person, jointnames_spanningtree: [...], jointnames_dependent: [...]}",
    {
        "name": Key(Text("label"), "for people"),
        "contextual_name": Key(Text("label"), "for people"),
        "around": Key(Text("label"), "the submechanism that it goes around; not used"),
        "file_path": Key(
            Text("path", blank=True),
            "URDF of the exoskeleton alone: where the mimic tags are, unless the robot's URDF has "
            "them",
        ),
        "jointnames": Key(_JOINTS, "all its joints; may list fixed ones"),
        "jointnames_spanningtree": Key(
            _JOINTS, "its moving joints, each with a mimic tag", default="jointnames"
        ),
        "jointnames_dependent": Key(
            ListOf(Text("joint"), minimum=1, each="joint"),
            "the joints of submechanisms that they mimic",
            needed=True,
        ),
    },
    (OneWay(tuple((key,) for key in _SPANNING)),),
)

FILE = Record(
    "Top level",
    "the file",
    f"'submechanisms:' and a list of entries such as [{ENTRY.example}]",
    {
        "submechanisms": Key(ListOf(ENTRY), "the submechanisms", needed=True),
        "springs": Key(ListOf(SPRING), "at joints and between links, of any submechanism or none"),
        "exoskeletons": Key(
            ListOf(EXOSKELETON),
            "joints that follow joints of submechanisms, such as those of a person in the robot",
        ),
        "model": Key(Anything(), "of other tools; not read"),
        "version": Key(Anything(), "of other tools; not read"),
    },
)

#: In the order of the reference.
RECORDS = (
    *(FILE, ENTRY, LOOP, AXIS, FRAME, COUPLING, ACTUATOR, FRICTION, TASK_SPACE),
    *(SPRING, SPRING_END, EXOSKELETON),
)
