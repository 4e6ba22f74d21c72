"""Small robots with marker links, as Onshape exports them: open at q = 0, some with balls."""

from __future__ import annotations

from support.urdf_plus import joint, link, robot

X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def marker(name: str, on: str, at: tuple[float, float, float], rpy: str = "0 0 0") -> str:
    """A link that weighs nothing to speak of, fixed to another."""
    inertia = "".join(f'{key}="0" ' for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    return (
        f'<link name="{name}"><inertial><mass value="1e-9"/><inertia {inertia}/></inertial>'
        f"</link>\n"
        f'<joint name="{name}_frame" type="fixed"><parent link="{on}"/><child link="{name}"/>'
        f'<origin xyz="{" ".join(map(repr, at))}" rpy="{rpy}"/><axis xyz="0 0 0"/></joint>\n'
    )


def speck(name: str) -> str:
    """A link as onshape-to-robot writes it between the hinges of a ball."""
    inertia = "".join(f'{key}="1e-9" ' for key in ("ixx", "iyy", "izz"))
    zero = "".join(f'{key}="0" ' for key in ("ixy", "ixz", "iyz"))
    return (
        f'<link name="{name}"><inertial><mass value="1e-9"/><inertia {inertia}{zero}/></inertial>'
        "</link>\n"
    )


_BARS = (
    '<link name="base"/>\n'
    + "".join(map(link, ("crank", "rod", "rocker")))
    + joint("motor", "base", "crank")
    + joint("free_rod", "crank", "rod", (0.2, 0.0, 0.0))
    + joint("free_rocker", "base", "rocker", (0.5, 0.0, 0.0))
)
#: A crank and a rocker about z; the hinge between rod and rocker is a joint that is a marker.
FOUR_BAR = robot(
    _BARS,
    link("pin", mass=0.2),
    joint("closedloop1_A", "rod", "pin", (0.5, 0.0, 0.0)),
    marker("closedloop1_B", "rocker", (0.3, 0.0, 0.0), "0 0 0.4"),
    link("bob"),
    joint("loose", "rocker", "bob", (0.1, 0.0, 0.0), X),
)
FOUR_BAR_YAML = (
    "closed_loop: [['closedloop1_A', 'closedloop1_B']]\ntype: ['6D']\nname_mot: ['motor']\n"
)
#: Crank about z, rocker about y, and a rod between: its joint is a hinge in the URDF.
ROD = robot(
    '<link name="base"/>\n',
    *map(link, ("crank", "rod", "rocker", "lid")),
    joint("motor", "base", "crank"),
    joint("rod_joint", "crank", "rod", (0.2, 0.0, 0.05)),
    joint("swing", "base", "rocker", (0.5, 0.0, 0.1), Y),
    joint("lid_joint", "rocker", "lid", (0.0, 0.05, 0.0), X),
    marker("closedloop1_A", "rod", (0.45, 0.0, 0.0)),
    marker("closedloop1_B", "rocker", (0.0, 0.0, 0.3)),
)


#: The same rod; its ball is three hinges that do not point along it, on links of next to no mass.
HINGED_ROD = robot(
    '<link name="base"/>\n',
    *map(link, ("crank", "rod", "rocker", "lid")),
    *(speck(name) for name in ("speck", "dust")),
    joint("motor", "base", "crank"),
    joint("rod_x", "crank", "speck", (0.2, 0.0, 0.05), (0.6, 0.8, 0.0)),
    joint("rod_y", "speck", "dust", axis=(-0.48, 0.36, 0.8)),
    joint("rod_z", "dust", "rod", axis=(0.64, -0.48, 0.6)),
    joint("swing", "base", "rocker", (0.5, 0.0, 0.1), Y),
    joint("lid_joint", "rocker", "lid", (0.0, 0.05, 0.0), X),
    marker("closedloop1_A", "rod", (0.45, 0.0, 0.0)),
    marker("closedloop1_B", "rocker", (0.0, 0.0, 0.3)),
)


def rod_yaml(kind: str) -> str:
    """The rod's joint is of this kind, the lid is shut."""
    return (
        "closed_loop:\n- [closedloop1_B, closedloop1_A]\ntype: [3d]\nname_mot: [motor]\n"
        f"joint_name: [rod_joint, lid_joint]\njoint_type: [{kind}, FIXED]\n"
    )


#: As onshape-to-robot writes it: a hinge has a second pair of markers along its axis.
CLOSING = robot(
    _BARS,
    marker("closing_pin_1", "rod", (0.5, 0.0, 0.0)),
    marker("closing_pin_1_z", "rod", (0.5, 0.0, 0.1)),
    marker("closing_pin_2", "rocker", (0.3, 0.0, 0.0), "0 0 1.3"),
    marker("closing_pin_2_z", "rocker", (0.3, 0.0, 0.1), "0 0 1.3"),
)
HINGED_ROD_YAML = (
    "closed_loop:\n- [closedloop1_B, closedloop1_A]\ntype: [3d]\nname_mot: [motor]\n"
    "joint_name: [lid_joint]\njoint_type: [FIXED]\n"
)
#: name -> what is given to load()
ROBOTS: dict[str, tuple[str, str | None]] = {
    "marked joint": (FOUR_BAR, FOUR_BAR_YAML),
    "ball": (ROD, rod_yaml("SPHERICAL")),
    "hinged ball": (HINGED_ROD, HINGED_ROD_YAML),
    "universal": (ROD, rod_yaml("ujoint_yz")),
    "closing": (CLOSING, None),
}
