"""What a reader has to say about a file that it could use: for ``Robot.report()``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """One of them.

    Attributes:
        severity: "warning" or "info".
        code: short stable word for tools.
        message: one sentence for people, with the place and what to do.
    """

    severity: str
    code: str
    message: str
