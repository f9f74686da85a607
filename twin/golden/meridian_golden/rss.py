# SPDX-License-Identifier: Apache-2.0
"""Receive-side scaling in OpenNIC's bit order (open-nic-shell's hash as built), and in Microsoft's."""

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
IPV6 = 0x86DD
L4_NAMES = {6: "tcp", 17: "udp"}


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


#: Kinds of packets of which Microsoft's order may leave out fields, in the order of their bits.
WITH_PORTS = ("ipv4_tcp", "ipv4_udp", "ipv6_tcp", "ipv6_udp")


def hash_type(frame: bytes, order: int = 0) -> str:
    """What the hash is made over: ports count only where TCP or UDP has some and the packet is no fragment.

    order: as the function's register has it.
    """
    kind = _packet_type(frame, bool(order & 1))
    return kind[:4] if order & 1 and _left_out(kind, order) >> 2 == 3 else kind


def _left_out(kind: str, order: int) -> int:
    """Fields that Microsoft's order leaves out of such a packet: addresses, then ports."""
    return order >> 16 + 4 * WITH_PORTS.index(kind) & 15 if kind in WITH_PORTS else 0


def _packet_type(frame: bytes, ipv6: bool) -> str:
    header = parse(frame)
    if header.ethertype == IPV6 and ipv6:
        l4 = L4_NAMES.get(frame[header.payload_offset + 6])
        return f"ipv6_{l4}" if l4 and len(frame) >= header.payload_offset + 44 else "ipv6"
    if header.ethertype != IPV4:
        return "none"
    ip = frame[header.payload_offset :].ljust(64, b"\0")
    words = ip[0] & 0xF
    fragment = int.from_bytes(ip[6:8], "big") & 0x3FFF
    whole = words >= 5 and not fragment and len(frame) >= header.payload_offset + 4 * words + 4
    return f"ipv4_{L4_NAMES[ip[9]]}" if whole and ip[9] in L4_NAMES else "ipv4"


def _pair(data: bytes, left_out: int, symmetric: int) -> bytes:
    """Source and destination, or what is taken of both so that each direction gives the same."""
    size = len(data) // 2
    halves = [bytes(size) if left_out >> n & 1 else data[n * size : (n + 1) * size] for n in range(2)]
    data = b"".join(halves)
    if not symmetric:
        return data
    source, destination = int.from_bytes(data[:size], "big"), int.from_bytes(data[size:], "big")
    first = source ^ destination if symmetric == 1 else source | destination
    return first.to_bytes(size, "big") + (source ^ destination).to_bytes(size, "big")


def microsoft_input(frame: bytes, order: int = 1) -> bytes:
    """Addresses and, of TCP and UDP, ports."""
    kind = hash_type(frame, order)
    if kind == "none":
        return b""
    ip = frame[parse(frame).payload_offset :]
    v4 = kind.startswith("ipv4")
    behind = 4 * (ip[0] & 15) if v4 else 40
    symmetric, left_out = order >> 1 & 3, _left_out(_packet_type(frame, True), order)
    ports = _pair(ip[behind : behind + 4], left_out >> 2, symmetric) if "_" in kind else b""
    return _pair(ip[12:20] if v4 else ip[8:40], left_out, symmetric) + ports


def toeplitz(data: bytes, key: bytes) -> int:
    """As Microsoft documents it: the window of the key moves on by a bit for each bit of the data, first bit first."""
    number, bits, result = int.from_bytes(key, "big"), 8 * len(key), 0
    for i in range(8 * len(data)):
        if data[i // 8] >> (7 - i % 8) & 1:
            result ^= number >> (bits - 32 - i) & 0xFFFFFFFF
    return result


@cache
def _number(key: tuple[int, ...]) -> int:
    return sum(word << 32 * i for i, word in enumerate(key))


def rss_hash(frame: bytes, key: tuple[int, ...] = DEFAULT_KEY, order: int = 0) -> int:
    """32-bit hash of a frame. order: as the function's register has it."""
    if order & 1:
        return toeplitz(microsoft_input(frame, order), b"".join(word.to_bytes(4, "little") for word in key))
    number = _number(key)
    result = 0
    for i, bit in enumerate(hash_input(frame)):
        if bit:
            result ^= number >> i & 0xFFFFFFFF
    return result
