"""``closed-loop report``: a robot on one page."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from html import escape
from pathlib import Path

import numpy as np

from ...arrays import Array
from ...errors import ClosedLoopError
from ...inspection import Report
from ...inspection.loop_names import loop_names
from ...model.joint_limits import Limits
from ...quantities.internal_loads import InternalLoads
from ...quantities.links import body_poses
from ...robot import Robot
from ...viewer.drawing import draw_robot
from ...viewer.shapes import body_shapes, robot_size, shapes_of
from ..arguments import whole
from ..html_page import page, picture, section, table
from ..mistakes import UsageError, need
from ..output import check_place, put
from ..pictures import unit
from ..progress import Progress
from ..robot_argument import add_robot_arguments, check_fixed, load_robot
from ..states import reference
from ..tables import EFFORT, POSITION, VELOCITY
from ..terminal import alike, number, short
from ..workspace_drawing import draw_each
from ..workspace_maps import sample
from .info import describe

DESCRIPTION = """\
A datasheet of a robot as one HTML file that needs nothing else: a drawing, its joints, the limits
of independent joints and of actuators with what is reached of them, the loads that hold it at rest,
inertia, how every mechanism transmits, and what `check` finds. Reach, loads and inertia are those
of random reachable poses. Light or dark as the reader's system is; a browser prints it as PDF.
"""
EPILOG = """\
examples:
  closed-loop report crank_leg -o crank_leg.html
  closed-loop report robot.urdf loops.yaml --poses 1000 -o robot.html
