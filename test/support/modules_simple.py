"""Modules without cut joints: serial chains, geared rotors, URDF mimic joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from .site import Module, Site
from .sketch import DrawnJoint, random_direction


def serial(site: Site) -> Module:
    """One to three joints in a row, revolute, continuous or prismatic, at random places."""
    rng = site.rng
    names, kinds, link = [], [], site.parent
    for i in range(rng.integers(1, 4)):
        kind = str(rng.choice(["revolute", "continuous", "prismatic"], p=[0.6, 0.15, 0.25]))
        point = rng.uniform(-0.3, 0.3, 3) * (i > 0)
        link = site.joint(f"j{i}", link, point, random_direction(rng), kind=kind)
        names.append(site.name(link))
        kinds.append(kind)
    module = Module("serial", names, list(names), in_file=bool(rng.random() < 0.6))
    module.type = "serial" if "prismatic" in kinds else ["R", "RR", "3R"][len(names) - 1]
    module.notes.append("/".join(kinds))
    module.reach = dict.fromkeys(names, 1.2) | {
        name: 0.3 for name, kind in zip(names, kinds, strict=True) if kind == "prismatic"
    }
    return module


def geared_rotor(site: Site) -> Module:
    """One or two joints in a row, driven by rotors on the first joint's parent.

    Rotor 1 turns with joint 1, rotor 2 (a belt past joint 1) with a mix of both joints.
    """
    rng = site.rng
    first = site.joint("j1", site.parent, np.zeros(3), random_direction(rng))
    joints, terms = [first], [{site.name(first): _ratio(site)}]
    if rng.random() < 0.5:
        second = site.joint("j2", first, rng.uniform(-0.3, 0.3, 3), random_direction(rng))
        joints.append(second)
        terms.append({site.name(first): _ratio(site), site.name(second): _ratio(site)})
    couplings: list[dict[str, Any]] = []
    rotors: list[str] = []
    for i, mix in enumerate(terms, start=1):
        point = rng.uniform(-0.1, 0.1, 3)
        rotor = site.joint(f"rotor{i}", site.parent, point, random_direction(rng), mass=0.1)
        rotors.append(site.name(rotor))
        couplings.append({"joint": rotors[-1], "terms": mix})
        if rng.random() < 0.3:
            couplings[-1]["offset"] = float(rng.uniform(-1.0, 1.0))
    names = [site.name(joint) for joint in joints]
    reach = dict.fromkeys(names, 1.0)
    return Module(
        "geared_rotor", names, rotors, couplings=couplings, type="TRANSMISSION", reach=reach
    )


def _ratio(site: Site) -> float:
    return float(site.rng.choice([-1.0, 1.0]) * site.rng.uniform(5.0, 30.0))


def mimic(site: Site) -> Module:
    """A URDF mimic joint behind or beside its master; the file may not mention either."""
    rng = site.rng
    master = site.joint("master", site.parent, np.zeros(3), random_direction(rng))
    parent = master if rng.random() < 0.5 else site.parent
    kind = "prismatic" if rng.random() < 0.3 else "revolute"
    follower = site.joint(
        "follower", parent, rng.uniform(-0.2, 0.2, 3), random_direction(rng), kind=kind
    )
    ratio = float(rng.uniform(0.5, 2.0) * rng.choice([-1.0, 1.0]))
    offset = float(rng.uniform(-0.3, 0.3)) if rng.random() < 0.4 else 0.0
    name = site.name(master)
    last: DrawnJoint = site.sketch.joints[-1]
    last.mimic = (name, ratio, offset)
    in_file = bool(rng.random() < 0.5)
    active = site.name(follower) if in_file and rng.random() < 0.5 else name
    return Module(
        "mimic", [name], [active], type="TRANSMISSION", in_file=in_file, reach={name: 0.8}
    )
