"""Sections as one Markdown page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..tables import markdown_table
from .claims import Claim, Section

VERDICT = {True: "yes", False: "**NO**", None: "timing"}


def page(sections: Sequence[Section], facts: str, folder: Path) -> str:
    """The page, with paths of figures relative to ``folder``."""
    lines = [
        "# Reproduction of the papers",
        "",
        "Written by `make reproduce`; do not edit. Correctness figures must hold, or the command "
        'fails. "holds: yes" means: not worse than the '
        "paper's figure. Timings are shown as ratios beside the paper's: another engine changes "
        "what is expensive.",
        "",
        facts,
    ]
    for section in sections:
        lines += ["", f"## {section.title}", "", section.text, "", *_table(section.claims)]
        for figure in section.figures:
            path = figure.file.relative_to(folder).as_posix()
            lines += ["", f"![{figure.caption}]({path})", "", f"*{figure.caption}*"]
    return "\n".join(lines) + "\n"


def _table(claims: Sequence[Claim]) -> list[str]:
    rows = [(c.where, c.paper, c.ours, VERDICT[c.ok], c.why) for c in claims]
    return markdown_table([("where", "the paper", "ours", "holds", "remark"), *rows], aligned=False)
