# SPDX-License-Identifier: Apache-2.0
"""Frames with a packet in a tunnel: VXLAN (RFC 7348), GENEVE (8926), GRE (2784), IP in IP (2003, 2473)."""

from __future__ import annotations

from random import Random

from large_frames import Large
from meridian_golden.checksum import ones_sum

KINDS = ("vxlan", "geneve", "gre", "ip")
GENEVE_OPTIONS = 40
UDP, GRE = 17, 47
IP_IN_IP = {4: 4, 6: 41}


def outer_headers(
    random: Random, head: bytes, one: Large, size: int, kind: str | None = None, version: int = 0
) -> bytes:
    """What Linux writes before a packet that a card is to cut into segments with size bytes: lengths are those of one.

    head: addresses, and a tag if there is one. version: of the outer IP, either by default.
    """
    kind, version = kind or random.choice(KINDS), version or random.choice((4, 6))
    ethertype = b"\x08\0" if one.version == 4 else b"\x86\xdd"
    packet = one.payload_at - len(one.head) - 2 + min(size or len(one.payload), len(one.payload))
    inside, protocol = b"", UDP
    if kind == "gre":
        inside, protocol = b"\0\0" + ethertype, GRE
    elif kind == "ip":
        protocol = IP_IN_IP[one.version]
    else:
        options = random.randbytes(4 * random.randrange(GENEVE_OPTIONS // 4 + 1)) if kind == "geneve" else b""
        ethernet = random.randbytes(12) + ethertype
        header = bytes([len(options) // 4]) + random.randbytes(7) + options
        length = 8 + len(header) + len(ethernet) + packet
        inside = random.randbytes(4) + length.to_bytes(2, "big") + b"\0\0" + header + ethernet
    if version == 6:
        length = len(inside) + packet
        ip = b"\x60" + random.randbytes(3) + length.to_bytes(2, "big") + bytes([protocol, 64]) + random.randbytes(32)
        return head + b"\x86\xdd" + ip + inside
    number = random.choice((0xFFFF, random.getrandbits(16)))
    ip = b"\x45\0" + (20 + len(inside) + packet).to_bytes(2, "big") + number.to_bytes(2, "big")
    ip += random.choice((b"\0\0", b"\x40\0")) + bytes([64, protocol, 0, 0]) + random.randbytes(8)
    checksum = (0xFFFF - ones_sum(ip)).to_bytes(2, "big")
    return head + b"\x08\0" + ip[:10] + checksum + ip[12:] + inside


def in_tunnel(headers: bytes, one: Large) -> bytes:
    return headers + one.frame()[len(one.head) + 2 :]
