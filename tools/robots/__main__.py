"""Write the files of the shipped robots and mechanisms: ``python -m tools.robots [NAME ...]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from .files import files_of, files_of_mechanism
from .mechanisms import MECHANISMS
from .shipped import SHIPPED


def main(arguments: list[str] | None = None) -> None:
    """Write into ``urdf/`` and ``config/`` below the current folder."""
    everything = [*SHIPPED, *MECHANISMS]
    parser = argparse.ArgumentParser(description="Write the files of robots and mechanisms.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(everything)}")
    names = parser.parse_args(arguments).names or everything
    unknown = sorted(set(names) - set(everything))
    if unknown:
        parser.error(f"no robot {', '.join(unknown)}; there are {', '.join(everything)}")
    for name in names:
        robot = name in SHIPPED
        files = files_of(SHIPPED[name]) if robot else files_of_mechanism(MECHANISMS[name])
        for path, text in files.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