"""
#: Rows of the table of loads at most; told as no force or moment [N, N m].
MOST_PINS, NOISE = 20, 1e-9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument("-o", "--output", metavar="HTML", help="default: the robot's name.html")
    parser.add_argument(
        "--poses", type=whole, default=100, metavar="N", help="random poses (%(default)s)"
    )
    parser.add_argument(
        "--grid", type=whole, default=21, metavar="N", help="points of maps per joint (%(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    """Load, look, write."""
    need("matplotlib", "drawing")
    if options.output is not None and Path(options.output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--output {options.output}: name it .html")
    robot = load_robot(options)
    output = options.output or f"{robot.mechanism.tree.name}.html"
    check_place(output, options)
    put(output, datasheet(robot, options.poses, options.grid, options.search_path))
    print(f"wrote {output}")
    return 0


def datasheet(robot: Robot, poses: int, grid: int, search_path: list[Path]) -> str:
    """The page."""
    report, name = robot.report(), robot.mechanism.tree.name
    y = robot.random_independent(np.random.default_rng(0), poses, everywhere=True)
    seen = _Poses(robot, y)
    parts = [
        f"<h1>{escape(name)}</h1><p>{robot.n} joints, {robot.m} independent, {robot.p} driven; "
        f"mechanisms with loops: {len(robot.branches)}</p>",
        f'<div class="two">{_drawing(robot, search_path)}{_inertia(robot, seen)}</div>',
        _findings(report),
        _joints(robot, report),
        _spaces(robot, report, seen),
        _loads(robot, seen),
        *_mechanisms(robot, grid),
    ]
    return page(name, parts)


class _Poses:
    """What the robot does at random poses, at rest; rows that cannot be held are left out.

    Attributes:
        y, u: (N, ...) positions; loads: of the K poses that can be held, tau: (K, p) their forces.
        why: the reason for the first pose that cannot be held.
    """

    def __init__(self, robot: Robot, y: Array) -> None:
        zero, self.loads, self.why = np.zeros(robot.m), list[InternalLoads](), ""
        self.y, self.u = y, np.array([robot.state(each).u for each in y])
        with Progress("holding poses", len(y)) as bar:
            for k, each in enumerate(y):
                bar.at(k)
                try:
                    self.loads.append(robot.internal_loads(each, zero, zero))
                except ClosedLoopError as error:
                    self.why = self.why or str(error)
        self.tau = np.array([each.tau_u for each in self.loads]).reshape(-1, robot.p)


def _drawing(robot: Robot, search_path: list[Path]) -> str:
    tree = robot.mechanism.tree
    visuals = shapes_of(tree, search_path)
    for line in visuals.notes():
        print(line, file=sys.stderr)
    shapes = body_shapes(robot, visuals, robot_size(robot))
    poses = body_poses(robot.mechanism, robot.state(reference(robot)).q)
    return picture(partial(draw_robot, shapes, poses), f"drawing of {tree.name}")


def _inertia(robot: Robot, seen: _Poses) -> str:
    bodies = robot.mechanism.tree.bodies
    home = reference(robot)
    center = ", ".join(f"{round(float(v), 3) + 0.0:.3f}" for v in robot.center_of_mass(home))
    facts = [
        ("", "value", "unit"),
        ("mass, without the root", number(sum(b.mass for b in bodies)), "kg"),
        ("size", f"{robot_size(robot):.3g}", "m"),
        ("centre of mass, at the reference", center, "m"),
    ]
    M = np.array([np.diag(robot.mass_matrix(y)) for y in seen.y])
    rows = [("inertia at", "least", "most", "unit")]
    places = robot.mechanism.flat[1]
    for joint, column in zip(_moved(robot), M[:, places].T, strict=True):
        what = "kg" if unit(robot.mechanism.tree, joint, POSITION) == "m" else "kg·m²"
        rows.append((joint, f"{column.min():.3g}", f"{column.max():.3g}", what))
    return f"<div>{table(facts)}<p></p>{table(rows)}</div>"


def _findings(report: Report) -> str:
    lines = "".join(
        f'<li class="{f.severity}"><b>{f.severity}</b>: {escape(f.message)}</li>'
        for f in report.findings
    )
    return section(
        "Findings", "" if lines else "Nothing to remark.", f"<ul>{lines}</ul>" * bool(lines)
    )


def _joints(robot: Robot, report: Report) -> str:
    rows = [("joint", "kind", "role", "moves", "mass [kg]")]
    rows += [
        (
            j["name"],
            j["kind"],
            " + ".join(j["roles"]),
            f"{j['parent']} → {j['child']}",
            number(j["mass"]),
        )
        for j in describe(robot, report)["joints"]
    ]
    return section("Joints", "", table(rows))


def _spaces(robot: Robot, report: Report, seen: _Poses) -> str:
    """Limits of both spaces, and what is reached of them."""
    tree = robot.mechanism.tree
    reach = {
        joint: (*ends, "" if s.reach_is_exact else "at least")
        for s in report.submechanisms
        for joint, ends in s.reachable.items()
    }
    plain = {joint for s in report.submechanisms if s.solver == "serial" for joint in s.joints}
    head = ("unit", "from", "to", "reached from", "to", "", "largest speed", "largest force")
    tables = []
    for title, names, positions in (
        ("independent joint", _moved(robot), seen.y[:, robot.mechanism.flat[0]]),
        ("actuator", robot.names.actuator, seen.u),
    ):
        limits, rows = Limits.of(tree, names), [(title, *head)]
        for k, joint in enumerate(names):
            column = positions[:, k]
            seen_ends = (column.min(), column.max(), "at least")
            ends = reach.get(joint, seen_ends)
            if ends[2]:  # a box that is reached as a whole, or poses: whichever is wider
                ends = (min(ends[0], seen_ends[0]), max(ends[1], seen_ends[1]), ends[2])
            own = (limits.lower[k], limits.upper[k], "")
            whole = np.allclose(ends[:2], own[:2], rtol=0.0, atol=1e-9)
            if whole or (joint in plain and np.isfinite(own[1] - own[0])):
                ends = own
            units = [unit(tree, joint, kind) for kind in (POSITION, VELOCITY, EFFORT)]
            low, high = (_finite(v[k]) for v in (limits.lower, limits.upper))
            most = (limits.velocity[k], limits.effort[k])
            most_text = (_finite(v, f" {u}") for v, u in zip(most, units[1:], strict=True))
            reached = (f"{ends[0]:.4g}", f"{ends[1]:.4g}", ends[2])
            rows.append((joint, units[0], low, high, *reached, *most_text))
        tables.append(table(rows))
    note = f"'At least' is what {len(seen.y)} random poses reach."
    return section("Limits in both spaces", note, *tables)


def _moved(robot: Robot) -> tuple[str, ...]:
    """Independent joints with one position: all but free flyers and balls."""
    mech = robot.mechanism
    return tuple(mech.joint_name(b) for b in mech.scalar_joints(mech.independent))


def _finite(value: float, unit: str = "") -> str:
    return f"{short(value)}{unit}" if np.isfinite(value) else "-"


def _loads(robot: Robot, seen: _Poses) -> str:
    """Peaks at rest: actuators and pins."""
    if not seen.loads:
        return section("Loads at rest", f"They are not determined: {seen.why}")
    tree, limits = (
        robot.mechanism.tree,
        Limits.of(robot.mechanism.tree, robot.names.actuator).effort,
    )
    rows = [("actuator", "from", "to", "unit", "of its limit [%]")]
    for k, joint in enumerate(robot.names.actuator):
        ends = seen.tau[:, k].min(), seen.tau[:, k].max()
        low, high = (v * (abs(v) > NOISE) + 0.0 for v in ends)
        most = 100.0 * max(abs(low), abs(high)) / limits[k]
        share = f"{most:.3g}" if np.isfinite(limits[k]) else "-"
        rows.append((joint, short(low), short(high), unit(tree, joint, EFFORT), share))
    first = seen.loads[0]
    forces, moments = (
        np.max([getattr(x, n) for x in seen.loads], axis=0) for n in ("forces", "moments")
    )
    doubt = np.any([x.undetermined for x in seen.loads], axis=0).reshape(-1, 2, 3).any(axis=2)
    order = np.argsort(-forces, kind="stable")[:MOST_PINS].tolist()
    cells = [
        [text + "*" * bool(doubt[k, part]) for k, text in zip(order, alike(v[order]), strict=True)]
        for part, v in enumerate((moments * (moments > NOISE), forces))
    ]
    pins = [("pin", "by", "on", "force [N]", "moment [N·m]")]
    for k, moment, force in zip(order, *cells, strict=True):
        pins.append((first.pins[k].name, first.pins[k].by, first.pins[k].on, force, moment))
    note = f"The largest of {len(seen.loads)} random poses, held against gravity."
    more = f" Of {len(first.pins)} pins, the {MOST_PINS} with the largest force."
    star = " A * marks what a rigid model does not determine: a share of minimum norm."
    note += more * (len(first.pins) > MOST_PINS) + star * bool(doubt[order].any())
    return section("Loads at rest", note, table(rows), table(pins))


def _mechanisms(robot: Robot, grid: int) -> list[str]:
    """A page of curves or maps for each."""
    try:
        check_fixed(robot, "drawn")
    except UsageError as reason:
        return [section("Transmission", str(reason))] if robot.branches else []
    parts = []
    for name in loop_names(robot.branches).values():
        joints = robot.submechanism(name).independent[:2]
        count = 10 * grid if len(joints) == 1 else grid
        samples = sample(robot, name, joints, reference(robot), count)
        told, charts = draw_each(samples)
        shown = "".join(picture(chart, f"transmission of {name}") for chart in charts)
        parts.append(section(f"Transmission: {name}", told, f'<div class="charts">{shown}</div>'))
    return parts
