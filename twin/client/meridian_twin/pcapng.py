# SPDX-License-Identifier: Apache-2.0
"""Reads the card's own captures (its option --capture): each frame with where it passed, which way, and when."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = struct.Struct("<II")
_OPTION = struct.Struct("<HH")
_PACKET = struct.Struct("<5I")
_SECTION, _INTERFACE, _FRAME = 0x0A0D0D0A, 1, 6
_NAME, _FLAGS = 2, 2
_INBOUND = 1


@dataclass(frozen=True)
class Passed:
    """interface: wire0, host, ps0, ...; inbound: towards who is there, of a wire towards the card."""

    interface: str
    time_ns: int
    inbound: bool
    data: bytes


class PcapngError(Exception):
    """The file is none of the card's captures, or its end is missing."""


def _options(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at + _OPTION.size <= len(data):
        code, length = _OPTION.unpack_from(data, at)
        if code == 0:
            break
        found[code] = data[at + _OPTION.size : at + _OPTION.size + length]
        at += _OPTION.size + (length + 3) // 4 * 4
    return found


def packets(file: Path) -> Iterator[Passed]:
    """In the file's order. Raises PcapngError."""
    names: list[str] = []
    with file.open("rb") as stream:
        while header := stream.read(_BLOCK.size):
            kind, size = _BLOCK.unpack(header.ljust(_BLOCK.size, b"\0"))
            body = stream.read(size - _BLOCK.size) if size >= 12 else b""
            if size < 12 or len(body) != size - _BLOCK.size:
                raise PcapngError(f"{file}: a block is cut short")
            body = body[:-4]
            if kind == _SECTION:
                if body[:4] != b"\x4d\x3c\x2b\x1a":
                    raise PcapngError(f"{file}: not a capture of the card")
            elif kind == _INTERFACE:
                names.append(_options(body[8:]).get(_NAME, b"").decode())
            elif kind == _FRAME:
                index, high, low, length, _ = _PACKET.unpack_from(body)
                after = _PACKET.size + (length + 3) // 4 * 4
                flags = int.from_bytes(_options(body[after:]).get(_FLAGS, b""), "little")
                data = body[_PACKET.size : _PACKET.size + length]
                yield Passed(names[index], high << 32 | low, flags & 3 == _INBOUND, data)
