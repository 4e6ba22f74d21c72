"""One value of the submechanism file together with the path of keys that leads to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import SubmechanismError


@dataclass(frozen=True)
class Node:
    """A value that knows its place, so that whatever is wrong with it can be said there.

    Attributes:
        value: plain data (None, bool, int, float, str, list, dict, ...).
        place: key path, such as ``submechanisms[2].name``.
        file: for messages.
    """

    value: Any
    place: str
    file: str

    def error(self, problem: str, remedy: str) -> SubmechanismError:
        return SubmechanismError(problem, file=self.file, place=self.place, remedy=remedy)

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def __getitem__(self, key: str) -> Node:
        """The value of a key."""
        return self._child(f".{key}", self.value[key])

    def __iter__(self) -> Iterator[Node]:
        """The items of a list."""
        return (self._child(f"[{i}]", value) for i, value in enumerate(self.value))

    def value_of(self, key: str, default: Any) -> Any:
        """The plain value of a key, or the default."""
        return self.value.get(key, default)

    def items(self, key: str) -> list[Node]:
        """The items of the list under a key; none where the key is not given."""
        return list(self[key]) if key in self else []

    def named(self, key: str) -> dict[str, Node]:
        """What the names under a key stand for; nothing where the key is not given."""
        return {name: self[key][name] for name in self.value_of(key, ())}

    def _child(self, step: str, value: Any) -> Node:
        return Node(value, (self.place + step).removeprefix("."), self.file)
