"""A picture as a PNG file: three bytes per pixel, nothing else."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def write_png(path: str | Path, pixels: Pixels) -> None:
    """Write (height, width, 3) bytes."""
    height, width, _ = pixels.shape
    # Each row holds differences from the row above (filter 2), which pack better.
    above = np.vstack([np.zeros_like(pixels[:1]), pixels[:-1]])
    rows = (pixels - above).reshape(height, 3 * width)
    data = np.hstack([np.full((height, 1), 2, dtype=np.uint8), rows]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b"")]
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
