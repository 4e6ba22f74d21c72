"""Joints that loops and gears tie together -> entries, for formats without entries of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..errors import ModelError
from .clusters import loop_bodies, united
from .couplings import add_mimics, check_couplings
from .implied import make_unique
from .submechanism import Coupling, Curve, LoopConstraint, Submechanism
from .tree import FLOATING, Tree
from .words import FUNCTION, NUMERICAL

INDEPENDENT, ACTIVE = "independent", "active"


def tied_entries(
    tree: Tree,
    loops: Sequence[tuple[str, LoopConstraint]],
    couplings: Sequence[Coupling] = (),
    curves: Sequence[Curve] = (),
    *,
    undecided: tuple[str, ...],
    vocabulary: dict[str, str],
    reference: Mapping[str, float] | None = None,
    file: str = "",
) -> tuple[Submechanism, ...]:
    """One entry for each set of joints that loops, couplings and mimic tags tie together.

    Sets that only mimic tags tie are left to :func:`..implied.with_implied`.

    Args:
        tree: the robot.
        loops: each with the name that its entry gets if it is the first in it.
        couplings: that are no mimic tags; the entry of some alone has the place as its name.
        curves: nonlinear couplings; together with loops they are refused.
        undecided: what the format has no word for: INDEPENDENT, ACTIVE.
        vocabulary: see :class:`Submechanism`.
        reference: joint -> position of the configuration that the file shows, zero by default.
        file: that says so; the tree's by default.
    """
    file = file or tree.source
    ties = [loop_bodies(tree, loop) for _, loop in loops]
    ties += [
        [tree.joint_index(n) for n in (c.joint, *c.terms)]
        for c in (*couplings, *(curve.linear for curve in curves))
    ]
    mimics = [(b, body.joint.mimic) for b, body in enumerate(tree.bodies)]
    ties += [[b, tree.joint_index(mimic[0])] for b, mimic in mimics if mimic is not None]
    entries: list[Submechanism] = []
    taken: set[str] = set()
    for group in united(([b] for b in range(len(tree.bodies))), *ties):
        names = tuple(tree.bodies[b].joint.name for b in group)
        inside = [x for x in loops if set(group).intersection(loop_bodies(tree, x[1]))]
        coupled = [c for c in couplings if c.joint in names]
        curved = [curve for curve in curves if curve.joint in names]
        if not inside and not coupled and not curved:
            continue
        places = [loop.place for _, loop in inside] or [c.place for c in coupled]
        place = (places or [curve.place for curve in curved])[0]
        if inside and curved:
            raise curved[0].linear.error(
                f"a nonlinear coupling in a loop ({place})",
                "couple linearly there, or couple joints that no loop moves",
            )
        coupled = add_mimics(coupled, tree, names, file=file, place=place)
        gears = check_couplings([*coupled, *(curve.linear for curve in curved)], names, ())
        free = tuple(n for n in names if n not in {c.joint for c in gears})
        entries.append(
            Submechanism(
                name=make_unique(inside[0][0] if inside else place, taken),
                type=NUMERICAL if inside else FUNCTION if curved else "coupling",
                spanning=names,
                independent=() if inside else free,
                active=free if not inside and ACTIVE in undecided else (),
                loops=tuple(loop for _, loop in inside),
                couplings=() if curved else gears,
                curves=(*map(Curve.of, coupled), *curved) if curved else (),
                reference={n: reference.get(n, 0.0) for n in names} if inside and reference else {},
                assemble=bool(inside),
                undecided=undecided if inside else (),
                vocabulary=vocabulary,
                place=place,
                file=file,
            )
        )
    return tuple(entries)


def check_ends(tree: Tree, links: Sequence[str], error: Callable[[str, str], ModelError]) -> None:
    """Refuse a loop between links that do not move, or that would hold a free flyer."""
    first, second = (tree.path_to_root(tree.frames[link][0]) for link in links)
    if first == second:
        raise error(
            f"'{links[0]}' and '{links[1]}' do not move against each other",
            "tie two links between which there are joints",
        )
    check_way(tree, {*first} ^ {*second}, error)


def check_way(tree: Tree, bodies: Iterable[int], error: Callable[[str, str], ModelError]) -> None:
    """Refuse a constraint on ``bodies`` that would hold a free flyer."""
    for joint in (tree.bodies[body].joint for body in bodies):
        if joint.kind == FLOATING:
            raise error(
                f"it holds the floating base (joint '{joint.name}')",
                "tie links together that the same floating base carries",
            )
