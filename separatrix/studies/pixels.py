"""Pixels in charts."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np


def data_address(picture: np.ndarray) -> str:
    """A picture of bytes, (height, width) in grey or (height, width, 3) in colour, as a PNG in a ``data:`` address."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    height, width = picture.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if picture.ndim == 2 else 2, 0, 0, 0)
    lines = b"".join(b"\0" + line.tobytes() for line in picture)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(png).decode()
