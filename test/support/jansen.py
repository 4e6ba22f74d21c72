"""Theo Jansen's leg as a URDF whose rods end in tips: eleven bars, three loops, one crank."""

from __future__ import annotations

import numpy as np

#: Lengths of Jansen's "holy numbers", here in mm.
BARS = {
    **{"a": 38.0, "b": 41.5, "c": 39.3, "d": 40.1, "e": 55.8, "f": 39.4, "g": 36.7},
    **{"h": 65.7, "i": 49.0, "j": 50.0, "k": 61.9, "l": 7.8, "m": 15.0},
}


def meet(p: np.ndarray, r: float, q: np.ndarray, s: float, left: bool) -> np.ndarray:
    """Where circles about p and q meet, to the left or right of the way from p to q."""
    way, d = q - p, float(np.linalg.norm(q - p))
    along = (r**2 - s**2 + d**2) / (2.0 * d)
    across = np.sqrt(r**2 - along**2) * (1.0 if left else -1.0)
    return p + (along * way + across * np.array([-way[1], way[0]])) / d


def points(crank: float = 0.0) -> dict[str, np.ndarray]:
    """(x, z) [m] of all pins and of the toe at an angle of the crank about y, from closed forms."""
    bar = {name: 1e-3 * length for name, length in BARS.items()}
    O, P = np.zeros(2), np.array([-bar["a"], -bar["l"]])
    A = bar["m"] * np.array([np.cos(crank), -np.sin(crank)])
    B = meet(A, bar["j"], P, bar["b"], left=False)
    C = meet(P, bar["d"], B, bar["e"], left=True)
    D = meet(A, bar["k"], P, bar["c"], left=True)
    E = meet(C, bar["f"], D, bar["g"], left=False)
    toe = meet(E, bar["h"], D, bar["i"], left=False)
    return {"O": O, "P": P, "A": A, "B": B, "C": C, "D": D, "E": E, "toe": toe}


def urdf() -> str:
    """The leg at a crank angle of zero; every frame has the axes of the root."""
    at, links, joints = points(), ['<link name="base"/>'], []
    origin = {"base": at["O"]}

    def link(name: str, mass: float) -> None:
        inertia = 'ixx="1e-6" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"'
        body = f'<inertial><mass value="{mass}"/><inertia {inertia}/></inertial>' if mass else ""
        links.append(f'<link name="{name}">{body}</link>')

    def joint(name: str, parent: str, child: str, pin: str, kind: str = "continuous") -> None:
        x, z = at[pin] - origin[parent]
        origin[child] = at[pin]
        link(child, 0.05 if kind == "continuous" else 0.0)
        joints.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{x:.12f} 0 {z:.12f}"/><axis xyz="0 1 0"/></joint>'
        )

    for pin in (
        ("crank", "base", "crank_link", "O"),
        ("rod_j_joint", "crank_link", "rod_j", "A"),
        ("rod_k_joint", "crank_link", "rod_k", "A"),
        ("rocker", "base", "rocker_link", "P"),
        ("rod_c_joint", "base", "rod_c", "P"),
        ("rod_f_joint", "rocker_link", "rod_f", "C"),
        ("foot_joint", "rod_c", "foot", "D"),
    ):
        joint(*pin)
    for rod, pin in (("rod_j", "B"), ("rod_k", "D"), ("rod_f", "E"), ("foot", "toe")):
        joint(f"{rod}_end", rod, "toe" if pin == "toe" else f"{rod}_tip", pin, "fixed")
    return f'<robot name="jansen">{"".join(links)}{"".join(joints)}</robot>'


LOOPS = """\
submechanisms:
- name: jansen
  type: numerical
  jointnames_spanningtree:
    [crank, rod_j_joint, rod_k_joint, rocker, rod_c_joint, rod_f_joint, foot_joint]
  jointnames_independent: [crank]
  jointnames_active: [crank]
  loop_constraints:
  - {cut_joint: rod_j_end, predecessor_body: rod_j_tip, successor_body: rocker_link,
     cut: revolute, axis: [0, 1, 0]}
  - {cut_joint: rod_k_end, predecessor_body: rod_k_tip, successor_body: rod_c,
     cut: revolute, axis: [0, 1, 0]}
  - {cut_joint: rod_f_end, predecessor_body: rod_f_tip, successor_body: foot,
     cut: revolute, axis: [0, 1, 0]}
"""
