"""One page per mechanism, and the index: Markdown from what the library and the robot say."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import Any

from closed_loop_dynamics.closure.leg import Leg
from closed_loop_dynamics.robot import Robot

from .description import Example


def legs_of(robot: Robot) -> list[Leg]:
    """The legs of a robot with one submechanism in solving order; empty when there are none."""
    (closure,) = robot.mechanism.closures
    return list(closure.legs)


def page(mechanism: Example, robot: Robot, yaml: str) -> str:
    """The page of one mechanism."""
    m = mechanism
    rows = [f"| `{n}` | {_value(default)} | {text} |" for n, default, text in m.parameters()]
    return "\n".join(
        [
            f"# {m.title}",
            "",
            f"Also known as: {', '.join(m.aliases)}. Type in the submechanism file: `{m.type}`.",
            "",
            f"![{m.title}, at q = 0 and displaced]({m.name}.svg)",
            "",
            _wrapped(m.what),
            "",
            _wrapped(
                f"n = {robot.n} joints in the tree, m = {robot.m} commanded "
                f"({_names(robot.names.independent)}), p = {robot.p} driven "
                f"({_names(robot.names.actuator)})."
            ),
            "",
            "## Parameters",
            "",
            "Lengths in metres.",
            "",
            "| name | default | meaning |",
            "|---|---|---|",
            *rows,
            "",
            "## Solution",
            "",
            _wrapped(_solution(m, robot)),
            "",
            "## Branches",
            "",
            _wrapped(m.branches),
            "",
            "## Singularities",
            "",
            _wrapped(m.singularities),
            "",
            "## The submechanism file",
            "",
            "```yaml",
            yaml.rstrip("\n"),
            "```",
            "",
            "## In Python",
            "",
            "```python",
            "import closed_loop_dynamics as cld",
            "from tools.robots.mechanisms import MECHANISMS",
            "",
            f'robot = cld.load(*MECHANISMS["{m.name}"].build())',
            "print(robot.report())",
            "```",
            "",
        ]
    )


def _solution(mechanism: Example, robot: Robot) -> str:
    if mechanism.solver == "coupling":
        return "Linear coupling: q = A y + b with a constant A, no equations to solve."
    legs = legs_of(robot)
    if not legs:
        return (
            "Numerical: Newton's method on the cut joints, started and guarded so that it stays "
            "on the branch of q = 0. The closed forms of the library do not cover this mechanism."
        )
    kinds = Counter((type(leg).__name__, leg.name) for leg in legs)
    words = [f"{_count(number)} of `{kind}` ({name})" for (kind, name), number in kinds.items()]
    return f"Closed form, leg by leg (`closure/legs.py`): {', then '.join(words)}."


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def _count(number: int) -> str:
    return {1: "one", 2: "two", 3: "three", 6: "six"}.get(number, str(number))


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{v:g}" for v in value) + ")"
    return f"{value:g}"


def index(mechanisms: Mapping[str, Example], robots: Mapping[str, Robot]) -> str:
    """``README.md``: all mechanisms in a table."""
    lines = [
        "# The mechanism library",
        "",
        _wrapped(
            "Examples of the mechanisms that series-parallel robots are made of, each generated "
            "from a few dimensions. How a loop is solved is not tied to these examples: closed "
            "forms are recognised leg by leg from topology and axes, in any robot, whatever its "
            "`type` says."
        ),
        "",
        "```python",
        "import closed_loop_dynamics as cld",
        "from tools.robots.mechanisms import MECHANISMS",
        "",
        'robot = cld.load(*MECHANISMS["four_bar"].build(crank=0.10))',
        "```",
        "",
        _wrapped(
            "The generators are in the repository. Installed are the files that they write with "
            "the dimensions of these pages, under the same names: `closed-loop check four_bar`."
        ),
        "",
        "| | mechanism | paper names | type | n, m | solved by |",
        "|---|---|---|---|---|---|",
    ]
    for name, m in mechanisms.items():
        robot = robots[name]
        legs = dict.fromkeys(leg.name for leg in legs_of(robot))
        solved = ", ".join(legs) if legs else m.solver
        lines.append(
            f'| <img src="{name}.svg" width="180" alt=""> | [{m.title}]({name}.md) '
            f"| {', '.join(m.aliases)} | `{m.type}` | {robot.n}, {robot.m} | {solved} |"
        )
    return "\n".join(
        [*lines, "", "Pages and drawings are written by `python -m tools.robots.mechanisms`.", ""]
    )
