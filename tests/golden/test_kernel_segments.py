# SPDX-License-Identifier: Apache-2.0
"""The segments of the golden model are those that Linux makes when the network card cannot: its software GSO."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest
from kernel_segments import GSO_CWR, GSO_TCP4, GSO_TCP6, GSO_UDP, TUN, Kernel, Order
from large_frames import TCP, UDP, Large, large
from meridian_golden.checksum import ones_sum
from meridian_golden.shell import GoldenShell

HEAD = bytes.fromhex("020000000002020000000001")
CWR = 0x80
#: Linux cuts a datagram into no more.
MOST_DATAGRAMS = 128


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    if os.geteuid() != 0 or not os.access(TUN, os.R_OK | os.W_OK):
        pytest.skip(f"a network namespace with a tap needs root and {TUN}")
    try:
        it = Kernel()
    except OSError as error:
        pytest.skip(f"this machine has no network namespace with a tap: {error}")
    with it:
        yield it


def order(one: Large, size: int) -> Order:
    """The frame as Linux's stack gives it to a card: what the fields of checksums hold matters there."""
    frame, ip, l4 = bytearray(one.frame()), len(one.head) + 2, one.l4_at
    length = len(frame) - l4
    addresses = frame[ip + 12 : ip + 20] if one.version == 4 else frame[ip + 8 : ip + 40]
    pseudo = bytes(addresses) + one.protocol.to_bytes(2, "big") + length.to_bytes(2, "big")
    field = 16 if one.protocol == TCP else 6
    frame[l4 + field : l4 + field + 2] = ones_sum(pseudo).to_bytes(2, "big")
    if one.protocol != TCP:
        frame[l4 + 4 : l4 + 6] = length.to_bytes(2, "big")
    if one.version == 4:
        frame[ip + 10 : ip + 12] = bytes(2)
        frame[ip + 10 : ip + 12] = (0xFFFF - ones_sum(bytes(frame[ip:l4]))).to_bytes(2, "big")
    kind = GSO_UDP if one.protocol != TCP else GSO_TCP4 if one.version == 4 else GSO_TCP6
    kind |= GSO_CWR if one.protocol == TCP and one.flags & CWR else 0
    fits = len(one.payload) <= size  # Linux refuses to cut it
    return Order(0 if fits else kind, 0 if fits else size, one.payload_at, l4, field, bytes(frame))


@pytest.mark.parametrize("seed", range(1, 7))
def test_segments_are_those_of_linux(kernel: Kernel, seed: int) -> None:
    random = Random(seed)
    shell = GoldenShell(segmentation=True, max_frame=9600)
    shell.set_queues(0, 0, 1)
    shell.transmit_segments, shell.ports[0].tx_enable = {0}, True
    takes_udp = kernel.segments(order(Large(HEAD, bytes(1000), protocol=UDP), 300)) is not None
    cut = 0
    for _ in range(100):
        head = HEAD + (b"\x81\0" + random.randbytes(2) if random.random() < 0.3 else b"")
        size = random.choice((256, 257, 536, 1448, 1460, 8191, random.randint(256, 8191)))
        one = large(random, head, random.choice((1, size - 1, size, size + 1, 3 * size, random.randint(1, 65_535))))
        if one.protocol == UDP and (not takes_udp or len(one.payload) > MOST_DATAGRAMS * size):
            continue
        due = [outcome.data for outcome in shell.transmit_all(0, one.frame(), metadata=size << 19)]
        assert kernel.segments(order(one, size)) == due, f"{size} bytes of {one}"
        cut += len(due)
    assert cut > 500
