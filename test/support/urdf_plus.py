"""Small robots in URDF+, written here: gears, belts, loops that are open or flat at q = 0."""

from __future__ import annotations

Z = (0.0, 0.0, 1.0)


def link(name: str, com: tuple[float, float, float] = (0.1, 0.02, 0.01), mass: float = 1.5) -> str:
    """A body without symmetry."""
    inertia = 'ixx="0.011" ixy="0.001" ixz="-0.0005" iyy="0.014" iyz="0.0007" izz="0.016"'
    return (
        f'<link name="{name}"><inertial><origin xyz="{words(com)}"/><mass value="{mass}"/>'
        f"<inertia {inertia}/></inertial></link>\n"
    )


def joint(
    name: str,
    parent: str,
    child: str,
    at: tuple[float, float, float] = (0.0, 0.0, 0.0),
    axis: tuple[float, float, float] = Z,
    more: str = "",
    kind: str = "continuous",
) -> str:
    """A joint; ``more`` are attributes such as ``independent="false"``."""
    return (
        f'<joint name="{name}" type="{kind}" {more}><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{words(at)}"/><axis xyz="{words(axis)}"/></joint>\n'
    )


def pin(name: str, one: tuple[str, float], other: tuple[str, float], kind: str = "revolute") -> str:
    """A loop closed by a joint about z; each end is a link and how far along its x axis."""
    ends = [
        f'<{tag} link="{link}"><origin xyz="{x} 0 0"/></{tag}>'
        for tag, (link, x) in (("predecessor", one), ("successor", other))
    ]
    return f'<loop name="{name}" type="{kind}">{"".join(ends)}<axis xyz="0 0 1"/></loop>\n'


def gear(name: str, one: str, other: str, ratio: float, more: str = "") -> str:
    """``ratio`` × (joints to ``one``) = joints to ``other``."""
    return (
        f'<coupling name="{name}" {more}><predecessor link="{one}"/><successor link="{other}"/>'
        f'<ratio value="{ratio}"/></coupling>\n'
    )


def words(numbers: tuple[float, float, float]) -> str:
    return " ".join(map(repr, numbers))


def robot(*parts: str) -> str:
    return '<robot name="plus">\n' + "".join(parts) + "</robot>\n"


FOLLOWS = 'independent="false"'

#: Five bars that are open at q = 0: 0.6 m on one side, 1.0 m on the other, all in one line.
OPEN_LOOP = (
    '<link name="base"/>\n'
    + "".join(map(link, ("a", "b", "c", "d", "e")))
    + joint("ja", "base", "a")
    + joint("jb", "a", "b", (0.15, 0.0, 0.0))
    + joint("jc", "b", "c", (0.2, 0.0, 0.0))
    + joint("jd", "base", "d", (-0.05, 0.0, 0.0), more=FOLLOWS)
    + joint("je", "d", "e", (0.45, 0.0, 0.0), more=FOLLOWS)
    + pin("open", ("c", 0.25), ("e", 0.5))
)
#: The same, its first joint and a dependent one geared to rotors.
GEARED_LOOP = (
    OPEN_LOOP
    + link("rotor", mass=0.1)
    + link("encoder", mass=0.05)
    + joint("jr", "base", "rotor", (0.0, 0.1, 0.0), more=FOLLOWS)
    + joint("jn", "d", "encoder", (0.1, 0.0, 0.0), more=FOLLOWS)
    + gear("motor", "a", "rotor", -8.0)
    + gear("reading", "e", "encoder", 2.5, 'type="rolling"')
)
#: A parallelogram: closed at q = 0, where all bars lie in one line.
FLAT_LOOP = (
    '<link name="base"/>\n'
    + "".join(map(link, ("crank", "coupler", "rocker")))
    + joint("jcrank", "base", "crank")
    + joint("jcoupler", "crank", "coupler", (0.5, 0.0, 0.0), more=FOLLOWS)
    + joint("jrocker", "base", "rocker", (1.0, 0.0, 0.0), more=FOLLOWS)
    + pin("flat", ("coupler", 1.0), ("rocker", 0.5))
)
#: A flying leg: the ankle's rotor sits in the thigh and turns with knee and ankle together.
BELT_LEG = (
    '<link name="world"/>\n'
    + "".join(map(link, ("pelvis", "thigh", "shank", "foot", "knee_rotor", "ankle_rotor")))
    + '<joint name="flight" type="floating"><parent link="world"/><child link="pelvis"/></joint>\n'
    + joint("hip", "pelvis", "thigh", (0.0, 0.1, -0.1), (1.0, 0.0, 0.0))
    + joint("knee", "thigh", "shank", (0.0, 0.0, -0.4), (0.0, 1.0, 0.0))
    + joint("ankle", "shank", "foot", (0.0, 0.0, -0.4), (0.0, 1.0, 0.0))
    + joint("jknee", "thigh", "knee_rotor", (0.05, 0.0, -0.1), (0.0, 1.0, 0.0), FOLLOWS)
    + joint("jankle", "thigh", "ankle_rotor", (-0.05, 0.0, -0.1), (0.0, 1.0, 0.0), FOLLOWS)
    + gear("knee_gear", "shank", "knee_rotor", 9.0)
    + gear("ankle_belt", "foot", "ankle_rotor", 6.0)
)
ROBOTS = {
    "open": robot(OPEN_LOOP),
    "geared": robot(GEARED_LOOP),
    "flat": robot(FLAT_LOOP),
    "belt": robot(BELT_LEG),
}
