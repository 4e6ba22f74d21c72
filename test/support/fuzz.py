"""The one rule of damaged files: a robot that is consistent, or a ClosedLoopError; nothing else.

A reader is a function of texts that returns a Description; all campaigns return the set of what
happened, True for a robot and False for an error.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np

from closed_loop_dynamics.errors import ClosedLoopError
from support.damage import COUNT, NASTY_TEXT, mutate

Reader = Callable[..., Any]


def attempt(read: Reader, *texts: str | None) -> bool:
    """Whether it is read; asserts the rule."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            description = read(*texts)
    except ClosedLoopError as error:
        assert str(error) and len(str(error)) < 20_000
        return False
    check_consistent(description)
    return True


def check_consistent(description: Any) -> None:
    """Every joint in one entry, all numbers finite, roles that fit."""
    tree, entries = description.tree, description.submechanisms
    joints = [joint for entry in entries for joint in entry.spanning]
    assert sorted(joints) == sorted(tree.joint_names)
    for b, body in enumerate(tree.bodies):
        assert -1 <= body.parent < b
        for numbers in (body.mass, body.first_moment, body.inertia, body.joint.placement):
            assert np.isfinite(numbers).all()
        assert body.joint.has_quaternion or np.isclose(np.linalg.norm(body.joint.axis), 1.0)
        assert body.joint.lower <= body.joint.upper
    for entry in entries:
        follows = {each.joint for each in (*entry.couplings, *entry.curves)}
        held = follows.issuperset(entry.spanning)
        assert entry.independent or "independent" in entry.undecided or held
        assert {*entry.independent, *entry.active} <= {*entry.spanning}
        for coupling in entry.couplings:
            assert np.isfinite([*coupling.terms.values(), coupling.offset]).all()
        for curve in entry.curves:
            assert np.isfinite(curve.factors).all()
        assert not follows & {*entry.independent}


def random_damage(read: Reader, texts: Sequence[str], seed: int, wounds: int = 3) -> set[bool]:
    """COUNT times one of the XML texts, each with one to ``wounds`` wounds."""
    rng = random.Random(seed)
    outcomes = set()
    for _ in range(COUNT):
        text = rng.choice(texts)
        for _ in range(rng.randint(1, wounds)):
            text = mutate(text, rng) or "<"
        outcomes.add(attempt(read, "<" + text.lstrip("<")))
    return outcomes


def nasty_words(read: Reader, text: str, most: int, more: Sequence[str] = ()) -> set[bool]:
    """Every attribute, and every text of an element, replaced by ``most`` of the nasty texts."""
    rng = random.Random(1)
    outcomes = {attempt(read, text)}
    assert outcomes == {True}, "the file is sound before it is damaged"
    root = ElementTree.fromstring(text)
    values = [*NASTY_TEXT, *more]

    def tried(put: Callable[[str], Any]) -> None:
        for value in rng.sample(values, min(most, len(values))):
            put(value)
            outcomes.add(attempt(read, ElementTree.tostring(root, encoding="unicode")))

    for element in root.iter():
        for key, good in list(element.attrib.items()):
            tried(lambda value, e=element, k=key: e.set(k, value))
            element.set(key, good)
        if (element.text or "").strip():
            good = element.text
            tried(lambda value, e=element: setattr(e, "text", value))
            element.text = good
    return outcomes
