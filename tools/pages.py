"""Everything in the repository that is written by a program, anew: ``make pages``.

``python -m tools.pages [PART ...]``. The benchmark and the reproduction of the papers, which
measure, are not among the parts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Part -> the command (``python -m``) that writes it below the current folder. In this order:
#: pages tell about the robots whose files come first.
PARTS = {
    "robots": "tools.robots",
    "mechanisms": "tools.robots.mechanisms",
    "gallery": "tools.pictures.gallery",
    "command_line": "tools.command_line_page",
    "file_format": "tools.file_format_page",
    "optimisation": "tools.optimise",
    "viewer": "tools.pictures.viewer",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the parts that are named, or all; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.pages", description="Write generated files, pages and pictures anew."
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parts = parser.parse_args(arguments).parts or list(PARTS)
    unknown = sorted(set(parts) - set(PARTS))
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    commands = [[sys.executable, "-m", PARTS[part]] for part in PARTS if part in parts]
    return max(subprocess.run(command, cwd=ROOT).returncode for command in commands)


if __name__ == "__main__":
    raise SystemExit(main())
