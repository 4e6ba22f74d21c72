"""Write the pages and drawings of the mechanism library.

``python -m tools.robots.mechanisms [folder] [--only NAME ...]``
"""

from __future__ import annotations

import argparse
from pathlib import Path

from closed_loop_dynamics.robot import load

from . import MECHANISMS
from .drawing import draw
from .pages import index, page


def main(arguments: list[str] | None = None) -> None:
    """Write ``docs/mechanisms`` below the current folder."""
    parser = argparse.ArgumentParser(description="Write the pages of the mechanism library.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/mechanisms"))
    parser.add_argument("--only", nargs="+", choices=list(MECHANISMS), help="not the index")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    robots = {}
    for name in options.only or MECHANISMS:
        mechanism = MECHANISMS[name]
        urdf, yaml = mechanism.build()
        robot = robots[name] = load(urdf, yaml)
        picture = draw(robot, mechanism.displaced, mechanism.view)
        (options.folder / f"{name}.svg").write_text(picture, encoding="utf-8")
        text = page(mechanism, robot, yaml)
        (options.folder / f"{name}.md").write_text(text, encoding="utf-8")
        print(f"wrote {options.folder / name}.md and .svg")
    if not options.only:
        text = index(MECHANISMS, robots)
        (options.folder / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
