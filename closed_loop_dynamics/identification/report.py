"""An identification as a page of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .identify import Identification


def report_lines(found: Identification) -> list[str]:
    """Tables of base parameters and of prediction errors."""
    rows = [("base parameter", "model", "identified", "+/- 95 %", "consistent", "stands for")]
    for b in found.base:
        share = f"{100.0 * b.interval / abs(b.value):.2g} %" if b.value else "-"
        combination = b.combination if b.combination != b.name else ""
        model, value, consistent = (f"{v:.5g}" for v in (b.model, b.value, b.consistent))
        rows.append((b.name, model, value, share, consistent, combination))
    lines = [
        f"{len(found.base)} of {found.base_count} base parameters determined; condition number "
        f"{found.condition:.3g} ({found.weighty} parameters)",
        "",
        *_columns(rows),
        "",
    ]
    errors = [("force", "measured rms", "left: model", "left: identified", "left: any base")]
    for k, name in enumerate(found.names):
        left = (found.before[k], found.after[k], found.noise[k])
        size = found.sizes[k]
        cells = [f"{e:.4g} ({100.0 * e / size:.3g} %)" if size else f"{e:.4g}" for e in left]
        errors.append((name, f"{size:.4g}", cells[0], cells[1], cells[2]))
    return [*lines, *_columns(errors)]


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (zip(row, widths, strict=True) for row in rows)
    return ["  ".join(f"{cell:<{width}}" for cell, width in row).rstrip() for row in padded]
