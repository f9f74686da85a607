# SPDX-License-Identifier: Apache-2.0
"""Messages of PTP (IEEE 1588-2019, clause 13) in Ethernet frames, as far as tests of timestamps need them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

ETHERTYPE = 0x88F7
GENERAL = bytes.fromhex("011b19000000")
SYNC, DELAY_REQ, FOLLOW_UP, DELAY_RESP = 0, 1, 8, 9
SECOND = 1_000_000_000
_HEADER = struct.Struct("!BBHBBHq4x10sHBb")
_STAMP = struct.Struct("!HII")


@dataclass(frozen=True)
class PtpMessage:
    """time_ns: the timestamp behind its header, nanoseconds since the epoch."""

    kind: int
    port: bytes
    sequence: int
    time_ns: int


def parse(frame: bytes) -> PtpMessage | None:
    """None if the frame is no message, or one without a timestamp."""
    if int.from_bytes(frame[12:14], "big") != ETHERTYPE or len(frame) < 58:
        return None
    fields = _HEADER.unpack_from(frame, 14)
    high, low, nanoseconds = _STAMP.unpack_from(frame, 14 + _HEADER.size)
    return PtpMessage(fields[0] & 15, fields[7], fields[8], SECOND * (high << 32 | low) + nanoseconds)


def delay_req(source: bytes, sequence: int) -> bytes:
    """A frame with a Delay_Req of the clock with this MAC address."""
    identity = source[:3] + b"\xff\xfe" + source[3:] + b"\0\1"
    message = _HEADER.pack(DELAY_REQ, 2, 44, 0, 0, 0, 0, identity, sequence, 1, 0x7F) + bytes(10)
    return (GENERAL + source + ETHERTYPE.to_bytes(2, "big") + message).ljust(60, b"\0")
