"""What these tests share."""

from __future__ import annotations

from support.backend import traced_only

__all__ = ["traced_only"]
