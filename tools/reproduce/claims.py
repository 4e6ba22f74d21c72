"""What a paper claims, what we get, and how a section of the page is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Claim:
    """One figure or table entry of a paper.

    Attributes:
        where: "Table II, position", "Fig. 7".
        paper: the paper's number in words; "shown as a curve" where it prints none.
        ours: our number in words.
        ok: a correctness figure is met or missed; None for timings, which are only shown.
        why: why they differ, for timings and for whatever a reader would ask.
    """

    where: str
    paper: str
    ours: str
    ok: bool | None = None
    why: str = ""


@dataclass(frozen=True)
class Figure:
    """A plot of the page."""

    file: Path
    caption: str


@dataclass
class Section:
    """The results of one paper.

    Attributes:
        title: "R. Kumar et al. 2022".
        text: what was run and on which robot, in Markdown.
    """

    title: str
    text: str
    claims: list[Claim] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    @property
    def missed(self) -> list[Claim]:
        """Correctness figures that are missed."""
        return [claim for claim in self.claims if claim.ok is False]


class Studio:
    """Where the plots of one run go, and who is told how far it is.

    Attributes:
        quick: few samples, for a test of the page itself; the numbers then say little.
    """

    def __init__(self, folder: Path, tell: Callable[[str], None], quick: bool = False) -> None:
        self.quick = quick
        self._folder = folder
        self._tell = tell
        folder.mkdir(parents=True, exist_ok=True)

    def step(self, what: str) -> None:
        """Say what is being done."""
        self._tell(what)

    @contextmanager
    def plot(
        self, section: Section, name: str, caption: str, rows: int = 1, columns: int = 1
    ) -> Iterator[Any]:
        """Axes (rows, columns) of a plot that is saved as ``name``.png and put into ``section``."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        size = (4.2 * columns, 2.8 * rows)
        figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False)
        try:
            yield axes
            figure.tight_layout()
            file = self._folder / f"{name}.png"
            figure.savefig(file, dpi=90)
            section.figures.append(Figure(file, caption))
        finally:
            plt.close(figure)
