# SPDX-License-Identifier: Apache-2.0
"""What the card does to frames whose descriptors ask about the packet in a tunnel: its outer headers are off meanwhile."""

from __future__ import annotations

from .checksum import IPV4, IPV6, ones_sum
from .frame import parse

#: Where an inner packet may begin, behind an even number of bytes.
LEAST, MOST = 34, 128
ADDRESSES = 12
HEADER = ADDRESSES + 2


def may_begin(start: int) -> bool:
    return LEAST <= start <= MOST and start % 2 == 0


def inner_frame(frame: bytes, start: int) -> bytes:
    """The packet with an Ethernet header of its type, as its version says."""
    packet = frame[start:]
    ethertype = {4: IPV4, 6: IPV6}.get(packet[0] >> 4, 0)
    return bytes(ADDRESSES) + ethertype.to_bytes(2, "big") + packet


def outer_frame(frame: bytes, start: int, made: bytes, number: int = 0) -> bytes:
    """What was made of the inner frame, behind the outer headers.

    number: of segments before it. An outer identification of IPv4 counts them, and the checksum is right if it was.
    """
    headers = bytearray(frame[:start])
    header = parse(frame)
    if number and header.ethertype == IPV4:
        at = header.payload_offset
        before = int.from_bytes(headers[at + 4 : at + 6], "big")
        after = (before + number) & 0xFFFF
        # RFC 1624, eqn. 3: what goes is taken from the sum that the checksum stands for, and what comes is added.
        words = [int.from_bytes(headers[at + 10 : at + 12], "big") ^ 0xFFFF, before ^ 0xFFFF, after]
        checksum = ones_sum(b"".join(word.to_bytes(2, "big") for word in words)) ^ 0xFFFF
        headers[at + 4 : at + 6] = after.to_bytes(2, "big")
        headers[at + 10 : at + 12] = checksum.to_bytes(2, "big")
    return bytes(headers) + made[HEADER:]
