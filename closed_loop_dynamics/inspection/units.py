"""Numbers that are probably not in kg, m, rad and kg·m²: what every user gets wrong once.

A file says no units, so they are judged by what bodies are like: nothing is denser than osmium, a
radius of gyration is about as long as its link, no robot is longer than a crane, hinges do not turn
many times. The bars lie between what published robots hold (placeholders too) and what a wrong unit
makes of them. A mistake that most links share is an error, a single one a warning.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..errors import SubmechanismError
from ..model.description import read_description
from ..model.poses import body_poses, link_pose
from ..model.submechanism import Submechanism
from ..model.tree import PRISMATIC, REVOLUTE, Joint, Tree
from ..model.urdf.angles import ANGLE, MISSING_AXIS, remarks_on_angles
from ..model.urdf.elements import read_root
from ..model.urdf.reader import read_urdf
from ..model.urdf.unread import shortened
from .report import Finding

Source = str | os.PathLike[str]

#: Radius of gyration, distance of the centre of mass or range of a slider over the size of a link.
MOST_LINK_SIZES = 60.0
#: Of the box with a link's mass and moments [kg/m³]; osmium has 2.3e4, thin rods are rounded.
DENSEST_LINK, DENSEST_ROBOT, THINNEST_ROBOT = 1e6, 5e4, 0.1
#: Mass of a robot over the cube of its size [kg/m³]; full of water it would be some hundreds.
HEAVY_ROBOT = 300.0
#: A robot may be as long as a crane; from LONG on, its links must be as long as it is [m].
LONGEST, LONG, THIN = 100.0, 5.0, 3e-3
#: A length or mass over the median of its kind; only lengths over LONG count.
MOST_MEDIANS = 100.0
#: A hinge that turns further than this has several turns, or degrees [rad].
TURNS = 4.0 * np.pi
#: A link with less than this part of the median mass is a placeholder.
NEGLIGIBLE = 1e-3
#: Typical radius of gyration of a link over its size.
USUAL_GYRATION = 0.3
#: What moments of inertia are written in -> how many of it are 1 kg·m².
_INERTIA_UNITS = {"g·mm²": 1e9, "g·cm²": 1e7, "kg·mm²": 1e6}


@dataclass(frozen=True)
class _Link:
    """A link with mass and inertia.

    Attributes:
        size: the longest way from it to a joint or its centre of mass; at least a small part of the
            robot's [m].
        gyration: the largest radius of gyration [m].
        density: of the box with its mass and moments [kg/m³].
    """

    name: str
    mass: float
    size: float
    gyration: float
    density: float


def units_of_files(robot: Source, submechanisms: Source | None = None) -> list[Finding]:
    """The same of files that need not make a robot: wrong units keep loops from closing.

    Raises:
        ModelError: not even the tree can be read.
    """
    try:
        description = read_description(robot, submechanisms)
        tree, entries = description.tree, description.submechanisms
    except SubmechanismError:
        root = read_root(robot)
        tree, entries = read_urdf(root), ()
        tree = replace(tree, remarks=tuple(remarks_on_angles(root)))
    remarks = [Finding.of(r) for r in tree.remarks if r.code in (ANGLE, MISSING_AXIS)]
    return [*remarks, *units_findings(tree, entries)]


def units_findings(tree: Tree, entries: Sequence[Submechanism] = ()) -> Iterator[Finding]:
    """What is probably in other units; ``entries`` tell which joints are geared."""
    if not tree.bodies:
        return
    size = _diagonal(tree)
    links = list(_links(tree, size))
    yield from _inertias(tree, links)
    yield from _masses(tree, links, size)
    yield from _origins(tree, links, size)
    yield from _centres(tree, size)
    yield from _limits(tree, entries, size)


def _finding(
    tree: Tree, kind: str, code: str, read: dict[str, str], of: int, meant: str, remedy: str
) -> Iterator[Finding]:
    """One finding on all links or joints (``read``: name -> what was read); nothing if none."""
    if not read:
        return
    name, first = next(iter(read.items()))
    others = f" (also {kind}s {shortened(list(read)[1:])})" if len(read) > 1 else ""
    message = f"{tree.source}: {kind} '{name}': {first}; probably {meant}: {remedy}{others}"
    severity = "error" if 2 * len(read) > of else "warning"
    yield Finding(severity, code, "", message, tree.source, f"{kind} '{name}'", remedy)


# -- masses and inertias ---------------------------------------------------------------------------


def _inertias(tree: Tree, links: Sequence[_Link]) -> Iterator[Finding]:
    bad = [x for x in links if x.gyration > MOST_LINK_SIZES * x.size]
    if not bad:
        return
    excess = np.median([(x.gyration / (USUAL_GYRATION * x.size)) ** 2 for x in bad])
    unit = min(_INERTIA_UNITS, key=lambda u: abs(np.log(_INERTIA_UNITS[u] / excess)))
    read = {
        x.name: f"inertia with a radius of gyration of {x.gyration:.3g} m on a link of "
        f"{x.size:.2g} m"
        for x in bad
    }
    remedy = f"write kg·m² (divide by {_INERTIA_UNITS[unit]:.0e})".replace("e+0", "e")
    yield from _finding(tree, "link", "units-inertia", read, len(links), f"in {unit}", remedy)


def _masses(tree: Tree, links: Sequence[_Link], size: float) -> Iterator[Finding]:
    if not links:
        return
    masses = [x.mass for x in links]
    everywhere = _typical(links, lambda x: x.density) > DENSEST_ROBOT
    everywhere = everywhere and sum(masses) > HEAVY_ROBOT * size**3
    outlier = MOST_MEDIANS * float(np.median(masses))
    read = {
        x.name: f"mass of {x.mass:.4g} kg with moments of inertia as of {x.density:.1g} kg/m³ "
        "(steel has 7.9e3)"
        for x in links
        if (everywhere and x.density > DENSEST_ROBOT)
        or (x.mass > outlier and x.density > DENSEST_LINK)
    }
    remedy = "write kg (divide by 1000)"
    yield from _finding(tree, "link", "units-mass", read, len(links), "in g", remedy)


def _links(tree: Tree, size: float) -> Iterator[_Link]:
    """Links that move and have mass and inertia; of a point mass nothing can be said."""
    masses = [mass for mass, _, _ in tree.link_inertias.values() if mass > 0.0]
    lightest = NEGLIGIBLE * float(np.median(masses)) if masses else 0.0
    reach = _reach(tree)
    for name, (mass, com, inertia) in tree.link_inertias.items():
        moments = np.linalg.eigvalsh(inertia)
        body, _ = tree.frames[name]
        length = max(reach[body], 0.05 * size, float(np.linalg.norm(com)))
        placeholder = mass <= lightest or moments[-1] <= 0.0
        if body < 0 or placeholder or length == 0.0:
            continue
        squares = np.maximum(0.5 * moments.sum() - moments, 1e-3 * moments[-1]) / mass
        density = mass / np.prod(np.sqrt(12.0 * squares))
        gyration = float(np.sqrt(moments[-1] / mass))
        yield _Link(name, mass, length, gyration, float(density))


def _typical(links: Sequence[_Link], of: Callable[[_Link], float]) -> float:
    """Median by mass; NaN without links."""
    if not links:
        return float("nan")
    values = sorted((of(x), x.mass) for x in links)
    weight = np.cumsum([mass for _, mass in values])
    return values[int(np.searchsorted(weight, 0.5 * weight[-1]))][0]


# -- lengths ---------------------------------------------------------------------------------------


def _lengths(tree: Tree) -> dict[str, float]:
    """Joint -> how far its child link is from the body that carries it [m]."""
    moving = {b.joint.name: float(np.linalg.norm(b.joint.placement[:3, 3])) for b in tree.bodies}
    fixed = {
        joint: float(np.linalg.norm(tree.frames[link][1][:3, 3]))
        for joint, link in tree.fixed_joint_children.items()
    }
    return moving | fixed


def _reach(tree: Tree) -> dict[int, float]:
    """Body -> the longest of the ways to it and to what it carries [m]."""
    reach = {-1: 0.0}
    for b, body in enumerate(tree.bodies):
        length = float(np.linalg.norm(body.joint.placement[:3, 3]))
        reach[b] = length
        reach[body.parent] = max(reach[body.parent], length)
    for body_index, frame in tree.frames.values():
        reach[body_index] = max(reach[body_index], float(np.linalg.norm(frame[:3, 3])))
    return reach


def _diagonal(tree: Tree) -> float:
    """Of the box around all link frames at q = 0 [m]."""
    poses = body_poses(tree)
    points = np.array([link_pose(tree, poses, link)[:3, 3] for link in tree.frames])
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def _outliers(lengths: dict[str, float]) -> dict[str, float]:
    """Those that are far longer than the others of their kind."""
    some = [x for x in lengths.values() if x > 0.0]
    bar = max(LONG, MOST_MEDIANS * float(np.median(some))) if some else np.inf
    return {name: x for name, x in lengths.items() if x > bar}


def _origins(tree: Tree, links: Sequence[_Link], size: float) -> Iterator[Finding]:
    origins, meant, remedy = _lengths(tree), "in mm", "write m (divide by 1000)"
    read = {name: f"origin {x:.4g} m away" for name, x in _outliers(origins).items()}
    count = len(origins)
    if not read:
        thin = _typical(links, lambda x: x.gyration) < THIN * size
        light = _typical(links, lambda x: x.density) < THINNEST_ROBOT
        if size > LONGEST or (size > LONG and (thin or light)):
            name = max(origins, key=lambda joint: origins[joint])
            read = {name: f"origin {origins[name]:.4g} m away, on a robot of {size:.4g} m"}
            meant, count = "all lengths are in mm", 1 if size > LONGEST else 2
    yield from _finding(tree, "joint", "units-length", read, count, meant, remedy)


def _centres(tree: Tree, size: float) -> Iterator[Finding]:
    reach = _reach(tree)
    read = {}
    for name, (_, com, _) in tree.link_inertias.items():
        away, length = float(np.linalg.norm(com)), max(reach[tree.frames[name][0]], 0.05 * size)
        if away > max(LONG, MOST_LINK_SIZES * length) and length > 0.0:
            read[name] = f"centre of mass {away:.4g} m away on a link of {length:.2g} m"
    remedy = "write the origin of <inertial> in m (divide by 1000)"
    count = len(tree.link_inertias)
    yield from _finding(tree, "link", "units-length", read, count, "in mm", remedy)


# -- limits ----------------------------------------------------------------------------------------


def _limits(tree: Tree, entries: Iterable[Submechanism], size: float) -> Iterator[Finding]:
    gears = _gears(entries)
    joints = [body.joint for body in tree.bodies]
    for kind, code, unit, bar, remedy in (
        (REVOLUTE, ANGLE, "in degrees", TURNS, "write rad (multiply by 0.0174533)"),
        (PRISMATIC, "units-length", "in mm", MOST_LINK_SIZES * size, "write m (divide by 1000)"),
    ):
        chosen = [j for j in joints if j.kind == kind and np.isfinite([j.lower, j.upper]).all()]
        read = {
            joint.name: f"limits [{joint.lower:.6g}, {joint.upper:.6g}] {unit_of(kind)}"
            for joint in chosen
            if _furthest(joint) > bar * gears.get(joint.name, 1.0) > 0.0
            and not _stands_for_none(joint, kind)
        }
        yield from _finding(tree, "joint", code, read, len(chosen), unit, remedy)


def unit_of(kind: str) -> str:
    """Of a joint's positions."""
    return "m" if kind == PRISMATIC else "rad"


def _furthest(joint: Joint) -> float:
    return max(abs(joint.lower), abs(joint.upper))


def _stands_for_none(joint: Joint, kind: str) -> bool:
    """Limits that people write for none: ±10, ±1000, ±99999, whole turns."""
    digits = f"{joint.upper:.6g}".replace(".", "").strip("0")
    powers = joint.lower == -joint.upper and digits.split("e")[0] in ("1", "9" * len(digits))
    turns: Array = np.array([joint.lower, joint.upper]) / np.pi
    whole = kind == REVOLUTE and bool(np.allclose(turns, np.round(turns), rtol=0.0, atol=1e-3))
    return powers or whole or _furthest(joint) > 1e5


def _gears(entries: Iterable[Submechanism]) -> dict[str, float]:
    """Joint -> how many times as far as the joints that it is geared to it turns, at least 1."""
    result: dict[str, float] = {}
    for coupling in (c for entry in entries for c in entry.couplings):
        ratios = {name: abs(ratio) for name, ratio in coupling.terms.items() if ratio}
        result[coupling.joint] = max(result.get(coupling.joint, 1.0), sum(ratios.values()))
        for name, ratio in ratios.items():
            result[name] = max(result.get(name, 1.0), 1.0 / ratio)
    return result
