# SPDX-License-Identifier: Apache-2.0
"""Capture files of every kind that the readers know, made byte by byte: also the corpus of their fuzzers."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

ETHERNET, RAW_IP = 1, 101


@dataclass(frozen=True)
class Kept:
    """A frame on the wire. keep: bytes that the capture kept, all of them without it."""

    data: bytes
    keep: int | None = None
    interface: int = 0
    time_ns: int = 0

    @property
    def kept(self) -> bytes:
        return self.data[: self.keep]


def pcap(
    frames: Iterable[Kept],
    order: str = "<",
    nano: bool = False,
    link_type: int = ETHERNET,
    version: tuple[int, int] = (2, 4),
) -> bytes:
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    content = struct.pack(order + "IHHIIII", magic, *version, 0, 0, 65535, link_type)
    for frame in frames:
        seconds, rest = divmod(frame.time_ns, 10**9)
        fraction = rest if nano else rest // 1000
        content += struct.pack(order + "IIII", seconds, fraction, len(frame.kept), len(frame.data)) + frame.kept
    return content


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: str = "<", major: int = 1) -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, major, 0, -1), order)


def interface(link_type: int = ETHERNET, snap: int = 0, order: str = "<", options: bytes = b"") -> bytes:
    return block(1, struct.pack(order + "HHI", link_type, 0, snap) + options, order)


def packet(frame: Kept, order: str = "<", options: bytes = b"") -> bytes:
    time = divmod(frame.time_ns // 1000, 1 << 32)
    head = struct.pack(order + "IIIII", frame.interface, *time, len(frame.kept), len(frame.data))
    return block(6, head + frame.kept + bytes(-len(frame.kept) % 4) + options, order)


def flags(value: int, order: str = "<") -> bytes:
    """Of a packet, with the option that ends the list."""
    return option(2, struct.pack(order + "I", value), order) + option(0, b"", order)


def simple_packet(frame: Kept, order: str = "<") -> bytes:
    """Of the first interface, whose snap length says how much is there."""
    return block(3, struct.pack(order + "I", len(frame.data)) + frame.kept, order)


def pcapng(
    frames: Iterable[Kept], link_types: Iterable[int] = (ETHERNET,), order: str = "<", between: bytes = b""
) -> bytes:
    """between: a block that stands before each frame."""
    content = section(order) + b"".join(interface(link_type, 0, order) for link_type in link_types)
    return content + b"".join(between + packet(frame, order) for frame in frames)


UNKNOWN = block(0x0BAD0BAD, b"nobody knows this block")


def corpus() -> dict[str, bytes]:
    """By name; each holds the frames 'a' and 'b' of 60 and 1,514 bytes."""
    both = [Kept(b"a" * 60, time_ns=2_000_000_000), Kept(b"b" * 1514, time_ns=1_000)]
    return {
        **{f"pcap{order}{nano}": pcap(both, order, nano) for order in "<>" for nano in (False, True)},
        "pcapng<": pcapng(both),
        "pcapng>": pcapng(both, order=">"),
        "unknown blocks": pcapng(both, between=UNKNOWN),
        "several interfaces": pcapng(
            [both[0], Kept(b"x" * 40, interface=1), both[1]], link_types=(ETHERNET, RAW_IP, ETHERNET)
        ),
        "two sections": pcapng(both[:1]) + pcapng(both[1:], order=">"),
        "simple packets": section() + interface(snap=2000) + b"".join(map(simple_packet, both)),
    }
