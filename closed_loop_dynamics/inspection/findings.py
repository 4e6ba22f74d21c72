"""One remark of the linter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A remark.

    Attributes:
        severity: "error" (results are wrong or impossible), "warning" or "info".
        code: short stable word for tools, such as "idle-joint".
        submechanism: name, or "" when it concerns the tree.
        message: one sentence for people.
    """

    severity: str
    code: str
    submechanism: str
    message: str
