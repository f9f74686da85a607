# SPDX-License-Identifier: Apache-2.0
"""XDP programs in the machine, and what they find out of frames."""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from driver_machine import Link
from peer import IPV4, ethernet
from peer_packets import IPV6, TCP, UDP, packet

NO_DATA = -61
#: What Linux calls the type of a hash: bits for IPv4, IPv6, "with ports", TCP, UDP.
HASH_TYPES = {
    (UDP, 4): 0x29,
    (TCP, 4): 0x19,
    (UDP, 6): 0x2A,
    (TCP, 6): 0x1A,
    (99, 4): 0x01,
}


@contextmanager
def program(link: Link, words: str) -> Iterator[None]:
    """xdp_tool with these words, on eth0."""
    guest = link.guest
    guest.run(f": >/tmp/xdp; /run/twin/xdp_tool eth0 {words} >>/tmp/xdp 2>&1 & echo $! >/tmp/xdp.pid")
    said = guest.until("cat /tmp/xdp", r"\n")
    assert said.startswith("attached\n"), said
    try:
        yield
    finally:
        guest.run("kill $(cat /tmp/xdp.pid); while [ -e /proc/$(cat /tmp/xdp.pid) ]; do sleep 0.05; done")


@dataclass(frozen=True)
class Found:
    """What a program is told of a frame: value, or error. hash: with its type. tag: protocol and TCI."""

    hash: tuple[int, int] | None
    tag: tuple[int, int] | None


def hash_key(link: Link) -> tuple[int, ...]:
    text = re.search(r"RSS hash key:\n(\S+)", link.guest.run("ethtool -x eth0"))
    assert text
    return struct.unpack("<10I", bytes.fromhex(text[1].replace(":", "")))


def frame_of(link: Link, protocol: int, version: int, vid: int | None = None, spare: int = 0) -> bytes:
    """A frame of the small host. spare: bytes behind the IP packet."""
    kind = IPV4 if version == 4 else IPV6
    frame = ethernet(
        link.guest.address(),
        link.peer.mac,
        kind,
        packet(protocol, version) + bytes(spare),
    )
    return frame if vid is None else frame[:12] + b"\x81\x00" + vid.to_bytes(2, "big") + frame[12:]


def look_at(link: Link, frame: bytes, length: int) -> Found:
    """What the program "look" is told of a frame that comes to it with this length, as none before has."""
    line = rf"^bytes={length} hash=(-?\d+),(\w+),(\w+) tag=(-?\d+),(\w+),(\d+)$"
    deadline = link.guest.deadline(20)
    link.guest.run(": >/tmp/xdp")
    while not (found := re.search(line, text := link.guest.run("cat /tmp/xdp"), re.MULTILINE)):
        assert time.monotonic() < deadline, text
        link.peer.wire.send(frame)
        time.sleep(0.2)
    error, hash, kind, tag_error, protocol, tci = found.groups()
    assert int(error) in (0, NO_DATA)
    assert int(tag_error) in (0, NO_DATA)
    return Found(
        (int(hash, 16), int(kind, 16)) if error == "0" else None,
        (int(protocol, 16), int(tci)) if tag_error == "0" else None,
    )
