"""The simulator in real time at 1 kHz, the robot pressed against its stops: does it keep up?"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.robot import load
from closed_loop_dynamics.shipped import shipped_robot

from .cycle import RATE, leg_graph, reported

ROBOT = "rh5_manus"
#: Of the largest efforts; how long the robot has to get to its stops [s].
SHARE, FALLING = 0.5, 5


@dataclass(frozen=True)
class PressedRow:
    """Some seconds of it; times in seconds.

    Attributes:
        stopped: independent joints that are at a stop.
        computing: of a period, typically; longest: of all.
        periods: how many there were; missed: those that took longer to compute than they last.
    """

    joints: int
    stopped: int
    computing: float
    longest: float
    periods: int
    missed: int

    @property
    def met(self) -> bool:
        """It keeps up."""
        return self.missed == 0 < self.stopped


def measure_pressed(quick: bool) -> PressedRow:
    """All efforts in one direction."""
    from diagnostic_msgs.msg import DiagnosticArray
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    windows, files = 3 if quick else 15, shipped_robot(ROBOT)
    robot = load(files.urdf, files.submechanisms, prepare=())
    mech = robot.mechanism
    limits = Limits.of(mech.tree, robot.names.independent)
    efforts = SHARE * Limits.of(mech.tree, robot.names.actuator).effort
    settings = {
        "urdf_file": str(files.urdf),
        "submechanism_file": str(files.submechanisms),
        "control_rate": RATE,
        "command_timeout": 60.0,
    }
    with leg_graph() as graph:
        reports = graph.listen(DiagnosticArray, "/diagnostics")
        states = graph.listen(JointState, "/joint_states")
        graph.start("simulator", settings, {})
        graph.send("/simulator/effort_command", Float64MultiArray(data=efforts.tolist()))
        graph.wait(lambda: len(reported(reports, "simulator")) > FALLING, "stops")
        first = len(reported(reports, "simulator"))
        graph.wait(lambda: len(reported(reports, "simulator")) > first + windows, "all windows")
        seen = reported(reports, "simulator")[first : first + windows]
        newest = states[-1].message
    at = dict(zip(newest.name, newest.position, strict=True))
    y = [at[name] for name in robot.names.independent]
    near = abs(y - limits.lower) < 1e-3, abs(y - limits.upper) < 1e-3
    return PressedRow(
        joints=len(y),
        stopped=int((near[0] | near[1]).sum()),
        computing=statistics.median(1e-3 * float(v["cycle time p50 [ms]"]) for v in seen),
        longest=max(1e-3 * float(v["cycle time max [ms]"]) for v in seen),
        periods=sum(int(v["cycles"]) for v in seen),
        missed=sum(_longer(v["cycle time histogram [ms]"], 1e3 / RATE) for v in seen),
    )


def _longer(histogram: str, most: float) -> int:
    """How many are longer than an edge of the histogram, both in ms: ``<=0.5: 400, <=1: 3``."""
    counts = (each.split(": ") for each in histogram.split(", ") if each)
    return sum(int(n) for edge, n in counts if edge[0] == ">" or float(edge[2:]) > most)


def pressed_cells(rows: Sequence[PressedRow]) -> list[tuple[str, ...]]:
    """The rows of a table, its headings first."""
    headings = ("at their stops", "computing", "longest", "periods", "missed", "aim", "")
    found: list[tuple[str, ...]] = [headings]
    for row in rows:
        times = f"{1e3 * row.computing:.3f} ms", f"{1e3 * row.longest:.3f} ms"
        verdict = "ok" if row.met else "MISSED"
        stopped = f"{row.stopped} of {row.joints} joints"
        found.append((stopped, *times, str(row.periods), str(row.missed), "none missed", verdict))
    return found
