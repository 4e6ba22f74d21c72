"""Small robots as SDF: loops, gearboxes, screws, nested models, frames relative to each other."""

from __future__ import annotations

INERTIA = (
    "<inertial><pose>{com} 0.1 0.2 0.3</pose><mass>{mass}</mass><inertia><ixx>0.011</ixx>"
    "<ixy>0.001</ixy><ixz>-0.0005</ixz><iyy>0.014</iyy><iyz>0.0007</iyz><izz>0.016</izz></inertia>"
    "</inertial>"
)


def link(name: str, pose: str = "", com: str = "0.1 0.02 0.01", mass: float = 1.5) -> str:
    """A body without symmetry; ``pose`` is a whole element."""
    return f'<link name="{name}">{pose}{INERTIA.format(com=com, mass=mass)}</link>\n'


def joint(name: str, kind: str, parent: str, child: str, more: str = "", pose: str = "") -> str:
    """``more``: axes and other words; ``pose``: a whole element."""
    return (
        f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
        f"{pose}{more}</joint>\n"
    )


def axis(xyz: str, tag: str = "axis", more: str = "", expressed_in: str = "") -> str:
    """One of a joint."""
    frame = f' expressed_in="{expressed_in}"' if expressed_in else ""
    return f"<{tag}><xyz{frame}>{xyz}</xyz>{more}</{tag}>"


def sdf(*parts: str, version: str = "1.9", more: str = "") -> str:
    """A file with one model."""
    return (
        f'<sdf version="{version}" xmlns:drake="drake.mit.edu">\n<model name="m"{more}>\n'
        f"{''.join(parts)}</model>\n</sdf>\n"
    )


TURNED = "<pose>0.02 0.01 0 0.3 -0.2 0.5</pose>"
PASSIVE = "<limit><effort>0</effort></limit>"
#: Crank, rod and rocker about z; the rocker is the child of the world and of the rod.
FOUR_BAR = sdf(
    '<pose>0 0 0.4 0 0 0.2</pose>\n<frame name="ground"><pose>0.5 0.1 0 0 0 0.4</pose></frame>\n',
    link("crank"),
    link("rod", '<pose relative_to="crank">0.2 0.05 0.01 0 0 0.7</pose>'),
    link("rocker", '<pose relative_to="ground">0 0 0 0 0 0.1</pose>'),
    joint("motor", "revolute", "world", "crank", axis("0 0 1")),
    joint("rod_joint", "revolute", "crank", "rod", axis("0 0 -1", expressed_in="ground"), TURNED),
    joint("swing", "continuous", "world", "rocker", axis("0 0 1", more=PASSIVE)),
    joint(
        "pin", "revolute", "rod", "rocker", axis("0 0 1", expressed_in="__model__"),
        '<pose relative_to="rod">0.4 0.1 0 0.2 0.1 0</pose>',
    ),
)  # fmt: skip
#: A motor turns a spindle and, by a gearbox, a wheel; the nut lifts an arm by a rod.
SCREW = sdf(
    link("base"),
    link("rotor", "<pose>0 0.2 0 0 0 0</pose>", mass=0.2),
    link("wheel", "<pose>0 0.4 0.1 0.1 0 0</pose>", mass=0.4),
    link("nut", "<pose>0.1 0 0.1 0 0 0</pose>", mass=0.3),
    link("rod", "<pose>0.1 0 0.1 0 0.6 0</pose>"),
    link("arm", "<pose>0.5 0 0.5 0 0 0</pose>"),
    joint("ground", "fixed", "world", "base"),
    joint("motor", "revolute", "base", "rotor", axis("1 0 0")),
    joint("spin", "revolute", "base", "wheel", axis("-1 0 0", expressed_in="__model__")),
    joint(
        "gears", "gearbox", "rotor", "wheel",
        "<gearbox_ratio>2.5</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>"
        + axis("1 0 0") + axis("1 0 0", "axis2", expressed_in="__model__"), "<pose/>",
    ),
    joint("spindle", "screw", "base", "nut",
          "<screw_thread_pitch>0.3</screw_thread_pitch>" + axis("1 0 0")),
    joint("lift", "revolute", "base", "arm", axis("0 1 0", more=PASSIVE)),
    joint("low", "ball", "nut", "rod"),
    joint("high", "universal", "rod", "arm", axis("0 1 0") + axis("0 0 1", "axis2"),
          '<pose relative_to="rod">0.3 0 0 0 0 0</pose>'),
)  # fmt: skip
#: It floats; one leg is a nested model. A ball closes the loop between rod and rocker.
FLYING = sdf(
    link("trunk", "<pose>0 0 1 0.1 0.2 0.3</pose>", mass=4.0),
    link("crank", '<pose relative_to="trunk">0.1 0 0 0 0 0</pose>'),
    link("rod", '<pose relative_to="crank">0.2 0 0.05 0 0.4 0.3</pose>'),
    '<model name="leg"><pose relative_to="trunk">0.5 0 0.1 0 0 0</pose>\n',
    link("rocker", "<pose>0 0.02 0 0 0.2 0</pose>"),
    link("foot", '<pose relative_to="rocker">0 0 -0.3 0 0 0</pose>', mass=0.5),
    joint("ankle", "prismatic", "rocker", "foot", axis("0 0 1")),
    "</model>\n",
    joint("motor", "revolute", "trunk", "crank", axis("0 0 1")),
    joint("cross", "universal", "crank", "rod", axis("0 1 0") + axis("0 0 1", "axis2")),
    joint("swing", "revolute", "trunk", "leg::rocker", axis("0 1 0", expressed_in="leg")),
    joint(
        "ball", "ball", "rod", "leg::rocker", pose='<pose relative_to="rod">0.4 0 0 0 0 0</pose>'
    ),
)
ROBOTS = {"sdf four-bar": FOUR_BAR, "sdf screw": SCREW, "sdf flying": FLYING}
