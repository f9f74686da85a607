# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""An eye as text and as a PNG."""

from __future__ import annotations

import math
import struct
import zlib

from .scan import Eye

#: From no error to every second bit wrong, two decades each.
SHADES = " .:-=+*%@"
CELL = 12
FEW = 1e-16


def shade(rate: float) -> int:
    """0: no error; the last of SHADES: a rate of more than 1 %."""
    if rate <= 0:
        return 0
    return max(1, min(len(SHADES) - 1, len(SHADES) - 1 + math.floor(math.log10(rate) / 2 + 1)))


def text(eye: Eye) -> str:
    """A character for each place, with the axes."""
    lines = []
    for code, row in zip(eye.up, eye.points):
        lines.append(f"{code:+5d} |" + "".join(SHADES[shade(point.rate)] for point in row) + "|")
    ends = f"{eye.across[0] / eye.steps:+.2f} UI"
    other = f"{eye.across[-1] / eye.steps:+.2f} UI"
    lines.append(f"       {ends}{other:>{max(len(eye.across) - len(ends), len(other) + 1)}}")
    return "\n".join(lines)


def colour(rate: float) -> tuple[int, int, int]:
    """From blue by green to red, in the logarithm; white: no error."""
    if rate <= 0:
        return 255, 255, 255
    part = min(1.0, max(0.0, 1 + math.log10(max(rate, FEW)) / 10))
    return int(255 * max(0.0, 2 * part - 1)), int(255 * (1 - abs(2 * part - 1))), int(255 * max(0.0, 1 - 2 * part))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(eye: Eye) -> bytes:
    """A square of CELL pixels for each place (PNG, ISO/IEC 15948)."""
    rows = []
    for row in eye.points:
        line = b"".join(bytes(colour(point.rate)) * CELL for point in row)
        rows += [b"\0" + line] * CELL
    header = struct.pack(">IIBBBBB", CELL * len(eye.across), CELL * len(eye.up), 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(rows), 9)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")
