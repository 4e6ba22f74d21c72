"""A robot as URDF+ (Chignoli et al. 2024): a URDF whose loops and gears are elements of it.

The format has no words for rotors, universal cuts and a reference: where the dynamics or the branch
depend on them the robot is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..mechanism import Mechanism
from ..model.locked_axes import LOCKED
from ..model.submechanism import Coupling
from .looks import Looks
from .named_cuts import joint_of
from .submechanism_file import on_gravity
from .ties import NamedCut, Ties, driven, not_zero, refuse_springs, sentences, ties_of
from .urdf import add_origin, urdf, virtual_base
from .xml_text import Element, add, document, number, numbers

WORLD = "world"
_LOOPS = {*LOCKED} - {"universal"}
_OTHERS = "write URDF and submechanism file (--to urdf), or MJCF"


def urdf_plus(mech: Mechanism, looks: Looks) -> tuple[dict[str, str], list[str]]:
    """The robot as URDF+, and notes.

    Raises:
        NotWritable: the format has no words for it.
    """
    ties = ties_of(mech)
    _check(ties)
    robot = urdf(mech, looks, WORLD if virtual_base(mech) else "")
    joints = {element.get("name", ""): element for element in robot.iter("joint")}
    independent = {mech.joint_name(b) for b in mech.scalar_joints(mech.independent)}
    for joint in ties.joints:
        joints[joint.name].set("independent", str(joint.name in independent).lower())
        _add_friction(joints[joint.name], ties, joint.name)
    for tied in ties.cuts:
        _add_loop(robot, ties, tied)
    for coupling in ties.couplings:
        if coupling.joint not in ties.held:
            _add_coupling(robot, joints, ties, coupling)
    return {".urdf": document(robot)}, [*_notes(ties, independent), *on_gravity(mech)]


def _check(ties: Ties) -> None:
    refuse_springs(ties, ties.mechanism.tree.springs)
    mech = ties.mechanism
    for entry in (mech.components[c].entry for c in mech.functions):
        raise ties.error(f"submechanism '{entry.name}'", "a Python function closes it", _OTHERS)
    for joint in ties.joints:
        if ties.model(joint.name).rotor_inertia:
            raise ties.error(f"joint '{joint.name}'", "URDF+ has no rotors but links", _OTHERS)
    for entry in mech.entries:
        at = {name: ties.reference[name] for name in entry.spanning if entry.loops}
        if not_zero(at) and not entry.assemble:
            raise ties.error(
                f"submechanism '{entry.name}'",
                "its reference is not q = 0, and URDF+ cannot say where a loop starts: it might be "
                "closed on another branch",
                _OTHERS,
            )


def _notes(ties: Ties, independent: set[str]) -> list[str]:
    mech = ties.mechanism
    actuators = driven(mech)
    moved = [entry.name for entry in mech.entries if entry.loops and entry.assemble]
    rubbing = [j.name for j in ties.joints if ties.model(j.name).viscous_friction]
    rubbing += [j.name for j in ties.joints if ties.model(j.name).coulomb_friction]
    worded = [e.name for e in mech.entries if e.solver != "auto" or e.task_space is not None]
    return sentences(
        ("URDF+ does not say what is driven", actuators if {*actuators} != independent else ()),
        ("closed anew from q = 0 by whoever reads it", moved),
        ("friction as <dynamics>, which is not read again here", list(dict.fromkeys(rubbing))),
        ("`solver` and `task_space` are not written", worded),
    )


def _add_friction(element: Element, ties: Ties, joint: str) -> None:
    model = ties.model(joint)
    if model.viscous_friction or model.coulomb_friction:
        about = {"damping": number(model.viscous_friction)}
        add(element, "dynamics", **about, friction=number(model.coulomb_friction))


def _add_loop(robot: Element, ties: Ties, tied: NamedCut) -> None:
    kind, axis, frames = joint_of(ties, tied, _LOOPS, _OTHERS)
    loop = add(robot, "loop", name=tied.name, type=kind)
    tree = ties.mechanism.tree
    for tag, body, frame in (
        ("predecessor", tied.cut.predecessor, frames[0]),
        ("successor", tied.cut.successor, frames[1]),
    ):
        end = add(loop, tag, link=tree.bodies[body].link if body >= 0 else tree.root_link)
        add_origin(end, frame)
    add(loop, "axis", xyz=numbers(axis))


def _add_coupling(robot: Element, joints: dict[str, Element], ties: Ties, c: Coupling) -> None:
    """``<coupling>`` where the ways to two links add up to it, else ``<mimic>``."""
    for ratio, ends in _ways(ties, c):
        if joints[c.joint].find("mimic") is not None:
            return
        coupling = add(robot, "coupling", name=f"{c.joint} coupled")
        for tag, link in zip(("predecessor", "successor"), ends, strict=True):
            add(coupling, tag, link=link)
        add(coupling, "ratio", value=number(ratio))
        return
    if len(c.terms) > 1:
        raise ties.error(
            f"joint '{c.joint}'",
            "it follows several joints that are no way to a link, each with the same ratio",
            _OTHERS,
        )
    if joints[c.joint].find("mimic") is None:
        free = (ties.mechanism.joint_name(b) for b in ties.mechanism.independent)
        master, ratio = next(iter(c.terms.items()), (next(free), 0.0))
        about = {"multiplier": number(ratio), "offset": number(c.offset)}
        add(joints[c.joint], "mimic", joint=master, **about)


def _ways(ties: Ties, c: Coupling) -> Iterator[tuple[float, tuple[str, str]]]:
    """Ratio, predecessor and successor of a ``<coupling>`` that says it."""
    tree = ties.mechanism.tree
    ratios = set(c.terms.values())
    if len(ratios) != 1 or c.offset or 0.0 in ratios:
        return
    own = tree.joint_index(c.joint)
    wanted = {tree.joint_index(name) for name in c.terms}
    for b, body in enumerate(tree.bodies):
        ways = [set(tree.path_to_root(x)) for x in (b, own)]
        if ways[0] - ways[1] == wanted and ways[1] - ways[0] == {own}:
            yield ratios.pop(), (body.link, tree.bodies[own].link)
            return
