# SPDX-License-Identifier: Apache-2.0
"""Frames that a program of DPDK asks a card to cut or to complete, and what is then on the wire."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

from large_frames import TCP, UDP, Large, large
from meridian_golden.frame import with_tag
from meridian_golden.offload import Request, filled
from meridian_golden.segments import segments_of
from meridian_golden.shell import padded

# Flags of an mbuf.
TX_CKSUM = {TCP: 1 << 52, UDP: 3 << 52}
TX_UDP_SEG, TX_TCP_SEG, TX_IP_CKSUM, TX_IPV4, TX_IPV6, TX_VLAN = (1 << n for n in (42, 50, 54, 55, 56, 57))
WANTED = struct.Struct("=QIHHHHHH")


class Sent(Protocol):
    """A frame as segment_test reads it from a file, and what is on the wire of it."""

    @property
    def wanted(self) -> bytes: ...

    def due(self) -> list[bytes]: ...


@dataclass(frozen=True)
class Cut:
    """size: bytes of payload in a segment. pieces: of memory. vlan: control information of a tag that the card is to put
    in. data: of the frame, if it is not as it should be."""

    frame: Large
    size: int
    pieces: int = 1
    vlan: int | None = None
    data: bytes | None = None

    @property
    def wanted(self) -> bytes:
        """As host-driver/dpdk/test/segment_test.c reads it from a file. The length in the header of IP is 0."""
        frame, data, l2 = self.frame, bytearray(self.data or self.frame.frame()), len(self.frame.head) + 2
        length = l2 + (2 if frame.version == 4 else 4)
        data[length : length + 2] = bytes(2)
        flags = TX_TCP_SEG if frame.protocol == TCP else TX_UDP_SEG
        flags |= TX_IPV4 | TX_IP_CKSUM if frame.version == 4 else TX_IPV6
        flags |= 0 if self.vlan is None else TX_VLAN
        sizes = (self.size, l2, frame.l4_at - l2, frame.payload_at - frame.l4_at)
        return WANTED.pack(flags, len(data), *sizes, self.vlan or 0, self.pieces) + data

    def due(self) -> list[bytes]:
        """What is on the wire."""
        checksums = Request(ip=self.frame.version == 4, l4=True)
        frames = []
        for segment in segments_of(self.frame.frame(), self.size):
            assert segment.data is not None and not segment.error
            data, is_skipped = filled(segment.data, checksums)
            assert not is_skipped
            frames.append(padded(data if self.vlan is None else with_tag(data, self.vlan)))
        return frames


@dataclass(frozen=True)
class Whole:
    """A frame that is not to be cut. checksums: the card is to fill them in, or they are wrong on the wire."""

    frame: Large
    pieces: int = 1
    vlan: int | None = None
    checksums: bool = False

    @property
    def data(self) -> bytes:
        data, at = bytearray(whole(self.frame)), self.frame.l4_at
        for place in (at + (16 if self.frame.protocol == TCP else 6), *([at - 10] if self.frame.version == 4 else [])):
            data[place] ^= 0x55
        return bytes(data)

    @property
    def wanted(self) -> bytes:
        frame, l2 = self.frame, len(self.frame.head) + 2
        flags = 0 if self.vlan is None else TX_VLAN
        flags |= TX_IPV4 if frame.version == 4 else TX_IPV6
        if self.checksums:
            flags |= TX_CKSUM[frame.protocol] | (TX_IP_CKSUM if frame.version == 4 else 0)
        sizes = (0, l2, frame.l4_at - l2, frame.payload_at - frame.l4_at)
        return WANTED.pack(flags, len(self.data), *sizes, self.vlan or 0, self.pieces) + self.data

    def due(self) -> list[bytes]:
        data = whole(self.frame) if self.checksums else self.data
        return [padded(data if self.vlan is None else with_tag(data, self.vlan))]


def whole(frame: Large) -> bytes:
    """With all lengths and checksums."""
    return Cut(frame, max(256, len(frame.payload))).due()[0]


def some_cuts(seed: int, count: int, addresses: bytes) -> list[Cut]:
    random = Random(seed)

    def one() -> Cut:
        tag = b"\x81\0" + random.randbytes(2) if random.random() < 0.2 else b""
        frame = large(random, addresses + tag, random.choice((1, random.randint(1, 3000), random.randint(1, 20000))))
        size = random.choice((256, 257, 1448, 1460, random.randint(256, 8191)))
        return Cut(frame, size, random.randint(1, 4), random.getrandbits(16) if random.random() < 0.3 else None)

    return [one() for _ in range(count)]


def write_cuts(path: Path, cuts: Sequence[Sent]) -> None:
    path.write_bytes(b"".join(cut.wanted for cut in cuts))


def must_be_segments(came: Sequence[bytes], cuts: Sequence[Sent]) -> None:
    due = [frame for cut in cuts for frame in cut.due()]
    for number, (one, other) in enumerate(zip(came, due, strict=False)):
        assert one == other, f"segment {number}: {one[:90].hex()} and not {other[:90].hex()}"
    assert len(came) == len(due), f"{len(came)} segments and not {len(due)}"
