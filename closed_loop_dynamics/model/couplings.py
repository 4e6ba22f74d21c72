"""Linear couplings of one submechanism: mimic tags among them, chains of them, what they may be."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ..errors import SubmechanismError, did_you_mean
from .submechanism import Coupling
from .tree import Tree

#: Ratios other than 0, written or of a chain, lie between these; offsets below the last one.
SMALLEST_RATIO, LARGEST_RATIO = 1e-12, 1e12
LARGEST_OFFSET = 1e8


def add_mimics(
    couplings: list[Coupling], tree: Tree, joints: Iterable[str], *, file: str, place: str
) -> list[Coupling]:
    """``couplings`` and those of the URDF's mimic tags among ``joints``.

    A mimic tag that says what a written coupling says already adds nothing.
    """
    joints = tuple(joints)
    written = {coupling.joint: coupling for coupling in couplings}
    result = list(couplings)
    for name in joints:
        mimic = tree.bodies[tree.joint_index(name)].joint.mimic
        if mimic is None:
            continue
        if mimic[0] not in joints:
            raise SubmechanismError(
                f"joint '{name}' mimics '{mimic[0]}' in the URDF, but '{mimic[0]}' is not in this "
                "submechanism",
                file=file,
                place=place,
                remedy=f"list '{name}' and '{mimic[0]}' in the jointnames_spanningtree of one "
                "submechanism",
            )
        coupling = mimic_coupling(name, mimic, place, file)
        other = written.get(name)
        if other is None:
            result.append(coupling)
        elif (other.terms, other.offset) != (coupling.terms, coupling.offset):
            raise _two_couplings(coupling, other)
    return result


def mimic_coupling(name: str, mimic: tuple[str, float, float], place: str, file: str) -> Coupling:
    """The coupling that a mimic tag of joint ``name`` means."""
    master, ratio, offset = mimic
    return Coupling(name, {master: ratio}, offset, f"{place} (URDF mimic of '{name}')", file)


def turned_to_motors(couplings: list[Coupling], driven: Collection[str]) -> list[Coupling]:
    """Couplings of a driven joint to one that is not, solved for that one."""
    result: list[Coupling] = []
    for c in couplings:
        other, ratio = next(iter(c.terms.items()), ("", 0.0))
        taken = other in driven or any(other == x.joint for x in (*couplings, *result))
        if c.joint in driven and ratio and len(c.terms) == 1 and not taken:
            c = replace(c, joint=other, terms={c.joint: 1.0 / ratio}, offset=-c.offset / ratio)
        result.append(c)
    return result


def check_couplings(
    couplings: list[Coupling], spanning: Iterable[str], independent: Iterable[str]
) -> tuple[Coupling, ...]:
    """Couplings that fit the entry, one per joint, with chains written out.

    Written out means: if a = 2 b and b = 3 c, then a = 6 c, so that the terms of the result never
    name a coupled joint and can be evaluated in any order.
    """
    spanning, independent = tuple(spanning), tuple(independent)
    by_joint: dict[str, Coupling] = {}
    for coupling in couplings:
        for name in (coupling.joint, *coupling.terms):
            if name not in spanning:
                raise coupling.error(
                    f"joint '{name}' of the coupling is not among this submechanism's moving "
                    "joints",
                    f"{did_you_mean(name, spanning)} (else list it in jointnames_spanningtree)",
                )
        if coupling.joint in coupling.terms:
            raise coupling.error(
                f"joint '{coupling.joint}' is coupled to itself",
                "name other joints in the terms",
            )
        if coupling.joint in independent:
            raise coupling.error(
                f"joint '{coupling.joint}' is coupled, yet listed in jointnames_independent",
                "remove it from jointnames_independent, or turn the coupling around",
            )
        if coupling.joint in by_joint:
            raise _two_couplings(coupling, by_joint[coupling.joint])
        _check_size(coupling)
        by_joint[coupling.joint] = coupling
    return tuple(_written_out(name, by_joint) for name in by_joint)


def _two_couplings(coupling: Coupling, other: Coupling) -> SubmechanismError:
    return coupling.error(
        f"joint '{other.joint}' has two couplings (the other: {other.place})",
        "keep one of them; add up the terms if it depends on several joints",
    )


def _written_out(name: str, by_joint: dict[str, Coupling]) -> Coupling:
    coupling = by_joint[name]
    terms, offset = dict(coupling.terms), coupling.offset
    for _ in range(len(by_joint)):
        chained = [joint for joint in terms if joint in by_joint]
        if not chained:
            break
        for joint in chained:
            ratio = terms.pop(joint)
            offset += ratio * by_joint[joint].offset
            for other, factor in by_joint[joint].terms.items():
                terms[other] = terms.get(other, 0.0) + ratio * factor
    else:
        if any(joint in by_joint for joint in terms):
            raise coupling.error(
                f"the couplings of joint '{name}' go round in a circle",
                "express every coupled joint by independent ones",
            )
    written_out = replace(coupling, terms=terms, offset=offset)
    _check_size(written_out)
    return written_out


def _check_size(coupling: Coupling) -> None:
    """Refuse ratios (of a chain: their products) and offsets that no mechanism has."""
    for other, ratio in coupling.terms.items():
        if ratio and not SMALLEST_RATIO <= abs(ratio) <= LARGEST_RATIO:
            raise coupling.error(
                f"the ratio of joint '{coupling.joint}' to '{other}' is {ratio:g}",
                f"write 0 or a ratio between {SMALLEST_RATIO:g} and {LARGEST_RATIO:g} in magnitude",
            )
    if not abs(coupling.offset) <= LARGEST_OFFSET:
        raise coupling.error(
            f"the offset of joint '{coupling.joint}' is {coupling.offset:g}",
            f"write an offset below {LARGEST_OFFSET:g} in magnitude",
        )
