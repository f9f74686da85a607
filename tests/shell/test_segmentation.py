# SPDX-License-Identifier: Apache-2.0
"""Large frames that the shell cuts, while what their segments meet changes; and what follows a frame that ends early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from bench import Bench
from checks import check
from conftest import Start
from large_frames import TCP, UDP, Large, large
from wide import WIDE

SENDER, OTHER = 4, 5
PEER = bytes.fromhex("020000000099")
SIZE = 1448
METADATA = SIZE << 19


def address(function: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, function])


@pytest.fixture
def bench(start: Start) -> Bench:
    """Two VFs on a port of their own."""
    made = Bench(start(configuration=WIDE), ring_log2=4)
    made.enable_host(0, rx=True, tx=True)
    for function in (SENDER, OTHER):
        home = made.queue_home(function)
        made.set_queues(function, home, made.queues_each)
        made.set_switches(range(home, home + made.queues_each))
        made.add_address(0, address(function), None, function)
        made.add_address(0, address(function), 9, function)
    made.step(1000)
    return made


def asking(bench: Bench, function: int, number: int = 0) -> int:
    """A queue of the function that may ask."""
    home = bench.queue_home(function)
    return [queue for queue in range(home, home + bench.queues_each) if bench.has_transmit_segments(queue)][number]


def sent(bench: Bench, function: int = SENDER) -> int:
    return bench.shell.counters("FUNCTION", function)["tx_sent"]


def link_down(bench: Bench) -> None:
    bench.set_link(0, up=False)


def function_reset(bench: Bench) -> None:
    bench.function_reset(SENDER)


def host_off(bench: Bench) -> None:
    bench.enable_host(0, rx=True, tx=False)


def address_gone(bench: Bench) -> None:
    bench.remove_address(0, address(SENDER), None)


@pytest.mark.parametrize("change", [link_down, function_reset, host_off, address_gone])
def test_a_change_within_a_large_frame_drops_the_segments_behind_it(
    bench: Bench, change: Callable[[Bench], None]
) -> None:
    """Segments before it have left, and those behind it are dropped. Other functions have lost nothing."""
    one = large(Random(1), PEER + address(SENDER), 65_000)
    bench.h2c(asking(bench, SENDER), one.frame(), metadata=METADATA)
    bench.h2c(asking(bench, OTHER), large(Random(2), PEER + address(OTHER), 3000).frame(), metadata=METADATA)
    bench.step(3000)
    change(bench)
    bench.drain()
    check(bench, lossless=True)
    of_all = -(-len(one.payload) // SIZE)
    assert 0 < sent(bench) < of_all, f"{sent(bench)} of {of_all} segments"


def test_a_frame_that_was_begun_keeps_what_it_asked_for(bench: Bench) -> None:
    """Its queue loses the right to ask; the tag and the checksums of its last segments are there all the same."""
    queue = asking(bench, SENDER)
    one = large(Random(3), PEER + address(SENDER), 65_000)
    bench.h2c(queue, one.frame(), metadata=METADATA | 1 << 16 | 9)
    bench.step(3000)
    bench.set_requests(queue, offload=False, segments=False)
    bench.drain()
    check(bench, lossless=True)
    assert sent(bench) == -(-len(one.payload) // SIZE)


@pytest.mark.parametrize("protocol", [TCP, UDP])
def test_a_large_frame_that_ends_early_takes_nothing_of_the_next_one(bench: Bench, protocol: int) -> None:
    """Its header tells of more than comes, and it ends at the end of a segment, of a beat, or of both."""
    random, beat = Random(4), bench.geometry.host_bytes
    for beats in (5, 9, 30):
        for cut in (-1, 0, 1):
            for segments in (1, 2):
                head = PEER + address(SENDER)
                comes = beats * beat + cut
                one = Large(head, b"", protocol=protocol, traffic=random.randbytes(64))
                payload = comes - one.payload_at
                size = max(256, payload // segments)
                whole = replace(one, payload=random.randbytes(payload + random.choice((1, size, 2 * size + 5))))
                bench.h2c(asking(bench, SENDER), whole.frame()[:comes], metadata=size << 19)
                other = large(random, PEER + address(OTHER), random.choice((100, 1448, 3000)))
                bench.h2c(asking(bench, OTHER), other.frame(), metadata=METADATA)
    bench.drain()
    check(bench, lossless=True)
