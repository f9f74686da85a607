# SPDX-License-Identifier: Apache-2.0
"""TCP and UDP packets that the small host at the other end of the wire sends, over IPv4 and IPv6."""

from __future__ import annotations

import struct
from ipaddress import ip_address

from meridian_machine.guest import HERE, PEER
from peer import checksum, ipv4

IPV6, TCP, UDP = 0x86DD, 6, 17
HERE6, PEER6 = "fd00::2", "fd00::1"
BODY = bytes(range(256)) * 2  # frame_tool counts no shorter ones


def segment(protocol: int, of: str, to: str, source: int = 1000) -> bytes:
    """TCP or UDP with a good checksum."""
    if protocol == UDP:
        head = struct.pack("!HHHH", source, 9, 8 + len(BODY), 0)
    else:
        head = struct.pack("!HHIIBBHHH", source, 9, 1, 0, 0x50, 0x10, 1000, 0, 0)
    addresses = ip_address(of).packed + ip_address(to).packed
    total = checksum(addresses + struct.pack("!II", len(head + BODY), protocol) + head + BODY)
    at = 6 if protocol == UDP else 16
    return head[:at] + total.to_bytes(2, "big") + head[at + 2 :] + BODY


def packet(protocol: int, version: int = 4, source: int = 1000) -> bytes:
    """An IP packet of the small host."""
    if version == 4:
        return ipv4(PEER, HERE, protocol, segment(protocol, PEER, HERE, source))
    payload = segment(protocol, PEER6, HERE6, source)
    addresses = ip_address(PEER6).packed + ip_address(HERE6).packed
    return struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64) + addresses + payload
