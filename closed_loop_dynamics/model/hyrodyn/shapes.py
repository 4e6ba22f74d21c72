"""The parts of which :mod:`.schema` is made: what a value may be, and which keys go together.

:mod:`.validate` executes them, ``tools/`` writes them down as a page and a JSON Schema. Every shape
has an ``example``: how to write such a value, for messages.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A name or path; ``what`` says of what; ``blank`` where other tools leave it empty."""

    what: str
    blank: bool = False

    @property
    def example(self) -> str:
        return f"the name of a {self.what}" if self.what in ("joint", "link") else f"a {self.what}"


@dataclass(frozen=True)
class Number:
    """A finite number with its unit; ``range`` is "≥ 0", "> 0", "≠ 0" or nothing."""

    unit: str = ""
    range: str = ""
    example = "a number such as 0.5"


@dataclass(frozen=True)
class Numbers:
    """A list of ``count`` numbers."""

    count: int
    unit: str = ""

    @property
    def example(self) -> str:
        return f"[{', '.join(['0.0'] * self.count)}] with your values"


@dataclass(frozen=True)
class Word:
    """One of a few words, in any case; ``loose`` words may also have spaces, hyphens, brackets.

    Attributes:
        what: such a word is called, with its article.
    """

    what: str
    words: tuple[str, ...]
    loose: bool = False
    any_case: bool = True

    @property
    def example(self) -> str:
        return "|".join(self.words) if len(self.words) < 9 else "|".join([*self.words[:3], "..."])


@dataclass(frozen=True)
class ListOf:
    """A list; ``unique`` where an item may appear once only; ``each``: what an item is called."""

    item: Shape
    minimum: int = 0
    unique: bool = False
    each: str = "item"

    @property
    def example(self) -> str:
        match self.item:
            case Text(what):
                return f"a list such as [{what}1, {what}2]"
            case Word(_, (first, second, *_)):
                return f"a list such as [{first}, {second}]"
            case item:
                return f"a list of entries such as [{item.example}]"


@dataclass(frozen=True)
class ByName:
    """A mapping from the names of joints; ``each``: what an entry is called."""

    value: Shape
    example: str
    minimum: int = 0
    each: str = "entry"


@dataclass(frozen=True)
class Anything:
    """Whatever another tool keeps there."""

    example = "anything"


@dataclass(frozen=True)
class Key:
    """One key of a record.

    Attributes:
        meaning: for the reference and for messages.
        needed: it must be there.
        default: what counts where it is not there, in words.
        part_of: keys of lists, the first of which that is given holds the words to choose from.
    """

    shape: Shape
    meaning: str
    needed: bool = False
    default: str = ""
    part_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExactlyOne:
    """One of two keys, and not the other."""

    keys: tuple[str, str]


@dataclass(frozen=True)
class OneWay:
    """All the keys of one of several ways, the usual one first."""

    ways: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Together:
    """Both keys or neither."""

    keys: tuple[str, str]


@dataclass(frozen=True)
class GoesWith:
    """``key`` needs ``other``, which holds a word, and not one of ``never``.

    Attributes:
        instead: what to do about a key without the other.
    """

    key: str
    other: str
    never: tuple[str, ...]
    instead: str


Rule = ExactlyOne | OneWay | Together | GoesWith


@dataclass(frozen=True)
class Record:
    """A mapping with known keys.

    Attributes:
        title: heading in the reference.
        name: what messages call it.
        example: how to write one.
        keys: by name, in the order of the reference.
    """

    title: str
    name: str
    example: str
    keys: dict[str, Key]
    rules: tuple[Rule, ...] = ()


Shape = Text | Number | Numbers | Word | ListOf | ByName | Anything | Record
