"""Puts ``reference:`` into the text of a submechanism file; all else stays, comments too."""

from __future__ import annotations

from collections.abc import Mapping

import yaml


def with_references(text: str, references: Mapping[int, Mapping[str, float]]) -> str:
    """``text`` with the references (joint -> position) of some entries, by their place."""
    (entries,) = [v for k, v in yaml.compose(text).value if k.value == "submechanisms"]
    edits = []
    for place, reference in references.items():
        entry = entries.value[place]
        positions = {name: round(x, 12) + 0.0 for name, x in reference.items()}
        flow = yaml.safe_dump(positions, default_flow_style=True, sort_keys=False, width=10**9)
        old = [value for key, value in entry.value if key.value == "reference"]
        if old:
            edits.append((old[0].start_mark.index, _end(old[0]), flow.rstrip()))
            continue
        key, last = entry.value[-1][0].start_mark, ", "
        if not entry.flow_style:
            last = "\n" + " " * key.column
        edits.append((key.index, key.index, f"reference: {flow.rstrip()}{last}"))
    for start, end, words in sorted(edits, reverse=True):
        text = text[:start] + words + text[end:]
    return text


def _end(node: yaml.Node) -> int:
    """Where the last word of a node ends: what follows a block belongs to its mark, too."""
    block = isinstance(node, yaml.CollectionNode) and not node.flow_style
    if not block or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)
