# SPDX-License-Identifier: Apache-2.0
"""Receive-side scaling in OpenNIC's bit order (open-nic-shell's hash as built, not Microsoft's order)."""

from __future__ import annotations

from functools import cache

from .frame import parse

#: Key after reset, word 0 the least significant (OpenNIC's default).
DEFAULT_KEY = (
    0xD6E31417,
    0x376CC87E,
    0x011BA7A6,
    0xDC1B91BB,
    0x7872E224,
    0xBFD0404B,
    0x260374B8,
    0xD9270F6F,
    0x18DC4386,
    0x7C9C37DE,
)
IPV4 = 0x0800


def _bits(data: bytes) -> list[int]:
    """Least significant bit of each byte first, bytes in wire order."""
    return [byte >> i & 1 for byte in data for i in range(8)]


def hash_input(frame: bytes) -> list[int]:
    """108 bits: VLAN nibble, protocol, source, destination, source port, destination port.

    A field that is not there is 0: all but the nibble without IPv4, the ports of a header below 5 words.
    """
    header = parse(frame)
    vlan = _bits(bytes([header.tci >> 8 & 0xF]))[:4] if header.tagged else [0] * 4
    if header.ethertype != IPV4:
        return vlan + [0] * 104
    ip = frame[header.payload_offset :].ljust(64, b"\0")
    words = ip[0] & 0xF
    ports = ip[4 * words :][:4].ljust(4, b"\0") if words >= 5 else bytes(4)
    return vlan + _bits(ip[9:10] + ip[12:20] + ports)


def hash_type(frame: bytes) -> str:
    """What the hash is made over: ports count only where TCP or UDP has some and the packet is no fragment."""
    header = parse(frame)
    if header.ethertype != IPV4:
        return "none"
    ip = frame[header.payload_offset :].ljust(64, b"\0")
    words = ip[0] & 0xF
    fragment = int.from_bytes(ip[6:8], "big") & 0x3FFF
    whole = words >= 5 and not fragment and len(frame) >= header.payload_offset + 4 * words + 4
    return {6: "ipv4_tcp", 17: "ipv4_udp"}.get(ip[9], "ipv4") if whole else "ipv4"


@cache
def _number(key: tuple[int, ...]) -> int:
    return sum(word << 32 * i for i, word in enumerate(key))


def rss_hash(frame: bytes, key: tuple[int, ...] = DEFAULT_KEY) -> int:
    """32-bit hash of a frame."""
    number = _number(key)
    result = 0
    for i, bit in enumerate(hash_input(frame)):
        if bit:
            result ^= number >> i & 0xFFFFFFFF
    return result
