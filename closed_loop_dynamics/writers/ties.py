"""What every format says about a robot besides its tree: ties between joints, what is at them.

All of it is as the robot is computed: cuts with their frames, derived ones too, a closed reference,
and joints that the loops do not move, which rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..closure.cut_joint import CutJoint, resolve
from ..errors import NotWritable
from ..mechanism import Mechanism
from ..model.implied import make_unique
from ..model.spring import JointSpring, PointSpring
from ..model.submechanism import ActuatorModel, Coupling, JointFriction, Submechanism
from ..model.tree import Body, Joint
from ..model.urdf.unread import shortened

ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class NamedCut:
    """A cut joint with a name of its own."""

    name: str
    entry: Submechanism
    cut: CutJoint


@dataclass(eq=False)
class Ties:
    """Of one mechanism.

    Attributes:
        cuts: all loops.
        couplings: linear ones; those without terms hold a joint, idle joints of loops among them.
        reference: joint -> position in a configuration that is closed [rad or m].
        held: joints that rest because no loop moves them; they are in ``couplings`` too.
    """

    mechanism: Mechanism
    cuts: list[NamedCut] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    reference: dict[str, float] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)

    def model(self, joint: str) -> ActuatorModel:
        """Friction and rotor of a joint."""
        models = (entry.joint_model(joint) for entry in self.mechanism.entries)
        found = next((model for model in models if model is not None), JointFriction())
        return found if isinstance(found, ActuatorModel) else ActuatorModel(**vars(found))

    @property
    def joints(self) -> list[Joint]:
        """Hinges and sliders."""
        joints = (body.joint for body in self.mechanism.tree.bodies)
        return [joint for joint in joints if not joint.has_quaternion]

    def error(self, place: str, problem: str, remedy: str) -> NotWritable:
        """What to raise about something that the format cannot say."""
        return NotWritable(problem, file=self.mechanism.tree.name, place=place, remedy=remedy)


def ties_of(mech: Mechanism) -> Ties:
    """Collect them."""
    result = Ties(mech)
    taken: set[str] = set()
    for entry in mech.entries:
        for loop in entry.loops:
            name = make_unique(f"{entry.name} {loop.predecessor} {loop.successor}", taken)
            result.cuts.append(NamedCut(name, entry, resolve(mech.tree, entry, loop)))
    for component, closure in zip(mech.components, mech.closures, strict=True):
        names = [mech.joint_name(b) for b in component.joints]
        if mech.joint(component.joints[0]).has_quaternion:
            continue
        entry, at = component.entry, {name: 0.0 for name in names}
        at |= {name: entry.reference.get(name, 0.0) for name in names}
        result.couplings += component.couplings
        if closure.loop_closure is not None:
            plan = closure.loop_closure.plan
            at = dict(zip(names, plan.q_ref, strict=True))
            idle = [names[i] for i in plan.idle]
            result.held += idle
            result.couplings += [
                Coupling(name, {}, at[name], entry.place, entry.file) for name in idle
            ]
        else:
            for c in component.couplings:
                at[c.joint] = c.offset + sum(ratio * at[n] for n, ratio in c.terms.items())
        result.reference |= at
    return result


def joint_spring(ties: Ties, joint: str) -> tuple[float, float] | None:
    """Stiffness and rest of all springs of a joint as one, which pulls nowhere where they do not.

    Raises:
        NotWritable: a force that does not grow: the formats have no words for it.
    """
    springs = (s for s in ties.mechanism.tree.springs if isinstance(s, JointSpring))
    mine = [spring for spring in springs if spring.joint == joint]
    stiffness, at_zero = sum(s.stiffness for s in mine), sum(s.at_zero for s in mine)
    if at_zero and not stiffness:
        refuse_springs(ties, mine)
    return (stiffness, -at_zero / stiffness) if stiffness else None


def centred_inertia(body: Body) -> tuple[float, Array, Array]:
    """Mass, (3,) centre of mass and (3, 3) inertia about it, of all that is fixed to a link."""
    com = body.first_moment / body.mass if body.mass else np.zeros(3)
    about_com = body.inertia - body.mass * (com @ com * np.eye(3) - np.outer(com, com))
    return body.mass, com, about_com


def refuse_springs(ties: Ties, springs: Sequence[JointSpring | PointSpring]) -> None:
    """Of a format that has no words for these.

    Raises:
        NotWritable: there is one.
    """
    for spring in springs:
        what = f"at '{spring.joint}'" if isinstance(spring, JointSpring) else spring.name
        raise ties.error(
            f"spring {what}", "the format has no words for it", "write a URDF: --to urdf"
        )


def driven(mech: Mechanism) -> list[str]:
    """Joints that actuators drive, in the order of u."""
    return [mech.joint_name(b) for b in mech.actuator]


def sentences(*pairs: tuple[str, Sequence[str]]) -> list[str]:
    """``what: 'name', 'name' and 3 more``, where there are names."""
    return [f"{what}: {shortened(names)}" for what, names in pairs if names]


def not_zero(at: Mapping[str, float]) -> bool:
    """Whether a configuration [rad or m] is another than q = 0, rounding apart."""
    return any(abs(value) > ROUNDING for value in at.values())
