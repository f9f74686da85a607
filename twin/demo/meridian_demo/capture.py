# SPDX-License-Identifier: Apache-2.0
"""Reads captures (pcap and pcapng, through dpkt) and writes pcaps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import dpkt

ETHERNET = 1
MIN_FRAME = 60
LONGEST = 65535  # of a frame the MAC model sends; captures of a segmenting sender have longer ones


class CaptureError(Exception):
    """A file that cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Frame:
    data: bytes
    source: str  # name of the capture it comes from


@dataclass
class Capture:
    frames: list[Frame]
    padded: int = 0  # captured by their sender before its MAC padded them: padded again, as on the wire
    skipped: int = 0  # empty records, and those longer than any frame


def _check_length(file: Path, data: bytes) -> None:
    """Finds a record cut short: dpkt reads what is there of it and would not tell."""
    if len(data) < 24:
        raise CaptureError(f"{file}: {len(data)} bytes are too few for a capture; is the file complete?")
    little = data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1")
    big = data[:4] in (b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d")
    if not little and not big:
        if data[:4] == b"\x0a\x0d\x0d\x0a":
            return  # pcapng: blocks carry their length twice, dpkt checks
        raise CaptureError(f"{file}: not a pcap or pcapng file (it starts with {data[:4].hex(' ')})")
    order = "little" if little else "big"
    position = 24
    while position < len(data):
        length = int.from_bytes(data[position + 8 : position + 12], order)
        if position + 16 + length > len(data):
            raise CaptureError(
                f"{file}: truncated: the record at byte {position} ends beyond the file; capture it again"
            )
        position += 16 + length


def read(file: Path) -> Capture:
    """All Ethernet frames of a capture, padded to the Ethernet minimum as the wire had them."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CaptureError(f"{file}: cannot be read: {error.strerror}") from error
    _check_length(file, data)
    capture = Capture([])
    try:
        with file.open("rb") as stream:
            reader = dpkt.pcap.UniversalReader(stream)
            if reader.datalink() != ETHERNET:
                raise CaptureError(f"{file}: link type {reader.datalink()} is not Ethernet (1)")
            for _, record in reader:
                if not 0 < len(record) <= LONGEST:
                    capture.skipped += 1
                    continue
                if len(record) < MIN_FRAME:
                    capture.padded += 1
                capture.frames.append(Frame(bytes(record).ljust(MIN_FRAME, b"\0"), file.name))
    except (ValueError, dpkt.Error, EOFError, IndexError) as error:
        raise CaptureError(f"{file}: not a capture that can be read: {error or type(error).__name__}") from error
    if not capture.frames:
        raise CaptureError(f"{file}: no frame in it")
    return capture


def write(file: Path, frames: Iterable[tuple[int, bytes]]) -> int:
    """Writes (time in ps, frame) as a nanosecond pcap; returns how many."""
    count = 0
    with file.open("wb") as stream:
        writer = dpkt.pcap.Writer(stream, snaplen=65535, linktype=ETHERNET, nano=True)
        for time_ps, frame in frames:
            writer.writepkt(frame, ts=time_ps / 1e12)
            count += 1
    return count
