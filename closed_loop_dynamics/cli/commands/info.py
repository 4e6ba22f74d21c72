"""``closed-loop info``: what the package has understood of a robot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import did_you_mean
from ...inspection import Report
from ...model.tree import PRISMATIC, Joint
from ...robot import Robot
from ..mistakes import UsageError
from ..robot_argument import add_robot_arguments, load_robot
from ..terminal import Style, columns, folded, json_text, number

SECTIONS = ("joints", "tree", "clusters", "loops")
DESCRIPTION = """\
What the package has understood of a robot: the order of the vectors, the tree of links, the
clusters, and for every loop its cuts, mobility, solver (and why this one) and reach.
"""
EPILOG = """\
examples:
  closed-loop info crank_leg
  closed-loop info robot.urdf loops.yaml --only loops
  closed-loop info four_bar --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument(
        "--only", nargs="+", metavar="SECTION", help=f"some sections only: {', '.join(SECTIONS)}"
    )
    parser.add_argument("--json", action="store_true", help="machine-readable output")


def run(options: argparse.Namespace) -> int:
    """Load and print."""
    for word in options.only or ():
        if word not in SECTIONS:
            raise UsageError(f"no section '{word}'; {did_you_mean(word, SECTIONS)}")
    robot = load_robot(options)
    data = describe(robot, robot.report())
    if options.json:
        print(json_text(data))
        return 0
    for line in text(robot, data, options.only or SECTIONS, Style.of(sys.stdout)):
        print(line)
    return 0


# -- the facts ------------------------------------------------------------------------------------


def describe(robot: Robot, report: Report) -> dict[str, Any]:
    """All that ``info`` knows, as plain data."""
    mech = robot.mechanism
    names = robot.names
    return {
        "robot": report.robot,
        "n": robot.n,
        "m": robot.m,
        "p": robot.p,
        "independent": list(names.independent),
        "spanning": list(names.spanning),
        "actuator": list(names.actuator),
        "mass": sum(body.mass for body in mech.tree.bodies),
        "root": mech.tree.root_link,
        "joints": [_joint(robot, b) for b in mech.spanning],
        "clusters": _clusters(robot),
        "loops": _loops(robot, report),
    }


def _joint(robot: Robot, b: int) -> dict[str, Any]:
    tree = robot.mechanism.tree
    body = tree.bodies[b]
    joint = body.joint
    return {
        "name": joint.name,
        "kind": joint.kind,
        "roles": roles(robot, joint),
        "parent": tree.bodies[body.parent].link if body.parent >= 0 else tree.root_link,
        "child": body.link,
        "lower": joint.lower,
        "upper": joint.upper,
        "effort": joint.effort,
        "mass": body.mass,
    }


def roles(robot: Robot, joint: Joint) -> list[str]:
    """What a joint is: independent, driven, both, or dependent."""
    found = []
    if joint.name in robot.names.independent:
        found.append("independent")
    if joint.name in robot.names.actuator:
        found.append("driven")
    return found or ["dependent"]


def _clusters(robot: Robot) -> list[dict[str, Any]]:
    mech = robot.mechanism
    return [
        {
            "submechanisms": list(
                dict.fromkeys(mech.components[c].entry.name for c in cluster.components)
            ),
            "parent": mech.cluster_of[cluster.parent] if cluster.parent >= 0 else None,
            "links": [mech.tree.bodies[b].link for b in cluster.bodies],
            "joints": [mech.joint_name(b) for b in cluster.bodies],
        }
        for cluster in mech.clusters
    ]


_SUMMARY = ["joints", "independent", "active", "mobility", "rank", "rows", "solver", "why"]


def _loops(robot: Robot, report: Report) -> list[dict[str, Any]]:
    """Per component that is not plain serial: the linter's summary and its cuts."""
    found = []
    for component, summary in zip(robot.mechanism.components, report.submechanisms, strict=True):
        if summary.solver == "serial":
            continue
        found.append(
            {
                "name": summary.name,
                "type": component.entry.type,
                **{fact: getattr(summary, fact) for fact in _SUMMARY},
                "idle": summary.idle_joints,
                "reachable": {name: list(ends) for name, ends in summary.reachable.items()},
                "reach_is_exact": summary.reach_is_exact,
                "residual": summary.residual,
                "cuts": [
                    {
                        "predecessor": loop.predecessor,
                        "successor": loop.successor,
                        "at": loop.cut_joint or "explicit frames",
                        "axes": [axis.name for axis in loop.axes],
                        "derived": "derived" in loop.place,
                    }
                    for loop in component.loops
                ],
                "couplings": [
                    {"joint": c.joint, "terms": c.terms, "offset": c.offset}
                    for c in component.couplings
                ],
            }
        )
    return found


