"""What a reader has to say about a file that it could use: for ``Robot.report()``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """One of them.

    Attributes:
        severity: "error", "warning" or "info".
        code: short stable word for tools.
        message: one sentence for people, with the place and what to do.
        file, place, remedy: the same for tools, where they are known.
    """

    severity: str
    code: str
    message: str
    file: str = ""
    place: str = ""
    remedy: str = ""
