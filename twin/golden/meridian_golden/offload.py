# SPDX-License-Identifier: Apache-2.0
"""What a frame of the host may ask the shell to do with it, and what then becomes of it."""

from __future__ import annotations

from dataclasses import dataclass

from .checksum import IPV4, IPV6, TCP, UDP, ones_sum
from .frame import parse

CHECKSUM_OF_IP = 10
CHECKSUM_OF = {TCP: 16, UDP: 6}
SHORTEST = {TCP: 20, UDP: 8}


@dataclass(frozen=True)
class Request:
    """vlan: control information of a tag; ip, l4: fill in the checksum of the IPv4 header, of TCP or UDP; segment_bytes:
    cut it into segments with so much payload, if it is not 0; inner: all that is about the packet that begins there, in
    a tunnel."""

    vlan: int | None = None
    ip: bool = False
    l4: bool = False
    segment_bytes: int = 0
    inner: int | None = None


def request_of(metadata: int) -> Request:
    """What the first 32 bits of a descriptor ask for."""
    vlan = metadata & 0xFFFF if metadata >> 16 & 1 else None
    inner = metadata & 0xFF if metadata & 0xFFFF and vlan is None else None
    return Request(vlan, bool(metadata >> 17 & 1), bool(metadata >> 18 & 1), metadata >> 19 & 0x1FFF, inner)


def filled(frame: bytes, request: Request) -> tuple[bytes, bool]:
    """The frame with the checksums asked for, and whether one is not filled in as there is no place for it."""
    start = parse(frame).payload_offset
    data, end = bytearray(frame), len(frame)
    ethertype, packet = parse(frame).ethertype, frame[start:]
    ip_done = l4_done = False
    if ethertype == IPV4 and len(packet) >= 20:
        size, total = 4 * (packet[0] & 15), int.from_bytes(packet[2:4], "big")
        if packet[0] >> 4 == 4 and 20 <= size <= total <= len(packet):
            end = start + total
            if request.ip:
                ip_done = _put(data, start, start + size, CHECKSUM_OF_IP, b"", False)
            if request.l4 and not int.from_bytes(packet[6:8], "big") & 0x3FFF:
                l4_done = _l4(data, start + size, end, packet[9], packet[12:20])
    elif ethertype == IPV6 and len(packet) >= 40:
        end = start + 40 + int.from_bytes(packet[4:6], "big")
        if packet[0] >> 4 == 6 and end <= len(frame) and request.l4:
            l4_done = _l4(data, start + 40, end, packet[6], packet[8:40])
    return bytes(data), (request.ip and not ip_done) or (request.l4 and not l4_done)


def _l4(data: bytearray, start: int, end: int, protocol: int, addresses: bytes) -> bool:
    length = end - start
    if protocol not in CHECKSUM_OF or length < SHORTEST[protocol]:
        return False
    if protocol == UDP and int.from_bytes(data[start + 4 : start + 6], "big") != length:
        return False
    pseudo = addresses + protocol.to_bytes(2, "big") + length.to_bytes(2, "big")
    return _put(data, start, end, CHECKSUM_OF[protocol], pseudo, protocol == UDP)


def _put(data: bytearray, start: int, end: int, field: int, before: bytes, never_zero: bool) -> bool:
    """The checksum over what comes before and data[start:end] into its field there."""
    at = start + field
    data[at : at + 2] = bytes(2)
    value = 0xFFFF - ones_sum(before + bytes(data[start:end]))
    data[at : at + 2] = (0xFFFF if never_zero and not value else value).to_bytes(2, "big")
    return True
