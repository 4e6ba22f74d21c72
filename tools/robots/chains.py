"""Serial chains of any length with their motors' rotors, for studies of scaling.

The two of Chignoli et al., Sec. IX: every joint driven by a rotor on the link before it through a
gear, and pairs of joints whose two rotors both sit before the pair, the second one driving through
a belt. The axes alternate, so that nothing stays in a plane. Shipped with the paper's 12 links.
"""

from __future__ import annotations

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.errors import InvalidInput

from .mechanisms.blueprint import Blueprint, X, Y, Z
from .mechanisms.loop_file import loop_file

LENGTH = 0.2  #: of a link [m]
MASS = 0.8  #: of a link [kg]
GEAR = 6.0  #: turns of a rotor per turn of what it drives
BELT = 1.5  #: turns of the pulley on the pair's first link per turn of its second joint
AXES = (Y, X)
LINKS = 12  #: of the shipped chains


def geared_chain(links: int = LINKS) -> tuple[str, str]:
    """URDF and YAML text of a chain ``joint_1 ... joint_N``, each turned by ``rotor_i``.

    The rotor of a joint is carried by the link before it: rotor_i = GEAR joint_i.
    """
    board, parent, entries = _board("geared_chain", links), "base_link", []
    for i in range(1, links + 1):
        axis = AXES[i % 2]
        entries.append(geared(board, i, parent, axis))
        parent = f"link_{i}"
    return board.urdf(), _one_file(entries)


def belt_chain(links: int = LINKS) -> tuple[str, str]:
    """URDF and YAML text of a chain in pairs of parallel joints, both rotors before the pair.

    rotor_1 = GEAR joint_1, and through the belt rotor_2 = GEAR (joint_1 + BELT joint_2); a last
    joint without a partner is geared.
    """
    board, parent, entries = _board("belt_chain", links), "base_link", []
    for i in range(1, links, 2):
        axis, second = AXES[i // 2 % 2], i + 1
        _link(board, i, parent, axis)
        _link(board, second, f"link_{i}", axis)
        _rotor(board, i, i, parent, axis, 0.03)
        _rotor(board, second, i, parent, axis, -0.03)
        couplings = {
            f"rotor_{i}": {f"joint_{i}": GEAR},
            f"rotor_{second}": {f"joint_{i}": GEAR, f"joint_{second}": GEAR * BELT},
        }
        joints, rotors = [f"joint_{i}", f"joint_{second}"], list(couplings)
        entries.append(loop_file(f"pair_{i}", "TRANSMISSION", joints, rotors, couplings=couplings))
        parent = f"link_{second}"
    if links % 2:
        entries.append(geared(board, links, parent, AXES[links // 2 % 2]))
    return board.urdf(), _one_file(entries)


def _board(name: str, links: int) -> Blueprint:
    if not isinstance(links, int) or links < 1:
        raise InvalidInput(f"{name}: links is {links!r}; a chain has a whole number of links, >= 1")
    board = Blueprint(f"{name}_{links}")
    board.box("base_link", (0.0, 0.0, -0.05), (0.1, 0.1, 0.04), 2.0, "dark")
    return board


def _joint_at(i: int) -> Array:
    """World position of joint ``i`` at zero: the chain stands upright."""
    return LENGTH * (i - 1) * Z


def _link(board: Blueprint, i: int, parent: str, axis: Array) -> None:
    at = _joint_at(i)
    link = board.revolute(f"joint_{i}", parent, at, axis, (-1.5, 1.5), link=f"link_{i}")
    board.rod(link, at, at + LENGTH * Z, 0.02, MASS)


def _rotor(board: Blueprint, i: int, before: int, parent: str, axis: Array, side: float) -> None:
    """Rotor ``i`` beside joint ``before``, on the link that carries that joint."""
    at = _joint_at(before) + side * axis
    reach = GEAR * (1.0 + BELT) * 1.5
    rotor = board.revolute(
        f"rotor_{i}", parent, at, axis, (-reach, reach), link=f"rotor_link_{i}", effort=5.0
    )
    board.rod(rotor, at - 0.01 * axis, at + 0.01 * axis, 0.03, 0.1, "drive")


def geared(board: Blueprint, i: int, parent: str, axis: Array) -> str:
    _link(board, i, parent, axis)
    _rotor(board, i, i, parent, axis, 0.03)
    couplings = {f"rotor_{i}": {f"joint_{i}": GEAR}}
    return loop_file(
        f"gear_{i}", "TRANSMISSION", [f"joint_{i}"], [f"rotor_{i}"], couplings=couplings
    )


def _one_file(entries: list[str]) -> str:
    """Several files of one entry each as one."""
    heading = "submechanisms:\n"
    return heading + "".join(text.removeprefix(heading) for text in entries)
