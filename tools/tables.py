"""Tables as lines of text: what the benchmark prints, and what goes into pages of Markdown."""

from __future__ import annotations

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def text_table(rows: Rows) -> list[str]:
    """Aligned columns for a terminal; the first row holds the headings."""
    return ["  ".join(row).rstrip() for row in _aligned(rows)]


def markdown_table(rows: Rows, aligned: bool = True) -> list[str]:
    """The same in Markdown; not aligned where cells hold whole sentences."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    if aligned:
        return [f"| {' | '.join(row)} |" for row in _aligned(escaped)]
    heading, *others = (f"| {' | '.join(row)} |" for row in escaped)
    return [heading, "|---" * len(rows[0]) + "|", *others]


def _aligned(rows: Rows) -> list[list[str]]:
    """Cells of equal width, and a rule below the headings."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    padded = [[cell.ljust(w) for cell, w in zip(row, widths, strict=True)] for row in rows]
    return [padded[0], ["-" * max(width, 1) for width in widths], *padded[1:]]
