"""``python -m tools.command_line_page`` writes docs/command_line.md."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from closed_loop_dynamics.cli.command_line import PROG, Parser
from closed_loop_dynamics.cli.commands import COMMANDS, Command

from .tables import markdown_table

PAGE = Path("docs/command_line.md")
_INTRO = """\
# The command line

`closed-loop COMMAND` after `pip install .`; the same as `python -m closed_loop_dynamics COMMAND`,
and `ros2 run closed_loop_dynamics closed-loop COMMAND` in a ROS 2 workspace. A first walk:

```sh
closed-loop check crank_leg                        # are the files sound?
closed-loop info crank_leg                         # joints, loops, how they are solved
closed-loop state crank_leg --y knee=0.8           # close the loops
closed-loop simulate crank_leg --y0 knee=0.8 --duration 1 -o fall.csv
closed-loop plot fall.csv --only 'knee*'           # writes fall.png
closed-loop map crank_leg -i fall.csv -o actuators.csv
closed-loop new robot.urdf                         # your own robot: guess its loops
```

**Robots** are given as a URDF and its submechanism file, or by the name of one that is shipped
(`crank_leg`, `rh5_leg`, and every mechanism of [the library](mechanisms/README.md)). Words that
belong to no option come first: `closed-loop check robot.urdf loops.yaml --strict`.

**Files.** CSV has the names of its columns in the first row. `time` is in seconds; a joint's name
stands for its position, `knee.velocity`, `knee.acceleration` and `knee.effort` for the rest.
Comma, semicolon or tab; lines that begin with `#` are skipped; `-` is standard input or output.
Bags are MCAP files, SQLite files or rosbag2 folders with `sensor_msgs/JointState` or
`trajectory_msgs/JointTrajectory`; they need `pip install '.[bags]'`, pictures need
`pip install '.[plot]'`. All units are SI.

**Exit status.** 0 success; 1 the work failed, or `check` found errors; 2 the command line cannot be
understood (unknown option, no such file, unknown joint in an option); 130 interrupted by Ctrl-C
(`view` ends so, with 0). Mistakes are told in one sentence on standard error, with file, row and
column where there is one; `--debug` shows the traceback. Results go to standard output and nothing
else does; progress bars appear on terminals only, and a line on standard error tells that a robot
is compiled for the first time, which can take some seconds. `NO_COLOR` switches colours off.

**Output files** are checked before the work begins and written in one piece: after a failure or
Ctrl-C the old file is still there. `-o` overwrites and keeps the permissions, but never what the
command reads (data, URDF, submechanism file, anything in a bag's folder); `new` asks for `--force`.

"""

#: Explained once for all commands.
_LOADING = ("robot", "submechanisms", "floating_base", "search_path", "xacro", "solver")
_ONCE = (*_LOADING, "help")
_HEADINGS = ("argument", "meaning")


class _CommandParser(Parser):
    """The parser of one command, as ``closed-loop`` fills it, and what it takes."""

    def __init__(self, command: Command) -> None:
        module = importlib.import_module(command.module)
        words = {"description": module.DESCRIPTION, "epilog": module.EPILOG}
        super().__init__(prog=f"{PROG} {command.name}", **words)
        module.add_arguments(self)

    @property
    def arguments(self) -> list[argparse.Action]:
        """In the order in which they were added."""
        return self._actions


def page() -> str:
    """The whole page."""
    commands = [("command", "what it does")]
    commands += [(f"[{c.name}](#{c.name})", c.summary) for c in COMMANDS]
    info = _CommandParser(next(c for c in COMMANDS if c.name == "info"))
    loading = [_row(action) for action in info.arguments if action.dest in _LOADING]
    lines = markdown_table(commands, aligned=False)
    lines += ["", "Every command that takes a ROBOT also takes", ""]
    lines += [*markdown_table([_HEADINGS, *loading], aligned=False), ""]
    return _INTRO + "\n".join(lines) + "".join(map(_section, COMMANDS))


def _section(command: Command) -> str:
    parser = _CommandParser(command)
    lines = ["", f"## {command.name}", "", f"`{_usage(parser)}`", ""]
    lines.append((parser.description or "").strip())
    rows = [_row(action) for action in parser.arguments if action.dest not in _ONCE]
    if rows:
        lines += ["", *markdown_table([_HEADINGS, *rows], aligned=False)]
    examples, _, rest = (parser.epilog or "").strip().removeprefix("examples:\n").partition("\n\n")
    code = "\n".join(line.removeprefix("  ") for line in examples.splitlines())
    lines += ["", "```sh", code, "```"]
    return "\n".join([*lines, "", rest.strip()]).rstrip() + "\n"


def _usage(parser: _CommandParser) -> str:
    words = [
        f"[{action.metavar}]" if action.nargs == "?" else str(action.metavar)
        for action in parser.arguments
        if not action.option_strings
    ]
    return " ".join([parser.prog, *words, "[OPTIONS]"])


def _call(action: argparse.Action) -> str:
    value = str(action.metavar or action.dest.upper())
    if action.choices is not None:
        value = " or ".join(map(str, action.choices))
    if not action.option_strings:
        return value
    if action.nargs == 0:
        return ", ".join(action.option_strings)
    several = " ..." if action.nargs == "+" else ""
    return f"{', '.join(action.option_strings)} {value}{several}"


def _row(action: argparse.Action) -> tuple[str, str]:
    text = (action.help or "") % {"default": action.default}
    needed = " (required)" if action.option_strings and action.required else ""
    return f"`{_call(action)}`", f"{text}{needed}"


def main() -> None:
    """Write the page below the current folder."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
