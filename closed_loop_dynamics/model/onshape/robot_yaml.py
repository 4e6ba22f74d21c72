"""``robot.yaml`` beside a URDF, as example-parallel-robots writes it.

closed_loop: [[closedloop1_A, closedloop1_B]]    # markers: links or joints that must meet
type: [6d]                                       # 3d: their origins, 6d: their axes as well
name_mot: [motor_hip, motor_knee]                # the driven joints
joint_name: [free_ankle, free_knee]              # joints that are another kind than in the URDF
joint_type: [SPHERICAL, UJOINT_XY]
"""

from __future__ import annotations

from dataclasses import dataclass

from ..hyrodyn.node import Node
from ..hyrodyn.shapes import Key, ListOf, Record, Text, Together, Word
from ..hyrodyn.validate import validated
from ..hyrodyn.yaml_reader import YamlFile

#: Type of a joint -> the axes of the hinges that it becomes.
HINGES = {
    "FIXED": "",
    "SPHERICAL": "XYZ",
    **{f"UJOINT_{a}{b}": a + b for a in "XYZ" for b in "XYZ" if a != b},
}

_FILE = Record(
    "robot.yaml",
    "the file",
    "closed_loop: [[marker_A, marker_B]], type: [6d], name_mot: [motor1, motor2]",
    {
        "closed_loop": Key(
            ListOf(ListOf(Text("marker"), unique=True, each="marker")),
            "pairs of links or joints whose frames must meet",
            needed=True,
        ),
        "type": Key(ListOf(Word("a type of closure", ("3d", "6d"))), "per pair", default="6d"),
        "name_mot": Key(
            ListOf(Text("joint"), unique=True, each="motor"), "the driven joints", needed=True
        ),
        "joint_name": Key(
            ListOf(Text("joint"), unique=True, each="joint"), "joints of another type"
        ),
        "joint_type": Key(ListOf(Word("a type of joint", tuple(HINGES))), "per joint_name"),
    },
    (Together(("joint_name", "joint_type")),),
)


@dataclass(frozen=True)
class RobotYaml:
    """What the file says, its layout checked.

    Attributes:
        pairs: two markers and whether their axes meet too.
        motors: driven joints.
        types: joint -> the type that it has in place of the URDF's.
    """

    pairs: list[tuple[Node, bool]]
    motors: list[Node]
    types: list[tuple[Node, str]]


def is_robot_yaml(given: YamlFile) -> bool:
    """Whether a YAML file has the words of this format."""
    value = given.root.value
    return isinstance(value, dict) and "submechanisms" not in value and "closed_loop" in value


def read_robot_yaml(given: YamlFile) -> RobotYaml:
    """The file; raises SubmechanismError with its key path and what to do."""
    root = validated(given.root, _FILE)
    pairs = root.items("closed_loop")
    for pair in pairs:
        if len(pair.value) != 2:
            raise pair.error(f"{len(pair.value)} markers", "write pairs: [marker_A, marker_B]")
    kinds = root.items("type") if "type" in root else [Node("6d", "type", root.file)] * len(pairs)
    _check_lengths(root, "type", len(kinds), "closed_loop", len(pairs))
    names, types = root.items("joint_name"), root.value_of("joint_type", [])
    _check_lengths(root, "joint_type", len(types), "joint_name", len(names))
    return RobotYaml(
        [(pair, kind.value == "6d") for pair, kind in zip(pairs, kinds, strict=True)],
        root.items("name_mot"),
        list(zip(names, types, strict=True)),
    )


def _check_lengths(root: Node, key: str, count: int, other: str, others: int) -> None:
    if count != others:
        raise root[key].error(f"{count} words for {others} of {other}", "write as many")
