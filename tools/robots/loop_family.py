"""Any number of lambda mechanisms (1-RRPR), one on the other or side by side, for scaling studies.

Every arm is turned by a cylinder that hangs on the link before it. In series the axes alternate, so
that nothing stays in a plane; side by side all arms stand on a table that turns, and feel each
other through it.
"""

from __future__ import annotations

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.errors import InvalidInput

from .mechanisms.blueprint import Blueprint, X, Y, Z
from .mechanisms.loop_file import POINT_XZ, POINT_YZ, Cut, Entry, submechanism_file
from .mechanisms.parts import cylinder

ARM = 0.3  #: length [m]
MASS = 1.2  #: of an arm [kg]
#: Seen from the hinge [m]: where the cylinder hangs, and where it pulls (sideways, up).
FOOT, LEVER = (0.06, -0.15), (0.07, 0.05)
LIMITS, STROKE = (-0.5, 0.5), (-0.06, 0.06)
APART = 0.12  #: arms side by side [m]


def loops_in_series(count: int) -> tuple[str, str]:
    """URDF and YAML text of arms ``hinge_1 ... hinge_N``, each carried by the one before."""
    board, parent, entries = _board("loops_in_series", count), "base_link", []
    for i in range(1, count + 1):
        at = ARM * (i - 1) * Z
        entries.append(_loop(board, i, parent, at, across=i % 2 == 0))
        parent = f"arm_{i}"
    return board.urdf(), submechanism_file(entries)


def loops_side_by_side(count: int) -> tuple[str, str]:
    """URDF and YAML text of arms ``hinge_1 ... hinge_N`` on a table that turns (``turn``)."""
    board = _board("loops_side_by_side", count)
    table = board.revolute(
        "turn", "base_link", -0.2 * Z, Z, (-2.0, 2.0), link="table", effort=100.0
    )
    board.box(table, -0.18 * Z, (0.2, 0.2 + APART * count, 0.02), 3.0, "dark")
    turn = Entry("turntable", "R", ["turn"], ["turn"])
    loops = [
        _loop(board, i, table, APART * (i - 0.5 * (count + 1)) * Y) for i in range(1, count + 1)
    ]
    return board.urdf(), submechanism_file([turn, *loops])


def _board(name: str, count: int) -> Blueprint:
    if not isinstance(count, int) or count < 1:
        raise InvalidInput(f"{name}: count is {count!r}; a whole number of loops is needed, >= 1")
    board = Blueprint(f"{name}_{count}")
    board.box("base_link", -0.25 * Z, (0.2, 0.2, 0.04), 4.0, "dark")
    return board


def _loop(board: Blueprint, i: int, parent: str, at: Array, across: bool = False) -> Entry:
    """Arm ``i`` and its cylinder, in the plane x-z or (across) y-z."""
    axis, side, rows = (X, Y, POINT_YZ) if across else (Y, X, POINT_XZ)
    foot, lever = (at + sideways * side + up * Z for sideways, up in (FOOT, LEVER))
    arm = board.revolute(f"hinge_{i}", parent, at, axis, LIMITS, link=f"arm_{i}")
    board.rod(arm, at, at + ARM * Z, 0.014, MASS)
    board.rod(arm, at, lever, 0.010, 0.2)
    name = f"cylinder_{i}"
    passive, driven = cylinder(board, name, foot, lever, STROKE, hinge=axis, parent=parent)
    cut = Cut(driven, f"{name}_rod", arm, rows)
    return Entry("lambda_rrpr", "rrPr", [f"hinge_{i}"], [driven], [passive], [cut], {}, f"loop_{i}")
