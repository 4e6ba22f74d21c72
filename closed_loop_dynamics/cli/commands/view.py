"""``closed-loop view``: the robot in the browser."""

from __future__ import annotations

import argparse
import sys
import threading
import webbrowser
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ...robot import Robot
from ...viewer.export import as_html
from ...viewer.live import listen
from ...viewer.playback import Playback, from_file, sweep
from ...viewer.server import PORT, is_local, serve
from ...viewer.window import Look, Window
from ..arguments import InputFile
from ..bags import read_recording
from ..mistakes import UsageError
from ..motion_file import MOTION_NOTE, motion_of
from ..output import check_place, put
from ..robot_argument import add_robot_arguments, load_robot

DESCRIPTION = f"""\
Open the robot in the browser: sliders for the independent joints move whole loops; actuators have
the colour of their force; cuts, residuals, assembly modes and the nearness of singularities are
shown. Without --trajectory and --live the forces hold the robot against gravity. Ctrl-C ends it.

Files for --trajectory: {MOTION_NOTE[0].lower()}{MOTION_NOTE[1:]}"""
EPILOG = """\
examples:
  closed-loop view rh5_leg
  closed-loop view robot.urdf loops.yaml --trajectory squat.csv
  closed-loop view crank_leg --live                       # follows the topic joint_states
  closed-loop view crank_leg --export crank_leg.html      # a page that plays without a server
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    shown = parser.add_argument_group("what moves")
    shown.add_argument(
        "--trajectory", type=InputFile, metavar="FILE", help="a motion to play, CSV or bag"
    )
    shown.add_argument("--live", action="store_true", help="follow a JointState topic of ROS 2")
    shown.add_argument(
        "--topic",
        help="with --live (default: joint_states), or of a bag (the only one with joints)",
    )
    parser.add_argument(
        "--export",
        metavar="HTML",
        help="write a page that plays the trajectory (or moves each joint) offline, and end",
    )
    where = parser.add_argument_group("server")
    where.add_argument("--port", type=_port, default=PORT, help="0: any free one (%(default)s)")
    where.add_argument(
        "--host", default="127.0.0.1", help="who can see it (default: this machine only)"
    )
    where.add_argument("--no-browser", action="store_true", help="do not open a browser")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is no port number (0 to 65535)")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Load, serve until interrupted; or export."""
    if options.live and (options.trajectory or options.export):
        raise UsageError("--live shows what comes in; leave out --trajectory and --export")
    if options.topic and not (options.live or options.trajectory):
        raise UsageError("--topic is for --live, and for bags given to --trajectory")
    if options.export:
        if Path(options.export).suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"--export {options.export}: name it .html")
        check_place(options.export, options)
    robot = load_robot(options)
    motion = None
    if options.trajectory:
        table = read_recording(options.trajectory, options.topic).table
        motion = from_file(robot, motion_of(robot, table))
    if options.export:
        return _export(robot, motion, options)
    if not is_local(options.host):
        print(
            f"warning: everybody who can reach {options.host} can see and move this view; there is "
            "no password",
            file=sys.stderr,
        )
    stop = threading.Event()
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        server = stack.enter_context(serve(options.host, options.port, robot.mechanism.tree.name))
        topic = options.topic or "joint_states"
        listener = stack.enter_context(listen(topic)) if options.live else None
        window = Window(server, _look(server, robot, motion, options), motion, listener)
        _announce(server, options, window)
        window.run(stop)
    print()
    return 0


def _look(server: Any, robot: Robot, motion: Playback | None, options: argparse.Namespace) -> Look:
    look = Look(server, robot, options.search_path, motion)
    for line in look.visuals.notes():
        print(line, file=sys.stderr)
    return look


def _announce(server: Any, options: argparse.Namespace, window: Window) -> None:
    host = "localhost" if is_local(options.host) else options.host
    url = f"http://{host}:{server.get_port()}"
    print(f"{url} shows {window.robot.mechanism.tree.name}; Ctrl-C ends it", flush=True)
    if not options.no_browser and sys.stdout.isatty():
        webbrowser.open(url)


def _export(robot: Robot, motion: Playback | None, options: argparse.Namespace) -> int:
    name = robot.mechanism.tree.name
    with serve("127.0.0.1", 0, name) as server:
        look = _look(server, robot, motion, options)
        motion = motion or sweep(look.camera, look.ranges)
        path = put(options.export, as_html(server, look, motion, name))
    print(f"{path}: {motion.duration:.1f} s, {path.stat().st_size / 1e6:.1f} MB")
    return 0
