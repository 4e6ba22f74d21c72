"""The words that ``type:`` and ``solver:`` of a submechanism may be."""

from __future__ import annotations

from ...errors import did_you_mean
from .yaml_reader import Node

SERIAL_TYPES = frozenset({"r", "rr", "3r", "4r", "5r", "6r", "7r", "p", "serial"})
"""Chains without loops: every joint is independent."""

COUPLED_TYPES = frozenset({"transmission", "coupling"})
"""Every dependent joint is a linear function of the independent ones."""

LOOP_TYPES = frozenset(
    {
        *("rrpr", "rrrr", "1-rrpr", "1-rrrr", "parallelogram", "parallelogramchain"),
        *("2spu+1u", "2spr+1u", "2sprr+1u", "2pus+1u", "2surrpr+1u"),
        *("6ups", "6rus", "3rrr", "3rus2", "linear_actuator"),
    }
)
"""Known mechanisms: their loops follow from the type and the tree, without ``loop_constraints``."""

NUMERICAL = "numerical"

FUNCTION = "function"
"""The dependent joints follow from a Python function, given as ``load(closures={name: ...})``."""

VALID_TYPES = SERIAL_TYPES | COUPLED_TYPES | LOOP_TYPES | {NUMERICAL, FUNCTION}
"""All spellings of ``type`` (lower case). To teach the reader a new mechanism, add it above.

Compared without regard to case, spaces, hyphens and brackets, so that ``2-SPU+1U`` is ``2spu+1u``.
"""

VALID_SOLVERS = ("auto", "analytical", "numerical")


def _plain(word: str) -> str:
    return word.lower().translate(str.maketrans("", "", " -[](){}"))


_BY_PLAIN_NAME = {_plain(name): name for name in sorted(VALID_TYPES)}


def read_type(node: Node) -> str:
    """The entry of :data:`VALID_TYPES` that a ``type:`` value means."""
    word = node.text("NUMERICAL")
    try:
        return _BY_PLAIN_NAME[_plain(word)]
    except KeyError:
        raise node.error(
            f"unknown type '{word[:80]}'", did_you_mean(word.lower(), VALID_TYPES)
        ) from None
