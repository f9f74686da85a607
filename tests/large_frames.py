# SPDX-License-Identifier: Apache-2.0
"""Frames of TCP and UDP that are larger than the wire takes, for a card that cuts them into segments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

TCP, UDP = 6, 17
MOST = 65_535
ETHERNET = 12  # its addresses


@dataclass(frozen=True)
class Large:
    """head: addresses, and a tag if there is one. options: bytes in words of 32 bits, of IPv4 and of TCP."""

    head: bytes
    payload: bytes
    version: int = 4
    protocol: int = TCP
    ip_options: bytes = b""
    tcp_options: bytes = b""
    flags: int = 0x10  # of TCP
    identification: int = 0
    sequence: int = 0
    traffic: bytes = bytes(64)  # addresses and all else that no part of the card looks at

    @property
    def l4_at(self) -> int:
        return len(self.head) + 2 + (20 + len(self.ip_options) if self.version == 4 else 40)

    @property
    def payload_at(self) -> int:
        return self.l4_at + (20 + len(self.tcp_options) if self.protocol == TCP else 8)

    def frame(self) -> bytes:
        """Checksums and the length of UDP are those of `traffic`, as they do not matter."""
        some, l4 = self.traffic, self._l4()
        if self.version == 4:
            total = 20 + len(self.ip_options) + len(l4)
            ip = bytes([0x45 + len(self.ip_options) // 4, some[0]]) + _word(total) + _word(self.identification)
            ip += b"\x40\0" + bytes([some[1], self.protocol]) + some[2:4] + some[4:12] + self.ip_options
            return self.head + b"\x08\0" + ip + l4
        ip = bytes([0x60 | some[0] & 15]) + some[1:4] + _word(len(l4)) + bytes([self.protocol, some[12]]) + some[13:45]
        return self.head + b"\x86\xdd" + ip + l4

    def _l4(self) -> bytes:
        ports, rest = self.traffic[45:49], self.traffic[49:64]
        if self.protocol == UDP:
            return ports + rest[:4] + self.payload
        size = 5 + len(self.tcp_options) // 4
        header = ports + self.sequence.to_bytes(4, "big") + rest[:4] + bytes([size << 4 | rest[4] & 15, self.flags])
        return header + rest[5:11] + self.tcp_options + self.payload


def _word(value: int) -> bytes:
    return value.to_bytes(2, "big")


def large(random: Random, head: bytes, payload: int) -> Large:
    """With so many bytes of payload, or as many as its headers leave room for."""
    version, protocol = random.choice((4, 4, 6)), random.choice((TCP, TCP, UDP))
    ip_options = random.randbytes(4 * random.choice((0, 0, 0, 1, random.randrange(11))) if version == 4 else 0)
    tcp_options = random.randbytes(4 * random.choice((0, 3, 3, random.randrange(11))) if protocol == TCP else 0)
    made = Large(
        head,
        b"",
        version,
        protocol,
        ip_options,
        tcp_options,
        random.choice((0x10, 0x18, 0x19, 0x99, random.randrange(256))),
        random.choice((0, 0xFFFF, random.getrandbits(16))),
        random.choice((0, 0xFFFFF000, random.getrandbits(32))),
        random.randbytes(64),
    )
    # The descriptor and IPv4's length have the same limit, and the Ethernet header is in the former alone.
    return replace(made, payload=random.randbytes(min(payload, MOST - made.payload_at)))


def segment_bytes(random: Random) -> int:
    """What a descriptor asks for: mostly as much as the wire takes."""
    return random.choice((256, 257, 288, 536, 1428, 1448, 1460, random.randint(256, 8191), random.randint(256, 2000)))


def payload_bytes(random: Random, size: int, most: int) -> int:
    """For segments of that size: a few of them, or many, and often a last one that is nearly full or nearly empty."""
    kind = random.random()
    whole = size * random.randint(0, 6 if kind < 0.9 else MOST // size)
    rest = random.choice((1, 2, size - 1, size, random.randint(1, size)))
    return min(whole + rest, most)


def spoilt(random: Random, one: Large) -> bytes:
    """The frame with something that no card can cut, or that is not as its headers say."""
    frame = bytearray(one.frame())
    ip, kind = len(one.head) + 2, random.randrange(8)
    if kind == 0:  # the length of the packet
        at = ip + (2 if one.version == 4 else 4)
        length = int.from_bytes(frame[at : at + 2], "big") + random.choice((-1, 1, -300, 300, -(1 << 15), 1 << 15))
        frame[at : at + 2] = (length & 0xFFFF).to_bytes(2, "big")
    elif kind == 1:  # a fragment, or over IPv6 another protocol
        frame[ip + 6] ^= 1 << random.randrange(6)
    elif kind == 2:  # the protocol
        frame[ip + (9 if one.version == 4 else 6)] = random.choice((0, 1, 44, 47, 58, random.randrange(256)))
    elif kind == 3:  # the version, or how long a header is
        at = ip if one.protocol == UDP else random.choice((ip, one.l4_at + 12))
        frame[at] = random.randrange(256)
    elif kind == 4:  # the frame ends early
        del frame[random.randrange(len(frame)) :]
    elif kind == 5:  # or within its headers, or with them
        del frame[max(0, one.payload_at - random.choice((0, 1, 2, 8, 20, 40, 60))) :]
    elif kind == 6:  # bytes behind the packet
        frame += random.randbytes(min(random.choice((1, 4, 31, 32, 64, 200)), MOST - len(frame)))
    else:  # its type
        frame[ip - 2 : ip] = random.choice((b"\x08\0", b"\x86\xdd", b"\x08\x06", b"\x81\0", b"\x88\xa8"))
    return bytes(frame)
