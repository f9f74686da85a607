# SPDX-License-Identifier: Apache-2.0
"""Verdicts on the Internet checksums (RFC 1071) of a received frame."""

from __future__ import annotations

from dataclasses import dataclass

from .frame import parse

IPV4, IPV6 = 0x0800, 0x86DD
TCP, UDP = 6, 17
NOT_CHECKED, GOOD, BAD = "not_checked", "good", "bad"


@dataclass(frozen=True)
class Checksums:
    """Of the IPv4 header and of TCP or UDP: not_checked, good or bad; kind: tcp, udp or other."""

    ip: str = NOT_CHECKED
    l4: str = NOT_CHECKED
    kind: str = "other"


def ones_sum(data: bytes) -> int:
    """Ones' complement sum of 16-bit words; of an odd number of bytes, a zero follows."""
    padded = data + bytes(len(data) % 2)
    total = sum(padded[::2]) * 256 + sum(padded[1::2])
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def checksums(frame: bytes) -> Checksums:
    """Nothing is checked of a packet whose lengths contradict each other or the frame, or that is a fragment."""
    header = parse(frame)
    packet = frame[header.payload_offset :]
    if header.ethertype == IPV4:
        return _ipv4(packet)
    if header.ethertype == IPV6:
        return _ipv6(packet)
    return Checksums()


def _ipv4(packet: bytes) -> Checksums:
    size, total = 4 * (packet[0] & 15), int.from_bytes(packet[2:4], "big")
    if packet[0] >> 4 != 4 or size < 20 or not size <= total <= len(packet):
        return Checksums()
    ip = GOOD if ones_sum(packet[:size]) == 0xFFFF else BAD
    more_or_offset = int.from_bytes(packet[6:8], "big") & 0x3FFF
    if more_or_offset:
        return Checksums(ip)
    return Checksums(ip, *_l4(packet[9], packet[12:20], packet[size:total]))


def _ipv6(packet: bytes) -> Checksums:
    length = int.from_bytes(packet[4:6], "big")
    if packet[0] >> 4 != 6 or 40 + length > len(packet):
        return Checksums()
    return Checksums(NOT_CHECKED, *_l4(packet[6], packet[8:40], packet[40 : 40 + length]))


def _l4(protocol: int, addresses: bytes, segment: bytes) -> tuple[str, str]:
    if protocol not in (TCP, UDP):
        return NOT_CHECKED, "other"
    kind = "tcp" if protocol == TCP else "udp"
    checked = len(segment) >= 20
    if protocol == UDP:
        checked = len(segment) >= 8 and int.from_bytes(segment[4:6], "big") == len(segment) and any(segment[6:8])
    if not checked:
        return NOT_CHECKED, kind
    pseudo = addresses + protocol.to_bytes(2, "big") + len(segment).to_bytes(2, "big")
    return GOOD if ones_sum(pseudo + segment) == 0xFFFF else BAD, kind