# -- the text -------------------------------------------------------------------------------------


def text(robot: Robot, data: dict[str, Any], sections: Any, style: Style) -> Iterator[str]:
    """The facts for people."""
    yield style(
        "bold",
        f"{data['robot']}: {data['n']} joints, {data['m']} independent, {data['p']} driven, "
        f"{number(data['mass'])} kg without the root",
    )
    for label, key in (("y", "independent"), ("u", "actuator")):
        yield folded(f"  {label} ({key}): {' '.join(data[key])}")
    writers = {"joints": _joint_lines, "clusters": _cluster_lines, "loops": _loop_lines}
    for section in SECTIONS:
        if section in sections:
            yield ""
            yield style("bold", section)
            if section == "tree":
                yield from _tree_lines(robot, -1, "  ")
            else:
                yield from writers[section](data)


def _joint_lines(data: dict[str, Any]) -> list[str]:
    rows = [["joint", "kind", "role", "from", "to", "largest force"]]
    for joint in data["joints"]:
        limits = [joint["lower"], joint["upper"], joint["effort"]]
        cells = ["-" if not np.isfinite(v) else number(v) for v in limits]
        rows.append([joint["name"], joint["kind"], "+".join(joint["roles"]), *cells])
    return columns(rows)


def _tree_lines(robot: Robot, parent: int, indent: str) -> Iterator[str]:
    tree = robot.mechanism.tree
    if parent < 0:
        yield f"{indent}{tree.root_link}"
    children = [b for b, body in enumerate(tree.bodies) if body.parent == parent]
    for k, b in enumerate(children):
        body, last = tree.bodies[b], k == len(children) - 1
        fixed = f" (+ {', '.join(body.links[1:])})" if body.links[1:] else ""
        slides = " slides" if body.joint.kind == PRISMATIC else ""
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield f"{indent}{branch}{body.joint.name}{slides} → {body.link}{fixed}"
        yield from _tree_lines(robot, b, indent + below)


def _cluster_lines(data: dict[str, Any]) -> Iterator[str]:
    for k, cluster in enumerate(data["clusters"]):
        parent = "the root" if cluster["parent"] is None else f"cluster {cluster['parent']}"
        names = ", ".join(cluster["submechanisms"])
        joints = cluster["joints"]
        several = f": {' '.join(joints)}" if len(joints) > 1 else ""
        yield folded(f"  {k} on {parent}: {names}{several}")


def _loop_lines(data: dict[str, Any]) -> Iterator[str]:
    if not data["loops"]:
        yield "  none: every joint is its own"
    for loop in data["loops"]:
        yield f"  {loop['name']} (type {loop['type']})"
        yield f"    {loop['solver']}: {loop['why']}"
        yield (
            f"    mobility {loop['mobility']}: {len(loop['joints'])} joints, "
            f"{loop['rows']} rows of rank {loop['rank']}"
            + (f", {len(loop['idle'])} idle ({' '.join(loop['idle'])})" if loop["idle"] else "")
        )
        for cut in loop["cuts"]:
            derived = ", derived from the tree" if cut["derived"] else ""
            yield f"    cut {cut['predecessor']} ~ {cut['successor']} at {cut['at']}{derived}"
        for coupling in loop["couplings"]:
            parts = [f"{number(ratio)} {name}" for name, ratio in coupling["terms"].items()]
            parts += [number(coupling["offset"])] if coupling["offset"] else []
            yield f"    {coupling['joint']} = " + " + ".join(parts).replace("+ -", "- ")
        for name, (low, high) in loop["reachable"].items():
            reaches = "reaches" if loop["reach_is_exact"] else "reaches at least"
            yield f"    {name} {reaches} [{number(low)}, {number(high)}]"
        commanded, driven = " ".join(loop["independent"]), " ".join(loop["active"])
        yield f"    you command {commanded or 'nothing'}; driven: {driven or 'nothing'}"
