"""A robot as MJCF, MuJoCo's format: it shows the robot in its reference, with all loops closed.

A moving body is a ``<body>``. Links without any inertia between two joints, as in a universal
joint, would not be simulated: their joints are joints of the body that comes next. Links that are
fixed to another are bodies without joints. What a rotor adds to its joint is ``armature``: r² I,
which is what is computed here, to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..mechanism import Mechanism
from ..model.joint_limits import Limits
from ..model.poses import body_poses
from ..model.spring import PointSpring
from ..model.tree import FLOATING, PRISMATIC, SPHERICAL, Body, Joint
from ..se3 import inverse
from .looks import Looks
from .mjcf_ties import add_sites, add_ties, sites_of
from .ties import driven, joint_spring, refuse_springs, sentences, ties_of
from .xml_text import Element, add, document, number, numbers, quaternion

WORLD = "world"
#: Smallest mass [kg] and moment of inertia [kg m^2]: MuJoCo refuses less than 1e-15.
SMALLEST = 1e-14
#: MuJoCo's limit.
MOST_JOINTS = 6
#: As hard as MuJoCo's equalities get: regularised by 1e-4 of the inertia behind them, and gaps
#: close within 2 ms, the shortest time that this time step allows.
_OPTION = {"timestep": "0.001", "integrator": "implicitfast", "solver": "Newton"}
_EQUALITY = {"solref": "0.002 1", "solimp": "0.9999 0.9999 0.001 0.5 1"}


def mjcf(mech: Mechanism, looks: Looks) -> tuple[dict[str, str], list[str]]:
    """The robot as MJCF, and notes.

    Raises:
        NotWritable: MuJoCo has no words for it.
    """
    writer = _Mjcf(mech, looks)
    return {".xml": writer.text()}, writer.notes


class _Mjcf:
    """Writes one robot."""

    def __init__(self, mech: Mechanism, looks: Looks) -> None:
        self.mech, self.tree, self.looks = mech, mech.tree, looks
        self.ties = ties_of(mech)
        self.sites = sites_of(self.ties)
        self.poses = body_poses(self.tree, self.ties.reference)
        self.merged = self._merged()
        refuse_springs(self.ties, [s for s in self.tree.springs if isinstance(s, PointSpring)])
        self.notes: list[str] = []
        self.root = Element("mujoco", model=self.tree.name or "robot")
        add(self.root, "compiler", angle="radian", inertiafromgeom="false")
        add(self.root, "option", gravity=numbers(mech.gravity), **_OPTION)
        defaults = add(self.root, "default")
        add(defaults, "equality", **_EQUALITY)
        add(defaults, "geom", contype="0", conaffinity="0", group="2")
        add(defaults, "site", group="4")
        self.assets = add(self.root, "asset")

    def text(self) -> str:
        """The file; ``notes`` are complete then."""
        world = add(self.root, "worldbody")
        self._add_links(world, -1, np.eye(4))
        add_sites(world, self.sites.get(-1, ()))
        places: dict[int, Element] = {-1: world}
        for b, body in enumerate(self.tree.bodies):
            if b not in self.merged:
                chain = self._chain(b)
                places[b] = self._add_body(places[self.tree.bodies[chain[0]].parent], chain, body)
        add_ties(self.root, self.ties)
        motors = add(self.root, "actuator")
        for name in driven(self.mech):
            add(motors, "motor", name=name, joint=name)
        self._say_what_is_lost()
        return document(self.root)

    # -- bodies -----------------------------------------------------------------------------------

    def _merged(self) -> set[int]:
        """Bodies without inertia whose joints the next body takes."""
        children: dict[int, list[int]] = {}
        for b, body in enumerate(self.tree.bodies):
            children.setdefault(body.parent, []).append(b)
        result: set[int] = set()
        for b, body in enumerate(self.tree.bodies):
            if body.mass or np.any(body.inertia):
                continue
            if len(children.get(b, [])) != 1 or b in self.sites or body.joint.has_quaternion:
                raise self.ties.error(
                    f"link '{body.link}'",
                    "it has neither mass nor inertia: MuJoCo cannot move it",
                    "give it some, a thousandth of what it is fixed to",
                )
            result.add(b)
        return result

    def _chain(self, b: int) -> list[int]:
        """``b`` and the bodies without inertia before it, outwards."""
        chain = [b]
        while self.tree.bodies[chain[0]].parent in self.merged:
            chain.insert(0, self.tree.bodies[chain[0]].parent)
        if len(chain) > MOST_JOINTS:
            raise self.ties.error(
                f"link '{self.tree.bodies[b].link}'",
                f"{len(chain)} joints and no inertia between them; MuJoCo takes {MOST_JOINTS}",
                "give the links between them some inertia",
            )
        if len(chain) > 1:
            lost = [link for link, (x, _) in self.tree.frames.items() if x in chain[:-1]]
            of = self.tree.bodies[b].link
            self.notes += sentences((f"without inertia, so only joints of '{of}'", lost))
        return chain

    def _add_body(self, place: Element, chain: Sequence[int], body: Body) -> Element:
        parent = self.tree.bodies[chain[0]].parent
        at = inverse(self.poses[parent]) @ self.poses[chain[-1]]
        element = add(place, "body", name=self._name(body.link), **placed(at))
        for b in chain:
            self._add_joint(element, self.tree.bodies[b].joint, b, chain[-1])
        self._add_inertia(element, body)
        self._add_links(element, chain[-1], np.eye(4))
        add_sites(element, self.sites.get(chain[-1], ()))
        return element

    def _name(self, link: str) -> str:
        if link == WORLD:
            raise self.ties.error(
                f"link '{link}'", "MuJoCo's own root has this name", "rename the link"
            )
        return link

    def _add_joint(self, element: Element, joint: Joint, b: int, last: int) -> None:
        if joint.kind == FLOATING:
            if self.tree.bodies[b].parent >= 0:
                raise self.ties.error(
                    f"joint '{joint.name}'",
                    "MuJoCo has no free joint between two bodies that move",
                    "let it hang on the root",
                )
            add(element, "freejoint", name=joint.name)
            if not np.array_equal(joint.placement, np.eye(4)):
                self.notes.append(f"positions of '{joint.name}' are those in the world")
            return
        if joint.kind == SPHERICAL:
            add(element, "joint", name=joint.name, type="ball")
            return
        seen = inverse(self.poses[last]) @ self.poses[b]
        spring = joint_spring(self.ties, joint.name)
        model, limits = self.ties.model(joint.name), Limits.of(self.tree, [joint.name])
        positive = {
            "damping": model.viscous_friction,
            "frictionloss": model.coulomb_friction,
            "armature": model.reflected_inertia,
            **dict(zip(("stiffness", "springref"), spring or (), strict=False)),
        }
        lower, upper, effort = (float(x[0]) for x in (limits.lower, limits.upper, limits.effort))
        ranged = np.isfinite(lower) or np.isfinite(upper)
        add(
            element,
            "joint",
            name=joint.name,
            type="slide" if joint.kind == PRISMATIC else "hinge",
            axis=numbers(seen[:3, :3] @ joint.axis),
            pos=numbers(seen[:3, 3]) if b != last else "",
            ref=number(self.ties.reference[joint.name]),
            range=numbers(np.clip([lower, upper], -1e10, 1e10)) if ranged else "",
            actuatorfrcrange=numbers([-effort, effort]) if np.isfinite(effort) else "",
            **{key: number(value) for key, value in positive.items() if value},
        )

    def _add_inertia(self, element: Element, body: Body) -> None:
        """Principal axes, found here: MuJoCo's search for them is less exact."""
        mass = max(body.mass, SMALLEST)
        com = body.first_moment / mass if body.mass else np.zeros(3)
        about_com = body.inertia - mass * (com @ com * np.eye(3) - np.outer(com, com))
        principal, axes = np.linalg.eigh(about_com)
        axes[:, 2] *= np.linalg.det(axes)
        lacking = principal[2] - principal[0] - principal[1]
        if principal[0] < -1e-12 * principal[2] or lacking > 1e-9 * principal[2]:
            raise self.ties.error(
                f"link '{body.link}'",
                f"no body has the moments of inertia {numbers(principal)}: MuJoCo refuses them",
                "correct the inertia of the link",
            )
        given = np.maximum(principal, SMALLEST)
        given[:2] += max(0.0, float(given[2] - given[0] - given[1])) * (0.5 + 1e-9)
        if mass > body.mass or np.any(given > principal + 1e-9 * principal[2]):
            note = f"'{body.link}' has a mass or inertia of zero; {SMALLEST:g} is written"
            self.notes.append(note)
        inertial = {"pos": numbers(com), "mass": number(mass), "diaginertia": numbers(given)}
        add(element, "inertial", **inertial, quat=numbers(quaternion(axes)))

    def _add_links(self, element: Element, b: int, at: Array) -> None:
        """What a body looks like, and the links that are fixed to it."""
        moving = self.tree.bodies[b].link if b >= 0 else WORLD
        for link, (carrier, frame) in self.tree.frames.items():
            if carrier != b:
                continue
            inside = element
            if link != moving:
                inside = add(element, "body", name=self._name(link), **placed(at @ frame))
            self.looks.add_geoms(inside, self.assets, self.tree.visuals.get(link, ()))

    # -- what is lost -----------------------------------------------------------------------------

    def _say_what_is_lost(self) -> None:
        """Notes on what MJCF has no words for."""
        names = [self.mech.joint_name(b) for b in self.mech.scalar_joints(self.mech.independent)]
        models = {joint.name: self.ties.model(joint.name) for joint in self.ties.joints}
        geared = [n for n, m in models.items() if m.rotor_inertia and m.gear_ratio != 1.0]
        dry = [n for n, m in models.items() if m.coulomb_friction]
        speeds = Limits.of(self.tree, list(models)).velocity
        fast = [n for n, speed in zip(models, speeds, strict=True) if np.isfinite(speed)]
        self.notes += sentences(
            ("MJCF does not say which joints are independent", names if self.ties.cuts else ()),
            ("rotor and gear as one number, armature = r² I", geared),
            ("dry friction is MuJoCo's, with a jump at rest, not a smooth one", dry),
            ("MJCF has no limits of speed", fast),
            ("no loop moves these joints, equalities hold them", self.ties.held),
        )


def placed(at: Array) -> dict[str, str]:
    """Attributes of a pose."""
    result = {}
    if np.any(at[:3, 3]):
        result["pos"] = numbers(at[:3, 3])
    if not np.array_equal(at[:3, :3], np.eye(3)):
        result["quat"] = numbers(quaternion(at[:3, :3]))
    return result
