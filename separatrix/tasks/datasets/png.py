"""Pictures from PNG files: as much of the format as data sets use, 8 bits of red, green and blue a pixel."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB_8 = (8, 2, 0, 0, 0)
"""Bits, colour, compression, filtering, interlace."""
_NONE, _SUB, _UP, _AVERAGE, _PAETH = range(5)


class PngError(ValueError):
    """A file that is no whole PNG of the expected kind; the message says what it is."""


def pixels(content: bytes, height: int, width: int) -> np.ndarray:
    """The picture as bytes, (height, width, 3). Nothing larger than that is ever unpacked."""
    chunks = list(_chunks(content))
    if not chunks or chunks[0][0] != b"IHDR" or chunks[-1][0] != b"IEND":
        raise PngError("a PNG must begin with IHDR and end with IEND")
    found_width, found_height, *kind = struct.unpack(">IIBBBBB", chunks[0][1])
    if (found_height, found_width) != (height, width) or tuple(kind) != _RGB_8:
        raise PngError(
            f"a PNG must have {height} rows of {width} pixels of 8 bits in RGB, got {found_height} rows of "
            f"{found_width}, kind {tuple(kind)}"
        )
    stride = 1 + 3 * width
    packed = b"".join(body for name, body in chunks if name == b"IDAT")
    try:
        raw = zlib.decompressobj().decompress(packed, height * stride)
    except zlib.error as error:
        raise PngError(f"a PNG's pixels cannot be unpacked: {error}") from None
    if len(raw) != height * stride:
        raise PngError(f"a PNG must hold {height * stride} bytes of rows, got {len(raw)}")
    rows = np.frombuffer(raw, np.uint8).reshape(height, stride)
    return _unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, 3))


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not content.startswith(SIGNATURE):
        raise PngError(f"a PNG must begin with {SIGNATURE!r}, got {content[:8]!r}")
    at = len(SIGNATURE)
    while at < len(content):
        length, name = struct.unpack_from(">I4s", content.ljust(at + 8, b"\0"), at)
        body, check = content[at + 8 : at + 8 + length], content[at + 8 + length : at + 12 + length]
        if len(check) != 4 or zlib.crc32(name + body) != struct.unpack(">I", check)[0]:
            raise PngError(f"a PNG's chunk {name!r} is cut off or damaged")
        yield name, body
        at += 12 + length


def _unfiltered(kinds: np.ndarray, filtered: np.ndarray) -> np.ndarray:
    """Undo the rows' filters (bytes wrap around): ``none`` and ``sub``, which need no row above, all at once."""
    if kinds.max() > _PAETH:
        raise PngError(f"a PNG's filters must be 0 to 4, got {kinds.max()}")
    rows = np.where((kinds == _SUB)[:, None, None], np.cumsum(filtered, axis=1, dtype=np.uint8), filtered)
    for r in np.flatnonzero(kinds > _SUB):
        kind, above = int(kinds[r]), rows[r - 1] if r else np.zeros_like(rows[0])
        rows[r] = filtered[r] + above if kind == _UP else _pixel_by_pixel(kind, filtered[r], above)
    return rows


def _pixel_by_pixel(kind: int, filtered: np.ndarray, above: np.ndarray) -> np.ndarray:
    """A row whose every pixel is told from the one to its left, by ``average`` or ``paeth``."""
    row = np.zeros((len(filtered) + 1, 3), int)
    over = np.vstack([np.zeros((1, 3), int), above])
    for i in range(1, len(row)):
        left, up, corner = row[i - 1], over[i], over[i - 1]
        if kind == _AVERAGE:
            guess = (left + up) // 2
        else:
            a, b, c = (abs(left + up - corner - each) for each in (left, up, corner))
            guess = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
        row[i] = (filtered[i - 1] + guess) % 256
    return row[1:].astype(np.uint8)
