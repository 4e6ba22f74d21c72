"""Small robots that ``<constraint>``, ``<loop_joint>`` or Drake's words close, open at q = 0,

and three that ``<gazebo>`` closes, at q = 0.
"""

from __future__ import annotations

from support.urdf_plus import joint, link, robot

X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
MOTOR = (
    '<transmission name="drive"><type>transmission_interface/SimpleTransmission</type>'
    '<joint name="motor"/><actuator name="m"/></transmission>\n'
)
BARS = (
    '<link name="base"/>\n'
    + "".join(map(link, ("crank", "rod", "rocker")))
    + joint("motor", "base", "crank")
    + joint("rod_joint", "crank", "rod", (0.2, 0.0, 0.0))
    + joint("swing", "base", "rocker", (0.5, 0.0, 0.0))
)


def constraint(kind: str, parent: tuple[str, str], child: tuple[str, str], more: str = "") -> str:
    """Between a frame of each link: its name, and the attributes of its origin."""
    return (
        f'<constraint name="pin" type="{kind}"><parent link="{parent[0]}"/>'
        f'<parent_origin {parent[1]}/><child link="{child[0]}"/><child_origin {child[1]}/>'
        f"{more}</constraint>\n"
    )


#: Four bars; the hinge's axis is z of the links, y of the cut's frames.
HINGE = robot(
    BARS,
    MOTOR,
    constraint(
        "revolute_joint",
        ("rod", 'xyz="0.5 0 0" rpy="1.5707963267948966 0 0.3"'),
        ("rocker", 'xyz="0.3 0 0" rpy="1.5707963267948966 0 0"'),
        '<parent_axis xyz="0 2 0"/>',
    ),
)
#: The rod slides in a cylinder that turns on the base.
SLIDER = robot(BARS, constraint("prismatic", ("rod", 'rpy="0 0 0"'), ("rocker", 'xyz="0 0.05 0"')))
#: The rod was cut in two: a link of the loop.
HALVES = robot(
    BARS,
    link("half", mass=0.7),
    joint("half_joint", "rocker", "half", (0.3, 0.0, 0.0)),
    '<ros2_control name="all" type="system"><joint name="swing">'
    '<command_interface name="effort"/></joint></ros2_control>\n',
    constraint("link", ("rod", 'xyz="0.25 0 0"'), ("half", 'xyz="0.25 0.01 0" rpy="0 0 3"')),
)
#: Crank about z, rocker about y; between them a rod on a ball (three hinges) and a universal joint.
UNIVERSAL = robot(
    '<link name="base"/><link name="ball_x"/><link name="ball_y"/>\n',
    *map(link, ("crank", "rod", "rocker")),
    joint("motor", "base", "crank"),
    joint("ball_joint_x", "crank", "ball_x", (0.2, 0.0, 0.05), X),
    joint("ball_joint_y", "ball_x", "ball_y", axis=Y),
    joint("ball_joint_z", "ball_y", "rod"),
    joint("swing", "base", "rocker", (0.5, 0.0, 0.1), Y),
    MOTOR,
    constraint(
        "universal",
        ("rod", 'xyz="0.45 0 0" rpy="0.2 0 0"'),
        ("rocker", 'xyz="0 0 0.3" rpy="0 0.1 0"'),
        '<parent_axis xyz="0.1 1 0.2"/><child_axis xyz="0.3 0 1"/>',
    ),
)
#: As Isaac Sim writes it; the rod has a universal joint of two hinges.
BALL = robot(
    '<link name="base"/><link name="cross"/>\n',
    *map(link, ("crank", "rod", "rocker")),
    joint("motor", "base", "crank"),
    joint("rod_y", "crank", "cross", (0.2, 0.0, 0.05), Y),
    joint("rod_z", "cross", "rod"),
    joint("swing", "base", "rocker", (0.5, 0.0, 0.1), Y),
    '<loop_joint name="ball" type="spherical"><link1 link="rod" xyz="0.45 0 0" rpy="0 0 0"/>'
    '<link1 link="rocker" xyz="0 0 0.3"/></loop_joint>\n',
)
#: For Gazebo, closed at q = 0: the hinge's frame is turned, its axis that of the model.
GAZEBO = robot(
    '<link name="base"/>'
    + "".join(map(link, ("crank", "rod", "rocker")))
    + joint("motor", "base", "crank")
    + joint("rod_joint", "crank", "rod", (0.1, 0.2, 0.0))
    + joint("swing", "base", "rocker", (0.5, 0.0, 0.0)),
    '<gazebo reference="rod"><mu1>0.2</mu1></gazebo><gazebo><joint name="pin" type="revolute">'
    "<parent>rod</parent><child>rocker</child><pose>0.05 0.25 0 0.3 0.2 0.1</pose>"
    "<axis><xyz>0 0 2</xyz><use_parent_model_frame>1</use_parent_model_frame>"
    "<limit><lower>-1e16</lower></limit></axis></joint></gazebo>\n",
)
#: The same: a part that hangs on the hinge is welded to the rod by a system of Gazebo's.
GAZEBO_WELD = robot(
    GAZEBO[GAZEBO.index("<link") : GAZEBO.index("<gazebo")] + '<link name="bolt"/>',
    joint("pin", "rocker", "bolt", (0.05, 0.25, 0.0)),
    '<gazebo><plugin filename="gz-sim-detachable-joint-system" '
    'name="gz::sim::systems::DetachableJoint"><parent_link>rod</parent_link>'
    "<child_model>__model__</child_model><child_link>bolt</child_link></plugin></gazebo>\n",
)
#: A rod on a ball (three hinges) and Gazebo's universal joint, placed in the rod.
GAZEBO_UNIVERSAL = robot(
    '<link name="base"/><link name="ball_x"/><link name="ball_y"/>\n',
    *map(link, ("crank", "rod", "rocker")),
    joint("motor", "base", "crank"),
    joint("ball_joint_x", "crank", "ball_x", (0.1, 0.2, 0.05), X),
    joint("ball_joint_y", "ball_x", "ball_y", axis=Y),
    joint("ball_joint_z", "ball_y", "rod"),
    joint("swing", "base", "rocker", (0.5, 0.0, 0.1), Y),
    '<gazebo><joint name="cross" type="universal"><parent>rod</parent><child>rocker</child>'
    '<pose relative_to="rod">0.45 0.05 0.25 0.1 0.2 0.3</pose><axis>'
    '<xyz expressed_in="rod">0.1 1 0.2</xyz></axis><axis2>'
    '<xyz expressed_in="rocker">2 0 -1</xyz></axis2></joint></gazebo>\n',
)
#: As Drake writes it, on a world that no link declares.
DRAKE = (
    BALL[: BALL.index("<loop_joint")]
    .replace('<link name="base"/>', "")
    .replace('"base"', '"world"')
    .replace("<robot ", '<robot xmlns:drake="http://drake.mit.edu" ')
    + '<drake:ball_constraint><drake:ball_constraint_body_A name="rod"/>'
    '<drake:ball_constraint_p_AP value="0.45 0 0"/><drake:ball_constraint_body_B name="rocker"/>'
    '<drake:ball_constraint_p_BQ value="0 0 0.3"/></drake:ball_constraint></robot>'
)
ROBOTS = {
    "constraint hinge": HINGE,
    "constraint slider": SLIDER,
    "constraint link": HALVES,
    "constraint universal": UNIVERSAL,
    "loop_joint": BALL,
    "ball_constraint": DRAKE,
    "gazebo hinge": GAZEBO,
    "gazebo universal": GAZEBO_UNIVERSAL,
    "gazebo weld": GAZEBO_WELD,
}
