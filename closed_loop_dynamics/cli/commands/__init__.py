"""The subcommands: a module each, with DESCRIPTION, EPILOG, add_arguments(parser), run(options).

To add one, write its module here and list it in :data:`COMMANDS`.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """One subcommand.

    Attributes:
        name: the word on the command line.
        summary: one line for ``closed-loop --help``.
    """

    name: str
    summary: str

    @property
    def module(self) -> str:
        """Full name of its module."""
        return f"{__name__}.{self.name.replace('-', '_')}"


COMMANDS = (
    Command("check", "look a robot's files over; exit status for CI"),
    Command("zoo", "try every robot of a folder, in any format; a table"),
    Command("info", "joints, clusters, loops, how each loop is solved and why"),
    Command("graph", "draw the cluster tree as SVG"),
    Command("new", "guess the submechanism file of a URDF"),
    Command("assemble", "close the loops from any configuration; write it as the reference"),
    Command("state", "complete independent positions to all joints and actuators"),
    Command("inverse-dynamics", "actuator forces of a motion"),
    Command("forward-dynamics", "accelerations from actuator forces"),
    Command("map", "map a trajectory file to actuator positions, velocities, forces"),
    Command("path", "the way of links during a motion, as a curve and as numbers"),
    Command("loads", "forces in joints, cuts and rods during a motion, and their peaks"),
    Command("excite", "design a motion that shows the parameters of a robot, within its limits"),
    Command("identify", "inertias, friction and rotor inertias from a log of a moving robot"),
    Command("simulate", "simulate offline, faster than real time"),
    Command("convert", "a robot in another file format"),
    Command("export", "a robot's functions as plain C, for controllers without Python"),
    Command("plot", "draw the curves of a CSV file or bag"),
    Command("workspace", "reach, singularities and forces of a mechanism as a picture"),
    Command("view", "the robot in the browser: sliders, trajectories, live ROS, forces"),
    Command("demo", "a leg with closed loops moves; what `make demo` runs"),
)
