"""XML that is not well-formed and yet is read by every program that the file was written for.

The parsers of Gazebo, Drake and ROS let pass: ``--`` inside a comment, an XML declaration that
something precedes, and prefixes (``drake:``, ``gz:``) that nothing declares.
"""

from __future__ import annotations

import re

_ROOT = re.compile(rb"<[A-Za-z_][^\s<>/]*")
_TAG = re.compile(rb"<[^<>]*>")
_USED = re.compile(rb"(?:^</?|\s)([A-Za-z_][\w.-]*):[A-Za-z_]")
_DECLARED = re.compile(rb"\sxmlns:([A-Za-z_][\w.-]*)\s*=")


def forgiven(text: bytes) -> bytes:
    """The text without all that, each line where it is; the same text if there is none of it."""
    text = _blanked(_blanked(text, b"<!--", b"-->"), b"<?xml", b"?>")
    used = {prefix for tag in _TAG.findall(text) for prefix in _USED.findall(tag)}
    unknown = sorted(used - {*_DECLARED.findall(text), b"xml", b"xmlns"})
    declared = b"".join(b' xmlns:%b="%b"' % (prefix, prefix) for prefix in unknown)
    return _ROOT.sub(lambda found: found[0] + declared, text, count=1)


def _blanked(text: bytes, start: bytes, end: bytes) -> bytes:
    """Only the ends of lines are left of what is between two marks."""
    kept, here = [], 0
    while (first := text.find(start, here)) >= 0 and (last := text.find(end, first)) >= 0:
        lines = text.count(b"\n", first, last)
        kept += [text[here:first], b"\n" * lines]
        here = last + len(end)
    return b"".join([*kept, text[here:]])
