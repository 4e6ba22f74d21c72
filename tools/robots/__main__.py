"""Write the files of the shipped robots: ``python -m tools.robots [NAME ...]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from .files import files_of
from .shipped import SHIPPED


def main(arguments: list[str] | None = None) -> None:
    """Write into ``urdf/``, ``config/`` and ``launch/`` below the current folder."""
    parser = argparse.ArgumentParser(description="Write the files of the shipped robots.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SHIPPED)}")
    names = parser.parse_args(arguments).names or list(SHIPPED)
    unknown = sorted(set(names) - set(SHIPPED))
    if unknown:
        parser.error(f"no robot {', '.join(unknown)}; there are {', '.join(SHIPPED)}")
    for name in names:
        for path, text in files_of(SHIPPED[name]).items():
            Path(path).parent.mkdir(exist_ok=True)
            Path(path).write_text(text, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
