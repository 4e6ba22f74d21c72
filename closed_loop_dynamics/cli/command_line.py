"""``closed-loop``: finds the subcommand, runs it, and turns mistakes into sentences.

Only the module of the chosen subcommand is imported, so that ``--help`` is quick. Exit status: 0
success, 1 the work failed (or ``check`` found errors), 2 the command line cannot be understood.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import re
import shutil
import sys
import warnings
from contextlib import ExitStack
from typing import NoReturn

from .. import __version__
from ..errors import ClosedLoopError, did_you_mean
from .commands import COMMANDS, Command
from .mistakes import UsageError
from .terminal import ClosedStream

PROG = "closed-loop"
DESCRIPTION = """\
Robots with closed kinematic loops: look at their files, complete their states, map motions to
actuators, simulate. A robot is a URDF and a submechanism file, or the name of one that is shipped:

  closed-loop check crank_leg
  closed-loop info robot.urdf loops.yaml
"""
EPILOG = """\
`closed-loop COMMAND --help` explains a command and has examples. Files are CSV (first row: joint
names; "-" is standard input or output) or ROS 2 bags. Units are SI. Exit status: 0 success, 1 the
work failed, 2 the command line cannot be understood.
"""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of descriptions; at most 100 columns."""

    def __init__(self, prog: str) -> None:
        width = min(shutil.get_terminal_size().columns - 2, 98)
        super().__init__(prog, max_help_position=24, width=width)
        # argparse forgets that subcommands are indented and breaks the line after long names.
        self._action_max_length = 20


class Parser(argparse.ArgumentParser):
    """An argument parser that keeps line breaks, suggests words and takes numbers like -1e-3."""

    def __init__(self, **settings: object) -> None:
        settings.setdefault("formatter_class", _Help)
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)  # type: ignore[arg-type]
        # As in Python 3.14; before, "-1e-3" is taken for an option.
        self._negative_number_matcher = re.compile(r"^-\.?\d")

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and the nearest valid option or command."""
        wrong = re.search(r"invalid choice: '([^']*)'", message)
        if wrong and "COMMAND" in message:
            names = [command.name for command in COMMANDS]
            message = f"no command '{wrong[1]}'; {did_you_mean(wrong[1], names)}"
        self.exit(2, f"{self.prog}: {message}\nsee `{self.prog} --help`\n")

    def refuse(self, words: list[str]) -> NoReturn:
        """Words that no argument takes."""
        word = words[0].partition("=")[0]
        if not word.startswith("-"):
            self.error(f"what is '{word}'? files come first, then options with their values")
        known = [o for action in self._actions for o in action.option_strings]
        self.error(f"no option '{word}'; {did_you_mean(word, known)}")


def main(argv: list[str] | None = None) -> int:
    """Run a command line; returns the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    debug = "--debug" in argv
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without ─ or · gets \u2500, \xb7
            stream.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = _warn  # type: ignore[assignment]
        return _main(argv, debug)


def _replace_closed_streams() -> None:
    """Python has None for them; nobody hears what is said on a closed standard error."""
    sys.stdin = sys.stdin or ClosedStream("standard input")
    sys.stdout = sys.stdout or ClosedStream("standard output")
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _warn(message: Warning | str, *_: object) -> None:
    """A warning of a library, as one line."""
    print(f"warning: {message}", file=sys.stderr)


def _main(argv: list[str], debug: bool) -> int:
    try:
        options, unknown = make_parser(argv).parse_known_args(argv)
        if unknown:
            options.parser.refuse(unknown)
        with ExitStack() as options.until_end:
            status = int(options.run(options))
        sys.stdout.flush()
        return status
    except SystemExit as exit_request:  # argparse: --help, --version, usage errors
        return exit_request.code if isinstance(exit_request.code, int) else 2
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; nothing may be written at shutdown either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, EOFError):  # EOFError: Ctrl-D at a question
        print("interrupted", file=sys.stderr)
        return 130
    except (ClosedLoopError, OSError, RecursionError) as error:
        if debug:
            raise
        chosen = _chosen(argv)
        called = f"{PROG} {chosen.name}" if chosen else PROG
        print(f"{called}: {_sentence(error)}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _chosen(argv: list[str]) -> Command | None:
    """The command that a command line names."""
    first = next((word for word in argv if not word.startswith("-")), None)
    return next((command for command in COMMANDS if command.name == first), None)


def make_parser(argv: list[str]) -> argparse.ArgumentParser:
    """The parser for a command line: all commands by name, the chosen one with its arguments."""
    parser = Parser(prog=PROG, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    _add_debug(parser)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    chosen = _chosen(argv)
    for command in COMMANDS:
        if command is chosen:
            module = importlib.import_module(command.module)
            own = commands.add_parser(
                command.name,
                help=command.summary,
                description=module.DESCRIPTION,
                epilog=module.EPILOG,
            )
            _add_debug(own)
            module.add_arguments(own)
            own.set_defaults(run=module.run, parser=own)
        else:
            commands.add_parser(command.name, help=command.summary)
    return parser


def _add_debug(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--debug", action="store_true", help="show the Python traceback of a mistake"
    )
